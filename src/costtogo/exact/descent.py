"""Shortest solutions of a puzzle whose states are all listed: they follow the table of exact distances to the goal."""

import numpy as np

from costtogo.puzzles.base import ListedPuzzle
from costtogo.types import SearchResult, States


class Descent:
    """Shortest solutions from a table.  distance: moves from each state to the goal, uint8 or uint16 [S], by rank."""

    def __init__(self, puzzle: ListedPuzzle, distance: np.ndarray):
        self.puzzle, self.distance = puzzle, distance

    def __call__(self, states: States) -> np.ndarray:
        """Moves to the goal, float32 [N]."""
        return self.distance[self.puzzle.rank(states)].astype(np.float32)

    def solve(self, starts: States) -> SearchResult:
        """A shortest solution of each start, uint8 [B, D]; of the actions that lead nearer, it takes the first.

        nodes_expanded: the number of states on the way.
        """
        states, far = starts.copy(), self(starts).astype(np.int64)
        actions = np.empty((len(starts), far.max(initial=0)), dtype=np.int8)
        generated = np.zeros(len(starts), dtype=np.int64)
        for moves in range(actions.shape[1]):
            going = np.flatnonzero(far > moves)
            children, legal = self.puzzle.expand(states[going])
            generated[going] += legal.sum(axis=1)
            there = self(children.reshape(-1, self.puzzle.cells)).reshape(legal.shape)
            chosen = np.where(legal, there, np.inf).argmin(axis=1)
            actions[going, moves], states[going] = chosen, children[np.arange(len(going)), chosen]
        return SearchResult.from_rows(
            (int(cost), int(cost), int(made), int(cost), row[:cost])
            for cost, made, row in zip(far, generated, actions, strict=True)
        )
