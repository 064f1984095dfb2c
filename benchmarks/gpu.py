"""What one GPU does with the project, for somebody who has one for a quarter of an hour: make gpu.

    PYTHONPATH=src python -m benchmarks.gpu --minutes 9

It needs torch, numba, numpy, pandas, pyarrow, scipy, safetensors, pydantic, typer and PyYAML, for the part exact also
matplotlib, and no installed costtogo. Each part writes <part>.json into --out, with commit, device and versions, anew
after each measurement: an end at any moment loses only the measurement it was in. The part cube also writes its
network, the part exact what its stages found. --tiny tries everything in small on any device.
"""

import argparse
import io
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from costtogo import external, external_files, recipes
from costtogo.engines.device import DeviceEngine
from costtogo.engines.host import HostEngine
from costtogo.exact.nearby import nearby_table
from costtogo.files import json_text, read_json, write_bytes, write_json
from costtogo.heuristics import network as networks
from costtogo.heuristics.network import Network, NetworkHeuristic, build, native_precision, present
from costtogo.learning.training import Training
from costtogo.params.loading import BASE
from costtogo.params.trainers import training_of
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks
from costtogo.search import beam, bwas
from costtogo.stages.stage_run import commit, processor
from costtogo.types import UserError
from costtogo.workflow.graph import Graph
from costtogo.workflow.stages import Stage
from costtogo.workflow.state import State
from tools.adopt import MACHINE

Rows = Iterator[dict[str, Any]]
CUBE = make("cube3")
LARGE = {"first_layers": [5000, 1000], "residual_blocks": 4}  # DeepCubeA, Methods; DNN_0 of the thesis
MIDDLE = {"first_layers": [2048, 512], "residual_blocks": 4}  # its weights fit into 16 MB
COMPACT = {"first_layers": [1024, 256], "residual_blocks": 2}
REDUCED = {"first_layers": [3000, 800], "residual_blocks": 3}  # DNN_reduced_0 of the thesis
SMALLEST = {"first_layers": [32, 16], "residual_blocks": 1}
LARGEST = 1 << 20  # bytes of a result that is packed: weights and values of all states stay where they were made
CHECKED = ("cube2", "cube3", "puzzle15", "puzzle48", "lights_out_7", "sokoban", "hanoi_7")
WALK = 26  # moves
EXTERNAL = "cube3_qtm.csv"
STEPS_AHEAD = 9  # iterations before a measurement, in which kernels are chosen and steps recorded
EXACT = (  # shortest first
    "thesis/H10_DNN_reduced_0_eps01",
    "thesis/DNN_noBatchNorm",
    "thesis/H10_DNN_0",
    "thesis/DNN_final_2x2x2",
    "thesis/DNN_reduced_0_noBatchNorm",
    "thesis/DNN_0",
    "thesis/DNN_reduced_0",
    "cube3-thesis/C3_DNN_0",
)
TINY, FEW = ("thesis/H4_DNN_reduced_0_seed1",), {"models": {"H4_DNN_reduced_0": {"iterations": 3}}}


@dataclass(frozen=True)
class Job:
    """Where and how large everything is.  seconds: of each measurement.  ends: by time.monotonic."""

    device: str
    tiny: bool
    ends: float
    out: Path
    exact: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Of one measurement."""
        return 0.3 if self.tiny else 6

    @property
    def precision(self) -> str:
        """bfloat16 where the device multiplies it natively."""
        return native_precision("auto", self.device)

    def sized(self, architecture: dict, outputs: str) -> dict:
        """An architecture, or the smallest."""
        return (SMALLEST if self.tiny else architecture) | {"outputs": outputs, "batch_norm_momentum": 0.9}

    def waited(self) -> float:
        """The time when the device has done all that it was asked for."""
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.monotonic()

    def rate(self, act: Callable[[], int]) -> float:
        """What act counts, in a second."""
        for _ in range(STEPS_AHEAD):
            act()
        begun, counted, now = self.waited(), 0, 0.0
        while (now := self.waited()) - begun < self.seconds or not counted:
            counted += act()
        return counted / (now - begun)


def training(job: Job, **changes: Any) -> tuple[Training, Any]:
    """A training of the 3×3×3 cube on the job's device, and its module."""
    values = {
        "puzzle": "cube3", "trainer": "random_walk", "seed": 0, "precision": job.precision, "iterations": 10**9,
        "sampler": {"kind": "non_backtracking", "walk_max": WALK}, "validation_states": 5200, "check_every": 10**9,
        "checkpoint_every": 1, "learning_rate": 1e-3, "learning_rate_decay": 0, "adam_beta_1": 0.9,
        "adam_beta_2": 0.999, "adam_epsilon": 1e-8, "epsilon": 0.05,
    } | changes  # fmt: skip
    params = training_of(**values)
    module = import_module(f"costtogo.learning.{params.trainer}")
    begun = module.begin(make(params.puzzle), params, params.precision).to(job.device)
    begun.engine = DeviceEngine(begun.puzzle, job.device)  # also where the device is the processor
    return begun, module


