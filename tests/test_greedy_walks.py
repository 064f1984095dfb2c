"""Greedy walks: where they go, when they end, and what a training has of them."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from costtogo.heuristics.table import exact
from costtogo.learning.davi import begin, child_costs, draw, train
from costtogo.learning.greedy_walks import go_on
from costtogo.params.trainers import training_of
from costtogo.params.training import sampler_of
from costtogo.puzzles import make

PUZZLE = make("puzzle8")
SAMPLER = {"kind": "non_backtracking", "walk_max": 60, "greedy_share": 0.25, "greedy_moves": 12}
TRAINING = {
    "puzzle": "puzzle8",
    "seed": 4,
    "precision": "float32",
    "architecture": {"first_layers": [32, 16], "batch_norm_momentum": 0.9},
    "sampler": SAMPLER,
    "iterations": 12,
    "states_per_iteration": 120,
    "validation_states": 20,
    "minibatch": 60,
    "learning_rate": 5e-3,
    "learning_rate_decay": 0.3,
    "adam_beta_1": 0.9,
    "adam_beta_2": 0.999,
    "adam_epsilon": 1e-7,
    "epsilon": 0.1,
    "polyak": 0.1,
    "check_every": 2,
    "checkpoint_every": 1,
}


@pytest.fixture(scope="module")
def distance(distances_of):
    return distances_of("puzzle8")


def fresh(count: int) -> np.ndarray:
    """Random states."""
    return PUZZLE.unrank(np.random.default_rng(0).integers(PUZZLE.state_count, size=count))


def gone_on(states, distance, ceiling=np.inf, **changes) -> np.ndarray:
    """The walks a move later, by the exact cost-to-go."""
    costs = child_costs(PUZZLE, states, exact(PUZZLE, distance))
    return go_on(PUZZLE, sampler_of(**SAMPLER | changes), states, costs, np.random.default_rng(1), ceiling)


def test_walks_go_nearer_by_a_move_each_but_for_the_random_ones(distance):
    states = fresh(4000)
    walks = gone_on(states, distance, greedy_share=1, greedy_moves=10**6)
    assert len(walks) == len(states), "no state of this draw is a move from the goal"
    nearer = distance[PUZZLE.rank(states)].astype(int) - distance[PUZZLE.rank(walks)]
    assert set(nearer.tolist()) == {-1, 1}
    assert 0.01 < (nearer == -1).mean() < 0.05  # of five random moves in a hundred, those that lead away
    walks = gone_on(states, distance, greedy_share=1, greedy_moves=10**6, greedy_random=0)
    assert (distance[PUZZLE.rank(states)].astype(int) - distance[PUZZLE.rank(walks)] == 1).all()


def test_a_quarter_of_the_states_is_on_walks_of_which_one_in_twelve_ends(distance):
    assert 880 < len(gone_on(fresh(4000), distance)) < 950


def test_a_walk_ends_at_the_goal(distance):
    at = np.flatnonzero(distance == 1).repeat(500)
    walks = gone_on(PUZZLE.unrank(at), distance, greedy_share=1, greedy_moves=10**6)
    assert set(distance[PUZZLE.rank(walks)].tolist()) == {2}, "only random moves lead on"
    assert 0 < len(walks) < 60


def test_a_walk_ends_where_its_cost_comes_to_the_ceiling(distance):
    walks = gone_on(fresh(4000), distance, ceiling=20, greedy_share=1, greedy_moves=10**6)
    assert len(walks) > 500 and distance[PUZZLE.rank(walks)].max() == 19


def test_an_iteration_has_as_many_states_as_without_walks_and_those_of_the_walks_first():
    training = begin(PUZZLE, training_of(**TRAINING), "float32")
    for _ in train(training):
        states = draw(training, 60, np.random.default_rng(2))
        assert len(states) == 120
        np.testing.assert_array_equal(states[: len(training.walks)], training.walks)
    assert 20 < len(training.walks) <= 30


def test_a_training_goes_on_from_where_its_walks_were():
    training = begin(PUZZLE, training_of(**TRAINING), "float32")
    progress = train(training)
    for _ in range(7):
        next(progress)
    tensors = {name: tensor.clone() for name, tensor in training.tensors().items()}
    position = training.position
    list(progress)
    resumed = begin(PUZZLE, training_of(**TRAINING), "float32")
    resumed.restore(tensors, position)
    list(train(resumed))
    np.testing.assert_array_equal(resumed.walks, training.walks)
    wanted = training.network.state_dict()
    assert all(torch.equal(wanted[name], tensor) for name, tensor in resumed.network.state_dict().items())


def test_only_value_iteration_has_greedy_walks():
    with pytest.raises(ValidationError, match="greedy_share is for the trainer davi"):
        training_of(**TRAINING | {"trainer": "random_walk"})
    tower = sampler_of(kind="growing_tower", greedy_share=0.2)
    assert tower.greedy_share == 0 and sampler_of(**tower.model_dump()) == tower


def test_a_sampler_without_them_is_written_out_as_before():
    assert "greedy_share" not in sampler_of(kind="uniform").model_dump()
    assert sampler_of(**SAMPLER).model_dump()["greedy_share"] == 0.25
