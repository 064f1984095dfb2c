"""The search of a setting: a function of starts, ready to be timed."""

import os
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from costtogo.exact.nearby import Ends
from costtogo.heuristics.averaged import AveragedHeuristic
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.policy_guide import PolicyGuide
from costtogo.puzzles import find, made
from costtogo.puzzles.base import Puzzle, is_listed
from costtogo.search import anytime, bwas, mcts
from costtogo.search.bwas import Limits
from costtogo.search.replayed import Search, warm_up
from costtogo.solve_options import LARGE, LISTED, MOST_EVALUATED, RISING_BATCH, WITHOUT_NETWORK, Setting
from costtogo.solving.exact import exact_search, find_nearby
from costtogo.types import Heuristic, UserError

RISING = (0.8, 1.0)  # λ of the solver rising: soon a solution, then a shorter one with larger and larger N
NEAR = 4  # moves of the first search of a solver without a network
SHORTENING = 0.1  # of its seconds, for making solutions of sliding tiles shorter by stretches
# Of mcts, where all states can be listed and elsewhere: among the best on own states of the 2×2×2 and the 3×3×3 cube.
TREES_LISTED = mcts.TreeRules(exploration=50.0, virtual_loss=10.0, leaves=8)
TREES_LARGE = mcts.TreeRules(exploration=40.0)


def make_ready(puzzle: Puzzle, heuristic: Heuristic | None, setting: Setting) -> Search:
    """The search of a setting, after a first small search, so that its seconds exclude loading compiled code.

    heuristic: None for the solvers that need no network.
    """
    if heuristic is None:
        search = without_network(puzzle, setting)
        warm_up(puzzle, search, NEAR)
        return search
    guided = setting.solver == "beam" and getattr(heuristic, "has_policy", False)
    scores = PolicyGuide(heuristic) if guided else heuristic
    scores = scores if setting.average == 1 else AveragedHeuristic(puzzle, scores, setting.average)
    nearby = find_nearby(puzzle) if setting.solver == "beam" or not is_listed(puzzle) else None
    warm_up(puzzle, _over_network(puzzle, scores, nearby, replace(setting, max_expansions=2, seconds=0.1)))
    return _over_network(puzzle, scores, nearby, setting)


def _over_network(puzzle: Puzzle, heuristic: Heuristic, nearby: Ends | None, setting: Setting) -> Search:
    """A search over a network; nearby: exact distances around the goal of a puzzle too large to list."""
    if setting.solver in ("bwas", "greedy"):
        known = heuristic if nearby is None else NearbyHeuristic(heuristic, nearby)
        return partial(bwas.solve, puzzle, known, **options_of_bwas(puzzle, setting))
    if setting.solver == "mcts":
        trees = TREES_LISTED if is_listed(puzzle) else TREES_LARGE
        return partial(mcts.solve, puzzle, heuristic, rules=trees, limits=_limits(setting, MOST_EVALUATED))
    options = {"seconds": setting.effort, "max_nodes": setting.max_nodes, "nearby": nearby}
    if setting.solver == "rising":
        options |= {"path_weights": RISING, "batch_size": setting.batch_size or RISING_BATCH, "widening": True}
        options |= {"shortening": SHORTENING, "threads": len(os.sched_getaffinity(0))}
    return partial(anytime.solve, puzzle, heuristic, **options)


def options_of_bwas(puzzle: Puzzle, setting: Setting) -> dict[str, Any]:
    """λ, N, where a search ends, and whether it goes on: keyword arguments of bwas.solve."""
    given = {name: value for name in LISTED if (value := getattr(setting, name)) is not None}
    greedy = {"path_weight": 0.0, "batch_size": 1} if setting.solver == "greedy" else {}
    options = (LISTED if is_listed(puzzle) else LARGE) | greedy | given
    limits = _limits(setting, options.pop("max_expansions"))
    return {**options, "limits": limits, "until_proved": setting.until_proved}


def _limits(setting: Setting, max_expansions: int) -> Limits:
    """Where a search ends; max_expansions: for a setting that has none."""
    seconds = np.inf if setting.seconds is None else setting.seconds
    most = max_expansions if setting.max_expansions is None else setting.max_expansions
    return Limits(most, setting.max_nodes, seconds)


def without_network(puzzle: Puzzle, setting: Setting) -> Search:
    """The solver exact or local; UserError if the puzzle has none."""
    if setting.solver not in WITHOUT_NETWORK:
        raise UserError(f"The solver {setting.solver} searches over a network: give one, or choose exact.")
    if setting.solver == "exact":
        return exact_search(puzzle, setting.effort, setting.metric == "htm", setting.table)
    module = find(puzzle.name)[0].local
    if module is None:
        raise UserError(
            f"There is no local solver of {puzzle.name}, only of sliding tiles; choose another one with --solver."
        )
    return made(module)(puzzle)
