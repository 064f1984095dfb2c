"""Levels of Sokoban for training, selection and test: read from text files, or generated, and kept apart for good.

Two levels with the same walls and targets have the same layout, however it is turned. Each layout belongs to one part
of all, so that no network is trained on a level that it is chosen by or tested on.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.hashing import hash_states
from costtogo.exact.sokoban import bare
from costtogo.files import read_text
from costtogo.learning.level_generator import generate
from costtogo.notation.levels import Level, with_room
from costtogo.notation.levels import read_levels as levels_of_text
from costtogo.puzzles.sokoban import WALL, Sokoban
from costtogo.types import States, UserError

SHARES = 10  # of all layouts, by their hash
PARTS = {"training": (0, 8), "selection": (8, 9), "test": (9, 10)}  # from which share of layouts to which


def read_levels(puzzle: Sokoban, path: Path) -> tuple[list[str], States]:
    """The levels of a text file, or of all files *.txt of a folder in the order of their names: uint8 [N, D].

    The forms of files are those of costtogo.notation.levels. A level's name is its title, else its number in the file,
    from 0; of a folder with the file's: "17" of a file, "000/17".
    Raises UserError where there is no level, and with file and line where one is none of the puzzle's.
    """
    return _read(path, lambda levels: puzzle)[1:]


def read_with_room(puzzle: Sokoban, path: Path) -> tuple[Sokoban, list[str], States]:
    """The same of levels of any size, after the board that has room for all: the puzzle, or a larger one."""
    return _read(path, lambda levels: with_room(puzzle, levels))


def _read(path: Path, board_of: Callable[[list[Level]], Sokoban]) -> tuple[Sokoban, list[str], States]:
    """The board of the levels of a path, their names and states."""
    files = sorted(path.glob("*.txt")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"The folder {path} has no levels: they stand in files *.txt, and it has none.")
    levels = [(file, level) for file in files for level in _levels_of(file)]
    names = [f"{file.stem}/{level.name}" if path.is_dir() else level.name for file, level in levels]
    puzzle = board_of([level for _, level in levels])
    return puzzle, names, np.array([_parsed(puzzle, *each) for each in levels])


def draw_levels(puzzle: Sokoban, count: int, boxes: int, seed: int, part: str) -> States:
    """The first of the levels that generate makes whose layouts belong to a part of all, uint8 [count, D].

    Raises UserError where there are fewer.
    """
    asked = count + 100
    while True:
        try:
            made = generate(puzzle, asked, boxes, seed)
        except UserError as error:
            raise UserError(f"There are no {count:,} levels of {puzzle.name} for {part}: {error}") from error
        levels = made[is_of_part(puzzle, made, part)]
        if len(levels) >= count:
            return levels[:count]
        asked = int(1.2 * count * asked / max(1, len(levels))) + 100


def is_new_layout(puzzle: Sokoban, states: States, *others: States) -> np.ndarray:
    """Which states, uint8 [N, D], have walls and targets that none of the others has, however turned: bool [N].

    Turned and mirrored ones count as the same: in 8 ways on a square board, in 4 on another. Layouts are compared by
    64-bit hashes: in one of very many cases a new one is taken for a known one, never the other way round.
    """
    known = [_layouts(puzzle, other) for other in others]
    return ~np.isin(_layouts(puzzle, states), np.concatenate(known)) if known else np.ones(len(states), dtype=bool)


def is_of_part(puzzle: Sokoban, states: States, part: str) -> np.ndarray:
    """Which states have walls and targets, however turned, that are for training, selection or test: bool [N].

    Each layout belongs to one part for good, by its hash: four in five to training, one in ten to each of the others.
    So sets drawn for different ends have no layout in common, wherever their levels come from.
    """
    first, last = PARTS[part]
    share = _layouts(puzzle, states) % np.uint64(SHARES)
    return (first <= share) & (share < last)


def _levels_of(file: Path) -> list[Level]:
    """The levels of a file as they are written; UserError if there is none."""
    try:
        return levels_of_text(read_text(file))
    except UserError as error:
        raise UserError(f"{file}: {error}") from error


def _parsed(puzzle: Sokoban, file: Path, level: Level) -> States:
    try:
        return puzzle.parse_state("\n".join(level.rows))
    except UserError as error:
        raise UserError(f"{file}, line {level.line}: {error}") from error


def _layouts(puzzle: Sokoban, states: States) -> np.ndarray:
    """A hash of the walls and targets of each state, the same however they are turned or moved: uint64 [N]."""
    layouts, columns = bare(states), puzzle.columns
    return np.min([hash_states(puzzle, _moved_up(layouts[:, cells], columns)) for cells in _turned(puzzle)], axis=0)


def _turned(puzzle: Sokoban) -> list[np.ndarray]:
    """Where each cell comes from when the board is mirrored and, if square, turned: int64 [D] each."""
    board = np.arange(puzzle.cells).reshape(puzzle.rows, puzzle.columns)
    turned = [board, board.T] if puzzle.side else [board]
    return [cells[::down, ::right].ravel() for cells in turned for down in (1, -1) for right in (1, -1)]


@njit(cache=True)
def _moved_up(layouts, columns):
    """Layouts, uint8 [N, D], moved up and to the left until the first row and column have a cell that is no wall."""
    moved = np.full_like(layouts, WALL)
    for row in range(len(layouts)):
        top = left = layouts.shape[1]
        for cell in range(layouts.shape[1]):
            if layouts[row, cell] != WALL:
                top, left = min(top, cell // columns), min(left, cell % columns)
        for cell in range(layouts.shape[1]):
            if layouts[row, cell] != WALL:
                moved[row, cell - top * columns - left] = layouts[row, cell]
    return moved
