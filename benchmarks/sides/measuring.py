"""The common part of all sides: read options, measure, and print the measures as the last line of output."""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Side = Callable[[argparse.Namespace], dict[str, float]]


def run(sides: dict[str, Side], **options: Any) -> None:
    """Run the side that the command line names, with the default options given here; prints its measures.

    Every side has --threads.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=sides)
    for name, default in {"threads": 2, **options}.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    asked = parser.parse_args()
    if asked.side == "ours" and getattr(asked, "precision", "") == "bfloat16":
        from costtogo.heuristics.layers import multiplies_bfloat16

        if not multiplies_bfloat16():
            parser.exit(1, "this processor does not multiply bfloat16\n")
    print(json.dumps(sides[asked.side](asked)), flush=True)


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds that a call takes, and its result."""
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def memory_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """The peak of memory, in MB, above what the process held before the call, and the result of the call."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # resets the peak
    before = _status("VmRSS")
    result = work()
    return (_status("VmHWM") - before) / 1e3, result


def _status(name: str) -> int:
    """A value of the kernel about this process, in kB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])
