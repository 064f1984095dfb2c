"""Solutions of sliding tiles made shorter: stretches become shortest paths, and nothing else changes."""

import numpy as np
import pytest

from costtogo.heuristics.manhattan import Manhattan
from costtogo.learning.instances import draw_walk_ends
from costtogo.puzzles import make
from costtogo.puzzles.base import inverses, random_walks, solves
from costtogo.search import bwas
from costtogo.search.anytime import solve_with_weights
from costtogo.search.shorten import shorten, shortest

SMALL, LARGE = make("puzzle8"), make("puzzle24")


def wandering(moves: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A board of the 8-puzzle and a solution of so many moves: a random walk, gone back."""
    actions = random_actions(moves, seed)
    state = SMALL.goal[None]
    for action in actions:
        state = SMALL.moved(state, np.array([action]))
    return state[0], inverses(SMALL)[actions[::-1]].astype(np.int8)


def random_actions(moves: int, seed: int) -> list[int]:
    path = np.concatenate([SMALL.goal[None], random_walks(SMALL, 1, moves, np.random.default_rng(seed))[0]])
    children, legal = SMALL.expand(path[:-1])
    same = (children == path[1:, None]).all(axis=2) & legal
    return same.argmax(axis=1).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_the_8_puzzle_comes_to_its_distance_and_the_solution_is_valid(seed, distances_of):
    start, solution = wandering(61, seed)
    assert solves(SMALL, start[None], [solution])[0]
    found = shorten(SMALL, start, solution, seconds=60)
    assert solves(SMALL, start[None], [found])[0] and found.dtype == np.int8
    assert len(found) == distances_of("puzzle8")[SMALL.rank(start[None])[0]]


def test_the_shortest_path_between_two_boards_is_told_where_it_is_shorter(distances_of):
    start, solution = wandering(80, 3)
    distance = distances_of("puzzle8")[SMALL.rank(start[None])[0]]
    found = shortest(SMALL, start, SMALL.goal, than=distance + 2)
    assert len(found) == distance and solves(SMALL, start[None], [found])[0]
    back = shortest(SMALL, SMALL.goal, start, than=80)
    assert len(back) == distance, "the blank of the end need not lie in its corner"
    assert shortest(SMALL, start, SMALL.goal, than=distance) is None
    assert shortest(SMALL, start, SMALL.goal, than=80, most_nodes=5) is None


def test_long_detours_on_large_boards_go():
    starts = draw_walk_ends(LARGE, 3, (1000, 2000), np.random.default_rng(4))
    limits = bwas.Limits(max_nodes=400_000)
    found = bwas.solve(LARGE, Manhattan(LARGE), starts, path_weight=0.2, batch_size=20, limits=limits)
    solved = np.flatnonzero(found.solved)
    assert len(solved), "a search must solve one board for this test to mean anything"
    for row in solved:
        shorter = shorten(LARGE, starts[row], found.solutions[row], seconds=1.5)
        assert solves(LARGE, starts[row][None], [shorter])[0]
        assert len(shorter) <= 0.95 * len(found.solutions[row])


def test_without_time_the_solution_stays_as_it_is():
    start, solution = wandering(61, 1)
    np.testing.assert_array_equal(shorten(SMALL, start, solution, seconds=0), solution)
    np.testing.assert_array_equal(shorten(SMALL, SMALL.goal, np.zeros(0, dtype=np.int8), seconds=1), [])


def test_what_bwas_finds_is_shortened_where_time_is_kept_for_it(distances_of):
    starts = SMALL.unrank(np.random.default_rng(2).integers(SMALL.state_count, size=8))
    asked = {"path_weights": [0.0], "batch_size": 1, "seconds": 30}
    for start in starts:
        plain = solve_with_weights(SMALL, Manhattan(SMALL), start, **asked)
        found = solve_with_weights(SMALL, Manhattan(SMALL), start, **asked, shortening=0.5)
        optimum = distances_of("puzzle8")[SMALL.rank(start[None])[0]]
        assert found.cost[0] == len(found.solutions[0]) == optimum <= plain.cost[0]
        assert found.nodes_generated[0] == plain.nodes_generated[0]
