"""What every side does: read its options, measure, and print what it measured as the last line of its output."""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Side = Callable[[argparse.Namespace], dict[str, float]]


def run(sides: dict[str, Side], **options: Any) -> None:
    """The side that the command line names, with options of their own defaults; prints its measures.

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
    """How long a call takes, and what it returns."""
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def memory_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """The MB by which the process grows beyond what it held, at the most, and what the call returns."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak so far is forgotten
    before = _status("VmRSS")
    result = work()
    return (_status("VmHWM") - before) / 1e3, result


def _status(name: str) -> int:
    """A line of the kernel's on this process, in kB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])
