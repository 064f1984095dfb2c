"""What cubes have in common; the 2×2×2 cube with one corner fixed (thesis, 4.2).

A state lists the colour of each sticker, face by face in the order L U F D R B, each face row by row as
seen from outside (L, F, R, B with U above; U with B above; D with F above). A colour is the index of the
face it belongs to. Of the 2×2×2 the corner where D, L and F meet never moves: the six actions turn the other faces.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from costtogo.puzzles.base import ListedPuzzle, Puzzle, not_too_many, permuted
from costtogo.puzzles.permutations import rank_permutations, unrank_permutations
from costtogo.types import Children, Legal, Neighbours, Ranks, States, UserError, excerpt

FACES = "LUFDRB"
COLOURS = ("orange", "yellow", "blue", "white", "red", "green")
# Turning the opposite face the same way gives the same cube, held differently: see parse_moves.
SAME_TURN = {"L": "R", "D": "U", "F": "B", "R": "R", "U": "U", "B": "B"}
# Outward normal, direction of growing columns and of growing rows of each face (x right, y up, z to the viewer).
FACE_AXES = {
    "L": ((-1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "U": ((0, 1, 0), (1, 0, 0), (0, 0, 1)),
    "F": ((0, 0, 1), (1, 0, 0), (0, -1, 0)),
    "D": ((0, -1, 0), (1, 0, 0), (0, 0, -1)),
    "R": ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    "B": ((0, 0, -1), (-1, 0, 0), (0, -1, 0)),
}
FACE_CELLS = 4
CORNERS = 7  # that move
ORIENTATIONS = 3**6  # the seventh follows from the others
PERMUTATIONS = 5040


def sticker_places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Position and outward normal of every sticker of a size × size × size cube, int [6 · size², 3] each.

    Positions are even or odd integers between 1 - size and size - 1 in steps of two.
    """
    positions, normals = [], []
    for face in FACES:
        normal, columns, rows = (np.array(axis) for axis in FACE_AXES[face])
        for row in range(size):
            for column in range(size):
                across, down = 2 * column - (size - 1), 2 * row - (size - 1)
                positions.append(normal * (size - 1) + columns * across + rows * down)
                normals.append(normal)
    return np.array(positions), np.array(normals)


def clockwise_turn(size: int, face: str) -> np.ndarray:
    """Where each sticker comes from when a face turns 90° clockwise: new = old[permutation], int64 [6 · size²]."""
    positions, normals = sticker_places(size)
    axis = np.array(FACE_AXES[face][0])
    places = {(*p, *n): index for index, (p, n) in enumerate(zip(positions.tolist(), normals.tolist(), strict=True))}
    permutation = np.arange(len(positions))
    for source in np.flatnonzero(positions @ axis == size - 1):
        turned = [_clockwise(vector, axis) for vector in (positions[source], normals[source])]
        permutation[places[(*turned[0], *turned[1])]] = source
    return permutation


def _clockwise(vector: np.ndarray, axis: np.ndarray) -> tuple[int, ...]:
    """Rotate a vector by 90° clockwise as seen against the axis."""
    return tuple((axis * (axis @ vector) - np.cross(axis, vector)).tolist())


def _corner_stickers() -> np.ndarray:
    """The three stickers of each corner, clockwise from the one on U or D, the fixed corner last: int64 [8, 3]."""
    positions, normals = sticker_places(2)
    corners = []
    for place in sorted({tuple(p) for p in positions.tolist()}, key=lambda p: (p == (-1, -1, 1), -p[1], p)):
        stickers = np.flatnonzero((positions == place).all(axis=1))
        first = next(s for s in stickers if normals[s][1] != 0)
        second, third = (s for s in stickers if s != first)
        if np.dot(np.cross(normals[first], normals[second]), np.array(place)) > 0:
            second, third = third, second
        corners.append((first, second, third))
    return np.array(corners)


