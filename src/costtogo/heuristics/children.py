"""The cost-to-go of the children of states, by a heuristic that evaluates states."""

from collections.abc import Callable

import numpy as np

from costtogo.exact.hashing import distinct, hash_states
from costtogo.puzzles.base import Puzzle
from costtogo.types import Children, CostToGo, Heuristic, States


def child_costs(
    puzzle: Puzzle, states: States, cost_to_go: Heuristic, within: Callable[[Children], np.ndarray] | None = None
) -> CostToGo:
    """The cost-to-go of each child, float32 [N, A], inf if the action is not legal.

    A state that is the child of several states, as each state within a walk is, is evaluated once; states with equal
    hashes are treated as one. within: which children count, bool [N, A]; the others count as illegal.
    """
    children, legal = puzzle.expand(states)
    if within is not None:
        legal = legal & within(children)
    children = children[legal]
    first, which = distinct(hash_states(puzzle, children))
    costs = np.full(legal.shape, np.inf, dtype=np.float32)
    costs[legal] = cost_to_go(children[first])[which]
    return costs
