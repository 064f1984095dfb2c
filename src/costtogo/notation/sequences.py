"""Sequences of moves with brackets, for every puzzle whose moves have names.

    sequence    = { move | group | separator }
    group       = "(" sequence ")" [ times ]
                | "[" sequence "," sequence "]" [ times ]    commutator, A B A' B'
                | "[" sequence ":" sequence "]" [ times ]    conjugate, A B A'
                | "[" sequence "]" [ times ]
    times       = [ "*" | "^" | "×" ] number [ "'" ] | "'"
    separator   = blanks, line ends, ",", ";", ".", "|", "/", "_" between moves;
                  a list of moves in quotation marks is read, too
    comment     = "//" or "#" to the end of the line, or "/*" to "*/"

Sources: WCA Regulations, article 12; SiGN notation (Walter Randelshofer, Lars Petrus); commutators and conjugates as
alg.cubing.net has them. Open groups are kept on a list, not on Python's stack: only length limits their depth.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from costtogo.puzzles.base import MOST_MOVES
from costtogo.types import UserError, excerpt

APOSTROPHES = str.maketrans(dict.fromkeys("’‘′`´ʼʹ＇", "'") | {"（": "(", "）": ")", "，": ",", "\ufeff": " "})
SKIPPED = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/|[;.|_]|/(?!\*))+", re.DOTALL)
WORD = r"""(?:"([^"]*)"|'([^']*)')"""
WORDS = re.compile(rf"\s*\[\s*{WORD}\s*(?:,\s*{WORD}\s*)*,?\s*\]\s*")  # a list of Python or JSON
TIMES = re.compile(r"(?:[*^×]|x(?=[3-9]|\d\d))?(\d{1,9})('?)|[*^×]?(')")  # x2 is half a turn of the whole cube
CLOSING = {"(": ")", "[": "]"}
Move = Any  # what a family makes of the text of a move


@dataclass
class _Group:
    """A bracket that is open.  parts: the sequences before a comma or colon, and the one that is being read."""

    opened: str
    place: int
    joint: str = ""
    parts: list[list[Move]] = field(default_factory=lambda: [[]])


class Family(NamedTuple):
    """How moves are written: what matches one, the moves of a match, the inverse of a move, and an example in words."""

    pattern: re.Pattern
    moves: Callable[[re.Match], list[Move]]
    inverse: Callable[[Move], Move]
    example: str


def read(text: str, family: Family) -> list[Move]:
    """The moves of a text, brackets written out; UserError at what is no move, an open bracket, and too many moves."""
    text = text.translate(APOSTROPHES)
    if WORDS.fullmatch(text):
        text = " ".join(double or single for double, single in re.findall(WORD, text))
    place = 0
    groups = [_Group("", 0)]
    while place < len(text):
        if skipped := SKIPPED.match(text, place):
            place = skipped.end()
            continue
        group, letter = groups[-1], text[place]
        if letter in CLOSING:
            groups.append(_Group(letter, place))
            place += 1
        elif letter == CLOSING.get(group.opened):
            groups.pop()
            times = TIMES.match(text, place + 1)
            groups[-1].parts[-1] += _repeated(_written_out(group, family.inverse), times, family.inverse)
            place = times.end() if times else place + 1
        elif letter in ",:" and group.opened == "[" and not group.joint:
            group.joint = letter
            group.parts.append([])
            place += 1
        elif letter == ",":
            place += 1
        elif found := family.pattern.match(text, place):
            group.parts[-1] += family.moves(found)
            place = found.end()
        else:
            raise UserError(_expected(text, place, group, family.example))
        if len(groups[-1].parts[-1]) > MOST_MOVES:
            raise UserError(f"A scramble has at most {MOST_MOVES:,} moves, but this one has more.")
    if len(groups) > 1:
        opened, where = groups[-1].opened, position(text, groups[-1].place)
        raise UserError(f"The bracket {opened} {where} is never closed: expected {CLOSING[opened]} before the end.")
    return groups[0].parts[0]


def _written_out(group: _Group, inverse: Callable[[Move], Move]) -> list[Move]:
    """The moves of a bracket."""
    if not group.joint:
        return group.parts[0]
    first, second = group.parts
    back = [inverse(each) for each in reversed(first)]
    if group.joint == ":":
        return first + second + back
    return first + second + back + [inverse(each) for each in reversed(second)]


def _repeated(moves: list[Move], times: re.Match | None, inverse: Callable[[Move], Move]) -> list[Move]:
    """The moves of a bracket as often as the number behind it says, backwards for an apostrophe."""
    count, back = (int(times[1] or 1), bool(times[2] or times[3])) if times else (1, False)
    if len(moves) * count > MOST_MOVES:
        raise UserError(f"A scramble has at most {MOST_MOVES:,} moves, but this one has more.")
    return ([inverse(each) for each in reversed(moves)] if back else moves) * count


def position(text: str, place: int) -> str:
    """Where a character is.  -> "at character 5", "in line 2 at character 3"."""
    line, column = text.count("\n", 0, place) + 1, place - (text.rfind("\n", 0, place) + 1) + 1
    return f"in line {line} at character {column}" if "\n" in text.strip() else f"at character {place + 1}"


def _expected(text: str, place: int, group: _Group, example: str) -> str:
    """What is wrong at a place, and what could be there."""
    word = re.match(r"[^\s()\[\],:]+|.", text[place:], re.DOTALL)[0]
    if word in (")", "]"):
        return f"The bracket {word} {position(text, place)} closes nothing: expected {example}."
    closing = f", or {CLOSING[group.opened]}" if group.opened else ""
    return f"Unknown move '{excerpt(word)}' {position(text, place)}: expected {example}{closing}."
