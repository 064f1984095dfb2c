"""Permutation puzzles described by JSON files: where the files are and what they contain.

A file <name>.json is in the folder that COSTTOGO_PUZZLES names, else in data/puzzles. docs/own_puzzle.md describes its
content. A file is data only: nothing in it is run, and a file that makes no puzzle is refused in one sentence.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from costtogo.files import read_bytes
from costtogo.types import UserError, excerpt

VARIABLE = "COSTTOGO_PUZZLES"
DEFAULT = Path("data/puzzles")
NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")  # also the stem of file names
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
NEEDED = ("name", "goal", "written_as", "moves")
OTHERS = ("title", "noun", "source", "states", "shapes", "colours")
KINDS = ("cycles", "to", "from")  # of moves
LARGEST_FILE = 1_000_000  # bytes
LARGEST_STATES = 10**200
UNKNOWN = "unknown"  # how many states there are
MOST_CELLS = 1000
MOST_LETTERS = 255  # in one cell of a state, a byte
MOST_MOVES = 120  # move numbers are int8
MOST_CORNERS = 40  # of a shape
LONGEST_LETTER = 8
LONGEST_MOVE = 20
LONGEST_WORDS = 60  # of a title
_elsewhere: dict[str, Path] = {}  # puzzle -> its file outside the folder, named by its path


@dataclass(frozen=True, eq=False)
class PuzzleFile:
    """The content of a puzzle's file.

    goal: the letter of each cell, as an index into `alphabet`, length D.  moves: their names, length A.
    turns: where each cell's letter comes from under each move, A rows of length D.
    states: the number of reachable states, "unknown", or None if the file does not say, so that they are counted.
    shapes: the corners (x, y) of each cell in a picture, y upwards; 0 or D of them.
    colours: for letters that have one, as "#rrggbb".
    """

    name: str
    title: str
    noun: str
    alphabet: tuple[str, ...]
    goal: tuple[int, ...]
    moves: tuple[str, ...]
    turns: tuple[tuple[int, ...], ...]
    states: int | Literal["unknown"] | None
    shapes: tuple[tuple[tuple[float, float], ...], ...]
    colours: dict[str, str]

    @cached_property
    def rules(self) -> dict[str, Any]:
        """The rules that a network trained on the puzzle depends on, as plain values."""
        letters = [self.alphabet[letter] for letter in self.goal]
        return {"goal": letters, "moves": {name: list(turn) for name, turn in zip(self.moves, self.turns, strict=True)}}


def folder() -> Path:
    """The folder of the files: the one that the environment names, else data/puzzles."""
    return Path(os.environ.get(VARIABLE) or DEFAULT)


def let_be_found(path: Path) -> str:
    """Let this process also find a file outside the folder; returns the name of its puzzle."""
    _elsewhere[path.stem] = path.absolute()  # the working folder may change
    return path.stem


def path_of(name: str) -> Path | None:
    """The file of a puzzle; None if no file has this name."""
    if not NAME.fullmatch(name):
        return None
    candidates = (_elsewhere.get(name), folder() / f"{name}.json")
    return next((path for path in candidates if path and path.is_file()), None)


def names() -> list[str]:
    """The names of all puzzles that have files, sorted."""
    return sorted(path.stem for path in folder().glob("*.json") if NAME.fullmatch(path.stem))


def read(path: Path) -> PuzzleFile:
    """Read a file; if it makes no puzzle, UserError in one sentence with the file and the key."""
    if path.stat().st_size > LARGEST_FILE:
        raise UserError(f"{path} has {path.stat().st_size:,} bytes; the file of a puzzle has up to {LARGEST_FILE:,}.")
    return _parsed(read_bytes(path), path)


@lru_cache(maxsize=64)
def _parsed(content: bytes, path: Path) -> PuzzleFile:
    """The puzzle in a file's content; cached, so that the same content is the same puzzle."""
    try:
        said = json.loads(content.decode(), object_pairs_hook=_without_doubles, parse_constant=_no_number)
        return parse(said, path.stem)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"{path} is not valid JSON ({excerpt(str(error) or type(error).__name__)}).") from error
    except ValueError as error:
        raise UserError(f"{path}: {error}.") from error


