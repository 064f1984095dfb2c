"""Whole processes as a user starts them in the project's folder: seconds from shell to shell."""

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.sides.measuring import run, seconds_of

PROJECT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SMOKE = ["snakemake", "--cores", "all", "--quiet", "all", "--configfile", "config/smoke.yaml"]
MODEL = "results/smoke/models/DNN_reduced_0"
COMMANDS = {
    "help": ["costtogo", "--help"],
    "solve": ["costtogo", "solve", "--puzzle", "cube2", "--model", MODEL, "--scramble", "R U' B2 R B"],
    "dry_run": ["snakemake", "-n", "--quiet", "all"],
    "no_op": SMOKE,
}


def ours(asked) -> dict[str, float]:
    """The requested command; its output is discarded. Its exit status must be 0.

    Some commands need the study smoke, which is made once before and takes two minutes.
    """
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}

    def once(tool: str, *words: str) -> None:
        tool = shutil.which(tool, path=environment["PATH"])
        subprocess.run([tool, *words], cwd=PROJECT, env=environment, check=True, capture_output=True)

    if asked.command in ("solve", "no_op"):
        once(*SMOKE)
    command = partial(once, *COMMANDS[asked.command])
    command()  # reads files into memory and compiles code
    return {"seconds": seconds_of(command)[0]}


if __name__ == "__main__":
    run({"ours": ours}, command="help")
