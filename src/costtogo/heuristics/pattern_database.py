"""A pattern database of a sliding-tile puzzle as a heuristic (exact.pattern_database)."""

from pathlib import Path

import numpy as np

from costtogo.exact.partition import parse_partition
from costtogo.exact.pattern_database import PatternDatabase, load
from costtogo.heuristics.tile_sums import TileSumHeuristic, tile_sums
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.types import UserError


class PatternDatabaseHeuristic(TileSumHeuristic):
    """The sum over the patterns; with `reflected`, the larger of it and that of the board reflected in its diagonal.

    Admissible but not consistent: the best place of the blank may change with a move, so the value may fall by three or
    more (Zahavi et al. 2007). UserError if the database is for a board of another side.
    """

    def __init__(self, puzzle: SlidingTiles, database: PatternDatabase, reflected: bool = True):
        if database.side != puzzle.side:
            raise UserError(f"The pattern database is one of boards of side {database.side}, not of {puzzle.name}.")
        super().__init__(puzzle, tile_sums(database, reflected))


def of_values(puzzle: SlidingTiles, text: str, values: np.ndarray) -> PatternDatabaseHeuristic:
    """The same from a partition's text and its values."""
    return PatternDatabaseHeuristic(puzzle, PatternDatabase(puzzle.side, parse_partition(puzzle.side, text), values))


def read_database(puzzle: SlidingTiles, path: Path) -> PatternDatabaseHeuristic:
    """The heuristic of a pattern database in a file, with reflections."""
    return PatternDatabaseHeuristic(puzzle, load(path))
