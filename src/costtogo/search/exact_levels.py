"""Shortest solutions of levels of Sokoban: by listing all states of a level or, where it has too many, by A*."""

import numpy as np

from costtogo.exact import sokoban
from costtogo.exact.sokoban import TooLarge
from costtogo.exact.solver import ExactSearch, Means
from costtogo.heuristics.matching import MatchingBound
from costtogo.puzzles.sokoban import Sokoban
from costtogo.search import bwas
from costtogo.search.bwas import Limits
from costtogo.types import SearchResult, States

MEMORY = 8 << 30  # bytes that the nodes of one search by A* may fill
NODE_BYTES = 140  # without the state


def exact_search(puzzle: Sokoban, means: Means) -> ExactSearch:
    """solve with a new bound for each call, so that threads share none."""

    def search(starts: States) -> SearchResult:
        return solve(puzzle, MatchingBound(puzzle), starts, seconds=means.seconds)

    return search


def solve(puzzle: Sokoban, bound: MatchingBound, starts: States, *, seconds: float = np.inf) -> SearchResult:
    """A shortest solution of each start, uint8 [B, D].

    bound: the heuristic of A*, which ends after `seconds` for each level, or where its nodes fill MEMORY;
    lower_bound is a fact even where it finds no solution.
    """
    rows: list[tuple] = [()] * len(starts)
    limits = Limits(10**9, MEMORY // (puzzle.cells + NODE_BYTES), seconds)
    for group in sokoban.by_level(starts):
        try:
            found = sokoban.solve(puzzle, starts[group])
        except TooLarge:
            found = bwas.solve(puzzle, bound, starts[group], path_weight=1, batch_size=1, limits=limits)
        for row, one in zip(group, found.rows(), strict=True):
            rows[row] = one
    return SearchResult.from_rows(rows)
