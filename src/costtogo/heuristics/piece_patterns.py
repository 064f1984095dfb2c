"""Pattern databases of a cube's pieces as a heuristic (exact.piece_patterns)."""

from pathlib import Path

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.piece_patterns import PieceDatabase, load, parse, value_of
from costtogo.puzzles.cube3 import Cube3
from costtogo.types import CostToGo, States


class PieceHeuristic:
    """The largest value over the patterns: uint8 [N, 54] → float32 [N], in moves, 0 at the goal.

    Admissible and consistent: a move changes the value of a pattern by one at most.
    by_action: True, so that BWAS evaluates children and one engine searches both networks by action and tables.
    """

    by_action = True

    def __init__(self, puzzle: Cube3, database: PieceDatabase):
        self.puzzle, self.database = puzzle, database

    @property
    def nbytes(self) -> int:
        """The bytes of the tables."""
        return self.database.values.nbytes

    def codes(self, states: States) -> np.ndarray:
        """The code of each piece, corners before edges, uint8 [N, 20]: size · place + turn (exact.piece_patterns)."""
        found = []
        for kind in self.puzzle.pieces:
            seen = kind.seen(states)
            places = np.argsort(seen // kind.size, axis=1)
            found.append(kind.size * places + np.take_along_axis(seen % kind.size, places, axis=1))
        return np.concatenate(found, axis=1).astype(np.uint8)

    def __call__(self, states: States) -> CostToGo:
        """Never above the true cost-to-go, float32 [N]."""
        found = np.empty(len(states), dtype=np.float32)
        _evaluate(self.codes(states), self.database.patterns, self.database.values, found)
        return found

    def children(self, states: States) -> np.ndarray:
        """The same for each child, float32 [N, A]."""
        children, legal = self.puzzle.expand(states)
        return self(children.reshape(-1, self.puzzle.cells)).reshape(legal.shape)


def of_values(puzzle: Cube3, text: str, values: np.ndarray) -> PieceHeuristic:
    """The heuristic of a partition's text and its values."""
    return PieceHeuristic(puzzle, PieceDatabase(puzzle, parse(puzzle, text), values))


def read_database(puzzle: Cube3, path: Path) -> PieceHeuristic:
    """The heuristic of a pattern database in a file."""
    return PieceHeuristic(puzzle, load(path, puzzle))


@njit(cache=True)
def _evaluate(codes, patterns, values, found):
    for row in range(len(codes)):
        largest = 0
        for pattern in patterns:
            largest = max(largest, value_of(codes[row], pattern, values))
        found[row] = largest
