"""What MLflow shall hold about a finished stage, read from its files; nothing here needs MLflow."""

import hashlib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from costtogo.files import read_frame, read_json
from costtogo.tracking.faults import TrackingError
from costtogo.tracking.place import EXPERIMENT, temporary_experiment

Card: TypeAlias = dict[str, Any]
Points: TypeAlias = dict[tuple[str, int], float]  # (metric, step) -> value

BASE_TIME = 1_577_836_800_000  # ms, 2020-01-01 UTC: the timestamp of step 0 of every metric
STEP_TIME = 1_000  # ms a step: MLflow's relative time in seconds is the iteration
PARAMETER_LENGTH = 6_000  # characters, MLflow's limit
DENSE_ITERATIONS = 256  # every iteration is kept up to here, then half as many for each doubling
SMALL_FILE = 5_000_000  # bytes; larger tables stay in results/
CHECKPOINTS_TOTAL = 50_000_000  # bytes
COPIED_KINDS = {".parquet", ".csv", ".json", ".md", ".png"}

KEY_FIELDS = ("stage", "study", "name", "parameters", "inputs", "code")
CURVE_METRICS = ("loss", "validation_loss", "effective_k", "convergence_points", "epsilon")
AUDIT_METRICS = (
    "admissible_percent",
    "consistent_percent",
    "overestimation_mean",
    "overestimation_max",
    "mean_absolute_error",
    "bias",
)
CHILD_METRICS = ("optimal_percent", "nodes_expanded", "length", "excess")
CELL = ("heuristic", "set", "path_weight", "batch_size")
ENGINES = ("table", "network in step", "network alone")  # whose seconds are shown, first found


@dataclass(frozen=True)
class Stage:
    """A finished stage: its card and where the card and the project lie."""

    path: Path
    root: Path
    card: Card

    @property
    def folder(self) -> Path:
        """The folder of the stage's own files, beside its card."""
        return self.path.with_suffix("")

    @property
    def study_folder(self) -> Path:
        """results/<study>"""
        return self.path.parents[1]


def read_stage(path: Path, root: Path) -> Stage:
    """Read the card of a finished stage."""
    return Stage(path, root, placed(read_json(path), root))


def placed(card: Card, root: Path) -> Card:
    """The card, with the experiment's name where it lies in a temporary copy of the project."""
    name = temporary_experiment(root)
    return card | {EXPERIMENT: name} if name else card


def experiment_of(card: Card) -> dict[str, str]:
    """The field of a temporary experiment, where the card is of one: such runs are apart from the project's."""
    return {EXPERIMENT: card[EXPERIMENT]} if EXPERIMENT in card else {}


