"""Our number for one of the literature, and the registry of the functions of costtogo.literature.answers."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from costtogo.analysis.intervals import mean_interval, wilson
from costtogo.literature.words import FACT, SETTING
from costtogo.params.base import TrainingName
from costtogo.tables.results import StudyResults

NAN = math.nan
Row = dict[str, Any]  # a row of data/reported, with what costtogo.literature.counterparts adds
Function = TypeVar("Function", bound=Callable)


@dataclass(frozen=True)
class Finding:
    """Our number for a row of the literature.

    value: a fraction where it is exact and the row's is, too.  low and high bound it (95 %) where it is sampled;
    exhaustive is the same over all states; note says what differs from the row's own terms.
    file: where a reader finds it, if not in the table that was looked into.  fact: no training has a part in it.
    text: the number as it is written next to one that is written as a fraction.
    missing: the verdict where there is no number: a training or a search did not get so far, or was of other terms.
    told: the number is the source's own, read from its file.
    error_share: of a network, its mean absolute error over the states concerned as a share of their mean distance.
    no_merit: whether no heuristic at all does as well.  seeds: how many trainings it is the mean of, and spread their
    standard deviation; chance: of such a mean, half of the range that the instances alone give to one training.
    solver: the group of the searches that it is of, as "beams", where that counts.
    """

    value: float | Fraction
    note: str = ""
    low: float = NAN
    high: float = NAN
    exhaustive: float = NAN
    file: str = ""
    fact: bool = False
    text: str = ""
    missing: str = ""
    told: bool = False
    error_share: float = NAN
    no_merit: bool = False
    seeds: int = 1
    spread: float = NAN
    chance: float = NAN
    solver: str = ""


def absent(verdict: str, why: str) -> Finding:
    """No number, and the verdict that says so."""
    return Finding(NAN, why, missing=verdict)


def share(percent: float, of: float, note: str = "", file: str = "") -> Finding:
    """A share, in per cent, of a number of states or searches, with its interval unless there is only one."""
    low, high = wilson(round(percent * of / 100), int(of)) if of > 1 else (NAN, NAN)
    return Finding(percent, note, 100 * low, 100 * high, file=file)


def mean(values: pd.Series, note: str = "", file: str = "") -> Finding:
    """A mean with its interval."""
    value, low, high = mean_interval(values)
    return Finding(value, note, low, high, file=file)


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
    """A function that finds numbers, for rows of which kind, and the address of the table that it looks into."""

    function: Callable[..., "Finding | float | None"]
    kind: str
    table: str

    def ask(self, results: StudyResults, row: Row) -> Finding | None:
        """What it finds; None for rows of another kind, where there is no such table, or nothing to say."""
        if not KINDS[self.kind](row):
            return None
        address = self.table.format_map(row)
        frame = results.find_frame(address) if address else None
        if address and frame is None:
            return None
        found = self.function(results, row, frame) if address else self.function(results, row)
        found = found if found is None or isinstance(found, Finding) else Finding(float(found))
        if found is None or (math.isnan(found.value) and not found.missing):
            return None
        return replace(found, file=results.place(address)) if address and not found.file else found


_FINDERS: dict[tuple[str, str], list[Finder]] = {}  # by document, empty for all, and quantity


def finds(*quantities: str, of: str = "every", table: str = "", document: str = "") -> Callable[[Function], Function]:
    """Register a function that finds our number for these quantities, in rows of a kind.

    It is called with the results and the row, and with a table where it names one, as "searches/{ours}/grid"; it
    returns a Finding, a mere number, or None where the results do not have it. Several may be asked for a quantity, of
    other kinds of rows or results: a fact is taken before all else, then the first number of a module.
    document: the one whose numbers of that name are others than those of all documents.
    """

    def register(function: Function) -> Function:
        for quantity in quantities:
            _FINDERS.setdefault((document, quantity), []).append(Finder(function, of, table))
        return function

    return register


def quantities_looked_up() -> set[str]:
    """The quantities of all documents for which a function is registered."""
    return {quantity for document, quantity in _FINDERS if not document}


def look_up(results: StudyResults, row: Row) -> Finding | None:
    """Our number for a row, None where the results have none.

    Of a training that was repeated with several seeds it is their mean, and the interval is where one more training
    would lie; of a claim on all models it is the number that decides, if all of them have one.
    """
    if isinstance(row.get("model"), str) or not row.get("models"):
        return _of_seeds(results, row)
    found = _first(results, row)
    if found is not None:
        return found
    several = [one for model in row["models"] if (one := _of_seeds(results, row | {"ours": model})) is not None]
    return deciding(several, row) if len(several) == len(row["models"]) else None


def deciding(several: list[Finding], row: Row) -> Finding:
    """The answer that decides a claim on all models, of those of each of them."""
    worst = extreme(pd.Series([one.value for one in several]), row)
    return replace(next(one for one in several if one.value == worst), note=f"over {len(several)} models")


def _of_seeds(results: StudyResults, row: Row) -> Finding | None:
    """The number of the row's training, or of all its seeds together, also where one of them represents the study."""
    model = row.get("ours") or ""
    name = results.trainings.get(model, TrainingName(model))
    if name.seed and not row["listed"]:
        asked = [(results.of_seed(seed), each) for seed, each in trainings_of(results, name.variant).items()]
    else:
        asked = [(results, each) for each in trainings_of(results, model).values()]
    found = [_first(seen, row | {"ours": each}) for seen, each in asked] if asked else [_first(results, row)]
    found = [one for one in found if one is not None]
    is_same = row["kind"] in (FACT, SETTING) or any(one.fact or one.told for one in found)
    return found[0] if is_same and found else pooled(found)


