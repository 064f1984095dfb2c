"""IDA*: shortest solutions, replayed; the nodes of a plain recursion; bounds and limits."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messages import is_one_sentence

from costtogo import external
from costtogo import external_files as outside
from costtogo.exact.pattern_database import build, load
from costtogo.exact.sliding_words import automaton
from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.pattern_database import PatternDatabaseHeuristic
from costtogo.learning.random_walk import draw_walks
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.search import ida_star
from costtogo.search.ida_star import LONGEST_WORD, IdaLimits, solve
from costtogo.types import NO_STATE, UserError

EIGHT, FIFTEEN, TWENTY_FOUR = (make(name) for name in ("puzzle8", "puzzle15", "puzzle24"))
FILE = "COSTTOGO_PATTERN_DATABASE"  # names a file of the 15-puzzle's 7-8 database, which takes minutes to build
HARDEST = Path(__file__).parents[1] / "data/boards/puzzle15_80_moves.csv"

built = cache(build)
HEURISTICS = {
    "manhattan": lambda puzzle: Manhattan(puzzle),
    "linear conflicts": lambda puzzle: Manhattan(puzzle, linear_conflicts=True),
    "patterns": lambda puzzle: PatternDatabaseHeuristic(puzzle, built(puzzle.side, PATTERNS[puzzle.side]), False),
    "reflected patterns": lambda puzzle: PatternDatabaseHeuristic(puzzle, built(puzzle.side, PATTERNS[puzzle.side])),
}
PATTERNS = {3: "4-4", 4: "4-4-4-3", 5: "4-4-4-4-4-4", 6: "2-3-3-3-3-3-3-3-3-3-3-3"}


def walked(puzzle, walks: int, length: int) -> np.ndarray:
    """The ends of walks from the goal that do not step back."""
    return draw_walks(puzzle, walks * length, length, np.random.default_rng(2)).states.reshape(walks, length, -1)[:, -1]


def by_recursion(puzzle, heuristic, start) -> tuple[int, int, int]:
    """IDA* in plain Python: the length of a shortest solution, nodes expanded, nodes generated."""
    counts, onward = [0, 0], automaton(LONGEST_WORD)

    def descend(state, g, read, bound):
        counts[0] += 1
        least = np.inf
        children, legal = puzzle.expand(state[None])
        for action in np.flatnonzero(legal[0] & (onward[read] != NO_STATE)).tolist():
            counts[1] += 1
            child = children[0, action]
            h = heuristic(child[None])[0]
            if g + 1 + h <= bound and h == 0:
                return None
            below = descend(child, g + 1, onward[read, action], bound) if g + 1 + h <= bound else g + 1 + h
            if below is None:
                return None
            least = min(least, below)
        return least

    bound = heuristic(start[None])[0]
    while bound and (beyond := descend(start, 0, 0, bound)) is not None:
        bound = beyond
    return int(bound), *counts


@pytest.mark.parametrize("name", HEURISTICS)
def test_solutions_of_the_8_puzzle_are_as_long_as_the_exact_distance(name, distances_of):
    distance = distances_of("puzzle8")
    rows = np.r_[np.argsort(distance)[:20], np.argsort(distance)[-20:], np.arange(0, len(distance), 97)]
    starts = EIGHT.unrank(rows)
    found = solve(EIGHT, HEURISTICS[name](EIGHT), starts)
    np.testing.assert_array_equal(found.cost, distance[rows])
    np.testing.assert_array_equal(found.lower_bound, found.cost)
    assert solves(EIGHT, starts, found.solutions).all()
    assert [len(moves) for moves in found.solutions] == found.cost.tolist()
    assert all(moves.dtype == np.int8 for moves in found.solutions)
    assert (found.nodes_generated >= found.nodes_expanded - 1).all()


@pytest.mark.parametrize("name", ["manhattan", "linear conflicts", "patterns"])
@pytest.mark.parametrize(("puzzle", "length"), [(EIGHT, 16), (FIFTEEN, 22), (TWENTY_FOUR, 20), (make("puzzle35"), 12)])
def test_ranks_followed_from_move_to_move_give_the_nodes_of_a_plain_recursion(name, puzzle, length):
    heuristic = HEURISTICS[name](puzzle)
    starts = walked(puzzle, 4, length)
    found = solve(puzzle, heuristic, starts)
    counted = list(zip(found.cost.tolist(), found.nodes_expanded.tolist(), found.nodes_generated.tolist(), strict=True))
    plain = [by_recursion(puzzle, heuristic, start) for start in starts]
    assert [row[0] for row in counted] == [row[0] for row in plain]
    assert [row[2] for row in counted] == [row[2] for row in plain]
    assert [row[1] for row in counted] == [row[1] for row in plain]


@pytest.mark.parametrize(("puzzle", "length"), [(FIFTEEN, 40), (TWENTY_FOUR, 40)])
def test_all_heuristics_find_solutions_of_one_length(puzzle, length):
    starts = walked(puzzle, 6, length)
    lengths = []
    for make_heuristic in HEURISTICS.values():
        found = solve(puzzle, make_heuristic(puzzle), starts)
        assert solves(puzzle, starts, found.solutions).all()
        lengths.append(found.cost.tolist())
    assert lengths == [lengths[0]] * len(HEURISTICS) and max(lengths[0]) <= length


def test_the_better_of_two_views_of_a_board_saves_nodes():
    starts = walked(FIFTEEN, 10, 60)
    plain, reflected = (
        solve(FIFTEEN, HEURISTICS[name](FIFTEEN), starts) for name in ("patterns", "reflected patterns")
    )
    assert reflected.nodes_generated.sum() < plain.nodes_generated.sum()


def test_a_search_that_was_stopped_anywhere_goes_on_as_if_it_had_not(monkeypatch):
    heuristic, starts = HEURISTICS["reflected patterns"](EIGHT), walked(EIGHT, 5, 60)
    whole = solve(EIGHT, heuristic, starts)
    monkeypatch.setattr(ida_star, "SLICE", 7)
    pieces = solve(EIGHT, heuristic, starts)
    assert whole.nodes_generated.max() > 14
    for name in ("cost", "nodes_expanded", "nodes_generated", "lower_bound"):
        np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name))
    for one, other in zip(whole.solutions, pieces.solutions, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def cut_early(monkeypatch):
    """Trees are cut at once, and threads look at the clock all the time."""
    for name, value in {"UNCUT": 5, "SUBTREES": 40, "SLICE": 300}.items():
        monkeypatch.setattr(ida_star, name, value)


@pytest.mark.parametrize(("puzzle", "length"), [(FIFTEEN, 60), (TWENTY_FOUR, 60)])
def test_threads_find_the_solutions_that_one_finds_with_the_same_nodes(puzzle, length, cut_early, monkeypatch):
    heuristic, starts = HEURISTICS["reflected patterns"](puzzle), walked(puzzle, 6, length)
    alone = solve(puzzle, heuristic, starts)
    with monkeypatch.context() as patch:
        patch.setattr(ida_star, "UNCUT", 1e9)
        uncut = solve(puzzle, heuristic, starts)
    np.testing.assert_array_equal(uncut.cost, alone.cost)
    assert (uncut.nodes_generated != alone.nodes_generated).any()
    together = [solve(puzzle, heuristic, starts, threads=threads) for threads in (2, 3, 2)]
    for found in together:
        assert solves(puzzle, starts, found.solutions).all()
        for name in ("nodes_expanded", "nodes_generated", "lower_bound"):
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
        for one, other in zip(found.solutions, alone.solutions, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_goal_within_the_first_layers_is_found_by_threads(cut_early, distances_of):
    near = np.flatnonzero(distances_of("puzzle8") <= 12)[::7]
    found = solve(EIGHT, Manhattan(EIGHT), EIGHT.unrank(near), threads=2)
    np.testing.assert_array_equal(found.cost, distances_of("puzzle8")[near])
    assert solves(EIGHT, EIGHT.unrank(near), found.solutions).all()


def test_threads_that_reach_a_limit_end_with_a_bound_that_holds(cut_early):
    starts = walked(FIFTEEN, 4, 100)
    cost = solve(FIFTEEN, HEURISTICS["reflected patterns"](FIFTEEN), starts).cost
    for limits in (IdaLimits(max_generated=2000), IdaLimits(seconds=0.001)):
        found = solve(FIFTEEN, Manhattan(FIFTEEN), starts, limits=limits, threads=2)
        assert not found.solved.any() and (found.lower_bound <= cost).all()
        assert (found.lower_bound >= Manhattan(FIFTEEN)(starts)).all()


@pytest.mark.parametrize("nodes", [0, 1, 30, 300])
def test_a_search_at_its_limit_of_nodes_ends_as_unsolved_with_a_bound_that_holds(nodes, distances_of):
    distance = distances_of("puzzle8")
    rows = np.arange(0, len(distance), 500)
    found = solve(EIGHT, Manhattan(EIGHT), EIGHT.unrank(rows), limits=IdaLimits(max_generated=nodes))
    assert (found.nodes_generated <= nodes).all() and not found.solved.all()
    assert (found.lower_bound <= distance[rows]).all() and (
        found.lower_bound >= Manhattan(EIGHT)(EIGHT.unrank(rows))
    ).all()
    np.testing.assert_array_equal(found.cost[found.solved], distance[rows][found.solved])
    assert all(moves.size == 0 for moves, solved in zip(found.solutions, found.solved, strict=True) if not solved)


def test_a_search_without_time_ends_as_unsolved():
    starts = walked(FIFTEEN, 3, 40)
    found = solve(FIFTEEN, Manhattan(FIFTEEN), starts, limits=IdaLimits(seconds=0))
    assert not found.solved.any() and not found.nodes_generated.any() and found.out_of_time.all()
    np.testing.assert_array_equal(found.lower_bound, Manhattan(FIFTEEN)(starts))


def test_the_goal_needs_no_moves_and_no_starts_no_rows():
    found = solve(FIFTEEN, Manhattan(FIFTEEN), FIFTEEN.goal[None], limits=IdaLimits(max_generated=0))
    assert found.cost.tolist() == [0] and found.solutions[0].size == 0
    assert solve(FIFTEEN, Manhattan(FIFTEEN), FIFTEEN.goal[None][:0]).solutions == []


def test_a_board_that_cannot_be_solved_is_told_in_one_sentence():
    boards = np.stack([FIFTEEN.goal, FIFTEEN.goal])
    boards[1, [0, 1]] = boards[1, [1, 0]]
    with pytest.raises(UserError, match="Board 2 of puzzle15") as told:
        solve(FIFTEEN, Manhattan(FIFTEEN), boards)
    assert is_one_sentence(str(told.value))


def external_boards(name: str) -> external.Instances:
    try:
        return external.load(make(name), outside.find(f"{name}.csv"))
    except UserError as error:
        pytest.skip(str(error))


def test_boards_from_outside_are_solved_at_the_length_of_their_file():
    found = external_boards("puzzle15")
    near = np.flatnonzero(found.optimal <= 46)[:15]
    solved = solve(FIFTEEN, PatternDatabaseHeuristic(FIFTEEN, build(4, "5-5-5")), found.states[near])
    np.testing.assert_array_equal(solved.cost, found.optimal[near])
    assert solves(FIFTEEN, found.states[near], solved.solutions).all()


@pytest.fixture(scope="module")
def farthest() -> np.ndarray:
    """The 17 boards of the 15-puzzle that are farthest from the goal, uint8 [17, 16]."""
    listed = pd.read_csv(HARDEST)
    assert (listed["optimal_moves"] == 80).all()
    return np.array([FIFTEEN.parse_state(tiles) for tiles in listed["tiles"]])


def test_the_farthest_boards_are_different_and_their_reflections_are_among_them(farthest):
    boards = {board.tobytes() for board in farthest}
    assert len(boards) == 17 and FIFTEEN.is_reachable(farthest).all()
    assert {board.tobytes() for board in FIFTEEN.symmetries[1].apply(farthest)} == boards


def test_the_farthest_boards_need_80_moves(farthest):
    if not os.environ.get(FILE):
        pytest.skip(f"Set {FILE} to a file of the 7-8 database: with smaller patterns it takes minutes.")
    found = solve(FIFTEEN, PatternDatabaseHeuristic(FIFTEEN, load(Path(os.environ[FILE]))), farthest, threads=2)
    assert (found.cost == 80).all() and solves(FIFTEEN, farthest, found.solutions).all()
