"""Boards of Lights Out.

board = lights row by row, parted as the cells of tiles are, or not at all
light = 1, "x", "#", "o", "*", "on", "true" or a filled box where it is on
      | 0, ".", "-", "_", "off", "false" or an empty box where it is off
press = "r2c3", the third light of the second row
"""

import re

import numpy as np

from costtogo.notation import named
from costtogo.notation.given import Given
from costtogo.notation.tiles import PARTING
from costtogo.puzzles.lights_out import LightsOut
from costtogo.types import States, UserError, excerpt

ON = {"1", "x", "#", "o", "*", "on", "true", "■", "●", "█", "⬛"}
OFF = {"0", ".", "-", "_", "off", "false", "□", "○", "⬜"}


def read_state(puzzle: LightsOut, text: str) -> Given:
    """A board of lights, uint8 [D], 1 where one is on; UserError where it is none, or cannot be switched off."""
    cells = list(re.sub(r"[\s,;|]+", "", text.lower()))  # one sign a light, where a row of "-" is no line of a table
    if len(cells) != puzzle.cells:
        cells = [cell for cell in PARTING.split(text.lower()) if cell]
    if any(cell not in ON | OFF for cell in cells):
        cells = list("".join(cells))
    for place, cell in enumerate(cells):
        if cell not in ON | OFF:
            raise UserError(
                f"Unknown light '{excerpt(cell)}' in cell {place + 1}: a light is 1 where it is on, else 0."
            )
    if len(cells) != puzzle.cells:
        joined = list("".join(cells))
        if len(joined) != puzzle.cells:
            raise UserError(f"{puzzle.name} has {puzzle.cells} lights, row by row, but {len(cells)} were given.")
        cells = joined
    state = np.array([cell in ON for cell in cells], dtype=np.uint8)
    if not puzzle.is_reachable(state[None])[0]:
        raise UserError(
            f"Impossible board: no presses switch these lights off; of {2 ** len(puzzle.quiet)} boards of "
            f"{puzzle.name} one can be solved."
        )
    return Given(state, puzzle.format_state(state))


def read_scramble(puzzle: LightsOut, text: str, start: States | None = None) -> Given:
    """The board that presses make of another, the goal if none is given."""
    return named.read_scramble(puzzle, text.lower(), start)
