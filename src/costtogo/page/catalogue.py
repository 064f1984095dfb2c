"""The puzzles that the page offers, their states and scrambles. Nothing here needs a network or loads torch."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from costtogo import notation
from costtogo.notation.given import Given
from costtogo.notation.levels import read_levels
from costtogo.page.schemas import Position
from costtogo.puzzles import levels_of, make, title
from costtogo.puzzles.base import Puzzle
from costtogo.puzzles.cube import Cube
from costtogo.types import States, UserError, excerpt

KINDS = {"cube2": "cube", "cube3": "cube", "lights_out": "lights"}  # by family; the others' own names elsewhere
SCRAMBLES = {  # the puzzles offered, and the moves of a scramble where none are asked for
    "cube2": 15,
    "cube3": 25,
    "puzzle8": 80,
    "puzzle15": 200,
    "puzzle24": 400,
    "puzzle35": 700,
    "puzzle48": 1000,
    "lights_out_5": 15,
    "lights_out_7": 30,
    "hanoi_3": 40,
    "hanoi_4": 80,
    "hanoi_7": 400,
    "sokoban": 0,
}
BOXES = 3  # of a generated level


class Scramble(NamedTuple):
    """A state, uint8 [D], and the moves from the goal to it; none for a generated level."""

    actions: list[int]
    state: States


def find(name: str) -> Puzzle:
    """A puzzle that the page offers; UserError for any other name."""
    if name not in SCRAMBLES:
        raise UserError(f"The page has no puzzle '{excerpt(name)}', only {', '.join(SCRAMBLES)}.")
    return make(name)


def describe(name: str) -> dict:
    """The fields of PuzzleInfo that do not depend on networks."""
    puzzle = make(name)
    return {
        "name": name,
        "title": title(name),
        "kind": KINDS.get(puzzle.family, puzzle.family),
        "side": side(puzzle),
        "cells": puzzle.cells,
        "letters": puzzle.letters,
        "actions": list(puzzle.actions),
        "turns": None if puzzle.turns is None else puzzle.turns.tolist(),
        "goal": puzzle.goal.tolist(),
        "goal_text": puzzle.format_state(puzzle.goal),
        "start_text": None if puzzle.start is None else puzzle.format_state(puzzle.start),
        "one_goal": puzzle.one_goal,
        "scramble_length": SCRAMBLES[name],
    }


def side(puzzle: Puzzle) -> int:
    """Cells in a row of a board or of a face of a cube; the pegs of a tower."""
    if puzzle.disks:
        return puzzle.letters
    return puzzle.side or math.isqrt(puzzle.cells // 6)


def scramble(puzzle: Puzzle, length: int | None, seed: int) -> Scramble:
    """A walk from the goal that never undoes a move, or a generated level where each state has a goal of its own."""
    if not puzzle.one_goal:
        if length is not None:
            raise UserError(f"A level of {puzzle.name} is generated and has no length of a scramble: leave it out.")
        return Scramble([], levels_of(puzzle).draw(1, BOXES, seed, "test")[0])
    moves = SCRAMBLES[puzzle.name] if length is None else length
    if not moves:
        return Scramble([], puzzle.goal)
    states, steps = puzzle.walk(np.random.default_rng(seed).random((1, moves + 1)))
    return Scramble(steps[0, :moves].tolist(), states[0, -1])


def read_state(puzzle: Puzzle, text: str, level: int) -> tuple[Given, list[str]]:
    """What a text says, and the titles of its levels where it has several, of which it reads the one of a number."""
    if puzzle.family != "sokoban" or len(levels := read_levels(text)) == 1:
        return notation.read(puzzle, text, notation.STATE), []
    if level >= len(levels):
        raise UserError(f"There is no level {level}: the text has {len(levels)}, from 0.")
    try:
        given = notation.read(puzzle, "\n".join(levels[level].rows), notation.STATE)
    except UserError as error:
        raise UserError(f"Level {excerpt(levels[level].name)}, at line {levels[level].line}: {error}") from error
    return given, [each.name for each in levels]


def state_of_cells(puzzle: Puzzle, cells: list[int]) -> Given:
    """A state painted cell by cell, checked in the same way as a text; UserError if it is impossible."""
    if len(cells) != puzzle.cells:
        raise UserError(f"{puzzle.name} has {puzzle.cells} cells, but {len(cells)} were given.")
    for place, cell in enumerate(cells):
        if not 0 <= cell < puzzle.letters:
            raise UserError(f"Cell {place} of {puzzle.name} holds a number from 0 to {puzzle.letters - 1}, not {cell}.")
    return notation.read(puzzle, puzzle.format_state(np.array(cells, dtype=np.uint8)), notation.STATE)


def state_of_moves(puzzle: Puzzle, start: States, moves: str) -> tuple[list[int], Given]:
    """The actions of a text of moves and the state after them; UserError for an unknown or illegal move.

    Without actions if the moves are others than the puzzle's own, such as turns of the whole cube.
    """
    given = notation.read(puzzle, moves, notation.SCRAMBLE, start)
    try:
        return puzzle.parse_moves(given.read_as), given
    except UserError:
        return [], given


def colours_of(puzzle: Puzzle, given: Given) -> list[int] | None:
    """The number of the colour that each face of a cube has as it is held; None of other puzzles."""
    if not isinstance(puzzle, Cube) or given.shown is None:
        return None
    return given.shown[np.unique(given.state, return_index=True)[1]].tolist()


def position(
    puzzle: Puzzle, state: States, kind: type[Position] = Position, actions: Iterable[int] = (), **more: Any
) -> Position:
    """A state, uint8 [D], as the page shows it.  kind: the answer to make.  actions: those that led to it.

    more: other fields of the answer.
    """
    return kind(
        state=puzzle.format_state(state),
        cells=state.tolist(),
        solved=bool(puzzle.is_goal(state[None])[0]),
        legal=puzzle.legal(state[None])[0].tolist(),
        actions=[puzzle.actions[action] for action in actions],
        **more,
    )
