"""The larger of a heuristic and a lower bound, at least as close to the distance where neither exceeds it."""

import numpy as np

from costtogo.types import ActionHeuristic, CostToGo, Heuristic, States


class Larger:
    """The larger of two values of a state; by_action as the heuristic has it."""

    def __init__(self, heuristic: ActionHeuristic, bound: Heuristic):
        self.puzzle, self.heuristic, self.bound = heuristic.puzzle, heuristic, bound
        self.by_action = getattr(heuristic, "by_action", False)

    def __call__(self, states: States) -> CostToGo:
        """Cost-to-go in moves, float32 [N]; inf where either is."""
        return np.maximum(self.heuristic(states), self.bound(states))

    def children(self, states: States) -> np.ndarray:
        """Cost-to-go of each child, float32 [N, A]; inf if the action is not legal."""
        values = self.heuristic.children(states)
        legal = np.isfinite(values)
        values[legal] = np.maximum(values[legal], self.bound(self.puzzle.expand(states)[0][legal]))
        return values
