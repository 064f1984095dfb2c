"""What answers a number of the literature, and the registry of the functions that can, in costtogo.report.answers."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from costtogo.analysis.intervals import mean_interval, wilson
from costtogo.report.results import StudyResults

NAN = math.nan
Row = dict[str, Any]  # a row of data/reported, with what costtogo.report.standing adds
Function = TypeVar("Function", bound=Callable)


@dataclass(frozen=True)
class Answer:
    """Our number for a row of the literature.

    low and high bound it (95 %) where it is sampled; exhaustive is the same over all states; note says what differs
    from the row's own terms.  file: where a reader finds it, if not in the table that it was asked of.  fact: no
    training has a part in it.  text: the number as it is written beside one that is text.
    """

    value: float | Fraction
    note: str = ""
    low: float = NAN
    high: float = NAN
    exhaustive: float = NAN
    file: str = ""
    fact: bool = False
    text: str = ""


def share(percent: float, count: float, note: str = "", file: str = "") -> Answer:
    """A share of so many states or searches, in per cent; that of a single one has no interval."""
    low, high = wilson(round(percent * count / 100), int(count)) if count > 1 else (NAN, NAN)
    return Answer(percent, note, 100 * low, 100 * high, file=file)


def mean(values: pd.Series, note: str = "", file: str = "") -> Answer:
    """A mean with its interval."""
    value, low, high = mean_interval(values)
    return Answer(value, note, low, high, file=file)


def extreme(values: pd.Series, row: Row) -> float:
    """The value that decides whether a claim on all of them holds."""
    return float(values.min() if row["relation"].startswith(">") else values.max())


KINDS: dict[str, Callable[[Row], bool]] = {  # of rows, each of which other results answer
    "every": lambda row: True,
    "repeated": lambda row: row["repeated"],  # the thesis's where all states are listed, checkpoint by checkpoint
    "others": lambda row: not row["repeated"],
    "listed": lambda row: row["listed"],
    "headline": lambda row: row["listed"] and not row["repeated"],  # other documents' there, at the headline λ and N
    "sampled": lambda row: not row["listed"],
    "learned": lambda row: not row["listed"] and row["ours"] is not None,  # those that a network of ours stands beside
}


class Finder(NamedTuple):
    """A function that answers, in rows of which kind, and the address of the table that it is asked of."""

    find: Callable[..., "Answer | float | None"]
    kind: str
    table: str

    def ask(self, results: StudyResults, row: Row) -> Answer | None:
        """What it answers; None in rows of another kind, where there is no such table, or nothing to say."""
        if not KINDS[self.kind](row):
            return None
        address = self.table.format_map(row)
        frame = results.find(address) if address else None
        if address and frame is None:
            return None
        found = self.find(results, row, frame) if address else self.find(results, row)
        found = found if found is None or isinstance(found, Answer) else Answer(float(found))
        if found is None or math.isnan(found.value):
            return None
        return replace(found, file=results.place(address)) if address and not found.file else found


_FINDERS: dict[str, list[Finder]] = {}


def answers(*quantities: str, of: str = "every", table: str = "") -> Callable[[Function], Function]:
    """Register a function that answers for these quantities, in rows of a kind.

    It is called with the results and the row, and with a table where it names one, as "searches/{ours}/grid"; it
    returns an Answer, a mere number, or None where the results do not have it. Several may answer for a quantity, from
    other kinds of rows or results: a fact is taken before all else, then the first answer of a module.
    """

    def register(find: Function) -> Function:
        for quantity in quantities:
            _FINDERS.setdefault(quantity, []).append(Finder(find, of, table))
        return find

    return register


def answered() -> set[str]:
    """The quantities that somebody answers for."""
    return set(_FINDERS)


def answer(results: StudyResults, row: Row) -> Answer | None:
    """Our number for a row, None where the results have none; the one that decides where a claim is on all models."""
    found = _first(results, row)
    if found is not None or isinstance(row.get("model"), str) or not row.get("models"):
        return found
    several = [one for model in row["models"] if (one := _first(results, row | {"ours": model})) is not None]
    if not several:
        return None
    worst = extreme(pd.Series([one.value for one in several]), row)
    return replace(next(one for one in several if one.value == worst), note=f"over {len(several)} models")


def _first(results: StudyResults, row: Row) -> Answer | None:
    found = [finder.ask(results, row) for finder in _FINDERS.get(row["quantity"], ())]
    return next(iter(sorted(filter(None, found), key=lambda one: not one.fact)), None)
