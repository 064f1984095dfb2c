"""A stand-in for costtogo.page.core; the name of a solver says what its searches do."""

import os
import re
import time
from collections.abc import Callable

from costtogo.types import UserError

SOLVERS = {
    "walk": "a few moves from the state, whatever it is",
    "sleep": "sleeps, reporting now and then, until its seconds are up",
    "deaf": "never ends and never reports",
    "grip": "the same, and never lets go of Python's lock",
    "eat": "takes more and more memory",
    "refuse": "says that it cannot",
    "fail": "makes an error",
    "die": "ends its process",
    "noise": "prints what is no answer, then walks",
}
MOVES = 4


def prepare() -> None:
    """Load nothing."""


def offers(puzzles: list[str], report: Callable) -> dict:
    solvers = [{"name": name, "told": told, "needs_model": name == "walk"} for name, told in SOLVERS.items()]
    model = {"name": "net", "told": "A network that is none.", "origin": "packaged", "numbers": {"solved": 100}}
    return {name: {"models": [{**model, "solvers": list(SOLVERS)}], "solvers": solvers} for name in puzzles}


def values(puzzle: str, model: str | None, states: list[str], report: Callable) -> dict:
    if puzzle == "puzzle15":
        raise ValueError("a secret of the program")
    network = [None if model is None else 1.5] * len(states)
    return {"cost_to_go": network, "exact": [2.0, *[float("nan")] * (len(states) - 1)]}


def search(puzzle: str, model: str | None, solver: str, state: str, seconds: float, report: Callable) -> dict:
    report({"nodes_expanded": 1, "nodes_generated": os.getpid(), "best_length": None})  # so that tests know the process
    if solver == "sleep":
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            time.sleep(0.02)
            report({"nodes_expanded": 2, "nodes_generated": os.getpid(), "best_length": 9})
        return {"solution": None, "told": "Not solved: it slept.", "progress": {"nodes_expanded": 3}}
    if solver == "deaf":
        time.sleep(1000)
    if solver == "grip":
        re.match("(a+)+$", "a" * 64 + "b")
    if solver == "eat":
        kept = []
        while True:
            kept.append(b"1" * (1 << 24))
            time.sleep(0.005)
    if solver == "refuse":
        raise UserError("The fake refuses this search.")
    if solver == "fail":
        raise ValueError("a secret of the program")
    if solver == "die":
        os._exit(3)
    if solver == "noise":
        print('{"done": "not this"}', flush=True)
    return {"solution": walked(puzzle, state), "told": "It walked.", "progress": {"nodes_expanded": 7}}


def walked(name: str, text: str) -> dict:
    """A solution only in form: a few moves, each the first legal one."""
    import numpy as np  # imported here, so that most of these processes start at once

    from costtogo.puzzles import make

    puzzle = make(name)
    states, moves = [puzzle.parse_state(text)], []
    for _ in range(MOVES):
        moves.append(int(puzzle.legal(states[-1][None])[0].argmax()))
        states.append(puzzle.move(states[-1][None], np.array(moves[-1:]))[0])
    return {
        "moves": [puzzle.actions[move] for move in moves],
        "text": puzzle.format_moves(moves),
        "length": len(moves),
        "metric": "moves",
        "lower_bound": float("inf"),
        "lower_bound_holds": True,
        "proved": False,
        "optimum": None,
        "states": [state.tolist() for state in states],
        "state_texts": [puzzle.format_state(state) for state in states],
        "cost_to_go": [float(MOVES - place) for place in range(MOVES + 1)],
        "exact": [float("nan")] * (MOVES + 1),
    }
