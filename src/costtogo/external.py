"""Test states from outside, read from tables, with optimal lengths if their authors computed them; levels of Sokoban
from text files."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from costtogo import notation
from costtogo.files import read_bytes
from costtogo.notation import levels
from costtogo.notation.given import Given
from costtogo.notation.tables import Row, read_table
from costtogo.puzzles import levels_of
from costtogo.puzzles.base import Puzzle
from costtogo.types import States, UserError, excerpt

LEVEL = "level"  # the kind of level files, whose texts are names
UNKNOWN = ("", "-", "?", "na", "n/a", "nan", "none", "null", "unknown")
WHOLE = re.compile(r"[0-9]{1,9}(\.0*)?")
OPTIMUM = "optimal_moves_qtm"  # the column that the project's own files have


@dataclass(frozen=True)
class Instances:
    """The states of a file, in its order.

    kind: the column that the states are from, "state" if the file names none.  texts: its cells; for levels, their
    names.  given: how each state is held.  states: uint8 [N, D].  optimal: float64 [N], moves of a shortest solution;
    NaN if unknown.  others: the further columns, by name.  faults: by row what is wrong with it, if such rows are kept;
    their states are the goal.
    """

    kind: str
    texts: list[str]
    given: list[Given]
    optimal: np.ndarray
    others: dict[str, list[str]] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)

    @property
    def states(self) -> States:
        """The states, uint8 [N, D]."""
        return np.array([each.state for each in self.given])

    def first(self, count: int) -> "Instances":
        """Those at the beginning of the file; all where there are fewer."""
        return Instances(self.kind, self.texts[:count], self.given[:count], self.optimal[:count])


def load(puzzle: Puzzle, path: Path, keep_going: bool = False, goal: str | None = None) -> Instances:
    """The instances of a file such as cube3_qtm.csv or puzzle15.csv: scrambles or states, and optimal lengths if any.

    If each state has its own goal, any file but a CSV, or a folder of them, is one of levels.  keep_going: keep rows
    that cannot be read as faults.  goal: as of notation.read.

    UserError names the line of the first row that cannot be read otherwise, or says what the file lacks.
    """
    if not puzzle.one_goal and path.suffix.lower() != ".csv":
        board, names, states = levels_of(puzzle).read_with_room(path)
        given = [Given(state, name, puzzle=board) for name, state in zip(names, states, strict=True)]
        return Instances(LEVEL, names, given, np.full(len(names), np.nan))
    content = read_bytes(path)
    try:
        table = read_table(content, lambda kind, text: _reads(puzzle, kind, text))
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    given, optimal, faults = [], np.full(len(table.rows), np.nan), {}
    for place, row in enumerate(table.rows):
        try:
            given.append(notation.read(puzzle, row.text, table.kind, goal=goal))
            optimal[place] = _whole_number(row, table.optima)
        except UserError as error:
            if not keep_going:
                raise UserError(f"{path}, line {row.line}: {error}") from error
            faults[place] = str(error)
            given[place:] = [Given(puzzle.goal, row.text)]
    others = {name: [row.cells.get(name, "") for row in table.rows] for name in table.rows[0].cells}
    return Instances(table.column, [row.text for row in table.rows], given, optimal, others, faults)


def given_of(puzzle: Puzzle, kind: str, text: str, goal: str | None = None) -> Given:
    """What a text of an option is: a scramble, a state, or the file of a level, which may be larger than the puzzle.

    Raises UserError where it is none of the puzzle's, or a move is unknown or not legal.
    """
    if kind == LEVEL:
        if puzzle.one_goal:
            raise UserError(f"There are no levels of {puzzle.name}: give --scramble or --state.")
        board, names, states = levels_of(puzzle).read_with_room(Path(text))
        if len(names) > 1:
            raise UserError(
                f"{excerpt(text)} has {len(names):,} levels: give it as --instances, and --out, to solve them all."
            )
        return Given(states[0], board.format_state(states[0]), puzzle=board)
    if not puzzle.one_goal and kind == notation.STATE:
        board = levels.with_room(puzzle, levels.read_levels(text))
        return replace(levels.read_state(board, text), puzzle=board)
    return notation.read(puzzle, text, kind, goal=goal)


def _reads(puzzle: Puzzle, kind: str, text: str) -> bool:
    """Whether a text is a state, or a scramble, of a puzzle."""
    try:
        return bool(text.strip()) and notation.read(puzzle, text, kind) is not None
    except UserError:
        return False


def _whole_number(row: Row, column: str | None) -> float:
    """The optimum of a row; NaN if it is unknown. UserError if it is no whole number."""
    if row.optimum.lower() in UNKNOWN:
        return np.nan
    if not WHOLE.fullmatch(row.optimum):
        raise UserError(f"{column} is '{excerpt(row.optimum)}', not a whole number.")
    return float(row.optimum)
