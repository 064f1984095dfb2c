"""The parameters and the measures of trainings, as their cards have them, side by side."""

from costtogo.analysis.numbers import amount, is_missing
from costtogo.report.markdown import code, table
from costtogo.tables.results import StudyResults
from costtogo.tables.trainings import keys_of, settings


def training_table(results: StudyResults) -> str:
    """The finished trainings of a puzzle, one column a model: the parameters that differ, and what came out."""
    models, parameters = results.trained, settings(results)
    metrics = [results.card(f"models/{model}")["metrics"] for model in models]
    differ = parameters[parameters[models].nunique(axis=1) > 1]
    asked = set(differ["parameter"])
    rows = [[f"*{key}*", *cells] for key, *cells in differ.itertuples(index=False) if key not in keys_of(metrics)]
    for key in keys_of(metrics):
        heading = key.replace("_", " ")
        rows.append([f"*{heading}*" if key in asked else heading, *(_measured(found.get(key)) for found in metrics)])
    return table(["", *map(code, models)], rows)


def _measured(value) -> str:
    return amount(value) if is_missing(value) or value >= 100 or value == int(value) else f"{value:.4g}"
