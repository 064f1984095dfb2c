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

import numpy as np

from costtogo.heuristics.tile_groups import TupleValues
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.search.tile_beam import shorter
from costtogo.types import States

FIRST_WINDOW, LONGER = 40, 1.5  # moves of the first stretches, and how many times longer the next ones are
FIRST_WIDTH, WIDER, WIDEST = 100, 4, 30_000  # of beams: the first, the next, and the last ones
OVERLAP = 4  # stretches of a length begin a fourth of it after one another


def shorten(
    puzzle: SlidingTiles,
    start: States,
    solution: np.ndarray,
    *,
    seconds: float,
    threads: int = 1,
    values: TupleValues | None = None,
) -> np.ndarray:
    """A solution of start, uint8 [D], no longer than the given one, int8 [moves].

    Ends when the time is up, or when no shorter one is left. threads: that work on stretches side by side.  values: by
    which beams go, where not by Manhattan distance alone.
    """
    sweeps = Sweeps(puzzle, start, time.monotonic() + seconds, threads, values)
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
    values: TupleValues | None
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
            found = shorter(self.puzzle, *ends, than=last - first, **limits, values=self.values)
            self.known[_name(*ends)] = width if found.left_out else np.inf
            return found.path

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
