"""The numbers on a network's card: its errors against exact distances, and the results of the default solver.

If the exact distances of all states are known, the network is compared on every state. Else on a sample:
states around the goal, boards whose distance is a formula, or all states of some levels.
"""

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
SECONDS = 2.0  # of each search, where the solver improves until its time is up
AT_EACH_DISTANCE = 500  # states around the goal
BOARDS = 20_000  # whose distance is a formula
LEVELS, OF_EACH, BOXES = 20, 1000, 4  # levels that are listed, states drawn of each, and its boxes
WALK = 1000  # moves of a scramble
EDGE = 1e-3  # moves; a value that is larger than the distance by less is not counted as an overestimate


def measure(heuristic: NetworkHeuristic) -> dict[str, Any]:
    """The numbers of a card.

    states: how many were audited; overestimated_percent: of them, those whose value is above the distance;
    mean_absolute_error: in moves.  instances, solved_percent, length, nodes_expanded: of searches by the default
    solver, `solver`, with up to SECONDS each; optimal_percent: of those whose optimum is known.
    """
    setting = Setting(seconds=SECONDS).resolved(heuristic.puzzle, heuristic)
    return {"solver": setting.solver, **errors(heuristic), **found(heuristic, setting)}


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


def found(heuristic: NetworkHeuristic, setting: Setting) -> dict[str, float]:
    """The results of the solver of a setting, one search at a time."""
    puzzle, begin = heuristic.puzzle, starts(heuristic.puzzle, INSTANCES)
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
