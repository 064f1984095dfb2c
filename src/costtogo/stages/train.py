"""Training of a network: results/<study>/models/<model>/ with its checkpoints, learning curve and errors.

While it runs, its checkpoints and its resume point (at least one a minute) lie in results/<study>/resume/<model>/.
What is not as the training wrote it there is never used: the training begins anew.
"""

import hashlib
import shutil
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import torch

from costtogo.exact.nearby import FAR, NearbyTable
from costtogo.files import FileError, digest, json_text, read_frame, write_bytes, write_frame
from costtogo.heuristics import network as networks
from costtogo.learning import random_walk, resume
from costtogo.learning.training import DivergedError, Progress, Training
from costtogo.params.trainers import training_of
from costtogo.params.training import ModelParams
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle
from costtogo.stages.stage_run import StageRun, say
from costtogo.stages.tables import read_exact
from costtogo.tracking import LiveRun
from costtogo.types import States

RESUME_SECONDS = 45
REPORT_SECONDS = 10
CURVE = ["iteration", "convergence_points", "effective_k", "loss", "validation_loss", "updated"]
KINDS = {"iteration": np.int64, "convergence_points": np.int64, "effective_k": np.int64, "updated": bool}
ERROR_WALKS = 20_000  # from which the states near the goal are taken
ERROR_STATES = 4096  # states on which each convergence point's error per distance is measured, about


def run(params: Path, table: Path, out: Path, start: Path | None = None) -> None:
    """Train to the end of the budget, from the resume point if it belongs to the same parameters, code and inputs.

    A training whose loss is not finite ends in DivergedError and leaves no resume point.
    start: the folder of the model whose last weights the training begins with.
    """
    first = [] if start is None else [start / read_frame(start / "checkpoints.parquet")["file"].iloc[-1]]
    stage = StageRun("train", __name__, params, out, [table, *first])
    torch.set_num_threads(stage.parameters["threads"])
    training = _begin(stage)
    for checkpoint in first:
        training.start_from(networks.load_network(checkpoint)[1].state_dict())
    recorder = Recorder(stage, training, DistanceSample.read(table, training.puzzle))
    with stage.part("training"), LiveRun(Path.cwd(), stage.card) as live:
        recorder.resume(say)
        try:
            for progress in trainer_of(training.params).train(training):
                recorder.record(progress, live)
        except DivergedError:
            recorder.forget()
            raise
    outputs = recorder.write(out)
    machine = {"threads": stage.parameters["threads"], "precision": training.precision, "device": training.device.type}
    stage.finish(outputs, recorder.metrics(), earlier_seconds=recorder.earlier_seconds, **machine)
    recorder.forget()


def trainer_of(params: ModelParams) -> ModuleType:
    """The module that trains, of costtogo.learning: that of the trainer's name (costtogo.params.study.modules_of)."""
    return import_module(f"costtogo.learning.{params.trainer}")


def _begin(stage: StageRun) -> Training:
    params = training_of(**stage.parameters["training"])
    device = networks.present(stage.parameters.get("device", "cpu"))
    precision = networks.native_precision(params.precision, device)
    training = trainer_of(params).begin(make(params.puzzle), params, precision).to(device)
    training.name = stage.card["name"]
    return training


