"""Breadth-first search over the graph of a puzzle: the exact distance of every state from the goal."""

import numpy as np
from numba import njit

from costtogo.types import NO_STATE, Neighbours, UserError


def distances(neighbours: Neighbours, goal: int) -> np.ndarray:
    """Moves from each state to the goal (moves can be undone), uint8 [S], or uint16 above 254 moves.

    Raises UserError if some state cannot reach the goal.
    """
    distance = _breadth_first(neighbours, goal)
    if (unreached := int((distance == NO_STATE).sum())) > 0:
        raise UserError(f"{unreached} of {len(distance)} states cannot reach the goal; the neighbour table is wrong.")
    return distance.astype(np.uint8 if distance.max() < 255 else np.uint16)


@njit(cache=True)
def _breadth_first(neighbours, goal):
    distance = np.full(len(neighbours), NO_STATE, dtype=np.int16)
    queue = np.empty(len(neighbours), dtype=np.int32)
    distance[goal] = 0
    queue[0] = goal
    head, tail = 0, 1
    while head < tail:
        state = queue[head]
        head += 1
        for neighbour in neighbours[state]:
            if neighbour != NO_STATE and distance[neighbour] == NO_STATE:
                distance[neighbour] = distance[state] + 1
                queue[tail] = neighbour
                tail += 1
    return distance


def layer_counts(distance: np.ndarray) -> np.ndarray:
    """Number of states at each distance 0 … diameter, int64."""
    return np.bincount(distance)
