"""A policy as a guide for searches by action."""

import numpy as np

from costtogo.types import CostToGo, PolicyHeuristic, States


class PolicyGuide:
    """The children of states in the order of a policy, from one evaluation of the states.

    The cost-to-go of a child is that of its parent minus ln p, where p is the probability of the action that leads to
    it. So a greedy walk takes the most probable action, and a beam weighs the value of the parent against the
    improbability of the move.
    """

    by_action = True

    def __init__(self, heuristic: PolicyHeuristic):
        self.heuristic = heuristic

    def __call__(self, states: States) -> CostToGo:
        """The heuristic's cost-to-go in moves, float32 [N]."""
        return self.heuristic.with_policy(states)[1]

    def children(self, states: States) -> np.ndarray:
        """The cost-to-go of each child, float32 [N, A]; inf if the action is not legal."""
        probability, cost_to_go = self.heuristic.with_policy(states)
        with np.errstate(divide="ignore"):
            return cost_to_go[:, None] - np.log(probability)
