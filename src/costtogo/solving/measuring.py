"""The numbers on a network's card: its errors against exact distances, and the results of the default solver.

If the exact distances of all states are known, the network is compared on every state. Else on a sample:
states around the goal, boards whose distance is a formula, or all states of some levels.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from costtogo.exact.level_sample import list_levels
from costtogo.exact.nearby import draw_by_distance
from costtogo.heuristics.network import NetworkHeuristic
from costtogo.heuristics.table import tabulate
from costtogo.puzzles import levels_of
from costtogo.puzzles.base import Puzzle, random_walks
from costtogo.search.replayed import checked
from costtogo.solve_options import Setting
from costtogo.solving.exact import descent_of, exact_values, find_nearby, is_tabled
from costtogo.solving.searches import make_ready
from costtogo.types import CostToGo, States

SEED = 2022
INSTANCES = 50  # searched from
BUDGETS = ((1, 50), (5, 30), (60, 5))  # seconds of each search, where the solver improves until then, and instances
IMPROVE = ("beam", "rising")  # solvers that search on until their time is up
AT_EACH_DISTANCE = 500  # states around the goal
BOARDS = 20_000  # whose distance is a formula
LEVELS, OF_EACH, BOXES = 20, 1000, 4  # levels that are listed, states drawn of each, and its boxes
WALK = 1000  # moves of a scramble
EDGE = 1e-3  # moves; a value that is larger than the distance by less is not counted as an overestimate


def measure(heuristic: NetworkHeuristic, budgets: Sequence[tuple[float, int]] = BUDGETS) -> dict[str, Any]:
    """The numbers of a card.

    states: how many were audited; overestimated_percent: of them, those whose value is above the distance;
    mean_absolute_error: in moves.  reached: of searches by the default solver, `solver`, one dictionary a budget:
    seconds of each search, None if the solver ends on its own; instances, solved_percent, length, nodes_expanded;
    optimal_percent: of those whose optimum is known.
    """
    setting = Setting().resolved(heuristic.puzzle, heuristic)
    reached = [
        {"seconds": seconds} | found(heuristic, replace(setting, seconds=seconds), instances)
        for seconds, instances in (budgets if setting.solver in IMPROVE else [(None, INSTANCES)])
    ]
    return {"solver": setting.solver, **errors(heuristic), "reached": reached}


def in_words(numbers: dict[str, Any]) -> list[str]:
    """One sentence on the errors that `measure` returned, or that a card holds, and one for each budget."""
    lines = [
        f"values of {numbers['states']:,} states {numbers['mean_absolute_error']:.2g} moves from the exact distance "
        f"on average, {numbers['overestimated_percent']:.3g} % of them above it"
    ]
    for reached in numbers["reached"]:
        limit = "" if reached["seconds"] is None else f" of {reached['seconds']:g} s"
        optimal = reached["optimal_percent"]
        shortest = "" if optimal is None else f", {optimal:g} % by a shortest solution"
        length = "" if reached["length"] is None else f", {reached['length']:g} moves on average"
        lines.append(
            f"{reached['instances']} searches{limit} by {numbers['solver']}: {reached['solved_percent']:g} % "
            f"solved{shortest}{length}, {reached['nodes_expanded']:,.0f} nodes expanded"
        )
    return lines


def errors(heuristic: NetworkHeuristic) -> dict[str, float]:
    """The errors of the network against exact distances."""
    puzzle = heuristic.puzzle
    if is_tabled(puzzle):
        values, distance = tabulate(puzzle, heuristic).values, descent_of(puzzle).distance.astype(np.float32)
    else:
        states, distance = sample(puzzle)
        values = heuristic(states)
    return {
        "states": len(distance),
        "overestimated_percent": rounded(100 * np.mean(values > distance + EDGE)),
        "mean_absolute_error": rounded(np.abs(values - distance).mean(dtype=np.float64)),
    }


def sample(puzzle: Puzzle) -> tuple[States, CostToGo]:
    """States of a puzzle too large to list whose exact distances are known, uint8 [N, D], and these, float32 [N]."""
    generator = np.random.default_rng(SEED)
    if puzzle.presses is not None:
        states = random_walks(puzzle, BOARDS, WALK, generator)[:, -1]
        return states, exact_values(puzzle, states)
    if not puzzle.one_goal:
        return _of_levels(puzzle, generator)
    states, distance = draw_by_distance(find_nearby(puzzle), AT_EACH_DISTANCE, generator)
    return states, distance.astype(np.float32)


def _of_levels(puzzle: Puzzle, generator: np.random.Generator) -> tuple[States, CostToGo]:
    """Solvable states of levels that no training sees, spread evenly over their distances."""
    listed = list_levels(puzzle, starts(puzzle, LEVELS), levels_of(puzzle).table, LEVELS * OF_EACH, generator)
    return listed.states, listed.distance.astype(np.float32)


def starts(puzzle: Puzzle, count: int) -> States:
    """Where searches begin, uint8 [N, D]: the ends of long walks, or levels that no training sees."""
    if puzzle.one_goal:
        return random_walks(puzzle, count, WALK, np.random.default_rng(SEED + 1))[:, -1]
    return levels_of(puzzle).draw(count, BOXES, SEED, "test")


def found(heuristic: NetworkHeuristic, setting: Setting, instances: int) -> dict[str, float]:
    """The results of the solver of a setting, one search at a time."""
    puzzle, begin = heuristic.puzzle, starts(heuristic.puzzle, instances)
    search = make_ready(puzzle, heuristic, setting)
    rows = [checked(puzzle, search, start[None])[0] for start in begin]
    cost, optimum = np.array([row.cost[0] for row in rows]), exact_values(puzzle, begin)
    solved, known = np.isfinite(cost), np.isfinite(optimum)
    return {
        "instances": len(begin),
        "solved_percent": rounded(100 * solved.mean()),
        "length": rounded(cost[solved].mean()) if solved.any() else None,
        "optimal_percent": rounded(100 * (cost == optimum)[known].mean()) if known.all() else None,
        "nodes_expanded": rounded(np.mean([row.nodes_expanded[0] for row in rows])),
    }


def rounded(number: float) -> float:
    """Four significant digits, as on a card."""
    return float(f"{number:.4g}")
