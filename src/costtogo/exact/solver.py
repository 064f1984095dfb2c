"""Solvers that prove their solutions shortest: every family of puzzles names its own, Family.exact.

by linear algebra over GF(2)         Lights Out
by listing a level, else by A*       Sokoban
by IDA*                              sliding tiles, over a pattern database
by IDA*                              the 3×3×3 cube, over distances of its cosets or a pattern database
by breadth-first search, both ends   all others, and sliding tiles without a pattern database
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costtogo.exact.cosets import Cosets
from costtogo.exact.nearby import Ends
from costtogo.puzzles import find, made
from costtogo.puzzles.base import Puzzle
from costtogo.types import Heuristic, SearchResult, States

ExactSearch = Callable[[States], SearchResult]  # of starts, uint8 [B, D]
Guide = Callable[[States, float, int], list[int] | None]  # finds a solution, or none; see Means


@dataclass(frozen=True)
class Means:
    """What an exact solver may use.

    nearby, database: make the table around the goal and the heuristic of a pattern database; called where one is used.
    cosets: makes or reads a table of distances of the 3×3×3 cube's cosets; half_turns: True if they count half turns as
    one move.  guide: finds a solution of a start, uint8 [D], within some seconds, for a search that takes long; it need
    not be shortest, and a last argument says how many moves are few enough to stop at.
    max_generated: nodes after which a search ends as unsolved; the solver's own limit if None.
    seconds: the same.  shorter_than: moves of a solution that is known; a search may end if none is shorter, unsolved
    and with that as its lower bound.  max_nodes: that a search may keep in memory.  threads: of one search.
    """

    nearby: Callable[[], Ends] | None = None
    database: Callable[[], Heuristic] | None = None
    cosets: Callable[[], tuple[Cosets, np.ndarray]] | None = None
    half_turns: bool = False
    guide: Guide | None = None
    max_generated: int | None = None
    seconds: float = np.inf
    shorter_than: float = np.inf
    max_nodes: int | None = None
    threads: int = 1


def exact_solver(puzzle: Puzzle, means: Means = Means()) -> ExactSearch | None:
    """The exact solver of a puzzle's family; None where it needs means that are not given."""
    return made(find(puzzle.name)[0].exact)(puzzle, means)
