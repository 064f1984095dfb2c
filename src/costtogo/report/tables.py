"""The tables of a report, as data frames gathered from a study's results."""

import math
from typing import Any

import numpy as np
import pandas as pd

from costtogo.report.results import StudyResults, by_size

LOSS_ROWS = 300
START = "start"  # the instance set that holds the start state alone
MEASURES = ("admissible_percent", "overestimation_mean", "overestimation_max", "consistent_percent")


def tables(results: StudyResults) -> dict[str, pd.DataFrame]:
    """Every table of the report by the stem of its file."""
    frames = {
        "states_per_distance": states_per_distance(results),
        "convergence_points": _of_models(results, convergence_points),
        "audit": _of_models(results, audit),
        "hanoi_start": hanoi_start(results),
        "optimal_by_distance": _of_puzzles(results, optimal_by_distance),
        "provenance": provenance(results),
    }
    frames = {name: frame for name, frame in frames.items() if name != "hanoi_start" or len(frame)}
    own = {"grid": grid, "loss": loss, "learning_curve": learning_curve}
    of_models = {f"{kind}_{name}": make(results, name) for kind, make in own.items() for name in results.model_names}
    return frames | of_models


def _of_models(results: StudyResults, table) -> pd.DataFrame:
    return pd.concat([table(results, model) for model in results.model_names])


def _of_puzzles(results: StudyResults, table) -> pd.DataFrame:
    return pd.concat([table(results, puzzle) for puzzle in results.models])


def states_per_distance(results: StudyResults) -> pd.DataFrame:
    """puzzle, distance, states, of every puzzle that has an exact table."""
    frames = []
    for puzzle in sorted((path.stem for path in (results.folder / "tables").glob("*.npz")), key=by_size):
        counts = np.bincount(results.arrays(f"tables/{puzzle}")["distance"])
        frames.append(pd.DataFrame({"puzzle": puzzle, "distance": np.arange(counts.size), "states": counts}))
    return pd.concat(frames)


def loss(results: StudyResults, model: str) -> pd.DataFrame:
    """Both losses along the training, at most LOSS_ROWS evenly spread iterations of those that validated."""
    curve = results.frame(f"models/{model}/curve").dropna(subset="validation_loss")
    rows = np.unique(np.linspace(0, len(curve) - 1, LOSS_ROWS).astype(int))
    return curve.iloc[rows][["iteration", "loss", "validation_loss"]]


def convergence_points(results: StudyResults, model: str) -> pd.DataFrame:
    """Iteration, effective_k and the losses at each update of the target network."""
    curve = results.frame(f"models/{model}/curve")
    columns = ["model", "iteration", "convergence_points", "effective_k", "loss", "validation_loss"]
    return curve[curve["updated"]].assign(model=model)[columns]


def learning_curve(results: StudyResults, model: str) -> pd.DataFrame:
    """The mean absolute error and bias over all states of the puzzle at each convergence point."""
    errors = results.frame(f"models/{model}/errors")
    counts = states_per_distance(results)
    counts = counts[counts["puzzle"] == results.puzzle_of(model)].set_index("distance")["states"]
    weights = errors["distance"].map(counts)
    products = errors[["mean_absolute_error", "bias"]].mul(weights, axis=0).assign(states=weights)
    keys = [errors["iteration"], errors["convergence_point"]]
    sums = products.groupby(keys).sum()
    means = sums[["mean_absolute_error", "bias"]].div(sums["states"], axis=0)
    means.insert(0, "model", model)
    return means.reset_index()[["model", "iteration", "convergence_point", "mean_absolute_error", "bias"]]


def audit(results: StudyResults, model: str) -> pd.DataFrame:
    """The measures of each audited checkpoint, and whether the searches use it."""
    measures = results.frame(f"audits/{model}/measures")
    return measures.assign(selected=measures["iteration"] == results.selected_iteration(model))


def grid(results: StudyResults, model: str) -> pd.DataFrame:
    """Every cell searched with the model's network, and with its puzzle's exact and zero heuristic."""
    baseline = f"baseline_{results.puzzle_of(model)}"
    return pd.concat([searched(results, model), searched(results, baseline)])


def searched(results: StudyResults, search: str) -> pd.DataFrame:
    """The grid of one search with its name before it."""
    cells = results.frame(f"searches/{search}/grid")
    return cells.assign(search=search)[["search", *cells.columns]]


