"""The result of a search, replayed, with the optimum if it is known."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from costtogo.notation.given import Given
from costtogo.puzzles.base import Puzzle
from costtogo.search.replayed import Search, checked
from costtogo.solve_options import NETWORK, WITHOUT_NETWORK
from costtogo.solving.cache import folder
from costtogo.solving.exact import exact_values
from costtogo.types import NO_ACTION, States, UserError

METRICS = {"length": "moves", "length_qtm": "quarter turns", "length_htm": "moves with half turns as one"}
WORK = ("nodes_expanded", "nodes_generated", "seconds")
FACTS = ("beam", "mcts", "local")  # solvers whose lower bound rests on no network


@dataclass(frozen=True, eq=False)
class Solution:
    """One search from one start.

    start: uint8 [D].  actions: the moves of the solution, empty if there is none.
    lower_bound: the least moves of any solution; `holds` is True if this does not depend on the network.
    ended: "solved", "memory", "seconds" or "expansions".  solver: by name.  given: how the state is held.
    in_half_turns: True if optimum and lower_bound count a half turn as one move.
    heuristic: that the solver went by, None for one that needs none.  why: auto chose it, or what exact
    said of it; empty elsewhere.
    """

    puzzle: Puzzle
    solver: str
    start: States
    actions: list[int]
    solved: bool
    lower_bound: float
    nodes_expanded: int
    nodes_generated: int
    seconds: float
    ended: str
    given: Given | None = None
    in_half_turns: bool = False
    heuristic: str | None = None
    holds: bool = False
    why: str = ""

    @property
    def length(self) -> int:
        """Moves, each of unit cost: of cubes quarter turns."""
        return len(self.actions)

    @property
    def moves(self) -> list[str]:
        """The names of the moves, one by one, as the puzzle is held."""
        names = self.given and self.given.names
        return [(names or self.puzzle.actions)[action] for action in self.actions]

    @property
    def text(self) -> str:
        """The moves in the customary notation, as the puzzle is held."""
        return " ".join(self.moves) if self.given and self.given.names else self.puzzle.format_moves(self.actions)

    @property
    def told(self) -> str:
        """The solver in words: "rising over matching (exact had not ended after 1.0 s)"."""
        over = f" over {self.heuristic}" if self.heuristic not in (None, NETWORK) else ""
        return f"{self.solver}{over}{f' ({self.why})' if self.why else ''}"

    @property
    def metric(self) -> str:
        """The unit of length: "moves", or "quarter turns" for a cube."""
        return METRICS["length_qtm" if self.puzzle.half_turn_length else "length"]

    @property
    def half_turn_length(self) -> int | None:
        """Moves, with a half turn counted as one; None if the puzzle has no half turns."""
        return self.puzzle.half_turn_length(self.actions) if self.puzzle.half_turn_length else None

    @property
    def pushes(self) -> int | None:
        """The number of moves that push something; None if nothing can be pushed."""
        return int(self.puzzle.is_push(self.start, self.actions).sum()) if self.puzzle.is_push else None

    @property
    def counted(self) -> tuple[int, str]:
        """The length as the search counts it, and its unit."""
        if self.in_half_turns:
            return self.puzzle.half_turn_length(self.actions), METRICS["length_htm"]
        return self.length, self.metric

    @cached_property
    def optimum(self) -> int | None:
        """Moves of a shortest solution if they are known: from a proof, a table or a formula; else None.

        UserError if the solution is shorter.
        """
        if self.solved and self.holds and self.lower_bound >= self.counted[0]:
            return self.counted[0]
        if self.solver == "exact":
            return None
        value = float(exact_values(self.puzzle, self.start[None])[0])
        self.check(np.inf if value == 0 and not self.puzzle.is_goal(self.start[None])[0] else value)
        return int(value) if np.isfinite(value) else None

    def check(self, least: float) -> None:
        """UserError if the replayed solution has fewer moves than `least`, which is proved; NaN proves nothing."""
        if self.solved and self.counted[0] < least:
            raise UserError(
                f"The exact distances of {self.puzzle.name} are wrong, so nothing is proved: one of its solutions has "
                f"{self.counted[0]} moves, which they rule out; delete its tables in {folder()} and run its study "
                "again."
            )

    @property
    def proved(self) -> bool:
        """True if no solution can be shorter, however good or bad the network."""
        return self.solved and self.optimum is not None and self.counted[0] == self.optimum

    def after(self, first: "Solution") -> "Solution":
        """The same with the work of another search of its start, and with the bound that the two of them proved."""
        proved = [each.lower_bound for each in (first, self) if each.holds or np.isposinf(each.lower_bound)]
        bound = min(max(proved, default=0.0), self.length if self.solved else np.inf)
        counts = {name: getattr(first, name) + getattr(self, name) for name in WORK}
        return replace(self, lower_bound=bound, holds=True, **counts)

    @cached_property
    def states(self) -> States:
        """The states along the solution, from the start to the goal: uint8 [length + 1, D]."""
        along = [self.start]
        for action in self.actions:
            along.append(self.puzzle.move(along[-1][None], np.array([action]))[0])
        return np.array(along)


def solution_of(
    puzzle: Puzzle,
    search: Search,
    start: States | Given,
    solver: str,
    half_turns: bool = False,
    heuristic: str = NETWORK,
) -> Solution:
    """Search from one start, uint8 [D] or as it is held, and replay the solution.  heuristic: by name.

    half_turns: True if the search counts a half turn as one move.

    Raises UserError if it misses the goal, or is shorter than the proved bound.
    """
    given = start if isinstance(start, Given) else None
    start = given.state if given else start
    found, seconds = checked(puzzle, search, start[None])
    actions = [int(action) for action in found.solutions[0] if action != NO_ACTION]
    counts = int(found.nodes_expanded[0]), int(found.nodes_generated[0])
    bound, solved, ended = float(found.lower_bound[0]), bool(found.solved[0]), str(found.ended[0])
    goes_by = None if solver in WITHOUT_NETWORK else heuristic
    kept = seconds, ended, given, half_turns, goes_by, solver in (*FACTS, "exact") or goes_by != NETWORK
    solution = Solution(puzzle, solver, start, actions, solved, bound, *counts, *kept)
    solution.check(bound if solution.holds else 0)
    return solution
