"""Pattern databases of the cube's pieces: tables against plain searches, files, and IDA* that goes by them."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo.exact import piece_patterns
from costtogo.exact.meeting import MeetingSearch
from costtogo.exact.nearby import nearby_table
from costtogo.exact.solver import Means, exact_solver
from costtogo.files import FileError
from costtogo.heuristics.piece_patterns import PieceHeuristic, read_database
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, random_walks
from costtogo.search import cube_ida
from costtogo.types import UserError

CUBE = make("cube3")
SMALL = "1 2 3 4 | 5 6 7 8 | 9 10 11 12"


@cache
def heuristic(text=SMALL):
    return PieceHeuristic(CUBE, piece_patterns.database_of(CUBE, text, lambda line: None))


@cache
def walked(depth=4):
    """The cubes at the ends of all walks of up to some moves, and how long these are."""
    reached = [CUBE.goal[None]]
    for _ in range(depth):
        reached.append(np.unique(CUBE.expand(reached[-1])[0].reshape(-1, CUBE.cells), axis=0))
    return np.concatenate(reached), np.repeat(np.arange(depth + 1), [len(layer) for layer in reached])


def walks(count, moves, seed=0):
    return random_walks(CUBE, count, moves, np.random.default_rng(seed))[:, -1]


def values(text):
    """The values of the one pattern of a text, by rank."""
    found = heuristic(text).database
    return np.stack([found.values & 15, found.values >> 4], axis=1).ravel()[: piece_patterns.entries(CUBE, text)]


@pytest.mark.parametrize("text", ["1 2 3 4", "2 7", "12 5 1"])
def test_a_table_has_the_least_distance_of_all_cubes_that_its_pattern_does_not_tell_apart(text):
    states, distance = walked()
    members = [8 + int(edge) - 1 for edge in text.split()]
    seen = heuristic(text).codes(states)[:, members]
    least = {}
    for key, moves in zip(map(bytes, seen), distance.tolist(), strict=True):
        least[key] = min(moves, least.get(key, moves))
    found = dict(zip(map(bytes, seen), heuristic(text)(states).tolist(), strict=True))
    assert found == least  # every placing that is this near is reached within as many moves


def test_the_corners_are_as_far_as_the_literature_has_them():
    counts = np.bincount(values("corners"))  # of the 3×3×3's corners, by quarter turns from the goal (OEIS A080630)
    expected = [1, 12, 114, 924, 6539, 39528, 199926, 806136, 2761740, 8656152, 22334112, 32420448, 18780864, 2166720]
    assert counts.tolist() == [*expected, 6624]


def test_no_value_is_above_the_distance_and_none_changes_by_more_than_one_with_a_move():
    states, distance = walked()
    assert (heuristic()(states) <= distance).all() and heuristic()(CUBE.goal[None]) == 0
    far = walks(500, 100)
    own, children = heuristic()(far), heuristic().children(far)
    assert (abs(own[:, None] - children) <= 1).all() and (own[:, None] != children).any()
    for action in range(len(CUBE.actions)):
        assert (children[:, action] == heuristic()(CUBE.move(far, np.full(len(far), action)))).all()
    singly = [heuristic(part)(far) for part in SMALL.split(" | ")]
    assert (own == np.max(singly, axis=0)).all()


def test_a_file_is_read_again_and_another_or_a_damaged_one_is_refused(tmp_path):
    path = tmp_path / "small.npz"
    piece_patterns.save(path, heuristic().database)
    states = walks(50, 30)
    assert (read_database(CUBE, path)(states) == heuristic()(states)).all()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError) as told:
        read_database(CUBE, path)
    assert is_one_sentence(str(told.value))
    short = heuristic("1 2").database
    piece_patterns.save(path, piece_patterns.PieceDatabase(CUBE, short.partition, short.values[:-1]))
    with pytest.raises(FileError):
        read_database(CUBE, path)


@pytest.mark.parametrize("text", ["", "corners |", "edges", "1 2 13", "0 1", "1 1", "1 2 3 4 5 6 7 8 9", "1-6", "7-8"])
def test_what_is_no_pattern_is_refused_in_one_sentence(text):
    with pytest.raises(UserError) as told:
        piece_patterns.parse(CUBE, text)
    assert is_one_sentence(str(told.value))


def test_a_machine_with_too_little_memory_is_told_so(monkeypatch):
    monkeypatch.setattr(piece_patterns, "machine_memory", lambda: 1000)
    with pytest.raises(UserError, match="GiB"):
        piece_patterns.database_of(CUBE, "1 2 3", print)


def test_ida_star_finds_shortest_solutions():
    starts = np.concatenate([CUBE.goal[None], *(walks(4, moves, seed=moves) for moves in range(1, 11))])
    found = cube_ida.solve(CUBE, heuristic(), starts)
    expected = MeetingSearch(CUBE, nearby_table(CUBE, 5), 10**7).solve(starts)
    assert (found.cost == expected.cost).all() and found.solved.all() and (found.lower_bound == found.cost).all()
    for start, solution in zip(starts, found.solutions, strict=True):
        assert (apply(CUBE, start, solution.tolist()) == CUBE.goal).all()
    assert (found.nodes_generated >= found.nodes_expanded).all() and found.nodes_generated.max() > 1000


def test_ida_star_ends_at_its_limits_with_a_bound_that_is_proved():
    start = apply(CUBE, CUBE.goal, CUBE.parse_moves("R U F L D B R U F L D B"))[None]  # 12 moves away, or 10
    exact = cube_ida.solve(CUBE, heuristic(), start)
    bounds = []
    for most in (1, 100, 10_000):
        found = cube_ida.solve(CUBE, heuristic(), start, max_generated=most)
        assert not found.solved[0] and found.nodes_generated[0] == most and not found.out_of_time[0]
        assert found.lower_bound[0] <= exact.cost[0] and (found.lower_bound[0] - exact.cost[0]) % 2 == 0
        bounds.append(found.lower_bound[0])
    assert all(a <= b for a, b in pairwise(bounds)) and bounds[0] < bounds[-1]
    assert cube_ida.solve(CUBE, heuristic(), start, seconds=0).out_of_time[0]


def test_the_cube_s_exact_solver_goes_by_a_database_where_there_is_one():
    start = walks(1, 8)
    search = exact_solver(CUBE, Means(database=heuristic, max_generated=10**7))
    assert search(start).cost[0] == MeetingSearch(CUBE, nearby_table(CUBE, 5), 10**7).solve(start).cost[0]
    assert exact_solver(CUBE, Means()) is None
