"""A solution of sliding tiles made shorter: stretches of it are replaced by shortest paths between their ends.

A search over a learned cost-to-go takes small detours. A board some tens of moves farther on is found by IDA* over the
Manhattan distance in a moment, whatever the puzzle's size; so every stretch of a length is tried, then longer ones,
until the time is up. (Solutions improved by local searches: Ratner and Pohl 1986, "Joint and LPA*", AAAI.)
"""

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numba import njit

from costtogo.puzzles.base import inverses, move
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import States

FIRST_WINDOW, LONGER = 20, 4  # moves of the first stretches, and by how many longer the next ones are
OVERLAP = 4  # stretches of a length begin a fourth of it after one another
MOST_NODES = 20_000_000  # of one stretch, which is left as it is then
NODES_A_SECOND = 20_000_000  # of a thread, at least: how a stretch is made to end in time
GAVE_UP = -1


def shorten(
    puzzle: SlidingTiles, start: States, solution: np.ndarray, *, seconds: float, threads: int | None = None
) -> np.ndarray:
    """A solution of start, uint8 [D], no longer than the given one, int8 [moves].

    Ends when the time is up, or when the whole solution is one stretch, and so as short as can be.
    threads: that work on stretches side by side; as many as there are processors if left out.
    """
    deadline, window = time.monotonic() + seconds, FIRST_WINDOW
    sweeps = Sweeps(puzzle, start, threads or os.cpu_count() or 1)
    while True:
        before = len(solution)
        for offset in range(0, window, window // OVERLAP):
            left = deadline - time.monotonic()
            if left <= 0:
                return solution
            solution = sweeps.swept(solution, window, offset, left)
        if len(solution) == before:
            if window >= before:
                return solution
            window += LONGER


@dataclass
class Sweeps:
    """Looks at stretches of the solutions of one board; known: the ends of those that have been looked at."""

    puzzle: SlidingTiles
    start: States
    threads: int
    known: set[bytes] = field(default_factory=set)

    def swept(self, solution: np.ndarray, window: int, offset: int, seconds: float) -> np.ndarray:
        """The solution after a look at the stretches of a length that lie side by side from an offset on."""
        boards = self._boards(solution)
        ends = [(first, min(first + window, len(solution))) for first in range(offset, len(solution), window)]
        named = {boards[list(pair)].tobytes(): pair for pair in ends}
        new = {name: pair for name, pair in named.items() if name not in self.known}
        self.known.update(new)
        most_nodes = int(min(MOST_NODES, seconds * NODES_A_SECOND / math.ceil(max(1, len(new)) / self.threads)))

        def look(pair: tuple[int, int]) -> np.ndarray | None:
            return shortest(self.puzzle, *boards[list(pair)], than=pair[1] - pair[0], most_nodes=most_nodes)

        with ThreadPoolExecutor(self.threads) as pool:
            found = list(pool.map(look, new.values()))
        for (first, last), shorter in reversed(list(zip(new.values(), found, strict=True))):
            if shorter is not None:
                solution = np.concatenate([solution[:first], shorter, solution[last:]])
        return solution

    def _boards(self, solution: np.ndarray) -> States:
        """The boards on the way, both ends among them, uint8 [moves + 1, D]."""
        boards = [self.start[None]]
        for action in solution:
            boards.append(move(self.puzzle, boards[-1], np.array([action])))
        return np.concatenate(boards)


def shortest(
    puzzle: SlidingTiles, start: States, goal: States, than: int, most_nodes: int = MOST_NODES
) -> np.ndarray | None:
    """A shortest path from one board, uint8 [D], to another, int8 [moves], if it is shorter than so many moves.

    None where there is none, or where the search ends before.
    """
    taken = np.zeros(than + 1, dtype=np.int8)
    moves = _between(start, goal, puzzle.sources, inverses(puzzle), _distances(puzzle.side), taken, most_nodes)
    return None if moves == GAVE_UP else taken[:moves]


def _distances(side: int) -> np.ndarray:
    """Manhattan distance between cells, int64 [D, D]."""
    row, column = np.divmod(np.arange(side * side), side)
    return np.abs(row[:, None] - row) + np.abs(column[:, None] - column)


@njit(cache=True, nogil=True)
def _between(start, goal, sources, undo, distances, taken, most_nodes):
    """Moves of a shortest path that is shorter than taken can hold, its actions in taken; else GAVE_UP."""
    cells, longest = len(start), len(taken) - 2
    wanted = np.empty(cells, dtype=np.int64)
    for cell in range(cells):
        wanted[goal[cell]] = cell
    board, blank, h = start.copy(), 0, 0
    for cell in range(cells):
        if board[cell] == BLANK:
            blank = cell
        else:
            h += distances[wanted[board[cell]], cell]
    following = np.zeros(len(taken) + 1, dtype=np.int64)  # the action to be tried next at each depth
    nodes, bound = 0, h
    while bound <= longest:
        depth = 0
        following[0] = 0
        while True:
            if h == 0:
                return depth
            action = following[depth]
            if action == sources.shape[1]:
                if depth == 0:
                    break
                depth -= 1
                source = sources[blank, undo[taken[depth]]]
                tile = board[source]
                h += distances[wanted[tile], blank] - distances[wanted[tile], source]
                board[blank], board[source], blank = tile, BLANK, source
                continue
            following[depth] += 1
            source = sources[blank, action]
            if source == blank or (depth > 0 and action == undo[taken[depth - 1]]):
                continue
            tile = board[source]
            farther = distances[wanted[tile], blank] - distances[wanted[tile], source]
            nodes += 1
            if nodes > most_nodes:
                return GAVE_UP
            if depth + 1 + h + farther > bound:
                continue
            board[blank], board[source], blank = tile, BLANK, source
            h += farther
            taken[depth] = action
            depth += 1
            following[depth] = 0
        bound += 2
    return GAVE_UP
