"""How to search: the solver and its options, with what they are where the user names none."""

from dataclasses import dataclass, replace

import numpy as np

from costtogo.puzzles.base import Puzzle, is_listed
from costtogo.search.bwas import Limits
from costtogo.types import UserError

SOLVERS = {  # by name, in the order of help: what each does
    "auto": "the solver that suits the network and the puzzle",
    "bwas": "batch weighted A*: expands the N open nodes of least f = λ · g + h at a time",
    "greedy": "best-first search: bwas with λ = 0 and N = 1",
    "beam": "beams that grow wider until the time is up",
    "rising": "bwas with λ = 0.8, then 1, then with larger and larger N, until the time is up",
    "mcts": "Monte Carlo tree search guided by a policy",
    "exact": "a shortest solution, without a network",
    "local": "local value iteration: a few tiles at a time, without a network",
}
WITHOUT_NETWORK = ("exact", "local")
LISTED = {"path_weight": 0.7, "batch_size": 5, "max_expansions": 200_000}  # BWAS where nothing else is asked for
LARGE = {"path_weight": 0.4, "batch_size": 1000, "max_expansions": 10_000_000}
SECONDS = 30.0
MOST_NODES = 40_000_000  # of which a search by action has room on 7 × 7 lights
OF_BWAS = ("path_weight", "max_expansions", "until_proved")  # options that make auto choose it for large puzzles, too
REFUSED = (  # solvers, options that they do not take, and why
    ("greedy", ("path_weight", "batch_size"), "is bwas with λ = 0 and N = 1: leave out --path-weight and --batch-size"),
    ("exact local", (*OF_BWAS, "batch_size", "average"),
     "searches over no network: leave out the options of those that do"),
    ("exact local", ("max_nodes",), "keeps no nodes in memory: leave out --max-nodes"),
    ("local", ("seconds",), "is done at once: leave out --seconds"),
    ("beam", ("batch_size",), "chooses its widths by its --seconds: leave out --batch-size"),
    ("mcts", ("path_weight", "batch_size", "until_proved", "average"),
     "has no λ, N, proof or average: leave out --path-weight, --batch-size, --until-proved and --average"),
    ("beam rising", OF_BWAS, "ends with its --seconds or --max-nodes: leave out --path-weight, --max-expansions and "
     "--until-proved, or choose --solver bwas"),
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """How to search. What is None depends on the puzzle: LISTED or LARGE.

    solver: one of SOLVERS; exact and local need no network.
    until_proved: go on after the first solution.  seconds: the effort of beam and rising for each state, the limit of
    exact, SECONDS where none are given; a limit of bwas, greedy and mcts where they are.
    average: symmetric images of a state over which values are averaged.
    """

    path_weight: float | None = None
    batch_size: int | None = None
    max_expansions: int | None = None
    max_nodes: int = MOST_NODES
    until_proved: bool = False
    solver: str = "auto"
    seconds: float | None = None
    average: int = 1

    def refuse(self) -> None:
        """UserError where an option is given that the solver does not take."""
        for solvers, options, why in REFUSED:
            if self.solver in solvers.split() and self._has(options):
                raise UserError(f"The solver {self.solver} {why}.")

    def _has(self, options: tuple[str, ...]) -> bool:
        """True if one of some options is given."""
        return any(getattr(self, name) != getattr(Setting, name) for name in options)

    def resolved(self, puzzle: Puzzle, by_action: bool, has_policy: bool) -> "Setting":
        """The same with a solver named in place of auto: bwas where the puzzle can be listed or one of its options is
        given.

        by_action, has_policy: what the network offers, see NetworkHeuristic.
        UserError where the solver is another and does not take an option, or needs a policy that is not there.
        """
        if self.solver == "mcts" and not has_policy:
            raise UserError("The solver mcts needs a network with a policy: give --model of a training by adi.")
        self.refuse()
        if self.solver != "auto":
            return self
        if is_listed(puzzle) or self._has(OF_BWAS):
            return replace(self, solver="bwas")
        # Where moves cannot be undone, beams end in dead ends.
        beam = (by_action or has_policy) and puzzle.has_inverses
        return replace(self, solver="beam" if beam else "rising")

    @property
    def effort(self) -> float:
        """The seconds that a search which improves, or proves, may take."""
        return SECONDS if self.seconds is None else self.seconds

    def of_bwas(self, puzzle: Puzzle) -> dict:
        """λ, N, where a search ends, and whether it goes on: keyword arguments of bwas.solve."""
        given = {name: getattr(self, name) for name in LISTED}
        named = {"path_weight": 0.0, "batch_size": 1} if self.solver == "greedy" else {}
        values = {**(LISTED if is_listed(puzzle) else LARGE), **named}
        values |= {name: value for name, value in given.items() if value is not None}
        limits = Limits(values.pop("max_expansions"), self.max_nodes, np.inf if self.seconds is None else self.seconds)
        return {**values, "limits": limits, "until_proved": self.until_proved}
