"""The parts common to all cubes; the 2×2×2 cube with one corner fixed (thesis, 4.2).

A state lists the colour of each sticker, face by face in the order L U F D R B, each face row by row as seen from
outside (L, F, R, B with U above; U with B above; D with F above). A colour is the index of the face it belongs to. On
the 2×2×2 the corner where D, L and F meet never moves: the six actions turn the other faces.
"""

import re
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import groupby, product
from typing import ClassVar

import numpy as np

from costtogo.puzzles.base import ListedPuzzle, Permuting, Puzzle, permuted
from costtogo.puzzles.permutations import rank_permutations, unrank_permutations
from costtogo.types import Children, Legal, Neighbours, Ranks, States, UserError

FACES = "LUFDRB"
OPPOSITE = {"L": "R", "U": "D", "F": "B", "R": "L", "D": "U", "B": "F"}
# Outward normal, direction of growing columns and of growing rows of each face (x right, y up, z to the viewer).
FACE_AXES = {
    "L": ((-1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "U": ((0, 1, 0), (1, 0, 0), (0, 0, 1)),
    "F": ((0, 0, 1), (1, 0, 0), (0, -1, 0)),
    "D": ((0, -1, 0), (1, 0, 0), (0, 0, -1)),
    "R": ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    "B": ((0, 0, -1), (-1, 0, 0), (0, -1, 0)),
}
FIXED = (-1, -1, 1)  # the position of the corner of the 2×2×2 that never moves
CORNERS = 7  # the corners that move
ORIENTATIONS = 3**6  # the seventh follows from the others
PERMUTATIONS = 5040


def sticker_places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """The position and outward normal of every sticker of a size × size × size cube, int [6 · size², 3] each.

    Coordinates are integers from 1 - size to size - 1 in steps of two.
    """
    positions, normals, steps = [], [], range(1 - size, size, 2)
    for face in FACES:
        normal, columns, rows = (np.array(axis) for axis in FACE_AXES[face])
        for down, across in product(steps, steps):
            positions.append(normal * (size - 1) + columns * across + rows * down)
            normals.append(normal)
    return np.array(positions), np.array(normals)


def moved_stickers(size: int, matrix: np.ndarray) -> np.ndarray:
    """Where each sticker goes if an int [3, 3] matrix turns or reflects the whole cube: int64 [6 · size²].

    The stickers of a cube of size 1 are the faces.
    """
    places = np.concatenate(sticker_places(size), axis=1)
    numbers = {tuple(place): number for number, place in enumerate(places.tolist())}
    moved = (places.reshape(-1, 2, 3) @ matrix.T).reshape(-1, 6)
    return np.array([numbers[tuple(place)] for place in moved.tolist()])


@lru_cache
def carried(size: int, face: str) -> np.ndarray:
    """Where each sticker goes if the whole cube turns 90° clockwise as seen on a face, int64 [6 · size²]."""
    axis = np.array(FACE_AXES[face][0])
    return moved_stickers(size, np.outer(axis, axis) - np.cross(axis, np.eye(3, dtype=int)).T)


def clockwise_turn(size: int, face: str) -> np.ndarray:
    """Where each sticker comes from when a face turns 90° clockwise: new = old[permutation], int64 [6 · size²]."""
    positions, _ = sticker_places(size)
    turning = np.flatnonzero(positions @ np.array(FACE_AXES[face][0]) == size - 1)
    permutation = np.arange(len(positions))
    permutation[carried(size, face)[turning]] = turning
    return permutation


@dataclass(frozen=True)
class Pieces:
    """Stickers that always move together: the corners or the edges of a cube.

    stickers: int64 [P, k], the stickers of each piece, clockwise from the one on U or D (for middle edges on F or B).
    colours: uint8 [k · P, k], indexed by k · piece + twist: the colour of each sticker of the piece.
    index: int8, k axes of 6: k · piece + twist for the colours seen at a place, -1 if no piece has them.
    """

    stickers: np.ndarray
    colours: np.ndarray
    index: np.ndarray

    @property
    def size(self) -> int:
        """k: the number of stickers of a piece."""
        return self.stickers.shape[1]

    def seen(self, states: States) -> np.ndarray:
        """k · piece + twist at each place, int64 [N, P]; -1 if no piece has these colours."""
        colours = states[:, self.stickers]
        return self.index[tuple(np.moveaxis(colours, 2, 0))].astype(np.int64)


@lru_cache
def pieces_of(size: int, stickers_each: int) -> Pieces:
    """The corners (three stickers each) or the edges (two) of a cube; the fixed corner of the 2×2×2 is the last."""
    positions, normals = sticker_places(size)
    outside = (abs(positions) == size - 1).sum(axis=1) == stickers_each
    places = sorted({tuple(p) for p in positions[outside].tolist()}, key=lambda p: (p == FIXED, -p[1], p))
    together = [np.flatnonzero((positions == place).all(axis=1)).tolist() for place in places]
    stickers = np.array([_clockwise_from_top(piece, positions, normals) for piece in together])
    home = (stickers // size**2).astype(np.uint8)
    twisted = [np.roll(home, twist, axis=1) for twist in range(stickers_each)]
    colours = np.stack(twisted, axis=1).reshape(-1, stickers_each)
    index = np.full((len(FACES),) * stickers_each, -1, dtype=np.int8)
    index[tuple(colours.T)] = np.arange(len(colours))
    return Pieces(stickers, colours, index)


def _clockwise_from_top(stickers: list[int], positions: np.ndarray, normals: np.ndarray) -> list[int]:
    """The stickers of a piece, first the one on U or D, else on F or B; for a corner, clockwise."""
    first, *others = sorted(stickers, key=lambda s: (normals[s][1] == 0, normals[s][2] == 0))
    if len(others) == 2 and np.dot(np.cross(normals[first], normals[others[0]]), positions[first]) > 0:
        others.reverse()
    return [first, *others]


class Cube(Puzzle):
    """A cube of size × size × size cubelets, in quarter turns.

    faces: the faces that turn, clockwise and back.
    """

    size: ClassVar[int]
    faces: ClassVar[str]
    letters: ClassVar[int] = len(FACES)
    symbols: ClassVar[tuple[str, ...]] = tuple(FACES)

    @property
    def name(self) -> str:
        """cube2 for a size of 2."""
        return self.family

    @property
    def cells(self) -> int:
        """Stickers: 6 · size²."""
        return len(FACES) * self.size**2

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """ "R" turns the right face clockwise, "R'" back."""
        return tuple(face + suffix for face in self.faces for suffix in ("", "'"))

    @cached_property
    def goal(self) -> States:
        """Each face of one colour, uint8 [D]."""
        return np.repeat(np.arange(len(FACES), dtype=np.uint8), self.size**2)

    @cached_property
    def turns(self) -> np.ndarray:
        """Where each sticker comes from under each action, int64 [A, D]."""
        clockwise = [clockwise_turn(self.size, face) for face in self.faces]
        return np.array([turn for there in clockwise for turn in (there, np.argsort(there))])

    @cached_property
    def rule(self) -> Permuting:
        """Turns permute the stickers."""
        return Permuting(self.turns[None])

    def expand(self, states: States) -> tuple[Children, Legal]:
        """Turn every face both ways: children uint8 [N, A, D]; every turn is legal."""
        return states[:, self.turns], self.legal(states)

    def move(self, states: States, actions: np.ndarray) -> States:
        """Each state after its turn, uint8 [N, D]."""
        return permuted(states, self.turns, actions)

    def inverse(self, action: int) -> int:
        """A turn and the turn back undo each other."""
        return action ^ 1

    def format_moves(self, actions) -> str:
        """ "R U2 F'": half turns are written as one move."""
        return " ".join(self._half_turn_moves(actions))

    def half_turn_length(self, actions) -> int:
        """The number of moves in a sequence if a half turn counts as one."""
        return len(self._half_turn_moves(actions))

    def _half_turn_moves(self, actions) -> list[str]:
        """The moves of a sequence in the half-turn metric: consecutive turns of one axis commute and are added up."""
        turns = [(self.actions[action][0], 3 if self.actions[action].endswith("'") else 1) for action in actions]
        moves: list[str] = []
        for _, run in groupby(turns, key=lambda turn: min(turn[0], OPPOSITE[turn[0]])):
            quarters: dict[str, int] = {}
            for face, clockwise in run:
                quarters[face] = quarters.get(face, 0) + clockwise
            moves += [face + ("", "2", "'")[count % 4 - 1] for face, count in quarters.items() if count % 4]
        return moves

    def parse_moves(self, text: str) -> list[int]:
        """ "R U2 F'" → quarter turns, as format_moves writes them; a half turn is two."""
        return super().parse_moves(re.sub(r"([A-Z])2'?", r"\1 \1", text))

    @abstractmethod
    def check_pieces(self, state: States) -> None:
        """UserError if no turns make this colouring, each colour of which has its number of stickers, as it is held."""

    def draw(self, state: States) -> str:
        """The net: U above, L F R B in a row, D below."""
        letters = np.array(list(self.format_state(state))).reshape(len(FACES), self.size, self.size)
        faces, margin = dict(zip(FACES, letters, strict=True)), " " * (self.size + 1)
        rows = [margin + "".join(row) for row in faces["U"]]
        rows += [" ".join("".join(faces[name][row]) for name in "LFRB") for row in range(self.size)]
        return "\n".join(rows + [margin + "".join(row) for row in faces["D"]])


def check_kind(state: States, kind: Pieces) -> np.ndarray:
    """The piece of this kind at each place, int64 [P]; UserError if a piece is missing or one is twisted."""
    noun, verb = ("corner", "twisted") if kind.size == 3 else ("edge", "flipped")
    seen, names = kind.seen(state[None])[0], ["".join(FACES[c] for c in home) for home in kind.colours[:: kind.size]]
    for place in np.flatnonzero(seen < 0):
        raise UserError(f"Impossible cube: no {noun} has the colours at {names[place]}.")
    order = seen // kind.size
    if missing := sorted(set(range(len(order))) - set(order.tolist())):
        raise UserError(f"Impossible cube: the {noun} {names[missing[0]]} is missing and another stands twice.")
    if (seen % kind.size).sum() % kind.size:
        raise UserError(f"Impossible cube: a single {noun} is {verb}; turning faces never does that.")
    return order


@lru_cache(maxsize=1)
def _parts() -> tuple[np.ndarray, np.ndarray]:
    """Two tables for the eight places, whose sum is the index of the colours.

    By the number of a permutation: 3 · corner, uint8 [7!, 8]; by the number of the twists: twist, uint8 [3⁶, 8].
    """
    corners = np.full((PERMUTATIONS, CORNERS + 1), 3 * CORNERS, dtype=np.uint8)
    corners[:, :CORNERS] = 3 * unrank_permutations(np.arange(PERMUTATIONS), CORNERS)
    twists = np.zeros((ORIENTATIONS, CORNERS + 1), dtype=np.uint8)
    digits = np.arange(ORIENTATIONS)[:, None] // 3 ** np.arange(CORNERS - 1) % 3
    twists[:, :CORNERS] = np.concatenate([digits, -digits.sum(axis=1, keepdims=True) % 3], axis=1)
    return corners, twists


@dataclass(frozen=True)
class Cube2(Cube, ListedPuzzle):
    """The 2×2×2 cube: 7! · 3⁶ states, six quarter turns."""

    family: ClassVar[str] = "cube2"
    size: ClassVar[int] = 2
    faces: ClassVar[str] = "RUB"
    state_count: ClassVar[int] = PERMUTATIONS * ORIENTATIONS

    @cached_property
    def pieces(self) -> tuple[Pieces]:
        """The corners that move."""
        corners = pieces_of(2, 3)
        return (replace(corners, stickers=corners.stickers[:CORNERS]),)

    def rank(self, states: States) -> Ranks:
        """The permutation of the seven corners, then their twists in base 3."""
        seen = self.pieces[0].seen(states)
        twists = seen[:, : CORNERS - 1] % 3 @ 3 ** np.arange(CORNERS - 1)
        return rank_permutations(seen // 3) * ORIENTATIONS + twists

    def unrank(self, ranks: Ranks) -> States:
        """The states of the given ranks, uint8 [N, 24]."""
        ranks = np.asarray(ranks, dtype=np.int64)
        (corners, twists), places = _parts(), pieces_of(2, 3)
        seen = corners[ranks // ORIENTATIONS] + twists[ranks % ORIENTATIONS]
        return places.colours[seen].reshape(len(ranks), self.cells).take(np.argsort(places.stickers, axis=None), axis=1)

    def factors(self) -> tuple[Neighbours, Neighbours]:
        """Corners and twists move independently: tables of where each goes, int32 [7!, 6] and [3⁶, 6]."""
        permutations = np.arange(PERMUTATIONS) * ORIENTATIONS
        corners = self.rank(self._children(permutations)).reshape(PERMUTATIONS, -1) // ORIENTATIONS
        twists = self.rank(self._children(np.arange(ORIENTATIONS))).reshape(ORIENTATIONS, -1) % ORIENTATIONS
        return corners.astype(np.int32), twists.astype(np.int32)

    def neighbours(self) -> Neighbours:
        """The whole table, made from the two tables of factors, int32 [S, 6]."""
        corners, twists = self.factors()
        table = corners[:, None] * np.int32(ORIENTATIONS) + twists[None]
        return table.reshape(self.state_count, len(self.actions))

    def _children(self, ranks: Ranks) -> States:
        return self.expand(self.unrank(ranks))[0].reshape(-1, self.cells)

    def check_pieces(self, state: States) -> None:
        """UserError if a corner has impossible colours."""
        check_kind(state, pieces_of(2, 3))
