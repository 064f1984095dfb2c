"""Claims that one training or program is worse than another: two trainings of ours, as alike as the document's."""

import math
from collections.abc import Callable

import pandas as pd

from costtogo.analysis.intervals import wilson
from costtogo.literature.finding import Finding, Row, absent, finds
from costtogo.literature.words import NOT_COMPARABLE
from costtogo.tables.results import StudyResults

PAIRS = {  # by the training that a document calls worse: ours like it, and ours like the one that it prefers
    "Report_DNN_eps0085": ("epsilon_0085", "epsilon_005"),  # config/cube3-final-year.yaml
    "Report_MLP": ("compact_MLP", "compact_CNN"),  # config/puzzle15-final-year.yaml
    "Report_Polyak": ("compact_Polyak", "compact_threshold"),  # config/puzzle24-trials.yaml; the first in both studies
    "Report_first_trial": ("compact_no_target", "compact_threshold"),
}
Measure = Callable[[pd.Series], tuple[float, float]]  # of a row of a grid: a number, and half of its interval


def _length(cell: pd.Series) -> tuple[float, float]:
    return cell["length"], (cell["length_high"] - cell["length_low"]) / 2


def _solved(cell: pd.Series) -> tuple[float, float]:
    low, high = wilson(round(cell["solved_percent"] * cell["instances"] / 100), int(cell["instances"]))
    return cell["solved_percent"], 50 * (high - low)


MEASURES: dict[str, tuple[Measure, int]] = {"length_more": (_length, 1), "solved_points_less": (_solved, -1)}


@finds(*MEASURES, of="sampled")
def worse_than_the_other(results: StudyResults, row: Row) -> Finding | None:
    """By how much the longest searches under a clock are worse with the one network; lengths, if all are solved."""
    grids = [results.find_frame(f"anytime/{model}/grid") for model in PAIRS.get(row["model"], ())]
    if not grids or any(grid is None for grid in grids):
        return None
    cells = [grid.loc[grid["seconds_allowed"].idxmax()] for grid in grids if grid is not None]
    measure, sign = MEASURES[row["quantity"]]
    if row["quantity"] == "length_more" and any(cell["solved_percent"] < 100 for cell in cells):
        return absent(NOT_COMPARABLE, "not all are solved, so that mean lengths are of other states")
    (worse, half), (other, other_half) = (measure(cell) for cell in cells)
    value, around = sign * (worse - other), math.hypot(half, other_half)
    names, cell = PAIRS[row["model"]], cells[0]
    note = f"{names[0]} and {names[1]}, {cell['instances']:.0f} states of the set {cell['set']}"
    note += f", {cell['seconds_allowed']:g} s each, by one training of either"
    return Finding(value, note, value - around, value + around, file=results.place(f"anytime/{names[0]}/grid"))


@finds("nodes_ratio_earlier", "length_less_earlier")
def than_earlier_programs(results: StudyResults, row: Row) -> Finding:
    """Compared with programs of which our copy of the document has no number."""
    return absent(NOT_COMPARABLE, "the earlier programs' numbers are in a table that our copy does not have")
