"""Training of a network: results/<study>/models/<model>/ with its checkpoints, learning curve and errors.

While it runs, its checkpoints and its resume point (at least one a minute) lie in results/<study>/resume/<model>/.
What is not as the training wrote it there is never used: the training begins anew.

In several processes (costtogo.parallel) the first is that of the stage, which alone writes; the others follow it.
"""

import hashlib
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import torch

from costtogo.exact.level_sample import LevelSample
from costtogo.exact.nearby import NearbyTable
from costtogo.files import FileError, digest, json_text, read_frame, write_bytes
from costtogo.heuristics import network as networks
from costtogo.learning import random_walk, resume
from costtogo.learning.training import DivergedError, Progress, Training
from costtogo.parallel import LostError, of_first, together
from costtogo.params.trainers import training_of
from costtogo.params.training import ModelParams, level_files
from costtogo.progress import say
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle
from costtogo.stages.stage_run import StageRun, parameters_of
from costtogo.stages.tables import read_exact
from costtogo.tracking import LiveRun
from costtogo.types import States, UserError

RESUME_SECONDS = 45
REPORT_SECONDS = 10
CURVE = ["iteration", "convergence_points", "effective_k", "loss", "validation_loss", "updated"]
KINDS = {"iteration": np.int64, "convergence_points": np.int64, "effective_k": np.int64, "updated": bool}
CHECKPOINT = ["iteration", "convergence_point", "validation_loss", "kind", "file", "sha256"]
ERROR_WALKS = 20_000  # from which the states near the goal are taken
ERROR_STATES = 4096  # states on which each convergence point's error per distance is measured, about


def run(params: Path, table: Path, out: Path, start: Path | None = None) -> None:
    """Train to the end of the budget, from the resume point if it belongs to the same parameters, code and inputs.

    A training whose loss is not finite ends in DivergedError and leaves no resume point; one that lost a process of
    several ends in UserError and leaves its last one.
    start: the folder of the model whose last weights the training begins with.
    """
    first = [] if start is None else [start / read_frame(start / "checkpoints.parquet")["file"].iloc[-1]]
    levels = level_files(training_of(**parameters_of(params)["training"]))
    stage = StageRun("train", __name__, params, out, [table, *first, *levels])
    training = begin(stage.parameters)
    for checkpoint in first:
        training.start_from(networks.load_network(checkpoint)[1].state_dict())
    recorder = Recorder(stage, training, DistanceSample.read(table, training.puzzle))
    group = (training.params.processes, training.device.type, follow, stage.parameters, table)
    with stage.part("training"), LiveRun(Path.cwd(), stage.card) as live:
        recorder.resume(say)
        try:
            with together(*group):
                of_first((resume.on_cpu(training.tensors()), training.position))
                for progress in trainer_of(training.params).train(training):
                    recorder.record(progress, live)
        except DivergedError:
            recorder.forget()
            raise
        except LostError as error:
            again = "run again, and it goes on from its last resume point"
            raise UserError(f"{training.name}: {str(error).removesuffix('.')}; {again}.") from error
    others = recorder.write_checkpoints(out)
    machine = {"precision": training.precision, "device": training.device.type}
    timing = {"earlier_seconds": recorder.earlier_seconds, **machine}
    stage.finish_tables(recorder.tables(), recorder.metrics(), others=others, **timing)
    recorder.forget()


def follow(parameters: dict, table: Path) -> None:
    """Train as one of the processes after the first, from where the first is; nothing is written.

    parameters: the stage's.
    """
    torch.set_num_threads(parameters["threads"])
    training = begin(parameters)
    layers = DistanceSample.read(table, training.puzzle)
    training.restore(*of_first(None))
    for progress in trainer_of(training.params).train(training):
        if progress.updated:
            errors_by_distance(training, layers)


def trainer_of(params: ModelParams) -> ModuleType:
    """The module that trains, of costtogo.learning: that of the trainer's name (costtogo.params.study.modules_of)."""
    return import_module(f"costtogo.learning.{params.trainer}")


def begin(parameters: dict) -> Training:
    """A training before its first iteration, on the device that it asks for.  parameters: of its stage."""
    params = training_of(**parameters["training"])
    device = networks.present(parameters.get("device", "cpu"), params.processes)
    precision = networks.native_precision(params.precision, device)
    training = trainer_of(params).begin(make(parameters["puzzle"]), params, precision).to(device)
    training.name = parameters["model"]
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
        """About ERROR_STATES states, spread evenly over the distances that the table knows.

        Of states that are all listed evenly spaced ranks, else the first of those on walks, in ascending order; of
        levels the sample that was taken when they were listed.
        """
        exact = read_exact(table, puzzle)
        if isinstance(exact, LevelSample):
            order = np.argsort(exact.distance, kind="stable")
            return cls(exact.states[order], exact.distance[order], exact.layers)
        if not isinstance(exact, NearbyTable):
            counts = np.bincount(exact)
            ranks = at_each_distance(exact, len(counts), evenly)
            return cls(puzzle.unrank(ranks), exact[ranks].astype(np.int64), counts)
        walks = random_walk.draw_walks(puzzle, ERROR_WALKS * exact.depth, exact.depth, np.random.default_rng(0))
        states = np.unique(np.concatenate([puzzle.goal[None], walks.states]), axis=0)
        distance = exact(states).astype(np.int64)
        rows = at_each_distance(distance, len(exact.layers), lambda layer, most: layer[:most])
        return cls(states[rows], distance[rows], exact.layers)


def at_each_distance(distance: np.ndarray, layers: int, choose: Callable) -> np.ndarray:
    """Rows of about ERROR_STATES states of which choose has taken some at each distance, int64."""
    most = max(4, ERROR_STATES // layers)
    return np.concatenate([choose(np.flatnonzero(distance == moves), most) for moves in range(layers)])


def evenly(rows: np.ndarray, most: int) -> np.ndarray:
    """Up to `most` of some rows, evenly spaced, the first and the last among them."""
    return rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.int64)]


