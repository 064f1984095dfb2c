"""How the states of a sampler spread over the distances: as drawn, and as its exact chances have it."""

from collections.abc import Iterator

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.graph import neighbour_table
from costtogo.puzzles.base import Puzzle
from costtogo.types import NO_STATE


def expected_shares(puzzle: Puzzle, walk_max: int, distance: np.ndarray) -> np.ndarray:
    """The chance that a state of a sampler lies at each distance, for walks of 1, 2 … walk_max, float64 [K, d + 1].

    It is one for deepcube and deepcubea: both draw from 1 … K moves after the goal equally often.
    """
    after = [np.bincount(distance, weights=chance) for chance in walk_chances(puzzle, walk_max)]
    return np.cumsum(after[1:], axis=0) / np.arange(1, walk_max + 1)[:, None]


def walk_chances(puzzle: Puzzle, length: int) -> Iterator[np.ndarray]:
    """The chance of each state after 0, 1 … length random legal moves from the goal, float64 [S] each."""
    neighbours = neighbour_table(puzzle)
    legal = (neighbours != NO_STATE).sum(axis=1)
    chance = np.zeros(puzzle.state_count)
    chance[puzzle.rank(puzzle.goal[None])] = 1
    yield chance
    for _ in range(length):
        chance = _arriving(neighbours, chance / legal)
        yield chance


def walk_spread(puzzle: Puzzle, length: int, cost_to_go: np.ndarray, distance: np.ndarray) -> list[dict[str, float]]:
    """What a heuristic says after 0, 1 … length random legal moves from the goal, by the exact chance of each state.

    cost_to_go, distance: float and int [S].  A row for each depth: mean_cost_to_go, low and high, between which lie
    nine tenths of the chance, and mean_distance.
    """
    order = np.argsort(cost_to_go, kind="stable")
    rows = []
    for depth, chance in enumerate(walk_chances(puzzle, length)):
        below = np.cumsum(chance[order])
        low, high = cost_to_go[order[np.searchsorted(below, np.array([0.05, 0.95]) * below[-1])]]
        means = {"mean_cost_to_go": chance @ cost_to_go, "mean_distance": chance @ distance}
        rows.append({"depth": depth, **means, "low": low, "high": high})
    return rows


@njit(cache=True)
def _arriving(neighbours, leaving):
    """What each state receives: moves can be undone, so it comes from the state's own neighbours."""
    arriving = np.zeros(len(leaving))
    for state in range(len(leaving)):
        for neighbour in neighbours[state]:
            if neighbour != NO_STATE:
                arriving[state] += leaving[neighbour]
    return arriving
