"""The best solution within some seconds: beams as wide as the time that is left allows, over images of the state."""

import time
from dataclasses import dataclass, field

import numpy as np

from costtogo.exact.nearby import NearbyTable
from costtogo.puzzles.base import Puzzle
from costtogo.search.beam import BeamLimits, solve
from costtogo.types import ActionHeuristic, SearchResult, States

FIRST_WIDTH = 1000  # of the search that finds a first solution, and how long a state of the beam takes
SHARES = (0.15, 0.85)  # of the time that is left: of the second search, which times a wider beam, and of those after
LEVELS = 30  # of a beam, about: what the memory must hold at once is its width times as many nodes


@dataclass
class Best:
    """The shortest solution so far, and the work of all searches."""

    cost: float = np.inf
    nodes_expanded: int = 0
    nodes_generated: int = 0
    lower_bound: float = 0.0
    solution: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int8))

    def take(self, found: SearchResult, actions: np.ndarray) -> None:
        """Add one search from one start; actions: its solution as one of the start itself."""
        self.nodes_expanded += int(found.nodes_expanded[0])
        self.nodes_generated += int(found.nodes_generated[0])
        self.lower_bound = max(self.lower_bound, float(found.lower_bound[0]))
        if found.cost[0] < self.cost:
            self.cost, self.solution = float(found.cost[0]), actions

    def result(self) -> SearchResult:
        """One row."""
        numbers = (self.cost, self.nodes_expanded, self.nodes_generated, self.lower_bound)
        kinds = (np.float64, np.int64, np.int64, np.float64)
        return SearchResult(*(np.array([n], dtype=k) for n, k in zip(numbers, kinds, strict=True)), [self.solution])


def solve_within(
    puzzle: Puzzle,
    heuristic: ActionHeuristic,
    start: States,
    *,
    seconds: float,
    nearby: NearbyTable,
    max_nodes: int = BeamLimits.max_nodes,
) -> SearchResult:
    """Improve the solution of one start, uint8 [D], until the time is up or the solution is known to be optimal.

    A narrow beam first, then beams as wide as the time left allows; where time is left after a wide one, the next
    begins from another image of the start under the puzzle's symmetries, which errs in other places.
    """
    deadline, best = time.monotonic() + seconds, Best()
    symmetries = getattr(puzzle, "symmetries", ())
    width, searches, widest = FIRST_WIDTH, 0, 0
    while True:
        begun = time.monotonic()
        symmetry = symmetries[searches % len(symmetries)] if symmetries else None
        limits = BeamLimits(max_nodes=max_nodes, seconds=deadline - begun)
        image = start[None] if symmetry is None else symmetry.apply(start[None])
        found = solve(puzzle, heuristic, image, width=width, nearby=nearby, limits=limits)
        actions = found.solutions[0]
        best.take(found, actions if symmetry is None else np.argsort(symmetry.actions)[actions].astype(np.int8))
        searches, widest = searches + 1, max(widest, width)
        now = time.monotonic()
        share = SHARES[min(searches, len(SHARES)) - 1]
        width = min(int(share * (deadline - now) * width / (now - begun)), max_nodes // LEVELS)
        if best.cost <= best.lower_bound or width < max(widest // 3, 1):
            return best.result()
