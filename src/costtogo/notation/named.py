"""Puzzles whose moves have names, and whose states are a letter for each cell: those of files and of other packages.

state = letters, parted by blanks, commas, semicolons or bars, or not at all where each is one character
move  = a name of the puzzle's moves, "'" behind it or "-" before it for the inverse, "^2" to repeat it
"""

import re
from functools import lru_cache

from costtogo.notation import sequences
from costtogo.notation.given import Given
from costtogo.puzzles.base import SHOWN, Puzzle, apply
from costtogo.types import NO_ACTION, States, UserError, excerpt


def read_state(puzzle: Puzzle, text: str) -> Given:
    """A state by the puzzle's own reader, whatever parts its letters."""
    try:
        state = puzzle.parse_state(text)
    except UserError:
        plain = re.sub(r"[\s,;|\[\]]+", " ", text).strip()
        if plain == text.strip():
            raise
        state = puzzle.parse_state(plain)
    return Given(state, puzzle.format_state(state))


def read_scramble(puzzle: Puzzle, text: str, start: States | None = None) -> Given:
    """The state that moves make of another, the goal if none is given; UserError for an unknown or illegal move."""
    if start is None and not puzzle.one_goal:
        raise UserError(f"There is no one goal of {puzzle.name} that moves could scramble: give --state or --level.")
    actions = sequences.read(text, _family(puzzle))
    return Given(apply(puzzle, puzzle.goal if start is None else start, actions), puzzle.format_moves(actions))


@lru_cache(maxsize=16)
def _family(puzzle: Puzzle) -> sequences.Family:
    """How the moves of a puzzle are written: its own names, the longest first."""
    numbers = {name: action for action, name in enumerate(puzzle.actions)}
    names = "|".join(re.escape(name) for name in sorted(numbers, key=len, reverse=True))
    pattern = re.compile(rf"(-?)({names})(?:\^(\d{{1,6}}))?('?)|({names})")
    known = ", ".join(puzzle.actions[:SHOWN]) + (" …" if len(puzzle.actions) > SHOWN else "")

    def inverse(action: int) -> int:
        if (undone := puzzle.inverse(action)) == NO_ACTION:
            raise UserError(f"No move of {puzzle.name} undoes {excerpt(puzzle.actions[action])}.")
        return undone

    def moves(found: re.Match) -> list[int]:
        before, name, count, behind, alone = found.groups()
        action = numbers[name or alone]
        return [inverse(action) if before or behind else action] * int(count or 1)

    return sequences.Family(pattern, moves, inverse, f"one of the moves {known} of {puzzle.name}, or a bracket")
