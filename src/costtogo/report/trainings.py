"""The parameters and the measures of trainings, as their cards have them, side by side."""

from typing import Any

from costtogo.files import flatten
from costtogo.report.markdown import amount, code, is_missing, short, table
from costtogo.report.results import StudyResults


def training_table(results: StudyResults, models: list[str]) -> str:
    """Parameters and results of trainings, one column a model."""
    cards = [results.card(f"models/{model}") for model in models]
    parameters = [used_parameters(card["parameters"]["training"]) for card in cards]
    metrics = [card["metrics"] for card in cards]
    rows = [[f"*{key}*", *(short(flat.get(key, "–")) for flat in parameters)] for key in _keys(parameters)]
    rows += [[key.replace("_", " "), *(_measured(found.get(key)) for found in metrics)] for key in _keys(metrics)]
    return table(["", *map(code, models)], rows)


def used_parameters(training: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a training by dotted key, without those that its sampler, optimizer and network do not look at."""
    if training["sampler"]["kind"] != "non_backtracking":
        training = training | {"sampler": {key: value for key, value in training["sampler"].items() if key != "stride"}}
    tower, adam = {"disks", "residual", "patience", "hold"}, {"learning_rate", "learning_rate_decay", "minibatch"}
    adam |= {"adam_beta_1", "adam_beta_2", "adam_epsilon"}
    of_sampler = {
        "uniform": {"walk_max", "conv_point_offs", *tower},
        "adaptive_k": tower,
        "growing_tower": {"walk_max", "conv_point_offs"},
    }.get(training["sampler"]["kind"], {"conv_point_offs", *tower})
    idle = {f"sampler.{name}" for name in of_sampler}
    idle |= adam if training.get("optimizer") == "lbfgs" else {"lbfgs_steps"}
    by_davi = training.get("trainer", "davi") == "davi"
    idle |= set() if by_davi else {"polyak"}
    idle |= {"epsilon"} if not by_davi or training.get("polyak") else set()
    recurrent = training.get("architecture", {}).get("kind") in ("automaton", "gru")
    used = flatten(training)
    layers = {key for key in used if key.startswith("architecture.")} - {"architecture.kind", "architecture.states"}
    idle |= layers if recurrent else {"architecture.states"}
    if training.get("architecture", {}).get("kind") == "rows":
        idle |= layers - {"architecture.outputs", "architecture.first_layers"}
    if training.get("architecture", {}).get("kind") == "convolutional":
        idle |= {"architecture.residual_blocks", "architecture.layers_per_block"}
    return {key: value for key, value in used.items() if key not in idle}


def _keys(dictionaries: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for entries in dictionaries for key in entries))


def _measured(value) -> str:
    return amount(value) if is_missing(value) or value >= 100 or value == int(value) else f"{value:.4g}"
