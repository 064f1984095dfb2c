"""Lights Out solved exactly by linear algebra over GF(2)."""

import numpy as np

from costtogo.exact.solver import ExactSearch, Means
from costtogo.puzzles.gf2 import eliminate
from costtogo.puzzles.lights_out import LightsOut
from costtogo.types import CostToGo, SearchResult, States, UserError


class FewestPresses:
    """The exact cost-to-go of any batch of boards, and their shortest solutions.

    A matrix product gives one solution of a board; all others differ from it by a quiet set of presses. There are 16
    such sets on side 4, 4 on side 5, 256 on side 9; on other sides only the empty set. The solution with the fewest
    presses is chosen.
    """

    def __init__(self, puzzle: LightsOut):
        self.puzzle = puzzle
        pivots, transform = eliminate(puzzle.presses)
        self._solve = np.zeros((puzzle.cells, puzzle.cells), dtype=np.float32)
        self._solve[:, pivots] = transform[: len(pivots)].T
        choices = np.arange(1 << len(puzzle.quiet))[:, None] >> np.arange(len(puzzle.quiet)) & 1
        self._quiet = np.packbits((choices @ puzzle.quiet % 2).astype(np.uint8), axis=1)

    def __call__(self, states: States) -> CostToGo:
        """Presses to the goal, float32 [N]; UserError if a board has no solution."""
        return _count(self._packed(states)).astype(np.float32)

    def presses(self, states: States) -> np.ndarray:
        """The cells of a shortest solution of each board, uint8 [N, D], 1 for a pressed cell; UserError as above."""
        return np.unpackbits(self._packed(states), axis=1, count=self.puzzle.cells)

    def solutions(self, states: States) -> list[np.ndarray]:
        """The same solutions as actions, int8 arrays, row by row over the board."""
        return [np.flatnonzero(row).astype(np.int8) for row in self.presses(states)]

    def solve(self, states: States) -> SearchResult:
        """The same solutions as the result of a search that expands nothing."""
        return SearchResult.from_rows((len(found), 0, 0, len(found), found) for found in self.solutions(states))

    def _packed(self, states: States) -> np.ndarray:
        """The presses as bits, uint8 [N, ⌈D / 8⌉]."""
        for row in np.flatnonzero(~self.puzzle.is_reachable(states))[:1]:
            raise UserError(f"Board {row} of {self.puzzle.name} has no solution: no presses switch its lights off.")
        one = np.packbits((states.astype(np.float32) @ self._solve % 2).astype(np.uint8), axis=1)
        best = one.copy()
        for quiet in self._quiet[1:]:
            other = one ^ quiet
            fewer = _count(other) < _count(best)
            best[fewer] = other[fewer]
        return best


def solve(puzzle: LightsOut, fewest: FewestPresses, starts: States) -> SearchResult:
    """FewestPresses.solve with the signature of all solvers."""
    return fewest.solve(starts)


def exact_search(puzzle: LightsOut, means: Means) -> ExactSearch:
    """FewestPresses.solve: the rules are all it needs."""
    return FewestPresses(puzzle).solve


def _count(packed: np.ndarray) -> np.ndarray:
    """The number of bits set in each row, int64 [N]."""
    return np.bitwise_count(packed).sum(axis=1, dtype=np.int64)
