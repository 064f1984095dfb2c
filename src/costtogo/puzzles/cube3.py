"""The 3×3×3 cube in quarter turns (thesis, 3.1.1 and 4.1).

A state lists the colour of each sticker as that of the 2×2×2 does: face by face in the order L U F D R B, each
face row by row. The centres never move, so a turn of each of the six faces either way makes twelve actions.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from typing import ClassVar

import numpy as np

from costtogo.puzzles.base import Symmetry
from costtogo.puzzles.cube import COLOURS, FACE_AXES, FACES, Cube, Pieces, check_kind, parse_turns, sticker_places
from costtogo.puzzles.permutations import is_odd
from costtogo.types import States, UserError

FACE_CELLS = 9
OPPOSITE = {"L": "R", "U": "D", "F": "B", "R": "L", "D": "U", "B": "F"}
STATE_COUNT = 43_252_003_274_489_856_000
# Distance 26, the largest there is (Rokicki et al. 2014): superflip composed with four spots, from Reid's sequence.


@lru_cache(maxsize=2)
def pieces_of(size: int) -> Pieces:
    """The corners (size 3, stickers each) or the edges (size 2)."""
    positions, normals = sticker_places(3)
    outside = (positions != 0).sum(axis=1)
    places = sorted({tuple(p) for p in positions[outside == size].tolist()}, key=lambda p: (-p[1], p))
    stickers = [
        _clockwise_from_top(np.flatnonzero((positions == place).all(axis=1)), positions, normals) for place in places
    ]
    home = np.array(stickers) // FACE_CELLS
    index = np.full((6,) * size, -1, dtype=np.int8)
    for twist in range(size):
        index[tuple(np.roll(home, twist, axis=1).T)] = np.arange(len(home)) * size + twist
    return Pieces(np.array(stickers), index, FACE_CELLS)


def _clockwise_from_top(stickers: np.ndarray, positions: np.ndarray, normals: np.ndarray) -> list[int]:
    """The stickers of a piece from the one on U or D, else on F or B; those of a corner clockwise."""
    first = min(stickers, key=lambda s: (normals[s][1] == 0, normals[s][2] == 0))
    others = [s for s in stickers if s != first]
    if len(others) == 2 and np.dot(np.cross(normals[first], normals[others[0]]), positions[first]) > 0:
        others.reverse()
    return [first, *others]


@lru_cache(maxsize=1)
def all_symmetries() -> tuple[Symmetry, ...]:
    """The 48 symmetries of the cube: first the one that changes nothing."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1, -1), repeat=3):
            matrix = np.zeros((3, 3), dtype=int)
            matrix[range(3), order] = signs
            found.append(_symmetry(matrix))
    return tuple(found)


@lru_cache(maxsize=1)
def mirror() -> Symmetry:
    """Left and right exchanged (DeepCubeA, Methods)."""
    return _symmetry(np.diag([-1, 1, 1]))


def _symmetry(matrix: np.ndarray) -> Symmetry:
    """A rotation or reflection of the whole cube, int [3, 3], its colours exchanged."""
    positions, normals = sticker_places(3)
    places = {(*p, *n): i for i, (p, n) in enumerate(zip(positions.tolist(), normals.tolist(), strict=True))}
    moved = np.concatenate([positions @ matrix.T, normals @ matrix.T], axis=1)
    goes = np.array([places[tuple(row)] for row in moved.tolist()])
    axes = {FACE_AXES[face][0]: colour for colour, face in enumerate(FACES)}
    colours = np.array([axes[tuple(matrix @ np.array(FACE_AXES[face][0]))] for face in FACES])
    reflected = int(np.linalg.det(matrix) < 0)
    actions = np.array([2 * colours[action // 2] + (action % 2 ^ reflected) for action in range(2 * len(FACES))])
    return Symmetry(np.argsort(goes), colours.astype(np.uint8), actions)


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
        return pieces_of(3), pieces_of(2)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The 48 symmetries of the cube: first the one that changes nothing."""
        return all_symmetries()

    @property
    def mirror(self) -> Symmetry:
        """Left and right exchanged."""
        return mirror()

    def inverse_states(self, states: States) -> States:
        """The state that the reversed and inverted scramble of each gives, uint8 [N, 54]."""
        comes_from = np.tile(np.arange(self.cells), (len(states), 1))
        for kind in self.pieces:
            seen = kind.seen(states)
            sticker = (np.arange(kind.size) - seen[..., None] % kind.size) % kind.size
            comes_from[:, kind.stickers] = kind.stickers[seen[..., None] // kind.size, sticker]
        return self.goal[np.argsort(comes_from, axis=1)]

    def parse_moves(self, text: str) -> list[int]:
        """ "R U2 F'" → quarter turns; a half turn is two."""
        turns = parse_turns(text)
        return [2 * FACES.index(face) + back for face, back, quarters in turns for _ in range(quarters)]

    def format_moves(self, actions) -> str:
        """ "R U2 F'": half turns are written as one move."""
        return " ".join(half_turn_moves(actions))

    def half_turn_length(self, actions) -> int:
        """Moves of a sequence where a half turn counts as one."""
        return len(half_turn_moves(actions))

    def check_pieces(self, state: States) -> None:
        """UserError where centres are not in their places, pieces are none, or two are exchanged."""
        centres = state.reshape(6, FACE_CELLS)[:, FACE_CELLS // 2]
        for face in np.flatnonzero(centres != np.arange(6)):
            raise UserError(
                f"Hold the cube so that each centre is on its own face: the centre of {FACES[face]} ({COLOURS[face]}) "
                f"is {FACES[centres[face]]}."
            )
        corners, edges = (check_kind(state, *kind) for kind in ((pieces_of(3), "corner"), (pieces_of(2), "edge")))
        if is_odd(corners[None]) != is_odd(edges[None]):
            raise UserError("Impossible cube: two pieces are exchanged; turning faces never exchanges just two.")


def half_turn_moves(actions) -> list[str]:
    """The moves of a sequence in the half-turn metric: turns of one axis in a row commute and are added up."""
    moves: list[str] = []
    for face, quarters in _axis_runs(actions):
        if quarters % 4:
            moves.append(face + ("", "2", "'")[quarters % 4 - 1])
    return moves


def _axis_runs(actions):
    """Faces and their quarter turns clockwise, added up while the axis stays the same."""
    run: dict[str, int] = {}
    for action in actions:
        face, quarters = FACES[action // 2], 3 if action % 2 else 1
        if run and face not in run and OPPOSITE[face] not in run:
            yield from run.items()
            run = {}
        run[face] = run.get(face, 0) + quarters
    yield from run.items()
