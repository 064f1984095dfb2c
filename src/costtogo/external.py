"""Test states from outside, whose optimal lengths their authors computed, read from CSV files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.files import read_csv
from costtogo.puzzles.base import Puzzle, move
from costtogo.types import States, UserError

OPTIMUM = "optimal_moves_qtm"
OPTIMA = (OPTIMUM, "optimal_moves")  # columns that may tell the length of a shortest solution


@dataclass(frozen=True)
class Instances:
    """The states of a file, in its order.

    texts: as the file has them, in its column kind.  states: uint8 [N, D].
    optimal: float64 [N], moves of a shortest solution; NaN where the file has no such column.
    """

    kind: str
    texts: list[str]
    states: States
    optimal: np.ndarray

    def first(self, count: int) -> "Instances":
        """Those at the beginning of the file; all where there are fewer."""
        return Instances(self.kind, self.texts[:count], self.states[:count], self.optimal[:count])


def load(puzzle: Puzzle, path: Path) -> Instances:
    """The instances of a file such as cube3_qtm.csv or puzzle15.csv: scrambles or states, and optimal lengths if any.

    Raises UserError where a column is missing, or a row is none of the puzzle's.
    """
    frame = read_csv(path, dtype=str, keep_default_na=False)
    kind = next((name for name in STATES if name in frame.columns), None)
    if kind is None:
        raise UserError(f"{path} has no column {' or '.join(STATES)}; its first line names the columns.")
    if frame.empty:
        raise UserError(f"{path} has no instances below its first line.")
    texts = frame[kind].tolist()
    told = next((_whole_numbers(frame[name], path) for name in OPTIMA if name in frame.columns), None)
    optimal = np.full(len(texts), np.nan) if told is None else told.astype(np.float64)
    return Instances(kind, texts, STATES[kind](puzzle, texts, path), optimal)


def replay(puzzle: Puzzle, sequences: list[list[int]]) -> States:
    """The state that each sequence of moves makes of the goal, uint8 [N, D]."""
    states = np.repeat(puzzle.goal[None], len(sequences), axis=0)
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    for step in range(lengths.max(initial=0)):
        running = np.flatnonzero(lengths > step)
        actions = np.array([sequences[row][step] for row in running])
        states[running] = move(puzzle, states[running], actions)
    return states


def _of_scrambles(puzzle: Puzzle, texts: list[str], path: Path) -> States:
    """The states after scrambles of the goal."""
    return replay(puzzle, [_parsed(puzzle.parse_moves, text, path, row) for row, text in enumerate(texts)])


def _as_written(puzzle: Puzzle, texts: list[str], path: Path) -> States:
    """The states that the texts are."""
    return np.array([_parsed(puzzle.parse_state, text, path, row) for row, text in enumerate(texts)])


def _parsed(parse: Callable, text: str, path: Path, row: int):
    try:
        return parse(text)
    except UserError as error:
        raise UserError(f"{path}, line {row + 2}: {error}") from error


def _whole_numbers(column: pd.Series, path: Path) -> np.ndarray:
    """The column as int64; UserError names the first line that is no whole number."""
    for row in np.flatnonzero(~column.str.fullmatch(r"\d{1,9}")):
        raise UserError(f"{path}, line {row + 2}: {column.name} is {column[row]!r}, not a whole number.")
    return column.to_numpy().astype(np.int64)


# How the texts of a column become states; a further kind of file is a name here.
STATES = {"scramble": _of_scrambles, "state": _as_written, "tiles": _as_written, "lights": _as_written}
