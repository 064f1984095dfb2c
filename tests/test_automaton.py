"""The automaton: it can hold the distances of the Towers of Hanoi, and learns them on towers that grow."""

import numpy as np
import pytest
import torch
from messages import is_one_sentence

from costtogo.heuristics import network as networks
from costtogo.heuristics.network import NetworkHeuristic, build
from costtogo.learning import davi
from costtogo.learning.curriculum import curriculum_of
from costtogo.learning.samplers import sample
from costtogo.params.trainers import training_of
from costtogo.params.training import ModelParams, architecture_of, sampler_of
from costtogo.puzzles import make
from costtogo.types import UserError

AUTOMATON = architecture_of(kind="automaton", states=4)


def exact_automaton(disks: int):
    """Memory: one-hot of the peg where the next disk belongs, and the moves counted so far, doubled at each disk."""
    network = build(AUTOMATON, make(f"hanoi_{disks}"), seed=0)
    matrices = np.zeros((3, 4, 4))
    for peg in range(3):
        matrices[peg, 3, 3] = 2
        for target in range(3):
            moved = peg != target
            matrices[peg, target, 3 - peg - target if moved else target] = 1
            matrices[peg, target, 3] = moved
    with torch.no_grad():
        network.matrices.copy_(torch.from_numpy(matrices))
        network.output.copy_(torch.tensor([0.0, 0.0, 0.0, 1.0]))
    return network


@pytest.mark.parametrize("disks", range(1, 8))
def test_four_states_hold_the_distance_of_every_state_of_every_tower(disks, distances_of):
    puzzle = make(f"hanoi_{disks}")
    states = puzzle.unrank(np.arange(puzzle.state_count))
    values = NetworkHeuristic(puzzle, exact_automaton(disks), "float32")(states)
    np.testing.assert_allclose(values, distances_of(puzzle.name), atol=1e-4)


def test_disks_at_the_goal_beyond_the_last_change_nothing():
    small, large = make("hanoi_3"), make("hanoi_6")
    states = small.unrank(np.arange(27))
    few, many = (build(AUTOMATON, puzzle, seed=5) for puzzle in (small, large))
    enlarged = np.pad(states, ((0, 0), (0, 3)))
    with torch.no_grad():
        torch.testing.assert_close(few(few.encoded(states)), many(many.encoded(enlarged)))


def test_the_goal_is_at_0_and_nothing_below():
    puzzle = make("hanoi_5")
    states = puzzle.unrank(np.arange(puzzle.state_count))
    network = build(AUTOMATON, puzzle, seed=1)
    with torch.no_grad():
        raw = network(network.encoded(states)).numpy()
    assert raw[0] == 0 and (raw < 0).any()
    np.testing.assert_allclose(NetworkHeuristic(puzzle, network, "float32").outputs(states), np.maximum(raw, 0))


def test_an_automaton_comes_back_from_its_checkpoint(tmp_path):
    puzzle, path = make("hanoi_4"), tmp_path / "automaton.safetensors"
    network = build(AUTOMATON, puzzle, seed=2)
    networks.save(path, network, {"puzzle": "hanoi_4", "precision": "float32", "iteration": 3})
    states = puzzle.unrank(np.arange(81))
    np.testing.assert_array_equal(networks.load(path)(states), NetworkHeuristic(puzzle, network, "float32")(states))


def test_a_puzzle_with_other_letters_at_its_goal_is_told():
    with pytest.raises(UserError, match="goal of cube2") as told:
        build(AUTOMATON, make("cube2"), seed=0)
    assert is_one_sentence(str(told.value))


def params(**changes) -> ModelParams:
    values = {
        "puzzle": "hanoi_6",
        "seed": 2,
        "precision": "float32",
        "architecture": {"kind": "automaton", "states": 5},
        "sampler": {"kind": "growing_tower", "disks": 3, "residual": 2e-4},
        "iterations": 120,
        "states_per_iteration": 300,
        "validation_states": 300,
        "minibatch": 300,
        "optimizer": "lbfgs",
        "lbfgs_steps": 60,
        "learning_rate": 1e-3,
        "learning_rate_decay": 0.0,
        "adam_beta_1": 0.9,
        "adam_beta_2": 0.999,
        "adam_epsilon": 1e-7,
        "epsilon": 10.0,
        "check_every": 1,
        "checkpoint_every": 1,
    }
    return training_of(**values | changes)


def test_a_growing_tower_draws_states_of_its_smallest_disks_alone():
    puzzle = make("hanoi_6")
    ranks = sample(puzzle, "growing_tower", 2000, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(np.unique(ranks), np.arange(27))
    with pytest.raises(UserError, match="cube2 has no disks"):
        sample(make("cube2"), "growing_tower", 5, 3, np.random.default_rng(0))


def test_targets_of_a_growing_tower_let_its_own_disks_move_alone():
    puzzle = make("hanoi_3")
    lower = {puzzle.rank(np.array([[1, 1, 2]]))[0]: -5.0}  # where the largest disk leads to

    def cost_to_go(states):
        return np.array([lower.get(rank, 7.0) for rank in puzzle.rank(states)], dtype=np.float32)

    state = np.array([[1, 1, 0]], dtype=np.uint8)
    for hold, target in ((False, -4.0), (True, 8.0)):
        tower = curriculum_of(puzzle, sampler_of(kind="growing_tower", disks=2, hold=hold))
        costs = davi.child_costs(puzzle, state, cost_to_go, tower.within)
        assert davi.bellman_targets(puzzle, state, costs)[0] == target


def test_an_automaton_learns_from_small_towers_what_holds_in_larger_ones(distances_of):
    puzzle = make("hanoi_6")
    training = davi.begin(puzzle, params(), "float32")
    reached = []
    for progress in davi.train(training):
        reached.append(progress.effective_k)
        if training.curriculum.disks == puzzle.disks:
            break
    assert reached == sorted(reached) and reached[0] == 3 and training.curriculum.disks == 6
    states = puzzle.unrank(np.arange(puzzle.state_count))
    error = NetworkHeuristic(puzzle, training.network, "float32")(states) - distances_of("hanoi_6")
    assert np.abs(error).mean() < 0.5


def test_a_tower_whose_larger_disks_may_move_looks_at_all_their_moves():
    puzzle = make("hanoi_4")
    samplers = [{"kind": "growing_tower", "disks": 3, "hold": hold} for hold in (True, False)]
    held, free = (davi.begin(puzzle, params(puzzle="hanoi_4", sampler=sampler), "float32") for sampler in samplers)
    for training in (held, free):
        training.cost_to_go.values[:] = np.where(np.arange(81) < 27, 9.0, 1.0)
    states = puzzle.unrank(np.array([13]))
    assert free.targets(states)[0] < held.targets(states)[0]


def test_a_settled_tower_keeps_its_target():
    training = davi.begin(make("hanoi_3"), params(puzzle="hanoi_3", iterations=40), "float32")
    updates = [(training.curriculum.settled, progress.updated) for progress in davi.train(training)]
    settled = [after for after, _ in updates]
    assert settled == sorted(settled) and settled[-1] and not settled[0]
    assert not any(updated for after, updated in updates[settled.index(True) + 1 :])


def test_a_tower_that_does_not_grow_begins_anew():
    sampler = {"kind": "growing_tower", "disks": 3, "residual": 1e-30, "patience": 4}
    training = davi.begin(make("hanoi_6"), params(iterations=9, sampler=sampler), "float32")
    first = training.network
    for progress in davi.train(training):
        assert (training.network is first) == (progress.iteration <= 4)
    assert training.curriculum.grown_at == 5 and training.curriculum.disks == 3
