"""Data as Markdown: tables, and numbers written with as many places as they deserve."""

import math
from collections.abc import Callable, Iterable, Sequence

ROUNDING = 1e-9  # of a share of 100 %
Format = Callable[[float], str]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with the first column to the left and the others to the right."""
    marks = [":--", *["--:"] * (len(header) - 1)]
    lines = [header, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def frame_table(frame, columns: dict[str, tuple[str, Format]]) -> str:
    """The columns of a data frame, each under its heading and in its format."""
    header = [heading for heading, _ in columns.values()]
    rows = ([form(row[name]) for name, (_, form) in columns.items()] for row in frame.to_dict("records"))
    return table(header, rows)


def places(count: int) -> Format:
    """Numbers with so many places and thousands separated; what is missing is a dash."""
    return lambda value: "–" if is_missing(value) else f"{value:,.{count}f}"


def percent(value) -> str:
    """A share to two places, where only the whole is 100.  99.407 -> "99.41", 99.998 -> "99.99"."""
    if is_missing(value):
        return "–"
    return "100" if value > 100 - ROUNDING else f"{min(value, 99.99):.2f}"


def short(value) -> str:
    """A parameter or a small number as it is.  0.7 -> "0.7", 5.0 -> "5"."""
    if isinstance(value, float):
        return "–" if is_missing(value) else f"{value:g}"
    return str(value)


def amount(value) -> str:
    """A count or a mean of counts.  1234567.0 -> "1,234,567", 72.84 -> "72.84"."""
    if is_missing(value):
        return "–"
    return f"{value:,.2f}" if value < 1000 and value != int(value) else f"{value:,.0f}"


def is_missing(value) -> bool:
    """Whether a number was not measured, or has no finite value."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))