def run_key(card: Card) -> str:
    """SHA-256 of what decides a stage's result: parameters, input digests and code; and of its experiment."""
    text = json.dumps({field: card[field] for field in KEY_FIELDS} | experiment_of(card), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def flat_parameters(parameters: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """{"sampler": {"kind": "walk"}} -> {"sampler.kind": "walk"}; lists become JSON."""
    flat: dict[str, str] = {}
    for name, value in parameters.items():
        if isinstance(value, dict):
            flat.update(flat_parameters(value, f"{prefix}{name}."))
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            flat[allowed_name(prefix + name)] = text[:PARAMETER_LENGTH]
    return flat


def allowed_name(name: str) -> str:
    """The name with characters that MLflow refuses replaced by an underscore."""
    return re.sub(r"[^/\w.\- :]", "_", name)


def timing(stage: Stage) -> dict[str, Any]:
    """The stage's wall-clock record, empty where there is none."""
    path = stage.study_folder / "timings" / stage.path.parent.name / stage.path.name
    return read_json(path) if path.exists() else {}


def tags(card: Card, timing: dict[str, Any]) -> dict[str, str]:
    """What tells the run apart: stage, code, versions, commit and machine."""
    found = {field: card[field] for field in ("stage", "study", "group", "name", "code")} | experiment_of(card)
    found |= {f"version.{name}": value for name, value in card.get("versions", {}).items()}
    found |= {name: timing[name] for name in ("processor", "threads") if name in timing}
    found |= {"mlflow.source.name": f"costtogo {card['stage']}", "mlflow.source.type": "LOCAL"}
    if timing.get("commit"):
        found["mlflow.source.git.commit"] = timing["commit"]
    return {allowed_name(name): str(value) for name, value in found.items()}


def kept_iterations(iterations: np.ndarray, convergence_points: np.ndarray, before: int = 0) -> np.ndarray:
    """bool [rows]: which rows of a curve are recorded, decided row by row so that live rows agree.

    iterations: int [rows]; convergence_points: int [rows], so far; before: the count ahead of the first row.
    Every convergence point is kept; of the others all up to iteration 256, then 128 for each doubling:
    fewer than 2,000 up to two million iterations.
    """
    doublings = np.floor(np.log2(np.maximum(iterations / DENSE_ITERATIONS, 0.5))).astype(np.int64)
    arrived = np.diff(convergence_points, prepend=before) > 0
    return (iterations % 2 ** (doublings + 1) == 0) | arrived


def curve_points(curve, card: Card, before: int = 0) -> Points:
    """The recorded points of a training curve, data frame in, with ε beside the losses; rounded as the files are."""
    epsilon = card["parameters"].get("training", {}).get("epsilon", math.nan)
    curve = curve.assign(epsilon=epsilon)
    kept = curve[kept_iterations(curve["iteration"].to_numpy(), curve["convergence_points"].to_numpy(), before)]
    return _series(kept, {name: name for name in CURVE_METRICS if name in kept}, np.float32)


def points(stage: Stage) -> Points:
    """Every metric of the stage; the card's own numbers stand at the last step."""
    card, folder = stage.card, stage.folder
    found: Points = {}
    if card["group"] == "models":
        found = curve_points(read_frame(folder / "curve.parquet"), card)
        if (folder / "errors.parquet").exists():
            found |= error_points(read_frame(folder / "errors.parquet"))
    if card["stage"] == "audit":
        found = audit_points(read_frame(folder / "measures.parquet"))
    if card["stage"] == "audit_samples":
        frames = [read_frame(folder / f"{name}.parquet") for name in ("consistency", "greedy")]
        found = large_audit_points(*frames)
    curves = {name for name, _ in found if name in CURVE_METRICS}
    last = max((step for _, step in found), default=0)
    numbers = {name: value for name, value in card["metrics"].items() if name not in curves}
    return found | {(allowed_name(name), last): float(value) for name, value in numbers.items() if is_finite(value)}


def error_points(errors) -> Points:
    """The mean absolute error at each checkpoint, distances weighted by their number of states."""
    weighted = errors.assign(total=errors["mean_absolute_error"] * errors["states"])
    sums = weighted.groupby("iteration", as_index=False)[["total", "states"]].sum()
    sums["mean_absolute_error"] = sums["total"] / sums["states"]
    return _series(sums, {"mean_absolute_error": "mean_absolute_error"})


def audit_points(measures) -> Points:
    """Each measure of the audit against the iteration, one metric a scope and measure."""
    found: Points = {}
    for scope, rows in measures.groupby("scope"):
        found |= _series(rows, {name: f"{scope}_{name}" for name in AUDIT_METRICS if name in rows})
    return found


def large_audit_points(consistency, greedy) -> Points:
    """The share of consistent states, and of those of each scramble depth that greedy search solves, by iteration."""
    found = _series(consistency, {"consistent_percent": "consistent_percent"})
    for depth, rows in greedy.groupby("depth"):
        found |= _series(rows, {"solved_percent": f"greedy_{depth}_solved_percent"})
    return found


def is_finite(value: Any) -> bool:
    """Whether MLflow can show the value as a number."""
    return isinstance(value, int | float | np.number) and math.isfinite(value)


def _series(rows, names: dict[str, str], dtype: type = np.float64) -> Points:
    """Columns of a data frame as points whose step is the iteration; missing values are left out."""
    steps = rows["iteration"].astype(int).tolist()
    columns = {metric: rows[column].astype(dtype).tolist() for column, metric in names.items()}
    return {
        (metric, step): value
        for metric, values in columns.items()
        for step, value in zip(steps, values, strict=True)
        if math.isfinite(value)
    }


def artifacts(stage: Stage) -> list[tuple[Path, str]]:
    """The files worth a copy and the folder of the run each goes to: small tables, figures, checkpoints."""
    card, root = stage.card, stage.root
    outputs = [output for output in card["outputs"] if (root / output).suffix in COPIED_KINDS | {".safetensors"}]
    for output in outputs:
        if not (root / output).exists():
            raise TrackingError(f"{output} is missing although {stage.path} names it; run the stage again.")
    sizes = {output: (root / output).stat().st_size for output in outputs}
    weights = sum(size for output, size in sizes.items() if output.endswith(".safetensors"))
    chosen = [
        output
        for output, size in sizes.items()
        if (weights <= CHECKPOINTS_TOTAL if output.endswith(".safetensors") else size <= SMALL_FILE)
    ]
    return [(stage.path, "")] + [(root / output, _artifact_folder(output, card)) for output in chosen]


def _artifact_folder(output: str, card: Card) -> str:
    """results/default/models/cube2/checkpoints/7.safetensors -> checkpoints"""
    for owner in (f"{card['group']}/{card['name']}/", f"reports/{card['study']}/"):
        if owner in output:
            return str(Path(output.partition(owner)[2]).parent).removeprefix(".")
    return ""


def grid_cells(stage: Stage) -> list[dict[str, Any]]:
    """One row per setting of a search: its cell, its measures, and where measured seconds and engine."""
    rows = read_frame(stage.folder / "grid.parquet").to_dict("records")
    seconds_path = stage.study_folder / "timings" / "searches" / f"{stage.path.stem}.parquet"
    seconds = cell_seconds(read_frame(seconds_path).to_dict("records")) if seconds_path.exists() else {}
    return [row | seconds.get(cell(row), {}) for row in rows]


def cell(row: dict[str, Any]) -> tuple:
    """What tells a row of the grid from the others."""
    return tuple(row[name] for name in CELL)


def cell_texts(row: dict[str, Any]) -> dict[str, str]:
    """The cell as parameters; 0.7 stays 0.7 whatever the precision it was stored in."""
    return {name: f"{row[name]:g}" if isinstance(row[name], float | np.number) else str(row[name]) for name in CELL}


def cell_seconds(rows: Iterable[dict[str, Any]]) -> dict[tuple, dict[str, Any]]:
    """Mean seconds a search and the engine, by cell; the first engine of ENGINES that was timed."""
    ranked = sorted(rows, key=lambda row: ENGINES.index(row["engine"]), reverse=True)
    return {cell(row): {"seconds": row["seconds"], "engine": row["engine"]} for row in ranked}
