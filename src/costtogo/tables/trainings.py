"""The parameters of a study's trainings, one column a model."""

from typing import Any

import pandas as pd

from costtogo.analysis.numbers import short
from costtogo.params.trainers import used_parameters
from costtogo.tables.results import StudyResults


def settings(results: StudyResults) -> pd.DataFrame:
    """Every parameter of the finished trainings of a puzzle as text, one column a model; a dash where one has none."""
    cards = [results.card(f"models/{model}") for model in results.trained]
    used = [used_parameters(card["parameters"]["training"]) for card in cards]
    rows = [[key, *(short(flat.get(key, "–")) for flat in used)] for key in keys_of(used)]
    return pd.DataFrame(rows, columns=["parameter", *results.trained])


def keys_of(dictionaries: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for entries in dictionaries for key in entries))
