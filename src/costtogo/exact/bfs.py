"""Breadth-first search over the graph of a puzzle: the exact distance of every state from the goal."""

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.graph import Graph
from costtogo.types import NO_STATE, UserError

UNREACHED = (255, 65535)  # in one byte and in two bytes


def distances(graph: Graph, goal: int) -> np.ndarray:
    """Moves from each state to the goal if every move can be undone, uint8 [S], or uint16 above 254 moves.

    Raises UserError if some state cannot reach the goal.
    """
    states = len(graph.first) * len(graph.second)
    distance, queue = np.full(states, UNREACHED[0], dtype=np.uint8), np.empty(states, dtype=np.int32)
    distance[goal], queue[0] = 0, goal
    head, tail, moves, unreached = 0, 1, 0, UNREACHED[0]
    while head < tail:
        moves += 1
        if moves == unreached:
            distance, unreached = distance.astype(np.uint16), UNREACHED[1]
            distance[distance == UNREACHED[0]] = unreached
        head, tail = tail, _next_layer(graph, distance, queue, head, tail, moves, unreached)
    if tail < states:
        raise UserError(f"{states - tail} of {states} states cannot reach the goal; the neighbour table is wrong.")
    return distance


@njit(cache=True)
def _next_layer(graph, distance, queue, head, tail, moves, unreached):
    """Add the new states that queue[head:tail] lead to; returns the end of the queue."""
    first, second = graph
    rows, end = len(second), tail
    for place in range(head, tail):
        high, low = divmod(queue[place], np.int32(rows))
        for action in range(first.shape[1]):
            if first[high, action] == NO_STATE:
                continue
            child = first[high, action] * rows + second[low, action]
            if distance[child] == unreached:
                distance[child] = moves
                queue[end] = child
                end += 1
    return end


def layer_counts(distance: np.ndarray) -> np.ndarray:
    """Number of states at each distance 0 … diameter, int64."""
    return np.bincount(distance)
