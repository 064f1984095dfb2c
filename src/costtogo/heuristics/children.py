"""The cost-to-go of the children of states, by a heuristic that tells one of a state."""

import numpy as np
from numba import njit

from costtogo.exact.nearby import hash_states
from costtogo.puzzles.base import Puzzle
from costtogo.types import CostToGo, Heuristic, States

NONE = -1


def child_costs(puzzle: Puzzle, states: States, cost_to_go: Heuristic, disks: int | None = None) -> CostToGo:
    """The cost-to-go of each child, float32 [N, A], inf where the action is not legal.

    A state that is the child of several, as each within a walk is, is evaluated once; those of one hash are taken for
    one.
    With disks, only so many of the smallest disks of a tower may move: it is that of fewer disks.
    """
    children, legal = puzzle.expand(states)
    if disks is not None:
        legal &= (children[..., disks:] == puzzle.goal[disks:]).all(axis=2)
    children = children[legal]
    first, which = distinct(hash_states(puzzle, children))
    costs = np.full(legal.shape, np.inf, dtype=np.float32)
    costs[legal] = cost_to_go(children[first])[which]
    return costs


@njit(cache=True)
def distinct(hashes):
    """Of hashes, uint64 [N]: where each stands first, int64 [K], and which of these each is, int64 [N]."""
    size = 2
    while size < 2 * len(hashes):
        size *= 2
    slots, mask = np.full(size, NONE), np.uint64(size - 1)
    first, which = np.empty(len(hashes), dtype=np.int64), np.empty(len(hashes), dtype=np.int64)
    count = 0
    for place in range(len(hashes)):
        slot = hashes[place] & mask
        while slots[slot] != NONE and hashes[first[slots[slot]]] != hashes[place]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] == NONE:
            slots[slot], first[count] = count, place
            count += 1
        which[place] = slots[slot]
    return first[:count], which
