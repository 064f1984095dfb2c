"""Numbers as text, with as many places as each kind needs."""

import math
from collections.abc import Callable
from typing import Any

from costtogo.analysis.intervals import percent_text

Format = Callable[[Any], str]


def places(count: int) -> Format:
    """Numbers with this count of decimal places and thousands separated; a dash if missing."""
    return lambda value: "–" if is_missing(value) else f"{value:,.{count}f}"


def significant(count: int) -> Format:
    """Numbers with this count of significant digits.  0.01234 -> "0.0123"."""
    return f"{{:.{count}g}}".format


def percent(value) -> str:
    """A share as percent_text has it; a dash if missing."""
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


def is_missing(value) -> bool:
    """Whether a number was not measured, or has no finite value."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))
