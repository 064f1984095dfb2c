"""Values by the rewards of DeepCube, 1 for a move that ends at the goal and -1 for any other, and cost-to-go.

The values that a policy collects on the shortest way add up to 2 - cost-to-go, and the goal, where nothing is left to
collect, has none: one state away from it the value is 1.
"""

import numpy as np

VALUE_AND_COST = 2.0  # their sum, anywhere but at the goal


def value_of(cost_to_go: np.ndarray) -> np.ndarray:
    """The value of states that are not the goal, float32 [N], from their cost-to-go in moves, float32 [N]."""
    return VALUE_AND_COST - cost_to_go


def cost_to_go_of(value: np.ndarray) -> np.ndarray:
    """Their cost-to-go from their value, float32 [N]."""
    return VALUE_AND_COST - value
