"""How far two trainings of one recipe lie apart: this study's, repeated with several seeds by a kept study.

A table shows it, and a verdict on a number of such a training takes the others in.
"""

import math
from typing import Any

import pandas as pd

from costtogo.figures.catalogue import kept_of
from costtogo.report.answer import Answer, Row
from costtogo.report.answers.audit import measure
from costtogo.report.answers.cells import of_cells
from costtogo.report.markdown import Format, amount, code, percent, places, table
from costtogo.report.results import StudyResults, alike

REPEATS = "repeats"  # the table that such a study keeps (costtogo.commands.variants)
MEASURES: dict[str, tuple[str, Format]] = {  # of the chosen checkpoint over all states, and of the headline search
    "mean_absolute_error": ("its mean absolute error, moves", places(3)),
    "admissible_percent": ("admissible, %", percent),
    "consistent_percent": ("consistent, %", percent),
    "optimal_percent": ("optimal, %", percent),
    "nodes_expanded": ("nodes expanded", amount),
}
AUDITED = ("mean_absolute_error", "admissible_percent", "overestimation_mean", "consistent_percent")
SEARCHED = ("optimal_percent", "nodes_expanded", "length")
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
    rows = _checkpoints(results, kept, model)
    if rows.empty:
        return rows
    headline = results.headline(results.training(model)["puzzle"])
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


def _checkpoints(results: StudyResults, kept: StudyResults, model: str) -> pd.DataFrame:
    """What a kept study has of all seeds of a model; without rows where it has not trained it by the same recipe."""
    again = kept.find_card(f"models/{model}_seed1").get("parameters", {}).get("training")
    found = kept.find(REPEATS)
    if found is None or again is None or _without_seed(again) != _without_seed(results.training(model)):
        return pd.DataFrame()
    return found[found["variant"] == model]


def with_other_seeds(results: StudyResults, row: Row) -> list[Answer]:
    """What trainings by the recipe of the row's own with other seeds, which other studies have kept, answer to a row.

    At the checkpoint and the λ and N of the row; none for a number that is not kept of them.
    """
    model = row["ours"]
    if not isinstance(model, str) or not results.has(f"models/{model}"):
        return []
    found = []
    for path in kept_of(results.params, [results.training(model)["puzzle"]], results.references.measured):
        kept = results.kept(path.stem)
        rows = _checkpoints(results, kept, model)
        for number, of_seed in rows.groupby("seed") if len(rows) else ():
            name = f"{model}_seed{number}"
            of_own_seed = kept.training(name)["seed"] == results.training(model)["seed"]
            if not of_own_seed:  # else it is the same training, made again
                found.append(_answered(kept, row | {"ours": name}, of_seed))
    return [each for each in found if each is not None]


def _answered(kept: StudyResults, row: Row, rows: pd.DataFrame) -> Answer | None:
    """What one training answers; rows: its checkpoints, as they are kept."""
    if row["quantity"] in AUDITED:
        return measure(kept, row, rows.drop_duplicates(["scope", "iteration"]))
    cell = [row["path_weight"], row["batch_size"]]
    if row["quantity"] not in SEARCHED or not math.isnan(row["distance"]) or any(map(math.isnan, cell)):
        return None
    return of_cells(kept, row, rows[rows["scope"] == "all"], kept.place(REPEATS))


def _without_seed(training: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in training.items() if name != "seed"}


def repeats_table(found: pd.DataFrame) -> str:
    """Mean, least and most of each measure, a row a model.  found: as repeats returns it."""
    header = ["model", "trainings", *(heading for heading, _ in MEASURES.values())]
    lines = []
    for model, rows in found.groupby("model", sort=False):
        by_measure = rows.set_index("measure")
        spreads = [_spread(by_measure.loc[name], form) for name, (_, form) in MEASURES.items()]
        lines.append([code(str(model)), f"{rows['seeds'].max():.0f}", *spreads])
    return table(header, lines)


def _spread(row: pd.Series, form: Format) -> str:
    """The mean, and the least and the most where they differ as written.  -> "99.6 [99.3, 99.9]"."""
    mean, least, most = (form(row[name]) for name in ("mean", "least", "most"))
    return mean if least == most else f"{mean} [{least}, {most}]"
