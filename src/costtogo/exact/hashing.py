"""How states are told apart: a 64-bit hash of each, and one kind of open addressing for all tables of hashes.

The number of slots of a table is a power of two. An entry is in the slot that the low bits of its hash name, or in one
of the next slots before the first empty one; a slot never becomes empty again.

Two states may share a hash, but rarely do: 10⁸ lookups in a table of 10⁷ states have a chance of about one in 20,000.
Code that compares only hashes must accept that; search.pool compares the states.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.base import Puzzle
from costtogo.types import Hashes, States

EMPTY = np.uint64(0)  # no state has this hash
ONE = np.uint64(1)
NONE = -1


def hash_states(puzzle: Puzzle, states: States) -> Hashes:
    """A 64-bit hash of each state (Zobrist: the bitwise sum of a random number for the value of each cell)."""
    return _hash_all(states, hash_numbers(puzzle.cells, puzzle.letters))


def hash_children(puzzle: Puzzle, states: States) -> Hashes:
    """The hashes of all children, uint64 [N, A]; an illegal child equals its parent."""
    actions = range(len(puzzle.actions))
    return np.stack([hash_states(puzzle, puzzle.move(states, np.full(len(states), a))) for a in actions], axis=1)


@lru_cache(maxsize=8)
def hash_numbers(cells: int, letters: int) -> np.ndarray:
    """The random numbers, uint64 [D, letters], the same in every process."""
    return np.random.default_rng([cells, letters]).integers(1, 1 << 64, size=(cells, letters), dtype=np.uint64)


@dataclass
class HashTable:
    """A set of hashes with one byte each. It grows: it has at least three slots for every two hashes.

    keys: uint64 [slots], EMPTY in an empty slot.  values: uint8 [slots].  count: number of hashes entered.
    """

    keys: Hashes = field(default_factory=lambda: np.zeros(1 << 10, dtype=np.uint64))
    values: np.ndarray = field(default_factory=lambda: np.zeros(1 << 10, dtype=np.uint8))
    count: int = 0

    def enter(self, hashes: Hashes, value: int = 0) -> np.ndarray:
        """Enter the new hashes with a value; returns which were new, of equal ones only the first: bool [N]."""
        self._make_room(len(hashes))
        fresh = _enter(hashes, self.keys, self.values, value)
        self.count += int(fresh.sum())
        return fresh

    def new(self, hashes: Hashes) -> np.ndarray:
        """The rows of the new hashes, of equal ones only the first, in order, int64 [M]."""
        first = distinct(hashes)[0]
        return first[~holds(hashes[first], self.keys)]

    def _make_room(self, more: int) -> None:
        slots = len(self.keys)
        while 2 * slots < 3 * (self.count + more):
            slots *= 2
        if slots > len(self.keys):
            larger = np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.uint8)
            _move(self.keys, self.values, *larger)
            self.keys, self.values = larger


@njit(cache=True, inline="always")
def hash_of(states, row, numbers):
    """The hash of a row of states, before EMPTY is avoided: uint64."""
    mixed = EMPTY
    for cell in range(states.shape[1]):
        mixed ^= numbers[cell, states[row, cell]]
    return mixed


@njit(cache=True, inline="always")
def first_slot(hashed, slots):
    """The first slot to look in for a hash."""
    return hashed & np.uint64(len(slots) - 1)


@njit(cache=True, inline="always")
def next_slot(slot, slots):
    """The slot to look in after one that holds another hash."""
    return (slot + ONE) & np.uint64(len(slots) - 1)


@njit(cache=True, inline="always")
def slot_of(key, keys):
    """The slot of a hash among the keys, or the empty slot where it would go."""
    slot = first_slot(key, keys)
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = next_slot(slot, keys)
    return slot


@njit(cache=True)
def look_up(hashes, keys, values, missing):
    """The value of each hash, uint8 [N], or `missing`."""
    found = np.empty(len(hashes), dtype=np.uint8)
    for row in range(len(hashes)):
        slot = slot_of(hashes[row], keys)
        found[row] = values[slot] if keys[slot] == hashes[row] else missing
    return found


@njit(cache=True)
def holds(hashes, keys):
    """Which hashes are among the keys, bool [N]."""
    found = np.empty(len(hashes), dtype=np.bool_)
    for row in range(len(hashes)):
        found[row] = keys[slot_of(hashes[row], keys)] != EMPTY
    return found


@njit(cache=True)
def distinct(hashes):
    """Distinct hashes of uint64 [N]: the first row of each, int64 [K], and each row's index among them, int64 [N]."""
    size = 2
    while size < 2 * len(hashes):
        size *= 2
    slots = np.full(size, NONE)
    first, which = np.empty(len(hashes), dtype=np.int64), np.empty(len(hashes), dtype=np.int64)
    count = 0
    for place in range(len(hashes)):
        slot = first_slot(hashes[place], slots)
        while slots[slot] != NONE and hashes[first[slots[slot]]] != hashes[place]:
            slot = next_slot(slot, slots)
        if slots[slot] == NONE:
            slots[slot], first[count] = count, place
            count += 1
        which[place] = slots[slot]
    return first[:count], which


@njit(cache=True)
def _hash_all(states, numbers):
    hashes = np.empty(len(states), dtype=np.uint64)
    for row in range(len(states)):
        mixed = hash_of(states, row, numbers)
        hashes[row] = mixed if mixed != EMPTY else ONE
    return hashes


@njit(cache=True)
def _enter(hashes, keys, values, value):
    fresh = np.zeros(len(hashes), dtype=np.bool_)
    for row in range(len(hashes)):
        slot = slot_of(hashes[row], keys)
        if keys[slot] == EMPTY:
            keys[slot], values[slot], fresh[row] = hashes[row], value, True
    return fresh


@njit(cache=True)
def _move(keys, values, larger_keys, larger_values):
    for old in range(len(keys)):
        if keys[old] != EMPTY:
            slot = slot_of(keys[old], larger_keys)
            larger_keys[slot], larger_values[slot] = keys[old], values[old]
