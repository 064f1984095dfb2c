"""Iterative-deepening A* over a pattern database of the cube's pieces, compiled (Korf 1997, AAAI-97, 700-705).

Depth-first searches with a growing bound on f = g + h; the first that reaches the goal has found a shortest solution.
Nothing is stored but the path. It is the method that the literature compares networks with: search.optimal needs far
fewer nodes. A move changes the parity of the corners' permutation, so no bound of the wrong parity has to be searched.
"""

import time
from functools import partial
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.piece_patterns import code_moves, value_of
from costtogo.exact.solver import ExactSearch, Means
from costtogo.heuristics.piece_patterns import PieceHeuristic
from costtogo.progress import report
from costtogo.puzzles.cube3 import Cube3
from costtogo.puzzles.permutations import is_odd
from costtogo.search import optimal
from costtogo.types import NO_STATE, SearchResult, States

SLICE = 1_000_000  # nodes generated between two looks at the clock
LARGEST = 255  # f of nothing
ENDED, FOUND, PAUSED = range(3)  # how a call of _search ends


class Path(NamedTuple):
    """The path that is searched, a row for each depth; a search may stop anywhere and go on."""

    codes: np.ndarray  # uint8 [depths, 20], of all pieces
    reader: np.ndarray  # int64 [depths], of the words of moves
    action: np.ndarray  # int64 [depths], the next that is tried
    place: np.ndarray  # int64 [2]: depth; the least f beyond the bound


def exact_search(puzzle: Cube3, means: Means) -> ExactSearch | None:
    """IDA* over a pattern database, if there is one; else as search.optimal solves."""
    if means.database is None:
        return optimal.exact_search(puzzle, means)
    limit = np.inf if means.max_generated is None else means.max_generated
    return partial(solve, puzzle, means.database(), max_generated=limit, seconds=means.seconds)


def solve(
    puzzle: Cube3,
    heuristic: PieceHeuristic,
    starts: States,
    *,
    max_generated: float = np.inf,
    seconds: float = np.inf,
) -> SearchResult:
    """Shortest solutions of cubes, uint8 [B, 54], in quarter turns.

    A search that generates max_generated nodes, or whose seconds are up, ends unsolved; its lower_bound is proved.
    """
    return SearchResult.from_rows(_solve_one(puzzle, heuristic, start, max_generated, seconds) for start in starts)


def _solve_one(
    puzzle: Cube3, heuristic: PieceHeuristic, start: np.ndarray, max_generated: float, seconds: float
) -> tuple:
    """A row of a SearchResult."""
    if (start == puzzle.goal).all():
        return 0, 0, 0, 0, []
    end, bound = time.monotonic() + seconds, int(heuristic(start[None])[0])
    tables = heuristic.database.patterns, heuristic.database.values, code_moves(puzzle)
    onward = optimal.words(puzzle, [(action,) for action in range(len(puzzle.actions))]).astype(np.int64)
    (own, home), counts = heuristic.codes(np.stack([start, puzzle.goal])), np.zeros(2, dtype=np.int64)
    bound += (bound + is_odd(puzzle.pieces[0].seen(start[None]) // 3)[0]) % 2
    while True:
        # Search all paths up to the bound, a slice of nodes at a time.
        path, ended = _path(own, bound), PAUSED
        counts[0] += 1
        while ended == PAUSED and counts[1] < max_generated and time.monotonic() < end:
            allowed = int(min(SLICE, max_generated - counts[1]))
            ended = _search(path, bound, tables, onward, home, counts, allowed)
            report(lambda: tuple(counts.tolist()))
        expanded, generated = counts.tolist()
        if ended == FOUND:
            depth = int(path.place[0])
            return bound, expanded, generated, bound, (path.action[:depth] - 1).tolist()
        if ended == PAUSED:
            return np.inf, expanded, generated, bound, [], False, time.monotonic() >= end
        # The next bound is the least f that this one cut off, of the same parity: no solution lies between.
        bound = int(path.place[1]) + int(path.place[1] - bound) % 2


def _path(codes: np.ndarray, bound: int) -> Path:
    """The path of no moves from a start, for searches up to a bound."""
    depths = bound + 2
    path = np.zeros((depths, len(codes)), dtype=np.uint8)
    path[0] = codes
    return Path(path, *np.zeros((2, depths), dtype=np.int64), np.array([0, LARGEST]))


@njit(cache=True, nogil=True)
def _search(path, bound, tables, onward, home, counts, allowed):
    """Go on searching until the goal is reached, the tree has ended, or `allowed` nodes are generated.

    tables: the patterns, their values, and code_moves.  home: uint8 [20], the goal's codes.
    """
    patterns, values, moves = tables
    depth, actions = path.place[0], moves.shape[1]
    while depth >= 0:
        action = path.action[depth]
        if action == actions:
            depth -= 1
            continue
        path.action[depth] += 1
        reader = onward[path.reader[depth], action]
        if reader == NO_STATE:  # another word of moves leads to the same cube
            continue
        # Make the child.
        counts[1] += 1
        allowed -= 1
        parent, child, is_home = path.codes[depth], path.codes[depth + 1], True
        for piece in range(len(child)):
            child[piece] = moves[int(piece >= 8), action, parent[piece]]
            is_home &= child[piece] == home[piece]
        # Drop it by the first pattern that is beyond the bound.
        is_within = True
        for pattern in patterns:
            f = depth + 1 + value_of(child, pattern, values)
            if f > bound:
                path.place[1], is_within = min(path.place[1], f), False
                break
        if is_within:
            depth += 1
            path.reader[depth], path.action[depth] = reader, 0
            if is_home:
                path.place[0] = depth
                return FOUND
            counts[0] += 1
        if allowed == 0:
            path.place[0] = depth
            return PAUSED
    return ENDED
