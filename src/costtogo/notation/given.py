"""A state as a person holds it, and how the moves of its solution are called there."""

from dataclasses import dataclass

from costtogo.puzzles.base import Puzzle
from costtogo.types import States


@dataclass(frozen=True, eq=False)
class Given:
    """What was read of a text.

    state: uint8 [D].  read_as: the text in canonical form.  names: of each action, length A, if the puzzle is held so
    that an action has another name than its own; else None.  goal: the goal that is meant, in words, if it is not the
    default one; else empty.  shown: the state as it is held, uint8 [D], if that is not state itself.
    puzzle: the one that the state is of, where a level needs a larger board than that asked for.
    """

    state: States
    read_as: str
    names: tuple[str, ...] | None = None
    goal: str = ""
    shown: States | None = None
    puzzle: Puzzle | None = None