def text_of(said: dict[str, Any]) -> str:
    """The content of a file as text: a line for each key, and for each move and shape."""
    parts = []
    for key, value in said.items():
        text = json.dumps(value, ensure_ascii=False)
        if key == "moves":
            lines = [f"    {json.dumps(name, ensure_ascii=False)}: {json.dumps(move)}" for name, move in value.items()]
            text = "{\n" + ",\n".join(lines) + "\n  }"
        if key == "shapes":
            text = "[\n" + ",\n".join(f"    {json.dumps(shape)}" for shape in value) + "\n  ]"
        parts.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def parse(said: Any, name: str) -> PuzzleFile:
    """The puzzle that a table of values describes; name: the stem of its file.

    Raises ValueError with the middle of a sentence: what is wrong, and what to do.
    """
    _check_keys(said)
    if said["name"] != name or not NAME.fullmatch(name):
        raise ValueError(
            f"its name must be that of the file, '{excerpt(name)}', up to 30 small letters, digits and _ after a "
            f"letter, not {_shown(said['name'])}"
        )
    letters = _letters(said["goal"])
    alphabet = tuple(dict.fromkeys(letters))
    if len(alphabet) < 2:
        raise ValueError("the goal must have at least 2 different letters")
    moves = _moves(said["moves"], said["written_as"], len(letters))
    _check_moves(moves)
    return PuzzleFile(
        name,
        _words(said, "title", name),
        _words(said, "noun", "puzzle"),
        alphabet,
        tuple(alphabet.index(letter) for letter in letters),
        tuple(moves),
        tuple(moves.values()),
        _states(said.get("states")),
        _shapes(said.get("shapes", []), len(letters)),
        _colours(said.get("colours", {}), alphabet),
    )


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON table; ValueError if a key appears twice."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {_shown(key)} is there twice")
        table[key] = value
    return table


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def _shown(value: Any) -> str:
    """A value as a sentence quotes it."""
    return f"'{excerpt(value)}'" if isinstance(value, str) else excerpt(str(value))


def _check_keys(said: Any) -> None:
    if not isinstance(said, dict):
        raise ValueError("it must be a table of keys and values")
    if missing := [key for key in NEEDED if key not in said]:
        raise ValueError(f"the key '{missing[0]}' is missing; a puzzle needs {', '.join(NEEDED)}")
    if unknown := [key for key in said if key not in (*NEEDED, *OTHERS)]:
        raise ValueError(f"there is no key {_shown(unknown[0])}; there are {', '.join((*NEEDED, *OTHERS))}")
    if "source" in said and not isinstance(said["source"], str):
        raise ValueError(f"source must be a text, not {_shown(said['source'])}")


def _words(said: dict[str, Any], key: str, default: str) -> str:
    """A short text for readers, used in Markdown and in pictures."""
    words = said.get(key, default)
    fits = isinstance(words, str) and 0 < len(words) <= LONGEST_WORDS and words.isprintable()
    if not fits or set(words) & set("|<>[]`*$\\{}"):
        raise ValueError(f"{key} must be up to {LONGEST_WORDS} letters of plain text, not {_shown(words)}")
    return words


def _letters(goal: Any) -> list[str]:
    """The letter of each cell: the characters of a text without its spaces, or the texts of a list."""
    letters = [letter for letter in goal if not letter.isspace()] if isinstance(goal, str) else goal
    if not isinstance(letters, list) or not all(_is_word(letter, LONGEST_LETTER) for letter in letters):
        raise ValueError(
            f"the goal must be a text with a letter for each cell, or a list of texts of up to {LONGEST_LETTER} "
            "letters without spaces"
        )
    if not 2 <= len(letters) <= MOST_CELLS:
        raise ValueError(f"the goal must have 2 to {MOST_CELLS} cells, not {len(letters):,}")
    return letters


def _is_word(value: Any, longest: int) -> bool:
    """True if a value is a text without spaces and of up to `longest` characters."""
    return isinstance(value, str) and 0 < len(value) <= longest and value.isprintable() and " " not in value


