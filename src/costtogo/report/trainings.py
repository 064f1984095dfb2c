"""The parameters and the measures of trainings, as their cards have them, side by side."""

from typing import Any, get_args

import pandas as pd

from costtogo.files import flatten
from costtogo.params.base import Kind
from costtogo.params.training import ArchitectureParams, ModelParams, SamplerParams
from costtogo.report.markdown import amount, code, is_missing, short, table
from costtogo.report.results import StudyResults

TAGS = ("kind", "trainer", "optimizer")  # which tell kinds of a training, sampler or architecture apart


def training_table(results: StudyResults) -> str:
    """The finished trainings of a puzzle, one column a model: the parameters that differ, and what came out."""
    models, parameters = results.trained, settings(results)
    metrics = [results.card(f"models/{model}")["metrics"] for model in models]
    differ = parameters[(parameters[models].nunique(axis=1) > 1) & ~parameters["parameter"].isin(_keys(metrics))]
    rows = [[f"*{key}*", *cells] for key, *cells in differ.itertuples(index=False)]
    rows += [[key.replace("_", " "), *(_measured(found.get(key)) for found in metrics)] for key in _keys(metrics)]
    return table(["", *map(code, models)], rows)


def settings(results: StudyResults) -> pd.DataFrame:
    """Every parameter of the finished trainings of a puzzle as text, one column a model; a dash where one has none."""
    cards = [results.card(f"models/{model}") for model in results.trained]
    used = [used_parameters(card["parameters"]["training"]) for card in cards]
    rows = [[key, *(short(flat.get(key, "–")) for flat in used)] for key in _keys(used)]
    return pd.DataFrame(rows, columns=["parameter", *results.trained])


def used_parameters(training: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a training by dotted key, without those that its trainer, sampler and network do not look at."""
    architecture = training.get("architecture", {})
    idle = _of_others(ModelParams, training) | ({"epsilon"} if training.get("polyak") else set())
    idle |= {f"sampler.{name}" for name in _of_others(SamplerParams, training["sampler"])}
    idle |= {f"architecture.{name}" for name in _of_others(ArchitectureParams, architecture)}
    idle |= {"architecture.outputs"} if architecture.get("kind") in ("automaton", "gru") else set()
    return {key: value for key, value in flatten(training).items() if key not in idle}


def _of_others(kinds: type[Kind], record: dict[str, Any]) -> set[str]:
    """The parameters of some kinds that the one which a record is of does not have."""

    def is_of(kind: type[Kind]) -> bool:
        """Whether the record has the tags of a kind."""
        tags = {name: field for name, field in kind.model_fields.items() if name in TAGS}
        return all(record.get(name, field.default) in get_args(field.annotation) for name, field in tags.items())

    own = next(filter(is_of, kinds.kinds()))
    return kinds.known().keys() - own.model_fields.keys()


def _keys(dictionaries: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for entries in dictionaries for key in entries))


def _measured(value) -> str:
    return amount(value) if is_missing(value) or value >= 100 or value == int(value) else f"{value:.4g}"
