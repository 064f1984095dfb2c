"""Solve puzzles over trained networks, or exactly: what the shell command, the page and Python programs use.

For example:

    from costtogo import solving

    model = solving.load("cube3")
    solution = model.solve("R U F' L2 D B", seconds=5)
    print(solution.text, solution.length, solution.optimum)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from costtogo import notation
from costtogo.notation.given import Given
from costtogo.progress import Progress, watching
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle
from costtogo.solve_options import HEURISTICS, SOLVERS, WITHOUT_NETWORK, Setting, heuristics, solvers
from costtogo.solving.exact import exact_values, no_solution
from costtogo.solving.model_cards import ModelCard, find_model, models
from costtogo.solving.solution import Solution
from costtogo.types import CostToGo, States

if TYPE_CHECKING:
    from costtogo.heuristics.network import NetworkHeuristic

__all__ = [
    "HEURISTICS", "SOLVERS", "WITHOUT_NETWORK", "Model", "ModelCard", "Progress", "Setting", "Solution", "exact_values",
    "heuristics", "load", "models", "no_solution", "parse_start", "prove", "solve", "solve_without_network", "solvers",
]  # fmt: skip

Watch = Callable[[Progress], None]


@dataclass(frozen=True, eq=False)
class Model:
    """A trained network, ready to guide searches."""

    card: ModelCard
    heuristic: "NetworkHeuristic"

    @property
    def puzzle(self) -> Puzzle:
        """The puzzle it was trained on."""
        return self.heuristic.puzzle

    def cost_to_go(self, states: States) -> CostToGo:
        """The network's values of states, uint8 [N, D]: moves to the goal, float32 [N]."""
        return self.heuristic(states)

    def setting(self, **options) -> Setting:
        """The setting of some options, with a solver in place of auto; UserError if they cannot be combined."""
        return Setting(**options).resolved(self.puzzle, self.heuristic)

    def solve(self, start: States | Given | str, *, watch: Watch | None = None, **options) -> Solution:
        """Search from one start: a state, uint8 [D], as it is held or as text, or moves from the goal.

        options: those of Setting, solver="bwas" or seconds=5 for instance.  watch: called a few times a second.
        """
        return _solve(self.puzzle, start, self.setting(**options), watch, lambda: self)


def load(named: Path | str) -> Model:
    """The best network of a puzzle ("cube3"), one of a study ("puzzle15/values"), or a checkpoint by its path.

    Raises UserError where there is none.
    """
    from costtogo.heuristics import network

    text = str(named)
    of_puzzle = not Path(text).exists() and "/" not in text
    card = find_model(make(text).name) if of_puzzle else find_model(None, named)
    return Model(card, network.load(card.checkpoint()))


def solve(
    puzzle: Puzzle | str,
    start: States | Given | str,
    *,
    network: Callable[[], Model] | None = None,
    watch: Watch | None = None,
    **options,
) -> Solution:
    """Search from one start by the solver auto, which is exact where that ends in time, or another one.

    network: loads one, called only where a search goes by it; without it, the puzzle's best network, if there is any.
    options: those of Setting.
    """
    puzzle = make(puzzle) if isinstance(puzzle, str) else puzzle
    if network is None and models(puzzle.name):
        network = partial(load, puzzle.name)
    return _solve(puzzle, start, Setting(**options), watch, network)


def solve_without_network(
    puzzle: Puzzle | str, start: States | Given | str, *, watch: Watch | None = None, **options
) -> Solution:
    """Search from one start by the solver exact (the default) or another one over no network: options of Setting."""
    puzzle = make(puzzle) if isinstance(puzzle, str) else puzzle
    return _solve(puzzle, start, Setting(**{"solver": "exact"} | options), watch, None)


def prove(
    puzzle: Puzzle, start: States | Given, known: list[int], *, solver: str, watch: Watch | None = None, **options
) -> Solution:
    """A solution that is known, with what the solver exact proves of it, or a shorter one.

    known: its actions; UserError if they do not solve the start.  solver: that found it.  options: those of Setting.
    """
    from costtogo.solving.searches import prove_known

    with watching(watch):
        return prove_known(puzzle, start, known, solver, Setting(**options | {"solver": "exact"}))


def _solve(
    puzzle: Puzzle,
    start: States | Given | str,
    setting: Setting,
    watch: Watch | None,
    network: Callable[[], Model] | None,
) -> Solution:
    from costtogo.solving.searches import solver_of

    start = parse_start(puzzle, start) if isinstance(start, str) else start
    search = solver_of(puzzle, setting, network and (lambda: network().heuristic))
    with watching(watch):
        return search(start)


def parse_start(puzzle: Puzzle, text: str) -> Given:
    """Read a text as a state, or as a scramble of the goal, by costtogo.notation; UserError if it is neither."""
    return notation.read(puzzle, text)
