"""Trainings with several seeds in a study of a puzzle whose states are sampled: what differs beyond chance."""

import pandas as pd

from costtogo.analysis.variants import compare
from costtogo.params.base import variant_of
from costtogo.report.markdown import Format, code, is_missing, percent, places, table
from costtogo.report.results import StudyResults

MEASURES: dict[str, tuple[str, Format]] = {
    "solved_percent": ("solved, %", percent),
    "length": ("mean length, moves", places(2)),
}
SETTINGS = {"width": "width {:,}", "seconds_allowed": "{:g} s each"}  # in words
COLUMNS = ["searches", "variant", "measure", "seeds", "mean", "low", "high", "difference_low", "difference_high"]


def seeds(results: StudyResults) -> pd.DataFrame:
    """A row for each setting of searches, variant and measure, over the seeds of each variant.

    Columns COLUMNS: the mean with its 95 % interval, and that of the difference from the headline's variant, paired by
    seed. Without rows where no training has several seeds.
    """
    base, _ = variant_of(results.asked.headline or min(results.model_names))
    found = [_of_group(results, group, base) for group in results.asked.by_group]
    found = [frame for frame in found if len(frame)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=COLUMNS)


def _of_group(results: StudyResults, group: str, base: str) -> pd.DataFrame:
    """The rows of the searches by one solver."""
    grid = results.of_each(results.model_names, f"{group}/{{}}/grid")
    names = pd.DataFrame([variant_of(model) for model in grid.get("model", [])], columns=["variant", "seed"])
    grid = grid.reset_index(drop=True).assign(**names)
    if grid.empty or not (grid["seed"] > 0).any() or base not in set(grid["variant"]):
        return pd.DataFrame(columns=COLUMNS)
    (first, *_), frames = results.asked.by_group[group], []
    for cell, rows in grid[grid["seed"] > 0].groupby([*first.cell], sort=False):
        setting = ", ".join(
            SETTINGS.get(name, name + " {}").format(value) for name, value in zip(first.cell, cell, strict=True)
        )
        frames.append(compare(rows, base, list(MEASURES)).assign(searches=f"{first.words}, {setting}"))
    return pd.concat(frames)[COLUMNS]


def seeds_table(found: pd.DataFrame) -> str:
    """A row for each setting and variant.  found: as seeds returns it, with rows."""
    header = ["searches", "model", "trainings", *(heading for heading, _ in MEASURES.values()), "longer by, moves"]
    lines = []
    for (setting, variant), rows in found.groupby(["searches", "variant"], sort=False):
        by_measure = rows.set_index("measure")
        means = [_interval(by_measure.loc[name], form) for name, (_, form) in MEASURES.items()]
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
