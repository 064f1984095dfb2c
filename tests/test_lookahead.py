"""Targets that look two moves ahead: what they are, state by state, and that a network learns by them."""

import numpy as np
import pytest
from pydantic import ValidationError

from costtogo.heuristics.table import TableHeuristic, exact
from costtogo.learning.davi import DaviTraining, begin, train
from costtogo.params.trainers import training_of
from costtogo.puzzles import make

TRAINING = {
    "puzzle": "hanoi_3",
    "seed": 1,
    "precision": "float32",
    "lookahead": 2,
    "architecture": {"first_layers": [32, 16], "residual_blocks": 1, "batch_norm_momentum": 0.9},
    "sampler": {"kind": "uniform"},
    "iterations": 300,
    "states_per_iteration": 120,
    "validation_states": 40,
    "minibatch": 60,
    "learning_rate": 5e-3,
    "learning_rate_decay": 0.3,
    "adam_beta_1": 0.9,
    "adam_beta_2": 0.999,
    "adam_epsilon": 1e-7,
    "epsilon": 0.1,
    "check_every": 2,
    "checkpoint_every": 1,
}
HELD = {"sampler": {"kind": "growing_tower", "disks": 2}}
BY_ACTION = {"architecture": TRAINING["architecture"] | {"outputs": "actions"}}


def training(puzzle, **changes) -> DaviTraining:
    """A training by targets two moves ahead before its first iteration."""
    return begin(puzzle, training_of(**TRAINING | {"puzzle": puzzle.name} | changes), "float32")


def targets_by(heuristic, puzzle, states, monkeypatch, **changes) -> np.ndarray:
    """The targets of states where J_k is a heuristic."""
    monkeypatch.setattr(DaviTraining, "cost_to_go", heuristic)
    return training(puzzle, **changes).targets(states)


def some_states(puzzle) -> np.ndarray:
    """Up to 150 states, the goal and its children among them."""
    children, legal = puzzle.expand(puzzle.goal[None])
    some = np.random.default_rng(2).integers(puzzle.state_count, size=120)
    return np.concatenate([puzzle.goal[None], children[legal], puzzle.unrank(some)])


def children_of(puzzle, state) -> list:
    """The child by each action, None where it is not legal."""
    children, legal = puzzle.expand(state[None])
    return [child if allowed else None for child, allowed in zip(children[0], legal[0], strict=True)]


def backed_up(puzzle, state, value, allowed) -> np.float32:
    """The least over the children that are allowed of 1 + their value, 0 at the goal."""
    if (state == puzzle.goal).all():
        return np.float32(0)
    return min(1 + value(child) for child in children_of(puzzle, state) if child is not None and allowed(child))


@pytest.mark.parametrize("name", ["puzzle8", "hanoi_4", "cube2"])
@pytest.mark.parametrize("outputs", ["state", "actions"])
def test_targets_two_moves_ahead_equal_the_definition_state_by_state(name, outputs, monkeypatch):
    puzzle = make(name)
    values, states = np.random.default_rng(1).uniform(0, 9, puzzle.state_count).astype(np.float32), some_states(puzzle)

    def a_move_ahead(state):
        return backed_up(puzzle, state, lambda child: values[puzzle.rank(child[None])[0]], lambda child: True)

    changes = BY_ACTION if outputs == "actions" else {}
    targets = targets_by(TableHeuristic(puzzle, values), puzzle, states, monkeypatch, **changes)
    assert targets.dtype == np.float32
    for state, target in zip(states, targets, strict=True):
        if outputs == "state":
            assert target == backed_up(puzzle, state, a_move_ahead, lambda child: True)
        else:
            told = [np.nan if child is None else a_move_ahead(child) for child in children_of(puzzle, state)]
            np.testing.assert_array_equal(target, told)


