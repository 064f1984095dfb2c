"""Trainings that differ in their seed: of a study's own recipes, and kept by a study that trained a recipe again.

A table shows how far the seeds lie apart. A verdict on a number of a recipe that was trained again takes all seeds in.
"""

from typing import Any

import pandas as pd

from costtogo.analysis.several_seeds import compare
from costtogo.tables.results import StudyResults, alike

REPEATS = "repeats"  # the table that such a study keeps (costtogo.commands.variants)
OF_RECIPES = (  # of the chosen checkpoint over all states, and of the headline search
    *("mean_absolute_error", "admissible_percent", "consistent_percent", "optimal_percent", "nodes_expanded"),
)
OF_SEARCHES = ("solved_percent", "length")
SETTINGS = {"width": "width {:,}", "seconds_allowed": "{:g} s each"}  # of searches, in words
COLUMNS = ["searches", "variant", "measure", "seeds", "mean", "low", "high", "difference_low", "difference_high"]
REPEATED = ["model", "study", "measure", "seeds", "mean", "least", "most"]


def seeds(results: StudyResults) -> pd.DataFrame:
    """A row for each setting of searches, variant and measure, over the seeds of each variant.

    Columns COLUMNS: the mean with its 95 % interval, and that of the difference from the headline's variant, paired by
    seed. Without rows where no training has several seeds.
    """
    base = results.trainings[results.headline_model].variant
    return _one_under_the_other([_of_group(results, group, base) for group in results.asked.by_group], COLUMNS)


def _of_group(results: StudyResults, group: str, base: str) -> pd.DataFrame:
    """The rows of the searches by one solver."""
    grid = results.of_each(results.model_names, f"{group}/{{}}/grid")
    names = [results.trainings[model] for model in grid.get("model", [])]
    grid = grid.reset_index(drop=True).assign(**pd.DataFrame(names, columns=["variant", "seed"]))
    if grid.empty or not (grid["seed"] > 0).any() or base not in set(grid["variant"]):
        return pd.DataFrame()
    (first, *_), frames = results.asked.by_group[group], []
    for cell, rows in grid[grid["seed"] > 0].groupby([*first.cell], sort=False):
        named = zip(first.cell, cell, strict=True)
        setting = ", ".join(SETTINGS.get(name, name + " {}").format(value) for name, value in named)
        frames.append(compare(rows, "variant", OF_SEARCHES, base).assign(searches=f"{first.words}, {setting}"))
    return pd.concat(frames)


def repeats(results: StudyResults) -> pd.DataFrame:
    """A row for each measure and model of the one puzzle that a kept study has trained again by the same recipe.

    Columns REPEATED: the mean, the least and the most over the seeds.
    """
    frames = []
    for model, kept in [(model, kept) for model in results.trained for kept in results.kept_on(results.puzzle)]:
        chosen = _chosen(results, kept, model)
        if len(chosen):
            frames.append(compare(chosen, "variant", OF_RECIPES).assign(model=model, study=kept.study))
    return _one_under_the_other(frames, REPEATED).astype({"seeds": float})


def of_seeds(results: StudyResults, model: str) -> pd.DataFrame:
    """A row for each seed with which kept studies trained a model's recipe again, at the headline's λ and N."""
    kept = results.kept_on(results.puzzle)
    return pd.concat([pd.DataFrame(), *(_chosen(results, each, model) for each in kept)])


def _chosen(results: StudyResults, kept: StudyResults, model: str) -> pd.DataFrame:
    """What a kept study has of all seeds of a model at the checkpoints chosen and the headline's λ and N."""
    rows = checkpoints_of_recipe(results, kept, model)
    if rows.empty:
        return rows
    headline = results.headline_cell(results.training(model)["puzzle"])
    rows = alike(rows[rows["scope"] == "all"], headline, "set", "path_weight", "batch_size")
    return rows[rows["selected"].astype(bool)]  # none where trainings were audited and not searched yet


def checkpoints_of_recipe(results: StudyResults, kept: StudyResults, model: str) -> pd.DataFrame:
    """What a kept study has of all seeds of a model; without rows where it has not trained it by the same recipe."""
    found, first = kept.find_frame(REPEATS), kept.seeds_of(model).get(1)
    if found is None or first is None:
        return pd.DataFrame()
    again = kept.card(f"models/{first}")["parameters"]["training"]
    if _without_seed(again) != _without_seed(results.training(model)):
        return pd.DataFrame()
    return found[found["variant"] == model]


def _without_seed(training: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in training.items() if name != "seed"}


def _one_under_the_other(frames: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """Some columns of the frames that have rows."""
    found = [frame for frame in frames if len(frame)]
    return pd.concat(found, ignore_index=True)[columns] if found else pd.DataFrame(columns=columns)