def frozen(job: Job, network: Network) -> NetworkHeuristic:
    """A network of the cube on the job's device, by whose engine beams expand."""
    found = NetworkHeuristic(CUBE, network.to(job.device), job.precision)
    found.engine = DeviceEngine(CUBE, job.device)
    return found


def trained_a_second(job: Job, **changes: Any) -> float:
    """States that a training sees in a second."""
    begun, module = training(job, **changes)
    iterations = module.train(begun)
    return job.rate(lambda: (next(iterations), begun.params.states_per_iteration)[1])


def check(job: Job) -> Rows:
    """Whether the engine of the device gives the bytes of the processor's."""
    for name in CHECKED:
        puzzle = make(name)
        host, device = HostEngine(puzzle), DeviceEngine(puzzle, job.device)
        states = random_walks(puzzle, 20 if job.tiny else 2000, 30, np.random.default_rng(1)).reshape(-1, puzzle.cells)
        draws, given = np.random.default_rng(2).random((100, 31)), device.given(states)
        pairs = [*zip(host.expand(states), device.expand(given), strict=True)]
        pairs += [*zip(host.walk(draws), device.walk(draws), strict=True)]
        pairs.append((host.hashes(states).view(np.int64), device.hashes(given)))
        equal = all(np.array_equal(wanted, device.fetched(found)) for wanted, found in pairs)
        yield {"work": f"successors, walks and hashes of {name}", "value": int(equal), "unit": "1 if equal"}
    architecture = architecture_of(**job.sized(LARGE, "actions"))
    states = random_walks(CUBE, 100, 20, np.random.default_rng(3))[:, -1]
    wanted = NetworkHeuristic(CUBE, build(architecture, CUBE, 0), "float32").children(states)
    found = NetworkHeuristic(CUBE, build(architecture, CUBE, 0).to(job.device), "float32").children(states)
    yield {
        "work": "values of a network, largest difference",
        "value": float(abs(found - wanted).max()),
        "unit": "moves",
    }


def walks(job: Job) -> Rows:
    """Walks of the cube drawn on the device."""
    engine, count = DeviceEngine(CUBE, job.device), 100 if job.tiny else 40_000
    generator = np.random.default_rng(1)
    act = lambda: len(engine.walk(generator.random((count, WALK + 1)))[0]) * WALK  # noqa: E731
    yield {"work": "walks drawn, cube", "value": job.rate(act), "unit": "states/s", "goal": 20e6}


def regression(job: Job) -> Rows:
    """Random-walk regression by action."""
    for name, architecture, size, goal in (("5000/1000/4", LARGE, 10_400, 3e6), ("1024/256/2", COMPACT, 52_000, 6e6)):
        size = 520 if job.tiny else size
        sizes = {"states_per_iteration": 10 * size, "minibatch": size}
        value = trained_a_second(job, architecture=job.sized(architecture, "actions"), **sizes)
        yield {"work": f"random-walk regression, {name}", "value": value, "unit": "examples/s", "goal": goal}


def davi(job: Job) -> Rows:
    """DAVI by state."""
    for name, architecture, goal in (("5000/1000/4", LARGE, 4e5), ("1024/256/2", COMPACT, 2e6)):
        size = 100 if job.tiny else 10_000
        sizes = {"states_per_iteration": size, "minibatch": size, "trainer": "davi"}
        value = trained_a_second(job, architecture=job.sized(architecture, "state"), **sizes)
        yield {"work": f"DAVI, {name}", "value": value, "unit": "states/s", "goal": goal}


