"""Trainings with several seeds in a study of a puzzle whose states are sampled: what differs beyond chance."""

import pandas as pd

from costtogo.analysis.variants import compare
from costtogo.params.base import variant_of
from costtogo.tables.results import StudyResults

MEASURES = ("solved_percent", "length")
SETTINGS = {"width": "width {:,}", "seconds_allowed": "{:g} s each"}  # in words
COLUMNS = ["searches", "variant", "measure", "seeds", "mean", "low", "high", "difference_low", "difference_high"]


def seeds(results: StudyResults) -> pd.DataFrame:
    """A row for each setting of searches, variant and measure, over the seeds of each variant.

    Columns COLUMNS: the mean with its 95 % interval, and that of the difference from the headline's variant, paired by
    seed. Without rows where no training has several seeds.
    """
    base, _ = variant_of(results.headline_model)
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
