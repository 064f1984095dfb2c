"""Pattern databases of a cube's pieces (Korf 1997, AAAI-97, 700-705).

A pattern is some pieces of one kind: the corners, or a few edges. For every way in which they can be placed and turned,
a table holds the fewest quarter turns that bring them home, wherever the other pieces are. Every move moves pieces of
all patterns, so the largest value over the patterns, not their sum, never overestimates.

A piece at a place is a code, size · place + turn. The rank of a placing is that of its places, T times, plus its turns,
as digits of base size: the last turn of all pieces of a kind follows from the others. The rank of places (p₀, p₁, …)
has the digits pᵢ less the number of earlier pieces before pᵢ. A move adds to the turns what depends on the places
alone, so all turns of the same places are made at once while a table is built. Two values share a byte.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import perm
from pathlib import Path
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.cosets import CORNERS, kinds_of, moves_of
from costtogo.exact.partition import format_partition
from costtogo.files import damaged, read_arrays, write_arrays
from costtogo.memory import machine_memory
from costtogo.puzzles.cube3 import Cube3
from costtogo.types import UserError

ALL = ("corners",)  # the pattern of all of them
MOST_EDGES = 8  # of a pattern
UNSEEN = 15  # the largest of four bits; no value is as large
Partition = tuple[tuple[int | str, ...], ...]  # the edges of each pattern, from 1 on, or ALL


class Pattern(NamedTuple):
    """What the compiled code knows of a pattern of k pieces, of a kind with P places and s turns."""

    pieces: np.ndarray  # int64 [k], the pieces of the pattern, corners from 0 on and edges from 8 on
    turned: int  # how many of them have a digit for their turn
    size: int  # s
    places: int  # P
    moves: np.ndarray  # uint8 [A, s · P], where an action brings a code
    start: int  # the first value of its table


@dataclass(frozen=True, eq=False)
class PieceDatabase:
    """The tables of some patterns, one after another.

    values: uint8 [bytes], two values a byte, the first in the lower bits.
    """

    puzzle: Cube3
    partition: Partition
    values: np.ndarray

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """Each pattern, with where its table starts."""
        return patterns_of(self.puzzle, self.partition)


def parse(puzzle: Cube3, text: str) -> Partition:
    """The patterns of a text such as "corners | 1 2 3 4 5 6 | 7 8 9 10 11 12", which numbers the edges.

    UserError where a pattern is none of these. Pieces may be in several patterns, or in none.
    """
    edges, partition = len(puzzle.pieces[1].stickers), []
    for part in text.split("|"):
        numbers = [int(number) for number in re.findall(r"\d{1,3}", part)]
        if part.split() == [*ALL]:
            partition.append(ALL)
            continue
        if not numbers or not re.fullmatch(r"[\d\s]+", part) or not all(1 <= each <= edges for each in numbers):
            raise UserError(
                f"'{part.strip()[:60]}' is no pattern of {puzzle.name}: write corners, or edges such as 1 2 3 4 5 6; "
                f"there are {edges}."
            )
        if len(numbers) != len(set(numbers)) or len(numbers) > MOST_EDGES:
            raise UserError(f"A pattern has up to {MOST_EDGES} edges, each once: not {part.strip()[:60]}.")
        partition.append(tuple(numbers))
    return tuple(partition)


def entries(puzzle: Cube3, text: str) -> int:
    """The values of all tables of a partition."""
    return sum(size_of(pattern) for pattern in patterns_of(puzzle, parse(puzzle, text)))


def patterns_of(puzzle: Cube3, partition: Partition) -> tuple[Pattern, ...]:
    """The patterns of a partition, their tables one after another."""
    found, start = [], 0
    for members in partition:
        of_edges = int(members != ALL)
        kind, count = puzzle.pieces[of_edges], len(puzzle.pieces[of_edges].stickers)
        pieces = CORNERS + np.array(members, dtype=np.int64) - 1 if of_edges else np.arange(count)
        turned = len(pieces) - (len(pieces) == count)
        found.append(Pattern(pieces, turned, kind.size, count, code_moves(puzzle)[of_edges], start))
        start += size_of(found[-1])
    return tuple(found)


@lru_cache(maxsize=1)
def code_moves(puzzle: Cube3) -> np.ndarray:
    """Where an action brings the code of a corner, and of an edge, uint8 [2, A, 24]."""
    moves = np.empty((2, len(puzzle.actions), 24), dtype=np.uint8)
    for of_kind, kind in zip(moves, kinds_of(puzzle, moves_of(puzzle, half_turns=False)), strict=True):
        for turn in range(kind.size):
            # A place is filled from `source`: the code of a piece there becomes its code here.
            came = kind.size * kind.source + turn
            goes = kind.size * np.arange(kind.source.shape[1]) + (turn + kind.turn) % kind.size
            np.put_along_axis(of_kind, came, goes.astype(np.uint8), axis=1)
    return moves


def size_of(pattern: Pattern) -> int:
    """The placings of a pattern: values of its table."""
    return perm(pattern.places, len(pattern.pieces)) * pattern.size**pattern.turned


def database_of(puzzle: Cube3, text: str, progress: Callable[[str], None]) -> PieceDatabase:
    """The database of a partition, its text as parse reads it; progress: called with one line before each table.

    UserError if the machine has too little memory: besides the finished tables, one takes a byte a placing.
    """
    partition = parse(puzzle, text)
    patterns = patterns_of(puzzle, partition)
    sizes = [size_of(pattern) for pattern in patterns]
    if (needed := sum(sizes) // 2 + max(sizes)) > machine_memory():
        raise UserError(
            f"The patterns {text} need {needed / 2**30:,.1f} GiB of memory to build and this "
            f"machine has {machine_memory() / 2**30:,.1f} GiB; choose smaller patterns."
        )
    tables = []
    for pattern, members, size in zip(patterns, partition, sizes, strict=True):
        progress(f"Pattern {format_partition((members,))}: {size:,} placings.")
        tables.append(build_table(pattern))
    values = np.concatenate([*tables, np.zeros(sum(sizes) % 2, dtype=np.uint8)])
    return PieceDatabase(puzzle, partition, values[0::2] | values[1::2] << 4)


def build_table(pattern: Pattern) -> np.ndarray:
    """The fewest moves that bring the pieces of a pattern home, uint8 by rank: breadth-first search from the goal.

    A move and its inverse are both moves, so the distance from the goal is that to the goal.
    """
    turns, base = pattern.size**pattern.turned, pattern.size
    digits = np.arange(turns)[:, None] // base ** np.arange(pattern.turned)[::-1] % base
    values, sums = np.full(size_of(pattern), UNSEEN, dtype=np.uint8), np.empty((turns, turns), dtype=np.uint16)
    for number, own in enumerate(digits):  # turns after a move, by the turns before it and those that it adds
        sums[number] = (digits + own) % base @ base ** np.arange(pattern.turned)[::-1]
    home = pattern.pieces - CORNERS * (pattern.places > CORNERS)
    values[_rank_of_places(pattern.size * home, np.arange(len(home)), pattern.size, pattern.places) * turns] = layer = 0
    while _grow(values, pattern, sums, layer):
        layer += 1
        if layer == UNSEEN:
            raise UserError(f"A pattern of {len(home)} pieces needs more moves than four bits can hold.")
    return values


@njit(cache=True, inline="always")
def _rank_of_places(codes, pieces, size, places):
    """The rank of the places of some pieces; codes: of all."""
    taken, rank = 0, 0
    for i in range(len(pieces)):
        place = codes[pieces[i]] // size
        before, digit = taken & ((1 << place) - 1), place
        while before:  # a digit counts the places that earlier pieces leave
            before &= before - 1
            digit -= 1
        rank = rank * (places - i) + digit
        taken |= 1 << place
    return rank


@njit(cache=True, inline="always")
def value_of(codes, pattern, values):
    """The value of a pattern in a database's values; codes: uint8 [20], corners before edges."""
    rank = _rank_of_places(codes, pattern.pieces, pattern.size, pattern.places)
    for i in range(pattern.turned):
        rank = rank * pattern.size + codes[pattern.pieces[i]] % pattern.size
    place = pattern.start + rank
    return values[place >> 1] >> (4 * (place & 1)) & UNSEEN


