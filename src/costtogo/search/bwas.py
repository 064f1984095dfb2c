"""Batch weighted A* (BWAS): Agostinelli et al. 2019, doi:10.1038/s42256-019-0070-z; thesis 3.4 and 4.8.

Three engines behind one signature. Over a table the whole search runs compiled, on ranks. Over any other
heuristic many searches run in step: one call evaluates the new children of all of them, or, where the heuristic
gives the cost-to-go of each child, the nodes that they expand.
"""

from dataclasses import dataclass

import numpy as np

from costtogo.engines import engine_on
from costtogo.heuristics.table import TableHeuristic
from costtogo.puzzles.base import Puzzle
from costtogo.search.pool import Rules
from costtogo.types import LARGEST_PATH_WEIGHT, Heuristic, SearchResult, States, UserError

LARGEST_BATCH = 1_000_000  # a step keeps as many rows ready


@dataclass(frozen=True)
class Limits:
    """Where a search ends as unsolved: nodes expanded, nodes stored (the memory it may take), seconds of the call.

    The time is looked at once a step; a search over a table, which is over in a moment, does not look at it.
    """

    max_expansions: int = 10_000_000
    max_nodes: int = 20_000_000
    seconds: float = np.inf


def solve(
    puzzle: Puzzle,
    heuristic: Heuristic,
    starts: States,
    *,
    path_weight: float | np.ndarray,
    batch_size: int,
    limits: Limits = Limits(),
    until_proved: bool = False,
) -> SearchResult:
    """Expand the batch_size open nodes of least f = path_weight · g + h at a time; stop at the first goal popped.

    A node reached by a cheaper path is opened again; among equal f the node pushed first goes first.
    With until_proved, go on until no open node can lead to a cheaper solution, if h never overestimates.
    starts: uint8 [B, D].  heuristic: uint8 [N, D] -> float32 [N], in moves, 0 at the goal; one whose by_action is true
    is asked for children(states), float32 [N, A], instead (search.action_engine).  path_weight: one for all searches,
    or one for each, float64 [B];
    over 1 where h overestimates, as that of a network may: f / λ = g + h / λ.
    The engine of a heuristic that has one makes and keeps the states, else that of the host: the same nodes by the same
    values.
    Raises UserError unless 0 <= path_weight <= LARGEST_PATH_WEIGHT and 1 <= batch_size <= LARGEST_BATCH, and where the
    device has too little memory.
    """
    weights = np.array(np.broadcast_to(path_weight, len(starts)), dtype=np.float64)
    for weight in np.ravel(path_weight):
        if not 0 <= weight <= LARGEST_PATH_WEIGHT:
            raise UserError(f"The path weight λ must lie between 0 and {LARGEST_PATH_WEIGHT}, not at {weight}.")
    if not 1 <= batch_size <= LARGEST_BATCH:
        raise UserError(f"The batch size N must lie between 1 and {LARGEST_BATCH:,}, not at {batch_size}.")
    rules = Rules(int(batch_size), int(limits.max_expansions), int(limits.max_nodes), bool(until_proved))
    if isinstance(heuristic, TableHeuristic):
        from costtogo.search.table_engine import solve_over_table

        return solve_over_table(puzzle, heuristic, puzzle.rank(starts), weights, rules)
    if getattr(heuristic, "by_action", False):
        from costtogo.search.action_engine import solve_by_action as search
    else:
        from costtogo.search.step_engine import solve_in_step as search
    try:
        return search(puzzle, heuristic, starts, weights, rules, limits.seconds)
    except (getattr(heuristic, "engine", None) or engine_on(puzzle, "cpu")).full as error:
        raise UserError(
            f"The device has too little free memory for this search with N = {batch_size:,}: choose a smaller N, or "
            "fewer nodes to keep."
        ) from error
