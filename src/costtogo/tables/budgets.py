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
Grids = Mapping[str, pd.DataFrame]  # of searches of one group, by model


class Slope(NamedTuple):
    """What a doubling changes: a number, and its interval (95 %)."""

    value: float
    low: float
    high: float


def budgets(results: StudyResults) -> pd.DataFrame:
    """A row for each setting of searches and training, of the set that is searched first; none in other studies.

    Columns searches, model, states (seen in training) and those of MEASURED.
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
            "states": cards[model]["metrics"]["states_seen"],
        }
        | {name: cell[name] for name in MEASURED}
        for model, grid in grids.items()
        for cell in grid[grid["set"] == chosen].to_dict("records")
    ]
    return pd.DataFrame(rows, columns=["searches", "model", "states", *MEASURED])


def doublings(results: StudyResults) -> pd.DataFrame:
    """A row for each setting of searches that all trainings solve all states with.

    Columns searches, trainings, least and most (states seen), shortest and longest (mean lengths), fewer, low and high:
    by how many moves a doubling of the states makes solutions shorter, a line through the trainings, with its interval.
    """
    rows = []
    found = budgets(results)
    for searches, group in found.groupby("searches", sort=False) if len(found) else ():
        if (group["solved_percent"] < 100).any():
            continue
        slope = per_doubling(group["states"], group["length"])
        rows.append(
            {
                **{"searches": searches, "trainings": len(group), "nodes_generated": group["nodes_generated"].mean()},
                **{"least": group["states"].min(), "most": group["states"].max()},
                **{"longest": group["length"].max(), "shortest": group["length"].min()},
                **{"fewer": -slope.value, "low": -slope.high, "high": -slope.low},
            }
        )
    return pd.DataFrame(rows)


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
