"""Whole processes as a user starts them, from the project's folder: seconds from the shell to the shell."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.sides.measuring import run, seconds_of

PROJECT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
STUDY = ["--configfile", "config/smoke.yaml"]
COMMANDS = {
    "help": ["costtogo", "--help"],
    "solve": ["costtogo", "solve", "--puzzle", "cube2", "--scramble", "R U' B2 R B"],
    "dry_run": ["snakemake", "-n", "--quiet", "all"],
    "no_op": ["snakemake", "--cores", "all", "--quiet", "all"],
}


def ours(asked) -> dict[str, float]:
    """The command asked for; its output goes nowhere. Its exit status must be 0."""
    command = COMMANDS[asked.command]
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    tool = shutil.which(command[0], path=environment["PATH"])

    def once() -> None:
        subprocess.run([tool, *command[1:]], cwd=PROJECT, env=environment, check=True, capture_output=True)

    once()  # files are read into memory, compiled code is made
    return {"seconds": seconds_of(once)[0]}


if __name__ == "__main__":
    run({"ours": ours}, command="help")
