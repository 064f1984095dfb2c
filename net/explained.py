"""Intended differences: the entries of explained.yaml, and the lines that each explains."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from net.checkouts import NetError

PARTS = ("slices", "reports", "smoke")
SHOWN = 100  # unexplained lines; the record has all


@dataclass(frozen=True)
class Explanation:
    """A reason why lines that match a pattern differ."""

    pattern: str
    reason: str

    def explains(self, line: str) -> bool:
        return fnmatchcase(line, self.pattern)


def read(path: Path) -> list[Explanation]:
    """The entries of a file, none if there is no file; NetError if an entry is wrong."""
    if not path.exists():
        return []
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8")) or []
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise NetError(f"{path} is not valid YAML: check indentation and colons.") from error
    if not isinstance(entries, list):
        raise NetError(f"{path} must be a list of entries with the keys pattern and reason.")
    return [_checked(entry, number, path) for number, entry in enumerate(entries, start=1)]


def _checked(entry, number: int, path: Path) -> Explanation:
    if not isinstance(entry, dict) or {*entry} != {"pattern", "reason"} or not all(map(str, entry.values())):
        raise NetError(f"Entry {number} of {path} must have the keys pattern and reason, and no others.")
    if not str(entry["pattern"]).startswith(tuple(f"{part} " for part in PARTS)):
        raise NetError(f"Entry {number} of {path}: a pattern begins with its part, {', '.join(PARTS)}.")
    return Explanation(str(entry["pattern"]), str(entry["reason"]))


def reasons(lines: list[str], explanations: list[Explanation]) -> dict[str, str | None]:
    """The reason of each line, from the first entry that explains it; None if there is none."""
    return {line: next((each.reason for each in explanations if each.explains(line)), None) for line in lines}


def told(found: dict[str, str | None], explanations: list[Explanation]) -> list[str]:
    """The differences by reason, with a count and an example; then the unexplained ones, and unused entries."""
    groups: dict[str, list[str]] = {}
    for line, reason in found.items():
        if reason is not None:
            groups.setdefault(reason, []).append(line)
    text = [f"{len(lines):,} explained: {reason} For example: {lines[0]}" for reason, lines in groups.items()]
    open_ones = [line for line, reason in found.items() if reason is None]
    text += [f"{len(open_ones):,} differences that nothing explains:"] if open_ones else []
    text += [f"  {line}" for line in open_ones[:SHOWN]]
    text += [f"  and {len(open_ones) - SHOWN:,} more: --out writes them all"] if len(open_ones) > SHOWN else []
    idle = [each.pattern for each in explanations if not any(map(each.explains, found))]
    return text + [f"This entry of explained.yaml explains nothing: {pattern}" for pattern in idle]
