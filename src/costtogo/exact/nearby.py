"""Exact distances near the goal of a puzzle too large to list: breadth-first search to a depth that fits in memory.

States are told apart by a 64-bit hash. Two states with one hash are possible and rare (among 10⁸ lookups in a
table of 10⁷ states about one chance in 20,000), so what rests on a distance is replayed: see path.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numba import njit

from costtogo.puzzles.base import Puzzle
from costtogo.types import Hashes, States, UserError

FAR = 255  # beyond the table's depth
EMPTY = np.uint64(0)  # no state has this hash
CHILDREN = 12 << 17  # made at a time
LARGEST = 1 << 28  # states of a table: with slots, 6 GiB


@dataclass(frozen=True, eq=False)
class NearbyTable:
    """The distance of every state within depth moves of the goal.

    keys: uint64 [slots], hashes at their places of open addressing.  distance: uint8 [slots].
    layers: int64 [depth + 1], states at each distance.
    """

    puzzle: Puzzle
    keys: Hashes
    distance: np.ndarray
    layers: np.ndarray

    @property
    def depth(self) -> int:
        """The largest distance that the table holds."""
        return len(self.layers) - 1

    def __call__(self, states: States) -> np.ndarray:
        """Moves to the goal, uint8 [N]; FAR beyond the table's depth."""
        return self.of_hashes(hash_states(self.puzzle, states))

    def of_hashes(self, hashes: Hashes) -> np.ndarray:
        """The same by hash_states of the states, uint8 [N]."""
        return _look_up(hashes, self.keys, self.distance)

    def path(self, state: States) -> list[int]:
        """Actions of a shortest path from a state within the table, uint8 [D], to the goal.

        Raises UserError where the state is not in the table; its hash may still be that of another.
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


def nearby_table(puzzle: Puzzle, depth: int) -> NearbyTable:
    """Breadth-first search from the goal; moves must be undone by moves. UserError above LARGEST states."""
    slots = 1 << 10
    keys, distance = np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.uint8)
    frontier = puzzle.goal[None]
    _enter(hash_states(puzzle, frontier), keys, distance, 0)
    layers = [1]
    for moves in range(1, depth + 1):
        found, count = [], 0
        for children in children_of(puzzle, frontier):
            keys, distance = _with_room(keys, distance, sum(layers) + count + len(children))
            fresh = _enter(hash_states(puzzle, children), keys, distance, moves)
            count += int(fresh.sum())
            if moves < depth:
                found.append(children[fresh])
        if count == 0:
            break
        layers.append(count)
        frontier = np.concatenate(found) if found else frontier[:0]
    return NearbyTable(puzzle, keys, distance, np.array(layers, dtype=np.int64))


def children_of(puzzle: Puzzle, states: States) -> Iterator[States]:
    """The legal children of states, uint8 [N, D] each, some at a time."""
    chunk = CHILDREN // len(puzzle.actions)
    for first in range(0, len(states), chunk):
        children, legal = puzzle.expand(states[first : first + chunk])
        yield children[legal]


def hash_states(puzzle: Puzzle, states: States) -> Hashes:
    """A 64-bit hash of each state (Zobrist: a random number for each value of each cell, added up bitwise)."""
    return _hash(states, hash_numbers(puzzle.cells, puzzle.letters))


def hash_children(puzzle: Puzzle, states: States) -> Hashes:
    """The hashes of all children, uint64 [N, A]; an illegal child equals its parent."""
    actions = range(len(puzzle.actions))
    return np.stack([hash_states(puzzle, puzzle.move(states, np.full(len(states), a))) for a in actions], axis=1)


@lru_cache(maxsize=8)
def hash_numbers(cells: int, letters: int) -> np.ndarray:
    """The random numbers, uint64 [D, letters], the same in every process."""
    return np.random.default_rng([cells, letters]).integers(1, 1 << 64, size=(cells, letters), dtype=np.uint64)


def _with_room(keys: Hashes, distance: np.ndarray, states: int) -> tuple[Hashes, np.ndarray]:
    """The table with at least three slots for two states."""
    if states > LARGEST:
        raise UserError(f"A table of {states:,} states near the goal does not fit; choose a smaller depth.")
    slots = len(keys)
    while 2 * slots < 3 * states:
        slots *= 2
    if slots == len(keys):
        return keys, distance
    larger = np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.uint8)
    _move(keys, distance, *larger)
    return larger


@njit(cache=True)
def _hash(states, numbers):
    hashes = np.empty(len(states), dtype=np.uint64)
    for row in range(len(states)):
        mixed = np.uint64(0)
        for cell in range(states.shape[1]):
            mixed ^= numbers[cell, states[row, cell]]
        hashes[row] = mixed if mixed != EMPTY else np.uint64(1)
    return hashes


@njit(cache=True, inline="always")
def slot_of(key, keys):
    """Where a hash stands in a table of open addressing, or the empty slot where it would stand."""
    mask = np.uint64(len(keys) - 1)
    slot = key & mask
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(cache=True)
def _enter(hashes, keys, distance, moves):
    """Enter hashes that are not there yet; which were new, bool [N]."""
    fresh = np.zeros(len(hashes), dtype=np.bool_)
    for row in range(len(hashes)):
        slot = slot_of(hashes[row], keys)
        if keys[slot] == EMPTY:
            keys[slot], distance[slot], fresh[row] = hashes[row], moves, True
    return fresh


@njit(cache=True)
def _move(keys, distance, larger_keys, larger_distance):
    for old in range(len(keys)):
        if keys[old] != EMPTY:
            slot = slot_of(keys[old], larger_keys)
            larger_keys[slot], larger_distance[slot] = keys[old], distance[old]


@njit(cache=True)
def _look_up(hashes, keys, distance):
    found = np.empty(len(hashes), dtype=np.uint8)
    for row in range(len(hashes)):
        slot = slot_of(hashes[row], keys)
        found[row] = distance[slot] if keys[slot] == hashes[row] else FAR
    return found
