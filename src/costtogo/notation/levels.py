"""Levels of Sokoban as the community writes them: one or a collection, with titles or without, run-length, or as XML.

    level  = rows of "#" wall, "@" or "p" player, "$" or "b" box, ".", "o" target, "*" or "B" box on a target,
             "+" or "P" player on a target, blank, "-" or "_" floor; "|" ends a row
    run    = a number before a symbol repeats it: "3#" is "###"; of "(" and ")" a number repeats what is between
    title  = a line of other text before a level, or "Title:", "Author:", "Comment:" and their like after it;
             ";" begins a line of comment, which may be a title
    SLC    = <Level Id="…"><L>row</L>…</Level>

Sources: the level format page of the Sokoban Wiki (XSB, RLE), sokobano.de; SourceCode's .slc.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat

from costtogo.notation import named
from costtogo.notation.given import Given
from costtogo.puzzles.sokoban import SIDES, Sokoban
from costtogo.types import States, UserError, excerpt

SYMBOLS = "#@+$*. -_pPbBo"
CANONICAL = str.maketrans({"-": " ", "_": " ", "p": "@", "P": "+", "b": "$", "B": "*", "o": "."})
ROW = re.compile(r"[#@+$*. \-_pPbBo0-9|()\t]+")
KEY = re.compile(r"(\w[\w -]*):(.*)")
REMARK_ENDS = re.compile(r"comment[-_ ]?end:?", re.IGNORECASE)
LONGEST_ROW = 1000  # cells, after numbers are written out


class Level(NamedTuple):
    """name: its title, else its number in the file from 0.  line: of the text where it begins.  rows: in XSB."""

    name: str
    line: int
    rows: list[str]


def read_state(puzzle: Sokoban, text: str) -> Given:
    """The start of the one level of a text, uint8 [D]; UserError if there are more, or it is no level of the board."""
    if text.lstrip().startswith("["):  # a list of rows
        text = "\n".join(re.findall(r"""["']([^"']*)["']""", text))
    found = read_levels(text)
    if len(found) > 1:
        raise UserError(f"There are {len(found):,} levels: give them as --instances, and --out, to solve them all.")
    state = puzzle.parse_state("\n".join(found[0].rows))
    return Given(state, puzzle.format_state(state))


def with_room(puzzle: Sokoban, levels: list[Level]) -> Sokoban:
    """A board for all of some levels: the puzzle itself, or the smallest board where one is larger than that."""
    height = max(len(level.rows) for level in levels)
    width = max(len(row) for level in levels for row in level.rows)
    if height <= puzzle.rows and width <= puzzle.columns:
        return puzzle
    return Sokoban(max(height, SIDES[0]), max(width, SIDES[0]))


def read_scramble(puzzle: Sokoban, text: str, start: States | None = None) -> Given:
    """The state that steps make of a level; capitals, the customary ones of pushes, are not needed."""
    return named.read_scramble(puzzle, text.upper(), start)


@dataclass
class _Read:
    """A level that is being read.  closed: True once a line that is no row came."""

    name: str
    line: int
    rows: list[str] = field(default_factory=list)
    closed: bool = False

    @property
    def level(self) -> Level:
        return Level(self.name, self.line, self.rows)


def read_levels(text: str) -> list[Level]:
    """The levels of a text, in its order; UserError where it has none or its XML is broken."""
    text = text.removeprefix("\ufeff")
    found = _of_xml(text) if text.lstrip().startswith("<") else list(_of_lines(text))
    if not found:
        raise UserError("There is no level: one is rows of #, @, $, . and blanks, with a title before it or none.")
    return [level._replace(name=level.name or str(number)) for number, level in enumerate(found)]


def _of_lines(text: str) -> Iterator[Level]:
    """The levels of lines: rows that follow each other are a level, and keys after it are of that level."""
    title, level, remark = "", None, False  # remark: a comment of several lines goes on
    for number, line in enumerate(text.splitlines(), start=1):
        word, key = line.strip(), KEY.fullmatch(line.strip())
        if remark:
            remark = not REMARK_ENDS.fullmatch(word)
        elif is_row(line):
            if level is None or level.closed:
                if level:
                    yield level.level
                level, title = _Read(title, number), ""
            level.rows += written_out(line)
        elif level and key:
            level.closed, named = True, key[1].strip().lower()
            level.name = key[2].strip() if named == "title" else level.name
            remark = named == "comment" and not key[2].strip()
        else:
            if level:
                level.closed = True
            title = word.strip(";'").strip() or title
    if level:
        yield level.level


def is_row(line: str) -> bool:
    """Whether a line is one of a level: symbols alone, with a wall among them."""
    return "#" in line and bool(ROW.fullmatch(line)) and not line.startswith(";")


def written_out(line: str) -> list[str]:
    """The rows of a line, numbers and bars written out.  "3#|#@#" -> ["###", "#@#"]; UserError for a row too long."""
    if re.search(r"[0-9()|]", line):
        line = _repeated(line)
    return [row.translate(CANONICAL).replace("\t", "    ").rstrip() for row in line.split("|") if row.strip()]


def _repeated(line: str) -> str:
    """A line without numbers and brackets."""
    parts, counts = [""], []
    for found in re.finditer(r"(\d*)([^\d])", line):
        count, symbol = min(int(found[1] or 1), LONGEST_ROW + 1) if len(found[1]) < 9 else LONGEST_ROW + 1, found[2]
        if symbol == "(":
            counts.append(count)
            parts.append("")
        elif symbol == ")" and counts:
            inner = parts.pop()
            parts[-1] += inner * counts.pop()
        else:
            parts[-1] += symbol * count
        if len(parts[-1]) > LONGEST_ROW * LONGEST_ROW:
            break
    whole = "".join(parts)
    if any(len(row) > LONGEST_ROW for row in whole.split("|")):
        raise UserError(f"A row of a level has at most {LONGEST_ROW} cells: {excerpt(line)} has more.")
    return whole


def _of_xml(text: str) -> list[Level]:
    """The levels of an .slc file; what defines entities is refused, for it could grow without end."""
    levels: list[Level] = []
    inside: list[str] = []
    parser = expat.ParserCreate()

    def begin(name: str, attributes: dict[str, str]) -> None:
        if name == "Level":
            levels.append(Level(attributes.get("Id", ""), parser.CurrentLineNumber, []))
        inside.append(name)
        if name == "L" and levels:
            levels[-1].rows.append("")

    def text_of(content: str) -> None:
        if inside and inside[-1] == "L" and levels:
            levels[-1].rows[-1] += content

    def refuse(*declared) -> None:
        raise UserError("The XML declares entities, which levels do not need: remove its DOCTYPE.")

    parser.StartElementHandler, parser.CharacterDataHandler = begin, text_of
    parser.EndElementHandler = lambda name: inside.pop()
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise UserError(f"The XML of the levels cannot be read: {error}.") from error
    rows = [(level, [row for line in level.rows for row in written_out(line)]) for level in levels]
    return [level._replace(rows=each) for level, each in rows if each]
