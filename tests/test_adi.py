"""Autodidactic iteration: its targets by hand, its loss, and that it learns."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from costtogo.heuristics.network import NetworkHeuristic, build
from costtogo.heuristics.rewards import value_of
from costtogo.learning import adi
from costtogo.params.trainers import training_of
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks

ARCHITECTURE = {"outputs": "policy", "first_layers": [64, 32], "residual_blocks": 1, "batch_norm_momentum": 0.9}
GIVEN = {
    "trainer": "adi",
    "puzzle": "puzzle8",
    "seed": 3,
    "precision": "float32",
    "architecture": ARCHITECTURE,
    "sampler": {"kind": "deepcube", "walk_max": 12},
    "iterations": 150,
    "states_per_iteration": 600,
    "validation_states": 120,
    "check_every": 50,
    "checkpoint_every": 1,
    "minibatch": 200,
    "learning_rate": 2e-3,
    "learning_rate_decay": 1.0,
}


def begun(**changes):
    params = training_of(**(GIVEN | changes))
    return adi.begin(make(params.puzzle), params, "float32")


@pytest.mark.parametrize("name", ["puzzle8", "hanoi_4", "cube2"])
def test_targets_are_those_of_the_slides(name):
    training = begun(puzzle=name)
    puzzle = training.puzzle
    drawn = adi.draw(training, puzzle, 60, 12, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.legal, puzzle.legal(drawn.states))
    for row, state in enumerate(drawn.states):
        scores = {}
        for action in np.flatnonzero(puzzle.legal(state[None])[0]):
            child = puzzle.expand(state[None])[0][:, action]
            solved = puzzle.is_goal(child)[0]
            value = 0.0 if solved else float(value_of(training.heuristic(child))[0])
            scores[action] = (1 if solved else -1) + value
        if puzzle.is_goal(state[None])[0]:
            assert drawn.weight[row] == 0
            continue
        assert drawn.value[row] == pytest.approx(max(scores.values()), abs=1e-4)
        assert scores[drawn.action[row]] == pytest.approx(max(scores.values()), abs=1e-4)


def test_the_goal_next_door_is_worth_one_whatever_the_network_says():
    training = begun()
    drawn = adi.draw(training, training.puzzle, 240, 12, np.random.default_rng(1))
    children, legal = training.puzzle.expand(drawn.states)
    solved = training.puzzle.is_goal(children.reshape(-1, 9)).reshape(legal.shape) & legal
    near = np.flatnonzero(solved.any(axis=1))
    assert len(near) > 10 and (drawn.value[near] >= 1).all()
    walked = np.arange(240) % 12 == 0
    assert (drawn.value[walked] == np.maximum(1, drawn.value[walked])).all()


@pytest.mark.parametrize("weighted", [True, False])
def test_states_count_by_how_many_moves_led_to_them(weighted):
    training = begun(weighted=weighted)
    drawn = adi.draw(training, training.puzzle, 50, 12, np.random.default_rng(2))
    scrambles = np.tile(np.arange(1, 13), 5)[:50]
    off = ~training.puzzle.is_goal(drawn.states)
    whole = np.where(off, 1 / scrambles if weighted else 1, 0)
    np.testing.assert_allclose(drawn.weight, whole / whole.mean(), rtol=1e-5)
    assert drawn.weight.mean() == pytest.approx(1)
    children = training.puzzle.expand(drawn.states[:-1])[0]
    steps = (children == drawn.states[1:, None]).all(axis=2).any(axis=1)
    assert steps[scrambles[1:] > 1].all(), "the state of D moves is a move from that of D - 1"


@pytest.mark.parametrize("far", [-40.0, 40.0])
def test_bounded_targets_stay_between_one_move_and_those_of_the_walk(far):
    training = begun(bounded=True)
    with torch.no_grad():
        training.network.output.bias[0] += far
    drawn = adi.draw(training, training.puzzle, 48, 12, np.random.default_rng(2))
    moves, off = 2 - drawn.value, ~training.puzzle.is_goal(drawn.states)
    scrambles = np.tile(np.arange(1, 13), 4)
    assert (moves[off] >= 1).all() and (moves[off] <= scrambles[off]).all()
    assert (moves[off] == (1 if far > 0 else scrambles[off])).mean() > 0.5
    free = begun()
    free.network.load_state_dict(training.network.state_dict())
    apart = 2 - adi.draw(free, free.puzzle, 48, 12, np.random.default_rng(2)).value
    assert (apart[off] != moves[off]).any()


def test_the_loss_is_squared_error_and_cross_entropy_over_legal_actions():
    puzzle = make("puzzle8")
    states = random_walks(puzzle, 5, 7, np.random.default_rng(3))[:, -1]
    legal = puzzle.legal(states)
    action, weight = legal.argmax(axis=1), np.array([1, 2, 0, 1, 1], dtype=np.float32)
    value = np.arange(5, dtype=np.float32)
    drawn = adi.Improved(states, value, action, legal, weight)
    outputs = np.random.default_rng(4).normal(size=(5, 5)).astype(np.float32)
    wanted = 0.0
    for row in range(5):
        logits = outputs[row, 1:]
        log_sum = np.log(np.exp(logits[legal[row]]).sum())
        wanted += weight[row] * ((outputs[row, 0] - value[row]) ** 2 + log_sum - logits[action[row]]) / 5
    assert float(drawn.error(torch.from_numpy(outputs))) == pytest.approx(wanted, rel=1e-5)


def test_a_network_with_a_policy_tells_probabilities_of_legal_actions_and_cost_to_go():
    puzzle = make("puzzle8")
    heuristic = NetworkHeuristic(puzzle, build(architecture_of(**ARCHITECTURE), puzzle, 0), "float32")
    states = np.concatenate([puzzle.goal[None], random_walks(puzzle, 50, 9, np.random.default_rng(5))[:, -1]])
    prior, cost = heuristic.with_policy(states)
    np.testing.assert_allclose(prior.sum(axis=1), 1, rtol=1e-5)
    assert ((prior > 0) == puzzle.legal(states)).all() and cost[0] == 0
    np.testing.assert_array_equal(cost, heuristic(states))
    outputs = heuristic.predicted(states)
    np.testing.assert_allclose(cost[1:][~puzzle.is_goal(states[1:])], (2 - outputs[1:, 0])[~puzzle.is_goal(states[1:])])
    best = np.where(puzzle.legal(states), outputs[:, 1:], -np.inf).argmax(axis=1)
    np.testing.assert_array_equal(prior.argmax(axis=1), best)


def test_it_learns_the_states_near_the_goal(distances_of):
    training = begun()
    progress = list(adi.train(training))
    assert [row.iteration for row in progress if row.updated] == [50, 100, 150]
    distance, puzzle = distances_of("puzzle8"), training.puzzle
    ranks = np.flatnonzero((distance > 0) & (distance <= 6))
    prior, cost = training.heuristic.with_policy(puzzle.unrank(ranks))
    children, legal = puzzle.expand(puzzle.unrank(ranks))
    reached = np.where(legal, distance[puzzle.rank(children.reshape(-1, 9)).reshape(legal.shape)].astype(int), 99)
    optimal = reached[np.arange(len(ranks)), prior.argmax(axis=1)] < distance[ranks]
    assert np.abs(cost - distance[ranks]).mean() < 1.2 and optimal.mean() > 0.85


@pytest.mark.parametrize(
    "changes",
    [
        {"architecture": ARCHITECTURE | {"outputs": "state"}},
        {"sampler": {"kind": "uniform"}},
        {"trainer": "davi", "epsilon": 0.1, "adam_beta_1": 0.9, "adam_beta_2": 0.99, "adam_epsilon": 1e-8},
    ],
)
def test_what_does_not_fit_is_refused(changes):
    with pytest.raises(ValidationError) as told:
        training_of(**(GIVEN | changes))
    assert told.value.error_count() == 1
