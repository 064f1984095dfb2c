"""What `costtogo track` costs with many finished stages: python -m benchmarks.tracking --stages 1000.

A made-up study of trainings with five seeds a recipe, each with its audit, searches and instances, is written to a
folder of its own, and tracked there twice: the second time there is nothing to do.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.__main__ import PROJECT
from costtogo.files import digest, write_frame, write_json, write_text

STUDY, SEEDS, ITERATIONS = "many", 5, 400
EACH = 4  # stages of a training
CHECKPOINT = f"checkpoints/{ITERATIONS:06d}.safetensors"
MEGABYTE = 1_024  # of ru_maxrss, which is in KB


def main() -> None:
    """Write the stages and print what tracking them takes, twice."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tracking", description=__doc__)
    parser.add_argument("--stages", type=int, default=1000, help="finished stages (1,000)")
    count = parser.parse_args().stages // EACH
    if not count:
        parser.error(f"--stages must be {EACH} or more")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(count):
            write_training(root, number)
        for turn in ("first", "second"):
            seconds, processor, memory = tracked(root)
            told = f"{seconds:.1f} s, {processor:.1f} s of processors, {memory:.0f} MB at most in all so far"
            print(f"{turn} time, {EACH * count:,} stages: {told}", flush=True)


def tracked(root: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processors and the largest memory so far, MB, of `costtogo track` in a folder."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "src"), "COSTTOGO_TRACKING": "on"}
    environment.pop("MLFLOW_TRACKING_URI", None)
    command = [sys.executable, "-m", "costtogo", "track"]
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - begun, processor, after.ru_maxrss / MEGABYTE


def write_training(root: Path, number: int) -> None:
    """Write a training and the stages that follow it: cards, tables and a checkpoint as a run leaves them."""
    name = f"recipe_{number // SEEDS}_seed{number % SEEDS + 1}"
    draw = np.random.default_rng(number).random
    models, audits, searches = (f"results/{STUDY}/{group}/{name}" for group in ("models", "audits", "searches"))
    write_text(root / models / CHECKPOINT, f"weights of {name}")
    rows = {"iteration": [ITERATIONS], "file": [CHECKPOINT], "sha256": [digest(root / models / CHECKPOINT)]}
    settings = {"heuristic": "network", "set": "test", "path_weight": [0.2, 0.5] * 2, "batch_size": [3, 3, 5, 5]}
    found = {"instances": 10, "optimal_percent": 90.0, "nodes_expanded": draw(4), "length": 10.5}
    measured = {"iteration": [ITERATIONS], "scope": ["all"], "admissible_percent": [draw()], "bias": [1.0]}
    tables = {
        f"{models}/curve": {"iteration": np.arange(1, ITERATIONS + 1), "loss": draw(ITERATIONS)},
        f"{models}/checkpoints": rows,
        f"{models}/errors": {"iteration": [ITERATIONS], "distance": [1], "states": [3], "mean_absolute_error": draw(1)},
        f"{audits}/measures": measured,
        f"{searches}/grid": settings | found,
        f"{searches}/selection": {"iteration": [ITERATIONS], "optimal_percent": [95.0], "selected": [True]},
    }
    for place, columns in tables.items():
        write_frame(root / f"{place}.parquet", pd.DataFrame(columns))
    training = {"trainer": "davi", "optimizer": "adam", "learning_rate": 0.001 * (number // SEEDS + 1), "seed": number}
    training |= {"sampler": {"kind": "deepcubea", "walk_max": 30}, "architecture": {"kind": "residual"}}
    asked = {"models": {"puzzle": "cube2", "training": training}, "audits": {"points": 5}}
    asked |= {"searches": {"path_weights": [0.2, 0.5]}, "instances": {"states": 100}}
    for group, parameters in asked.items():
        own = [f"{place}.parquet" for place in tables if place.split("/")[2] == group]
        write_card(root, group, name, parameters, own, {"loss" if group == "models" else "length": float(draw())})


def write_card(
    root: Path, group: str, name: str, parameters: dict[str, Any], outputs: list[str], metrics: dict
) -> None:
    """Write the card of a stage and its wall-clock record."""
    told = {"stage": {"models": "train"}.get(group, group), "study": STUDY, "group": group, "name": name}
    made = {"code": "c" * 64, "versions": {"torch": "2"}, "inputs": {f"results/{STUDY}/tables/cube2.npz": "a" * 64}}
    card = told | made | {"parameters": parameters, "metrics": metrics}
    write_json(
        root / f"results/{STUDY}/{group}/{name}.json",
        card | {"outputs": {place: digest(root / place) for place in outputs}},
    )
    times = {"started": 1.8e9, "seconds": 2.5, "commit": "abc", "threads": 1, "processor": "made up"}
    write_json(root / f"results/{STUDY}/timings/{group}/{name}.json", times)


if __name__ == "__main__":
    main()
