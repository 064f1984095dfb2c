"""A solution of sliding tiles made shorter: stretches of it are replaced by shortest paths between their ends.

A search over a learned cost-to-go takes small detours. A board some tens of moves farther on is found by IDA* over the
Manhattan distance in a moment, whatever the puzzle's size; so every stretch of a length is tried, then longer ones,
until the time is up. (Solutions improved by local searches: Ratner and Pohl 1986, "Joint and LPA*", AAAI.)
"""

import time

import numpy as np
from numba import njit

from costtogo.puzzles.base import inverses, move
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import States

FIRST_WINDOW, LONGER = 20, 4  # moves of the first stretches, and by how many longer the next ones are
OVERLAP = 4  # a stretch begins a fourth of its length after the one before it
MOST_NODES = 20_000_000  # of one stretch, which is left as it is then
NODES_A_SECOND = 20_000_000  # at least, of a search that must end in time
GAVE_UP = -1


def shorten(puzzle: SlidingTiles, start: States, solution: np.ndarray, seconds: float) -> np.ndarray:
    """A solution of start, uint8 [D], no longer than the given one, int8 [moves].

    Ends when the time is up, or when the whole solution is one stretch, and so as short as can be.
    """
    deadline, window = time.monotonic() + seconds, FIRST_WINDOW
    while window < len(solution) + LONGER:
        first = 0
        while first < max(1, len(solution) - window + window // OVERLAP):
            if time.monotonic() >= deadline:
                return solution
            last = min(first + window, len(solution))
            found = stretch(puzzle, start, solution, first, last, deadline - time.monotonic())
            if len(found) < last - first:
                solution = np.concatenate([solution[:first], found, solution[last:]])
                first = max(0, first - window)
            else:
                first += window // OVERLAP
        window += LONGER
    return solution


def stretch(
    puzzle: SlidingTiles, start: States, solution: np.ndarray, first: int, last: int, seconds: float = np.inf
) -> np.ndarray:
    """A shortest path between two places of a solution, int8 [moves]; the solution's own where the search gives up."""
    ends = [_after(puzzle, start, solution[:place]) for place in (first, last)]
    taken = np.zeros(last - first + 1, dtype=np.int8)
    most_nodes = int(min(MOST_NODES, seconds * NODES_A_SECOND))
    moves = _between(*ends, puzzle.sources, inverses(puzzle), _distances(puzzle.side), taken, most_nodes)
    return solution[first:last] if moves == GAVE_UP else taken[:moves]


def _after(puzzle: SlidingTiles, start: States, actions: np.ndarray) -> States:
    state = start[None]
    for action in actions:
        state = move(puzzle, state, np.array([action]))
    return state[0]


def _distances(side: int) -> np.ndarray:
    """Manhattan distance between cells, int64 [D, D]."""
    row, column = np.divmod(np.arange(side * side), side)
    return np.abs(row[:, None] - row) + np.abs(column[:, None] - column)


@njit(cache=True)
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
