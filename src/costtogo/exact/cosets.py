"""Distances of the 3×3×3 cube's cosets, two bits each: lower bounds for search.optimal (docs/optimal.md).

The subgroup fixes what an axis leaves in place: the twists of the corners, the flips of the edges, and which edges are
in the slice between two opposite faces (Kociemba's first phase); the large table also fixes where each edge of the
slice is. A cube's coset is (slice, flip, twist). Of the 48 symmetries 16 keep the axis, and cosets that they map to
each other share an entry: (slice, flip) is replaced by its class, and the symmetry that leads there is applied to the
rest. A row is a class with an arrangement of the slice's edges; it has an entry for every twist.

A row has nine cache lines of 64 bytes. A line has 243 entries of two bits, and six numbers of four bits, the least
distance in each run of 41 of its entries:

    0        `base` or less: the least distance of its run is the bound
    1, 2     base + 1, base + 2
    3        base + 3 or more

All coordinates are derived from the puzzle's stickers and symmetries. A code of a piece is size · piece + twist, as
puzzles.cube.Pieces.seen has it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.base import Symmetry, permuted
from costtogo.puzzles.cube3 import Cube3

CORNERS, EDGES = 8, 12
TWISTS, FLIPS, SETS = 3**7, 2**11, 495  # of the slice: 12 · 11 · 10 · 9 / 4!
LINE, LINES = 64, 9  # bytes of a cache line; lines of a row
SLOTS, RUN = 243, 41  # entries of a line; entries that share a least distance
FIRST_LEAST = 61  # the byte of a line where these begin
ROW = LINE * LINES
TRAILER = 64  # bytes behind the rows: the base, and room for a digest
NEAR_SHARE = 0.1  # of all entries, that have a distance of base or less
OLD, NOW, NEXT, UNSEEN = range(4)  # entries while a table is built, until the layer base
NO_LEAST = 15


def moves_of(puzzle: Cube3, half_turns: bool) -> list[tuple[int, ...]]:
    """The actions of each move: of every face clockwise and back; with half turns, also both quarters as one move."""
    quarters = [(action,) for action in range(len(puzzle.actions))]
    return quarters + [(a, a) for a in range(0, len(quarters), 2)] if half_turns else quarters


@dataclass(frozen=True)
class Kind:
    """The corners or the edges, as cubies.

    size: k, of orientations.  source, turn: int64 [moves, P], the place that each place's piece comes from, and the
    twist that it gets.  places: int64 [48, P], where a symmetry brings a place.  codes: int64 [48, P, k · P], the code
    that it makes of a code there.
    """

    size: int
    source: np.ndarray
    turn: np.ndarray
    places: np.ndarray
    codes: np.ndarray

    def conjugated(self, symmetry: int, codes: np.ndarray) -> np.ndarray:
        """The images of cubes under a symmetry; codes: int64 [N, P]."""
        images = np.empty_like(codes)
        images[:, self.places[symmetry]] = self.codes[symmetry][np.arange(codes.shape[1]), codes]
        return images

    def moved(self, move: int, codes: np.ndarray) -> np.ndarray:
        """The cubes after a move; codes: int64 [N, P]."""
        came = codes[:, self.source[move]]
        return came // self.size * self.size + (came + self.turn[move] - came // self.size * self.size) % self.size


def kinds_of(puzzle: Cube3, moves: list[tuple[int, ...]]) -> tuple[Kind, Kind]:
    """Corners and edges, from what moves and symmetries do to stickers."""
    turned = np.array([puzzle.goal] * len(moves))
    for move, actions in enumerate(moves):
        for action in actions:
            turned[move] = permuted(turned[move][None], puzzle.turns, np.array([action]))[0]
    kinds = []
    for pieces in puzzle.pieces:
        size, count = pieces.size, len(pieces.stickers)
        seen = pieces.seen(turned)
        # A piece in every place and twist, one at a time, under every symmetry.
        one = np.tile(puzzle.goal, (count, size * count, 1))
        one[np.arange(count)[:, None, None], np.arange(size * count)[:, None], pieces.stickers[:, None]] = (
            pieces.colours
        )
        places, codes = [], []
        for symmetry in puzzle.symmetries:
            # The cell of an image is the cell that it comes from: a place is found by its stickers, in any order.
            goes = np.argsort(symmetry.cells)[pieces.stickers]
            to = [next(p for p in range(count) if set(pieces.stickers[p]) == set(cells)) for cells in goes.tolist()]
            images = pieces.seen(symmetry.apply(one.reshape(-1, puzzle.cells))).reshape(count, size * count, count)
            places.append(to)
            codes.append(images[np.arange(count), :, to])
        kinds.append(Kind(size, seen // size, seen % size, np.array(places), np.array(codes)))
    return kinds[0], kinds[1]


class Coordinates(NamedTuple):
    """What the compiled code reads of the cube, apart from the table of distances.

    M moves; three axes. A twist as an entry's place is 256 · line + slot. A class and symmetry: 16 · class + symmetry.
    """

    twist_moves: np.ndarray  # uint16 [TWISTS, M]
    flip_moves: np.ndarray  # uint16 [FLIPS, M]
    slice_moves: np.ndarray  # uint16 [SETS · R, M], R arrangements of the slice's edges: 1 or 24
    classes: np.ndarray  # uint32 [SETS · FLIPS], class and symmetry
    arranged: np.ndarray  # uint8 [SETS · R, 16], the arrangement under a symmetry
    entries: np.ndarray  # uint16 [TWISTS, 16], the place of an entry in its row, under a symmetry
    representatives: np.ndarray  # int32 [classes], FLIPS · set + flip
    keep: np.ndarray  # uint16 [classes], a bit for each symmetry that keeps the representative
    products: np.ndarray  # uint8 [16, 16], the second symmetry after the first
    axis_moves: np.ndarray  # uint8 [3, M], a move as it is seen along an axis
    within: np.ndarray  # uint8 [M], a bit for each axis whose subgroup has the move
    corner_moves: np.ndarray  # uint16 [576, M], where a pair of pieces goes: 24 · code + code, place for piece
    edge_moves: np.ndarray  # uint16 [576, M]
    inverse_twists: np.ndarray  # uint64 [4, 576], a pair's part of the inverse's twists, 12 bits an axis
    inverse_edges: np.ndarray  # uint64 [6, 576, 2], of its flips, 11 bits an axis, and its slices, 16 bits an axis
    slices: np.ndarray  # uint16 [1 << 16], the number of a slice by the places of its edges, 4 bits each


class Cosets:
    """The coordinates of the cube for a metric and a size of table.

    half_turns: True if a half turn is one move.  arranged: True if the table tells arrangements of the slice's edges.
    """

    def __init__(self, puzzle: Cube3, half_turns: bool, arranged: bool):
        self.puzzle, self.moves = puzzle, moves_of(puzzle, half_turns)
        self.corners, self.edges = kinds_of(puzzle, self.moves)
        self.arrangements = 24 if arranged else 1
        # The axis is that of the faces whose turns twist no corner; the slice is what they leave in place.
        turning = [m for m in range(len(puzzle.actions)) if not self.corners.turn[m].any()]
        still = (self.edges.source[turning] == np.arange(EDGES)).all(axis=0)
        self.slice = np.flatnonzero(still)
        images = [tuple(sorted(each.actions[turning].tolist())) for each in puzzle.symmetries]
        self.sixteen = [number for number, image in enumerate(images) if image == images[0]]
        self.axes = [images.index(image) for image in dict.fromkeys(images)]
        self.slices, self.places = self._slices()

    def _slices(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of a slice by the places of its edges, and these places, int64 [SETS · R, 4]."""
        places = np.array(list(permutations(range(EDGES), 4)))
        sets = np.unique((1 << places).sum(axis=1), return_inverse=True)[1]
        order = np.lexsort((*places.T[::-1], sets))
        numbers = np.arange(len(places)) * self.arrangements // 24
        slices = np.zeros(1 << 16, dtype=np.uint16)
        slices[(places[order] << (4 * np.arange(4))).sum(axis=1)] = numbers
        return slices, places[order][:: 24 // self.arrangements]

    def twist_of(self, corners: np.ndarray) -> np.ndarray:
        """The twist of cubes by their corners' codes, int64 [N, 8]."""
        return corners[:, :-1] % 3 @ 3 ** np.arange(CORNERS - 1)

    def flip_of(self, edges: np.ndarray) -> np.ndarray:
        """The flip of cubes by their edges' codes, int64 [N, 12]."""
        return edges[:, :-1] % 2 @ 2 ** np.arange(EDGES - 1)

    def slice_of(self, edges: np.ndarray) -> np.ndarray:
        """The number of the slice of cubes, by their edges' codes."""
        at = np.argsort(edges // 2, axis=1)[:, self.slice]
        return self.slices[(at << (4 * np.arange(4))).sum(axis=1)].astype(np.int64)

    def with_twist(self, twist: np.ndarray) -> np.ndarray:
        """Corners, int64 [N, 8], with some twists."""
        return 3 * np.arange(CORNERS) + _digits(twist, 3, CORNERS)

    def with_flip(self, flip: np.ndarray) -> np.ndarray:
        """Edges, int64 [N, 12], with some flips."""
        return 2 * np.arange(EDGES) + _digits(flip, 2, EDGES)

    def with_slice(self) -> np.ndarray:
        """Edges, int64 [SETS · R, 12], one cube for each slice; the other edges are anywhere."""
        edges = np.full((len(self.places), EDGES), -1)
        np.put_along_axis(edges, self.places, self.slice[None], axis=1)
        others = np.setdiff1d(np.arange(EDGES), self.slice)
        edges[edges < 0] = np.tile(others, len(edges))
        return 2 * edges

    @cached_property
    def coordinates(self) -> Coordinates:
        """All tables of moves and symmetries."""
        twisted, flipped = self.with_twist(np.arange(TWISTS)), self.with_flip(np.arange(FLIPS))
        placed, every = self.with_slice(), range(len(self.moves))
        symmetric = [self.twist_of(self.corners.conjugated(s, twisted)) for s in self.sixteen]
        numbers = [self.slice_of(self.edges.conjugated(s, placed)) for s in self.sixteen]
        among = np.array(self.sixteen)
        classes, representatives, keep = _classify(
            placed[:: self.arrangements], flipped % 2, self.edges.places[among], self.edges.codes[among], self.slice
        )
        twists = np.stack(symmetric, axis=1)
        return Coordinates(
            np.stack([self.twist_of(self.corners.moved(m, twisted)) for m in every], axis=1).astype(np.uint16),
            np.stack([self.flip_of(self.edges.moved(m, flipped)) for m in every], axis=1).astype(np.uint16),
            np.stack([self.slice_of(self.edges.moved(m, placed)) for m in every], axis=1).astype(np.uint16),
            classes,
            (np.stack(numbers, axis=1) % self.arrangements).astype(np.uint8),
            (twists // SLOTS * 256 + twists % SLOTS).astype(np.uint16),
            representatives,
            keep,
            _products([self.puzzle.symmetries[s] for s in self.sixteen]),
            np.array([self._images(s) for s in self.axes], dtype=np.uint8),
            self._within(),
            *(_pair_moves(kind, every) for kind in (self.corners, self.edges)),
            *self._inverse_parts(),
            self.slices,
        )

    def _images(self, symmetry: int) -> list[int]:
        """The move that each move becomes under a symmetry."""
        images = [tuple(self.puzzle.symmetries[symmetry].actions[list(actions)].tolist()) for actions in self.moves]
        return [next(m for m, known in enumerate(self.moves) if self._same(known, image)) for image in images]

    def _same(self, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """True if two moves are the same: a half turn is either quarter twice."""
        back = tuple(self.puzzle.inverse(action) for action in other)
        return one == other or (len(one) == 2 and one == back)

    def _within(self) -> np.ndarray:
        """A bit for each axis whose subgroup has the move, uint8 [M]."""
        corners, edges = np.arange(CORNERS)[None] * 3, np.arange(EDGES)[None] * 2
        bits = np.zeros(len(self.moves), dtype=np.uint8)
        for bit, symmetry in enumerate(self.axes):
            for move, image in enumerate(self._images(symmetry)):
                turned, slid = self.corners.moved(image, corners), self.edges.moved(image, edges)
                same = self.slice_of(slid)[0] == self.slice_of(edges)[0]
                bits[move] |= (same and not self.twist_of(turned)[0] and not self.flip_of(slid)[0]) << bit
        return bits

    def _inverse_parts(self) -> tuple[np.ndarray, np.ndarray]:
        """What each pair of pieces adds to the coordinates of the inverse, by where the two are."""
        corners, edges = np.zeros((CORNERS, 24), np.uint64), np.zeros((EDGES, 24, 2), np.uint64)
        for axis, symmetry in enumerate(self.axes):
            for piece, code in product(range(CORNERS), range(24)):
                place, found = self._inverse_place(self.corners, symmetry, piece, code)
                if place < CORNERS - 1:
                    corners[piece, code] += np.uint64(found % 3 * 3**place << 12 * axis)
            for piece, code in product(range(EDGES), range(24)):
                place, found = self._inverse_place(self.edges, symmetry, piece, code)
                if place < EDGES - 1:
                    edges[piece, code, 0] += np.uint64(found % 2 << place + 11 * axis)
                if found // 2 in self.slice:
                    digit = int(np.flatnonzero(self.slice == found // 2)[0])
                    edges[piece, code, 1] += np.uint64(place << 4 * digit + 16 * axis)
        first, second = np.divmod(np.arange(576), 24)
        return corners[::2, first] + corners[1::2, second], edges[::2, first] + edges[1::2, second]

    def _inverse_place(self, kind: Kind, symmetry: int, piece: int, code: int) -> tuple[int, int]:
        """Where the inverse of a cube with a piece at a place has which code, as seen along an axis.

        code: size · place + twist of the piece.
        """
        place, twist = divmod(code, kind.size)
        inverse = kind.size * place + -twist % kind.size
        return int(kind.places[symmetry, piece]), int(kind.codes[symmetry, piece, inverse])

    def states(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a search follows of states, uint8 [N, 54].

        Returns twist, flip and slice along each axis, int32 [N, 9], and the pairs of four corners and six edges,
        int32 [N, 10].
        """
        corners, edges = (pieces.seen(states) for pieces in self.puzzle.pieces)
        along = []
        for symmetry in self.axes:
            turned, slid = self.corners.conjugated(symmetry, corners), self.edges.conjugated(symmetry, edges)
            along += [self.twist_of(turned), self.flip_of(slid), self.slice_of(slid)]
        where = [_where(codes, kind.size) for codes, kind in ((corners, self.corners), (edges, self.edges))]
        pairs = [24 * codes[:, ::2] + codes[:, 1::2] for codes in where]
        return np.stack(along, axis=1).astype(np.int32), np.concatenate(pairs, axis=1).astype(np.int32)


def _digits(numbers: np.ndarray, base: int, count: int) -> np.ndarray:
    """The digits of numbers, lowest first, int64 [N, count]; the last one makes their sum a multiple of the base."""
    digits = numbers[:, None] // base ** np.arange(count - 1) % base
    return np.append(digits, -digits.sum(axis=1, keepdims=True) % base, axis=1)


def _where(codes: np.ndarray, size: int) -> np.ndarray:
    """size · place + twist of each piece, int64 [N, P], by the codes at each place."""
    places = np.argsort(codes // size, axis=1)
    return size * places + np.take_along_axis(codes, places, axis=1) % size


def _pair_moves(kind: Kind, moves: range) -> np.ndarray:
    """Where each move takes two pieces, uint16 [576, M]."""
    pieces = 24 // kind.size
    tables = []
    for move in moves:
        place, twist = np.divmod(np.arange(24), kind.size)
        goes = np.argsort(kind.source[move])[place]
        code = kind.size * goes + (twist + kind.turn[move][goes]) % kind.size
        tables.append((24 * code[:, None] + code).ravel())
    assert pieces * kind.size == 24
    return np.stack(tables, axis=1).astype(np.uint16)


def _products(symmetries: list[Symmetry]) -> np.ndarray:
    """The symmetry that is the second after the first, uint8 [16, 16], by what they do to actions."""
    known = {each.actions.tobytes(): number for number, each in enumerate(symmetries)}
    return np.array(
        [[known[second.actions[first.actions].tobytes()] for second in symmetries] for first in symmetries], np.uint8
    )


@njit(cache=True)
def _classify(placed, flips, places, codes, in_slice):
    """Number the classes of (slice, flip) under the sixteen symmetries.

    placed: codes of edges, [SETS, 12], for each set.  flips: of the twelve edges, [FLIPS, 12].  places, codes: of Kind.
    Returns Coordinates.classes, representatives and keep.
    """
    edges, symmetries = placed.shape[1], places.shape[0]
    # Sets by their places as bits.
    numbers = np.zeros(1 << edges, dtype=np.int64)
    slice_bits = 0
    for piece in in_slice:
        slice_bits |= 1 << piece
    for number in range(len(placed)):
        bits = 0
        for place in range(edges):
            bits |= ((slice_bits >> (placed[number, place] >> 1)) & 1) << place
        numbers[bits] = number
    classes = np.empty(len(placed) * len(flips), dtype=np.uint32)
    representatives, keep = np.empty(len(classes), dtype=np.int32), np.zeros(len(classes), dtype=np.uint16)
    count = 0
    images = np.empty(symmetries, dtype=np.int64)
    for number in range(len(placed)):
        for flip in range(len(flips)):
            own = number * len(flips) + flip
            for s in range(symmetries):
                bits, image = 0, 0
                for place in range(edges):
                    code = codes[s, place, placed[number, place] + flips[flip, place]]
                    to = places[s, place]
                    image |= (code & 1) << to
                    bits |= ((slice_bits >> (code >> 1)) & 1) << to
                images[s] = numbers[bits] * len(flips) + (image & (len(flips) - 1))
            least = images.min()
            if least == own:
                representatives[count] = own
                classes[own] = 16 * count
                for s in range(symmetries):
                    keep[count] |= (images[s] == own) << s
                count += 1
            else:
                classes[own] = (classes[least] & ~np.uint32(15)) | np.uint32(np.argmin(images))
    return classes, representatives[:count].copy(), keep[:count].copy()


def build(cosets: Cosets, told: Callable[[int, int], None] | None = None, near_share: float = NEAR_SHARE) -> np.ndarray:
    """Breadth-first search over all entries, until only the farthest are left: these get base + 3.

    told: called after each layer with its distance and the number of its entries.  near_share: at most so much of all
    entries have a distance of base or less; with a smaller share, fewer layers are searched, and the bounds are weaker.
    Returns the rows, uint8 [classes · R · ROW + TRAILER]; the first byte behind the rows is base.
    """
    known = cosets.coordinates
    count = len(known.representatives) * cosets.arrangements
    rows = np.full(count * ROW + TRAILER, 0xFF, dtype=np.uint8)
    live = np.zeros((2, count), dtype=np.bool_)
    # Enter the solved cube's.
    home = int(cosets.states(cosets.puzzle.goal[None])[0][0, 2])
    row = int(known.classes[home // cosets.arrangements * FLIPS] >> 4) * cosets.arrangements
    row += int(known.arranged[home, known.classes[home // cosets.arrangements * FLIPS] & 15])
    _enter(rows, row * ROW, 0, NOW, 0)
    live[0, row] = True
    # Spread one layer after another; with the first that makes the near ones too many, begin to tell them apart.
    depth, seen, base = 0, 1, -1
    while base < 0 or depth < base + 2:
        depth += 1
        found = _spread(rows, live[0], live[1], known, cosets.arrangements, depth)
        if told is not None:
            told(depth, found)
        if base < 0 and seen + found > near_share * count * TWISTS:
            base = depth - 1
        seen += found
        if base < 0 or depth < base + 2:
            _age(rows, live[0], live[1])
            live = live[::-1]
            live[1] = False
    rows[-TRAILER] = base
    return rows


@njit(cache=True, inline="always")
def _enter(rows, start, entry, value, depth):
    """Set an unseen entry, and the least distance of its run if there was none; True if the entry was unseen."""
    at, shift = start + (entry >> 2), (entry & 3) * 2
    if (rows[at] >> shift) & 3 != UNSEEN:
        return False
    rows[at] ^= (UNSEEN ^ value) << shift
    run = (entry & 255) // RUN
    least, shift = start + (entry >> 8) * LINE + FIRST_LEAST + (run >> 1), (run & 1) * 4
    if (rows[least] >> shift) & 15 == NO_LEAST:
        rows[least] ^= (NO_LEAST ^ depth) << shift
    return True


@njit(cache=True, nogil=True)
def _spread(rows, live, reached, known, arrangements, depth):
    """Enter the unseen neighbours of a layer as NEXT; returns their number.

    live: bool [rows], which have entries of the layer; reached: set for those that get entries of the next.
    """
    twist_moves, flip_moves, slice_moves, classes, arranged, entries, representatives, keep, products = known[:9]
    twists = np.empty(TWISTS, dtype=np.int64)
    found = 0
    for row in range(len(live)):
        if not live[row]:
            continue
        # The layer's twists in this row.
        count = 0
        for twist in range(TWISTS):
            entry = np.int64(entries[twist, 0])
            if (rows[row * ROW + (entry >> 2)] >> ((entry & 3) * 2)) & 3 == NOW:
                twists[count] = twist
                count += 1
        own = representatives[row // arrangements]
        number, flip = own // FLIPS * arrangements + row % arrangements, own % FLIPS
        for move in range(slice_moves.shape[1]):
            moved = np.int64(slice_moves[number, move])
            reads = classes[moved // arrangements * FLIPS + flip_moves[flip, move]]
            first = reads & 15
            # Every symmetry that leads to the representative leads to an entry of the same distance.
            symmetries = np.int64(keep[reads >> 4])
            for second in range(16):
                if not (symmetries >> second) & 1:
                    continue
                symmetry = products[first, second]
                target = np.int64(reads >> 4) * arrangements + arranged[moved, symmetry]
                new = 0
                for place in range(count):
                    entry = np.int64(entries[twist_moves[twists[place], move], symmetry])
                    new += _enter(rows, target * ROW, entry, NEXT, depth)
                found += new
                reached[target] |= new > 0
    return found


@njit(cache=True, nogil=True)
def _age(rows, live, reached):
    """NOW becomes OLD and NEXT becomes NOW in the rows that have any."""
    for row in range(len(live)):
        if not (live[row] or reached[row]):
            continue
        for line in range(LINES):
            start = row * ROW + line * LINE
            for at in range(start, start + FIRST_LEAST):
                low, high = rows[at] & 0x55, (rows[at] >> 1) & 0x55
                # 01 -> 00, 10 -> 01, 11 and 00 stay
                rows[at] = (high & low) << 1 | high
