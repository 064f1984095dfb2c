"""What states of training and work of search buy: trainings that differ in their iterations and seeds alone."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from costtogo.params.searches import AnytimeParams, BeamParams
from costtogo.tables.results import StudyResults
from costtogo.tables.several_seeds import SETTINGS

BUDGETS = {each.group: each.cell[-1] for each in (BeamParams, AnytimeParams)}  # the column of a grid that has them
MEASURED = ["instances", "solved_percent", "length", "length_low", "length_high", "nodes_generated"]
CELL = ["group", "set", "value"]  # which searches, of which instances, and their width or seconds
LEAST = 10  # instances that all trainings must solve
ENOUGH = 80  # percent of the instances that a training must solve
Grids = Mapping[str, pd.DataFrame]  # of searches of one group, by model


class Slope(NamedTuple):
    """What a doubling changes: a number, and its interval (95 %)."""

    value: float
    low: float
    high: float


def budgets(results: StudyResults) -> pd.DataFrame:
    """A row for each setting of searches and training, of the set that is searched first; none in other studies.

    Columns searches, model, those of CELL, states (seen in training) and those of MEASURED.
    """
    models = results.asked.alike_but_for_iterations
    cards = {model: card for model in models if (card := results.find_card(f"models/{model}"))}
    frames = []
    for group in [name for name in BUDGETS if cards and name in results.asked.by_group]:
        found = {model: results.find_frame(f"{group}/{model}/grid") for model in cards}
        chosen = results.asked.by_group[group][0].set
        frames.append(rows_of(cards, {model: grid for model, grid in found.items() if grid is not None}, group, chosen))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def rows_of(cards: Mapping[str, dict[str, Any]], grids: Grids, group: str, chosen: str) -> pd.DataFrame:
    """The rows of one group of searches.  cards: of the trainings.  chosen: the set of instances."""
    column = BUDGETS[group]
    rows = [
        {
            "searches": SETTINGS[column].format(cell[column]),
            "model": model,
            **{"group": group, "set": chosen, "value": cell[column]},
            "states": cards[model]["metrics"]["states_seen"],
        }
        | {name: cell[name] for name in MEASURED}
        for model, grid in grids.items()
        for cell in grid[grid["set"] == chosen].to_dict("records")
    ]
    return pd.DataFrame(rows, columns=["searches", "model", *CELL, "states", *MEASURED])


def doublings(results: StudyResults) -> pd.DataFrame:
    """A row for each setting of searches, over the instances that all trainings solve with it; none below LEAST.

    Budgets with which a training solves less than ENOUGH are left out; fewer than three others have no row.

    Columns searches, trainings, compared (instances), least and most (states seen), shortest and longest (mean
    lengths), fewer, low and high: by how many moves a doubling of the states makes solutions shorter, a line through
    the trainings, with its interval.
    """
    rows = []
    found = budgets(results)
    for searches, every in found.groupby("searches", sort=False) if len(found) else ():
        group = every[every.groupby("states")["solved_percent"].transform("min") >= ENOUGH]
        if group["states"].nunique() < 3:
            continue
        means, compared = group["length"], group["instances"].min()
        if (group["solved_percent"] < 100).any():
            lengths = of_common(results, group)
            means, compared = group["model"].map(lengths.mean()), len(lengths)
        if compared < LEAST:
            continue
        slope = per_doubling(group["states"], means)
        rows.append(
            {
                **{"searches": searches, "trainings": len(group), "nodes_generated": group["nodes_generated"].mean()},
                **{"compared": compared, "least": group["states"].min(), "most": group["states"].max()},
                **{"longest": means.max(), "shortest": means.min()},
                **{"fewer": -slope.value, "low": -slope.high, "high": -slope.low},
            }
        )
    return pd.DataFrame(rows)


def of_common(results: StudyResults, rows: pd.DataFrame) -> pd.DataFrame:
    """Lengths of the instances that all trainings solve: a row for each, a column for each training.

    rows: of one setting, as budgets has them.  Without rows where the single searches were not kept.
    """
    group, chosen, value = rows[["group", "set", "value"]].iloc[0]
    every = results.of_each(rows["model"], f"{group}/{{}}/searches")
    if every.empty:
        return every
    own = every[(every["set"] == chosen) & (every[BUDGETS[group]] == value) & every["solved"].astype(bool)]
    return own.pivot(index="instance", columns="model", values="cost").reindex(columns=rows["model"]).dropna()


def per_doubling(amounts: Iterable[float], values: Iterable[float]) -> Slope:
    """The slope of the line of least squares through values over the binary logarithm of amounts.

    Its interval is by Student's t of the residuals; NaN of fewer than three points.
    """
    places, heights = np.log2(np.asarray([*amounts], dtype=float)), np.asarray([*values], dtype=float)
    apart = places - places.mean()
    slope = float(apart @ heights / (apart @ apart))
    free = len(places) - 2
    if free < 1:
        return Slope(slope, math.nan, math.nan)
    residuals = heights - heights.mean() - slope * apart
    half = float(special.stdtrit(free, 0.975)) * math.sqrt(float(residuals @ residuals) / free / float(apart @ apart))
    return Slope(slope, slope - half, slope + half)
