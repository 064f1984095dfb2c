"""What people type and bring: sequences of moves, states of each family, tables of states, level collections.

A reader turns text into a Given: the state, and in one line what was understood, so that a person sees it. What cannot
be read is one sentence with the place and what was expected there. docs/notation.md has the grammars and their sources.
"""

from importlib import import_module

from costtogo.notation.given import Given
from costtogo.puzzles import find
from costtogo.puzzles.base import Puzzle
from costtogo.types import States, UserError

SCRAMBLE, STATE = "scramble", "state"


def read(puzzle: Puzzle, text: str, kind: str = "", start: States | None = None, goal: str | None = None) -> Given:
    """What a text is: a scramble, a state (whatever else its kind), or either if no kind is named.

    start: the state that a scramble begins at, uint8 [D]; the goal if left out.  goal: which one, of sliding tiles,
    notation.tiles.GOALS; what the state allows if left out.

    UserError if it is neither: as a scramble, if at least its first move is one, else as a state.
    """
    reader = import_module(find(puzzle.name)[0].notation)
    refuse_goal(puzzle, goal)
    text = text.replace("\\n", "\n")  # as shells leave it in quotation marks
    which = {"goal": goal} if goal else {}
    if kind == SCRAMBLE:
        return reader.read_scramble(puzzle, text, start, **which)
    if kind:
        return reader.read_state(puzzle, text, **which)
    try:
        return reader.read_state(puzzle, text, **which)
    except UserError as error:
        as_state = error
    try:
        return reader.read_scramble(puzzle, text, start, **which)
    except UserError as error:
        raise (as_state if "at character 1:" in str(error) or not puzzle.one_goal else error) from None


def refuse_goal(puzzle: Puzzle, goal: str | None) -> None:
    """UserError if a goal is named of a puzzle that has one alone."""
    if goal and puzzle.family != "sliding":
        raise UserError(f"There is no other goal of {puzzle.name}: --goal is for sliding tiles.")
