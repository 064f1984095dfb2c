"""Exact distances near the goal of a puzzle too large to list: breadth-first search to a depth that fits in memory.

States are told apart only by their hashes (exact.hashing), so results that depend on a distance are replayed: see path.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from costtogo.exact.hashing import EMPTY, HashTable, hash_children, hash_states, look_up
from costtogo.puzzles.base import Puzzle
from costtogo.types import Hashes, States, UserError

FAR = 255  # beyond the depth of the table
CHILDREN = 12 << 17  # children made at once, and their bytes
BYTES = 100_000_000
LARGEST = 1 << 28  # states in a table: with slots, 6 GiB


@dataclass(frozen=True, eq=False)
class NearbyTable:
    """The distance of every state within `depth` moves of the goal.

    keys, distance: uint64 and uint8 [slots], from a HashTable.
    layers: int64 [depth + 1], the number of states at each distance.
    """

    puzzle: Puzzle
    keys: Hashes
    distance: np.ndarray
    layers: np.ndarray

    @property
    def depth(self) -> int:
        """The largest distance in the table."""
        return len(self.layers) - 1

    def __call__(self, states: States) -> np.ndarray:
        """Moves to the goal, uint8 [N]; FAR beyond the depth of the table."""
        return self.of_hashes(hash_states(self.puzzle, states))

    def of_hashes(self, hashes: Hashes) -> np.ndarray:
        """The same from the hashes of the states, as hash_states gives them, uint8 [N]."""
        return look_up(hashes, self.keys, self.distance, FAR)

    def near(self, states: States, hashes: Hashes) -> np.ndarray:
        """The same for states with known hashes."""
        return self.of_hashes(hashes)

    def of_children(self, states: States) -> np.ndarray:
        """The same for all children of states, uint8 [N, A]."""
        hashes = hash_children(self.puzzle, states)
        return self.of_hashes(hashes.ravel()).reshape(hashes.shape)

    def path(self, state: States) -> list[int]:
        """Actions of a shortest path to the goal from a state in the table, uint8 [D].

        Raises UserError if the state is not in the table; its hash may still be that of another state.
        """
        actions: list[int] = []
        distance = int(self(state[None])[0])
        while distance not in (0, FAR):
            children, legal = self.puzzle.expand(state[None])
            distances = np.where(legal[0], self(children[0]), FAR)
            action = int(distances.argmin())
            if distances[action] != distance - 1:
                break
            actions.append(action)
            state, distance = children[0, action], distance - 1
        if not self.puzzle.is_goal(state[None])[0]:
            raise UserError(f"The state is not within {self.depth} moves of the goal of {self.puzzle.name}.")
        return actions


@dataclass(frozen=True, eq=False)
class GoalAlone:
    """Distance 0 for every solved state: all that is known without a table."""

    puzzle: Puzzle
    depth: ClassVar[int] = 0

    def __call__(self, states: States) -> np.ndarray:
        """0 for solved states, else FAR, uint8 [N]."""
        return np.where(self.puzzle.is_goal(states), 0, FAR).astype(np.uint8)

    def near(self, states: States, hashes: Hashes) -> np.ndarray:
        """The same for states with known hashes."""
        return self(states)

    def of_children(self, states: States) -> np.ndarray:
        """The same for all children of states, uint8 [N, A]."""
        children = self.puzzle.expand(states)[0]
        return self(children.reshape(-1, self.puzzle.cells)).reshape(children.shape[:2])

    def path(self, state: States) -> list[int]:
        """No actions, for a solved state, uint8 [D]."""
        return []


Ends = NearbyTable | GoalAlone  # the states at which a search may end


def nearby_table(puzzle: Puzzle, depth: int) -> NearbyTable:
    """Breadth-first search from the goal; every move must have an inverse. UserError above LARGEST states."""
    table, frontier = HashTable(), puzzle.goal[None]
    table.enter(hash_states(puzzle, frontier), 0)
    layers = [1]
    for moves in range(1, depth + 1):
        found, before = [], table.count
        for children in children_of(puzzle, frontier):
            if (states := table.count + len(children)) > LARGEST:
                raise UserError(f"A table of {states:,} states near the goal does not fit; choose a smaller depth.")
            fresh = table.enter(hash_states(puzzle, children), moves)
            if moves < depth:
                found.append(children[fresh])
        if table.count == before:
            break
        layers.append(table.count - before)
        frontier = np.concatenate(found) if found else frontier[:0]
    return NearbyTable(puzzle, table.keys, table.values, np.array(layers, dtype=np.int64))


def at_once(puzzle: Puzzle) -> int:
    """How many states are expanded at once."""
    return max(1, min(CHILDREN, BYTES // puzzle.cells) // len(puzzle.actions))


def children_of(puzzle: Puzzle, states: States) -> Iterator[States]:
    """The legal children of states, in batches of uint8 [N, D]."""
    chunk = at_once(puzzle)
    for first in range(0, len(states), chunk):
        children, legal = puzzle.expand(states[first : first + chunk])
        yield children[legal]


def draw_by_distance(table: NearbyTable, count: int, generator: np.random.Generator) -> tuple[States, np.ndarray]:
    """Up to `count` different states at each distance, all if there are fewer: uint8 [N, D], distances int64 [N].

    The table holds only hashes: `count` of them are drawn at each distance, and breadth-first search from the goal
    finds their states. In the last layer, the largest, only these states are kept.
    """
    layer = table.puzzle.goal[None]
    drawn = [layer]
    for moves in range(1, table.depth + 1):
        there = np.sort(table.keys[(table.distance == moves) & (table.keys != EMPTY)])
        wanted = generator.choice(there, size=min(count, len(there)), replace=False)
        layer, hashes = _next_layer(table, layer, moves, wanted if moves == table.depth else None)
        drawn.append(layer[np.isin(hashes, wanted)])
    return np.concatenate(drawn), np.repeat(np.arange(len(drawn)), [len(states) for states in drawn])


def _next_layer(table: NearbyTable, states: States, moves: int, wanted: Hashes | None) -> tuple[States, Hashes]:
    """The children `moves` moves from the goal, each once, and their hashes; `wanted`: keep only these hashes."""
    parts = []
    for children in children_of(table.puzzle, states):
        hashes = hash_states(table.puzzle, children)
        kept = table.of_hashes(hashes) == moves
        if wanted is not None:
            kept &= np.isin(hashes, wanted)
        parts.append((children[kept], hashes[kept]))
    children, hashes = (np.concatenate(column) for column in zip(*parts, strict=True))
    hashes, rows = np.unique(hashes, return_index=True)
    return children[rows], hashes
