"""Manhattan distance and linear conflicts of the sliding-tile puzzles.

The Manhattan distance is the additive pattern database whose patterns are single tiles. Linear conflicts (Hansson,
Mayer and Yung 1992, doi:10.1016/0020-0255(92)90070-O): tiles in the row that they belong to, but not in the order of
their goals, cannot all stay in it; each that must leave and come back costs two moves more; so in columns.
"""

from functools import lru_cache

import numpy as np
from numba import njit

from costtogo.exact.pattern_database import build
from costtogo.heuristics.tile_sums import TileSumHeuristic, tile_sums
from costtogo.puzzles.sliding import SlidingTiles


class Manhattan(TileSumHeuristic):
    """Rows and columns between each tile and its goal, added up; optionally with linear conflicts.

    Admissible and consistent either way.
    """

    def __init__(self, puzzle: SlidingTiles, linear_conflicts: bool = False):
        tiles = tuple((tile,) for tile in range(1, puzzle.cells))
        conflicts = conflicts_of_lines(puzzle.side) if linear_conflicts else None
        super().__init__(puzzle, tile_sums(build(puzzle.side, tiles), reflected=False, conflicts=conflicts))


@lru_cache(maxsize=4)
def with_conflicts(puzzle: SlidingTiles) -> Manhattan:
    """Manhattan distance with linear conflicts, above which a network may lie; made once a process."""
    return Manhattan(puzzle, linear_conflicts=True)


@lru_cache(maxsize=4)
@njit(cache=True)
def conflicts_of_lines(side):
    """Moves added by the order of tiles in a line, by its number (tile_sums.line_number): uint8 [(side + 1) ** side].

    A line with m of its own tiles keeps a longest rising subsequence of them; each other tile adds two moves.
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
