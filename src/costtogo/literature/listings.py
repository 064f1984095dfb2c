"""Published solutions of the Towers of Hanoi, replayed move by move (thesis, appendix 7.4).

The thesis numbers disks and towers as costtogo.puzzles.hanoi does: disk 0 is the smallest, the start
tower is the last one, the goal tower is 0.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from costtogo.puzzles.hanoi import Hanoi
from costtogo.types import States, UserError

COLUMNS = ["move", "disk", "from", "to"]


@dataclass(frozen=True)
class Replay:
    """A listing of M moves, replayed from the start state.

    states: uint8 [M + 1, n], before the first move and after each.
    legal: bool [M], whether the disk lies on top of its tower and on no smaller one afterwards.
    distance: int64 [M + 1], moves from each of the states to the goal.
    """

    states: States
    legal: NDArray[np.bool_]
    distance: NDArray[np.int64]

    @property
    def moves(self) -> int:
        """How many moves were listed."""
        return len(self.legal)

    @property
    def solves(self) -> bool:
        """Every move is legal and the last one reaches the goal."""
        return bool(self.legal.all() and self.distance[-1] == 0)

    @property
    def extra_moves(self) -> int:
        """Moves beyond the fewest possible; of use only where the listing solves."""
        return self.moves - int(self.distance[0])

    @property
    def detours(self) -> NDArray[np.int64]:
        """The numbers (from 1) of the moves after which the goal is no nearer than before."""
        return 1 + np.flatnonzero(np.diff(self.distance) >= 0)

    @property
    def moves_before_detour(self) -> int:
        """How many moves bring the goal nearer before the first that does not."""
        return int(self.detours[0]) - 1 if len(self.detours) else self.moves


def replay(puzzle: Hanoi, listing: pd.DataFrame, distance: NDArray) -> Replay:
    """Carry out a listing from the puzzle's start state.

    listing: columns move (1, 2, 3, …), disk, from and to, one row a move, in order.
    distance: moves from each state to the goal, by rank, [S].
    A move that breaks the rules is carried out all the same and marked as not legal.
    Raises UserError if the rows are not moves of this puzzle or one is missing.
    """
    disk, source, target = _columns(puzzle, listing)
    states = np.repeat(puzzle.start[None], len(disk) + 1, axis=0)
    for move, (moved, tower) in enumerate(zip(disk, target, strict=True), start=1):
        states[move:, moved] = tower
    tops = puzzle.top_disks(states[:-1])
    row = np.arange(len(disk))
    legal = (tops[row, source] == disk) & (disk < tops[row, target])
    return Replay(states, legal, distance[puzzle.rank(states)].astype(np.int64))


def _columns(puzzle: Hanoi, listing: pd.DataFrame) -> NDArray[np.int64]:
    """Disk, from and to of each move, int64 [3, M], each known to the puzzle."""
    if list(listing.columns) != COLUMNS:
        raise UserError(f"A listing has the columns {', '.join(COLUMNS)}, not {', '.join(map(str, listing.columns))}.")
    values = listing.to_numpy()
    if not np.issubdtype(values.dtype, np.integer):
        raise UserError("A listing holds whole numbers only; a cell is empty or holds something else.")
    if (wrong := np.flatnonzero(values[:, 0] != np.arange(1, len(values) + 1))).size:
        row = int(wrong[0])
        raise UserError(f"Row {row + 1} of the listing is numbered as move {values[row, 0]}; moves count 1, 2, 3, ….")
    known = (values[:, 1:] >= 0) & (values[:, 1:] < [puzzle.disks, puzzle.pegs, puzzle.pegs])
    if (wrong := np.flatnonzero(~known.all(axis=1))).size:
        number, *move = values[wrong[0]].tolist()
        raise UserError(f"Move {number} of the listing, {tuple(move)}, is not one of {puzzle.name}'s.")
    return values[:, 1:].T.astype(np.int64)
