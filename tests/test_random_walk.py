"""Random-walk regression: what the loss asks for, and that a network learns from walks to tell near from far."""

import numpy as np
import pytest
import torch

from costtogo.exact.nearby import FAR, nearby_table
from costtogo.heuristics.network import NetworkHeuristic, build, load, save
from costtogo.learning import random_walk
from costtogo.learning.random_walk import Walks, draw_walks
from costtogo.params.trainers import training_of
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.search.beam import solve

CUBE = make("cube3")
TRAINING = {
    "puzzle": "cube3",
    "trainer": "random_walk",
    "seed": 1,
    "precision": "float32",
    "architecture": {"first_layers": [96], "outputs": "actions", "batch_norm_momentum": 0.9},
    "sampler": {"kind": "non_backtracking", "walk_max": 10},
    "iterations": 150,
    "states_per_iteration": 1000,
    "validation_states": 1000,
    "minibatch": 500,
    "learning_rate": 0.003,
    "learning_rate_decay": 1,
    "adam_beta_1": 0.9,
    "adam_beta_2": 0.999,
    "adam_epsilon": 1e-8,
    "epsilon": 1,
    "check_every": 50,
    "checkpoint_every": 1,
}


@pytest.fixture(scope="module")
def learned():
    """A network by action after some seconds of training, and the progress of its training."""
    training = random_walk.begin(CUBE, training_of(**TRAINING), "float32")
    progress = list(random_walk.train(training))
    return training.heuristic, progress


def test_the_loss_looks_at_the_two_children_that_a_walk_tells_of():
    walks = Walks(CUBE.goal[None], np.array([4.0], dtype=np.float32), np.array([[3, 7]]))
    outputs = torch.zeros(1, 12)
    outputs[0, 3], outputs[0, 7] = 3.0, 5.0
    assert walks.error(outputs).item() == 0
    outputs[0, 3] += 2
    assert walks.error(outputs).item() == 2, "half of 2 squared"
    outputs[0, 0] += 100
    assert walks.error(outputs).item() == 2
    assert walks.error(torch.tensor([1.0])).item() == 9, "one output a state: the length itself"


def test_training_brings_the_loss_below_that_of_the_mean_length(learned):
    _, progress = learned
    lengths = np.arange(1, 11)
    assert progress[-1].loss < 0.6 * lengths.var() and progress[-1].loss < progress[0].loss / 2
    checkpoints = [step.iteration for step in progress if step.updated]
    assert checkpoints == [50, 100, 150]
    assert all(np.isnan(step.validation_loss) != step.updated for step in progress)


def test_the_learned_cost_to_go_grows_with_the_distance(learned):
    heuristic, _ = learned
    states = draw_walks(CUBE, 3000, 6, np.random.default_rng(5)).states
    distance = nearby_table(CUBE, 5)(states)
    means = [heuristic(states[distance == moves]).mean() for moves in (1, 3, 5)]
    assert means[0] < means[1] < means[2] and (distance == FAR).any()
    assert heuristic(CUBE.goal[None])[0] == 0


def test_a_beam_over_what_was_learned_solves_scrambles_that_ignorance_does_not(learned):
    heuristic, _ = learned
    ignorant = NetworkHeuristic(CUBE, build(architecture_of(**TRAINING["architecture"]), CUBE, 5), "float32")
    starts = draw_walks(CUBE, 80, 8, np.random.default_rng(6)).states.reshape(10, 8, -1)[:, -1]
    informed, blind = (solve(CUBE, h, starts, width=100).solved.sum() for h in (heuristic, ignorant))
    assert informed >= 8 and blind < informed


def test_the_cost_to_go_of_a_state_is_one_more_than_that_of_its_best_child(learned):
    heuristic, _ = learned
    states = draw_walks(CUBE, 50, 10, np.random.default_rng(7)).states
    np.testing.assert_allclose(heuristic(states), 1 + heuristic.children(states).min(axis=1))


def test_a_network_with_one_output_tells_children_by_evaluating_them():
    puzzle = make("hanoi_4")
    heuristic = NetworkHeuristic(puzzle, build(architecture_of(first_layers=[16]), puzzle, 0), "float32")
    states = puzzle.unrank(np.arange(81))
    children, legal = puzzle.expand(states)
    told = heuristic.children(states)
    assert np.isinf(told[~legal]).all() and (~legal).any()
    np.testing.assert_allclose(told[legal], heuristic(children[legal]), rtol=1e-6)


def test_a_checkpoint_by_action_is_read_back(learned, tmp_path):
    training = random_walk.begin(CUBE, training_of(**TRAINING), "float32")
    save(tmp_path / "x.safetensors", training.network, {"puzzle": "cube3", "precision": "float32", "iteration": 0})
    states = draw_walks(CUBE, 50, 10, np.random.default_rng(7)).states
    np.testing.assert_array_equal(
        load(tmp_path / "x.safetensors").children(states), training.heuristic.children(states)
    )


WRONG = {
    "walks without their sampler": ({"sampler": {"kind": "deepcube", "walk_max": 5}}, "should be 'non_backtracking'"),
    "a growing tower by action": (
        {"trainer": "davi", "sampler": {"kind": "growing_tower"}},
        "needs a network with outputs: state",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_trainer_that_does_not_suit_is_refused(kind):
    changes, reason = WRONG[kind]
    with pytest.raises(ValueError, match=reason):
        training_of(**TRAINING | changes)
