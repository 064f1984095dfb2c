"""What Sokoban has in place of one goal of all states: levels, walks back from their solved states, their listing."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from costtogo.exact.sokoban import UNREACHED, LevelTable, list_level
from costtogo.learning.level_walks import solved_levels, walk_ends
from costtogo.learning.levels import draw_levels, is_of_part, read_levels, read_with_room
from costtogo.params.training import LevelSampler
from costtogo.puzzles.sokoban import Sokoban
from costtogo.types import CostToGo, States, UserError

TRAINING_SEED = 0  # of the levels that trainings see: the same for all of one board and number of boxes
PULLS = 0.5  # the chance that a walk pulls where it can, where nothing else is said
OF_LEVEL = 500  # states of a level that is listed for a training
WALKS, LONGEST = 40, 80  # to solved states of such a level, and their most steps
NOISE = 0.7  # the largest share of a walk's steps that are random


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
        _, solved = training_levels(self.puzzle, sampler.levels, sampler.boxes)
        return walk_ends(self.puzzle, solved, count, (1, walk_max), sampler.pulls, generator)

    def measured(
        self, sampler: LevelSampler, count: int, walk_max: int, generator: np.random.Generator
    ) -> tuple[States, CostToGo]:
        """Training states as a search comes by them, uint8 [count, D], with their fewest steps, float32 [count].

        They lie on walks to solved states, most steps by a shortest way and some at random, in levels that are listed
        for it: half of these walks begin at the start of a level, and half at ends of walks back.
        """
        states, steps = [], []
        starts, solved = training_levels(self.puzzle, sampler.levels, sampler.boxes)
        for row in generator.integers(len(starts), size=-(-count // OF_LEVEL)):
            table, own = self.table(starts[row]), slice(row, row + 1)
            ends = walk_ends(self.puzzle, solved[own], WALKS // 2, (1, walk_max), sampler.pulls, generator)
            begun = table.ranks(np.concatenate([np.repeat(starts[own], WALKS // 2, axis=0), ends]))
            begun = begun[table.distance[begun] != UNREACHED]
            random, noise = generator.random((len(begun), LONGEST, 2)), NOISE * generator.random(len(begun))
            ranks = np.resize(generator.permutation(np.unique(table.walks(begun, random, noise))), OF_LEVEL)
            states.append(table.states_of(ranks))
            steps.append(table.distance[ranks])
        return np.concatenate(states)[:count], np.concatenate(steps)[:count].astype(np.float32)

    def walk_ends(self, levels: States, count: int, length: tuple[int, int], generator: np.random.Generator) -> States:
        """The ends of walks back from the solved states of some levels, uint8 [L, D]: uint8 [count, D]."""
        return walk_ends(self.puzzle, solved_levels(levels), count, length, PULLS, generator)

    def table(self, level: States) -> LevelTable:
        """The fewest steps of all states of the level that a state, uint8 [D], belongs to."""
        return list_level(self.puzzle, level)


@lru_cache(maxsize=4)
def training_levels(puzzle: Sokoban, levels: int | str, boxes: int) -> tuple[States, States]:
    """The levels of a training, at their starts and solved, uint8 [L, D]: that many generated ones, or those of a
    folder that are for training."""
    if isinstance(levels, int):
        drawn = draw_levels(puzzle, levels, boxes, TRAINING_SEED, "training")
        return drawn, solved_levels(drawn)
    _, read = read_levels(puzzle, Path(levels))
    read = read[is_of_part(puzzle, read, "training")]
    if not len(read):
        raise UserError(f"The levels of {levels} are all set apart for choosing and testing: give more of them.")
    return read, solved_levels(read)
