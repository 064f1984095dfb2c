"""Searches whose solutions are replayed before anybody believes them."""

import time
from collections.abc import Callable

import numpy as np

from costtogo.puzzles.base import Puzzle, random_walks, solves
from costtogo.types import SearchResult, States, UserError

Search = Callable[[States], SearchResult]  # of starts, uint8 [B, D]
MOST_TIMES, COMPILED = 5, 1.0  # first searches; seconds of one that found all its code compiled, at most


def warm_up(puzzle: Puzzle, search: Search, moves: int = 20) -> None:
    """A search from near the goal, but not at it, so that no other's seconds hold the loading of compiled code.

    Again while it takes long: its limit may have ended it before it came to the rest of the code.
    """
    walk = random_walks(puzzle, 1, moves, np.random.default_rng(0))[0]
    for _ in range(MOST_TIMES):
        begun = time.perf_counter()
        search(walk[np.argsort(~puzzle.is_goal(walk), kind="stable")[-1:]])
        if time.perf_counter() - begun < COMPILED:
            break


def checked(puzzle: Puzzle, search: Search, starts: States) -> tuple[SearchResult, float]:
    """What a search finds, and its seconds; UserError where a solution does not reach the goal when it is replayed."""
    begun = time.perf_counter()
    found = search(starts)
    seconds = time.perf_counter() - begun
    solved = np.flatnonzero(found.solved)
    right = solves(puzzle, starts[solved], [found.solutions[row] for row in solved])
    if not right.all():
        raise UserError(
            f"Replayed, {(~right).sum()} of {len(solved)} solutions of {puzzle.name} missed the goal: the search, or "
            "the exact table that it goes by, is at fault."
        )
    return found, seconds
