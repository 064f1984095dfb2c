"""Trainings with several seeds as tables of a report: the mean of each measure, and how far the seeds differ."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pandas as pd

from costtogo.analysis.numbers import Format, amount, is_missing, percent, places
from costtogo.report.markdown import code, interval, table

Written = Callable[[pd.Series], str]  # makes a text of a row of compare


class Mean(NamedTuple):
    """A column of a table of means: its heading, the measure that it shows, and how a row of compare is written."""

    heading: str
    measure: str
    written: Written


def means_table(found: pd.DataFrame, by: dict[str, str], means: Iterable[Mean], seeds: str = "trainings") -> str:
    """A row for each group of trainings, with the number of their seeds and the means of their measures.

    found: as costtogo.analysis.several_seeds.compare returns it.  by: the columns that tell groups apart, with their
    headings.  seeds: the heading of how many seeds there are.
    """
    means, lines = [*means], []
    for names, rows in found.groupby([*by], sort=False):
        by_measure = rows.set_index("measure")
        cells = [each.written(by_measure.loc[each.measure]) for each in means]
        lines.append([*map(str, names), f"{rows['seeds'].max():.0f}", *cells])
    return table([*by.values(), seeds, *(each.heading for each in means)], lines)


def in_code(found: pd.DataFrame, name: str) -> pd.DataFrame:
    """The same with the names of a column in code letters."""
    return found.assign(**{name: found[name].map(code)})


# How a row of compare is written


def with_interval(form: Format) -> Written:
    """The mean, and its interval where there is one.  -> "24.10 [23.80, 24.40]"."""
    return lambda row: interval(row["mean"], row["low"], row["high"], form)


def with_half(form: Format) -> Written:
    """The mean, and half its interval where there is one.  -> "24.10 ± 0.30"."""

    def written(row: pd.Series) -> str:
        half = (row["high"] - row["low"]) / 2
        return form(row["mean"]) + ("" if is_missing(half) else f" ± {form(half)}")

    return written


def with_ends(form: Format) -> Written:
    """The mean, and the least and the most where they differ as written.  -> "99.6 [99.3, 99.9]"."""
    return lambda row: spread(row["least"], row["mean"], row["most"], form)


def bold_where_it_differs(written: Written) -> Written:
    """The same, in bold where the interval of the difference does not hold 0."""
    return lambda row: f"**{written(row)}**" if differs(row) else written(row)


def difference(row: pd.Series) -> str:
    """The interval of the difference; empty for what the others are compared with.  -> "-0.51 … -0.42"."""
    ends = row["difference_low"], row["difference_high"]
    return "" if is_missing(ends[0]) else " … ".join(f"{end:+.2f}" for end in ends)


def differs(row: pd.Series) -> bool:
    """Whether the interval of the difference does not hold 0."""
    return row["difference_low"] > 0 or row["difference_high"] < 0


def spread(least: float, middle: float, most: float, form: Format) -> str:
    """A number that stands for several, and the least and the most where they differ.  -> "81 [64, 120]"."""
    low, between, high = form(least), form(middle), form(most)
    return between if low == high else f"{between} [{low}, {high}]"


# The tables of a study's own recipes

OF_SEARCHES = (
    Mean("solved, %", "solved_percent", with_interval(percent)),
    Mean("mean length, moves", "length", with_interval(places(2))),
    Mean("longer by, moves", "length", bold_where_it_differs(difference)),
)
OF_RECIPES = (  # of the chosen checkpoint over all states, and of the headline search
    Mean("its mean absolute error, moves", "mean_absolute_error", with_ends(places(3))),
    Mean("admissible, %", "admissible_percent", with_ends(percent)),
    Mean("consistent, %", "consistent_percent", with_ends(percent)),
    Mean("optimal, %", "optimal_percent", with_ends(percent)),
    Mean("nodes expanded", "nodes_expanded", with_ends(amount)),
)


def seeds_table(found: pd.DataFrame) -> str:
    """A row for each setting and variant.  found: as costtogo.tables.several_seeds.seeds returns it, with rows."""
    return means_table(in_code(found, "variant"), {"searches": "searches", "variant": "model"}, OF_SEARCHES)


def repeats_table(found: pd.DataFrame) -> str:
    """A row for each model.  found: as costtogo.tables.several_seeds.repeats returns it."""
    return means_table(in_code(found, "model"), {"model": "model"}, OF_RECIPES)
