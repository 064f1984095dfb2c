"""What a set of searches amounts to: how many solved, how many optimal, at which expense."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from costtogo.analysis.intervals import mean_interval, share_interval

SEPARATED = 0.05  # p-value below which a paired test separates two searches


def summarise(searches: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """One row per group of searches, in order of appearance; one of all without by.

    searches: columns distance (NaN where it is not known), solved, cost, nodes_expanded, nodes_generated and those of
    by; ended, why a search ended, where that is told, and cost_to_go, what the heuristic says of the start, likewise;
    walk, the random walk that an instance lies on, where several lie on one.
    Shares are in percent, lengths in moves; low and high are the ends of 95 % intervals, of shares over the walks.

    length is over the solved; optimal_length, the optimal share and admissible_percent, of the cost-to-go, over the
    `known`, whose distance is known, and excess, the moves too many, over those of them that are solved.
    out_of_memory_percent is the share that ended for the nodes it kept. What is the mean of nothing is NaN.
    """
    groups = searches.groupby(list(by), sort=False) if by else [((), searches)]
    return pd.DataFrame([{**dict(zip(by, key, strict=True)), **_summary(group)} for key, group in groups])


def _summary(searches: pd.DataFrame) -> dict[str, float]:
    """The measures of some searches."""
    known = searches[searches["distance"].notna()]
    length, low, high = mean_interval(searches.loc[searches["solved"], "cost"])
    optimal = known["cost"] == known["distance"]
    row = {
        "instances": len(searches),
        "solved_percent": 100 * searches["solved"].mean(),
        "length": length,
        "length_low": low,
        "length_high": high,
        "known": len(known),
        "optimal_length": known["distance"].mean(),
        "optimal_percent": 100 * optimal.mean(),
    }
    walks = known["walk"].to_numpy() if "walk" in known else None
    ends = share_interval(optimal.to_numpy(), walks) if len(known) else (np.nan, np.nan)
    row |= {f"optimal_{end}": 100 * share for end, share in zip(("low", "high"), ends, strict=True)}
    row["excess"] = (known["cost"] - known["distance"])[known["solved"]].mean()
    row |= {name: searches[name].mean() for name in ("nodes_expanded", "nodes_generated")}
    if "ended" in searches:
        row["out_of_memory_percent"] = 100 * (searches["ended"] == "memory").mean()
    if "cost_to_go" in searches:
        row["admissible_percent"] = 100 * (known["cost_to_go"] <= known["distance"]).mean()
    return row


def separated(better: np.ndarray, other: np.ndarray) -> bool:
    """True if a paired test (exact, two-sided) separates the shares of two searches from the same instances.

    McNemar's: of the instances, bool [N], that one solves optimally and the other does not, is it as often the one?
    """
    apart = better != other
    wins = int((better & apart).sum())
    return bool(apart.any()) and binomtest(wins, int(apart.sum())).pvalue < SEPARATED
