"""Additive pattern databases of the sliding-tile puzzles.

Korf and Felner 2002, doi:10.1016/S0004-3702(01)00092-3; Felner, Korf and Hanan 2004, doi:10.1613/jair.1480.

The tiles are divided into patterns. For every placing of a pattern's tiles, a table holds the least number of moves of
these tiles that brings them home, wherever the blank is; moves of other tiles are free. No move is counted in two
tables, so the sum over the patterns never overestimates.

The rank of a placing (p₀, p₁, …) is Σ digitᵢ · weightᵢ with digitᵢ = pᵢ less the number of earlier tiles on cells
before it. A tile that moves sideways changes its own digit by one; a tile that moves up or down also changes place with
the tiles that it passes, see slides.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, permutations
from math import perm
from pathlib import Path

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from costtogo.compiled import njit
from costtogo.exact.partition import (
    Partition,
    Shared,
    blank_region,
    check_partition,
    columns,
    flood,
    format_partition,
    parse_partition,
    shared_tables,
)
from costtogo.files import damaged, read_arrays, write_arrays
from costtogo.memory import machine_memory
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.types import UserError

UNREACHED = 255
TAIL = 3  # last tiles of a pattern; their placings are enumerated together, one block for each placing of the others

_columns, _flood = njit(cache=True)(columns), njit(cache=True)(flood)


@dataclass(frozen=True, eq=False)
class PatternDatabase:
    """The tables of a partition, one after another.

    side: of the board.  partition: the patterns.  values: uint8 [entries of all tables], moves of the pattern's tiles.
    """

    side: int
    partition: Partition
    values: np.ndarray

    @cached_property
    def shared(self) -> list[Shared]:
        """The table with the values of each pattern."""
        return shared_tables(self.side, self.partition)

    @cached_property
    def starts(self) -> list[int]:
        """The start of each table in values, and their total length."""
        return table_starts(self.side, self.shared)


def weights(side: int, tiles: int) -> np.ndarray:
    """The weight of each digit in a rank, int64 [tiles]."""
    cells = side * side
    return np.array([perm(cells - i - 1, tiles - i - 1) for i in range(tiles)], dtype=np.int64)


def table_starts(side: int, shared: Sequence[Shared]) -> list[int]:
    """The start of each table of a partition if they are stored one after another, and their total length."""
    sizes = {image.table: perm(side * side, len(image.tiles)) for image in shared}
    return list(accumulate((sizes[table] for table in sorted(sizes)), initial=0))


def build(side: int, partition: Partition | str, progress: Callable[[str], None] | None = None) -> PatternDatabase:
    """The database of a partition (its text, or its patterns); patterns that are images of each other share a table.

    progress: called with one line before each table.  Raises UserError if the machine has too little memory: besides
    the finished tables, building one takes 5 bytes an entry on boards of up to 16 cells, 9 up to 32, 17 above.
    """
    partition = parse_partition(side, partition) if isinstance(partition, str) else partition
    check_partition(side, partition)
    shared = shared_tables(side, partition)
    starts = table_starts(side, shared)
    _check_memory(side, partition, starts)
    values = np.empty(starts[-1], dtype=np.uint8)
    for table, tiles in sorted({image.table: image.tiles for image in shared}.items()):
        if progress is not None:
            progress(f"Pattern {format_partition((tiles,))}: {starts[table + 1] - starts[table]:,} placings.")
        values[starts[table] : starts[table + 1]] = build_table(side, tiles)
    return PatternDatabase(side, partition, values)


def database_of(puzzle: SlidingTiles, text: str, progress: Callable[[str], None]) -> PatternDatabase:
    """build for a puzzle; what has to be compiled is compiled before the first line of progress."""
    build(puzzle.side, tuple((tile,) for tile in range(1, puzzle.cells)))
    return build(puzzle.side, text, progress)


def _check_memory(side: int, partition: Partition, starts: list[int]) -> None:
    largest = max(end - start for start, end in pairwise(starts))
    needed = starts[-1] + largest * (1 + 2 * _mask_type(side).itemsize)
    memory = machine_memory()
    if needed > memory:
        raise UserError(
            f"The patterns {format_partition(partition)} need {needed / 2**30:,.1f} GiB of memory to build and this "
            f"machine has {memory / 2**30:,.1f} GiB; choose smaller patterns."
        )


def _mask_type(side: int) -> np.dtype:
    """The smallest type with a bit for each cell."""
    cells = side * side
    return np.dtype(np.uint16 if cells <= 16 else np.uint32 if cells <= 32 else np.uint64)


def build_table(side: int, tiles: Sequence[int]) -> np.ndarray:
    """The fewest moves of the tiles that bring them home, wherever the blank is, uint8 by the rank of a placing.

    Breadth-first search backwards from the goal over placings and the cells that the blank can reach in them: moves of
    other tiles are free, so the blank is in a whole region at once. Placings at odd and even distances differ in the
    parity of their cells, so states of the next layer can be marked in the same array.
    """
    size, masks = perm(side * side, len(tiles)), _mask_type(side)
    values = np.full(size, UNREACHED, dtype=np.uint8)
    reached, pending = np.zeros(size, dtype=masks), np.zeros(size, dtype=masks)
    weight = weights(side, len(tiles))
    # Enter the goal, with the blank wherever it can go while the tiles are at home.
    home = rank_of(np.array(tiles, dtype=np.int64) - 1, weight)
    values[home], reached[home] = 0, blank_region(side, tiles)
    pending[home] = reached[home]
    # Expand one layer after another until no region is new.
    head = max(0, len(tiles) - TAIL)
    places = np.array(list(permutations(range(side * side - head), len(tiles) - head)), dtype=np.int64)
    layer = 0
    while _grow(values, reached, pending, layer, side, weight, slides(weight), places):
        layer += 1
        if layer == UNREACHED:
            raise UserError(f"The pattern {format_partition((tuple(tiles),))} needs more moves than a byte can hold.")
    return values


@intrinsic
def _lowest(context, mask):
    """The number of the lowest set bit of a mask other than 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@njit(cache=True)
