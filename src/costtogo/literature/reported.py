"""The literature's numbers on a puzzle, and what its trainings cost compared with one of ours."""

import math
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from costtogo.files import read_csv
from costtogo.literature.documents import documents
from costtogo.puzzles import family
from costtogo.tables.kept import REPORTED

SECONDS = {"d": 86400.0, "h": 3600.0, "min": 60.0}  # of a unit of time
DOCUMENTS = {  # the sources of data/reported by the names that readers know
    "thesis": "thesis",
    "deepcubea": "DeepCubeA",
    "final_year_report": "final-year report",
    "deepcube": "DeepCube",
    "local_value_iteration": "local value iteration",
}
NETWORKS = {  # of the literature, and whose they are
    "DeepCubeA": "deepcubea",
    "Report_DNN": "final_year_report",
    "C3_DNN_0": "thesis",
    "DeepCube": "deepcube",
}
NUMBERS = ("iteration", "point", "path_weight", "batch_size", "distance", "value")
COLUMNS = (
    *("source", "section", "quantity", "puzzle", "model", "iteration", "point", "path_weight", "batch_size"),
    *("distance", "set", "relation", "value", "unit", "kind", "claim", "erratum", "contradicted"),
)
COSTS = ("training_time", "states_seen")


def read_reported(paths: Iterable[Path | str], puzzle: str | None = None) -> pd.DataFrame:
    """The rows of some files of data/reported, one file after the other; value as float, which holds all of them.

    puzzle: only the rows on this one.
    """
    types = dict.fromkeys(COLUMNS, object) | dict.fromkeys(NUMBERS, float)
    frames = [read_csv(path, dtype=types) for path in paths]
    rows = pd.concat([pd.DataFrame(columns=COLUMNS).astype(types), *frames], ignore_index=True)
    return rows if puzzle is None else rows[rows["puzzle"] == puzzle].reset_index(drop=True)


def read_local_vi(path: Path) -> pd.DataFrame:
    """The numbers of the document on local value iteration, value as text, which holds fractions.

    tile, considered and initial_size are 0 where a number has none; source, the first column, is the document.
    """
    rows = read_csv(path, dtype=str).fillna("").assign(source=path.stem)
    counts = ["tile", "considered", "initial_size"]
    return rows.assign(**rows[counts].replace("", "0").astype(int))[["source", *rows.columns.drop("source")]]


def rows_on(puzzles: Iterable[str], listed: Iterable[str], folder: Path = REPORTED) -> pd.DataFrame:
    """What the documents say of some puzzles, the thesis first, which counts on each of the family of a listed one."""
    families = {family(puzzle) for puzzle in listed}
    thesis = read_reported(sorted(folder.glob("thesis.csv")) if families else [])
    of_family = thesis["puzzle"].map(lambda puzzle: family(puzzle) in families).astype(bool)
    others = [read_reported(documents(puzzle, folder), puzzle) for puzzle in puzzles]
    return pd.concat([thesis[of_family], *others], ignore_index=True)


def trainings(reported: pd.DataFrame, name: str, seconds: float, states: float) -> pd.DataFrame:
    """label, hours, states and own of our training and of each network of the literature, ours first.

    reported: rows of data/reported.  seconds and states: what ours took and saw.  A number is NaN where the
    literature does not give it.
    """
    rows = [{"label": name, "hours": seconds / 3600, "states": states, "own": True}]
    for model in NETWORKS:
        told = numbers_of(reported, model)
        if told.empty:
            continue
        time, count = (told[told["quantity"] == quantity] for quantity in COSTS)
        hours = time["value"].iloc[0] * SECONDS[time["unit"].iloc[0]] / 3600 if len(time) else math.nan
        states = count["value"].iloc[0] if len(count) else math.nan
        if math.isnan(hours) and math.isnan(states):
            continue
        rows.append({"label": DOCUMENTS[NETWORKS[model]], "hours": hours, "states": states, "own": False})
    return pd.DataFrame(rows)


def numbers_of(reported: pd.DataFrame, model: str) -> pd.DataFrame:
    """The rows on one network that give a number, not a bound; those of the document that it is of come first."""
    rows = reported[(reported["model"] == model) & (reported["relation"] == "=")]
    return rows.loc[(rows["source"] != NETWORKS[model]).sort_values(kind="stable").index]
