"""The studies that git keeps: which there are, what was kept of each stage, and in which file a table is.

    data/measured/<study>.json       the card of each stage by its address, and the columns of each table
    data/measured/<study>/<group>.csv    the rows (costtogo.tables.rows)

Importing this module loads no pandas, so that a workflow can ask while it is being parsed.
"""

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from costtogo.files import FileError, read_json

if TYPE_CHECKING:
    from costtogo.params.study import Study

# The folders of a project, seen from its root.
REPORTED = Path("data/reported")  # in its folders a file for each document
MEASURED = Path("data/measured")  # a JSON file and a folder of tables for each study that git keeps
CAPTIONS = Path("workflow/captions.yaml")  # of each kind of figure
RESULTS = Path("results")  # of what a user runs

ESTIMATES = "estimates"  # the table of a kept study with the hours of its trainings that have not been run
TABLES = "tables"  # of the JSON of a kept study: what its tables' columns are, by address
REPORT = "report/report"  # the address of a study's report, which one that is kept with it has
SEARCHES = (
    *("searches", "baselines", "beams", "policy_beams", "trees", "anytime", "external", "two_phase", "optima"),
    "compared",
)
ALONE = ("models", "audits", "timings")  # groups that have a file


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
    return f"{group if group in ALONE else 'searches' if group in SEARCHES else 'puzzles'}.csv"


def whose(address: str) -> list[str]:
    """Stage and table.  "searches/net/grid" -> "searches/net", "grid"; "timings/searches/net" -> "searches/net", ""."""
    group, *names = address.split("/")
    stage = names if group == "timings" else [group, *names[:1]]
    return ["/".join(stage), "" if group == "timings" else "/".join(names[1:])]


def name_of(address: str) -> str:
    """The model, puzzle or baseline of an address.  "timings/searches/net" -> "net"."""
    return whose(address)[0].partition("/")[2]


def _kept(path: Path) -> dict[str, Any]:
    return _read(path.resolve(), path.stat().st_mtime_ns, path)


@cache
def _read(path: Path, changed: int, named: Path) -> dict[str, Any]:
    """A file as it is; changed: when it was, so that one that changes is read again.  named: as messages name it."""
    found = read_json(named)
    if not isinstance(found, dict) or not all(isinstance(entry, dict) for entry in found.values()):
        raise FileError(f"{named} is damaged: git checkout {named} restores it.")
    return found


def outdated(model: str, card: Callable[[str], dict[str, Any]]) -> bool:
    """Whether external instances were solved with another network than the model has now; card: as in drawn."""
    files = (card(f"external/{model}").get("inputs", {}), card(f"models/{model}").get("outputs", {}))
    network = f"models/{model}/checkpoints.parquet"
    solved_with, now = ({found[path] for path in found if path.endswith(network)} for found in files)
    return not solved_with <= now


def kept_of(study: "Study", puzzles: Iterable[str], measured: Path = MEASURED) -> list[Path]:
    """The files of the kept studies that a study's report shows and that have results of any of these puzzles."""

    def told_of(path: Path) -> set[str]:
        parameters = [card.get("parameters", {}) for card in cards_kept(path).values()]
        return {part.get("puzzle", part.get("training", {}).get("puzzle")) for part in parameters}

    return [path for path in kept_beside(study, measured) if told_of(path) & {*puzzles}]


def mean_distance_at_looks(cards: dict[str, Any], puzzle: str) -> float | None:
    """The mean distance of a puzzle whose trainings have checkpoints at fixed iterations; None of another puzzle."""
    trainings = [card["parameters"]["training"] for place, card in cards.items() if place.startswith("models/")]
    looked = any(each["puzzle"] == puzzle and each.get("checkpoint_iterations") for each in trainings)
    return cards[f"tables/{puzzle}"]["metrics"]["mean_distance"] if looked else None
