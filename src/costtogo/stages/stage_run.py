"""What all stages share: reading their slice of the parameters, timing themselves, and leaving a card.

The card results/<study>/<group>/<name>.json has parameters, digests of what the stage read and wrote, versions and
metrics, the same to the byte on a rerun. Wall-clock times and the commit lie apart in results/<study>/timings/. The
mark that the stage is finished comes last: see costtogo.recipes.
"""

import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from costtogo import recipes
from costtogo.files import FileError, digest, read_json, remove_parts, set_aside, write_frame, write_json
from costtogo.progress import say
from costtogo.puzzles import make
from costtogo.sources import digest_of
from costtogo.tracking import log_stage

if TYPE_CHECKING:
    import pandas as pd

    from costtogo.puzzles.base import Puzzle

LIBRARIES = ("numpy", "numba", "torch", "pandas", "pyarrow", "safetensors", "matplotlib")
WRITTEN = (":(exclude,top)reports", ":(exclude,top,glob)**/dvc.lock")  # of the files in git, by runs themselves


class StageRun:
    """One run of a stage: made at its start, finished when its results are on disk.

    recipe: the file of the stage's recipe.  out: the result, results/<study>/<group>/<name>, kept without a suffix.
    module: the stage's module, for its sources.  inputs: the files that it reads, None for what it is not given.
    torch computes with as many threads as the parameters name.
    """

    def __init__(self, stage: str, module: str, recipe: Path, out: Path, inputs: Iterable[Path | None]):
        self.stage = stage
        self.out = out = out.with_suffix("")
        self.results = out.parents[1]
        self.started = time.time()
        self.parts: dict[str, float] = {}
        self.recipe_path, self.recipe = recipe, recipes.read_recipe(recipe)
        recipes.refuse_others(self.recipe, module, f"{out.parent.name} {out.name}")
        given = [*inputs, *recipes.puzzle_files(self.recipe)]
        read = {relative(path): digest(path) for path in given if path is not None}
        refuse_damaged(read)
        recipes.begin(out.parent, out.name)
        self.card = {
            "stage": stage,
            "study": self.results.name,
            "group": out.parent.name,
            "name": out.name,
            "parameters": self.recipe.parameters,
            "inputs": read,
            "code": digest_of(self.recipe.code),
            "versions": versions(),
        }
        if "threads" in self.parameters:
            import torch  # which some stages never load

            torch.set_num_threads(self.parameters["threads"])

    @property
    def parameters(self) -> dict:
        """The stage's slice of the parameters."""
        return self.card["parameters"]

    @property
    def device(self) -> str:
        """Where networks compute: cpu, cuda, or auto; cpu if the slice names none."""
        return self.parameters.get("device", "cpu")

    @cached_property
    def puzzle(self) -> "Puzzle":
        """The puzzle that the stage is about."""
        return make(self.parameters["puzzle"])

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time of a block to the timing file under a name."""
        begun = time.perf_counter()
        yield
        self.parts[name] = self.parts.get(name, 0.0) + time.perf_counter() - begun

    def finish_tables(
        self,
        tables: dict[str, "pd.DataFrame"],
        metrics: dict[str, float],
        clock: "pd.DataFrame | None" = None,
        others: Iterable[Path] = (),
        **timing,
    ) -> None:
        """Write tables below the stage's folder, the one of no name in its place, and finish.

        clock: wall-clock seconds, which lie among the timings.  others: what the stage has written itself.
        """
        if clock is not None:
            write_frame(self.results / "timings" / self.out.parent.name / f"{self.out.name}.parquet", clock)
        outputs = [*others]
        for name, table in tables.items():
            outputs.append((self.out / name if name else self.out).with_suffix(".parquet"))
            write_frame(outputs[-1], table)
        self.finish(outputs, metrics, **timing)

    def finish(
        self,
        outputs: list[Path],
        metrics: dict[str, float],
        clocks: Sequence[Path] = (),
        tracked: bool = True,
        **timing,
    ) -> None:
        """Write the timing file, the card and the mark, then record it in MLflow, best effort, unless not tracked.

        clocks: files of wall-clock times besides the stage's own; the mark has their digests, not the card.
        """
        self.card["outputs"] = {relative(path): digest(path) for path in outputs}
        self.card["metrics"] = {name: float(value) for name, value in metrics.items()}
        when = {"started": self.started, "seconds": time.time() - self.started, "parts": self.parts}
        where = {"commit": commit(), "processor": processor(), "cores": os.cpu_count()}
        if "threads" in self.parameters:
            where["threads"] = self.parameters["threads"]
        clock = self.results / "timings" / self.card["group"] / f"{self.card['name']}.json"
        write_json(clock, {**when, **where, **timing})
        path = self.out.with_name(f"{self.out.name}.json")
        write_json(path, self.card)
        files = [*clocks, *(file for file in (clock, clock.with_suffix(".parquet")) if file.exists())]
        remove_parts([*outputs, path, *files])
        timings = [Path(relative(file)) for file in files]
        recipes.finish(self.recipe_path, self.out.parent, path, timings)
        so_far = recipes.progress(os.environ) if self.card["group"] != "report" else ""
        say(f"{self.stage} {self.card['name']}: done in {when['seconds']:.1f} s{so_far}")
        if tracked:
            log_stage(path, Path.cwd(), when["seconds"])


def parameters_of(recipe: Path) -> dict:
    """The slice of the parameters in the file of a recipe."""
    return recipes.read_recipe(recipe).parameters


def clocks_of(reports: Path) -> list[Path]:
    """The documents of a report with wall-clock times; reports: the study's folder."""
    return [reports / "timings.md", *sorted((reports / "timings").glob("*.csv"))]


