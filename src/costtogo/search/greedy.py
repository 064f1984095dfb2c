"""Greedy search: always on to the child of least cost-to-go, never to a state it has come through.

DeepCubeA shows over the training what it solves (figure 3).
"""

import numpy as np

from costtogo.exact.hashing import hash_children, hash_states
from costtogo.puzzles.base import Puzzle
from costtogo.types import ActionHeuristic, Hashes, SearchResult, States


def solve(puzzle: Puzzle, heuristic: ActionHeuristic, starts: States, *, max_moves: int) -> SearchResult:
    """Walk from all starts in step: one call of the heuristic a move for those that are still on their way.

    Of equal children the first is taken, the goal before all others. A walk ends as unsolved after max_moves moves,
    or where it has come through every child.
    starts: uint8 [B, D].  heuristic: children(states) gives float32 [N, A], inf where the action is not legal.
    lower_bound is a fact: 1, or 0 at the goal.
    """
    states, actions = starts.copy(), np.zeros((len(starts), max_moves), dtype=np.int8)
    expanded, generated = np.zeros((2, len(starts)), dtype=np.int64)
    way = np.zeros((len(starts), max_moves + 1), dtype=np.uint64)  # hashes of the states come through
    way[:, 0] = hash_states(puzzle, starts)
    walking = np.flatnonzero(~puzzle.is_goal(starts))
    for step in range(max_moves):
        if not len(walking):
            break
        # Evaluate the children of all walks in one call.
        values = heuristic.children(states[walking])
        expanded[walking] += 1
        generated[walking] += np.isfinite(values).sum(axis=1)
        scores = _scores(puzzle, states[walking], values, way[walking, : step + 1])
        # Leave out walks that have come through every child.
        onward = scores.min(axis=1) < np.inf
        walking, best = walking[onward], scores[onward].argmin(axis=1)
        # Go on to the best child, and end at the goal.
        actions[walking, step] = best
        states[walking] = puzzle.move(states[walking], best)
        way[walking, step + 1] = hash_states(puzzle, states[walking])
        walking = walking[~puzzle.is_goal(states[walking])]
    solved = puzzle.is_goal(states)
    solutions = [row[:moves] for row, moves in zip(actions, np.where(solved, expanded, 0), strict=True)]
    cost, bound = np.where(solved, expanded, np.inf), ~puzzle.is_goal(starts)
    return SearchResult.from_rows(zip(cost, expanded, generated, bound, solutions, strict=True))


def _scores(puzzle: Puzzle, states: States, values: np.ndarray, way: Hashes) -> np.ndarray:
    """The cost-to-go of each child, -inf for the goal and inf for a state come through: [N, A].

    values: float32 [N, A].  way: uint64 [N, moves], hashes of the states come through.
    """
    passed = (hash_children(puzzle, states)[:, :, None] == way[:, None]).any(axis=2)
    solved = puzzle.is_goal(puzzle.expand(states)[0].reshape(-1, puzzle.cells)).reshape(passed.shape)
    return np.where(solved, -np.inf, np.where(passed, np.inf, values))
