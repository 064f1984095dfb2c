"""Manhattan distance and linear conflicts of the sliding-tile puzzles.

The Manhattan distance is the additive pattern database whose patterns are single tiles. Linear conflicts (Hansson,
Mayer and Yung 1992, doi:10.1016/0020-0255(92)90070-O): tiles in their goal row, but not in the order of their goals,
cannot all stay in it; each that must leave and come back costs two more moves; the same holds for columns.
"""

from functools import lru_cache

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.pattern_database import build
from costtogo.heuristics.tile_sums import TileSumHeuristic, tile_sums
from costtogo.puzzles.sliding import SlidingTiles


class Manhattan(TileSumHeuristic):
    """The sum of rows and columns between each tile and its goal; optionally with linear conflicts.

    Admissible and consistent in both cases.
    """

    def __init__(self, puzzle: SlidingTiles, linear_conflicts: bool = False):
        tiles = tuple((tile,) for tile in range(1, puzzle.cells))
        conflicts = conflicts_of_lines(puzzle.side) if linear_conflicts else None
        super().__init__(puzzle, tile_sums(build(puzzle.side, tiles), reflected=False, conflicts=conflicts))


@lru_cache(maxsize=4)
def with_conflicts(puzzle: SlidingTiles) -> Manhattan:
    """Manhattan distance with linear conflicts, a bound that networks may add to; made once per process."""
    return Manhattan(puzzle, linear_conflicts=True)


@lru_cache(maxsize=4)
@njit(cache=True)
def conflicts_of_lines(side):
    """Moves added for the order of tiles in a line, by tile_sums.line_number: uint8 [(side + 1) ** side].

    A line keeps a longest ascending subsequence of its own tiles; each of its other tiles adds two moves.
    """
    moves = np.empty((side + 1) ** side, dtype=np.uint8)
    goal, longest = np.empty(side, dtype=np.int64), np.empty(side, dtype=np.int64)
    for number in range(len(moves)):
        rest, own, kept = number, 0, 0
        for _ in range(side):
            if rest % (side + 1):
                goal[own], longest[own] = rest % (side + 1), 1
                for before in range(own):
                    if goal[before] < goal[own]:
                        longest[own] = max(longest[own], longest[before] + 1)
                kept = max(kept, longest[own])
                own += 1
            rest //= side + 1
        moves[number] = 2 * (own - kept)
    return moves
