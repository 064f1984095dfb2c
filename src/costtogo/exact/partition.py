"""How the tiles of a sliding-tile puzzle are divided into patterns, and which patterns can share one table.

A partition is a tuple of patterns, a pattern a tuple of tiles. The goal is 1, 2, …, side² - 1, 0: tile t belongs in
cell t - 1, the blank in the last cell.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import perm

import numpy as np

from costtogo.puzzles.sliding import SlidingTiles
from costtogo.types import UserError

Partition = tuple[tuple[int, ...], ...]

STANDARD = {  # by side; 7-8 and 6-6-6-6 as Korf and Felner 2002, turned so that the blank's goal is the last cell
    3: {"4-4": "1 2 3 6 | 4 5 7 8"},
    4: {"7-8": "1 2 3 4 5 6 7 8 | 9 10 11 12 13 14 15", "5-5-5": "1 2 3 5 6 | 4 7 8 11 12 | 9 10 13 14 15"},
    5: {"6-6-6-6": "1 2 3 6 7 8 | 4 5 9 10 14 15 | 11 12 16 17 21 22 | 13 18 19 20 23 24"},
}
TRANSPOSED = 1  # the index of the reflection in the main diagonal among the symmetries


def parse_partition(side: int, text: str) -> Partition:
    """A partition of the tiles from its name or from the patterns themselves.

    "7-8" is the standard partition with these sizes; without one, each pattern takes the next tiles in order. "1 2 3 6
    | 4 5 7 8" lists the tiles. UserError if a tile is missing, unknown or named twice.
    """
    text = text.strip()
    tiles = side * side - 1
    listed = STANDARD.get(side, {}).get(text, text)
    if re.fullmatch(r"\d{1,3}(-\d{1,3})*", listed):
        ends = np.cumsum([0, *(int(size) for size in listed.split("-"))]).tolist()
        if ends[-1] != tiles or 0 in np.diff(ends):
            raise UserError(f"The sizes {text} do not add up to the {tiles} tiles of a board of side {side}.")
        return tuple(tuple(range(first + 1, last + 1)) for first, last in zip(ends[:-1], ends[1:], strict=True))
    if not re.fullmatch(r"[\d\s|]+", listed) or re.search(r"\d{4}", listed):
        raise UserError(f"'{text[:60]}' is no partition: write sizes such as 7-8, or tiles such as 1 2 3 6 | 4 5 7 8.")
    partition = tuple(tuple(int(tile) for tile in pattern.split()) for pattern in listed.split("|"))
    check_partition(side, partition)
    return partition


def parse(puzzle: SlidingTiles, text: str) -> Partition:
    """parse_partition of the puzzle's board."""
    return parse_partition(puzzle.side, text)


def entries(puzzle: SlidingTiles, text: str) -> int:
    """The values of all tables of a partition of the puzzle's tiles."""
    tables = {image.table: len(image.tiles) for image in shared_tables(puzzle.side, parse(puzzle, text))}
    return sum(perm(puzzle.cells, tiles) for tiles in tables.values())


def check_partition(side: int, partition: Sequence[Sequence[int]]) -> None:
    """UserError, in one sentence, unless every tile of the board is in exactly one pattern and no pattern is empty."""
    named = [tile for pattern in partition for tile in pattern]
    if unknown := sorted(set(named) - set(range(1, side * side))):
        raise UserError(
            f"There is no tile {unknown[0]} on a board of side {side}: its tiles are 1 to {side * side - 1}."
        )
    if twice := sorted(tile for tile in set(named) if named.count(tile) > 1):
        raise UserError(f"Tile {twice[0]} is in the partition twice; each tile belongs to one pattern.")
    if missing := sorted(set(range(1, side * side)) - set(named)):
        raise UserError(f"Tile {missing[0]} is in no pattern of the partition; each tile belongs to one pattern.")
    if not all(len(pattern) for pattern in partition):
        raise UserError("A pattern of the partition has no tiles.")


def format_partition(partition: Partition) -> str:
    """ "1 2 3 6 | 4 5 7 8", read back by parse_partition."""
    return " | ".join(" ".join(str(tile) for tile in pattern) for pattern in partition)


@lru_cache(maxsize=8)
def symmetries(side: int) -> np.ndarray:
    """Where each cell goes under the eight symmetries of the square, int64 [8, D]: identity, TRANSPOSED, others."""
    cells = np.arange(side * side).reshape(side, side)
    turned = [np.rot90(image, quarter) for quarter in range(4) for image in (cells, cells.T)]
    return np.array([np.argsort(image, axis=None) for image in turned])


@dataclass(frozen=True)
class Shared:
    """The table with the values of a pattern: the table of `tiles`, seen in a symmetric image of the board.

    tiles: the pattern for which the table was built, in the order of its ranks.
    symmetry: the symmetry that maps the pattern to `tiles`.  table: the table's number in the partition.
    """

    tiles: tuple[int, ...]
    symmetry: int
    table: int


def shared_tables(side: int, partition: Partition) -> list[Shared]:
    """The table from which each pattern is read: of patterns that are images of each other only the first is built.

    The symmetry must map the goal cells of one pattern to those of the other. It must also map the cells that the blank
    can reach from its goal cell, without moving a tile of the pattern, to those of the other.
    """
    shared: list[Shared] = []
    built: list[tuple[int, ...]] = []
    for pattern in partition:
        found = (
            Shared(tiles, number, table)
            for table, tiles in enumerate(built)
            for number, goes in enumerate(symmetries(side))
            if _is_image(side, pattern, tiles, goes)
        )
        image = next(found, None)
        if image is None:
            image = Shared(pattern, 0, len(built))
            built.append(pattern)
        shared.append(image)
    return shared


def _is_image(side: int, pattern: tuple[int, ...], tiles: tuple[int, ...], goes: np.ndarray) -> bool:
    if len(pattern) != len(tiles) or {int(goes[tile - 1]) for tile in pattern} != {tile - 1 for tile in tiles}:
        return False
    region = blank_region(side, pattern)
    return sum(1 << int(goes[cell]) for cell in range(side**2) if region >> cell & 1) == blank_region(side, tiles)


def blank_region(side: int, pattern: Sequence[int]) -> int:
    """A mask of the cells that the blank can reach from its goal while the tiles of the pattern stay at theirs."""
    everywhere, not_first, not_last = columns(side)
    free = everywhere & ~sum(1 << tile - 1 for tile in pattern)
    return flood(side * side - 1, free, side, not_first, not_last)


def columns(side: int) -> tuple[int, int, int]:
    """Masks of all cells, those not in the first column, and those not in the last. Also compiled."""
    everywhere, first = (1 << (side * side)) - 1, 0
    for row in range(side):
        first |= 1 << (row * side)
    return everywhere, everywhere & ~first, everywhere & ~(first << (side - 1))


def flood(cell: int, free: int, side: int, not_first: int, not_last: int) -> int:
    """A mask of the cells that can be reached from a cell through free cells. Also compiled."""
    region, before = 1 << cell, 0
    while region != before:
        before = region
        sideways = ((region & not_last) << 1) | ((region & not_first) >> 1)
        region = (region | sideways | (region << side) | (region >> side)) & free
    return region
