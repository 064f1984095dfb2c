"""Heuristics of the sliding-tile puzzles that add up table values over patterns of tiles.

There may be several sums, each for another view of the board; the heuristic is the largest. The tables below serve both
the evaluation of whole boards and searches that update the ranks from move to move.
"""

from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.partition import TRANSPOSED, symmetries
from costtogo.exact.pattern_database import PatternDatabase, slides, weights
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.types import CostToGo, States


class Lines(NamedTuple):
    """Moves added for the order of tiles in rows and columns. A line's number has a digit for each of its cells."""

    moves: np.ndarray  # uint8 [(side + 1) ** side], by the number of a line; empty if none are added
    digits: np.ndarray  # int64 [2, D, side], digit of a tile in a row or column: 1 + its goal's place there, else 0
    powers: np.ndarray  # int64 [side], powers of side + 1, by the place of a digit


class TileSums(NamedTuple):
    """The tables for the values of S sums over P patterns of up to K tiles. Tile 0 is the blank, in no pattern.

    A pattern may use the table of its image under a symmetry of the board: cells and moves are then seen in the image.
    """

    values: np.ndarray  # uint8 [entries], all tables
    start: np.ndarray  # int64 [P], the start of each pattern's table
    members: np.ndarray  # int64 [S, P, K], the tiles of each pattern in the order of its ranks, padded with 0
    cells: np.ndarray  # int64 [S, P, D], the place of each cell in the image
    weight: np.ndarray  # int64 [S, D], the weight of each tile's digit
    pattern: np.ndarray  # uint8 [S, D], the pattern of each tile
    step: np.ndarray  # int64 [S, D, A], what a tile's move adds to the rank if it passes no tile of its pattern
    sign: np.ndarray  # int8 [S, D, A], the sign of what passed tiles add: 0 if the move is sideways in the image
    past: np.ndarray  # int32 [S, D, D], what the second tile adds when the first moves down past it in the image
    symmetry: np.ndarray  # uint8 [S, D], the symmetry of the tile's pattern
    sources: np.ndarray  # uint8 [D, A], the cell of the tile that an action moves, by the blank's cell; itself for none
    between: np.ndarray  # uint8 [symmetries, D, A, side - 1], cells that a tile passes on its way to the blank's cell
    lines: Lines


def tile_sums(database: PatternDatabase, reflected: bool, conflicts: np.ndarray | None = None) -> TileSums:
    """The sum over the patterns, and with `reflected` also that of the board reflected in its main diagonal."""
    side, shared = database.side, database.shared
    images, cells = symmetries(side), side * side
    sums, patterns = 1 + reflected, len(shared)
    members = np.zeros((sums, patterns, max(len(pattern) for pattern in database.partition)), dtype=np.int64)
    seen = np.zeros((sums, patterns, cells), dtype=np.int64)
    weight, pattern, symmetry = np.zeros((3, sums, cells), dtype=np.int64)
    past = np.zeros((sums, cells, cells), dtype=np.int32)
    for s, image_of_board in enumerate(images[[0, TRANSPOSED][:sums]]):
        for p, image in enumerate(shared):
            goes = images[image.symmetry][image_of_board]
            tiles = np.argsort(goes)[np.array(image.tiles) - 1] + 1
            seen[s, p], members[s, p, : len(tiles)] = goes, tiles
            weight[s, tiles], pattern[s, tiles] = weights(side, len(tiles)), p
            symmetry[s, tiles] = np.flatnonzero((images == goes).all(axis=1))[0]
            past[s, tiles[:, None], tiles] = slides(weight[s, tiles])[:, :-1]
    sources = SlidingTiles(side).sources
    steps = _seen_steps(sources, images)[symmetry]  # [S, D, A]
    return TileSums(
        values=database.values,
        start=np.array([database.starts[image.table] for image in shared], dtype=np.int64),
        members=members,
        cells=seen,
        weight=weight,
        pattern=pattern.astype(np.uint8),
        step=steps * weight[..., None],
        sign=np.where(abs(steps) == side, np.sign(steps), 0).astype(np.int8),
        past=past,
        symmetry=symmetry.astype(np.uint8),
        sources=sources.astype(np.uint8),
        between=_cells_between(sources, images, side),
        lines=_lines(side, conflicts),
    )


def _is_legal(sources: np.ndarray) -> np.ndarray:
    """Which actions are legal, by the blank's cell, bool [D, A]."""
    return sources != np.arange(len(sources))[:, None]


