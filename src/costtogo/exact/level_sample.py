"""The replacement for a table of exact distances if each state has its own goal: some levels with all their states."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costtogo.puzzles.base import Puzzle
from costtogo.types import States


@dataclass(frozen=True, eq=False)
class LevelSample:
    """Some levels, and states of these levels spread evenly over the distances.

    levels: uint8 [L, D], one state of each level.
    states: uint8 [N, D].  distance: int64 [N], moves to the nearest solved state.
    layers: int64 [d + 1], the number of states of all levels at each distance.
    """

    puzzle: Puzzle
    levels: States
    states: States
    distance: np.ndarray
    layers: np.ndarray

    @property
    def depth(self) -> int:
        """The largest distance."""
        return len(self.layers) - 1


def list_levels(
    puzzle: Puzzle, levels: States, table_of: Callable, states: int, generator: np.random.Generator
) -> LevelSample:
    """List all states of some levels, uint8 [L, D], and keep about `states` of them.

    table_of: returns the table of a level, uint8 [D]: distance by rank, layers, and states_of ranks.
    """
    kept, moves, layers = [], [], np.zeros(1, dtype=np.int64)
    for level in levels:
        table = table_of(level)
        deeper = max(len(layers), len(table.layers))
        layers = np.pad(layers, (0, deeper - len(layers))) + np.pad(table.layers, (0, deeper - len(table.layers)))
        ranks = some_at_each_distance(table, -(-states // (len(levels) * len(table.layers))), generator)
        kept.append(table.states_of(ranks))
        moves.append(table.distance[ranks].astype(np.int64))
    return LevelSample(puzzle, levels, np.concatenate(kept), np.concatenate(moves), layers)


def some_at_each_distance(table, most: int, generator: np.random.Generator) -> np.ndarray:
    """Ranks of up to `most` states at each distance of a table, int64, ascending by distance."""
    live = np.flatnonzero(table.distance < len(table.layers))
    order = live[np.argsort(table.distance[live], kind="stable")]
    ends = np.cumsum(table.layers)
    groups = zip(ends - table.layers, ends, strict=True)
    return np.concatenate(
        [generator.choice(order[first:last], size=min(most, last - first), replace=False) for first, last in groups]
    )
