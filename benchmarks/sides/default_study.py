"""The default study from nothing, in a fresh clone: this commit compared with the one before the engine got faster."""

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
    """At the current commit."""
    return study_of("HEAD")


def before(_) -> dict[str, float]:
    """At the commit before the engine got faster."""
    return study_of(BEFORE)


def study_of(commit: str) -> dict[str, float]:
    """Run snakemake in a fresh clone at a commit: results, records and report; compiled code is compiled again."""
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