def steps(job: Job) -> Rows:
    """Steps of 32 states, as the thesis has them, with drawing and targets."""
    for name, architecture in (("DNN_0", LARGE), ("DNN_reduced_0", REDUCED)):
        sizes = {"states_per_iteration": 64 if job.tiny else 1000, "minibatch": 32, "precision": "float32"}
        kind = {"puzzle": "cube2", "trainer": "davi", "sampler": {"kind": "deepcube", "walk_max": 20}}
        value = trained_a_second(job, architecture=job.sized(architecture, "state"), **sizes, **kind)
        yield {"work": f"a step of 32 states, {name}", "value": 32_000 / value, "unit": "ms", "goal": 0.4}


def searches(job: Job) -> Rows:
    """Beams by action and BWAS by state, over networks that have learned nothing."""
    start, limits = random_walks(CUBE, 1, 100, np.random.default_rng(4))[:, -1], beam.BeamLimits(3 if job.tiny else 12)
    of = {name: frozen(job, build(architecture_of(**job.sized(LARGE, name)), CUBE, 0)) for name in ("actions", "state")}
    for power in (5, 6) if job.tiny else (16, 17, 18):
        solve = partial(beam.solve, CUBE, of["actions"], start, width=2**power, limits=limits)
        value = job.rate(lambda solve=solve: int(solve().nodes_generated[0]))
        yield {"work": f"beams by action, width 2^{power}", "value": value, "unit": "children/s", "goal": 70e6}
    few = bwas.Limits(max_expansions=200 if job.tiny else 100_000)
    solve = partial(bwas.solve, CUBE, of["state"], start, path_weight=0.6, limits=few)
    value = job.rate(lambda: int(solve(batch_size=50 if job.tiny else 10_000).nodes_generated[0]))
    yield {"work": "BWAS by state, N = 10,000", "value": value, "unit": "generated/s", "goal": 3e6}


def cube(job: Job) -> Rows:
    """The cube from nothing in the time that is left, and beams over the result from external cubes."""
    size = 520 if job.tiny else 52_000
    recipe = {"architecture": job.sized(MIDDLE, "actions"), "states_per_iteration": 10 * size, "minibatch": size}
    speed = trained_a_second(job, **recipe)
    left = 1.0 if job.tiny else 0.75 * (job.ends - time.monotonic())  # the rest is for the searches
    iterations = max(2, round(left * speed / recipe["states_per_iteration"]))
    begun, module = training(job, **recipe, iterations=iterations, learning_rate_decay=0.6)
    *_, last = module.train(begun)
    description = {"puzzle": "cube3", "precision": job.precision, "iteration": iterations}
    networks.save(job.out / "cube.safetensors", begun.network, description | {"training": begun.params.model_dump()})
    yield {"work": "cube from nothing, examples", "value": iterations * recipe["states_per_iteration"], "unit": ""}
    yield {"work": "its validation loss", "value": last.validation_loss, "unit": "moves²"}
    heuristic = frozen(job, begun.network)
    found = external.load(CUBE, external_files.find(EXTERNAL)).first(2 if job.tiny else 100)
    nearby = nearby_table(CUBE, 2 if job.tiny else 6)
    for power in (5,) if job.tiny else (14, 16, 18):
        before, limits = job.waited(), beam.BeamLimits(max_moves=3 if job.tiny else 40)
        result = beam.solve(CUBE, heuristic, found.states, width=2**power, nearby=nearby, limits=limits)
        each, named = (job.waited() - before) / len(found.states), f"beam of 2^{power}, {len(found.states)} cubes"
        yield {"work": f"{named}: solved", "value": float(100 * result.solved.mean()), "unit": "%"}
        yield {"work": f"{named}: shortest", "value": float(100 * (result.cost == found.optimal).mean()), "unit": "%"}
        yield {"work": f"{named}: seconds a cube", "value": each, "unit": "s"}


