"""Iterative-deepening A* (Korf 1985, doi:10.1016/0004-3702(85)90084-0) on the sliding-tile puzzles, compiled.

Depth-first searches with a growing bound on f = g + h; the first that reaches the goal has found a shortest solution.
Nothing is stored but the path. A move changes the rank of one pattern in each sum of the heuristic: the ranks are
followed from move to move, and a child beyond the bound in the first sum is not looked up in the second.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from costtogo.heuristics.tile_sums import TileSumHeuristic, TileSums, conflict_moves, enter_ranks, line_number
from costtogo.puzzles.base import inverses
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.types import NO_ACTION, SearchResult, States, UserError

LONGEST = 1023  # moves of a path
SLICE = 4_000_000  # nodes generated between two looks at the clock
NEVER = LONGEST + 1  # f of nothing

DEPTH, BOUND, NEXT, EXPANDED, GENERATED = range(5)  # places in Path.counts


@dataclass(frozen=True)
class IdaLimits:
    """Where a search ends as unsolved: nodes generated, and seconds; of each search."""

    max_generated: float = np.inf
    seconds: float = np.inf


class Path(NamedTuple):
    """The path that is being searched, a row for each depth; a search may stop anywhere and go on from here."""

    board: np.ndarray  # uint8 [D], at the end of the path
    ranks: np.ndarray  # int64 [S, P], where the values of the board stand
    blank: np.ndarray  # int64 [depths], its cell
    action: np.ndarray  # int64 [depths], that led here; at the start A, none
    tried: np.ndarray  # int64 [depths], children seen
    totals: np.ndarray  # int64 [depths, S], of each sum
    before: np.ndarray  # int64 [depths, S], the rank that the action changed
    counts: np.ndarray  # int64 [5]: depth, bound, least f beyond it, nodes expanded, nodes generated


def solve(
    puzzle: SlidingTiles, heuristic: TileSumHeuristic, starts: States, *, limits: IdaLimits = IdaLimits()
) -> SearchResult:
    """Shortest solutions of sliding-tile puzzles; the heuristic is Manhattan or a pattern database.

    A search never undoes its last move. One that reaches a limit ends as unsolved; its lower_bound, the bound of the
    iteration that it was in, is a fact.  starts: uint8 [B, D]; UserError where one cannot be solved.
    """
    for row in np.flatnonzero(~puzzle.is_reachable(starts))[:1]:
        raise UserError(f"Board {row + 1} of {puzzle.name} cannot be solved: two of its tiles are exchanged.")
    choices = onward_actions(puzzle)
    rows = [_solve_one(start, heuristic.sums, choices, limits) for start in starts]
    cost, expanded, generated, bound, solutions = list(zip(*rows, strict=True)) or [()] * 5
    return SearchResult(
        np.array(cost, dtype=np.float64), np.array(expanded, dtype=np.int64), np.array(generated, dtype=np.int64),
        np.array(bound, dtype=np.float64), list(solutions),
    )  # fmt: skip


def _solve_one(start: np.ndarray, sums: TileSums, choices: np.ndarray, limits: IdaLimits) -> tuple:
    """cost, nodes expanded, nodes generated, lower bound, solution."""
    end = time.monotonic() + limits.seconds
    path = begin(start, sums)
    solved = not path.counts[BOUND]
    while not solved and path.counts[BOUND] <= LONGEST:
        allowed = min(SLICE, limits.max_generated - path.counts[GENERATED])
        if allowed <= 0 or time.monotonic() >= end:
            break
        solved = _search(path, sums, choices, int(allowed))
    depth, bound, _, expanded, generated = path.counts.tolist()
    cost = depth if solved else np.inf
    solution = path.action[1 : depth + 1] if solved else path.action[:0]
    return cost, expanded, generated, bound, solution.astype(np.int8)


def begin(start: np.ndarray, sums: TileSums) -> Path:
    """The empty path from a start, uint8 [D], bounded by its heuristic."""
    depths, (count, patterns) = LONGEST + 2, sums.members.shape[:2]
    path = Path(
        board=start.copy(),
        ranks=np.empty((count, patterns), dtype=np.int64),
        blank=np.zeros(depths, dtype=np.int64),
        action=np.zeros(depths, dtype=np.int64),
        tried=np.zeros(depths, dtype=np.int64),
        totals=np.zeros((depths, count), dtype=np.int64),
        before=np.zeros((depths, count), dtype=np.int64),
        counts=np.zeros(5, dtype=np.int64),
    )
    enter_ranks(start, sums, path.ranks)
    path.blank[0], path.action[0] = np.flatnonzero(start == 0)[0], sums.sources.shape[1]
    path.totals[0] = sums.values[path.ranks].sum(axis=1, dtype=np.int64) + conflict_moves(start, sums.lines)
    path.counts[:] = 0, path.totals[0].max(), NEVER, 0, 0
    return path


def onward_actions(puzzle: SlidingTiles) -> np.ndarray:
    """The legal actions by the blank's cell and the last action, but the one that undoes it: int64 [D, A + 1, A + 1].

    Each row ends with NO_ACTION; the last action A is none.
    """
    cells, actions = puzzle.sources.shape
    back = [*inverses(puzzle).tolist(), NO_ACTION]
    choices = np.full((cells, actions + 1, actions + 1), NO_ACTION, dtype=np.int64)
    for blank, sources in enumerate(puzzle.sources.tolist()):
        for last, undoes in enumerate(back):
            onward = [action for action in range(actions) if sources[action] != blank and action != undoes]
            choices[blank, last, : len(onward)] = onward
    return choices


@njit(cache=True)
def _search(path, sums, choices, allowed):
    """Go on with a search until it has found the goal (True) or generated so many nodes more (False)."""
    board, ranks, blanks, actions, tried, totals, before, counts = path
    depth, bound, least = counts[DEPTH], counts[BOUND], counts[NEXT]
    expanded, generated = counts[EXPANDED], counts[GENERATED]
    between, past, sources, values = sums.between, sums.past, sums.sources, sums.values
    lines, stop = sums.lines, generated + allowed
    count = ranks.shape[0]
    if generated == 0:  # the start is expanded
        expanded = 1
    reached = np.empty(count, dtype=np.int64)
    solved = False
    while generated < stop:
        blank = blanks[depth]
        action = choices[blank, actions[depth], tried[depth]]
        if action == NO_ACTION:
            tried[depth] = 0
            if depth == 0:  # the iteration has ended
                bound, least = least, NEVER
                if bound > LONGEST:
                    break
                expanded += 1
                continue
            depth -= 1
            tile = board[blanks[depth]]
            board[blank], board[blanks[depth]] = tile, 0
            for s in range(count):
                ranks[s, sums.pattern[s, tile]] = before[depth + 1, s]
            continue
        tried[depth] += 1
        generated += 1
        source = sources[blank, action]
        tile = board[source]
        added = conflicts_added(board, tile, source, blank, action, lines) if len(lines.moves) else 0
        f = 0
        for s in range(count):
            rank = ranks[s, sums.pattern[s, tile]]
            sign, change = sums.sign[s, tile, action], 0
            if sign:
                passed = between[sums.symmetry[s, tile], blank, action]
                for place in range(between.shape[3]):
                    change += past[s, tile, board[passed[place]]]
            reached[s] = rank + sums.step[s, tile, action] + sign * change
            total = totals[depth, s] + values[reached[s]] - values[rank] + added
            totals[depth + 1, s], before[depth + 1, s] = total, rank
            f = max(f, depth + 1 + total)
            if f > bound:
                break
        if f > bound:
            least = min(least, f)
            continue
        depth += 1
        board[blank], board[source] = tile, 0
        for s in range(count):
            ranks[s, sums.pattern[s, tile]] = reached[s]
        blanks[depth], actions[depth] = source, action
        if f == depth:
            solved = True
            break
        expanded += 1
    counts[DEPTH], counts[BOUND], counts[NEXT] = depth, bound, least
    counts[EXPANDED], counts[GENERATED] = expanded, generated
    return solved


@njit(cache=True)
def conflicts_added(board, tile, source, blank, action, lines):
    """What a move changes in the moves that the order of tiles in lines adds: in the line left and the line entered."""
    side = len(lines.powers)
    kind = 0 if action < 2 else 1  # up and down lead from row to row
    left, entered, place = source // side, blank // side, source % side
    if kind == 1:
        left, entered, place = source % side, blank % side, source // side
    added = 0
    for line, sign in ((left, -1), (entered, 1)):
        digit = lines.digits[kind, tile, line]
        if digit:
            number = line_number(board, kind, line, lines)
            changed = number + sign * digit * lines.powers[place]
            added += np.int64(lines.moves[changed]) - lines.moves[number]
    return added
