"""Boards of sliding tiles, with either goal.

    board = cells row by row, parted by blanks, commas, semicolons, bars, line ends or brackets of a list, or not at all
            where each cell is one character
    tile  = a number | a letter for a number of two digits (A is 10) where nothing parts the cells
    blank = 0 | "_" | "." | "x" | "-" | "*" | "blank" | an empty box | the number of cells, where there is no 0
    move  = ( "U" | "D" | "L" | "R", in small letters too, an arrow, or a word such as "up" ) [ count ]: where the tile
            goes that slides into the blank

The goal has the blank last. A board that cannot reach that goal is solved to the one with the blank first, the goal of
Korf's boards (doi:10.1016/0004-3702(85)90084-0), unless only a few tiles are out of place: then somebody exchanged two.
Boards with an odd side can reach both, so the goal can be named.
"""

import re

import numpy as np

from costtogo.notation import named
from costtogo.notation.given import Given
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import States, UserError, excerpt

PARTING = re.compile(r"""(?:[\s,;|/\[\](){}"'│]|[-+─┌┐└┘├┤┬┴┼]{3,}|(?:np\.)?array|tensor|dtype=[\w.]+)+""")
EMPTY = re.compile(r"""(?<=[,;|│\[(])[ \t"']*(?=[,;|│])|^[ \t"']*(?=[,;])|(?<=[,;])[ \t"']*(?=[\])]|\s*$)""")  # a box
BLANKS = {"_", ".", "x", "-", "b", "*", "blank", "empty", "□", "none", "null", "nan"}
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
ARROWS = str.maketrans("↑↓←→⬆⬇⬅➡", "UDLRUDLR")
OPPOSITE = {"U": "D", "D": "U", "L": "R", "R": "L"}
LAST, FIRST = GOALS = ("last", "first")  # where the blank is
GOAL = "the one with the blank first, as Korf's boards have it"
FEW = 4  # cells of a board that differ from the goal where two tiles were exchanged by hand, or two pairs


def read_state(puzzle: SlidingTiles, text: str, goal: str | None = None) -> Given:
    """A board, uint8 [D]; UserError where it is none, or the goal, any one if none is named, cannot be reached."""
    state = _tiles(puzzle, text)
    if goal != FIRST and puzzle.is_reachable(state[None])[0]:
        return Given(state, puzzle.format_state(state))
    turned, exchanged = blank_first(state), not goal and (state != puzzle.goal).sum() <= FEW
    if goal == LAST or exchanged or not puzzle.is_reachable(turned[None])[0]:
        raise UserError(
            "Impossible board: two tiles are exchanged, which sliding never does to just two, so the goal "
            f"{f'with the blank {goal} ' if goal else ''}cannot be reached."
        )
    return _turned(puzzle, turned, puzzle.format_state(state))


def _turned(puzzle: SlidingTiles, turned: States, read_as: str) -> Given:
    """A board that is held turned by 180°, where tiles go the other way."""
    names = tuple(OPPOSITE[name] for name in puzzle.actions)
    return Given(turned, read_as, names, GOAL, blank_first(turned))


def blank_first(state: States) -> States:
    """A board with the blank first in its goal as one with it last, or back: turned by 180°, numbered backwards."""
    turned = state[::-1]
    return np.where(turned == BLANK, BLANK, len(state) - turned).astype(np.uint8)


def _tiles(puzzle: SlidingTiles, text: str) -> States:
    cells = [cell for cell in PARTING.split(text.lower()) if cell]
    if len(cells) == puzzle.cells - 1:
        cells = [cell for cell in PARTING.split(EMPTY.sub(" _ ", text.lower())) if cell]
    if len(cells) == puzzle.side and all(len(cell) == puzzle.side for cell in cells):
        cells = ["".join(cells)]
    if len(cells) == 1 and "-" not in cells[0][1:-1]:
        cells = [str(DIGITS.index(cell)) if cell in DIGITS[: puzzle.cells] else cell for cell in cells[0]]
    if len(cells) == 1 and cells[0].count("-") == puzzle.cells - 1:
        cells = cells[0].split("-")
    if len(cells) == puzzle.cells + 1 and re.fullmatch(r"\d+[.:)]?", cells[0]):  # a number, as Korf's boards have it
        cells = cells[1:]
    cells = ["0" if cell in BLANKS else re.sub(r"(?<=\d)\.0*$", "", cell) for cell in cells]
    if "0" not in cells:
        cells = ["0" if cell == str(puzzle.cells) else cell for cell in cells]
    for place, cell in enumerate(cells):
        if not (cell.isascii() and cell.isdigit() and len(cell) < 4 and int(cell) < puzzle.cells):
            raise UserError(
                f"Unknown tile '{excerpt(cell)}' in cell {place + 1}: those of {puzzle.name} are 1 to "
                f"{puzzle.cells - 1}, and 0 or _ is the blank."
            )
    if len(cells) != puzzle.cells:
        raise UserError(
            f"{puzzle.name} has {puzzle.cells} cells, row by row with 0 for the blank, but {len(cells)} were given."
        )
    state = np.array([int(cell) for cell in cells], dtype=np.uint8)
    counts = np.bincount(state, minlength=puzzle.cells)
    if (counts == 0).any():
        missing, twice = counts.argmin(), counts.argmax()
        raise UserError(f"Impossible board: {missing or 'the blank'} is missing and {twice} is there more than once.")
    return state


def read_scramble(puzzle: SlidingTiles, text: str, start: States | None = None, goal: str | None = None) -> Given:
    """The board that moves make of another, the goal if none is given."""
    text = re.sub(r"\b(U|D|L|R)(?:P|OWN|EFT|IGHT)\b", r"\1", text.upper().translate(ARROWS))
    text = re.sub(r"([UDLR])(\d{1,4})", r"(\1)\2", text)
    if goal != FIRST:
        return named.read_scramble(puzzle, text, start)
    other = str.maketrans(OPPOSITE)
    given = named.read_scramble(puzzle, text.translate(other), start)
    return _turned(puzzle, given.state, given.read_as.translate(other))
