"""A policy as what searches by action go by."""

import numpy as np

from costtogo.types import CostToGo, PolicyHeuristic, States


class PolicyGuide:
    """The children of states in the order of a policy, told by one evaluation of the states themselves.

    A child counts as the cost-to-go of its parent less ln p, where p is the probability of the action that leads to it.
    So a greedy walk takes the most probable action, and a beam weighs what a parent is worth against how improbable the
    policy finds the move.
    """

    by_action = True

    def __init__(self, heuristic: PolicyHeuristic):
        self.heuristic = heuristic

    def __call__(self, states: States) -> CostToGo:
        """The heuristic's cost-to-go in moves, float32 [N]."""
        return self.heuristic.with_policy(states)[1]

    def children(self, states: States) -> np.ndarray:
        """float32 [N, A]; inf where the action is not legal."""
        probability, cost_to_go = self.heuristic.with_policy(states)
        with np.errstate(divide="ignore"):
            return cost_to_go[:, None] - np.log(probability)