def searches_of(results: StudyResults, puzzle: str) -> list[str]:
    """The searches of a puzzle: its models', and the baselines'."""
    return [*results.models[puzzle], f"baseline_{puzzle}"]


def puzzle_cells(results: StudyResults, puzzle: str) -> pd.DataFrame:
    """Every cell of every search of a puzzle."""
    return pd.concat([searched(results, search) for search in searches_of(results, puzzle)])


def hanoi_start(results: StudyResults) -> pd.DataFrame:
    """The searches from the start state of each tower."""
    cells = pd.concat([puzzle_cells(results, puzzle).assign(puzzle=puzzle) for puzzle in results.models])
    columns = [
        "puzzle",
        "search",
        "heuristic",
        "path_weight",
        "batch_size",
        "solved_percent",
        "optimal_percent",
    ]
    return cells[cells["set"] == START][[*columns, "length", "nodes_expanded", "nodes_generated"]]


def optimal_by_distance(results: StudyResults, puzzle: str) -> pd.DataFrame:
    """Optimal solutions and nodes by distance at the headline λ and N, on every set, with every heuristic."""
    frames = []
    for search in searches_of(results, puzzle):
        shares = results.frame(f"searches/{search}/by_distance")
        alike = shares[same_weights(shares, results.headline(puzzle))]
        frames.append(alike.assign(search=search)[["search", *shares.columns]])
    return pd.concat(frames)


def same_weights(frame: pd.DataFrame, cell: dict[str, Any]) -> pd.Series:
    """Which rows have a cell's λ and N, bool [rows]."""
    return np.isclose(frame["path_weight"], cell["path_weight"]) & (frame["batch_size"] == cell["batch_size"])


def provenance(results: StudyResults) -> pd.DataFrame:
    """stage, name, path, sha256 of every file that the cards list; adopted, where any stage was taken over."""
    cards = list(results.cards.values())
    rows = [
        {"stage": card["stage"], "name": card["name"], "path": path, "sha256": digest, "adopted": adoptions(card)}
        for card in cards
        for path, digest in sorted(card["outputs"].items())
    ]
    frame = pd.DataFrame(rows, columns=["stage", "name", "path", "sha256", "adopted"])
    return frame if any(map(adoptions, cards)) else frame.drop(columns="adopted")


def adoptions(card: dict[str, Any]) -> str:
    """The commits between which a stage was taken over without a run, empty where it was not."""
    return " ".join(f"{step['before'][:12]}..{step['after'][:12]}" for step in card.get("adopted", []))


def headline_numbers(results: StudyResults) -> dict[str, dict[str, float]]:
    """The numbers that stand for each model, by model and measure.

    What was not measured is left out, and so is the interval of a share where the set is one instance.
    """
    return {
        model: {
            name: value
            for name, value in _model_numbers(results, puzzle, model).items()
            if value is not None and math.isfinite(value)
        }
        for puzzle, models in results.models.items()
        for model in models
    }


def _model_numbers(results: StudyResults, puzzle: str, model: str) -> dict[str, float | None]:
    iteration = results.selected_iteration(model)
    measures = audit(results, model)
    measured = measures[measures["selected"] & (measures["scope"] == "all")]
    cell = results.headline(puzzle)
    cells = puzzle_cells(results, puzzle)
    cells = cells[same_weights(cells, cell) & (cells["set"] == cell["set"])]
    own = cells[cells["search"] == model]
    numbers: dict[str, float | None] = {"selected_iteration": iteration}
    for name in ("mean_absolute_error", *MEASURES):
        numbers[name] = _only(measured[name])
    interval = ("optimal_low", "optimal_high") if (own["instances"] > 1).all() else ()
    for name in ("optimal_percent", *interval, "length", "nodes_expanded"):
        numbers[name] = _only(own[name])
    metrics = results.card(f"searches/{model}")["metrics"]
    numbers |= {name: value for name, value in metrics.items() if name.startswith(("all_starts_", "engines_"))}
    for heuristic in ("exact", "zero"):
        numbers[f"{heuristic}_nodes_expanded"] = _only(cells.loc[cells["heuristic"] == heuristic, "nodes_expanded"])
    return numbers


def _only(values: pd.Series) -> float | None:
    return None if values.empty else float(values.iloc[0])
