"""What a set of searches amounts to: how many solved, how many optimal, at which expense."""

import numpy as np
import pandas as pd

from costtogo.analysis.intervals import wilson

CELL = ["heuristic", "set", "path_weight", "batch_size"]


def summarise(searches: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """One row per group of searches, in order of appearance; means over its searches, lengths over the solved ones.

    searches: columns distance, solved, cost, optimal, nodes_expanded, nodes_generated and those of by.
    optimal_low and optimal_high bound the optimal share (95 %, Wilson); shares in percent, lengths in moves.
    """
    rows = []
    for key, group in searches.groupby(by, sort=False):
        solved = group[group["solved"]]
        low, high = wilson(int(group["optimal"].sum()), len(group))
        rows.append(
            {
                **dict(zip(by, key, strict=True)),
                "instances": len(group),
                "solved_percent": 100 * group["solved"].mean(),
                "optimal_percent": 100 * group["optimal"].mean(),
                "optimal_low": 100 * low,
                "optimal_high": 100 * high,
                "length": solved["cost"].mean() if len(solved) else np.nan,
                "excess": (solved["cost"] - solved["distance"]).mean() if len(solved) else np.nan,
                "nodes_expanded": group["nodes_expanded"].mean(),
                "nodes_generated": group["nodes_generated"].mean(),
            }
        )
    return pd.DataFrame(rows)
