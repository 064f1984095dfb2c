"""Shortest solutions of levels of Sokoban: by listing all states of a level or, where it has too many, by A*."""

import numpy as np

from costtogo.exact import sokoban
from costtogo.exact.sokoban import TooLarge
from costtogo.exact.solver import ExactSearch, Means
from costtogo.heuristics.pairs import PairsBound
from costtogo.memory import machine_memory
from costtogo.puzzles.sokoban import Sokoban
from costtogo.search import bwas
from costtogo.search.bwas import Limits
from costtogo.types import Heuristic, SearchResult, States

MEMORY = 8 << 30  # bytes that the nodes of one search by A* may fill
NODE_BYTES = 140  # without the state
STATE_BYTES = 12  # of a table, while it is made
LISTED_A_SECOND = 4_000_000  # states of a table: a few times fewer than a slow processor lists
BATCH = 100  # nodes that A* expands at a time


def exact_search(puzzle: Sokoban, means: Means) -> ExactSearch:
    """solve with a new bound for each call, so that threads share none."""

    def search(starts: States) -> SearchResult:
        return solve(puzzle, PairsBound(puzzle), starts, seconds=means.seconds, max_nodes=means.max_nodes)

    return search


def solve(
    puzzle: Sokoban, bound: Heuristic, starts: States, *, seconds: float = np.inf, max_nodes: int | None = None
) -> SearchResult:
    """A shortest solution of each start, uint8 [B, D].

    A level that would take long to list, or has no room in memory, is searched by A*.  bound: its heuristic; it ends
    after `seconds` for each level, or with max_nodes, or where its nodes fill MEMORY; lower_bound is a fact even where
    it finds no solution.
    """
    rows: list[tuple] = [()] * len(starts)
    most, largest = MEMORY // (puzzle.cells + NODE_BYTES), min(sokoban.LARGEST, machine_memory() // (2 * STATE_BYTES))
    if max_nodes is not None:
        most, largest = min(most, max_nodes), min(largest, max_nodes * NODE_BYTES // STATE_BYTES)
    if np.isfinite(seconds):
        largest = min(largest, int(seconds * LISTED_A_SECOND))
    a_star = {"path_weight": 1, "batch_size": BATCH, "until_proved": True, "limits": Limits(10**9, most, seconds)}
    for group in sokoban.by_level(starts):
        try:
            found = sokoban.solve(puzzle, starts[group], largest)
        except TooLarge:
            found = bwas.solve(puzzle, bound, starts[group], **a_star)
        for row, one in zip(group, found.rows(), strict=True):
            rows[row] = one
    return SearchResult.from_rows(rows)
