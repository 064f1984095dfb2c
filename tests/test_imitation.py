"""Imitation: that the network is shown the exact distances of the sampler's states, and learns them."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from costtogo.heuristics.network import bound_of, load, save
from costtogo.learning import imitation
from costtogo.params.trainers import training_of
from costtogo.puzzles import levels_of, make
from costtogo.types import UserError

TRAINING = {
    "puzzle": "hanoi_3",
    "trainer": "imitation",
    "seed": 1,
    "precision": "float32",
    "architecture": {"first_layers": [32, 16], "residual_blocks": 1, "batch_norm_momentum": 0.9},
    "sampler": {"kind": "uniform"},
    "iterations": 200,
    "states_per_iteration": 120,
    "validation_states": 40,
    "minibatch": 60,
    "learning_rate": 5e-3,
    "learning_rate_decay": 0.3,
    "adam_beta_1": 0.9,
    "adam_beta_2": 0.999,
    "adam_epsilon": 1e-7,
    "check_every": 60,
    "checkpoint_every": 1,
}
BY_ACTION = {"architecture": TRAINING["architecture"] | {"outputs": "actions"}}
WALKS = {"kind": "deepcubea", "walk_max": 3}
LEVELS = {"kind": "levels", "levels": 30, "boxes": 2, "walk_max": 40}


def training(name: str = "hanoi_3", **changes) -> imitation.ImitationTraining:
    """A training before its first iteration."""
    return imitation.begin(make(name), training_of(**TRAINING | {"puzzle": name} | changes), "float32")


def test_the_network_is_shown_the_distance_of_each_state(puzzle, distance):
    shown = training(puzzle.name).draw(puzzle, 300, 1, np.random.default_rng(0))
    assert shown.distance.dtype == np.float32 and len(shown.states) == 300
    np.testing.assert_array_equal(shown.distance, distance[puzzle.rank(shown.states)])


def test_a_network_by_action_is_shown_the_distances_of_the_children_that_there_are(puzzle, distance):
    shown = training(puzzle.name, **BY_ACTION).draw(puzzle, 300, 1, np.random.default_rng(0))
    children, legal = puzzle.expand(shown.states)
    assert shown.distance.dtype == np.float32
    np.testing.assert_array_equal(shown.distance[legal], distance[puzzle.rank(children[legal])])
    assert np.isnan(shown.distance[~legal]).all()


@pytest.mark.parametrize("kind", ["deepcube", "deepcubea", "non_backtracking"])
def test_states_come_from_the_sampler(kind, distances_of):
    puzzle, sampler = make("puzzle8"), {"kind": kind, "walk_max": 3}
    sampler |= {"stride": 1} if kind == "non_backtracking" else {}
    shown = training("puzzle8", sampler=sampler).draw(puzzle, 500, 3, np.random.default_rng(0))
    assert len(shown.states) == 500 and 1 < shown.distance.max() <= 3
    np.testing.assert_array_equal(shown.distance, distances_of("puzzle8")[puzzle.rank(shown.states)])


def test_the_loss_is_the_mean_squared_error_where_a_distance_is_known():
    states = make("hanoi_3").unrank(np.arange(2))
    told = imitation.Measured(states, np.array([[1, np.nan], [2, 3]], dtype=np.float32))
    assert told.error(torch.tensor([[1.0, 90.0], [2.0, 6.0]])).item() == 3
    assert imitation.Measured(*(column[[0]] for column in told.columns)).error(torch.tensor([[1.0, 90.0]])).item() == 0
    assert imitation.Measured(states, np.array([1, 2], dtype=np.float32)).error(torch.tensor([1.0, 4.0])).item() == 2


def test_the_validation_loss_is_the_mean_squared_error_in_inference_mode():
    puzzle, untrained = make("hanoi_3"), training()
    shown = untrained.draw(puzzle, 50, 1, np.random.default_rng(0))
    outputs = untrained.heuristic.outputs(shown.states)
    assert imitation.validate(untrained, shown) == pytest.approx(np.mean((outputs - shown.distance) ** 2), rel=1e-5)
    *_, last = imitation.train(training(iterations=1))
    assert last.validation_loss > 1


@pytest.mark.parametrize("changes", [{}, BY_ACTION], ids=["state", "actions"])
def test_a_small_training_learns_the_distances(changes, distances_of, tmp_path):
    puzzle, distance = make("hanoi_3"), distances_of("hanoi_3")
    learned, states = training(**changes), puzzle.unrank(np.arange(27))
    untrained = np.abs(learned.heuristic(states) - distance).mean()
    progress = list(imitation.train(learned))
    assert np.abs(learned.heuristic(states) - distance).mean() < 0.3 < untrained
    assert [each.iteration for each in progress if each.updated] == [60, 120, 180, 200]
    assert all(np.isnan(each.validation_loss) != each.updated for each in progress)
    assert progress[-1].validation_loss < 0.3
    save(tmp_path / "net", learned.network, {"puzzle": "hanoi_3", "precision": "float32", "iteration": 200})
    np.testing.assert_array_equal(load(tmp_path / "net")(states), learned.heuristic(states))


@pytest.mark.parametrize(
    ("name", "sampler", "bound"),
    [("sokoban_7", LEVELS, "matching"), ("puzzle8", WALKS | {"walk_max": 60}, "manhattan")],
)
def test_a_network_above_a_bound_learns_the_difference(name, sampler, bound, distances_of):
    architecture = TRAINING["architecture"] | {"above": bound}
    learned = training(name, sampler=sampler, architecture=architecture)
    shown = learned.draw(learned.puzzle, 600, sampler["walk_max"], np.random.default_rng(0))
    puzzle, states = learned.puzzle, shown.states
    steps = shown.distance + bound_of(learned.params.architecture, puzzle)(states)
    assert (shown.distance >= 0).all() and (shown.distance > 0).any()
    if puzzle.one_goal:
        np.testing.assert_array_equal(steps, distances_of(name)[puzzle.rank(states)])
    else:
        np.testing.assert_array_equal(steps, [levels_of(puzzle).table(state)(state[None])[0] for state in states])
    before = imitation.validate(learned, shown)
    outputs = learned.heuristic.outputs(states)
    assert before == pytest.approx(np.mean((outputs - steps) ** 2), rel=1e-5)
    list(imitation.train(learned))
    assert imitation.validate(learned, shown) < 0.85 * before


def test_a_resume_point_holds_no_distances_and_the_training_goes_on_to_the_same_weights():
    left_alone, interrupted, resumed = training(iterations=20), training(iterations=20), training(iterations=20)
    list(imitation.train(left_alone))
    progress = imitation.train(interrupted)
    for _ in range(7):
        next(progress)
    tensors = {name: tensor.clone() for name, tensor in interrupted.tensors().items()}
    assert {name.partition(".")[0] for name in tensors} == {"network", "optimizer"}
    resumed.restore(tensors, interrupted.position)
    list(imitation.train(resumed))
    wanted = left_alone.network.state_dict()
    assert all(torch.equal(wanted[name], tensor) for name, tensor in resumed.network.state_dict().items())


def test_a_puzzle_that_cannot_be_listed_is_refused():
    with pytest.raises(UserError, match="^The trainer imitation needs the distance of every state; cube3 has too many"):
        training("cube3", sampler=WALKS)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"sampler": {"kind": "growing_tower"}}, "growing_tower"),
        ({"sampler": {"kind": "adaptive_k", "walk_max": 5}}, "adaptive_k"),
        ({"sampler": WALKS | {"greedy_share": 0.5}}, "greedy_share is for the trainer davi"),
        ({"sampler": LEVELS} | BY_ACTION, "imitation with the sampler levels needs a network with outputs: state"),
        ({"architecture": {"kind": "rows", "first_layers": [8]}}, "the trainer presses needs an architecture of kind"),
    ],
)
def test_what_does_not_go_together_is_refused(changes, told):
    with pytest.raises(ValidationError, match=told):
        training_of(**TRAINING | changes)


def test_a_record_is_read_again_as_it_was():
    params = training_of(**TRAINING | {"sampler": WALKS})
    assert training_of(**params.model_dump()) == params and params.model_dump()["trainer"] == "imitation"
