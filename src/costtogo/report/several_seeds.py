"""Trainings with several seeds as tables of a report: the mean of each measure, and how far the seeds differ."""

import pandas as pd

from costtogo.analysis.numbers import Format, amount, is_missing, percent, places
from costtogo.report.markdown import code, table

OF_SEARCHES: dict[str, tuple[str, Format]] = {
    "solved_percent": ("solved, %", percent),
    "length": ("mean length, moves", places(2)),
}
OF_RECIPES: dict[str, tuple[str, Format]] = {  # of the chosen checkpoint over all states, and of the headline search
    "mean_absolute_error": ("its mean absolute error, moves", places(3)),
    "admissible_percent": ("admissible, %", percent),
    "consistent_percent": ("consistent, %", percent),
    "optimal_percent": ("optimal, %", percent),
    "nodes_expanded": ("nodes expanded", amount),
}


def seeds_table(found: pd.DataFrame) -> str:
    """A row for each setting and variant.  found: as seeds returns it, with rows."""
    header = ["searches", "model", "trainings", *(heading for heading, _ in OF_SEARCHES.values()), "longer by, moves"]
    lines = []
    for (setting, variant), rows in found.groupby(["searches", "variant"], sort=False):
        by_measure = rows.set_index("measure")
        means = [_interval(by_measure.loc[name], form) for name, (_, form) in OF_SEARCHES.items()]
        apart = by_measure.loc["length"]
        lines.append([setting, code(variant), f"{rows['seeds'].max():.0f}", *means, _difference(apart)])
    return table(header, lines)


def _interval(row: pd.Series, form: Format) -> str:
    """A mean, and its interval where there is one.  -> "24.10 [23.80, 24.40]"."""
    ends = "" if is_missing(row["low"]) else f" [{form(row['low'])}, {form(row['high'])}]"
    return form(row["mean"]) + ends


def _difference(row: pd.Series) -> str:
    """The interval of a difference, in bold if it does not hold 0; empty for what is compared with."""
    low, high = row["difference_low"], row["difference_high"]
    if is_missing(low):
        return ""
    text = f"{low:+.2f} … {high:+.2f}"
    return f"**{text}**" if low > 0 or high < 0 else text


def repeats_table(found: pd.DataFrame) -> str:
    """Mean, least and most of each measure, a row a model.  found: as repeats returns it."""
    header = ["model", "trainings", *(heading for heading, _ in OF_RECIPES.values())]
    lines = []
    for model, rows in found.groupby("model", sort=False):
        by_measure = rows.set_index("measure")
        spreads = [_spread(by_measure.loc[name], form) for name, (_, form) in OF_RECIPES.items()]
        lines.append([code(str(model)), f"{rows['seeds'].max():.0f}", *spreads])
    return table(header, lines)


def _spread(row: pd.Series, form: Format) -> str:
    """The mean, and the least and the most where they differ as written.  -> "99.6 [99.3, 99.9]"."""
    mean, least, most = (form(row[name]) for name in ("mean", "least", "most"))
    return mean if least == most else f"{mean} [{least}, {most}]"
