"""Run two commits on this machine and compare what must not move.

Compared are the slices of the parameters of every study, the reports of made-up results, and all files that smoke
studies of every kind leave. Each difference is a line. Those that net/explained.yaml explains are counted by reason;
if any other is left the exit code is 1. A comparison that cannot be made is one sentence and exit code 2.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from net import checkouts, comparison, explained, golden, record
from net.adapters.kinds import goes_by_time, is_time
from net.checkouts import Checkout, NetError
from net.comparison import Files, Part

PROJECT = Path(__file__).parents[1]
PARTS = explained.PARTS


def main(arguments: list[str] | None = None, project: Path = PROJECT) -> int:
    """The exit code: 0 if every difference is explained, 1 if one is not, 2 if the comparison fails."""
    asked = parse(arguments)
    try:
        if asked.accept:
            golden.accept(project)
            return 0
        with folder_for(asked.keep) as work:
            return compare(asked, project, work)
    except KeyboardInterrupt:
        print("net: interrupted.", file=sys.stderr)
        return 130
    except NetError as error:
        print(f"net: {error}", file=sys.stderr)
        return 2


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line; a mistake in it ends the program with code 2."""
    parser = argparse.ArgumentParser(prog="python -m net", description=__doc__)
    parser.add_argument("before", nargs="?", help="a commit")
    parser.add_argument("after", nargs="?", help="a commit; the working tree's if left out, which must be clean")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--out", type=Path, help="a JSON file to write: all digests, all differences")
    parser.add_argument("--dirty", action="store_true", help="the working tree as it is takes the place of after")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="a new folder in which both checkouts stay")
    parser.add_argument("--cores", default="all", help="for the smoke studies (all)")
    parser.add_argument("--accept", action="store_true", help="take the digests of tests/golden anew")
    asked = parser.parse_args(arguments)
    asked.only = asked.only.split(",")
    if unknown := [part for part in asked.only if part not in PARTS]:
        parser.error(f"there is no part '{unknown[0]}'; there are {', '.join(PARTS)}")
    if (asked.before is None) != asked.accept:
        parser.error("name the commit before, or --accept alone")
    if asked.dirty and asked.after:
        parser.error("--dirty is for the working tree: leave out the commit after")
    return asked


@contextmanager
def folder_for(kept: Path | None) -> Iterator[Path]:
    """A folder for both checkouts, removed at the end unless it should be kept."""
    if kept is None:
        with tempfile.TemporaryDirectory(prefix="net-", ignore_cleanup_errors=True) as work:
            yield Path(work)
        return
    try:
        kept.mkdir(parents=True)
    except OSError as error:
        raise NetError(f"Cannot make the folder {kept}: {error.strerror}; name a new one.") from error
    yield kept.absolute()


def differs(place: str) -> bool:
    """True for files that differ from run to run by the clock."""
    return is_time(place) or goes_by_time(place)


def compare(asked: argparse.Namespace, project: Path, work: Path) -> int:
    """Run the requested parts on both sides, print the differences, write the record."""
    sides = check_out_both(asked, project, work)
    explanations = explained.read(sides[1].folder / "net" / "explained.yaml")
    parts, seconds = [], {}
    for name in asked.only:
        found = []
        for side in sides:
            with timed(f"{name} of {side.name}") as took:
                found.append(run(name, side, work, asked.cores))
            seconds.setdefault(name, {})[side.side] = took
        parts.append(comparison.compare(name, *found, is_time=differs if name == record.SMOKE else lambda place: False))
        say(summary(parts[-1]))
    reasons = explained.reasons([line for part in parts for line in part.lines], explanations)
    whole = record.record(sides, parts, reasons, seconds)
    if asked.out:
        record.write(asked.out, whole)
    say("\n".join(explained.told(reasons, explanations)) or "No difference.")
    return 1 if whole["unexplained"] else 0


def check_out_both(asked: argparse.Namespace, project: Path, work: Path) -> list[Checkout]:
    """The two sides; NetError if a commit is unknown or the working tree differs from its commit."""
    names = [asked.before, asked.after or "HEAD"]
    commits = [checkouts.resolve(project, name) for name in names]
    if not asked.after and not asked.dirty and checkouts.is_dirty(project):
        raise NetError(f"{project} has files that differ from its last commit: commit them, or give --dirty.")
    before = checkouts.check_out(project, "before", commits[0], work)
    if asked.dirty:
        return [before, checkouts.check_out_working_tree(project, "after", work)]
    return [before, checkouts.check_out(project, "after", commits[1], work)]


def run(part: str, side: Checkout, work: Path, cores: str) -> Files:
    """Run a part of a side; returns its files."""
    if part == record.SMOKE:
        for name in ("results", "reports"):
            checkouts.empty(side.folder / name)
        side.run(part, cores, log=work / f"{side.side}-{part}.log")
        return comparison.files(side.folder, "results", "reports")
    folder = work / f"{side.side}-{part}"
    side.run(part, str(folder), log=work / f"{side.side}-{part}.log")
    return comparison.files(folder)


@contextmanager
def timed(what: str) -> Iterator[dict[str, float]]:
    """Print the beginning of a step and, at its end, its seconds, by the clock and over all processors."""
    say(f"{what} …")
    took, begun, used = {}, time.monotonic(), processor_seconds()
    yield took
    took["seconds"] = round(time.monotonic() - begun, 1)
    took["processor_seconds"] = round(processor_seconds() - used, 1)
    say(f"{what}: {took['seconds']:.0f} s, {took['processor_seconds']:.0f} of processors")


def processor_seconds() -> float:
    """Processor seconds of all commands run so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def summary(part: Part) -> str:
    """One line about a part."""
    times = f", {len(part.not_compared):,} of times not compared" if part.not_compared else ""
    return f"{part.name}: {len(part.digests):,} files compared{times}, {len(part.lines):,} differences"


def say(line: str) -> None:
    """A line of progress."""
    print(line, flush=True)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # the terminal may have no letter for →
    sys.exit(main())