def errors_by_distance(training: Training, layers: DistanceSample) -> np.ndarray:
    """The mean absolute and signed error per distance of the network just frozen, float64 [2, d + 1].

    All processes of a training call it at the same point, for each evaluates a part of the states.
    """
    engine = training.engine
    error = engine.fetched(training.cost_to_go(engine.given(layers.states))) - layers.distance
    sums = [np.bincount(layers.distance, weights=weights) for weights in (np.abs(error), error)]
    return np.array(sums) / np.bincount(layers.distance)


class Recorder:
    """Keeps what a training yields: curve, checkpoints, error per distance, resume points, progress lines."""

    def __init__(self, stage: StageRun, training: Training, layers: "DistanceSample"):
        self.stage, self.training = stage, training
        self.folder = stage.results / "resume" / stage.card["name"]
        self.curve: list[list[float]] = []
        self.checkpoints: list[dict] = []  # rows of checkpoints.parquet; sha256 as they were written in the folder
        self.errors: list[np.ndarray] = []  # absolute and signed, float64 [2, d + 1], of each point of the curve
        self.layers, self.counts = layers, layers.counts
        self.begun = self.said = self.saved = time.monotonic()
        self.earlier_seconds = 0.0  # of the runs before this one that the training was resumed from
        self.said_iteration = 0

    @property
    def key(self) -> str:
        """What a resume point must agree with to be used: all but the number of processes, of which any may go on."""
        same = {name: self.stage.card[name] for name in ("parameters", "inputs", "code", "versions")}
        training = {name: value for name, value in self.stage.parameters["training"].items() if name != "processes"}
        same["parameters"] = {**self.stage.parameters, "training": training}
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
        self.checkpoints = description["checkpoints"]
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
            self.errors.append(errors_by_distance(self.training, self.layers))
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
        asked = progress.iteration in params.checkpoints_at or (every and progress.iteration % every == 0)
        return "iteration" if asked else ""

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
        row = {"iteration": training.iteration, "convergence_point": convergence_point}
        row |= {"validation_loss": validation_loss, "kind": kind, "file": checkpoint_file(training.iteration)}
        networks.save(self.folder / row["file"], training.network, description)
        self.checkpoints.append({**row, "sha256": digest(self.folder / row["file"])})

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
        files = {row["file"]: row["sha256"] for row in self.checkpoints}
        resume.save(self.folder / "resume.safetensors", self.training, extra, description, files)

    def curve_frame(self) -> pd.DataFrame:
        """One row per iteration."""
        return pd.DataFrame(self.curve, columns=CURVE).astype(KINDS)

    def write_checkpoints(self, out: Path) -> list[Path]:
        """Write the checkpoints; the last network is one too, of kind "end" unless it is one already."""
        last = dict(zip(CURVE, self.curve[-1], strict=True))
        if not self.checkpoints or self.checkpoints[-1]["iteration"] != last["iteration"]:
            self.add_checkpoint(int(last["convergence_points"]), last["validation_loss"], "end")
        for row in self.checkpoints:
            write_bytes(out / row["file"], self.kept(row["file"], row["sha256"]))
        return [out / row["file"] for row in self.checkpoints]

    def tables(self) -> dict[str, pd.DataFrame]:
        """The checkpoints that were written, the curve, and the errors at each point of it."""
        return {
            "checkpoints": pd.DataFrame(self.checkpoints, columns=CHECKPOINT),
            "curve": self.curve_frame(),
            "errors": self.error_frame(),
        }

    def kept(self, file: str, sha256: str) -> bytes:
        """A checkpoint as it was written; FileError where it is another now."""
        try:
            return resume.read_unchanged(self.folder / file, sha256)
        except FileError as error:
            raise FileError(f"{str(error).removesuffix('.')}; run again, and it is made anew.") from error

    def error_rows(self) -> np.ndarray:
        """The errors at all points of the curve so far, float64 [points, 2, d + 1]."""
        return np.array(self.errors, dtype=np.float64).reshape(-1, 2, len(self.counts))

    def error_frame(self) -> pd.DataFrame:
        """One row per convergence point and distance."""
        layers, curve = len(self.counts), self.curve_frame()
        points = curve.loc[curve["updated"], ["convergence_points", "iteration"]].to_numpy()
        absolute, signed = self.error_rows().swapaxes(0, 1)
        return pd.DataFrame(
            {
                "convergence_point": np.repeat(points[:, 0], layers),
                "iteration": np.repeat(points[:, 1], layers),
                "distance": np.tile(np.arange(layers), len(points)),
                "states": np.tile(self.counts, len(points)),
                "sampled": np.tile(np.bincount(self.layers.distance), len(points)),
                "mean_absolute_error": absolute.ravel(),
                "bias": signed.ravel(),
            }
        )

    def metrics(self) -> dict[str, float]:
        """Where the training ended."""
        params, last = self.training.params, dict(zip(CURVE, self.curve[-1], strict=True))
        metrics = {name: last[name] for name in ("convergence_points", "effective_k", "loss", "validation_loss")}
        metrics["iterations"] = params.iterations
        metrics["states_seen"] = params.iterations * params.states_per_iteration
        metrics["parameters"] = self.training.network.parameter_count
        if self.errors:
            metrics["last_mean_absolute_error"] = float(self.errors[-1][0] @ (self.counts / self.counts.sum()))
        return metrics


def checkpoint_file(iteration: int) -> str:
    """checkpoints/000795.safetensors for iteration 795."""
    return f"checkpoints/{iteration:06d}.safetensors"
