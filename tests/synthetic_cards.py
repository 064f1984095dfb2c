"""A finished study of five stages, made of cards and small files, and the content of a store about it."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import numpy as np
import pandas

from costtogo.files import digest, write_frame, write_json, write_text
from costtogo.puzzles import make
from costtogo.tracking import store
from costtogo.tracking.location import CLONE

STUDY = "tiny"
ITERATIONS = 400
CONVERGENCE_ITERATIONS = (301, 399)  # odd, so that thinning by itself would drop them


def identity(group: str, stage: str, name: str, parameters: dict, inputs: dict) -> dict:
    """The fields of a card that are known before the stage runs."""
    return {
        "stage": stage,
        "study": STUDY,
        "group": group,
        "name": name,
        "parameters": parameters,
        "inputs": inputs,
        "code": "c" * 64,
        "versions": {"torch": "2.13.0"},
    }


def write_card(root: Path, fields: dict, metrics: dict, outputs: list[str]) -> Path:
    path = root / "results" / STUDY / fields["group"] / f"{fields['name']}.json"
    digests = {output: digest(root / output) for output in outputs}
    write_json(path, fields | {"metrics": metrics, "outputs": digests})
    return path


def training_fields(learning_rate: float = 0.001) -> dict:
    training = {
        "trainer": "davi",
        "optimizer": "adam",
        "lbfgs_steps": 60,  # for the other optimizer
        "learning_rate": learning_rate,
        "epsilon": 0.25,
        "sampler": {"kind": "deepcubea", "walk_max": 30, "disks": 3},
        "architecture": {"kind": "residual", "first_layers": [8]},
    }
    parameters = {"puzzle": "cube2", "training": training}
    return identity("models", "train", "net", parameters, {"results/tiny/tables/cube2.npz": "a" * 64})


def curve() -> pandas.DataFrame:
    iterations = np.arange(1, ITERATIONS + 1)
    convergence_points = np.searchsorted(CONVERGENCE_ITERATIONS, iterations, side="right")
    return pandas.DataFrame(
        {
            "iteration": iterations,
            "convergence_points": convergence_points,
            "effective_k": 1 + iterations // 50,
            "loss": (1 / iterations).astype(np.float32),
            "validation_loss": np.where(iterations % 100 == 0, 2 / iterations, np.nan).astype(np.float32),
            "updated": np.isin(iterations, CONVERGENCE_ITERATIONS),
        }
    )


def write_table(root: Path) -> Path:
    fields = identity("tables", "table", "cube2", {"moves": ["R", "U"]}, {})
    metrics = {"states": 24, "diameter": 3, "mean_distance": 1.5, "unknown": float("nan")}
    write_json(root / "results/tiny/timings/tables/cube2.json", {"started": 1.8e9, "seconds": 2.5, "commit": "abc"})
    return write_card(root, fields, metrics, [])


def write_training(root: Path, learning_rate: float = 0.001, weights: str = "weights") -> Path:
    folder = "results/tiny/models/net"
    checkpoints = [f"{folder}/checkpoints/{iteration:06d}.safetensors" for iteration in (301, 400)]
    for path in checkpoints:
        write_text(root / path, f"{weights} {path}")
    write_frame(root / folder / "curve.parquet", curve())
    files = [f"checkpoints/{Path(path).name}" for path in checkpoints]
    rows = {"iteration": [301, 400], "file": files, "sha256": [digest(root / path) for path in checkpoints]}
    write_frame(root / folder / "checkpoints.parquet", pandas.DataFrame(rows))
    errors = {"iteration": [301, 301, 400, 400], "distance": [0, 1, 0, 1], "states": [1, 3, 1, 3]}
    errors |= {"mean_absolute_error": [0.0, 4.0, 0.0, 2.0]}
    write_frame(root / folder / "errors.parquet", pandas.DataFrame(errors))
    tables = [f"{folder}/{name}.parquet" for name in ("curve", "checkpoints", "errors")]
    metrics = {"iterations": ITERATIONS, "loss": 1 / ITERATIONS, "last_mean_absolute_error": 1.5}
    return write_card(root, training_fields(learning_rate), metrics, tables + checkpoints)


def write_audit(root: Path) -> Path:
    measures = {
        "iteration": [301, 400],
        "scope": ["all", "all"],
        "admissible_percent": [50.0, 75.0],
        "bias": [1.0, 0.5],
    }
    write_frame(root / "results/tiny/audits/net/measures.parquet", pandas.DataFrame(measures))
    fields = identity("audits", "audit", "net", {}, {})
    return write_card(root, fields, {"last_all_admissible_percent": 75.0}, ["results/tiny/audits/net/measures.parquet"])


def write_search(root: Path) -> Path:
    plane = {"path_weight": [0.2, 0.5, 0.2, 0.5], "batch_size": [3, 3, 5, 5]}
    cells = {"heuristic": "network", "set": "test", **plane, "instances": 10}
    measures = {"optimal_percent": 90.0, "nodes_expanded": [70.5, 71.0, 80.0, 90.0], "length": 10.5, "excess": 0.1}
    write_frame(root / "results/tiny/searches/net/grid.parquet", pandas.DataFrame(cells | measures))
    selection = {"iteration": [301, 400], "optimal_percent": [95.0, 90.0], "selected": [True, False]}
    write_frame(root / "results/tiny/searches/net/selection.parquet", pandas.DataFrame(selection))
    timed = {"heuristic": "network", "set": "test", "path_weight": 0.2, "batch_size": 5}
    timed |= {"engine": ["network alone", "table"], "seconds": [2.0, 0.001]}
    write_frame(root / "results/tiny/timings/searches/net.parquet", pandas.DataFrame(timed))
    fields = identity("searches", "search", "net", {"path_weights": [0.2]}, {})
    metrics = {"optimal_percent": 90.0, "nodes_expanded": 70.5, "length": 10.5}
    return write_card(root, fields, metrics, ["results/tiny/searches/net/grid.parquet"])


def write_report(root: Path) -> Path:
    """Write a report, whose card has the parameters, the inputs and the numbers of the whole study."""
    names = ["reports/tiny/report.md", "reports/tiny/figures/loss.png", "reports/tiny/figures/loss.svg"]
    for name in names:
        write_text(root / name, name)
    names.append("reports/tiny/reported_vs_reproduced.csv")
    write_text(root / names[-1], "quantity,verdict\nlength,better\nloss,not run\nexcess,better\n")
    parameters = {"study": STUDY, "seed": 2022, "threads": 2, "models": {"net": {"epsilon": 0.25}}, "tables": ["cube2"]}
    fields = identity("report", "report", "report", parameters, {"results/tiny/models/net.json": "b" * 64})
    write_card(root, identity("figures", "figures", "figures", parameters, {}), {"figures": 1}, names[1:3])
    return write_card(root, fields, {"net.loss": 0.25, "net.length": 10.5}, names)


def client_of(root: Path):
    with store.session(root) as client:
        return client


def all_runs(root: Path, condition: str = "tags.stage != 'cell'") -> list:
    """The runs of stages, or the runs that meet another condition."""
    client = client_of(root)
    experiment = client.get_experiment_by_name(f"costtogo/{STUDY}")
    return client.search_runs([experiment.experiment_id], condition) if experiment else []


def content(root: Path, folder_of: Callable[[str], Path] | None = None) -> dict:
    """All recorded content, without MLflow's own identifiers and times of creation; every run must be whole.

    folder_of: finds the folder of an address of files; by default they are files of this machine.
    """
    folder_of = folder_of or local_path
    client = client_of(root)
    found = {}
    for run in all_runs(root):
        key = (run.data.tags["key"], run.data.tags["result"], run.data.tags["logged"])
        assert key not in found, f"two runs for {run.info.run_name}"
        found[key] = _run_content(client, run, folder_of)
    keys = {run.info.run_id: run.data.tags["key"] for run in all_runs(root)}
    cells = {}
    for run in all_runs(root, "tags.stage = 'cell'"):
        key = (keys[run.data.tags["mlflow.parentRunId"]], run.info.run_name)
        assert key not in cells, f"two runs for {run.info.run_name}"
        cells[key] = (run.info.status, run.data.params, run.data.metrics, run.data.tags["result"])
    in_order = sorted(client.search_model_versions("name = 'tiny.net'"), key=lambda version: int(version.version))
    versions = {  # numbers may have gaps, of versions that several clones registered at the same moment
        (place, version.tags["sha256"]): files_below(folder_of(version.source))
        for place, version in enumerate(in_order, start=1)
    }
    return {"runs": found, "cells": cells, "versions": versions}


def _run_content(client, run, folder_of: Callable[[str], Path]) -> dict:
    return {
        "ended": (run.info.status, run.info.end_time),
        "parameters": run.data.params,
        "metrics": {
            name: [(point.step, point.timestamp, point.value) for point in points]
            for name in run.data.metrics
            for points in [client.get_metric_history(run.info.run_id, name)]
        },
        "tags": {name: value for name, value in run.data.tags.items() if name != CLONE},
        "inputs": sorted((item.dataset.name, item.dataset.digest) for item in run.inputs.dataset_inputs),
        "models": len(run.outputs.model_outputs) if run.outputs else 0,
        "files": files_below(folder_of(run.info.artifact_uri)),
    }


def files_below(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def local_path(uri: str) -> Path:
    return Path(unquote(uri.removeprefix("file://")))


def write_study(root: Path) -> Path:
    for write in (write_table, write_training, write_audit, write_search, write_report):
        write(root)
    return root / "results" / STUDY


def cards_of(study: Path, root: Path) -> list[Path]:
    return [path.relative_to(root) for path in sorted(study.glob("*/*.json")) if path.parent.name != "figures"]


class Sums:
    """A heuristic of pairs of numbers."""

    puzzle = SimpleNamespace(name="pairs", cells=2, letters=5)

    def __call__(self, states):
        return states.sum(axis=1, dtype=np.float32)


class OfCubes(Sums):
    """A heuristic of the 2×2×2."""

    puzzle = make("cube2")
