"""Data as Markdown: tables, and numbers written with as many places as they deserve."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from costtogo.analysis.intervals import percent_text

Format = Callable[[Any], str]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with the first column to the left and the others to the right."""
    marks = [":--", *["--:"] * (len(header) - 1)]
    lines = [header, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def places(count: int) -> Format:
    """Numbers with so many places and thousands separated; what is missing is a dash."""
    return lambda value: "–" if is_missing(value) else f"{value:,.{count}f}"


def significant(count: int) -> Format:
    """Numbers with so many digits that count.  0.01234 -> "0.0123"."""
    return f"{{:.{count}g}}".format


def percent(value) -> str:
    """A share as percent_text has it; what is missing is a dash."""
    return "–" if is_missing(value) else percent_text(value)


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


def megabytes(value: float) -> str:
    """Bytes in millions.  576576912 -> "576.6", 4660 -> "0.0047"."""
    if is_missing(value):
        return "–"
    return f"{value / 1e6:,.1f}" if value >= 1e5 else f"{value / 1e6:.2g}"


def code(value: str) -> str:
    """A name in code letters."""
    return f"`{value}`"


def key(value: str) -> str:
    """The same of a name that there may not be: a dash for none."""
    return code(value) if value else "–"


def text(value: Any) -> str:
    """A text with its stars escaped for Markdown; a dash where it is missing."""
    return "–" if not value or is_missing(value) else str(value).replace("*", r"\*")


def plain(value: Any) -> str:
    """A text as it is, a number as amount writes it; what is missing is a dash."""
    return text(value) if isinstance(value, str) else amount(value)


def interval(value: float | None, low: float | None, high: float | None, form: Format = percent) -> str:
    """A share or a mean with its interval, if it has one.  -> "99.87 [99.78, 99.92]"."""
    return form(value) if is_missing(low) else f"{form(value)} [{form(low)}, {form(high)}]"


def cell_text(cell: dict[str, Any]) -> str:
    """A cell in the literature's letters.  -> "test, λ = 0.7, N = 5"."""
    return f"{cell['set']}, λ = {cell['path_weight']:g}, N = {cell['batch_size']}"


def is_missing(value) -> bool:
    """Whether a number was not measured, or has no finite value."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))