def test_both_moves_of_a_held_tower_are_those_of_its_own_disks(monkeypatch):
    puzzle = make("hanoi_4")
    values = np.random.default_rng(1).uniform(0, 9, 81).astype(np.float32)
    values[9:] = -50  # where a larger disk has moved

    def held(child):
        return (child[2:] == puzzle.goal[2:]).all()

    def a_move_ahead(state):
        return backed_up(puzzle, state, lambda child: values[puzzle.rank(child[None])[0]], held)

    states = puzzle.unrank(np.arange(9))
    targets = targets_by(TableHeuristic(puzzle, values), puzzle, states, monkeypatch, **HELD)
    assert targets.tolist() == [backed_up(puzzle, state, a_move_ahead, held) for state in states]


def test_the_exact_table_is_its_own_target_two_moves_ahead_too(puzzle, distance, monkeypatch):
    states = some_states(puzzle)
    targets = targets_by(exact(puzzle, distance), puzzle, states, monkeypatch)
    np.testing.assert_array_equal(targets, distance[puzzle.rank(states)])


def test_next_to_the_goal_the_target_is_one_move_whatever_the_cost_to_go(monkeypatch):
    puzzle = make("puzzle8")
    children, legal = puzzle.expand(puzzle.goal[None])
    states = np.concatenate([puzzle.goal[None], children[legal]])
    heuristic = TableHeuristic(puzzle, np.full(puzzle.state_count, 20, dtype=np.float32))
    assert targets_by(heuristic, puzzle, states, monkeypatch).tolist() == [0, 1, 1]


def test_a_state_two_moves_from_the_goal_sees_it_only_by_the_second_move(distances_of, monkeypatch):
    puzzle, distance = make("puzzle8"), distances_of("puzzle8")
    states = puzzle.unrank(np.flatnonzero(distance == 2))
    values = np.where(distance == 0, 0, 20).astype(np.float32)
    found = [targets_by(TableHeuristic(puzzle, values), puzzle, states, monkeypatch, lookahead=n) for n in (1, 2)]
    assert [set(targets.tolist()) for targets in found] == [{21}, {2}]


@pytest.mark.parametrize("changes", [{}, BY_ACTION], ids=["state", "actions"])
def test_a_small_training_two_moves_ahead_learns_the_distances(changes, distances_of):
    puzzle, distance = make("hanoi_3"), distances_of("hanoi_3")
    learned, states = training(puzzle, **changes), puzzle.unrank(np.arange(27))
    untrained = np.abs(learned.cost_to_go(states) - distance).mean()
    progress = list(train(learned))
    assert np.abs(learned.cost_to_go(states) - distance).mean() < 0.5 < untrained
    assert sum(each.updated for each in progress) > 5


def test_greedy_walks_follow_what_the_targets_see(distances_of, monkeypatch):
    puzzle, distance = make("puzzle8"), distances_of("puzzle8")
    sampler = {"kind": "deepcubea", "walk_max": 1, "greedy_share": 1, "greedy_moves": 10**6, "greedy_random": 0}
    values = np.where(distance == 0, 0, 20).astype(np.float32)
    monkeypatch.setattr(DaviTraining, "cost_to_go", TableHeuristic(puzzle, values))
    walking = training(puzzle, sampler=sampler, iterations=1)
    walking.walks = puzzle.unrank(np.flatnonzero(distance == 2).repeat(30))
    next(train(walking))
    assert set(distance[puzzle.rank(walking.walks)].tolist()) == {1}


def test_a_record_names_it_only_where_it_is_set():
    adam = training_of(**TRAINING)
    lbfgs = training_of(**TRAINING | {"optimizer": "lbfgs"})
    assert adam.model_dump()["lookahead"] == lbfgs.model_dump()["lookahead"] == lbfgs.lookahead == 2
    assert training_of(**adam.model_dump()) == adam
    assert "lookahead" not in training_of(**TRAINING | {"lookahead": 1}).model_dump()


@pytest.mark.parametrize("moves", [0, 3, True, "2"])
def test_it_is_one_move_or_two(moves):
    with pytest.raises(ValidationError, match="lookahead"):
        training_of(**TRAINING | {"lookahead": moves})
