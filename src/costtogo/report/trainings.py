"""The parameters and the measures of trainings, as their cards have them, side by side."""

from typing import Any

import pandas as pd

from costtogo.params.trainers import used_parameters
from costtogo.report.markdown import amount, code, is_missing, short, table
from costtogo.report.results import StudyResults


def training_table(results: StudyResults) -> str:
    """The finished trainings of a puzzle, one column a model: the parameters that differ, and what came out."""
    models, parameters = results.trained, settings(results)
    metrics = [results.card(f"models/{model}")["metrics"] for model in models]
    differ = parameters[parameters[models].nunique(axis=1) > 1]
    asked = set(differ["parameter"])
    rows = [[f"*{key}*", *cells] for key, *cells in differ.itertuples(index=False) if key not in _keys(metrics)]
    for key in _keys(metrics):
        heading = key.replace("_", " ")
        rows.append([f"*{heading}*" if key in asked else heading, *(_measured(found.get(key)) for found in metrics)])
    return table(["", *map(code, models)], rows)


def settings(results: StudyResults) -> pd.DataFrame:
    """Every parameter of the finished trainings of a puzzle as text, one column a model; a dash where one has none."""
    cards = [results.card(f"models/{model}") for model in results.trained]
    used = [used_parameters(card["parameters"]["training"]) for card in cards]
    rows = [[key, *(short(flat.get(key, "–")) for flat in used)] for key in _keys(used)]
    return pd.DataFrame(rows, columns=["parameter", *results.trained])


def _keys(dictionaries: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for entries in dictionaries for key in entries))


def _measured(value) -> str:
    return amount(value) if is_missing(value) or value >= 100 or value == int(value) else f"{value:.4g}"
