"""How long the trainings of a study would take on this machine, from their first seconds."""

import time
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from costtogo.files import read_csv, write_csv
from costtogo.learning.training import Progress
from costtogo.params.base import hint
from costtogo.params.slices import slices
from costtogo.params.study import Study
from costtogo.stages.stage_run import commit, processor
from costtogo.stages.train import begin, trainer_of
from costtogo.tables.kept import ESTIMATES
from costtogo.types import UserError

NAMES = ("microseconds", "microseconds_least", "microseconds_most")
PARTS = 5  # of the time of a training, to see how much its speed varies
MICROSECONDS, HOUR = 1e6, 3600


def run(study: Study, names: list[str], seconds: float, keep: Path | None) -> None:
    """Time the first seconds of each training and print how long all of it would take.

    names: of trainings, all if empty.  keep: the folder of a kept study. Its table of estimates gets the rows, in place
    of earlier ones of the same trainings.  Nothing else is written.  Raises UserError for a name that is none.
    """
    if unknown := [name for name in names if name not in study.models]:
        raise UserError(f"The study {study.study} has no training {unknown[0]}{hint(unknown[0], study.models)}")
    parameters, rows = slices(study), []
    for name in names or study.models:
        rows.append(estimate(parameters[f"models/{name}"], seconds))
        print(told(rows[-1]), flush=True)
    if keep is not None:
        target = keep / f"{ESTIMATES}.csv"
        found = pd.DataFrame(rows)
        before = read_csv(target) if target.exists() else found.iloc[:0]
        others = before[~before["model"].isin(found["model"])]
        write_csv(target, pd.concat([others, found], ignore_index=True) if len(others) else found)


def estimate(parameters: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Run a training from its beginning for about the given seconds.  parameters: those of its stage.

    What a training writes and the errors that its stage measures at each convergence point are left out, and so is the
    first iteration, within which functions are compiled. microseconds: of a state, the mean, and the least and the most
    of PARTS parts of the time.
    """
    torch.set_num_threads(parameters["threads"])
    training = begin(parameters)
    asked = training.params
    ends = list(_ends(trainer_of(asked).train(training), seconds))
    if len(ends) <= PARTS:
        name = parameters["model"]
        raise UserError(f"{name} makes {len(ends)} iterations in {seconds:g} s, too few to tell: ask for more seconds.")
    cuts = np.linspace(0, len(ends) - 1, PARTS + 1).astype(int)
    states = asked.states_per_iteration
    parts = [(ends[last] - ends[first]) / (last - first) / states for first, last in pairwise(cuts)]
    mean = (ends[-1] - ends[0]) / (len(ends) - 1) / states
    times = zip(NAMES, (mean, min(parts), max(parts)), strict=True)
    return {
        "model": parameters["model"],
        "puzzle": parameters["puzzle"],
        "timed_iterations": len(ends) - 1,
        "timed_seconds": round(ends[-1] - ends[0], 1),
        **{name: round(each * MICROSECONDS, 1) for name, each in times},
        "iterations": asked.iterations,
        "states": asked.iterations * states,
        "hours": round(mean * asked.iterations * states / HOUR, 4),
        "threads": parameters["threads"],
        "precision": training.precision,
        "processor": processor(),
        "commit": commit(),
    }


def _ends(iterations: Iterable[Progress], seconds: float) -> Iterator[float]:
    """Yield the time, s, at the end of each iteration, until the given seconds have passed since the first."""
    begun = None
    for _ in iterations:
        now = time.perf_counter()
        begun = now if begun is None else begun
        yield now
        if now - begun >= seconds:
            return


def told(row: dict[str, Any]) -> str:
    """A row as a sentence."""
    return (
        f"{row['model']}: {row['microseconds']:,.0f} µs a state ({row['microseconds_least']:,.0f} to "
        f"{row['microseconds_most']:,.0f}), {row['states']:,} states in all: {duration(row['hours'] * HOUR)}."
    )


def duration(seconds: float) -> str:
    """Seconds in the largest unit that is not too large.  5400 -> "1.5 h", 90 -> "1.5 min"."""
    for size, unit in ((HOUR, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.0f} s"
