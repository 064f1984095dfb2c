"""Tables of states as they come: any separator, header or none, one state a line, numbered lines, comments.

    encoding   UTF-8 with or without a mark, UTF-16 with one, else Windows-1252
    header     a line with the name of a column of states, in any case: scramble, state, tiles, lights, and their like
    separator  comma, semicolon, tab or bar; of a file without header the one that parts cells of which one is a state
    comment    a line that begins with "#", "%" or "//", and is no row of a level
    optimum    a column optimal_moves or its like; an empty cell is an unknown one

Of a file without a header a line is a state; or a number and a state; or cells of which one is a state.
"""

import csv
import io
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from costtogo.types import UserError, excerpt

KINDS = {  # columns that have states, and whether these are scrambles
    **dict.fromkeys(("scramble", "scrambles", "moves_from_goal", "algorithm", "alg"), "scramble"),
    **dict.fromkeys(("state", "states", "initial_state", "board", "boards", "facelets", "cube", "start"), "state"),
    **dict.fromkeys(("tiles", "lights"), "state"),
}
OPTIMA = ("optimal_moves_qtm", "optimal_moves", "optimum", "optimal", "optimal_length")
SEPARATORS = ",;\t|"
# A row of a level begins with #, too, but has none of these letters; spreadsheets begin with a line such as sep=;
COMMENT = re.compile(r"\s*(%|//|sep=.\s*$|#.*[ac-nq-zAC-OQ-Z])")
NUMBERED = re.compile(r"\s*\(?\d+\s*[.):\]]?\s+(?=\S)")


@dataclass(frozen=True)
class Row:
    """line: of the file, from 1.  text: the state.  optimum: as written, "" if unknown.  cells: all, by column."""

    line: int
    text: str
    optimum: str = ""
    cells: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """kind: "scramble" or "state".  column: the one that has them.  optima: the one that has these, or None."""

    kind: str
    column: str
    rows: list[Row]
    optima: str | None = None


def decoded(content: bytes) -> str:
    """The text of a file."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace").removeprefix("\ufeff")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def read_table(content: bytes, reads: Callable[[str, str], bool]) -> Table:
    """The rows of a file.

    reads: whether a text is a state of a kind ("scramble" or "state") of the puzzle; asked of files without a header.
    UserError where the file has no rows, where a quote is never closed, or where no line is a state.
    """
    text = decoded(content)
    csv.field_size_limit(sys.maxsize)
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    lines = [(number, line) for number, line in lines if not COMMENT.match(line)]
    if not lines:
        raise UserError("it has no rows.")
    for separator in SEPARATORS:
        names = [name.strip().strip('"').lower() for name in lines[0][1].split(separator)]
        if column := next((name for name in KINDS if name in names), None):
            return _with_header(lines, separator, column)
    return _without_header(lines, reads)


def _with_header(lines: list[tuple[int, str]], separator: str, column: str) -> Table:
    """The rows below a header; cells may be quoted and have line ends in them."""
    rows = _cells(lines, separator)
    names = [name.strip() for name in rows[0][1]]
    lower = [name.lower() for name in names]
    place, optima = lower.index(column), next((name for name in OPTIMA if name in lower), None)
    found = []
    for line, cells in rows[1:]:
        if len(names) == 1:
            cells = [separator.join(cells)]
        if len(cells) > len(names) and any(cell.strip() for cell in cells[len(names) :]):
            raise UserError(f"line {line}: it has {len(cells)} cells, but the first line names {len(names)} columns.")
        cells = cells + [""] * (len(names) - len(cells))
        optimum = cells[lower.index(optima)].strip() if optima else ""
        found.append(Row(line, cells[place], optimum, dict(zip(names, cells, strict=False))))
    if not found:
        raise UserError("it has no rows below the line with the names of its columns.")
    return Table(KINDS[column], names[place], found, optima and names[lower.index(optima)])


def _cells(lines: list[tuple[int, str]], separator: str) -> list[tuple[int, list[str]]]:
    """The cells of each row, and the line where it begins."""
    text = io.StringIO("".join(f"{line}\n" for _, line in lines))
    reader = csv.reader(text, delimiter=separator, skipinitialspace=True, strict=True)
    rows, begins = [], 0
    try:
        for cells in reader:
            rows.append((lines[begins][0], cells))
            begins = reader.line_num
    except csv.Error as error:
        raise UserError(f"line {lines[min(begins, len(lines) - 1)][0]}: {error}.") from error
    return rows


def _without_header(lines: list[tuple[int, str]], reads: Callable[[str, str], bool]) -> Table:
    """A state a line, by the first way of reading that the first line allows."""
    for kind in ("state", "scramble"):
        first = lines[0][1]
        if reads(kind, first):
            return Table(kind, kind, [Row(number, line) for number, line in lines])
        if reads(kind, NUMBERED.sub("", first, count=1)):
            return Table(kind, kind, [Row(number, NUMBERED.sub("", line, count=1)) for number, line in lines])
        for separator in SEPARATORS:
            cells = next(csv.reader([first], delimiter=separator, skipinitialspace=True))
            place = next((i for i, cell in enumerate(cells) if len(cells) > 1 and reads(kind, cell)), None)
            if place is not None:
                return Table(kind, kind, [_of_cells(number, each, place) for number, each in _cells(lines, separator)])
    raise UserError(
        f"line {lines[0][0]}: '{excerpt(lines[0][1].strip())}' is neither a state nor a scramble, nor "
        "the names of columns, one of which is scramble or state."
    )


def _of_cells(line: int, cells: list[str], place: int) -> Row:
    """A row of a file without a header; its cells are column_1 and on."""
    named = {f"column_{number}": cell for number, cell in enumerate(cells, start=1)}
    return Row(line, cells[place] if place < len(cells) else "", cells=named)