def _seen_steps(sources: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The number of cells by which a tile moves under each symmetry and action, int64 [symmetries, A]."""
    blank, action = np.argmax(_is_legal(sources), axis=0), np.arange(sources.shape[1])
    return images[:, blank] - images[:, sources[blank, action]]


def _cells_between(sources: np.ndarray, images: np.ndarray, side: int) -> np.ndarray:
    """The cells strictly between a tile's and the blank's, row by row of the image."""
    between = np.zeros((len(images), *sources.shape, side - 1), dtype=np.uint8)
    for number, goes in enumerate(images):
        came_from = np.argsort(goes)
        for blank, action in np.argwhere(_is_legal(sources)):
            ends = goes[[blank, sources[blank, action]]]
            if np.ptp(ends) == side:
                between[number, blank, action] = came_from[ends.min() + 1 : ends.max()]
    return between


def _lines(side: int, conflicts: np.ndarray | None) -> Lines:
    digits = np.zeros((2, side * side, side), dtype=np.int64)
    tiles = np.arange(1, side * side)
    row, column = np.divmod(tiles - 1, side)
    digits[0, tiles, row], digits[1, tiles, column] = column + 1, row + 1
    moves = np.zeros(0, dtype=np.uint8) if conflicts is None else conflicts
    return Lines(moves, digits, (side + 1) ** np.arange(side))


@njit(cache=True)
def enter_ranks(state, sums, ranks):
    """Write the place of each pattern's value, int64 [S, P], for a state."""
    where = np.empty(len(state), dtype=np.int64)
    for cell in range(len(state)):
        where[state[cell]] = cell
    for s in range(ranks.shape[0]):
        for p in range(ranks.shape[1]):
            rank = sums.start[p]
            for i in range(sums.members.shape[2]):
                tile = sums.members[s, p, i]
                if tile == 0:
                    break
                cell = sums.cells[s, p, where[tile]]
                digit = cell
                for j in range(i):
                    digit -= sums.cells[s, p, where[sums.members[s, p, j]]] < cell
                rank += digit * sums.weight[s, tile]
            ranks[s, p] = rank


@njit(cache=True)
def line_number(state, kind, line, lines):
    """The number of a row (kind 0) or column (1) from the order of its own tiles in it; other tiles count as none."""
    side = len(lines.powers)
    number = 0
    for place in range(side):
        cell = line * side + place if kind == 0 else place * side + line
        number += lines.digits[kind, state[cell], line] * lines.powers[place]
    return number


@njit(cache=True)
def conflict_moves(state, lines):
    """The moves added for the orders of tiles in all rows and columns."""
    moves = 0
    if len(lines.moves):
        for kind in range(2):
            for line in range(len(lines.powers)):
                moves += lines.moves[line_number(state, kind, line, lines)]
    return moves


@njit(cache=True)
def _evaluate(states, sums, found):
    ranks = np.empty(sums.members.shape[:2], dtype=np.int64)
    for row in range(len(states)):
        enter_ranks(states[row], sums, ranks)
        largest = 0
        for s in range(ranks.shape[0]):
            total = 0
            for p in range(ranks.shape[1]):
                total += sums.values[ranks[s, p]]
            largest = max(largest, total)
        found[row] = largest + conflict_moves(states[row], sums.lines)


class TileSumHeuristic:
    """The largest of sums of table values: uint8 [N, D] → float32 [N], in moves, 0 at the goal.

    by_action: True, so that BWAS evaluates children and one engine searches both networks by action and tables.
    """

    by_action = True

    def __init__(self, puzzle: SlidingTiles, sums: TileSums):
        self.puzzle, self.sums = puzzle, sums

    @property
    def nbytes(self) -> int:
        """The bytes of the tables."""
        return self.sums.values.nbytes + self.sums.lines.moves.nbytes

    def __call__(self, states: States) -> CostToGo:
        """Never above the true cost-to-go, float32 [N]."""
        found = np.empty(len(states), dtype=np.float32)
        _evaluate(states, self.sums, found)
        return found

    def children(self, states: States) -> np.ndarray:
        """The same for each child, float32 [N, A]; inf if the action is not legal."""
        children, legal = self.puzzle.expand(states)
        values = self(children.reshape(-1, self.puzzle.cells)).reshape(legal.shape)
        return np.where(legal, values, np.float32(np.inf))
