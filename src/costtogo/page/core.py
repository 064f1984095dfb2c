"""The functions that worker processes call: list networks and solvers, search, and evaluate states."""

import json
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors import SafetensorError, safe_open

from costtogo import notation, solving
from costtogo.files import understanding
from costtogo.notation import STATE
from costtogo.page.workers import most_memory
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle
from costtogo.solving import exact
from costtogo.types import CostToGo, UserError, excerpt

if TYPE_CHECKING:
    from costtogo.heuristics.network import NetworkHeuristic

Report = Callable[[dict], None]

NODE_BYTES = 200  # of memory for each node that a search keeps, with what else it needs

# Of solving.Solution:
OF_SOLUTION = ("moves", "text", "length", "metric", "lower_bound", "proved", "optimum", "solver", "why")
REASONS = {  # why a search found nothing, by its `ended`
    "memory": "Not solved: the search kept as many states as it may.",
    "seconds": "Not solved within the seconds of the search: give it more, or try another solver.",
    "expansions": "Not solved: the search has expanded as many states as it may; try another solver.",
}


def prepare() -> None:
    """Load torch and the searches, so that the first one need not wait for it."""
    import costtogo.heuristics.network
    import costtogo.solving.searches  # noqa: F401


def offers(puzzles: list[str], report: Report) -> dict:
    """The networks of each puzzle, the best first, and its solvers."""
    return {name: _offer(make(name)) for name in puzzles}


def _offer(puzzle: Puzzle) -> dict:
    models = [model for card in _cards(puzzle) if (model := _model(puzzle, card))]
    solvers = [
        {"name": name, "told": solving.SOLVERS[name], "needs_model": name not in ("auto", *solving.WITHOUT_NETWORK)}
        for name in solving.solvers(puzzle, has_policy=any("mcts" in model["solvers"] for model in models))
    ]
    return {"models": models, "solvers": solvers}


def _cards(puzzle: Puzzle) -> list[solving.ModelCard]:
    """The networks that can be used; none if the files of a study cannot be read, so that the page still opens."""
    try:
        return solving.models(puzzle.name)
    except UserError:
        return []


def _model(puzzle: Puzzle, card: solving.ModelCard) -> dict | None:
    """A network as the page offers it; None if it cannot be read, for example while its training begins."""
    try:
        description = _description(*_file(card))
    except UserError:
        return None
    suiting = solving.solvers(puzzle, has_policy=description["architecture"]["outputs"] == "policy")
    return {"name": card.name, "told": card.told, "origin": card.origin, "numbers": card.numbers, "solvers": suiting}


def _file(card: solving.ModelCard) -> tuple[Path, int]:
    """The checkpoint of a network and the time it was written, which changes when another one replaces it."""
    path = card.checkpoint()
    if not path.exists():
        raise UserError(f"There is no file of the network {excerpt(card.name)} any more.")
    return path, path.stat().st_mtime_ns


@lru_cache(maxsize=256)
def _description(path: Path, written: int) -> dict:
    """The description in a checkpoint, read without its tensors and so without torch; UserError for another file."""
    with understanding(path, SafetensorError, OSError, TypeError, KeyError, ValueError):
        with safe_open(path, framework="numpy") as file:
            return json.loads(file.metadata()["description"])


@lru_cache(maxsize=4)
def _heuristic(path: Path, written: int) -> "NetworkHeuristic":
    from costtogo.heuristics import network  # which loads torch

    return network.load(path)


def _loaded(puzzle: Puzzle, name: str) -> solving.Model:
    """Load the network of a name; UserError if it is gone."""
    for card in _cards(puzzle):
        if card.name == name:
            return solving.Model(card, _heuristic(*_file(card)))
    raise UserError(f"There is no network {excerpt(name)} of {puzzle.name} any more.")


def values(puzzle: str, model: str | None, states: list[str], report: Report) -> dict:
    """The cost-to-go of states: by a network if one is named, and exactly where it is known."""
    made = make(puzzle)
    return _values(made, model, np.array([notation.read(made, text, STATE).state for text in states]))


def _values(puzzle: Puzzle, model: str | None, states: np.ndarray) -> dict:
    """Both as lists, NaN where a value is missing; states: uint8 [N, D]."""
    network = np.full(len(states), np.nan) if model is None else _loaded(puzzle, model).cost_to_go(states)
    return {"cost_to_go": _rounded(network), "exact": _rounded(solving.exact_values(puzzle, states))}


def _rounded(values: CostToGo) -> list[float]:
    return np.round(np.asarray(values, dtype=np.float64), 3).tolist()


def search(
    puzzle: str, model: str | None, solver: str, state: str, seconds: float, report: Report, known: str | None = None
) -> dict:
    """Search from a state and call `report` with its progress: the solution or None, and a sentence on how it ended.

    known: a solution by the same solver, in moves: exact proves that none is shorter, or finds one.
    """
    made = make(puzzle)

    def watch(progress: solving.Progress) -> None:
        counts = _counts(progress.nodes_expanded, progress.nodes_generated, progress.best_length)
        report(counts | {"told": progress.told})

    options = {"solver": solver, "seconds": seconds, "watch": watch, "max_nodes": most_memory() // NODE_BYTES}
    start = notation.read(made, state, STATE)
    if why := solving.no_solution(made, start.state):
        return {"solution": None, "told": why, "progress": _counts(0, 0, np.inf)}
    if known is not None:
        found = solving.prove(made, start, made.parse_moves(known), **options)
    elif solver in solving.WITHOUT_NETWORK or model is None:
        found = solving.solve_without_network(made, start, **options)
    else:
        found = solving.solve(made, start, network=partial(_loaded, made, model), **options)
    length = found.length if found.solved else np.inf
    return {
        "solution": _solution(made, model, found) if found.solved else None,
        "told": _told(found),
        "progress": _counts(found.nodes_expanded, found.nodes_generated, length),
    }


def _counts(expanded: int, generated: int, best: float) -> dict:
    length = int(best) if np.isfinite(best) else None
    return {"nodes_expanded": int(expanded), "nodes_generated": int(generated), "best_length": length}


def _solution(puzzle: Puzzle, model: str | None, found: solving.Solution) -> dict:
    """A solution as the page shows it: its states, each with the network's value and, where known, the exact one."""
    states = found.states
    return {
        **{name: getattr(found, name) for name in OF_SOLUTION},
        "lower_bound_holds": found.holds,
        "states": states.tolist(),
        "state_texts": [puzzle.format_state(state) for state in states],
        **_values(puzzle, model, states),
    }


def _told(found: solving.Solution) -> str:
    """One sentence on how a search ended."""
    if not found.solved:
        return exact.NO_SOLUTION if found.ended == "solved" or np.isinf(found.lower_bound) else REASONS[found.ended]
    if not found.length:
        return "It is solved already."
    solved = f"Solved in {found.length:,} {found.metric if found.length > 1 else found.metric.removesuffix('s')}"
    if found.proved:
        return f"{solved}; no solution is shorter."
    if found.optimum is not None:
        return f"{solved}; a shortest solution has {found.optimum:,}."
    if found.holds and (least := int(np.ceil(found.lower_bound))) > 0:
        return f"{solved}; a shortest solution has at least {least:,}."
    return f"{solved}; whether there is a shorter solution is not known."
