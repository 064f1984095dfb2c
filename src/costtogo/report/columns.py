"""Columns of data frames as tables of a report; columns.csv says how each is headed and written.

form: the name of a function of costtogo.analysis.numbers or costtogo.report.markdown, with its number of places if it
takes one. "interval" is followed by the columns of a value and of the ends of its interval, and by the form of all
three.
"""

import csv
import io
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from costtogo.analysis import numbers
from costtogo.analysis.numbers import Format
from costtogo.files import read_text
from costtogo.report import markdown
from costtogo.report.markdown import interval, plain, table

TABLE = Path(__file__).with_suffix(".csv")


class Column(NamedTuple):
    """How a column of a data frame is headed and written; of_row: it is written from the whole row."""

    heading: str
    form: Format
    of_row: bool = False


def columns(frame: pd.DataFrame, names: str, **others: "str | tuple[str, Format]") -> str:
    """Some columns of a data frame as a table: "set length" has two, headed and written as COLUMNS says.

    others: for a column by name, another heading, or another heading and format.
    """
    found = {name: _column(name, others.get(name)) for name in names.split()}
    rows = frame.to_dict("records")
    cells = ([each.form(row if each.of_row else row[name]) for name, each in found.items()] for row in rows)
    return table([each.heading for each in found.values()], cells)


def _column(name: str, other: "str | tuple[str, Format] | None") -> Column:
    if isinstance(other, tuple):
        return Column(*other)
    usual = COLUMNS.get(name, Column(name.replace("_", " "), plain))
    return usual._replace(heading=other) if other else usual


def _format(name: str, *count: str) -> Format:
    found = (vars(numbers) | vars(markdown))[name]
    return found(*map(int, count)) if count else found


def _interval(value: str, low: str, high: str, *form: str) -> Format:
    def written(row: dict[str, Any]) -> str:
        return interval(row[value], row[low], row[high], _format(*form))

    return written


def _read() -> dict[str, Column]:
    found = {}
    for row in csv.DictReader(io.StringIO(read_text(TABLE))):
        kind, *words = row["form"].split()
        of_row = kind == "interval"
        found[row["name"]] = Column(row["heading"], _interval(*words) if of_row else _format(kind, *words), of_row)
    return found


COLUMNS = _read()  # others are headed by their name and written plainly
