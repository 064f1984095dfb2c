"""What answers a number of the literature, and the registry of the functions that can, in costtogo.report.answers."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from costtogo.analysis.intervals import mean_interval, wilson
from costtogo.report.results import StudyResults

NAN = math.nan
Row = dict[str, Any]  # a row of data/reported, with what costtogo.report.standing adds


@dataclass(frozen=True)
class Answer:
    """Our number for a row of the literature.

    low and high bound it (95 %) where it is sampled; exhaustive is the same over all states; note says what differs
    from the row's own terms.  fact: no training has a part in it.
    """

    value: float
    file: str
    low: float = NAN
    high: float = NAN
    exhaustive: float = NAN
    note: str = ""
    fact: bool = False


Finder = Callable[[StudyResults, Row], Answer | None]
_FINDERS: dict[str, list[tuple[Callable[[Row], bool], Finder]]] = {}


def every(row: Row) -> bool:
    """Any row."""
    return True


def repeated(row: Row) -> bool:
    """A row of the thesis on a puzzle that is listed, where its trainings are repeated checkpoint by checkpoint."""
    return row["repeated"]


def listed(row: Row) -> bool:
    """A row of another document on such a puzzle, where the searches at the headline λ and N answer."""
    return row["listed"] and not row["repeated"]


def not_repeated(row: Row) -> bool:
    """A row of which only one of ours stands beside it."""
    return not row["repeated"]


def large(row: Row) -> bool:
    """A row on a puzzle too large to list."""
    return not row["listed"]


def learned(row: Row) -> bool:
    """A row on such a puzzle that a network of ours stands beside."""
    return large(row) and row["ours"] is not None


def answers(*quantities: str, of: Callable[[Row], bool] = every) -> Callable[[Finder], Finder]:
    """Register a function that answers for these quantities, in rows of a kind; None where results say nothing.

    Several may answer for a quantity, of other kinds of rows or results; the first that has an answer is taken.
    """

    def register(find: Finder) -> Finder:
        for quantity in quantities:
            _FINDERS.setdefault(quantity, []).append((of, find))
        return find

    return register


def answered() -> set[str]:
    """The quantities that somebody answers for."""
    return set(_FINDERS)


def answer(results: StudyResults, row: Row) -> Answer | None:
    """Our number for a row, None where the results have none; the one that decides where a claim is on all models."""
    found = _first(results, row)
    if found is not None or isinstance(row["model"], str) or not row["models"]:
        return found
    each = [_first(results, row | {"ours": model}) for model in row["models"]]
    several = [one for one in each if one is not None]
    if not several:
        return None
    worst = extreme(pd.Series([one.value for one in several]), row)
    return replace(next(one for one in several if one.value == worst), note=f"over {len(several)} models")


def _first(results: StudyResults, row: Row) -> Answer | None:
    found = (find(results, row) for of, find in _FINDERS.get(row["quantity"], ()) if of(row))
    return next((one for one in found if one is not None and not math.isnan(one.value)), None)


def extreme(values: pd.Series, row: Row) -> float:
    """The value that decides whether a claim on all of them holds."""
    return float(values.min() if row["relation"].startswith(">") else values.max())


def share(percent: float, count: float, file: str, note: str = "") -> Answer:
    """A share of so many states or searches, in per cent; a single one has no interval."""
    low, high = wilson(round(percent * count / 100), int(count)) if count > 1 else (NAN, NAN)
    return Answer(percent, file, 100 * low, 100 * high, note=note)


def mean(values: pd.Series, file: str, note: str = "") -> Answer:
    """A mean with its interval."""
    value, low, high = mean_interval(values)
    return Answer(value, file, low, high, note=note)
