"""The cost-to-go of the children of states, by a heuristic that tells one of a state."""

import numpy as np

from costtogo.exact.hashing import distinct, hash_states
from costtogo.puzzles.base import Puzzle
from costtogo.types import CostToGo, Heuristic, States


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
