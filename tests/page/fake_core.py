"""A stand-in for costtogo.page.core in browser tests: immediate breadth-first search, without a trained network."""

import time
from collections.abc import Callable
from itertools import count

import numpy as np

from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle
from costtogo.types import States

SOLVERS = [
    {"name": "shortest", "told": "breadth-first search for a shortest solution.", "needs_model": False},
    {"name": "detour", "told": "a shortest solution after a move there and back.", "needs_model": True},
    {"name": "endless", "told": "searches until its seconds are up.", "needs_model": False},
]
LONG = 50  # seconds of a proof that is endless
MODEL = {"name": "net", "told": "A stand-in for a trained network.", "origin": "packaged", "numbers": {}}


def prepare() -> None:
    """Load nothing."""


def offers(puzzles: list[str], report: Callable) -> dict:
    model = {**MODEL, "solvers": [solver["name"] for solver in SOLVERS]}
    return {name: {"models": [model], "solvers": SOLVERS} for name in puzzles}


def values(puzzle: str, model: str | None, states: list[str], report: Callable) -> dict:
    return {"cost_to_go": [None if model is None else 2.5] * len(states), "exact": [None] * len(states)}


def search(
    puzzle: str, model: str | None, solver: str, state: str, seconds: float, report: Callable, known: str = ""
) -> dict:
    made = make(puzzle)
    start = made.parse_state(state)
    if solver == "endless" or (known and seconds > LONG):
        return _endless(seconds, report, "18 moves in about 3 s" if known else "")
    actions, expanded = shortest(made, start)
    if solver == "detour" and made.has_inverses and not known:
        there = int(made.legal(start[None])[0].argmax())
        actions = [there, made.inverse(there), *actions]
    solution = _solution(made, start, actions, solver == "shortest" or known != "", model is not None)
    progress = {
        "nodes_expanded": expanded,
        "nodes_generated": expanded * len(made.actions),
        "best_length": len(actions),
    }
    return {"solution": solution, "told": f"Solved in {len(actions)} moves.", "progress": progress}


def shortest(puzzle: Puzzle, start: States) -> tuple[list[int], int]:
    """The actions of a shortest solution, and the states whose children were made."""
    layer, came_from = start[None], {start.tobytes(): (b"", 0)}
    expanded = 0
    while not (solved := puzzle.is_goal(layer)).any():
        children, legal = puzzle.expand(layer)
        expanded += len(layer)
        found = []
        for row, action in np.argwhere(legal):
            child = children[row, action]
            if came_from.setdefault(child.tobytes(), made := (layer[row].tobytes(), int(action))) is made:
                found.append(child)
        layer = np.array(found)
    actions, state = [], layer[solved.argmax()].tobytes()
    while came_from[state][0]:
        state, action = came_from[state]
        actions.append(action)
    return actions[::-1], expanded


def _endless(seconds: float, report: Callable, told: str) -> dict:
    ends = time.monotonic() + seconds
    for nodes in count(100, 100):
        if time.monotonic() > ends:
            return {"solution": None, "told": "No solution was found in the time given.", "progress": {}}
        report({"nodes_expanded": nodes, "nodes_generated": 4 * nodes, "best_length": None, "told": told})
        time.sleep(0.02)


def _solution(puzzle: Puzzle, start: States, actions: list[int], is_shortest: bool, network: bool) -> dict:
    states = [start]
    for action in actions:
        states.append(puzzle.move(states[-1][None], np.array([action]))[0])
    left = range(len(actions), -1, -1)
    return {
        "moves": [puzzle.actions[action] for action in actions],
        "text": puzzle.format_moves(actions),
        "length": len(actions),
        "metric": "moves",
        "lower_bound": float(len(actions)) if is_shortest else 0.0,
        "lower_bound_holds": is_shortest,
        "proved": is_shortest,
        "optimum": len(actions) if is_shortest else None,
        "states": [state.tolist() for state in states],
        "state_texts": [puzzle.format_state(state) for state in states],
        "cost_to_go": [0.9 * moves + 0.3 * np.sin(2 * moves) if network else None for moves in left],
        "exact": [float(moves) if is_shortest else None for moves in left],
    }
