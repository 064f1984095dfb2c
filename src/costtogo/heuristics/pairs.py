"""A lower bound of the steps to solve a Sokoban level: those of two of its boxes at a time, and the matching bound.

All states of the level with two boxes alone are listed by breadth-first search back from those with both on targets:
C(F, 2) · F states at most, of which a few thousand have a solution where the level is of 10 × 10 cells. A solution of a
level solves each two of its boxes in no more steps, since without the other boxes the player walks where it pushed
them. So the largest distance of two boxes never exceeds the steps to go, and where two boxes have no solution the level
has none. It is consistent, for a step of the level is a step of each two of its boxes. A pattern database has this form
(Culberson and Schaeffer 1998), here of one level.
"""

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.sokoban import UNREACHED, LevelTable, TooLarge, bare, list_level, placed
from costtogo.heuristics.matching import MatchingBound
from costtogo.puzzles.sokoban import BOX, Sokoban, is_box
from costtogo.types import CostToGo, States

LARGEST = 1 << 24  # states of a table of two boxes: 32 MiB, 300 free cells
KEPT = 1 << 30  # bytes of tables that a bound keeps, about 20,000 levels of 10 × 10


class PairsBound:
    """A lower bound of steps, uint8 [N, D] -> float32 [N]: admissible and consistent; inf for some dead states.

    It is never below the matching bound, and is no more than that in a level of more than 300 free cells. States may be
    of any levels, but those of one level should be consecutive. The tables of levels seen are kept.
    """

    def __init__(self, puzzle: Sokoban):
        self.puzzle = puzzle
        self.matching = MatchingBound(puzzle)
        self._kept: dict[bytes, LevelTable | None] = {}
        self._bytes = 0

    def __call__(self, states: States) -> CostToGo:
        """float32 [N]: 0 only for solved states; inf if two boxes cannot both be pushed to targets."""
        bounds, row = self.matching(states), 0
        while row < len(states):
            table = self.table_of(states[row])
            if table is None:
                levels = bare(states[row:])
                row += int((levels != levels[0]).any(axis=1).argmax()) or len(levels)
            else:
                row = _raise(table.level, table.distance, states, row, bounds)
        return bounds

    def table_of(self, state: States) -> LevelTable | None:
        """The distances of two boxes on the level of a state, uint8 [D]; None if it has too many or but one box."""
        key = bare(state).tobytes()
        if key in self._kept:
            return self._kept[key]
        cells = np.flatnonzero(is_box(state))
        two = state.copy()
        two[cells[2:]] -= BOX
        try:
            table = list_level(self.puzzle, two, LARGEST) if len(cells) > 1 else None
        except TooLarge:
            table = None
        self._bytes += table.distance.nbytes + table.level.boxes.nbytes if table else 0
        if self._bytes > KEPT:
            self._kept.clear()
            self._bytes = 0
        self._kept[key] = table
        return table


@njit(cache=True)
def _raise(level, distance, states, row, bounds):
    """Raise the bounds of states from a row on, until a state is of another level; returns its row."""
    floor, binomials = level.floor, level.binomials
    boxes = np.empty(len(floor.cell), dtype=np.int64)
    while row < len(states):
        count, player = placed(floor, states[row], boxes)
        if count < 0:
            return row
        most = 0
        for second in range(1, count):
            for first in range(second):
                rank = binomials[boxes[first], 1] + binomials[boxes[second], 2]
                most = max(most, distance[rank * len(floor.cell) + player])
        bounds[row] = np.inf if most == UNREACHED else max(bounds[row], most)
        row += 1
    return row
