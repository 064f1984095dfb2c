"""What Sokoban has in place of one goal of all states: levels, walks back from their solved states, their listing."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from costtogo.exact.sokoban import LevelTable, list_level
from costtogo.heuristics.dead_squares import WithDeadSquares
from costtogo.learning.level_walks import solved_levels, walk_ends
from costtogo.learning.levels import draw_levels, is_of_part, read_levels, read_with_room
from costtogo.params.training import LevelSampler
from costtogo.puzzles.sokoban import Sokoban
from costtogo.types import ActionHeuristic, States, UserError

TRAINING_SEED = 0  # of the levels that trainings see: the same for all of one board and number of boxes
PULLS = 0.5  # the chance that a walk pulls where it can, where nothing else is said


class Levels:
    """Levels of one board."""

    def __init__(self, puzzle: Sokoban):
        self.puzzle = puzzle

    def draw(self, count: int, boxes: int, seed: int, part: str) -> States:
        """Starts of generated levels of a part of all layouts, training, selection or test: uint8 [count, D]."""
        return draw_levels(self.puzzle, count, boxes, seed, part)

    def read(self, path: Path) -> tuple[list[str], States]:
        """The names of the levels of a text file or a folder of them, and their starts, uint8 [N, D]."""
        return read_levels(self.puzzle, path)

    def read_with_room(self, path: Path) -> tuple[Sokoban, list[str], States]:
        """The same of levels of any size, after the board that has room for all of them."""
        return read_with_room(self.puzzle, path)

    def sample(self, sampler: LevelSampler, count: int, walk_max: int, generator: np.random.Generator) -> States:
        """Training states: the ends of walks back from the levels of a sampler, uint8 [count, D]."""
        solved = training_levels(self.puzzle, sampler.levels, sampler.boxes)
        return walk_ends(self.puzzle, solved, count, (1, walk_max), sampler.pulls, generator)

    def walk_ends(self, levels: States, count: int, length: tuple[int, int], generator: np.random.Generator) -> States:
        """The ends of walks back from the solved states of some levels, uint8 [L, D]: uint8 [count, D]."""
        return walk_ends(self.puzzle, solved_levels(levels), count, length, PULLS, generator)

    def with_dead_squares(self, heuristic: ActionHeuristic) -> WithDeadSquares:
        """A heuristic that gives up states with a box on a square from which it can be pushed to no target."""
        return WithDeadSquares(self.puzzle, heuristic)

    def table(self, level: States) -> LevelTable:
        """The fewest steps of all states of the level that a state, uint8 [D], belongs to."""
        return list_level(self.puzzle, level)


@lru_cache(maxsize=4)
def training_levels(puzzle: Sokoban, levels: int | str, boxes: int) -> States:
    """The solved levels of a training, uint8 [L, D]: that many generated ones, or those of a folder for training."""
    if isinstance(levels, int):
        return solved_levels(draw_levels(puzzle, levels, boxes, TRAINING_SEED, "training"))
    _, read = read_levels(puzzle, Path(levels))
    read = read[is_of_part(puzzle, read, "training")]
    if not len(read):
        raise UserError(f"The levels of {levels} are all set apart for choosing and testing: give more of them.")
    return solved_levels(read)
