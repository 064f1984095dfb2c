"""Run the comparisons and write benchmarks/results.csv, the table of benchmarks/README.md and ratios.png."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.results import Outcome, write
from benchmarks.works import WORKS, Work

PROJECT = Path(__file__).parents[1]
WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


def main() -> None:
    """Measure the requested works; the others keep the rows of earlier measurements."""
    names, hours = [work.name for work in WORKS], [work.name for work in WORKS if work.asked_for]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "works", nargs="*", metavar="work", help=f"which: {', '.join(names)}; without any all but {', '.join(hours)}"
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each side runs, in turn (5)")
    asked = parser.parse_args()
    if unknown := [name for name in asked.works if name not in names]:
        parser.error(f"there is no work '{unknown[0]}'; there are {', '.join(names)}")
    if asked.rounds < 1:
        parser.error("--rounds must be 1 or more")
    for work in WORKS:
        if work.name in (asked.works or set(names) - set(hours)):
            begun = time.monotonic()
            outcome = measure(work, asked.rounds)
            write(PROJECT / "benchmarks", work, outcome)
            print(f"{work.name}: {outcome.told(work)} ({time.monotonic() - begun:.0f} s)", flush=True)


def measure(work: Work, rounds: int) -> Outcome:
    """Run both sides alternately, the other one first in every second round; a side that fails is not run again.

    If our side fails there is nothing to compare, and the other side is not run either.
    """
    sides = ["ours"] + ([work.peer] if work.peer else [])
    measured: dict[str, list[dict]] = {side: [] for side in sides}
    failed: dict[str, str] = {}
    for turn in range(rounds):
        for side in sides if turn % 2 == 0 else sides[::-1]:
            if side in failed or "ours" in failed:
                continue
            try:
                measured[side].append(run_side(work, side))
            except (subprocess.SubprocessError, ValueError) as error:
                failed[side] = reason(error)
    return Outcome(measured["ours"], measured.get(work.peer, []), failed)


def run_side(work: Work, side: str) -> dict[str, float]:
    """The measures that a side prints as its last line."""
    options = work.options | (work.ours if side == "ours" else {})
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    threads = str(options.get("threads", 2))
    environment = os.environ | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    if side != "ours":  # the peer decides how its threads wait for each other; costtogo set this at import
        environment = {name: value for name, value in environment.items() if name not in WAITING}
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.sides.{work.side}", side, *words],
        cwd=PROJECT, env=environment, check=True, capture_output=True, text=True, timeout=work.seconds,
    )  # fmt: skip
    return json.loads(done.stdout.strip().splitlines()[-1])


def reason(error: Exception) -> str:
    """The reason why a side failed, in one line."""
    if isinstance(error, subprocess.CalledProcessError):
        return (error.stderr or error.stdout or "no message").strip().splitlines()[-1][:120]
    return str(error).splitlines()[0][:120]


if __name__ == "__main__":
    main()
