"""Test states from CSV files, with optimal lengths if their authors computed them; Sokoban levels from text files."""

import csv
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from costtogo.files import parse_csv, read_bytes
from costtogo.puzzles import levels_of
from costtogo.puzzles.base import Puzzle, apply
from costtogo.types import States, UserError, excerpt

if TYPE_CHECKING:
    import pandas

STATES = ("scramble", "state", "tiles", "lights")  # columns with states
LEVEL = "level"  # the kind of level files, whose texts are names
OPTIMUM = "optimal_moves_qtm"
OPTIMA = (OPTIMUM, "optimal_moves")  # columns that may have the length of a shortest solution


@dataclass(frozen=True)
class Instances:
    """The states of a file, in its order.

    texts: the content of the file's column `kind`; for levels, their names.  states: uint8 [N, D].
    optimal: float64 [N], moves of a shortest solution; NaN if the file has no such column.
    """

    kind: str
    texts: list[str]
    states: States
    optimal: np.ndarray

    def first(self, count: int) -> "Instances":
        """The first `count` instances of the file; all if there are fewer."""
        return Instances(self.kind, self.texts[:count], self.states[:count], self.optimal[:count])


def load(puzzle: Puzzle, path: Path) -> Instances:
    """The instances of a file such as cube3_qtm.csv or puzzle15.csv: scrambles or states, and optimal lengths if any.

    If each state of the puzzle has its own goal, the path may also be another file, or a folder of files, with levels.
    Raises UserError if a column is missing, or a row is no state of the puzzle.
    """
    if not puzzle.one_goal and path.suffix != ".csv":
        names, states = levels_of(puzzle).read(path)
        return Instances(LEVEL, names, states, np.full(len(names), np.nan))
    from pandas import RangeIndex  # takes a fifth of a second to load; states given by hand do not need it

    content = read_bytes(path)
    frame = parse_csv(path, content, dtype=str, keep_default_na=False)
    kind = next((name for name in STATES if name in frame.columns), None)
    if kind is None:
        raise UserError(f"{path} has no column {' or '.join(STATES)}; its first line names the columns.")
    if frame.empty:
        raise UserError(f"{path} has no instances below its first line.")
    place = partial(_place, path, content)
    if not isinstance(frame.index, RangeIndex):
        raise UserError(f"{place(0)}: there are more cells than the file's first line names.")
    texts = frame[kind].tolist()
    told = next((_whole_numbers(frame[name], place) for name in OPTIMA if name in frame.columns), None)
    optimal = np.full(len(texts), np.nan) if told is None else told.astype(np.float64)
    states = np.array([_parsed(puzzle, kind, text, place, row) for row, text in enumerate(texts)])
    return Instances(kind, texts, states, optimal)


def state_of(puzzle: Puzzle, kind: str, text: str) -> States:
    """The state, uint8 [D], that a text describes: a state, a scramble from the goal, or the path of one level."""
    if kind == "scramble" and not puzzle.one_goal:
        raise UserError(f"There is no one goal of {puzzle.name} that moves could scramble: give --state or --level.")
    if kind == LEVEL and puzzle.one_goal:
        raise UserError(f"There are no levels of {puzzle.name}: give --scramble or --state.")
    if kind != LEVEL:
        return apply(puzzle, puzzle.goal, puzzle.parse_moves(text)) if kind == "scramble" else puzzle.parse_state(text)
    names, states = levels_of(puzzle).read(Path(text))
    if len(names) > 1:
        raise UserError(
            f"{excerpt(text)} has {len(names):,} levels: give it as --instances, and --out, to solve them all."
        )
    return states[0]


def _parsed(puzzle: Puzzle, kind: str, text: str, place: Callable[[int], str], row: int) -> States:
    try:
        return state_of(puzzle, kind, text)
    except UserError as error:
        raise UserError(f"{place(row)}: {error}") from error


def _whole_numbers(column: "pandas.Series", place: Callable[[int], str]) -> np.ndarray:
    """The column as int64; UserError names the first line without a whole number."""
    for row in np.flatnonzero(~column.str.fullmatch(r"[0-9]{1,9}")):
        raise UserError(f"{place(row)}: {column.name} is '{excerpt(column[row])}', not a whole number.")
    return column.to_numpy().astype(np.int64)


def _place(path: Path, content: bytes, row: int) -> str:
    """The file and the line on which a row begins; blank lines and lines within quoted cells count."""
    csv.field_size_limit(sys.maxsize)
    lines = io.StringIO(content.decode(), newline="").readlines()
    reader, begins, rows = csv.reader(lines), 0, 0  # rows before this one, including the one with the column names
    for _ in reader:
        filled = any(line.strip() for line in lines[begins : reader.line_num])
        if filled and rows == row + 1:
            break
        begins, rows = reader.line_num, rows + filled
    return f"{path}, line {begins + 1}"