@dataclass(frozen=True)
class Pieces:
    """Stickers that always move together: the corners or the edges of a cube.

    stickers: int64 [P, k], each piece's, clockwise from the one on U or D (of middle edges on F or B).
    index: int8, k axes of 6: k · piece + twist by the colours seen at a place, -1 where no piece has them.
    face_cells: stickers of a face.
    """

    stickers: np.ndarray
    index: np.ndarray
    face_cells: int

    @property
    def count(self) -> int:
        """P: 8 corners, 7 of the 2×2×2 that move, or 12 edges."""
        return len(self.stickers)

    @property
    def size(self) -> int:
        """k: stickers of a piece."""
        return self.stickers.shape[1]

    def seen(self, states: States) -> np.ndarray:
        """k · piece + twist at each place, int64 [N, P]; -1 where no piece has these colours."""
        colours = states[:, self.stickers]
        return self.index[tuple(np.moveaxis(colours, 2, 0))].astype(np.int64)

    def names(self) -> list[str]:
        """The faces that a place touches: "ULB"."""
        return ["".join(FACES[sticker // self.face_cells] for sticker in piece) for piece in self.stickers]


class Cube(Puzzle):
    """A cube of size × size × size cubelets, in quarter turns.

    faces: those that are turned, clockwise and back.
    """

    size: ClassVar[int]
    faces: ClassVar[str]
    letters: ClassVar[int] = len(FACES)

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

    def expand(self, states: States) -> tuple[Children, Legal]:
        """Turn every face both ways: children uint8 [N, A, D]; every turn is legal."""
        return states[:, self.turns], self.legal(states)

    def move(self, states: States, actions: np.ndarray) -> States:
        """Each state after a turn of its own, uint8 [N, D]."""
        return permuted(states, self.turns, actions)

    def inverse(self, action: int) -> int:
        """A turn and the turn back undo each other."""
        return action ^ 1

    @abstractmethod
    def check_pieces(self, state: States) -> None:
        """Refuse a colouring, with as many stickers of each colour as there must be, that no turns can make."""

    def parse_state(self, text: str) -> States:
        """A face letter for each sticker, face by face in the order L U F D R B."""
        letters, title = "".join(text.split()).upper(), "×".join([str(self.size)] * 3)
        if len(letters) != self.cells:
            raise UserError(
                f"A {title} cube has {self.cells} stickers in the order L U F D R B, but {len(letters)} were given."
            )
        if unknown := sorted(set(letters) - set(FACES)):
            raise UserError(f"Unknown colour '{excerpt(unknown[0])}': a sticker is one of the letters L U F D R B.")
        state = np.array([FACES.index(letter) for letter in letters], dtype=np.uint8)
        counts, wanted = np.bincount(state, minlength=len(FACES)), self.size**2
        for colour in np.flatnonzero(counts != wanted):
            raise UserError(f"Impossible cube: {counts[colour]} stickers are {FACES[colour]}, there must be {wanted}.")
        self.check_pieces(state)
        return state

    def format_state(self, state: States) -> str:
        """A face letter for each sticker."""
        return "".join(FACES[colour] for colour in state)

    def draw(self, state: States) -> str:
        """The net: U above, L F R B in a row, D below."""
        letters = np.array(list(self.format_state(state))).reshape(len(FACES), self.size, self.size)
        faces, margin = dict(zip(FACES, letters, strict=True)), " " * (self.size + 1)
        rows = [margin + "".join(row) for row in faces["U"]]
        rows += [" ".join("".join(faces[name][row]) for name in "LFRB") for row in range(self.size)]
        return "\n".join(rows + [margin + "".join(row) for row in faces["D"]])


def parse_turns(text: str) -> Iterator[tuple[str, bool, int]]:
    """ "R U2 F'" → each face, whether it is turned back, and how many quarters; UserError for another move."""
    for move in not_too_many(text.replace("’", "'").split()):
        face, suffix = move[0], move[1:]
        if face not in FACES or suffix not in ("", "'", "2", "2'"):
            raise UserError(f"Unknown move '{excerpt(move)}': a cube move is one of L U F D R B, alone or with ' or 2.")
        yield face, "'" in suffix, 2 if "2" in suffix else 1


def check_kind(state: States, kind: Pieces, noun: str) -> np.ndarray:
    """Which of a kind of pieces stands at each place, int64 [P]; UserError where one is missing or one is twisted."""
    seen, names = kind.seen(state[None])[0], kind.names()
    for place in np.flatnonzero(seen < 0):
        raise UserError(f"Impossible cube: no {noun} has the colours at {names[place]}.")
    order = seen // kind.size
    if missing := sorted(set(range(kind.count)) - set(order.tolist())):
        raise UserError(f"Impossible cube: the {noun} {names[missing[0]]} is missing and another stands twice.")
    if (seen % kind.size).sum() % kind.size:
        verb = "twisted" if kind.size == 3 else "flipped"
        raise UserError(f"Impossible cube: a single {noun} is {verb}; turning faces never does that.")
    return order


@lru_cache(maxsize=1)
def _corners() -> tuple[Pieces, np.ndarray]:
    """The eight corners; the colours of each, twisted each way, by their index: uint8 [24, 3]."""
    stickers = _corner_stickers()
    home = np.repeat(np.arange(6, dtype=np.uint8), FACE_CELLS)[stickers]
    colours = np.stack([np.roll(home, twist, axis=1) for twist in range(3)], axis=1).reshape(24, 3)
    index = np.full((6, 6, 6), -1, dtype=np.int8)
    index[tuple(colours.T)] = np.arange(24)
    return Pieces(stickers, index, FACE_CELLS), colours


@lru_cache(maxsize=1)
def _parts() -> tuple[np.ndarray, np.ndarray]:
    """What stands at each of the eight places by the number of a permutation, 3 · corner, uint8 [7!, 8], and by that of
    twists, uint8 [3⁶, 8]: their sum is the index of the colours.
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
        places = _corners()[0]
        return (replace(places, stickers=places.stickers[:CORNERS]),)

    def rank(self, states: States) -> Ranks:
        """Permutation of the seven corners, then their twists in base 3."""
        seen = self.pieces[0].seen(states)
        return rank_permutations(seen // 3) * ORIENTATIONS + _rank_twists(seen % 3)

    def unrank(self, ranks: Ranks) -> States:
        """The states of the given ranks, uint8 [N, 24]."""
        ranks = np.asarray(ranks, dtype=np.int64)
        corners, twists = _parts()
        places, colours = _corners()
        seen = corners[ranks // ORIENTATIONS] + twists[ranks % ORIENTATIONS]
        return colours[seen].reshape(len(ranks), self.cells).take(np.argsort(places.stickers, axis=None), axis=1)

    def factors(self) -> tuple[Neighbours, Neighbours]:
        """Corners and twists move independently: where each is taken, int32 [7!, 6] and [3⁶, 6]."""
        permutations = np.arange(PERMUTATIONS) * ORIENTATIONS
        corners = self.rank(self._children(permutations)).reshape(PERMUTATIONS, -1) // ORIENTATIONS
        twists = self.rank(self._children(np.arange(ORIENTATIONS))).reshape(ORIENTATIONS, -1) % ORIENTATIONS
        return corners.astype(np.int32), twists.astype(np.int32)

    def neighbours(self) -> Neighbours:
        """The two tables of the factors make the whole, int32 [S, 6]."""
        corners, twists = self.factors()
        table = corners[:, None] * np.int32(ORIENTATIONS) + twists[None]
        return table.reshape(self.state_count, len(self.actions))

    def _children(self, ranks: Ranks) -> States:
        return self.expand(self.unrank(ranks))[0].reshape(-1, self.cells)

    def parse_moves(self, text: str) -> list[int]:
        """ "R U2 F'" → quarter turns of R, U and B.

        A turn of L, D or F is the same turn of the opposite face and a turn of the whole cube, which carries the
        fixed corner along: the faces named after it lie elsewhere.
        """
        actions = []
        seen = {face: face for face in FACES}  # which face of the cube lies where, the fixed corner being at D L F
        for face, back, quarters in parse_turns(text):
            back &= quarters == 1  # a half turn is the same either way
            for _ in range(quarters):
                actions.append(self.actions.index(SAME_TURN[seen[face]] + ("'" if back else "")))
                if seen[face] in "LDF":
                    seen = _turn_whole(seen, face, back)
        return actions

    def check_pieces(self, state: States) -> None:
        """UserError where corners are no corners, or the fixed one is not in its place."""
        check_kind(state, _corners()[0], "corner")
        if (state[_corners()[0].stickers[CORNERS]] != self.goal[_corners()[0].stickers[CORNERS]]).any():
            raise UserError(
                "Hold the cube so that the corner of D, L and F is in its place: it is the one that stays fixed."
            )


def _turn_whole(seen: dict[str, str], face: str, back: bool) -> dict[str, str]:
    """What lies where after the whole cube has been turned clockwise, or back, as seen on a face."""
    goes = _carried(face)
    return {start: seen[end] for start, end in goes.items()} if back else {goes[name]: seen[name] for name in FACES}


@lru_cache
def _carried(face: str) -> dict[str, str]:
    """Where each face goes as the whole cube turns clockwise as seen on one."""
    places = {tuple(axes[0]): name for name, axes in FACE_AXES.items()}
    axis = np.array(FACE_AXES[face][0])
    return {name: places[tuple(_clockwise(np.array(axes[0]), axis))] for name, axes in FACE_AXES.items()}


def _rank_twists(twists: np.ndarray) -> Ranks:
    return twists[:, : CORNERS - 1] @ 3 ** np.arange(CORNERS - 1)
