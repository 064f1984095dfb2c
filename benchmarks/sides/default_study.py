"""The default study from nothing, in a clone of its own: this commit beside the one before the engine grew faster."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.sides.measuring import run, seconds_of

PROJECT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
BEFORE = "e6c9b6a"


def ours(_) -> dict[str, float]:
    """As it is committed now."""
    return study_of("HEAD")


def before(_) -> dict[str, float]:
    """As it was before the engine grew faster."""
    return study_of(BEFORE)


def study_of(commit: str) -> dict[str, float]:
    """snakemake in a fresh clone at a commit: its results, records and report; what is compiled is compiled anew."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "study"
        for command in (["git", "clone", "--quiet", PROJECT, clone], ["git", "-C", clone, "checkout", "-q", commit]):
            subprocess.run(command, check=True, capture_output=True)
        environment = {name: value for name, value in os.environ.items() if not name.endswith("NUM_THREADS")}
        environment["PATH"] = f"{BIN}{os.pathsep}{environment['PATH']}"
        tool = shutil.which("snakemake", path=environment["PATH"])
        command = [tool, "--cores", "2", "--quiet", "all"]
        return {"seconds": seconds_of(lambda: _run(command, clone, environment))[0]}


def _run(command: list[str], clone: Path, environment: dict[str, str]) -> None:
    subprocess.run(command, cwd=clone, env=environment, check=True, capture_output=True)


if __name__ == "__main__":
    run({"ours": ours, "before": before})
