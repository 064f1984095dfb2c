"""A heuristic averaged over the images of a state says the same of every image, and of each child what it is worth."""

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo.heuristics.averaged import AveragedHeuristic
from costtogo.heuristics.network import NetworkHeuristic, build
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks
from costtogo.types import UserError

CUBE = make("cube3")
STATES = random_walks(CUBE, 6, 12, np.random.default_rng(3))[:, -1]


def network(outputs: str) -> NetworkHeuristic:
    """One that has learned nothing."""
    return NetworkHeuristic(CUBE, build(architecture_of(first_layers=[16], outputs=outputs), CUBE, 0), "float32")


def test_over_all_symmetries_every_image_has_one_value():
    alone, averaged = network("state"), AveragedHeuristic(CUBE, network("state"), 48)
    image = CUBE.symmetries[17].apply(STATES)
    assert np.abs(alone(image) - alone(STATES)).max() > 1e-3
    np.testing.assert_allclose(averaged(image), averaged(STATES), atol=1e-6)


def test_with_inverses_a_state_and_its_inverse_have_one_value():
    averaged = AveragedHeuristic(CUBE, network("state"), 48, inverses=True)
    np.testing.assert_allclose(averaged(CUBE.inverse_states(STATES)), averaged(STATES), atol=1e-6)


def test_over_all_symmetries_a_childs_image_is_worth_what_the_child_is():
    averaged, symmetry = AveragedHeuristic(CUBE, network("actions"), 48), CUBE.symmetries[29]
    values = averaged.children(STATES)
    np.testing.assert_allclose(averaged.children(symmetry.apply(STATES))[:, symmetry.actions], values, atol=1e-6)


def test_children_by_one_value_a_state_are_averaged_one_by_one():
    averaged = AveragedHeuristic(CUBE, network("state"), 3)
    children, _ = CUBE.expand(STATES)
    np.testing.assert_allclose(averaged.children(STATES)[:, 5], averaged(children[:, 5]), atol=1e-6)


def test_over_one_image_nothing_changes():
    alone = network("actions")
    np.testing.assert_array_equal(AveragedHeuristic(CUBE, alone, 1).children(STATES), alone.children(STATES))


@pytest.mark.parametrize(
    ("puzzle", "outputs", "count", "inverses"),
    [("cube3", "state", 49, False), ("hanoi_4", "state", 1, False), ("cube3", "actions", 2, True)],
)
def test_images_that_are_not_there_are_told_in_one_sentence(puzzle, outputs, count, inverses):
    with pytest.raises(UserError) as told:
        AveragedHeuristic(make(puzzle), network(outputs), count, inverses)
    assert is_one_sentence(str(told.value)), str(told.value)
