"""The tables of a report, as data frames gathered from a study's results."""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from costtogo.files import FileError, read_arrays, read_frame, read_json

LOSS_ROWS = 300
START = "start"  # the instance set that holds the start state alone
MEASURES = ("admissible_percent", "overestimation_mean", "overestimation_max", "consistent_percent")


@dataclass(frozen=True)
class Results:
    """The results of one study: which puzzles and models there are, and their files.

    folder: results/<study>.  models: the names of the models by puzzle, the smaller puzzle of a kind first;
    a puzzle without a model is left out.
    """

    folder: Path
    models: dict[str, list[str]]

    def frame(self, path: str) -> pd.DataFrame:
        return _frame(self.folder / path)

    def find(self, path: str) -> pd.DataFrame | None:
        """A table of a stage, or None where there is none."""
        return self.frame(path) if (self.folder / path).exists() else None

    def card(self, group: str, name: str) -> dict[str, Any]:
        return read_json(self.folder / group / f"{name}.json")

    def find_card(self, address: str) -> dict[str, Any]:
        """What a stage noted of itself, empty where it has not run."""
        path = self.folder / f"{address}.json"
        return read_json(path) if path.exists() else {}

    def cards(self) -> list[dict[str, Any]]:
        """Every card of the study's data, models, audits and searches."""
        groups = ("tables", "pattern_databases", "instances", "optima", "models", "audits", "searches")
        groups += ("baselines", "footprints", "beams", "external")
        paths = [path for group in groups for path in sorted((self.folder / group).glob("*.json"))]
        return [read_json(path) for path in paths]

    def headline(self, puzzle: str) -> dict[str, Any]:
        """set, path_weight and batch_size of the search that stands for each model of a puzzle."""
        return self.card("searches", self.models[puzzle][0])["parameters"]["search"]["headline"]

    def selected_iteration(self, model: str) -> int:
        """The iteration of the checkpoint that the searches of a model use."""
        selection = self.frame(f"searches/{model}/selection.parquet")
        chosen = selection.loc[selection["selected"], "iteration"]
        if chosen.size != 1:
            raise FileError(
                f"searches/{model}/selection.parquet selects {chosen.size} checkpoints; it must select one."
            )
        return int(chosen.iloc[0])


@cache
def _frame(path: Path) -> pd.DataFrame:
    return read_frame(path)


def gather(study, results: Path) -> Results:
    """The results of a study below the folder results."""
    by_puzzle = {
        puzzle: [name for name, model in study.models.items() if model.puzzle == puzzle]
        for puzzle in sorted(study.puzzles, key=by_size)
    }
    return fresh(results / study.study, {puzzle: models for puzzle, models in by_puzzle.items() if models})


def fresh(folder: Path, models: dict[str, list[str]]) -> Results:
    """The results in a folder, every file read anew from now on."""
    _frame.cache_clear()
    return Results(folder, models)


def by_size(name: str) -> tuple[int, str]:
    """A key that sorts hanoi_9 before hanoi_10."""
    return len(name), name


def tables(results: Results) -> dict[str, pd.DataFrame]:
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
    models = [model for models in results.models.values() for model in models]
    own = {"grid": grid, "loss": loss, "learning_curve": learning_curve}
    return frames | {f"{kind}_{model}": make(results, model) for kind, make in own.items() for model in models}


def _of_models(results: Results, table) -> pd.DataFrame:
    return pd.concat([table(results, model) for models in results.models.values() for model in models])


def _of_puzzles(results: Results, table) -> pd.DataFrame:
    return pd.concat([table(results, puzzle) for puzzle in results.models])


def states_per_distance(results: Results) -> pd.DataFrame:
    """puzzle, distance, states, of every puzzle that has an exact table."""
    frames = []
    for path in sorted((results.folder / "tables").glob("*.npz"), key=lambda path: by_size(path.stem)):
        counts = np.bincount(read_arrays(path)["distance"])
        frames.append(pd.DataFrame({"puzzle": path.stem, "distance": np.arange(counts.size), "states": counts}))
    return pd.concat(frames)


def loss(results: Results, model: str) -> pd.DataFrame:
    """Both losses along the training, at most LOSS_ROWS evenly spread iterations of those that validated."""
    curve = results.frame(f"models/{model}/curve.parquet").dropna(subset="validation_loss")
    rows = np.unique(np.linspace(0, len(curve) - 1, LOSS_ROWS).astype(int))
    return curve.iloc[rows][["iteration", "loss", "validation_loss"]]


