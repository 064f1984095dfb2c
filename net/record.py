"""The result of a comparison as JSON: enough to decide later if results of one commit are valid for the other."""

import json
import platform
from collections import Counter
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from net.checkouts import Checkout, NetError
from net.comparison import Part, digest, files

LIBRARIES = ("numpy", "numba", "torch", "pandas", "pyarrow", "safetensors", "matplotlib", "snakemake", "pydantic")
SMOKE = "smoke"


def record(sides: list[Checkout], parts: list[Part], reasons: dict[str, str | None], seconds: dict) -> dict[str, Any]:
    """The whole record; reasons: for each difference, by its line; seconds: by part and side."""
    smoke = next((part for part in parts if part.name == SMOKE), None)
    return {
        **{side.side: described(side) for side in sides},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "versions": {"python": platform.python_version(), **{name: metadata.version(name) for name in LIBRARIES}},
        "parts": {part.name: {"digests": part.digests, "not_compared": part.not_compared} for part in parts},
        "codes": smoke.codes if smoke else {},
        "card_fields": card_fields(smoke) if smoke else {},
        "differences": [{"line": line, "reason": reason} for line, reason in reasons.items()],
        "unexplained": sum(reason is None for reason in reasons.values()),
        "results_equal": smoke is not None and smoke.results_equal,
        "seconds": seconds,
    }


def described(side: Checkout) -> dict[str, Any]:
    """The source of a side; adapters: the digests of the scripts and configurations that ran it."""
    scripts = {place: digest(path) for place, path in files(side.adapters).items() if "__pycache__" not in place}
    return {"commit": side.commit, "tree": side.tree, "dirty": side.dirty, "adapters": scripts}


def card_fields(smoke: Part) -> dict[str, int]:
    """The number of differences in each field of cards: {"code": 80} if only the code changed."""
    cards = {place for pairs in smoke.codes.values() for pair in pairs for place in pair["cards"]}
    counted: Counter[str] = Counter()
    for line in smoke.lines:
        place, _, what = line.removeprefix(f"{SMOKE} ").partition(": ")
        if place in cards:
            counted[what.partition(":")[0].partition(".")[0].removesuffix(" alone")] += 1
    return dict(counted)


def processor() -> str:
    """The processor's name if the system gives it; written here, since the net uses none of the code it judges."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a record as JSON with sorted keys."""
    try:
        path.write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise NetError(f"Cannot write {path}: {error.strerror}.") from error
