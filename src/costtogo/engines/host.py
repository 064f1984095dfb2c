"""The engine of the processor: numpy arrays, and the puzzle's own compiled functions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

import numpy as np

from costtogo.exact.hashing import HashTable, distinct, hash_states
from costtogo.exact.nearby import Ends
from costtogo.puzzles.base import Puzzle, pick_legal, random_walks
from costtogo.types import Children, CostToGo, Hashes, Heuristic, Legal, States

CANDIDATES = 3  # times the size: the best values that are put in order; the others only where these run out


@dataclass(frozen=True)
class HostEngine:
    """The rules of a puzzle on arrays: see engines.Engine."""

    puzzle: Puzzle
    xp: ClassVar[ModuleType] = np
    full: ClassVar[tuple] = ()

    def given(self, array: np.ndarray) -> np.ndarray:
        """The array."""
        return array

    def fetched(self, batch: np.ndarray) -> np.ndarray:
        """The array."""
        return batch

    def captured(self, act: Callable) -> Callable:
        """The function."""
        return act

    def expand(self, states: States) -> tuple[Children, Legal]:
        """Puzzle.expand."""
        return self.puzzle.expand(states)

    def legal(self, states: States) -> Legal:
        """Puzzle.legal."""
        return self.puzzle.legal(states)

    def move(self, states: States, actions: np.ndarray) -> States:
        """Puzzle.move."""
        return self.puzzle.move(states, actions)

    def is_goal(self, states: States) -> np.ndarray:
        """Puzzle.is_goal."""
        return self.puzzle.is_goal(states)

    def pick(self, legal: Legal, draws: np.ndarray) -> np.ndarray:
        """base.pick_legal."""
        return pick_legal(legal, draws)

    def walk(self, draws: np.ndarray) -> tuple[States, np.ndarray]:
        """Puzzle.walk."""
        return self.puzzle.walk(draws)

    def random_walks(self, walks: int, length: int, generator: np.random.Generator) -> States:
        """base.random_walks."""
        return random_walks(self.puzzle, walks, length, generator)

    def evaluated(self, children: Children, legal: Legal, cost_to_go: Heuristic) -> CostToGo:
        """The cost-to-go of children, float32 [N, A], inf where they are not legal.

        A state that is the child of several states, as each state within a walk is, is evaluated once; states with
        equal hashes are treated as one.
        """
        children = children[legal]
        first, which = self.distinct(self.hashes(children))
        costs = np.full(legal.shape, np.inf, dtype=np.float32)
        costs[legal] = cost_to_go(children[first])[which]
        return costs

    def hashes(self, states: States) -> Hashes:
        """hashing.hash_states."""
        return hash_states(self.puzzle, states)

    def distinct(self, hashes: Hashes) -> tuple[np.ndarray, np.ndarray]:
        """hashing.distinct."""
        return distinct(hashes)

    def rows(self, flags: np.ndarray) -> np.ndarray:
        """numpy.flatnonzero."""
        return np.flatnonzero(flags)

    def in_order(self, values: np.ndarray, size: int) -> Iterator[np.ndarray]:
        """Rows of finite values from the least on, of equal ones the first first, in pieces of at most size."""
        # Sorting a few of many is slow, and the first few are mostly enough.
        first = CANDIDATES * size
        if len(values) > first:
            parted = np.argpartition(values, first)
            groups = [np.sort(parted[:first]), np.sort(parted[first:])]
        else:
            groups = [np.arange(len(values))]
        for group in groups:
            order = group[np.argsort(values[group], kind="stable")]
            order = order[np.isfinite(values[order])]
            for begin in range(0, len(order), size):
                yield order[begin : begin + size]

    def seen(self) -> HashTable:
        """An empty HashTable."""
        return HashTable()

    def near(self, ends: Ends, states: States, hashes: Hashes) -> np.ndarray:
        """The exact distance of each state, uint8 [N], FAR where it is not known."""
        return ends.near(states, hashes)