def exact(job: Job) -> Rows:
    """The exact trainings that nobody has run, with their audits and searches: each packed when it is finished.

    Without --exact all of them, shortest first. What is finished is not run again, and a training goes on from its
    resume point. python -m tools.adopt --brought takes what was packed.
    """
    for place in TINY if job.tiny else job.exact or EXACT:
        study, name = place.split("/")
        changes = {"device": job.device} | (FEW if job.tiny else {})
        graph = Graph([Path(BASE), Path(f"config/{study}.yaml")], Path("config"), changes)
        ends = [stage for stage in graph.stages if stage.study == study and stage.name == name]
        if not ends:
            raise UserError(f"The study {study} has no model {name}: name one of {', '.join(EXACT)}.")
        begun, state = time.monotonic(), State(graph.stages)
        for stage in [stage for stage in graph.stages if stage in ends or any(stage in end.needs for end in ends)]:
            if state.reason(stage) and not made(stage, job):
                yield {"work": f"{place}, until the minutes were up", "value": time.monotonic() - begun, "unit": "s"}
                return
        write_bytes(job.out / f"{study}-{name}.tar", packed(ends, card_of(job)))
        yield {"work": f"{place}, with audit and searches", "value": time.monotonic() - begun, "unit": "s"}


def made(stage: Stage, job: Job) -> bool:
    """Make a stage by its own command; False if the minutes are up before it ends."""
    command = [sys.executable, "-m", "costtogo.cli", "stage", stage.module]
    command += ["--params", str(stage.recipe.write(stage.folder, stage.name)), *stage.options.split()]
    try:
        environment = os.environ | {"COSTTOGO_TRACKING": "off"}
        done = subprocess.run(command, env=environment, timeout=max(0.1, job.ends - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    if done.returncode:
        raise UserError(f"{stage.id} failed, as its last line says; what was finished before it is kept.")
    return True


def packed(stages: list[Stage], machine: dict) -> bytes:
    """An archive of the cards, marks, timings and smaller results of finished stages."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        member = tarfile.TarInfo(MACHINE)
        member.size = len(text := json_text(machine).encode())
        archive.addfile(member, io.BytesIO(text))
        for stage in stages:
            marks = [str(mark.path) for mark in recipes.marks(stage.folder, stage.name)]
            for path in [stage.card, *marks, *stage.timings, *read_json(stage.card)["outputs"]]:
                if Path(path).stat().st_size <= LARGEST:
                    archive.add(path, recursive=False)
    return content.getvalue()


PARTS = {part.__name__: part for part in (check, walks, regression, davi, steps, searches, cube, exact)}
ALL = [name for name in PARTS if name != "exact"]  # which takes longer than the others together


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for; 0 if all ran, 1 with one sentence for a mistake or if the two engines differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="one alone; may be repeated (all but exact)")
    parser.add_argument("--exact", action="append", metavar="STUDY/MODEL", help="a training of the part exact (all)")
    parser.add_argument("--minutes", type=float, default=9, help="after which no part begins (9)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="cuda", help="of torch (cuda)")
    parser.add_argument("--tiny", action="store_true", help="everything in small, in about a minute on a processor")
    parser.add_argument("--out", type=Path, default=Path("results/gpu"), help="a folder (results/gpu)")
    asked = parser.parse_args(arguments)
    try:
        ends, models = time.monotonic() + 60 * asked.minutes, tuple(asked.exact or ())
        job = Job(present(asked.device), asked.tiny, ends, asked.out, models)
        return int(not all([run(job, name) for name in asked.part or (["exact"] if models else ALL)]))
    except (UserError, torch.OutOfMemoryError) as error:
        print(f"gpu: {str(error).splitlines()[0]}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"gpu: interrupted; what was measured is in {asked.out}.", file=sys.stderr)
        return 130


def run(job: Job, name: str) -> bool:
    """Run a part and write what it found; False if it says that the engines differ."""
    if time.monotonic() >= job.ends:
        print(f"{name}: no time is left", flush=True)
        return True
    begun, rows, card = time.monotonic(), [], card_of(job)
    for row in PARTS[name](job):
        print(f"{name}: {row['work']}: {row['value']:,.6g} {row['unit']}", flush=True)
        rows.append(row)
        seconds = round(time.monotonic() - begun, 1)
        write_json(job.out / f"{name}.json", {"part": name, "tiny": job.tiny, "seconds": seconds, **card, "rows": rows})
    return all(row["value"] for row in rows if row["unit"] == "1 if equal")


def card_of(job: Job) -> dict[str, str]:
    """Where, from which commit and with which versions something was measured."""
    card = {"device": torch.cuda.get_device_name() if job.device == "cuda" else processor(), "commit": commit()}
    return card | {library: version(library) for library in ("torch", "numba", "numpy")} | {"precision": job.precision}


if __name__ == "__main__":
    sys.exit(main())