def rank_of(placing, weight):
    """The rank of a placing; placing: int64 [tiles]."""
    rank = 0
    for i in range(len(placing)):
        digit = placing[i]
        for j in range(i):
            digit -= placing[j] < placing[i]
        rank += digit * weight[i]
    return rank


def slides(weight: np.ndarray) -> np.ndarray:
    """The change of the rank, apart from side · weightᵢ, when tile i moves down past tile j: int64 [tiles, tiles + 1].

    The digit of i now counts an earlier tile; the digit of a later tile no longer counts i. A move up subtracts the
    same. The last column, 0, is for cells without a tile of the pattern.
    """
    tiles = len(weight)
    earlier = np.arange(tiles) < np.arange(tiles)[:, None]
    past = np.where(earlier, -weight[:, None], weight)
    return np.append(past * (1 - np.eye(tiles, dtype=np.int64)), np.zeros((tiles, 1), dtype=np.int64), axis=1)


@njit(cache=True, inline="always")
def _next_to(region, direction, side, not_first, not_last):
    """The cells from which a tile that moves up, down, left or right enters the region."""
    if direction == 0:
        return region << side
    if direction == 1:
        return region >> side
    return (region & not_last) << 1 if direction == 2 else (region & not_first) >> 1


@njit(cache=True)
def _grow(values, reached, pending, layer, side, weight, past, places):
    """Expand the placings pending at a layer in the order of their ranks; returns True if any region was new.

    places: int64 [placings, tail], the last tiles' places among the cells that the first tiles leave, in the order of
    ranks.
    Keeps true: a pending region has been reached; an expanded region is no longer pending.
    """
    cells, tiles = side * side, len(weight)
    everywhere, not_first, not_last = _columns(side)
    head = tiles - places.shape[1]
    size = len(places)
    placing, at = np.empty(tiles, dtype=np.int64), np.full(cells, tiles, dtype=np.int64)  # at: the tile in a cell
    left = np.empty(cells, dtype=np.int64)  # cells without one of the first tiles
    steps = (-side, side, -1, 1)  # for a tile that moves up, down, left, right
    grown = False
    for block in range(len(values) // size):
        if not _any(pending, block * size, size):
            continue
        # The first tiles are the same in the whole block.
        occupied = _place_first(placing, at, left, weight, head, block * size)
        for number in range(size):
            rank = block * size + number
            region = np.int64(pending[rank])
            if region == 0 or (values[rank] ^ layer) & 1:
                continue
            # Place the last tiles.
            pending[rank] = 0
            free = everywhere & ~occupied
            for i in range(head, tiles):
                cell = left[places[number, i - head]]
                placing[i], at[cell] = cell, i
                free &= ~(1 << cell)
            # Move each tile next to the region into it.
            for direction in range(4):
                movers = _next_to(region, direction, side, not_first, not_last) & everywhere & ~free
                while movers:
                    cell = _lowest(movers)
                    movers &= movers - 1
                    i, target = at[cell], cell + steps[direction]
                    if direction >= 2:
                        change = steps[direction] * weight[i]
                    else:
                        change, first = side * weight[i], min(cell, target)
                        for passed in range(1, side):
                            change += past[i, at[first + passed]]
                        change = change if target > cell else -change
                    # Enter the region of the blank, which is now where the tile was, unless it is known.
                    reaches = rank + change
                    if (np.int64(reached[reaches]) >> cell) & 1:
                        continue
                    around = _flood(cell, (free | (1 << cell)) & ~(1 << target), side, not_first, not_last)
                    reached[reaches] |= around
                    pending[reaches] |= around
                    grown = True
                    if values[reaches] == UNREACHED:
                        values[reaches] = layer + 1
            # Take the last tiles off the board again.
            for i in range(head, tiles):
                at[placing[i]] = tiles
    return grown


@njit(cache=True)
def _place_first(placing, at, left, weight, head, rank):
    """Place the first tiles of a rank on an empty board and list the cells that they leave; returns those they take."""
    at[:] = len(weight)
    for i in range(head):
        _take_digit(placing, at, i, rank // weight[i])
        rank %= weight[i]
    count, occupied = 0, 0
    for cell in range(len(at)):
        if at[cell] == len(weight):
            left[count] = cell
            count += 1
        else:
            occupied |= 1 << cell
    return occupied


@njit(cache=True)
def _any(pending, first, size):
    """True if any of `size` entries from `first` on is not 0; without a branch, so that many are read at once."""
    found = pending[first]
    for place in range(first, first + size):
        found |= pending[place]
    return found != 0


@njit(cache=True)
def _take_digit(placing, at, i, digit):
    """Place tile i of the first tiles on the cell with number `digit` among the cells that no earlier tile has."""
    cell = -1
    for _ in range(digit + 1):
        cell += 1
        while at[cell] < i:
            cell += 1
    placing[i], at[cell] = cell, i


def save(path: Path | str, database: PatternDatabase) -> None:
    """Write a database with its description, as npz."""
    write_arrays(
        path,
        side=np.array(database.side),
        partition=np.array(format_partition(database.partition)),
        values=database.values,
    )


def load(path: Path | str) -> PatternDatabase:
    """Read a database; FileError if the file is missing, damaged or no database."""
    arrays = read_arrays(path)
    try:
        side, values = int(arrays["side"]), arrays["values"]
        database = PatternDatabase(side, parse_partition(side, str(arrays["partition"])), values)
        if values.dtype != np.uint8 or values.shape != (database.starts[-1],):
            raise ValueError(f"values of shape {values.shape} where {database.starts[-1]} are expected")
    except (KeyError, TypeError, ValueError, UserError) as error:
        raise damaged(path, error) from error
    return database


def measures(database: PatternDatabase) -> dict[str, int]:
    """What the card of a database says of it: patterns that are images of each other share a table."""
    return {
        "patterns": len(database.partition),
        "tables": len(database.starts) - 1,
        "largest_pattern": max(len(pattern) for pattern in database.partition),
        "placings": len(database.values),
        "most_moves": int(database.values.max()),
    }