def trainings_of(results: StudyResults, model: str) -> dict[int, str]:
    """The trainings of a model that have run, by seed: itself, with the seed 0, or those with several seeds."""
    if results.has(f"models/{model}"):
        return {0: model}
    return {seed: each for seed, each in results.seeds_of(model).items() if results.has(f"models/{each}")}


def pooled(found: list[Finding]) -> Finding | None:
    """The mean over trainings that differ in their seed, with the interval (95 %) in which one more would lie.

    It is never narrower than those of single ones: trainings that search the same few instances may agree by chance.
    The verdict where there is no number is kept if it is that of most of them; the others are then left out.
    """
    numbers = [one for one in found if not one.missing]
    if 2 * len(numbers) <= len(found):
        without = [one for one in found if one.missing]
        told = (
            f"{len(without)} of {len(found)} seeds have none; the first of them: {without[0].note}" if without else ""
        )
        return replace(without[0], note=told if len(found) > 1 else without[0].note) if without else None
    if len(numbers) == 1:
        return numbers[0]
    value, low, _ = mean_interval([one.value for one in numbers])
    single = [(one.high - one.low) / 2 for one in numbers if not math.isnan(one.low)]
    chance = float(np.mean(single or [0]))
    half = max((value - low) * math.sqrt(len(numbers) + 1), chance)
    means = {name: float(np.mean([getattr(one, name) for one in numbers])) for name in ("exhaustive", "error_share")}
    left = f", {len(found) - len(numbers)} more have none" if len(numbers) < len(found) else ""
    note = f"mean of {len(numbers)} seeds{left}" + (f"; the first: {numbers[0].note}" if numbers[0].note else "")
    means |= {
        "low": value - half,
        "high": value + half,
        "spread": float(np.std([one.value for one in numbers], ddof=1)),
        "chance": chance,
    }
    return replace(numbers[0], value=value, note=note, seeds=len(numbers), **means)


def _first(results: StudyResults, row: Row) -> Finding | None:
    """The first number of a module; facts before all others, numbers before what is missing."""
    of_document, of_all = ((document, row["quantity"]) for document in (row.get("source"), ""))
    found = [finder.ask(results, row) for finder in _FINDERS.get(of_document) or _FINDERS.get(of_all, ())]
    return next(iter(sorted(filter(None, found), key=lambda one: (not one.fact, bool(one.missing)))), None)
