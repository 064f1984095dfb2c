"""Greedy search: replayed, straight to the goal where the heuristic is exact, never twice at one state, bounded."""

import numpy as np
import pytest

from costtogo.exact.nearby import nearby_table
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, solves
from costtogo.search.greedy import solve

CUBE = make("cube3")


class Told:
    """Tells the children of a listed puzzle by values of all its states [S], and counts its calls."""

    def __init__(self, puzzle, values):
        self.puzzle, self.values, self.calls = puzzle, np.asarray(values, dtype=np.float32), 0

    def children(self, states):
        self.calls += 1
        children, legal = self.puzzle.expand(states)
        values = self.values[self.puzzle.rank(children.reshape(-1, self.puzzle.cells))].reshape(legal.shape)
        return np.where(legal, values, np.float32(np.inf))


def noisy(distance, noise: float) -> np.ndarray:
    return distance + np.random.default_rng(0).uniform(-noise, noise, len(distance))


def some_states(puzzle, distance, count: int = 40):
    return puzzle.unrank(np.random.default_rng(1).integers(len(distance), size=count))


def test_exact_distances_lead_straight_to_the_goal(puzzle, distance):
    starts = some_states(puzzle, distance)
    heuristic = Told(puzzle, distance)
    found = solve(puzzle, heuristic, starts, max_moves=int(distance.max()))
    exact = distance[puzzle.rank(starts)]
    np.testing.assert_array_equal(found.cost, exact)
    np.testing.assert_array_equal(found.nodes_expanded, exact)
    assert solves(puzzle, starts, found.solutions).all() and (found.lower_bound <= found.cost).all()
    assert heuristic.calls <= exact.max() + 1, "one call a move for all starts together"


def test_values_that_grow_towards_the_goal_lead_away_from_it(puzzle, distance):
    """Those next to the goal are solved all the same: the goal goes before all other children."""
    starts = some_states(puzzle, distance)
    moves = distance[puzzle.rank(starts)]
    found = solve(puzzle, Told(puzzle, -distance.astype(float)), starts, max_moves=int(distance.max()))
    near = puzzle.expand(puzzle.goal[None])
    assert solve(puzzle, Told(puzzle, -distance.astype(float)), near[0][near[1]], max_moves=1).solved.all()
    assert found.solved[moves > 3].mean() < 0.5


def test_what_is_solved_is_what_the_replay_solves_and_no_state_comes_twice(puzzle, distance):
    near, legal = puzzle.expand(puzzle.goal[None])  # solved by any values
    starts = np.concatenate([some_states(puzzle, distance), near[legal]])
    found = solve(puzzle, Told(puzzle, noisy(distance, 3)), starts, max_moves=int(distance.max()))
    assert 0 < found.solved.sum() < len(starts)
    np.testing.assert_array_equal(solves(puzzle, starts, found.solutions), found.solved)
    for start, solution in zip(starts, found.solutions, strict=True):
        way = [tuple(apply(puzzle, start, solution[:moves])) for moves in range(len(solution) + 1)]
        assert len(set(way)) == len(way)


def test_walking_together_equals_walking_alone(puzzle, distance):
    starts, heuristic = some_states(puzzle, distance, 12), Told(puzzle, noisy(distance, 2))
    together = solve(puzzle, heuristic, starts, max_moves=20)
    for row in range(len(starts)):
        alone = solve(puzzle, heuristic, starts[row : row + 1], max_moves=20)
        for name in ("cost", "nodes_expanded", "nodes_generated", "lower_bound"):
            assert getattr(alone, name)[0] == getattr(together, name)[row], name
        np.testing.assert_array_equal(alone.solutions[0], together.solutions[row])


def test_a_walk_ends_at_its_bound_and_where_it_knows_every_child(distances_of):
    tower, distance = make("hanoi_4"), distances_of("hanoi_4")
    start = tower.start[None]
    bounded = solve(tower, Told(tower, distance), start, max_moves=14)
    assert not bounded.solved[0] and bounded.nodes_expanded[0] == 14 and bounded.solutions[0].size == 0
    lost = solve(tower, Told(tower, -distance.astype(float)), start, max_moves=1000)
    assert not lost.solved[0] and lost.nodes_expanded[0] < 81


@pytest.mark.parametrize("count", [0, 1])
def test_no_starts_and_the_goal_need_no_moves(count):
    nearby = nearby_table(CUBE, 1)
    found = solve(CUBE, nearby, np.repeat(CUBE.goal[None], count, axis=0), max_moves=5)
    assert len(found.cost) == len(found.solutions) == count and not found.cost.any() and not found.lower_bound.any()
