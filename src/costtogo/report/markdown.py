"""Data as Markdown: tables, and numbers written with as many places as they deserve."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from costtogo.analysis.intervals import percent_text

Format = Callable[[Any], str]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with the first column to the left and the others to the right."""
    marks = [":--", *["--:"] * (len(header) - 1)]
    lines = [header, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def columns(frame: pd.DataFrame, names: str, **others: "str | tuple[str, Format]") -> str:
    """Some columns of a data frame as a table: "set length" has two, headed and written as COLUMNS says.

    others: for a column by name, another heading, or another heading and format.
    """
    found = {name: _column(name, others.get(name)) for name in names.split()}
    rows = frame.to_dict("records")
    cells = ([each.form(row if each.of_row else row[name]) for name, each in found.items()] for row in rows)
    return table([each.heading for each in found.values()], cells)


def _column(name: str, other: "str | tuple[str, Format] | None") -> "Column":
    if isinstance(other, tuple):
        return Column(*other)
    usual = COLUMNS.get(name, Column(name.replace("_", " "), plain))
    return usual._replace(heading=other) if other else usual


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


class Column(NamedTuple):
    """How a column of a data frame is headed and written; of_row: it is written from the whole row."""

    heading: str
    form: Format
    of_row: bool = False


def _optimal(row: dict[str, Any]) -> str:
    return interval(row["optimal_percent"], row["optimal_low"], row["optimal_high"])


def _lengths(row: dict[str, Any]) -> str:
    return interval(row["length"], row["length_low"], row["length_high"], places(2))


def _paired(row: dict[str, Any]) -> str:
    return interval(row["difference"], row["low"], row["high"], places(3))


COLUMNS = {  # others are headed by their name and written plainly
    # what a row is of
    "model": Column("model", code),
    "heuristic": Column("heuristic", code),
    "search": Column("search", code),
    "name": Column("name", code),
    "run": Column("run", lambda key: code(key) if key else "–"),
    "cell": Column("searched: set, λ, N", text),
    "path_weight": Column("λ", short),
    "batch_size": Column("N", amount),
    "average": Column("averaged over", amount),
    "seconds_allowed": Column("seconds each, at most", short),
    "selected_iteration": Column("checkpoint (iteration)", amount),
    "distance": Column("distance, moves", short),
    "scope": Column("states", text),
    # audits
    "mean_cost_to_go": Column("mean cost-to-go, moves", places(3)),
    "mean_absolute_error": Column("mean absolute error, moves", places(3)),
    "selected_mean_absolute_error": Column("its mean absolute error, moves", places(3)),
    "bias": Column("bias, moves", places(3)),
    "admissible_percent": Column("admissible, %", percent),
    "overestimation_mean": Column("mean overestimate, moves", places(3)),
    "overestimation_max": Column("largest, moves", places(2)),
    "consistent_percent": Column("consistent, %", percent),
    # searches
    "solved_percent": Column("solved, %", percent),
    "length": Column("length, moves", places(2)),
    "lengths": Column("mean length, moves [95 % interval]", _lengths, of_row=True),
    "paired": Column("difference, moves [95 % interval]", _paired, of_row=True),
    "cost": Column("length found, moves", amount),
    "known": Column("of known distance", amount),
    "optimal_length": Column("optimum, moves", places(2)),
    "optimal_percent": Column("fewest moves, %", percent),
    "optimal": Column("optimal, % [95 % interval]", _optimal, of_row=True),
    "excess": Column("moves too many", places(2)),
    "percent": Column("share, %", percent),
    "exact_nodes_expanded": Column("exact", amount),
    "zero_nodes_expanded": Column("zero", amount),
    "nodes_generated_most": Column("most", amount),
    "out_of_memory_percent": Column("out of memory, %", percent),
    "shortest": Column("nearest", short),
    "bytes": Column("memory, MB", megabytes),
    "seconds": Column("seconds", significant(3)),
    "longest": Column("longest", significant(3)),
    "milliseconds": Column("ms a board", places(3)),
    "longest_milliseconds": Column("longest, ms", places(3)),
    # pattern databases and patterns of solutions
    "database": Column("database", code),
    "tiles": Column("tiles of its patterns", text),
    "most_moves": Column("most moves of a pattern", amount),
    "conjugate_triplet_percent": Column("a b a⁻¹, %", percent),
    "aba_triplet_percent": Column("a b a, %", percent),
    "aab_triplet_percent": Column("a a b, %", percent),
    "abb_triplet_percent": Column("a b b, %", percent),
    "symmetric_solution_percent": Column("solved by the mirror image of the other's solution, %", percent),
    "asymmetric": Column("other pairs", amount),
    "same_length_percent": Column("as long, % of those", percent),
    # local value iteration
    "solvable": Column("of them solvable", amount),
    "share_exact": Column("share", text),
    "share_percent": Column("%", places(4)),
    "average_moves": Column("average moves", places(3)),
    "exact_average_moves": Column("average of all", places(4)),
    "drawn_average": Column("average of the boards drawn", places(2)),
    "maximum_moves": Column("longest of all", amount),
    "bound": Column("bound φ", short),
    "initial_size": Column("tiles a step", short),
    "subproblems": Column("subproblems", short),
    "ratio": Column("times the optimum", places(3)),
    # beside a document
    "section": Column("where", text),
    "value": Column("document", text),
    "reproduced": Column("here", text),
}
