"""Shortest solutions of levels of Sokoban: by listing all states of a level or, where it has too many, by A*."""

import numpy as np

from costtogo.exact import sokoban
from costtogo.exact.sokoban import TooLarge
from costtogo.heuristics.matching import MatchingBound
from costtogo.puzzles.sokoban import Sokoban
from costtogo.search import bwas
from costtogo.search.bwas import Limits
from costtogo.types import SearchResult, States

MOST_NODES = 60_000_000  # kept in memory by one search by A*, about 200 bytes each


def solve_exactly(puzzle: Sokoban, starts: States, *, seconds: float = np.inf) -> SearchResult:
    """solve with a new bound."""
    return solve(puzzle, MatchingBound(puzzle), starts, seconds=seconds)


def solve(puzzle: Sokoban, bound: MatchingBound, starts: States, *, seconds: float = np.inf) -> SearchResult:
    """A shortest solution of each start, uint8 [B, D].

    bound: the heuristic of A*, which ends after so many seconds; lower_bound is a fact even where it finds no solution.
    """
    try:
        return sokoban.solve(puzzle, starts)
    except TooLarge:
        limits = Limits(max_expansions=10**9, max_nodes=MOST_NODES, seconds=seconds)
        return bwas.solve(puzzle, bound, starts, path_weight=1, batch_size=1, limits=limits)
