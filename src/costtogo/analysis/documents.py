"""The documents whose numbers data/reported has, and what they say something about.

Importing this module and asking it loads no pandas, so that a workflow can ask while it is being parsed.
"""

import csv
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from costtogo.files import FileError, damaged, read_json, read_text
from costtogo.params.base import hint
from costtogo.types import UserError

if TYPE_CHECKING:
    from costtogo.params.study import Study

REPORTED = Path("data/reported")  # in its folders a file for each document
MEASURED = Path("data/measured")  # what studies have kept
ESTIMATES = "estimates"  # the table of a kept study with the hours of its trainings that have not been run
TABLES = "tables"  # of the JSON of a kept study: what its tables' columns are, by address
REPORT = "report/report"  # the address of a study's report, which one that is kept with it has
SEARCHES = (
    *("searches", "baselines", "beams", "policy_beams", "trees", "anytime", "external", "two_phase", "optima"),
    "compared",
)
ALONE = ("models", "audits", "timings")  # groups that have a file
BOARDS = "boards"  # a table that has one
LOCAL_VI = "local_value_iteration.csv"  # of REPORTED, the numbers of the document on it


def read_by_report(study: "Study") -> list[Path]:
    """The files that the report of a study reads besides results: what documents tell, and what studies beside it kept.

    UserError where a study that is to stand beside it was not kept for that; a clone without any shows none.
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


def kept_for_others(folder: Path = MEASURED) -> list[Path]:
    """The JSON files of the studies that were kept for reports of others: not with a report of their own."""
    return [path for path in sorted(folder.glob("*.json")) if REPORT not in cards_kept(path)]


def kept_beside(study: "Study", folder: Path = MEASURED) -> list[Path]:
    """Those of the studies that a study's report shows."""
    return [path for path in kept_for_others(folder) if path.stem in study.beside]


def cards_kept(path: Path) -> dict[str, Any]:
    """What was kept of each stage of a study, by address; path: its JSON file.  FileError where it is another one."""
    return {place: card for place, card in _kept(path).items() if place != TABLES}


def tables_kept(path: Path) -> dict[str, Any]:
    """The columns of each table that was kept of a study, by address; path: its JSON file."""
    return _kept(path).get(TABLES, {})


def file_of(address: str) -> str:
    """The file of a table below data/measured/<study>.  "beams/net/grid" -> "searches.csv"."""
    group, *names = address.split("/")
    if not names:
        return f"{address}.csv"
    if BOARDS in names:
        return f"{BOARDS}.csv"
    return f"{group if group in ALONE else 'searches' if group in SEARCHES else 'puzzles'}.csv"


def whose(address: str) -> list[str]:
    """Stage and table.  "searches/net/grid" -> "searches/net", "grid"; "timings/searches/net" -> "searches/net", ""."""
    group, *names = address.split("/")
    stage = names if group == "timings" else [group, *names[:1]]
    return ["/".join(stage), "" if group == "timings" else "/".join(names[1:])]


def _kept(path: Path) -> dict[str, Any]:
    return _read(path.resolve(), path.stat().st_mtime_ns, path)


@cache
def _read(path: Path, changed: int, named: Path) -> dict[str, Any]:
    """A file as it is; changed: when it was, so that one that changes is read again.  named: as messages name it."""
    found = read_json(named)
    if not isinstance(found, dict) or not all(isinstance(entry, dict) for entry in found.values()):
        raise FileError(f"{named} is damaged: git checkout {named} restores it.")
    return found


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
