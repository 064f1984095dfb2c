"""Unusual places and environments: two runs in one folder, strange names, read-only results, no home, the C locale."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from costtogo.workflow.stages import Stage
from torture.calls import LONGEST, Told, amiss, check_solution
from torture.kills import Maker, making
from torture.projects import (
    STUDY,
    begin,
    check_same,
    contents,
    end,
    environment,
    finish,
    words_of,
)
from torture.trials import Damage, Kind, Trial

SOLVE = ("solve", "--json", "--puzzle", "hanoi_4", "--solver", "exact", "--state", "0121")
ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
STRANGE = "a b/λ ü 'x' 🧩 $y"
EACH = 2


def two_runs(maker: Maker, undone: list[Stage]) -> None:
    """Two runs of Snakemake at once: one may be refused, and the results are the same."""
    options = {"env": environment(), "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    running = [subprocess.Popen(["snakemake", "--cores", "1", STUDY], **options) for _ in range(2)]
    told = [each.communicate()[0] for each in running]
    for each, text in zip(running, told, strict=True):
        if "Traceback" in text or (each.returncode != 0 and "lock" not in text.lower()):
            raise Damage(f"a run of two ends with {each.returncode}: {text[-LONGEST:]!r}")
    if all(each.returncode != 0 for each in running):
        raise Damage(f"both runs are refused: {told[0][-LONGEST:]!r}")
    finish(Path.cwd())


def strange_names(maker: Maker, undone: list[Stage]) -> None:
    """The project in a folder whose path has spaces, quotes and letters of other scripts."""
    folder = maker.log.parent / STRANGE
    shutil.copytree(Path.cwd(), folder, symlinks=True)
    try:
        finish(folder)
        solve(folder)
        check_same(contents(folder), maker.whole)
    finally:
        shutil.rmtree(folder)


def read_only(maker: Maker, undone: list[Stage]) -> None:
    """Results that cannot be written: each stage says so and harms nothing."""
    before = contents(Path.cwd())
    results = Path("results").absolute()
    with unwritable(results):
        for stage in undone:
            code = end(begin(words_of(stage, maker.marks[stage.id]), maker.log))
            if fault := amiss(Told(code, "", maker.log.read_text(encoding="utf-8").splitlines(True)[-1])):
                raise Damage(f"{stage.id}: {fault}: {maker.said()!r}")
    if contents(Path.cwd()) != before:
        raise Damage("results have changed")


def no_home(maker: Maker, undone: list[Stage]) -> None:
    """No variable with a home or a user."""
    nobody = dict.fromkeys(("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME"))
    finish(Path.cwd(), **nobody)
    solve(Path.cwd(), **nobody)


def c_locale(maker: Maker, undone: list[Stage]) -> None:
    """A locale with only ASCII."""
    finish(Path.cwd(), **ASCII)
    solve(Path.cwd(), **ASCII)


CASES: tuple[Callable[[Maker, list[Stage]], None], ...] = (two_runs, strange_names, read_only, no_home, c_locale)


def solve(folder: Path, **variables: str | None) -> None:
    """Damage unless a state can be solved there."""
    source = {"PYTHONPATH": str(folder / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "costtogo.cli", *SOLVE],
        cwd=folder, env=environment(**variables) | source, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0 or done.stderr:
        raise Damage(f"costtogo solve ends with {done.returncode}: {done.stderr[-LONGEST:]!r}")
    check_solution(done.stdout)


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """A folder in which nobody can write, not even root, who must be able to mount."""
    if os.geteuid() == 0:
        subprocess.run(["mount", "--bind", folder, folder], check=True, capture_output=True)
        undo = ["umount", folder]
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True, capture_output=True)
    else:
        undo = ["chmod", "--recursive", "u+w", folder]
        subprocess.run(["chmod", "--recursive", "a-w", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(undo, check=True)


@contextmanager
def ready(work: Path) -> Iterator[Trial]:
    """A finished study; each trial removes two stages and makes them again in an unusual environment."""
    with making(work, work / "log") as maker:

        def trial(generator: random.Random, number: int) -> None:
            case = CASES[number % len(CASES)]
            undone = generator.sample(maker.stages, 2)
            for stage in undone:
                maker.undo(stage)
            try:
                case(maker, undone)
                finish(Path.cwd())
                check_same(contents(Path.cwd()), maker.whole)
            except Damage as damage:
                raise Damage(f"{case.__name__}, {', '.join(stage.id for stage in undone)}: {damage}") from damage
            finally:
                maker.restore()

        yield trial


KIND = Kind(
    "places",
    "Two runs in one folder; names with spaces and non-ASCII letters; read-only results; no HOME; the C locale",
    EACH * len(CASES),
    ready,
)
