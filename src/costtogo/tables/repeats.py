"""How far two trainings of one recipe lie apart: this study's, repeated with several seeds by a kept study.

A table shows it, and a verdict on a number of such a training takes the others in.
"""

from typing import Any

import pandas as pd

from costtogo.tables.kept import kept_of
from costtogo.tables.results import StudyResults, alike

REPEATS = "repeats"  # the table that such a study keeps (costtogo.commands.variants)
MEASURES = (  # of the chosen checkpoint over all states, and of the headline search
    *("mean_absolute_error", "admissible_percent", "consistent_percent", "optimal_percent", "nodes_expanded"),
)
COLUMNS = ["model", "study", "measure", "seeds", "mean", "least", "most"]


def repeats(results: StudyResults) -> pd.DataFrame:
    """A row for each model of the one puzzle that a kept study has trained again by the same recipe, and measure.

    Columns model, study, measure, seeds, and the mean, the least and the most over the seeds.
    """
    paths = kept_of(results.params, [results.puzzle], results.references.measured)
    kept = [results.kept(path.stem) for path in paths]
    frames = [_of_model(results, each, model) for model in results.trained for each in kept]
    frames = [frame for frame in frames if frame is not None]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)


def of_seeds(results: StudyResults, model: str) -> pd.DataFrame:
    """What kept trainings by a model's recipe with other seeds came to: a row a seed, at the headline's λ and N."""
    paths = kept_of(results.params, [results.puzzle], results.references.measured)
    return pd.concat([pd.DataFrame(), *(_chosen(results, results.kept(path.stem), model) for path in paths)])


def _chosen(results: StudyResults, kept: StudyResults, model: str) -> pd.DataFrame:
    """What a kept study has of all seeds of a model at the checkpoints chosen and the headline's λ and N."""
    rows = checkpoints_of_recipe(results, kept, model)
    if rows.empty:
        return rows
    headline = results.headline_cell(results.training(model)["puzzle"])
    rows = alike(rows[rows["scope"] == "all"], headline, "set", "path_weight", "batch_size")
    return rows[rows["selected"].astype(bool)]  # none where trainings were audited and not searched yet


def _of_model(results: StudyResults, kept: StudyResults, model: str) -> pd.DataFrame | None:
    """The rows of a model; None where it was not repeated."""
    chosen = _chosen(results, kept, model)
    if chosen.empty:
        return None
    summary = chosen[[*MEASURES]].agg(["count", "mean", "min", "max"]).T.rename_axis("measure").reset_index()
    named = summary.rename(columns={"count": "seeds", "min": "least", "max": "most"})
    return named.assign(model=model, study=kept.study)[COLUMNS]


def checkpoints_of_recipe(results: StudyResults, kept: StudyResults, model: str) -> pd.DataFrame:
    """What a kept study has of all seeds of a model; without rows where it has not trained it by the same recipe."""
    again = kept.find_card(f"models/{model}_seed1").get("parameters", {}).get("training")
    found = kept.find(REPEATS)
    if found is None or again is None or _without_seed(again) != _without_seed(results.training(model)):
        return pd.DataFrame()
    return found[found["variant"] == model]


def _without_seed(training: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in training.items() if name != "seed"}
