"""Digests in git of files that are the same on every processor: parameter slices, and reports of made-up results."""

import json
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

from net.checkouts import Checkout
from net.comparison import digest, files

FOLDER = Path("tests/golden")
PARTS = ("slices", "reports")
LETTERS = 16  # of a digest: enough to distinguish two files
LEFT_OUT = (
    "*/tables/provenance.csv",  # has digests of parquet files, whose bytes depend on processor and pyarrow
    "listed/pages/appendix_provenance.md",  # has digests of compressed tables, whose bytes depend on zlib
)


def digests(project: Path, part: str) -> dict[str, str]:
    """The digests of all files that a part of the working tree writes, by place."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work, part)
        Checkout("working tree", project, "", "").run(part, str(folder), log=Path(work, "log"))
        return {
            place: digest(path)[:LETTERS]
            for place, path in files(folder).items()
            if not any(fnmatchcase(place, pattern) for pattern in LEFT_OUT)
        }


def read(project: Path, part: str) -> dict[str, str]:
    """The digests of a part that are in git."""
    return json.loads((project / FOLDER / f"{part}.json").read_text(encoding="utf-8"))


def moved(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The places whose digests differ, each with the change."""
    words = {(True, False): "gone", (False, True): "new", (True, True): "changed"}
    places = [place for place in sorted(before.keys() | after.keys()) if before.get(place) != after.get(place)]
    return [f"{place}: {words[place in before, place in after]}" for place in places]


def accept(project: Path) -> None:
    """Make the digests of the working tree those in git, and print which moved."""
    for part in PARTS:
        path, found = project / FOLDER / f"{part}.json", digests(project, part)
        known = read(project, part) if path.exists() else {}
        lines = moved(known, found)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"{part}: {len(found):,} digests, {len(lines):,} of them moved")
        print("".join(f"  {line}\n" for line in lines), end="")
