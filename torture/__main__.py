"""Do harm on purpose and see what survives: trials of several kinds, each drawn from the seed and its number.

What survived is kept in .torture and not tried again. The counts go into torture/results.csv and torture/README.md; if
any trial did not survive, each is a line and the exit code is 1.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from filelock import FileLock

from costtogo.external_files import VARIABLE
from torture import results
from torture.kinds import KINDS
from torture.projects import EXTERNAL
from torture.trials import Kind, run

PROJECT = Path(__file__).parents[1]
KEPT = PROJECT / ".torture"


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0 if all trials survived."""
    asked = parse(arguments)
    chosen = [kind for kind in KINDS if kind.name in (asked.kinds or [kind.name])]
    if len(chosen) > 1:  # each in its own process: a process that has computed with threads must not be forked
        with ThreadPoolExecutor(asked.at_once) as pool:
            return max(pool.map(partial(alone, asked=asked), chosen))
    os.environ |= {"COSTTOGO_TRACKING": "off", VARIABLE: EXTERNAL}
    return try_all(*chosen, asked.seed, asked.count)


def alone(kind: Kind, asked: argparse.Namespace) -> int:
    """The exit code of a process that tries one kind; 1 if a signal ended it."""
    count = [] if asked.count is None else ["--count", str(asked.count)]
    command = [sys.executable, "-m", "torture", kind.name, "--seed", str(asked.seed), *count]
    code = subprocess.run(command, cwd=PROJECT).returncode
    if code not in (0, 1):
        say(f"{kind.name}: the process of its trials ended with {code}")
    return min(abs(code), 1)


def try_all(kind: Kind, seed: int, most: int | None) -> int:
    """Try a kind and save its outcomes; returns the exit code."""
    count = kind.count if most is None else min(most, kind.count)
    with tempfile.TemporaryDirectory(prefix="torture-") as work:
        outcomes = run(kind, seed, count, KEPT / f"{kind.name}-{seed}.jsonl", Path(work) / "w", say)
    found = results.row(kind, outcomes, seed, commit())
    with FileLock(KEPT / "results.lock"):  # another kind may end at the same moment
        results.write(PROJECT / "torture", KINDS, found)
    say(f"{kind.name}: {found['survived']} of {found['tried']} survived, {found['minutes']} minutes")
    return 0 if found["survived"] == found["tried"] else 1


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line; a mistake in it ends the program with code 2."""
    names = [kind.name for kind in KINDS]
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="kind", help=f"some of {', '.join(names)}; all if left out")
    parser.add_argument("--seed", type=int, default=1, help="what the trials are drawn from (1)")
    parser.add_argument("--count", type=int, help="trials of each kind, if it has more")
    parser.add_argument("--at-once", type=int, default=2, help="kinds that are tried at the same time (2)")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.kinds if name not in names]:
        parser.error(f"there is no kind '{unknown[0]}'; there are {', '.join(names)}")
    for option in ("count", "at_once"):
        if (number := getattr(asked, option)) is not None and number < 1:
            parser.error(f"--{option.replace('_', '-')} must be 1 or more")
    return asked


def commit() -> str:
    """The commit of the working tree."""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=PROJECT, capture_output=True, text=True)
    return done.stdout.strip()


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
