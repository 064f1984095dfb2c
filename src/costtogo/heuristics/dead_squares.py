"""A heuristic that detects lost states of Sokoban, in which a box is where it can be pushed to no target."""

import numpy as np

from costtogo.heuristics.matching import is_dead
from costtogo.puzzles.sokoban import Sokoban
from costtogo.types import ActionHeuristic, CostToGo, States


class WithDeadSquares:
    """inf if a box is on a dead square, else the value of the other heuristic, whose by_action it keeps."""

    def __init__(self, puzzle: Sokoban, heuristic: ActionHeuristic):
        self.puzzle, self.heuristic = puzzle, heuristic
        self.by_action = getattr(heuristic, "by_action", False)

    def __call__(self, states: States) -> CostToGo:
        """Cost-to-go in moves, float32 [N]."""
        return np.where(is_dead(self.puzzle, states), np.float32(np.inf), self.heuristic(states))

    def children(self, states: States) -> np.ndarray:
        """Cost-to-go of each child, float32 [N, A]; inf if the action is not legal."""
        children, legal = self.puzzle.expand(states)
        dead = is_dead(self.puzzle, children.reshape(-1, self.puzzle.cells)).reshape(legal.shape)
        return np.where(dead, np.float32(np.inf), self.heuristic.children(states))
