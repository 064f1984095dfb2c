"""A solution of sliding tiles made shorter: stretches of it are replaced by shorter paths between their ends.

A search over a learned cost-to-go takes detours, and one that solves a few tiles at a time takes many. A narrow beam
over the Manhattan distance finds its way between two boards some tens of moves apart in a moment, whatever the puzzle's
size: every stretch of a length is tried, then longer ones, then all again by wider beams, until the time is up.
(Solutions improved by local searches: Ratner and Pohl 1986, "Joint and LPA*", AAAI; beams on sliding tiles: Furcy and
Koenig 2005, "Limited discrepancy beam search", IJCAI.)
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.hashing import EMPTY, first_slot, hash_numbers, slot_of
from costtogo.puzzles.base import inverses
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import Hashes, States

FIRST_WINDOW, LONGER = 40, 1.5  # moves of the first stretches, and how many times longer the next ones are
FIRST_WIDTH, WIDER, WIDEST = 100, 4, 30_000  # of beams: the first, the next, and the last ones
OVERLAP = 4  # stretches of a length begin a fourth of it after one another
SLICE = 200_000  # nodes from one look at the clock to the next
LEVEL, COUNT, LEFT_OUT = range(3)  # places in the progress of a beam: its level, its states, whether any were left out


class Beam(NamedTuple):
    """A beam between two boards. The rows of a level are in one of two places, those of the next in the other."""

    boards: States  # uint8 [2, W, D]
    estimates: np.ndarray  # int32 [2, W], Manhattan distance to the end
    blanks: np.ndarray  # int32 [2, W], cell of the blank
    hashes: Hashes  # uint64 [2, W]
    parents: np.ndarray  # int32 [levels, W], row in the level before
    actions: np.ndarray  # int8 [levels, W]
    seen: Hashes  # uint64 [slots], the hashes of all rows of all levels
    progress: np.ndarray  # int64 [3]


class Rules(NamedTuple):
    """What a search between two boards goes by."""

    sources: np.ndarray  # int64 [D, A], the cell whose tile a move takes, by the cell of the blank
    undo: np.ndarray  # int64 [A], the action that undoes each
    distances: np.ndarray  # int64 [D, D], Manhattan distance between cells
    wanted: np.ndarray  # int64 [D], the cell of each tile on the board to be reached
    numbers: np.ndarray  # uint64 [D, letters], of hashes


def shorten(
    puzzle: SlidingTiles, start: States, solution: np.ndarray, *, seconds: float, threads: int = 1
) -> np.ndarray:
    """A solution of start, uint8 [D], no longer than the given one, int8 [moves].

    Ends when the time is up, or when no shorter one is left. threads: that work on stretches side by side.
    """
    sweeps = Sweeps(puzzle, start, time.monotonic() + seconds, threads)
    width, window = FIRST_WIDTH, FIRST_WINDOW
    while time.monotonic() < sweeps.deadline and width <= WIDEST:
        # Look at all stretches of a length; where none got shorter, longer ones may, and then wider beams.
        before = len(solution)
        for offset in range(0, window, window // OVERLAP):
            solution = sweeps.swept(solution, window, offset, width)
        if len(solution) == before:
            if sweeps.known.get(_name(start, puzzle.goal)) == np.inf:
                break
            width, window = (width, int(LONGER * window)) if window < before else (WIDER * width, FIRST_WINDOW)
    return solution


def warm_up(puzzle: SlidingTiles) -> None:
    """Load the compiled code, so that no later time holds that."""
    children, legal = puzzle.expand(puzzle.goal[None])
    shorter(puzzle, children[legal][0], puzzle.goal, than=3, width=1)


@dataclass
class Sweeps:
    """Looks at stretches of the solutions of one board until a deadline on the monotonic clock.

    known: by the ends of the stretches that have been looked at, the width of the beam; infinite where no shorter path
    is left.
    """

    puzzle: SlidingTiles
    start: States
    deadline: float
    threads: int
    known: dict[bytes, float] = field(default_factory=dict)

    def swept(self, solution: np.ndarray, window: int, offset: int, width: int) -> np.ndarray:
        """The solution after a look at the stretches of a length that lie side by side from an offset on."""
        boards, new = self._boards(solution), []
        for first in range(offset, len(solution), window):
            last = min(first + window, len(solution))
            # What did not get shorter by a beam as wide will not now: its ends are known.
            if self.known.get(_name(boards[first], boards[last]), 0) < width:
                new.append((first, last))

        def look(stretch: tuple[int, int]) -> np.ndarray | None:
            first, last = stretch
            if time.monotonic() >= self.deadline:
                return None
            ends, limits = (boards[first], boards[last]), {"width": width, "deadline": self.deadline}
            found, left_out = shorter(self.puzzle, *ends, than=last - first, **limits)
            self.known[_name(*ends)] = width if left_out else np.inf
            return found

        with ThreadPoolExecutor(self.threads) as pool:
            found = list(pool.map(look, new))
        # From the last stretch to the first, so that the places of those before stay right.
        for (first, last), path in reversed(list(zip(new, found, strict=True))):
            if path is not None:
                solution = np.concatenate([solution[:first], path, solution[last:]])
        return solution

    def _boards(self, solution: np.ndarray) -> States:
        """The boards on the way, both ends among them, uint8 [moves + 1, D]."""
        boards = [self.start[None]]
        for action in solution:
            boards.append(self.puzzle.move(boards[-1], np.array([action])))
        return np.concatenate(boards)


def _name(start: States, end: States) -> bytes:
    """What a stretch is known by."""
    return start.tobytes() + end.tobytes()


def shorter(
    puzzle: SlidingTiles, start: States, goal: States, *, than: int, width: int, deadline: float = np.inf
) -> tuple[np.ndarray | None, bool]:
    """A path from one board, uint8 [D], to another of fewer than `than` moves, int8 [moves], or None.

    By a beam of a width, of states that may be on such a path by the Manhattan distance. With the path: whether states
    were left out, by the width or by the deadline on the monotonic clock; if none were, the path is a shortest one, or
    there is none.
    """
    distances, cells, longest = _distances(puzzle.side), np.arange(puzzle.cells), than - 2  # all have the same parity
    wanted, tiles = np.argsort(goal), start != BLANK
    estimate = distances[wanted[start], cells][tiles].sum()
    if estimate > longest:
        return None, False
    if estimate == 0:
        return np.zeros(0, dtype=np.int8), False
    rules = Rules(puzzle.sources, inverses(puzzle), distances, wanted, hash_numbers(puzzle.cells, puzzle.letters))
    beam = _begun(start, estimate, longest, width, rules)
    while True:
        row = _go_on(beam, rules, longest, SLICE)
        level, count, left_out = beam.progress
        if row >= 0:
            return _path(beam, level, row), bool(left_out)
        if count == 0 or level == longest:
            return None, bool(left_out)
        if time.monotonic() >= deadline:
            return None, True


def _begun(start: States, estimate: int, longest: int, width: int, rules: Rules) -> Beam:
    """A beam whose first level is the start."""
    slots = 1 << int(np.ceil(np.log2(2 * width * (longest + 1))))
    pair, levels = (2, width), (longest + 1, width)
    numbers = (np.zeros(pair, dtype=np.int32), np.zeros(pair, dtype=np.int32), np.zeros(pair, dtype=np.uint64))
    ways = np.zeros(levels, dtype=np.int32), np.zeros(levels, dtype=np.int8)
    boards = np.zeros((*pair, len(start)), dtype=np.uint8)
    beam = Beam(boards, *numbers, *ways, np.zeros(slots, dtype=np.uint64), np.array([0, 1, 0]))
    beam.boards[0, 0], beam.estimates[0, 0], beam.blanks[0, 0] = start, estimate, start.argmin()
    hashed = np.bitwise_xor.reduce(rules.numbers[np.arange(len(start)), start][start != BLANK])
    beam.hashes[0, 0] = beam.seen[first_slot(hashed, beam.seen)] = hashed
    return beam


def _path(beam: Beam, level: int, row: int) -> np.ndarray:
    """The actions that lead to a row of a level, int8 [level]."""
    actions = np.zeros(level, dtype=np.int8)
    for moves in range(level, 0, -1):
        actions[moves - 1], row = beam.actions[moves, row], beam.parents[moves, row]
    return actions


def _distances(side: int) -> np.ndarray:
    """Manhattan distance between cells, int64 [D, D]."""
    row, column = np.divmod(np.arange(side * side), side)
    return np.abs(row[:, None] - row) + np.abs(column[:, None] - column)


@njit(cache=True, nogil=True)
def _go_on(beam, rules, longest, nodes):
    """Make more levels. Stops after about so many nodes, or at a level that has the end.

    Returns the row of the end, or -1.
    """
    while beam.progress[COUNT] > 0 and beam.progress[LEVEL] < longest and nodes > 0:
        nodes -= beam.progress[COUNT] * rules.sources.shape[1]
        row = _next_level(beam, rules, longest)
        if row >= 0:
            return row
    return -1


@njit(cache=True, nogil=True)
def _next_level(beam, rules, longest):
    """Take the new children of least estimate that can be on a path short enough; the row of the end, or -1."""
    level, count = beam.progress[LEVEL] + 1, beam.progress[COUNT]
    now, then, width = (level - 1) % 2, level % 2, beam.boards.shape[1]
    actions, room = rules.sources.shape[1], longest - level
    # Note the children near enough, and how many there are of each estimate.
    child, estimates = np.empty(count * actions, dtype=np.int64), np.empty(count * actions, dtype=np.int64)
    first, made = np.zeros(room + 2, dtype=np.int64), 0
    for row in range(count):
        blank = beam.blanks[now, row]
        for action in range(actions):
            source = rules.sources[blank, action]
            if source == blank or (level > 1 and action == rules.undo[beam.actions[level - 1, row]]):
                continue
            goes = rules.distances[rules.wanted[beam.boards[now, row, source]]]
            estimate = beam.estimates[now, row] + goes[blank] - goes[source]
            if estimate <= room:
                child[made], estimates[made] = row * actions + action, estimate
                first[estimate + 1] += 1
                made += 1
    first = np.cumsum(first)
    order = np.empty(made, dtype=np.int64)
    for place in range(made):
        order[first[estimates[place]]] = child[place]
        first[estimates[place]] += 1
    # Take them in order of their estimates, those that no level had.
    kept = 0
    for place in range(made):
        row, action = order[place] // actions, order[place] % actions
        blank = beam.blanks[now, row]
        source = rules.sources[blank, action]
        tile = beam.boards[now, row, source]
        hashed = beam.hashes[now, row] ^ rules.numbers[source, tile] ^ rules.numbers[blank, tile]
        slot = slot_of(hashed, beam.seen)
        if beam.seen[slot] != EMPTY:
            continue
        if kept == width:
            beam.progress[LEFT_OUT] = 1
            break
        goes = rules.distances[rules.wanted[tile]]
        beam.seen[slot], beam.hashes[then, kept] = hashed, hashed
        beam.boards[then, kept] = beam.boards[now, row]
        beam.boards[then, kept, blank], beam.boards[then, kept, source] = tile, BLANK
        beam.estimates[then, kept] = beam.estimates[now, row] + goes[blank] - goes[source]
        beam.blanks[then, kept] = source
        beam.parents[level, kept], beam.actions[level, kept] = row, action
        kept += 1
    beam.progress[LEVEL], beam.progress[COUNT] = level, kept
    return 0 if kept > 0 and beam.estimates[then, 0] == 0 else -1
