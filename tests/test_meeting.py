"""Breadth-first search from both ends: the fewest moves wherever it ends, a true bound where it does not."""

import numpy as np
import pytest

from costtogo.exact.meeting import MeetingSearch
from costtogo.exact.nearby import nearby_table
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks, solves

CUBE2, CUBE3 = make("cube2"), make("cube3")


@pytest.fixture(scope="module")
def around():
    """Of the 2×2×2 cube states of every distance up to 9, three of each, and their distances."""
    table, walks = nearby_table(CUBE2, 9), random_walks(CUBE2, 400, 14, np.random.default_rng(3))
    states = np.unique(walks.reshape(-1, CUBE2.cells), axis=0)
    distance = table(states).astype(int)
    rows = np.concatenate([np.flatnonzero(distance == moves)[:3] for moves in range(10)])
    return states[rows], distance[rows]


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_solutions_have_the_fewest_moves_whatever_table_they_meet(around, depth):
    states, distance = around
    found = MeetingSearch(CUBE2, nearby_table(CUBE2, depth), 10**7).solve(states)
    np.testing.assert_array_equal(found.cost, distance)
    np.testing.assert_array_equal(found.lower_bound, distance)
    assert solves(CUBE2, states, found.solutions).all()


@pytest.mark.parametrize("most", [0, 5, 6, 50, 500])
def test_what_is_not_solved_is_farther_than_what_was_searched(around, most):
    states, distance = around
    found = MeetingSearch(CUBE2, nearby_table(CUBE2, 2), most).solve(states)
    np.testing.assert_array_equal(found.cost[found.solved], distance[found.solved])
    left = ~found.solved
    assert left.any() and (found.nodes_generated <= most).all()
    assert (found.lower_bound[left] <= distance[left]).all() and (found.lower_bound[left] > 2).all()
    if most >= 6:  # a layer around the start was looked up
        assert (found.lower_bound[left] > 3).all()


def test_the_last_layer_is_looked_up_without_being_kept(around):
    states, distance = around
    far = states[distance == 5]
    every = MeetingSearch(CUBE2, nearby_table(CUBE2, 3), 10**7).solve(far)
    exactly = int(every.nodes_generated.max())  # two layers: no third may be made from what the second holds
    found = MeetingSearch(CUBE2, nearby_table(CUBE2, 3), exactly).solve(far)
    np.testing.assert_array_equal(found.cost, 5)
    np.testing.assert_array_equal(found.nodes_generated, every.nodes_generated)


def test_scrambled_cubes_are_as_far_as_parity_allows():
    starts = random_walks(CUBE3, 6, 9, np.random.default_rng(0))[:, -1]
    found = MeetingSearch(CUBE3, nearby_table(CUBE3, 4), 10**7).solve(starts)
    assert found.solved.all() and (found.cost % 2 == 1).all() and (found.cost <= 9).all()
    assert solves(CUBE3, starts, found.solutions).all()
