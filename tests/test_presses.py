"""The network that reads Lights Out row by row, and its trainer."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from costtogo.exact.lights_out import FewestPresses
from costtogo.heuristics.network import build, load, save
from costtogo.learning import presses
from costtogo.params.trainers import training_of
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.types import UserError

PUZZLE = make("lights_out_3")
TRAINING = {
    "puzzle": "lights_out_3",
    "trainer": "presses",
    "seed": 1,
    "precision": "float32",
    "architecture": {"kind": "rows", "first_layers": [48, 48], "outputs": "actions"},
    "sampler": {"kind": "deepcubea", "walk_max": 12},
    "iterations": 220,
    "states_per_iteration": 500,
    "validation_states": 200,
    "minibatch": 100,
    "learning_rate": 0.005,
    "learning_rate_decay": 0.5,
    "adam_beta_1": 0.9,
    "adam_beta_2": 0.999,
    "adam_epsilon": 1e-8,
    "epsilon": 1,
    "check_every": 110,
    "checkpoint_every": 1,
}
ALL = np.array([[board >> cell & 1 for cell in range(9)] for board in range(512)], dtype=np.uint8)


@pytest.fixture(scope="module")
def learned():
    training = presses.begin(PUZZLE, training_of(**TRAINING), "float32")
    return training, list(presses.train(training))


def test_what_is_drawn_is_solved_by_its_presses_and_has_every_number_of_them():
    drawn = presses.draw(PUZZLE, 3000, 5, np.random.default_rng(0))
    assert drawn.states.dtype == np.uint8 and drawn.presses.dtype == np.float32
    np.testing.assert_array_equal(drawn.presses @ PUZZLE.presses % 2, drawn.states)
    assert set(drawn.presses.sum(axis=1).tolist()) == {0, 1, 2, 3, 4, 5}, "two presses of one cell undo each other"


def test_every_board_of_three_rows_is_learned(learned):
    training, progress = learned
    np.testing.assert_allclose(training.heuristic(ALL), FewestPresses(PUZZLE)(ALL), atol=0.2)
    assert progress[-1].validation_loss < 0.01 < progress[0].loss


def test_the_cost_to_go_of_a_child_is_one_less_where_the_press_belongs_to_the_solution(learned):
    training, _ = learned
    drawn = presses.draw(PUZZLE, 200, 9, np.random.default_rng(3))
    number = drawn.presses.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(training.heuristic.children(drawn.states), number + 1 - 2 * drawn.presses, atol=0.2)


def test_told_the_presses_the_network_says_what_it_says_alone_once_it_has_learned(learned):
    network = learned[0].network.eval()
    drawn = presses.draw(PUZZLE, 200, 9, np.random.default_rng(4))
    inputs = network.encoded(drawn.states)
    with torch.no_grad():
        alone, told = network(inputs), network(inputs, *drawn.told(inputs.device))
    torch.testing.assert_close(alone, told)


def test_untrained_it_goes_by_its_own_presses_and_so_differs_from_being_told():
    network = build(architecture_of(**TRAINING["architecture"]), PUZZLE, seed=2)
    drawn = presses.draw(PUZZLE, 200, 9, np.random.default_rng(4))
    inputs = network.encoded(drawn.states)
    with torch.no_grad():
        alone, told = network(inputs), network(inputs, *drawn.told(inputs.device))
    assert alone.shape == told.shape == (200, 9)
    torch.testing.assert_close(alone[:, 6:], told[:, 6:])
    assert not torch.allclose(alone[:, :3], told[:, :3])


def test_a_checkpoint_reads_back(learned, tmp_path):
    training, _ = learned
    save(tmp_path / "net", training.network, {"puzzle": "lights_out_3", "precision": "float32", "iteration": 9})
    np.testing.assert_array_equal(load(tmp_path / "net")(ALL), training.heuristic(ALL))


def test_boards_with_quiet_patterns_are_refused():
    with pytest.raises(UserError, match="On lights_out_5 several sets of presses do the same"):
        presses.begin(make("lights_out_5"), training_of(**TRAINING | {"puzzle": "lights_out_5"}), "float32")
    with pytest.raises(UserError, match="tells the presses of Lights Out, not the moves of cube2"):
        build(architecture_of(**TRAINING["architecture"]), make("cube2"), seed=1)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"trainer": "davi"}, "the trainer presses needs an architecture of kind rows"),
        ({"architecture": {"first_layers": [8]}}, "the trainer presses needs an architecture of kind rows"),
        ({"sampler": {"kind": "uniform"}}, "should be 'deepcubea'"),
        ({"architecture": {"kind": "rows", "first_layers": [8], "outputs": "state"}}, "should be 'actions'"),
    ],
)
def test_what_does_not_go_together_is_refused(changes, told):
    with pytest.raises(ValidationError, match=told):
        training_of(**TRAINING | changes)
