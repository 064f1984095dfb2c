"""Shortest solutions by breadth-first search from both ends: from the start, until it meets the states around the goal.

A table of the states up to t moves from the goal and s layers of states around the start prove every distance up to t +
s: the first layer with a state in the table has a state on a shortest path. States are told apart only by their hashes,
as in the table; the caller replays the solution.
"""

import numpy as np

from costtogo.exact.hashing import HashTable, hash_states
from costtogo.exact.nearby import FAR, NearbyTable, at_once
from costtogo.exact.solver import ExactSearch, Means
from costtogo.progress import Clock, report
from costtogo.puzzles.base import Puzzle
from costtogo.types import SearchResult, States

MOST_GENERATED = 150_000_000  # children of one start; of the 3×3×3 all up to 8 moves away


def exact_search(puzzle: Puzzle, means: Means) -> ExactSearch | None:
    """MeetingSearch.solve, where a table around the goal can be made."""
    if means.nearby is None:
        return None
    limit = MOST_GENERATED if means.max_generated is None else means.max_generated
    return MeetingSearch(puzzle, means.nearby(), limit, means.seconds).solve


class MeetingSearch:
    """Breadth-first search from starts towards a table; every move must have an inverse.

    max_generated: children of one start after which its search ends unsolved.  seconds: a limit for the whole call.
    """

    def __init__(self, puzzle: Puzzle, nearby: NearbyTable, max_generated: int, seconds: float = np.inf):
        self.puzzle, self.nearby, self.max_generated, self.seconds = puzzle, nearby, max_generated, seconds

    def solve(self, starts: States) -> SearchResult:
        """Shortest solutions of starts, uint8 [B, D], one after another.

        lower_bound: for an unsolved start, the smallest number of moves that is not ruled out.
        """
        clock = Clock.of(self.seconds)
        return SearchResult.from_rows(self._solve_one(start, clock) for start in starts)

    def _solve_one(self, start: States, clock: Clock) -> tuple:
        """One row of a SearchResult."""
        actions, layers, seen = len(self.puzzle.actions), [start[None]], HashTable()
        seen.enter(hash_states(self.puzzle, start[None]))
        expanded, generated, met = 0, 0, self._within(start[None])
        while met is None:
            layer = layers[-1]
            count = len(layer) * actions
            # End before a layer that would go beyond the limits: what is bounded is the work, not what it finds.
            late = clock.is_up
            if late or not count or generated + count > self.max_generated:
                return np.inf, expanded, generated, self.nearby.depth + len(layers), [], not late, late
            expanded, generated = expanded + len(layer), generated + count
            # The children of the last layer are looked up in the table and not kept: that saves the memory.
            last = generated + count * actions > self.max_generated
            found, met = self._next_layer(layer, None if last else seen, clock, (expanded, generated))
            if found is None:
                return np.inf, expanded, generated, self.nearby.depth + len(layers), [], False, True
            if not last and met is None and not len(found):  # all that can be reached was, without the goal
                return np.inf, expanded, generated, np.inf, []
            layers.append(found)
        # From the start to the meeting by the layers, from there by the table.
        solution = self._back(met, layers[:-1]) + self.nearby.path(met)
        return len(solution), expanded, generated, len(solution), solution

    def _next_layer(
        self, states: States, seen: HashTable | None, clock: Clock, work: tuple[int, int]
    ) -> tuple[States | None, States | None]:
        """The children that are in no earlier layer, each once, and one that is in the table, if any.

        If seen is None, no further layer is needed: the children are looked up and not kept. Returns None for the layer
        if the time is up before all were looked up. work: nodes expanded and generated, for a watcher.
        """
        parts, done, most = [states[:0]], 0, at_once(self.puzzle)
        while done < len(states):
            # As many at a time as should end in time.
            if not (room := clock.room(done)):
                return None, None
            report(lambda: work)
            children, legal = self.puzzle.expand(states[done : done + int(min(most, room))])
            children, done = children[legal], done + len(legal)
            hashes = hash_states(self.puzzle, children)
            rows = np.flatnonzero(self.nearby.of_hashes(hashes) != FAR)
            if len(rows):
                return states[:0], children[rows[0]]
            if seen is not None:
                parts.append(children[seen.enter(hashes)])
        return np.concatenate(parts), None

    def _within(self, states: States) -> States | None:
        """The first of these states, if it is in the table."""
        return states[0] if self.nearby(states)[0] != FAR else None

    def _back(self, state: States, layers: list[States]) -> list[int]:
        """The actions from the start to a state of the layer after these, found by steps back from layer to layer."""
        actions: list[int] = []
        for layer in reversed(layers):
            known = np.sort(hash_states(self.puzzle, layer))
            children, legal = self.puzzle.expand(state[None])
            before = np.flatnonzero(legal[0] & np.isin(hash_states(self.puzzle, children[0]), known))
            action = int(before[0])
            actions.append(self.puzzle.inverse(action))
            state = children[0, action]
        return actions[::-1]
