"""A heuristic that is exact around the goal and uses another heuristic beyond."""

import numpy as np

from costtogo.exact.nearby import FAR, Ends
from costtogo.types import ActionHeuristic, CostToGo, States


class NearbyHeuristic:
    """The exact distance of every state in the table, the value of the other heuristic elsewhere.

    A search with it that comes within the table's depth walks straight to the goal. heuristic is called by state, or by
    child if its by_action is true.  is_bound: True if it never overestimates; beyond the table, the least distance
    there is then a bound, too. Two states may have equal hashes: see exact.nearby.
    """

    def __init__(self, heuristic: ActionHeuristic, nearby: Ends, is_bound: bool = False):
        self.beyond = np.float32(nearby.depth + 1 if is_bound else -np.inf)
        self.heuristic, self.nearby, self.puzzle = heuristic, nearby, nearby.puzzle
        self.by_action = getattr(heuristic, "by_action", False)

    def __call__(self, states: States) -> CostToGo:
        """Cost-to-go in moves, float32 [N]."""
        return self._known(self.nearby(states), self.heuristic(states))

    def children(self, states: States) -> np.ndarray:
        """Cost-to-go of each child, float32 [N, A]; inf if the action is not legal."""
        values = self.heuristic.children(states)
        return np.where(np.isfinite(values), self._known(self.nearby.of_children(states), values), values)

    def _known(self, distance: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.where(distance == FAR, np.maximum(values, self.beyond), distance.astype(np.float32))
