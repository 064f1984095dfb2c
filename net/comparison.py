"""Comparison of two sides of a part: files by place, differences as lines, digests of everything compared."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from net.adapters.kinds import is_card, is_result
from net.contents import differing

Files = dict[str, Path]  # by place, for example results/smoke/tables/cube2.npz


@dataclass(frozen=True)
class Part:
    """The result of comparing a part; digests: of both sides, None if a side lacks the place.

    not_compared: the places of wall-clock times.  codes: for each stage, the digests of code that its cards name on
    both sides, with the places of those cards.
    """

    name: str
    lines: list[str]
    digests: dict[str, list[str | None]]
    not_compared: list[str] = field(default_factory=list)
    codes: dict[str, list[dict]] = field(default_factory=dict)

    @property
    def results_equal(self) -> bool:
        """True if there are results, and all are the same on both sides."""
        results = [pair for place, pair in self.digests.items() if is_result(place)]
        return bool(results) and all(before == after for before, after in results)


def files(folder: Path, *tops: str) -> Files:
    """All files below a folder, or below some folders in it."""
    found = (path for top in tops or (".",) for path in (folder / top).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in sorted(found)}


def compare(name: str, before: Files, after: Files, is_time: Callable[[str], bool] = lambda place: False) -> Part:
    """Compare two sides of a part; is_time: which places hold wall-clock times."""
    places = sorted(before.keys() | after.keys())
    timed = [place for place in places if is_time(place)]
    compared = [place for place in places if place not in set(timed)]
    digests = {place: [digest(side.get(place)) for side in (before, after)] for place in compared}
    unequal = [place for place, (old, new) in digests.items() if old != new]
    lines = [f"{name} {place}: {told}" for place in unequal for told in difference(place, before, after)]
    return Part(name, lines, digests, timed, codes(before, after))


def digest(path: Path | None) -> str | None:
    """SHA-256 of a file's content, in hexadecimal."""
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


def difference(place: str, before: Files, after: Files) -> Iterator[str]:
    """The differences between the files of a place, as lines."""
    if place not in before or place not in after:
        yield "only after" if place in after else "only before"
    else:
        yield from differing(place, before[place].read_bytes(), after[place].read_bytes())


def codes(before: Files, after: Files) -> dict[str, list[dict]]:
    """For each stage, the digests of code that its cards name, before and after."""
    sides = [{place: card for place, path in side.items() if (card := read_card(path))} for side in (before, after)]
    pairs: dict[tuple, list[str]] = {}
    for place in sorted(sides[0].keys() | sides[1].keys()):
        stage = (sides[0].get(place) or sides[1][place])["stage"]
        pair = tuple(side[place]["code"] if place in side else None for side in sides)
        pairs.setdefault((stage, *pair), []).append(place)
    found: dict[str, list[dict]] = {}
    for (stage, old, new), cards in pairs.items():
        found.setdefault(stage, []).append({"before": old, "after": new, "cards": cards})
    return found


def read_card(path: Path) -> dict | None:
    """The card of a finished stage, None if the file is no card."""
    if path.suffix != ".json":
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return content if is_card(content) else None
