"""Solutions of sliding tiles made shorter: stretches become shortest paths, and nothing else changes."""

import itertools
import math
import time
from dataclasses import replace

import numpy as np
import pytest

from costtogo.heuristics.manhattan import Manhattan
from costtogo.learning.instances import draw_walk_ends
from costtogo.puzzles import make
from costtogo.puzzles.base import inverses, random_walks, solves
from costtogo.search import anytime, bwas
from costtogo.search.anytime import Weighted, solve_with_weights
from costtogo.search.shorten import Sweeps, shorten
from costtogo.search.tile_beam import SLICE, shorter

SMALL, LARGE = make("puzzle8"), make("puzzle24")


def wandering(moves: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A board of the 8-puzzle and a solution of so many moves: a random walk, gone back."""
    actions = random_actions(moves, seed)
    state = SMALL.goal[None]
    for action in actions:
        state = SMALL.move(state, np.array([action]))
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


def test_a_wide_beam_finds_a_shortest_path_between_two_boards_or_says_that_none_is_shorter(distances_of):
    distance = int(distances_of("puzzle8").max())
    start = SMALL.unrank(distances_of("puzzle8").argmax()[None])[0]
    found = shorter(SMALL, start, SMALL.goal, than=distance + 2, width=200_000)
    assert len(found.path) == distance and solves(SMALL, start[None], [found.path])[0] and not found.left_out
    back = shorter(SMALL, SMALL.goal, start, than=80, width=200_000)
    assert len(back.path) == distance and not back.left_out, "the blank of the end need not lie in its corner"
    none = shorter(SMALL, start, SMALL.goal, than=distance, width=200_000)
    assert none.path is None and not none.left_out
    none = shorter(SMALL, start, SMALL.goal, than=distance, width=5)
    assert none.path is None and none.left_out, "a narrow one cannot say so"


def test_a_narrow_beam_finds_some_path_and_says_that_it_left_states_out(distances_of):
    distance = int(distances_of("puzzle8").max())
    start = SMALL.unrank(distances_of("puzzle8").argmax()[None])[0]
    found = shorter(SMALL, start, SMALL.goal, than=200, width=5)
    assert solves(SMALL, start[None], [found.path])[0] and found.left_out
    assert distance < len(found.path) < 200 and 0 < found.expanded < found.generated


def test_detours_on_large_boards_go():
    starts = draw_walk_ends(LARGE, 3, (1000, 2000), np.random.default_rng(4))
    limits = bwas.Limits(max_nodes=400_000)
    found = bwas.solve(LARGE, Manhattan(LARGE), starts, path_weight=0.2, batch_size=20, limits=limits)
    solved = np.flatnonzero(found.solved)
    assert len(solved), "a search must solve one board for this test to mean anything"
    for row in solved:
        sweeps, better = Sweeps(LARGE, starts[row], deadline=math.inf, threads=2, values=None), found.solutions[row]
        for offset in (0, 6, 12, 18):
            better = sweeps.swept(better, 24, offset, width=100)
        assert solves(LARGE, starts[row][None], [better])[0]
        assert len(better) < len(found.solutions[row])


def test_threads_find_the_same():
    start, solution = wandering(200, 2)
    one, two = (Sweeps(SMALL, start, math.inf, threads, None).swept(solution, 20, 0, 50) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert len(one) < 200 and solves(SMALL, start[None], [one])[0]


def test_a_stretch_of_many_nodes_ends_at_its_deadline(monkeypatch):
    far, looks = draw_walk_ends(LARGE, 1, (1000, 2000), np.random.default_rng(4))[0], itertools.count(1)
    monkeypatch.setattr(time, "monotonic", lambda: next(looks))  # a second from one look at the clock to the next
    # No level of the first three slices is the goal, which is farther off.
    found = shorter(LARGE, far, LARGE.goal, than=300, width=SLICE, deadline=3)
    assert found.path is None and found.left_out
    assert next(looks) == 4, "the third look is the last"


def test_after_the_deadline_no_stretch_is_begun():
    start, solution = wandering(61, 1)
    sweeps = Sweeps(SMALL, start, deadline=0, threads=1, values=None)
    np.testing.assert_array_equal(sweeps.swept(solution, 40, 0, 100), solution)
    assert not sweeps.known


def test_without_time_the_solution_stays_as_it_is():
    start, solution = wandering(61, 1)
    np.testing.assert_array_equal(shorten(SMALL, start, solution, seconds=0), solution)
    np.testing.assert_array_equal(shorten(SMALL, SMALL.goal, np.zeros(0, dtype=np.int8), seconds=1), [])


def test_what_bwas_finds_is_shortened_where_time_is_kept_for_it(distances_of):
    starts = SMALL.unrank(np.random.default_rng(2).integers(SMALL.state_count, size=8))
    plainly, shortened = Weighted([0.0], 1), Weighted([0.0], 1, shortening=0.5)
    for start in starts:
        plain = solve_with_weights(SMALL, Manhattan(SMALL), start, plainly, seconds=30)
        found = solve_with_weights(SMALL, Manhattan(SMALL), start, shortened, seconds=30)
        optimum = distances_of("puzzle8")[SMALL.rank(start[None])[0]]
        assert found.cost[0] == len(found.solutions[0]) == optimum <= plain.cost[0]
        assert found.nodes_generated[0] == plain.nodes_generated[0], "those of shortening are not counted"


class Scaled:
    """Three times the Manhattan distance, which overestimates."""

    def __call__(self, states):
        return 3 * Manhattan(SMALL)(states)


def test_no_lower_bound_is_above_the_cost():
    for start in SMALL.unrank(np.random.default_rng(5).integers(SMALL.state_count, size=5)):
        found = solve_with_weights(SMALL, Scaled(), start, Weighted([0.2, 1.0], 1, shortening=0.5), seconds=30)
        assert found.lower_bound[0] <= found.cost[0]


def test_time_is_kept_for_shortening_once_there_is_a_solution(monkeypatch):
    """A clock that goes on by the seconds that each search is given, and searches that solve nothing at first."""
    clock, given = [0.0], []

    def searched(puzzle, heuristic, starts, *, path_weight, batch_size, limits, until_proved=False):
        given.append(limits.seconds)
        clock[0] += 2
        found = bwas_solve(puzzle, heuristic, starts, path_weight=path_weight, batch_size=batch_size)
        return found if path_weight else replace(found, cost=np.array([np.inf]))

    bwas_solve, start = bwas.solve, SMALL.unrank(np.array([100_000]))[0]
    monkeypatch.setattr(bwas, "solve", searched)
    monkeypatch.setattr(anytime.time, "monotonic", lambda: clock[0])
    weighted = Weighted([0, 0.5, 1, 0.9, 0.8], 5, shortening=0.4)
    solve_with_weights(SMALL, Manhattan(SMALL), start, weighted, seconds=10)
    assert given == [10, 8, 2], "10 s; 2 have passed; 4 have passed and 4 are kept; then none is left"


@pytest.fixture
def searched(monkeypatch):
    """N and the first start of each search, on a clock that goes on by 10 ms for each node of a batch."""
    clock, seen = [0.0], []

    def searched(puzzle, heuristic, starts, *, path_weight, batch_size, limits, until_proved=False):
        seen.append((batch_size, starts[0].tolist()))
        clock[0] += batch_size / 100
        return bwas_solve(puzzle, heuristic, starts, path_weight=path_weight, batch_size=batch_size)

    bwas_solve = bwas.solve
    monkeypatch.setattr(bwas, "solve", searched)
    monkeypatch.setattr(anytime.time, "monotonic", lambda: clock[0])
    return seen


@pytest.mark.parametrize(
    ("images", "seconds", "wider"),
    [
        # The mirrored board within half of the 9.8 s left, then the board itself within 5.7 s.
        (2, 10, [(int(9.8 / 2 / (1.2 * 0.01)), True), (476, False)]),
        (2, 0.35, [(12, True)]),  # 0.15 s do not do for two: the mirrored board gets all
        (2, 0.31, []),  # not even for one with N = 10
        (1, 10, [(int(9.8 / (1.2 * 0.01)), False)]),  # without another image all for one
        (1, 0.4, []),  # 16 is not twice 10
    ],
)
def test_wider_searches_go_over_the_images_while_they_should_end_in_time(searched, monkeypatch, images, seconds, wider):
    monkeypatch.setattr(anytime, "VIEWS", images)
    start = SMALL.unrank(np.array([100_000]))[0]
    seen = {False: start.tolist(), True: SMALL.symmetries[1].apply(start[None])[0].tolist()}
    solve_with_weights(SMALL, Manhattan(SMALL), start, Weighted([0.5, 1], 10), seconds=seconds)
    planned = [(10, seen[False])] * 2
    assert searched == planned, "without widening"
    searched.clear()
    solve_with_weights(SMALL, Manhattan(SMALL), start, Weighted([0.5, 1], 10, widening=True), seconds=seconds)
    assert searched == planned + [(batch, seen[mirrored]) for batch, mirrored in wider]


def test_a_larger_weight_that_finds_nothing_has_a_quarter_of_the_time(monkeypatch):
    """A clock as above; what λ = 0.7 finds is thrown away, after all the seconds that it is given."""
    clock, weights, given = [0.0], [], []

    def searched(puzzle, heuristic, starts, *, path_weight, batch_size, limits, until_proved=False):
        weights.append(path_weight)
        given.append(limits.seconds)
        fails = path_weight == 0.7
        clock[0] += limits.seconds if fails else batch_size / 100
        found = bwas_solve(puzzle, heuristic, starts, path_weight=path_weight, batch_size=batch_size)
        return replace(found, cost=np.array([np.inf])) if fails else found

    bwas_solve, start = bwas.solve, SMALL.unrank(np.array([100_000]))[0]
    monkeypatch.setattr(bwas, "solve", searched)
    monkeypatch.setattr(anytime.time, "monotonic", lambda: clock[0])
    found = solve_with_weights(SMALL, Manhattan(SMALL), start, Weighted([0.2, 0.7], 10, widening=True), seconds=10)
    assert found.solved[0] and weights[:3] == [0.2, 0.7, 0.2] and 0.7 not in weights[2:], "the last that solved goes on"
    assert given[:2] == [10, pytest.approx(9.9 / 4)]
    weights.clear(), given.clear()
    clock[0] = 0
    solve_with_weights(SMALL, Manhattan(SMALL), start, Weighted([0.2, 0.7], 10), seconds=10)
    assert given == [10, pytest.approx(9.9)], "without searches to come, all of it"
