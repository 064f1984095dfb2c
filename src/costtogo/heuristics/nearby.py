"""A heuristic that is exact around the goal and uses another heuristic beyond."""

import numpy as np

from costtogo.engines import Batch, engine_of, engine_on
from costtogo.exact.nearby import FAR, Ends
from costtogo.types import ActionHeuristic


class NearbyHeuristic:
    """The exact distance of every state in the table, the value of the other heuristic elsewhere.

    A search with it that comes within the table's depth walks straight to the goal. heuristic is called by state, or by
    child if its by_action is true.  is_bound: True if it never overestimates; beyond the table, the least distance
    there is then a bound, too. Two states may have equal hashes: see exact.nearby.
    """

    def __init__(self, heuristic: ActionHeuristic, nearby: Ends, is_bound: bool = False):
        self.beyond = float(nearby.depth + 1 if is_bound else -np.inf)
        self.heuristic, self.nearby, self.puzzle = heuristic, nearby, nearby.puzzle
        self.by_action = getattr(heuristic, "by_action", False)
        self.engine = getattr(heuristic, "engine", None) or engine_on(nearby.puzzle, "cpu")

    def __call__(self, states: Batch) -> Batch:
        """Cost-to-go in moves, float32 [N]; states: an array or a tensor, and so is the result."""
        return self._known(self._near(states), self.heuristic(states))

    def children(self, states: Batch) -> Batch:
        """Cost-to-go of each child, float32 [N, A]; inf if the action is not legal."""
        values = self.heuristic.children(states)
        xp = engine_of(self.puzzle, states).xp
        if xp is np:
            distance = self.nearby.of_children(states)
        else:
            children = self.engine.expand(states)[0]
            distance = self._near(children.flatten(0, 1)).view(values.shape)
        return xp.where(xp.isfinite(values), self._known(distance, values), values)

    def _near(self, states: Batch) -> Batch:
        if isinstance(states, np.ndarray):
            return self.nearby(states)
        return self.engine.near(self.nearby, states, self.engine.hashes(states))

    def _known(self, distance: Batch, values: Batch) -> Batch:
        xp = engine_of(self.puzzle, values).xp
        return xp.where(distance == FAR, values.clip(self.beyond), xp.asarray(distance, dtype=xp.float32))
