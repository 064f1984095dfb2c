"""States drawn in a shell: in colour where the output is a terminal that has colours, else as plain text."""

import os
import sys
from typing import TextIO

from costtogo.puzzles.base import Puzzle
from costtogo.types import States

CUBE = {  # as the WCA holds it: white above, green in front
    "L": "black on dark_orange",
    "U": "black on bright_white",
    "F": "black on green",
    "D": "black on bright_yellow",
    "R": "white on red",
    "B": "white on blue",
}
LEVEL = {"#": "on grey50", "$": "bold yellow", "*": "bold green", ".": "green", "@": "bold cyan", "+": "bold cyan"}
STYLES: dict[str, dict[str, str]] = {  # by family, how each letter of a drawing looks
    "cube2": CUBE,
    "cube3": CUBE,
    "lights_out": {"#": "bold yellow", ".": "grey50"},
    "sokoban": LEVEL,
}


def is_terminal(stream: TextIO) -> bool:
    """True if a person reads the stream on a terminal that can do more than print lines."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def drawn(puzzle: Puzzle, state: States) -> None:
    """Print a state, uint8 [D]. NO_COLOR leaves colours out."""
    drawing = puzzle.draw(state)
    styles = STYLES.get(puzzle.family)
    if styles is None or not is_terminal(sys.stdout) or os.environ.get("NO_COLOR"):
        print(drawing)
        return
    from rich.console import Console
    from rich.text import Text

    text = Text()
    for letter in drawing:
        text.append(letter, style=styles.get(letter))
    Console(highlight=False, soft_wrap=True).print(text)
