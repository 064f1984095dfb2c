"""The documents whose numbers data/reported has, and what they say something about.

Importing this module and asking it loads no pandas, so that a workflow can ask while it is being parsed.
"""

import csv
import io
from functools import cache
from pathlib import Path

from costtogo.files import damaged, read_text

REPORTED = Path("data/reported")  # in its folders a file for each document


def documents(puzzle: str, folder: Path = REPORTED) -> list[Path]:
    """The files in the folders of data/reported that have numbers on a puzzle, the thesis first."""
    paths = sorted(folder.glob("*/*.csv"), key=lambda path: (path.stem != "thesis", path.stem))
    return [path for path in paths if puzzle in _puzzles_of(path.resolve(), path.stat().st_mtime_ns)]


@cache
def _puzzles_of(path: Path, changed: int) -> frozenset[str]:
    """The puzzles that a file has numbers on; changed: when it was, so that one that changes is read again."""
    try:
        return frozenset(row["puzzle"] for row in csv.DictReader(io.StringIO(read_text(path))))
    except (csv.Error, KeyError) as error:
        raise damaged(path, error) from error