def _moves(said: Any, kind: Any, cells: int) -> dict[str, tuple[int, ...]]:
    """Where each cell's letter comes from, by the name of the move."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"written_as must say what the moves are, one of {', '.join(KINDS)}, not {_shown(kind)}")
    if not isinstance(said, dict) or not 1 <= len(said) <= MOST_MOVES:
        raise ValueError(f"moves must be a table of 1 to {MOST_MOVES} names, each with its permutation")
    if unfit := [name for name in said if not _is_word(name, LONGEST_MOVE)]:
        raise ValueError(f"the move {_shown(unfit[0])} needs a name of up to {LONGEST_MOVE} letters without spaces")
    read_move = _from_cycles if kind == "cycles" else _from_images
    taken = {name: read_move(move, cells, f"the move {_shown(name)}") for name, move in said.items()}
    return taken if kind == "from" else {name: inverse(to) for name, to in taken.items()}


def _from_images(images: Any, cells: int, where: str) -> tuple[int, ...]:
    """The permutation from a list with one number for each cell."""
    if not _are_cells(images, cells) or sorted(images) != list(range(cells)):
        raise ValueError(f"{where} is no permutation: it must list each of the cells 0 to {cells - 1} once")
    return tuple(images)


def _from_cycles(cycles: Any, cells: int, where: str) -> tuple[int, ...]:
    """Where each cell's letter goes, from cycles: to the next cell, and from the last cell to the first."""
    if not isinstance(cycles, list) or not all(_are_cells(cycle, cells) for cycle in cycles):
        raise ValueError(f"{where} is no list of cycles: each is a list of cells, from 0 to {cells - 1}")
    moved = [cell for cycle in cycles for cell in cycle]
    if len(set(moved)) < len(moved):
        raise ValueError(f"{where} is no permutation: a cell stands in its cycles twice")
    to = list(range(cells))
    for cycle in cycles:
        for cell, after in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            to[cell] = after
    return tuple(to)


def _are_cells(values: Any, cells: int) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < cells for value in values)


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """The inverse permutation.  (1, 2, 0) -> (2, 0, 1)"""
    return tuple(np.argsort(permutation).tolist())


def _check_moves(moves: dict[str, tuple[int, ...]]) -> None:
    """ValueError if a move changes nothing, two moves are equal, or a move has no inverse."""
    known: dict[tuple[int, ...], str] = {}
    for name, turn in moves.items():
        if turn == tuple(range(len(turn))):
            raise ValueError(f"the move {_shown(name)} moves nothing; leave it out")
        if turn in known:
            raise ValueError(f"the moves {_shown(known[turn])} and {_shown(name)} are the same; leave one of them out")
        known[turn] = name
    if lonely := [name for name, turn in moves.items() if inverse(turn) not in known]:
        raise ValueError(f"no move undoes {_shown(lonely[0])}; add its inverse")


def _states(count: Any) -> int | Literal["unknown"] | None:
    if count not in (None, UNKNOWN) and (type(count) is not int or not 2 <= count <= LARGEST_STATES):
        raise ValueError(
            f'states must be how many states can be reached, a whole number from 2, or "{UNKNOWN}", not {_shown(count)}'
        )
    return count


def _shapes(said: Any, cells: int) -> tuple:
    """The corners of each cell in a picture."""
    if not isinstance(said, list) or (said and len(said) != cells) or not all(_is_shape(shape) for shape in said):
        raise ValueError(
            f"shapes must be a list of {cells} shapes, one for each cell: 3 to {MOST_CORNERS} corners [x, y] in a "
            "list, numbers up to 1,000"
        )
    return tuple(tuple((float(x), float(y)) for x, y in shape) for shape in said)


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and 3 <= len(shape) <= MOST_CORNERS and all(_is_corner(corner) for corner in shape)


def _is_corner(corner: Any) -> bool:
    return (
        isinstance(corner, list) and len(corner) == 2 and all(type(x) in (int, float) and abs(x) <= 1e3 for x in corner)
    )


def _colours(said: Any, alphabet: tuple[str, ...]) -> dict[str, str]:
    if not isinstance(said, dict):
        raise ValueError(f"colours must be a table of letters of the goal, each with a colour, not {_shown(said)}")
    for letter, colour in said.items():
        if letter not in alphabet:
            raise ValueError(f"colours: there is no letter {_shown(letter)} in the goal")
        if not isinstance(colour, str) or not COLOUR.fullmatch(colour):
            raise ValueError(f"colours: the colour of {_shown(letter)} must be as #2457C5, not {_shown(colour)}")
    return said
