"""A solution of sliding tiles made shorter: stretches of it are replaced by shortest paths between their ends.

A search over a learned cost-to-go takes small detours. A board some tens of moves farther on is found by IDA* over the
Manhattan distance in a moment, whatever the puzzle's size; so every stretch of a length is tried, then longer ones,
until the time is up. (Solutions improved by local searches: Ratner and Pohl 1986, "Joint and LPA*", AAAI.)
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.base import inverses
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import States

FIRST_WINDOW, LONGER = 20, 4  # moves of the first stretches, and by how many longer the next ones are
OVERLAP = 4  # stretches of a length begin a fourth of it after one another
MOST_NODES = 20_000_000  # of one stretch, which is left as it is then
SLICE = 200_000  # nodes from one look at the clock to the next
NONE, PAUSED = -1, -2  # how a search ends that has found no path
NODES = 4  # the place of the nodes so far in the progress of a search: depth, estimate, cell of the blank, bound, nodes


class Rules(NamedTuple):
    """What a search between two boards goes by."""

    sources: np.ndarray  # int64 [D, A], the cell whose tile a move takes, by the cell of the blank
    undo: np.ndarray  # int64 [A], the action that undoes each
    distances: np.ndarray  # int64 [D, D], Manhattan distance between cells
    wanted: np.ndarray  # int64 [D], the cell of each tile on the board to be reached


def shorten(
    puzzle: SlidingTiles, start: States, solution: np.ndarray, *, seconds: float, threads: int = 1
) -> np.ndarray:
    """A solution of start, uint8 [D], no longer than the given one, int8 [moves].

    Ends when the time is up, or when the stretches are as long as the solution. threads: that work on stretches side by
    side.
    """
    deadline, window = time.monotonic() + seconds, FIRST_WINDOW
    sweeps = Sweeps(puzzle, start, deadline, threads)
    while True:
        # Look at all stretches of a length; where none got shorter, longer ones may.
        before = len(solution)
        for offset in range(0, window, window // OVERLAP):
            if time.monotonic() >= deadline:
                return solution
            solution = sweeps.swept(solution, window, offset)
        if len(solution) == before:
            if window >= before:
                return solution
            window += LONGER


@dataclass
class Sweeps:
    """Looks at stretches of the solutions of one board until a deadline on the monotonic clock.

    known: the ends of those that have been looked at, which are not looked at again.
    """

    puzzle: SlidingTiles
    start: States
    deadline: float
    threads: int
    known: set[bytes] = field(default_factory=set)

    def swept(self, solution: np.ndarray, window: int, offset: int) -> np.ndarray:
        """The solution after a look at the stretches of a length that lie side by side from an offset on."""
        boards, new = self._boards(solution), []
        for first in range(offset, len(solution), window):
            last = min(first + window, len(solution))
            # What did not get shorter before will not now: its ends are known.
            name = boards[[first, last]].tobytes()
            if name not in self.known:
                self.known.add(name)
                new.append((first, last))

        def look(ends: tuple[int, int]) -> np.ndarray | None:
            first, last = ends
            return shortest(self.puzzle, boards[first], boards[last], than=last - first, deadline=self.deadline)

        with ThreadPoolExecutor(self.threads) as pool:
            found = list(pool.map(look, new))
        # From the last stretch to the first, so that the places of those before stay right.
        for (first, last), shorter in reversed(list(zip(new, found, strict=True))):
            if shorter is not None:
                solution = np.concatenate([solution[:first], shorter, solution[last:]])
        return solution

    def _boards(self, solution: np.ndarray) -> States:
        """The boards on the way, both ends among them, uint8 [moves + 1, D]."""
        boards = [self.start[None]]
        for action in solution:
            boards.append(self.puzzle.move(boards[-1], np.array([action])))
        return np.concatenate(boards)


def shortest(
    puzzle: SlidingTiles,
    start: States,
    goal: States,
    *,
    than: int,
    deadline: float = math.inf,
    most_nodes: int = MOST_NODES,
) -> np.ndarray | None:
    """A shortest path from one board, uint8 [D], to another, int8 [moves], if it is shorter than `than` moves.

    None where there is none, or where the search has not found it within most_nodes or before the deadline, on the
    monotonic clock.
    """
    distances, cells = _distances(puzzle.side), np.arange(puzzle.cells)
    wanted = np.argsort(goal)
    tiles = start != BLANK
    estimate = distances[wanted[start], cells][tiles].sum()
    place = np.array([0, estimate, start.argmin(), estimate, 0])
    taken, following = np.zeros(than + 1, dtype=np.int8), np.zeros(than + 2, dtype=np.int64)
    board, rules = start.copy(), Rules(puzzle.sources, inverses(puzzle), distances, wanted)
    while True:
        moves = _go_on(board, place, taken, following, rules, min(SLICE, most_nodes - place[NODES]))
        if moves != PAUSED:
            return None if moves == NONE else taken[:moves]
        if place[NODES] >= most_nodes or time.monotonic() >= deadline:
            return None


def _distances(side: int) -> np.ndarray:
    """Manhattan distance between cells, int64 [D, D]."""
    row, column = np.divmod(np.arange(side * side), side)
    return np.abs(row[:, None] - row) + np.abs(column[:, None] - column)


@njit(cache=True, nogil=True)
def _go_on(board, place, taken, following, rules, nodes):
    """Search on for that many nodes: the moves of a shortest path that taken holds then, NONE, or PAUSED.

    The arguments but the rules keep the progress, to go on from there. following: the action to be tried next at each
    depth.
    """
    sources, undo, distances, wanted = rules
    depth, h, blank, bound, seen = place
    longest, last = len(taken) - 2, seen + nodes
    moves = NONE
    while bound <= longest:
        if h == 0:
            moves = depth
            break
        if seen >= last:
            moves = PAUSED
            break
        # Try the next action but the one that undoes the last.
        action = following[depth]
        if action < sources.shape[1]:
            following[depth] += 1
            source = sources[blank, action]
            if source == blank or (depth > 0 and action == undo[taken[depth - 1]]):
                continue
            tile = board[source]
            farther = distances[wanted[tile], blank] - distances[wanted[tile], source]
            seen += 1
            if depth + 1 + h + farther > bound:
                continue
            board[blank], board[source], blank = tile, BLANK, source
            h += farther
            taken[depth] = action
            depth += 1
            following[depth] = 0
        # Take the last move back where none is left.
        elif depth > 0:
            depth -= 1
            source = sources[blank, undo[taken[depth]]]
            tile = board[source]
            h += distances[wanted[tile], blank] - distances[wanted[tile], source]
            board[blank], board[source], blank = tile, BLANK, source
        # Begin again at the start with a larger bound.
        else:
            bound += 2
            following[0] = 0
    place[:] = depth, h, blank, bound, seen
    return moves
