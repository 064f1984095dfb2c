"""What kept trainings by the same recipe with other seeds answer to a number of the literature."""

import math

import pandas as pd

from costtogo.literature.answers.audit import measure
from costtogo.literature.answers.listed_searches import of_cells
from costtogo.literature.finding import Finding, Row
from costtogo.tables.results import StudyResults
from costtogo.tables.several_seeds import REPEATS, checkpoints_of_recipe

AUDITED = ("mean_absolute_error", "admissible_percent", "overestimation_mean", "consistent_percent")
SEARCHED = ("optimal_percent", "nodes_expanded", "length")


def with_other_seeds(results: StudyResults, row: Row) -> list[Finding]:
    """What trainings by the recipe of the row's own with other seeds, which other studies have kept, answer to a row.

    At the checkpoint and the λ and N of the row; none for a number that is not kept of them.
    """
    model = row["ours"]
    if not isinstance(model, str) or not results.has(f"models/{model}"):
        return []
    found = []
    for kept in results.kept_on(results.training(model)["puzzle"]):
        rows = checkpoints_of_recipe(results, kept, model)
        for number, of_seed in rows.groupby("seed") if len(rows) else ():
            name = kept.seeds_of(model)[number]
            of_own_seed = kept.training(name)["seed"] == results.training(model)["seed"]
            if not of_own_seed:  # else it is the same training, made again
                found.append(_answered(kept, row | {"ours": name}, of_seed))
    return [each for each in found if each is not None]


def _answered(kept: StudyResults, row: Row, rows: pd.DataFrame) -> Finding | None:
    """What one training answers; rows: its checkpoints, as they are kept."""
    if row["quantity"] in AUDITED:
        return measure(kept, row, rows.drop_duplicates(["scope", "iteration"]))
    cell = [row["path_weight"], row["batch_size"]]
    if row["quantity"] not in SEARCHED or not math.isnan(row["distance"]) or any(map(math.isnan, cell)):
        return None
    return of_cells(kept, row, rows[rows["scope"] == "all"], kept.place(REPEATS))