@dataclass(frozen=True)
class DistanceSample:
    """A sample of states of each distance, and how many states there are.

    states: uint8 [N, D].  distance: int64 [N], ascending.  counts: int64 [d + 1], all states at each distance.
    """

    states: States
    distance: np.ndarray
    counts: np.ndarray

    @classmethod
    def read(cls, table: Path, puzzle: Puzzle) -> "DistanceSample":
        """About ERROR_STATES states, spread evenly over the distances that the table knows."""
        exact = read_exact(table, puzzle)
        if not isinstance(exact, NearbyTable):
            ranks, layer = error_sample(exact)
            return cls(puzzle.unrank(ranks), layer, np.bincount(exact))
        walks = random_walk.draw_walks(puzzle, ERROR_WALKS * exact.depth, exact.depth, np.random.default_rng(0))
        states = np.concatenate([puzzle.goal[None], walks.states])
        distance = exact(states).astype(np.int64)
        known = np.flatnonzero(distance != FAR)
        return cls(states[known], distance[known], exact.layers).spread()

    def spread(self) -> "DistanceSample":
        """Different states, at most so many of each distance that there are about ERROR_STATES."""
        _, first = np.unique(self.states, axis=0, return_index=True)
        per_layer = max(4, ERROR_STATES // len(self.counts))
        chosen = [first[self.distance[first] == moves][:per_layer] for moves in range(len(self.counts))]
        rows = np.concatenate(chosen)
        return DistanceSample(self.states[rows], self.distance[rows], self.counts)


class Recorder:
    """Keeps what a training yields: curve, checkpoints, error per distance, resume points, progress lines."""

    def __init__(self, stage: StageRun, training: Training, layers: "DistanceSample"):
        self.stage, self.training = stage, training
        self.folder = stage.results / "resume" / stage.card["name"]
        self.curve: list[list[float]] = []
        self.checkpoints: list[list] = []  # iteration, convergence point, validation loss, kind
        self.files: dict[str, str] = {}  # SHA-256 of each checkpoint as it was written, by its path from the folder
        self.errors: list[np.ndarray] = []  # iteration, convergence point, then absolute and signed error [2 (d + 1)]
        self.layers, self.counts = layers, layers.counts
        self.begun = self.said = self.saved = time.monotonic()
        self.earlier_seconds = 0.0  # of the runs before this one that the training was resumed from
        self.said_iteration = 0

    @property
    def key(self) -> str:
        """What a resume point must agree with to be used."""
        same = {name: self.stage.card[name] for name in ("parameters", "inputs", "code", "versions")}
        return hashlib.sha256(json_text({**same, "precision": self.training.precision}).encode()).hexdigest()

    def resume(self, tell) -> None:
        """Go on from the resume point, if there is one of this very training that is whole; else begin anew."""
        try:
            found = resume.load(self.folder / "resume.safetensors", self.training, self.key)
        except FileError as error:
            found = None
            self.forget()
            tell(f"{self.stage.card['name']} begins anew: {error}")
        if found is None:
            return
        extra, description = found
        self.curve = extra["curve"].tolist()
        self.errors = list(extra["errors"].numpy())
        self.checkpoints, self.files = description["checkpoints"], description["files"]
        self.earlier_seconds = description["seconds"]
        self.said_iteration = self.training.iteration
        tell(f"{self.stage.card['name']}: resumed after iteration {self.training.iteration}")

    def forget(self) -> None:
        """Remove the resume point and its checkpoints."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def record(self, progress: Progress, live: LiveRun) -> None:
        """Take in one iteration."""
        self.curve.append([getattr(progress, name) for name in CURVE])
        if progress.updated:
            self.add_errors(progress)
        if kind := self.kept_as(progress):
            self.add_checkpoint(progress.convergence_points, progress.validation_loss, kind)
        now = time.monotonic()
        if now - self.said >= REPORT_SECONDS:
            self.report(progress, now - self.said, live)
            self.said, self.said_iteration = now, progress.iteration
        if now - self.saved >= RESUME_SECONDS:
            self.save()
            self.saved = time.monotonic()

    def kept_as(self, progress: Progress) -> str:
        """The kind of checkpoint that the network is to be kept as now, empty for none."""
        params = self.training.params
        if progress.updated and (progress.convergence_points - 1) % params.checkpoint_every == 0:
            return "convergence_point"
        every = params.checkpoint_iterations
        return "iteration" if every and progress.iteration % every == 0 else ""

    def add_errors(self, progress: Progress) -> None:
        """Measure the error per distance of the network just frozen."""
        layer = self.layers.distance
        error = self.training.cost_to_go(self.layers.states) - layer
        per_layer = np.bincount(layer)
        means = [np.bincount(layer, weights=weights) / per_layer for weights in (np.abs(error), error)]
        self.errors.append(np.concatenate([[progress.iteration, progress.convergence_points], *means]))

    def add_checkpoint(self, convergence_point: int, validation_loss: float, kind: str) -> None:
        """Write the network as it is now."""
        training = self.training
        description = {
            "puzzle": training.puzzle.name,
            "precision": training.precision,
            "iteration": training.iteration,
            "convergence_point": convergence_point,
            "training": training.params.model_dump(),
        }
        file = checkpoint_file(training.iteration)
        networks.save(self.folder / file, training.network, description)
        self.files[file] = digest(self.folder / file)
        self.checkpoints.append([training.iteration, convergence_point, validation_loss, kind])

    def report(self, progress: Progress, seconds: float, live: LiveRun) -> None:
        """One progress line, and the new part of the curve to MLflow."""
        done = progress.iteration - self.said_iteration
        left = (self.training.params.iterations - progress.iteration) * seconds / done
        speed = done * self.training.params.states_per_iteration / seconds
        say(
            f"{self.stage.card['name']}: iteration {progress.iteration}/{self.training.params.iterations}, "
            f"{progress.convergence_points} {self.training.points}, K {progress.effective_k}, "
            f"loss {progress.loss:.4f}, validation {self.validation_loss():.4f}, {speed:,.0f} states/s, "
            f"{left // 60:.0f}:{left % 60:02.0f} left"
        )
        live.log(self.curve_frame().iloc[-done:].to_dict("records"))

    def validation_loss(self) -> float:
        """The one measured last; NaN where none was."""
        measured = [row[CURVE.index("validation_loss")] for row in self.curve]
        return next((loss for loss in reversed(measured) if not np.isnan(loss)), np.nan)

    def save(self) -> None:
        """Write the resume point."""
        extra = {
            "curve": torch.tensor(self.curve, dtype=torch.float64),
            "errors": torch.from_numpy(self.error_rows()),
        }
        seconds = self.earlier_seconds + time.monotonic() - self.begun
        description = {"key": self.key, "checkpoints": self.checkpoints, "seconds": seconds}
        resume.save(self.folder / "resume.safetensors", self.training, extra, description, self.files)

    def curve_frame(self) -> pd.DataFrame:
        """One row per iteration."""
        return pd.DataFrame(self.curve, columns=CURVE).astype(KINDS)

    def write(self, out: Path) -> list[Path]:
        """Write the results; the last network is a checkpoint too, of kind "end" unless it is one already."""
        last = self.curve[-1]
        if not self.checkpoints or self.checkpoints[-1][0] != last[0]:
            self.add_checkpoint(int(last[1]), last[4], "end")
        for file, sha256 in self.files.items():
            write_bytes(out / file, self.kept(file, sha256))
        index = pd.DataFrame(self.checkpoints, columns=["iteration", "convergence_point", "validation_loss", "kind"])
        index = index.astype({"iteration": np.int64, "convergence_point": np.int64})
        index["file"] = [checkpoint_file(iteration) for iteration in index["iteration"]]
        index["sha256"] = [self.files[file] for file in index["file"]]
        frames = {"checkpoints": index, "curve": self.curve_frame(), "errors": self.error_frame()}
        for name, frame in frames.items():
            write_frame(out / f"{name}.parquet", frame)
        return [*(out / f"{name}.parquet" for name in frames), *(out / file for file in index["file"])]

    def kept(self, file: str, sha256: str) -> bytes:
        """A checkpoint as it was written; FileError where it is another now."""
        try:
            return resume.read_unchanged(self.folder / file, sha256)
        except FileError as error:
            raise FileError(f"{str(error).removesuffix('.')}; run again, and it is made anew.") from error

    def error_rows(self) -> np.ndarray:
        """What has been measured at convergence points, a row each: float64 [points, 2 + 2 (d + 1)]."""
        return np.array(self.errors, dtype=np.float64).reshape(len(self.errors), 2 + 2 * len(self.counts))

    def error_frame(self) -> pd.DataFrame:
        """One row per convergence point and distance."""
        layers = len(self.counts)
        rows = self.error_rows()
        return pd.DataFrame(
            {
                "convergence_point": np.repeat(rows[:, 1].astype(np.int64), layers),
                "iteration": np.repeat(rows[:, 0].astype(np.int64), layers),
                "distance": np.tile(np.arange(layers), len(rows)),
                "states": np.tile(self.counts, len(rows)),
                "sampled": np.tile(np.bincount(self.layers.distance), len(rows)),
                "mean_absolute_error": rows[:, 2 : 2 + layers].ravel(),
                "bias": rows[:, 2 + layers :].ravel(),
            }
        )

    def metrics(self) -> dict[str, float]:
        """Where the training ended."""
        params, last = self.training.params, dict(zip(CURVE, self.curve[-1], strict=True))
        metrics = {name: last[name] for name in ("convergence_points", "effective_k", "loss", "validation_loss")}
        metrics |= {
            "iterations": params.iterations,
            "states_seen": params.iterations * params.states_per_iteration,
        }
        metrics["parameters"] = self.training.network.parameter_count
        if self.errors:
            layers = len(self.counts)
            shares = self.counts / self.counts.sum()
            metrics["mean_absolute_error"] = float(self.errors[-1][2 : 2 + layers] @ shares)
        return metrics


def checkpoint_file(iteration: int) -> str:
    """checkpoints/000795.safetensors for iteration 795."""
    return f"checkpoints/{iteration:06d}.safetensors"


def error_sample(distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranks int64 and distances int64 of states spread evenly over each distance, about ERROR_STATES in all."""
    per_layer = max(4, ERROR_STATES // (int(distance.max()) + 1))
    layers = [np.flatnonzero(distance == moves) for moves in range(int(distance.max()) + 1)]
    chosen = [layer[np.linspace(0, len(layer) - 1, min(per_layer, len(layer))).astype(int)] for layer in layers]
    ranks = np.concatenate(chosen)
    return ranks, distance[ranks].astype(np.int64)