def convergence_points(results: Results, model: str) -> pd.DataFrame:
    """Iteration, effective_k and the losses at each update of the target network."""
    curve = results.frame(f"models/{model}/curve.parquet")
    columns = ["model", "iteration", "convergence_points", "effective_k", "loss", "validation_loss"]
    return curve[curve["updated"]].assign(model=model)[columns]


def learning_curve(results: Results, model: str) -> pd.DataFrame:
    """The mean absolute error and bias over all states of the puzzle at each convergence point."""
    errors = results.frame(f"models/{model}/errors.parquet")
    counts = states_per_distance(results)
    counts = counts[counts["puzzle"] == puzzle_of(results, model)].set_index("distance")["states"]
    weights = errors["distance"].map(counts)
    products = errors[["mean_absolute_error", "bias"]].mul(weights, axis=0).assign(states=weights)
    keys = [errors["iteration"], errors["convergence_point"]]
    sums = products.groupby(keys).sum()
    means = sums[["mean_absolute_error", "bias"]].div(sums["states"], axis=0)
    means.insert(0, "model", model)
    return means.reset_index()[["model", "iteration", "convergence_point", "mean_absolute_error", "bias"]]


def audit(results: Results, model: str) -> pd.DataFrame:
    """The measures of each audited checkpoint, and whether the searches use it."""
    measures = results.frame(f"audits/{model}/measures.parquet")
    return measures.assign(selected=measures["iteration"] == results.selected_iteration(model))


def grid(results: Results, model: str) -> pd.DataFrame:
    """Every cell searched with the model's network, and with its puzzle's exact and zero heuristic."""
    baseline = f"baseline_{puzzle_of(results, model)}"
    return pd.concat([searched(results, model), searched(results, baseline)])


def searched(results: Results, search: str) -> pd.DataFrame:
    """The grid of one search with its name before it."""
    cells = results.frame(f"searches/{search}/grid.parquet")
    return cells.assign(search=search)[["search", *cells.columns]]


def searches_of(results: Results, puzzle: str) -> list[str]:
    """The searches of a puzzle: its models', and the baselines'."""
    return [*results.models[puzzle], f"baseline_{puzzle}"]


def puzzle_cells(results: Results, puzzle: str) -> pd.DataFrame:
    """Every cell of every search of a puzzle."""
    return pd.concat([searched(results, search) for search in searches_of(results, puzzle)])


def hanoi_start(results: Results) -> pd.DataFrame:
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


def optimal_by_distance(results: Results, puzzle: str) -> pd.DataFrame:
    """Optimal solutions and nodes by distance at the headline λ and N, on every set, with every heuristic."""
    frames = []
    for search in searches_of(results, puzzle):
        shares = results.frame(f"searches/{search}/by_distance.parquet")
        alike = shares[same_weights(shares, results.headline(puzzle))]
        frames.append(alike.assign(search=search)[["search", *shares.columns]])
    return pd.concat(frames)


def same_weights(frame: pd.DataFrame, cell: dict[str, Any]) -> pd.Series:
    """Which rows have a cell's λ and N, bool [rows]."""
    return np.isclose(frame["path_weight"], cell["path_weight"]) & (frame["batch_size"] == cell["batch_size"])


def puzzle_of(results: Results, model: str) -> str:
    """The puzzle that a model is trained for."""
    return next(puzzle for puzzle, models in results.models.items() if model in models)


def provenance(results: Results) -> pd.DataFrame:
    """stage, name, path, sha256 of every file that the cards list; adopted, where any stage was taken over."""
    cards = results.cards()
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


def headline_numbers(results: Results) -> dict[str, dict[str, float]]:
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


def _model_numbers(results: Results, puzzle: str, model: str) -> dict[str, float | None]:
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
    metrics = results.card("searches", model)["metrics"]
    numbers |= {name: value for name, value in metrics.items() if name.startswith(("all_starts_", "engines_"))}
    for heuristic in ("exact", "zero"):
        numbers[f"{heuristic}_nodes_expanded"] = _only(cells.loc[cells["heuristic"] == heuristic, "nodes_expanded"])
    return numbers


def _only(values: pd.Series) -> float | None:
    return None if values.empty else float(values.iloc[0])
