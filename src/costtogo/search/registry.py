"""The solvers by name: the only place that knows them all.

Each is the function solve(puzzle, heuristic, starts, **setting) -> SearchResult of its module, which is imported when
it is asked for. What it calls a heuristic may be any knowledge of the puzzle: a network, a sum of tables, the value
functions of its subproblems.
"""

from collections.abc import Callable
from importlib import import_module

from costtogo.types import SearchResult

SOLVERS = {  # modules of costtogo
    "bwas": "search.bwas",
    "greedy": "search.greedy",
    "beam": "search.beam",
    "anytime": "search.anytime",
    "ida_star": "search.ida_star",
    "gf2": "exact.lights_out",
    "local_vi": "learning.local_vi",
}


def solver(name: str) -> Callable[..., SearchResult]:
    """The solver of a name in SOLVERS."""
    return import_module(f"costtogo.{SOLVERS[name]}").solve
