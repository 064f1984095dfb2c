"""Heuristics read from a table over all states of a puzzle."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from costtogo.puzzles.base import Puzzle
from costtogo.types import CostToGo, Heuristic, PolicyHeuristic, Ranks, States


@dataclass(frozen=True, eq=False)
class TableHeuristic:
    """values: float32 [S] by rank, in moves, 0 at the goal."""

    puzzle: Puzzle
    values: CostToGo

    def __call__(self, states: States) -> CostToGo:
        """float32 [N]."""
        return self.values[self.puzzle.rank(states)]


class Remembered:
    """A heuristic that evaluates each state of a listed puzzle once, at its first use.

    values: float32 [S] by rank, NaN for a state not yet evaluated.
    """

    def __init__(self, puzzle: Puzzle, heuristic: Heuristic):
        self.puzzle, self.heuristic = puzzle, heuristic
        self.values = np.full(puzzle.state_count, np.nan, dtype=np.float32)

    def __call__(self, states: States) -> CostToGo:
        """float32 [N]."""
        ranks = self.puzzle.rank(states)
        unknown = np.unique(ranks[np.isnan(self.values[ranks])])
        if unknown.size:
            self.values[unknown] = self.heuristic(self.puzzle.unrank(unknown))
        return self.values[ranks]


def exact(puzzle: Puzzle, distance: np.ndarray) -> TableHeuristic:
    """The exact cost-to-go: the best case in every comparison."""
    return TableHeuristic(puzzle, distance.astype(np.float32))


def zero(puzzle: Puzzle) -> TableHeuristic:
    """No knowledge at all: the worst case in every comparison."""
    return TableHeuristic(puzzle, np.zeros(puzzle.state_count, dtype=np.float32))


def tabulate(puzzle: Puzzle, heuristic, chunk: int = 1 << 16) -> TableHeuristic:
    """Evaluate a heuristic once on every state of a puzzle."""
    values = np.empty(puzzle.state_count, dtype=np.float32)
    for ranks in _in_chunks(puzzle, chunk):
        values[ranks] = heuristic(puzzle.unrank(ranks))
    return TableHeuristic(puzzle, values)


def tabulate_policy(
    puzzle: Puzzle, heuristic: PolicyHeuristic, chunk: int = 1 << 16
) -> tuple[TableHeuristic, np.ndarray]:
    """The same for a heuristic with a policy, and the probability of each action in every state, float32 [S, A]."""
    values = np.empty(puzzle.state_count, dtype=np.float32)
    prior = np.empty((puzzle.state_count, len(puzzle.actions)), dtype=np.float32)
    for ranks in _in_chunks(puzzle, chunk):
        prior[ranks], values[ranks] = heuristic.with_policy(puzzle.unrank(ranks))
    return TableHeuristic(puzzle, values), prior


def _in_chunks(puzzle: Puzzle, chunk: int) -> Iterator[Ranks]:
    """The ranks of all states, int64 [up to chunk], chunk by chunk."""
    for first in range(0, puzzle.state_count, chunk):
        yield np.arange(first, min(first + chunk, puzzle.state_count))
