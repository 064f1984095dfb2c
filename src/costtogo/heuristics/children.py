"""The cost-to-go of the children of states, by a heuristic that evaluates states."""

from collections.abc import Callable

from costtogo.engines import Batch, engine_of
from costtogo.puzzles.base import Puzzle
from costtogo.types import CostToGo, Heuristic, States


def child_costs(
    puzzle: Puzzle, states: States, cost_to_go: Heuristic, within: Callable[[Batch], Batch] | None = None
) -> CostToGo:
    """The cost-to-go of each child, float32 [N, A], inf if the action is not legal.

    states: an array or a tensor; cost_to_go gets the same, and so is the result.
    within: which children count, bool [N, A]; the others count as illegal.
    """
    engine = engine_of(puzzle, states)
    children, legal = engine.expand(states)
    return engine.evaluated(children, legal if within is None else legal & within(children), cost_to_go)
