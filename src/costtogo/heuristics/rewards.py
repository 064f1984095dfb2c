"""Conversion between cost-to-go and the values of DeepCube's rewards: 1 for a move to the goal, -1 for any other.

The rewards on the shortest way add up to 2 - cost-to-go: one move from the goal the value is 1. The goal has no value,
since no reward is left.
"""

import numpy as np

VALUE_AND_COST = 2.0  # their sum, everywhere but at the goal


def value_of(cost_to_go: np.ndarray) -> np.ndarray:
    """The value of states that are not the goal, float32 [N], from their cost-to-go in moves, float32 [N]."""
    return VALUE_AND_COST - cost_to_go


def cost_to_go_of(value: np.ndarray) -> np.ndarray:
    """Their cost-to-go from their value, float32 [N]."""
    return VALUE_AND_COST - value
