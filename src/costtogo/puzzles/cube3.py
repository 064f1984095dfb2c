"""The 3×3×3 cube in quarter turns (thesis, 3.1.1 and 4.1).

A state lists the colour of each sticker as on the 2×2×2: face by face in the order L U F D R B, each face row by row.
The centres never move, so the six faces, turned either way, give twelve actions.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import ClassVar

import numpy as np

from costtogo.puzzles.base import Symmetry
from costtogo.puzzles.cube import FACES, Cube, Pieces, check_kind, moved_stickers, pieces_of
from costtogo.puzzles.permutations import is_odd
from costtogo.types import States, UserError

STATE_COUNT = 43_252_003_274_489_856_000


def _symmetry(matrix: np.ndarray) -> Symmetry:
    """A rotation or reflection of the whole cube, int [3, 3], with its colours exchanged."""
    colours, reflected = moved_stickers(1, matrix), int(np.linalg.det(matrix) < 0)
    actions = np.array([2 * colours[action // 2] + (action % 2 ^ reflected) for action in range(2 * len(FACES))])
    return Symmetry(np.argsort(moved_stickers(3, matrix)), colours.astype(np.uint8), actions)


@dataclass(frozen=True)
class Cube3(Cube):
    """The 3×3×3 cube: 8! · 3⁷ · 12! · 2¹¹ / 2 states, twelve quarter turns."""

    family: ClassVar[str] = "cube3"
    size: ClassVar[int] = 3
    faces: ClassVar[str] = FACES
    state_count: ClassVar[int] = STATE_COUNT

    @property
    def pieces(self) -> tuple[Pieces, ...]:
        """Corners and edges; the centres never change."""
        return pieces_of(3, 3), pieces_of(3, 2)

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The 48 symmetries of the cube; the first is the identity."""
        orders, signs = permutations(np.eye(3, dtype=int)), product((1, -1), repeat=3)
        return tuple(_symmetry(np.diag(sign) @ order) for order, sign in product(orders, signs))

    @cached_property
    def mirror(self) -> Symmetry:
        """Left and right exchanged (DeepCubeA, Methods)."""
        return _symmetry(np.diag([-1, 1, 1]))

    def inverse_states(self, states: States) -> States:
        """The state that each state's reversed and inverted scramble gives, uint8 [N, 54]."""
        comes_from = np.tile(np.arange(self.cells), (len(states), 1))
        for kind in self.pieces:
            seen = kind.seen(states)
            sticker = (np.arange(kind.size) - seen[..., None] % kind.size) % kind.size
            comes_from[:, kind.stickers] = kind.stickers[seen[..., None] // kind.size, sticker]
        return self.goal[np.argsort(comes_from, axis=1)]

    def check_pieces(self, state: States) -> None:
        """UserError if a piece has impossible colours, or two pieces are exchanged."""
        corners, edges = (check_kind(state, kind) for kind in self.pieces)
        if is_odd(corners[None]) != is_odd(edges[None]):
            raise UserError("Impossible cube: two pieces are exchanged; turning faces never exchanges just two.")
