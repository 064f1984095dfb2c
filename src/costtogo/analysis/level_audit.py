"""Audit of a heuristic on all states of levels that are listed whole, and what it says of dead ends.

A dead end is a state from which no solution is left: its distance is infinite, and no step back from a solved state
comes to it, so that a training on such steps never sees it as a state, only as a child.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from costtogo.analysis.audit import Findings
from costtogo.puzzles.base import Puzzle
from costtogo.types import NO_STATE, CostToGo, Heuristic

CHUNK = 1 << 16  # states looked at a time
FINENESS = 100  # bins of a move
MOST = 1000  # moves; larger values, infinite ones too, count as this many


@dataclass
class DeadEnds:
    """How often children that are dead or not have each score, in bins of 1 / FINENESS moves: int64 [bins].

    The score of a child is its cost-to-go less the least among it and its siblings: 0 for the best child.
    """

    live: np.ndarray = field(default_factory=lambda: np.zeros(MOST * FINENESS + 1, dtype=np.int64))
    dead: np.ndarray = field(default_factory=lambda: np.zeros(MOST * FINENESS + 1, dtype=np.int64))
    choices: int = 0  # states that have children of both kinds
    led_astray: int = 0  # of them, those whose child of least cost-to-go is dead

    def add(self, values: CostToGo, legal: np.ndarray, dead: np.ndarray) -> None:
        """Take in the children of some states: values float32 [N, A], legal and dead bool [N, A]."""
        values = np.where(legal, np.minimum(values, MOST), np.inf)
        least = values.min(axis=1, keepdims=True)
        bins = (np.clip(np.where(legal, values - least, 0), 0, MOST) * FINENESS).astype(np.int64)
        for counts, which in ((self.live, legal & ~dead), (self.dead, legal & dead)):
            counts += np.bincount(bins[which], minlength=len(counts))
        choice = (legal & dead).any(axis=1) & (legal & ~dead).any(axis=1)
        self.choices += int(choice.sum())
        self.led_astray += int(dead[np.arange(len(dead)), values.argmin(axis=1)][choice].sum())

    def summary(self) -> dict[str, float]:
        """children, dead children, the area under the curve that their scores make, and the share led astray, in %.

        The area is the chance that a dead child scores above a live one, equal scores counting half.
        """
        below = np.cumsum(self.live) - self.live
        pairs = float(self.dead.sum()) * float(self.live.sum())
        area = float(self.dead @ (below + self.live / 2)) / pairs if pairs else np.nan
        return {
            "children": int(self.live.sum() + self.dead.sum()),
            "dead": int(self.dead.sum()),
            "area_under_curve": area,
            "choices": self.choices,
            "led_astray_percent": 100 * self.led_astray / self.choices if self.choices else np.nan,
        }


def audit_level(puzzle: Puzzle, table, heuristic: Heuristic, ends: DeadEnds) -> Findings:
    """Audit a heuristic on every state of a level that can still be solved; what it says of dead ends goes to ends.

    table: exact.sokoban.LevelTable.  A dead child counts for consistency, whatever its value, and never as nearer.
    """
    live = np.flatnonzero(table.distance < len(table.layers))
    neighbours = np.concatenate([*_children_of(puzzle, table, live)])
    reached = np.unique(neighbours[neighbours != NO_STATE])
    wanted = np.union1d(live, reached)
    values = np.full(len(table.distance), np.inf, dtype=np.float32)
    for first in range(0, len(wanted), CHUNK):
        ranks = wanted[first : first + CHUNK]
        values[ranks] = heuristic(table.states_of(ranks))
    distance = table.distance[live].astype(np.int64)
    of_child = np.where(neighbours == NO_STATE, np.float32(np.inf), values[neighbours])
    is_dead = (neighbours != NO_STATE) & (table.distance[neighbours] >= len(table.layers))
    on_the_way = distance > 0
    ends.add(of_child[on_the_way], (neighbours != NO_STATE)[on_the_way], is_dead[on_the_way])
    best = neighbours[np.arange(len(live)), of_child.argmin(axis=1)]
    return Findings(
        distance,
        values[live] - distance.astype(np.float32),
        (values[live, None] <= of_child + np.float32(1.0)).all(axis=1),
        (distance == 0) | (table.distance[best] < distance),
    )


def _children_of(puzzle: Puzzle, table, ranks: np.ndarray) -> Iterator[np.ndarray]:
    """The ranks of the children of some states after others, int64 [n, A], NO_STATE where illegal."""
    for first in range(0, len(ranks), CHUNK):
        states = table.states_of(ranks[first : first + CHUNK])
        children, legal = puzzle.expand(states)
        reached = table.ranks(children.reshape(-1, puzzle.cells)).reshape(legal.shape)
        yield np.where(legal, reached, NO_STATE)
