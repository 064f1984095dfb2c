"""The literature's numbers on a puzzle, and what its trainings cost beside one of ours."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from costtogo.files import read_csv

SECONDS = {"d": 86400.0, "h": 3600.0, "min": 60.0}  # of a unit of time
DOCUMENTS = {  # the sources of data/reported by the names that readers know
    "thesis": "thesis",
    "deepcubea": "DeepCubeA",
    "final_year_report": "final-year report",
    "deepcube": "DeepCube",
}
COSTS = ("training_time", "states_seen")


def read_reported(paths: Iterable[Path | str]) -> pd.DataFrame:
    """The rows of some files of data/reported, one file after the other; value as float, which holds all of them."""
    frames = [read_csv(path, dtype={"section": str, "value": float}) for path in paths]
    return pd.concat(frames, ignore_index=True)


def trainings(reported: pd.DataFrame, name: str, card: dict[str, Any], timing: dict[str, Any]) -> pd.DataFrame:
    """label, hours, states and own of our training and of each that the literature tells the costs of, ours first.

    reported: rows of data/reported.  card and timing: those of our training.  A number is NaN where it is not told;
    of several documents on one training the first counts.
    """
    seconds = timing.get("seconds", math.nan) + timing.get("earlier_seconds", 0.0)
    states = card.get("metrics", {}).get("states_seen", math.nan)
    rows = [{"label": name, "hours": seconds / 3600, "states": states, "own": True}]
    told = reported[reported["quantity"].isin(COSTS) & (reported["relation"] == "=")]
    for _, group in told.groupby("model", sort=False):
        first = {name: part.iloc[0] for name, part in group.groupby("quantity")}
        time, count = first.get("training_time"), first.get("states_seen")
        hours = math.nan if time is None else time["value"] * SECONDS[time["unit"]] / 3600
        states = math.nan if count is None else count["value"]
        label = DOCUMENTS[group["source"].iloc[0]]
        rows.append({"label": label, "hours": hours, "states": states, "own": False})
    return pd.DataFrame(rows)
