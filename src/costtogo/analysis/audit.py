"""Is a heuristic admissible, is it consistent, and how far off is it, at which distance? (thesis 5.6)"""

from dataclasses import dataclass

import numpy as np

from costtogo.analysis.intervals import share_interval
from costtogo.compiled import njit
from costtogo.types import NO_STATE, CostToGo, Neighbours

ENDS = ("low", "high")


@dataclass(frozen=True)
class Findings:
    """What an audit says of each state, arrays of one length.

    distance: exact moves to the goal.  error: float32, cost-to-go less distance, in moves.
    consistent: bool, the cost-to-go is at most one more than that of every neighbour.
    descending: bool, the neighbour of least cost-to-go is nearer the goal; true at the goal.
    """

    distance: np.ndarray
    error: np.ndarray
    consistent: np.ndarray
    descending: np.ndarray

    def at(self, rows) -> "Findings":
        """The findings for some of the states, repeated ones counting each time."""
        return Findings(self.distance[rows], self.error[rows], self.consistent[rows], self.descending[rows])

    @property
    def rank_correlation(self) -> float:
        """Spearman's ρ of cost-to-go and distance, equal ones sharing their mean rank; NaN where one is constant."""
        _, places, counts = np.unique(self.distance + self.error, return_inverse=True, return_counts=True)
        with np.errstate(invalid="ignore"):
            ranks = mean_ranks(np.bincount(self.distance))[self.distance], mean_ranks(counts)[places]
            return float(np.corrcoef(*ranks)[0, 1])


def mean_ranks(counts: np.ndarray) -> np.ndarray:
    """The mean rank of each value among all, from 1 on, where so many have it; values ascending."""
    return np.cumsum(counts) - (counts - 1) / 2


def audit(values: CostToGo, distance: np.ndarray, neighbours: Neighbours) -> Findings:
    """Audit a heuristic on every state: values float32 [S], distance [S], neighbours int32 [S, A]."""
    error = values - distance.astype(np.float32)
    descending = descending_states(values, distance, neighbours)
    return Findings(distance, error, consistent_states(values, neighbours), descending)


@njit(cache=True)
def consistent_states(values, neighbours):
    """values[s] <= 1 + values[t] for every neighbour t of s, over edges as float32 can tell: bool [S]."""
    consistent = np.ones(len(values), dtype=np.bool_)
    for state in range(len(values)):
        for neighbour in neighbours[state]:
            if neighbour != NO_STATE and values[state] > values[neighbour] + np.float32(1.0):
                consistent[state] = False
    return consistent


@njit(cache=True)
def descending_states(values, distance, neighbours):
    """Whether the neighbour of least cost-to-go, the first of them, is nearer the goal; true at the goal: bool [S]."""
    descending = np.ones(len(values), dtype=np.bool_)
    for state in range(len(values)):
        best = NO_STATE
        for neighbour in neighbours[state]:
            if neighbour != NO_STATE and (best == NO_STATE or values[neighbour] < values[best]):
                best = neighbour
        descending[state] = distance[state] == 0 or distance[best] < distance[state]
    return descending


def measures(findings: Findings) -> dict[str, float]:
    """The findings in numbers; overestimation is over inadmissible states alone, in moves, NaN where there are none."""
    error = findings.error.astype(np.float64)
    over = error[error > 0]
    return {
        "states": len(error),
        "admissible_percent": 100 * float(np.mean(error <= 0)),
        "overestimation_mean": float(over.mean()) if len(over) else np.nan,
        "overestimation_max": float(over.max(initial=0.0)),
        "consistent_percent": 100 * float(np.mean(findings.consistent)),
        "descending_percent": 100 * float(np.mean(findings.descending)),
        "mean_absolute_error": float(np.abs(error).mean()),
        "bias": float(error.mean()),
    }


def share_intervals(findings: Findings, walks: np.ndarray) -> dict[str, float]:
    """The 95 % intervals of the shares of a sample, in per cent, over its walks.  walks: of each state, its walk."""
    holds = {"admissible": findings.error <= 0, "consistent": findings.consistent}
    ends = {name: share_interval(values, walks) for name, values in holds.items()}
    return {f"{name}_{end}": 100 * share for name, both in ends.items() for end, share in zip(ENDS, both, strict=True)}


def measures_by_distance(findings: Findings) -> list[dict[str, float]]:
    """The measures of the states at each distance that occurs, in ascending order."""
    order = np.argsort(findings.distance, kind="stable")
    layers, starts = np.unique(findings.distance[order], return_index=True)
    groups = np.split(order, starts[1:])
    return [{"distance": int(layer), **measures(findings.at(rows))} for layer, rows in zip(layers, groups, strict=True)]
