"""Data as Markdown: tables, code, text, and numbers with their intervals."""

from collections.abc import Iterable, Sequence
from typing import Any

from costtogo.analysis.numbers import Format, amount, is_missing, percent


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with the first column to the left and the others to the right."""
    marks = [":--", *["--:"] * (len(header) - 1)]
    lines = [header, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


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