@njit(cache=True)
def _place(rank, codes, size, places):
    """Write the codes of a pattern's pieces at the places of a rank, all with the turn 0."""
    count = len(codes)
    for i in range(count - 1, -1, -1):
        codes[i] = rank % (places - i)
        rank //= places - i
    taken = 0
    for i in range(count):
        left, place = codes[i], 0
        while left or taken >> place & 1:
            left -= 1 - (taken >> place & 1)
            place += 1
        codes[i] = size * place
        taken |= 1 << place


@njit(cache=True)
def _grow(values, pattern, sums, layer):
    """Give the unseen children of the placings of a layer the next one; returns True if there are any."""
    turns, size = len(sums), pattern.size
    codes, children = np.empty((2, len(pattern.pieces)), dtype=np.uint8)
    own, order, grown = np.empty(turns, dtype=np.int64), np.arange(len(codes)), False
    for rank in range(len(values) // turns):
        count = 0
        for turn in range(turns):
            if values[rank * turns + turn] == layer:
                own[count] = turn
                count += 1
        if not count:
            continue
        _place(rank, codes, size, pattern.places)
        for action in range(len(pattern.moves)):
            added = 0
            for i in range(len(codes)):
                children[i] = pattern.moves[action, codes[i]]
                if i < pattern.turned:
                    added = added * size + children[i] % size
            first = _rank_of_places(children, order, size, pattern.places) * turns
            for i in range(count):
                place = first + sums[added, own[i]]
                if values[place] > layer + 1:
                    values[place], grown = layer + 1, True
    return grown


def save(path: Path | str, database: PieceDatabase) -> None:
    """Write a database with its description, as npz."""
    partition = np.array(format_partition(database.partition))
    write_arrays(path, puzzle=np.array(database.puzzle.name), partition=partition, values=database.values)


def load(path: Path | str, puzzle: Cube3) -> PieceDatabase:
    """Read a database of a puzzle; FileError if the file is missing, damaged or none of the puzzle."""
    arrays = read_arrays(path)
    try:
        if (name := str(arrays["puzzle"])) != puzzle.name:
            raise ValueError(f"it is of {name}, not of {puzzle.name}")
        database = PieceDatabase(puzzle, parse(puzzle, str(arrays["partition"])), arrays["values"])
        *_, last = accumulate(size_of(pattern) for pattern in database.patterns)
        if database.values.dtype != np.uint8 or database.values.shape != ((last + 1) // 2,):
            raise ValueError(f"values of shape {database.values.shape} where {(last + 1) // 2} are expected")
    except (KeyError, TypeError, ValueError, UserError) as error:
        raise damaged(path, error) from error
    return database


def measures(database: PieceDatabase) -> dict[str, int]:
    """What the card of a database says of it."""
    sizes = [size_of(pattern) for pattern in database.patterns]
    most = max(int((database.values & UNSEEN).max()), int((database.values >> 4).max()))
    return {
        "patterns": len(sizes),
        "tables": len(sizes),
        "largest_pattern": max(len(pattern.pieces) for pattern in database.patterns),
        "placings": sum(sizes),
        "most_moves": most,
    }
