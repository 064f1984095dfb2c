"""What a worker process computes for the page: which networks and solvers there are, searches, values of states."""

from collections.abc import Callable

import numpy as np

from costtogo.commands.solve import WITHOUT_NETWORK, Setting, make_ready
from costtogo.puzzles import make


def prepare() -> None:
    """Nothing yet."""


def offers(puzzles: list[str], report: Callable) -> dict:
    found = {}
    for name in puzzles:
        solvers = [s for s, (families, _) in WITHOUT_NETWORK.items() if make(name).family in families]
        told = {"exact": "a shortest solution, without a network", "local": "a few tiles at a time"}
        found[name] = {"models": [], "solvers": [{"name": s, "told": told[s], "needs_model": False} for s in solvers]}
    return found


def values(puzzle: str, model: str | None, states: list[str], report: Callable) -> dict:
    return {"cost_to_go": [None] * len(states), "exact": [None] * len(states)}


def search(puzzle: str, model: str | None, solver: str, state: str, seconds: float, report: Callable) -> dict:
    made = make(puzzle)
    start = made.parse_state(state)
    result = make_ready(made, None, Setting(solver=solver, seconds=seconds))(start[None])
    progress = {
        "nodes_expanded": int(result.nodes_expanded[0]),
        "nodes_generated": int(result.nodes_generated[0]),
        "best_length": int(result.cost[0]) if result.solved[0] else None,
    }
    if not result.solved[0]:
        return {"solution": None, "told": "Not solved.", "progress": progress}
    actions, states = result.solutions[0].tolist(), [start]
    for action in actions:
        states.append(made.move(states[-1][None], np.array([action]))[0])
    solution = {
        "moves": [made.actions[action] for action in actions],
        "text": made.format_moves(actions),
        "length": len(actions),
        "metric": "quarter turns" if made.half_turn_length else "moves",
        "lower_bound": float(result.lower_bound[0]),
        "proved": solver == "exact",
        "optimum": len(actions) if solver == "exact" else None,
        "states": [each.tolist() for each in states],
        "state_texts": [made.format_state(each) for each in states],
        "cost_to_go": [None] * len(states),
        "exact": [float(len(actions) - k) if solver == "exact" else None for k in range(len(states))],
    }
    return {"solution": solution, "told": f"Solved in {len(actions)} moves.", "progress": progress}