def cards_of(results: Path) -> list[Path]:
    """The cards of a study's finished stages but those of its figures and its report; results: the study's folder."""
    return [path for path in sorted(results.glob("*/*.json")) if path.parent.name not in ("figures", "report")]


def refuse_damaged(read: dict[str, str]) -> None:
    """Set aside a result that is not what its stage wrote, so that the next run makes it again.

    read: digests by path. Only a file is judged that a card next to it, or next to a folder above it, says was written.
    """
    for path, found in read.items():
        places = [place for place in (Path(path), *Path(path).parents) if place.name]
        for card in (place.with_suffix(".json") for place in places):
            written = outputs_of(card) if card.exists() and card != Path(path) else {}
            if written.get(path, found) != found:
                set_aside(Path(path))


def whole_cards(results: Path) -> list[Path]:
    """The cards that a report is written from, once every file that they and their marks name is what was written.

    A bit that has flipped on the disk leaves no trace in a file's time: here it is found before a number is read.
    Raises FileError, and sets the file aside, where one is not; results: the study's folder.
    """
    cards = cards_of(results)
    for card in cards:
        written = outputs_of(card)
        for mark in recipes.marks(card.parent, card.stem):
            written = written | mark.content["timings"]
        for path in (Path(path) for path, found in written.items() if digest(path) != found):
            set_aside(path)
    return cards


def outputs_of(card: Path) -> dict[str, str]:
    """What a card says its stage wrote, digests by path; FileError where the card is damaged."""
    content = read_json(card)
    outputs = content.get("outputs", {}) if isinstance(content, dict) else None
    if not isinstance(outputs, dict):
        raise FileError(f"{card} is damaged: the next run of snakemake makes its stage again.")
    return outputs


def relative(path: Path | str) -> str:
    """A path as seen from the project's root where it lies below it."""
    path = Path(path)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else str(path)


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that results may depend on."""
    return {
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in LIBRARIES},
    }


def commit() -> str:
    """The git commit of the working directory, with + where files differ from it that no run writes.

    Empty outside a repository.
    """
    try:
        options = {"capture_output": True, "text": True, "check": True, "timeout": 10}
        head = subprocess.run(["git", "rev-parse", "HEAD"], **options).stdout.strip()
        asked = ["git", "status", "--porcelain", "--untracked-files=no", "--", ":/", *WRITTEN]
        changed = subprocess.run(asked, **options).stdout.strip()
        return head + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def processor() -> str:
    """The processor's name where the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
