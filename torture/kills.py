"""Processes killed in the middle: each kind of stage alone, and Snakemake with all its jobs."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from costtogo.workflow.stages import Stage
from costtogo.workflow.state import State
from torture.calls import LONGEST
from torture.projects import (
    FINISHED,
    MODULES,
    STUDY,
    begin,
    check_same,
    contents,
    end,
    environment,
    finish,
    finished,
    is_remnant,
    kill_after,
    lay_out,
    preload,
    snakemake,
    words_of,
)
from torture.trials import Damage, Kind, Trial

KILLS = 20
MOST_SECONDS = 40  # before a kill; the whole study takes longer
IN_A_ROW = 4  # kills of one study, from its beginning to its end


class Maker:
    """Makes single stages of a finished study again, and compares."""

    def __init__(self, stages: list[Stage], log: Path):
        self.stages, self.log = stages, log
        self.whole = contents(Path.cwd())
        self.marks = {stage.id: State(stages).mark(stage) for stage in stages}
        self.seconds: dict[str, float] = {}

    def choose(self, generator: random.Random, number: int) -> Stage:
        """The next stage by kind, in turn."""
        module = MODULES[number % len(MODULES)]
        return generator.choice([stage for stage in self.stages if stage.module == module])

    def undo(self, stage: Stage) -> None:
        """Remove all outputs of a stage."""
        for path in [*stage.outputs, State(self.stages).mark(stage)]:
            Path(path).unlink(missing_ok=True)
        for name in (stage.name, f"{stage.group}_{stage.name}"):
            shutil.rmtree(f"results/{stage.study}/resume/{name}", ignore_errors=True)

    def begin(self, stage: Stage) -> int:
        """Begin to make a stage; returns the number of the process."""
        return begin(words_of(stage, self.marks[stage.id]), self.log)

    def make(self, stage: Stage) -> None:
        """Make a stage to its end; Damage if it fails or its bytes differ from the first ones."""
        begun = time.monotonic()
        code = end(self.begin(stage))
        self.seconds[stage.id] = time.monotonic() - begun
        if code != 0:
            raise Damage(f"{stage.id} fails with {code}: {self.said()!r}")
        self.check(stage)

    def check(self, stage: Stage) -> None:
        """Damage unless a stage is finished and all its bytes equal the first ones."""
        if reason := State(self.stages).reason(stage):
            raise Damage(f"{stage.id} is made and not finished: {reason}")
        check_same(contents(Path.cwd()), self.whole)

    def said(self) -> str:
        """The end of the last process's output."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-LONGEST:]

    def restore(self) -> None:
        """Restore the results of the finished study after damage."""
        for name in ("results", "reports"):
            shutil.rmtree(name, ignore_errors=True)
            shutil.copytree(FINISHED / name, name, symlinks=True)


@contextmanager
def making(folder: Path, log: Path) -> Iterator[Maker]:
    """A finished study in a folder, and a Maker whose processes start at once."""
    with finished(folder / "project") as stages:
        preload()
        yield Maker(stages, log)


@contextmanager
def ready_stages(work: Path) -> Iterator[Trial]:
    """A finished study; each trial makes one stage again and kills it on the way."""
    with making(work, work / "log") as maker:

        def trial(generator: random.Random, number: int) -> None:
            stage, after, code = maker.choose(generator, number), 0.0, 0
            try:
                if stage.id not in maker.seconds:
                    maker.undo(stage)
                    maker.make(stage)
                after = generator.random() * maker.seconds[stage.id]
                maker.undo(stage)
                code = kill_after(maker.begin(stage), after)
                check_left(maker, stage)
                maker.make(stage)
            except Damage as damage:
                maker.restore()
                raise Damage(f"{stage.id} killed after {after:.2f} s ({code}): {damage}") from damage

        yield trial


def check_left(maker: Maker, stage: Stage) -> None:
    """Damage if a killed stage left a half-written file, or counts as finished without all its files."""
    found = contents(Path.cwd())
    if wrong := [place for place in found if found[place] != maker.whole.get(place) and not is_remnant(place)]:
        raise Damage(f"half-written: {wrong[:3]}")
    if not State(maker.stages).reason(stage) and found.keys() < maker.whole.keys():
        raise Damage(f"finished without {sorted(maker.whole.keys() - found.keys())[:3]}")


@contextmanager
def ready_study(work: Path) -> Iterator[Trial]:
    """An empty project, in which two jobs run the study and are killed several times before it may end."""
    with finished(work):
        whole = contents(work)

    def trial(generator: random.Random, number: int) -> None:
        shutil.rmtree(work, ignore_errors=True)
        lay_out(work)
        for _ in range(IN_A_ROW):
            process = subprocess.Popen(
                ["snakemake", "--cores", "2", STUDY], cwd=work, env=environment(), start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            try:
                process.wait(generator.random() * MOST_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            snakemake(work, "--unlock")
        finish(work)
        check_same(contents(work), whole)

    yield trial


STAGES = Kind("stages", "`kill -9` of one stage, then that stage again", KILLS * len(MODULES), ready_stages)
STUDIES = Kind(
    "study",
    f"`kill -9` of Snakemake and its two jobs, {IN_A_ROW} times on the way through a study, then to its end",
    KILLS // IN_A_ROW,
    ready_study,
)
