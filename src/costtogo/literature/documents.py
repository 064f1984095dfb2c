"""The documents whose numbers are in data/reported, and which puzzles each is about.

Importing this module loads no pandas, so that a workflow can ask while it is being parsed.
"""

import csv
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from costtogo.files import damaged, read_text
from costtogo.params.base import hint
from costtogo.tables.kept import REPORTED, kept_beside, kept_for_others
from costtogo.types import UserError

if TYPE_CHECKING:
    from costtogo.params.study import Study

LOCAL_VI = "local_value_iteration.csv"  # of REPORTED, the numbers of the document on it


def read_by_report(study: "Study") -> list[Path]:
    """The files that the report of a study reads besides results: documents, and what the studies that it shows kept.

    UserError where a study that it should show was not kept for that; a clone without any shows none.
    """
    known = [path.stem for path in kept_for_others()]
    if known and (unknown := [name for name in study.beside if name not in known]):
        raise UserError(f"Parameter beside: no study {unknown[0]} is kept for other reports{hint(unknown[0], known)}")
    asked = [study.about(puzzle) for puzzle in study.puzzles]
    files = {path for each in asked for path in documents(each.puzzle)}
    if any(each.local_vi for each in asked):
        files.add(REPORTED / LOCAL_VI)
    if any(each.models and each.is_exhaustive for each in asked):
        kept = kept_beside(study)
        tables = {table for path in kept for table in path.with_suffix("").glob("*.csv")}
        files |= {*REPORTED.glob("**/*.csv"), *kept, *tables}
    return sorted(files)


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
