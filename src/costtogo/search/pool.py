"""What searches in step have in common: a pool of the nodes of all, and the progress of each.

Nodes lie one after another in arrays that grow together, so that memory is shared and bounded, and are found through
one hash table. Searches do not see each other's nodes: a state is looked for as that of a search.

States stay where the engine of a heuristic computes. What kernels see of them here are their keys: on the host the
states themselves, of a device the bytes of their hashes, so that only those leave it. Order and ties are the same.
"""

from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.engines import Batch, Engine, engine_on
from costtogo.exact.hashing import first_slot, hash_numbers, hash_of, next_slot
from costtogo.progress import Clock, report
from costtogo.puzzles.base import Puzzle

NOTHING = -1  # no node, no search
HASHED = 1024  # nodes at a time
BYTES_OF_HASHES = (8, 256)  # cells and letters of a hash as a key
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # takes the slots of a state in one search far from those in another
SEARCH = np.dtype(  # the progress of a search
    [
        ("cost", np.float64),  # g of the goal's node, inf until it is found
        ("bound", np.float64),  # the least g + h left open where it ended
        ("expanded", np.int64),
        ("generated", np.int64),
        ("stored", np.int64),  # nodes
        ("goal_node", np.int32),  # NOTHING until it is found
        ("running", np.bool_),
        ("out_of_memory", np.bool_),
        ("out_of_time", np.bool_),
    ],
    align=True,
)


class Rules(NamedTuple):
    """How many nodes a search expands at a time, and where it ends: see bwas.solve."""

    batch_size: int
    max_expansions: int
    max_nodes: int
    until_proved: bool


class Nodes(NamedTuple):
    """States as searches have reached them, a row a node."""

    state: np.ndarray  # uint8 [capacity, D], or of a device's nodes their hashes, uint8 [capacity, 8]
    search: np.ndarray  # int32, whose node it is; NOTHING of one whose place a cheaper one took
    g: np.ndarray  # int32, moves from the start by the cheapest path known
    h: np.ndarray  # float32, cost-to-go by the heuristic, or as the evaluation of the parent said
    parent: np.ndarray  # int32, NOTHING of a start
    action: np.ndarray  # int8, which led here from the parent
    solved: np.ndarray  # bool, whether it is a goal; for engines that ask when a node is made


class SearchPool:
    """Searches that have seen nothing yet, and room for their nodes.

    searches: SEARCH [B].  nodes: the first `count` rows.  slots: int32, a hash table: node + 1, or 0.
    numbers: uint64 [D, letters], of hashes.  engine: where states are made.  store: of a device, its nodes' states.
    """

    def __init__(self, puzzle: Puzzle, searches: int, capacity: int, engine: Engine | None = None):
        self.puzzle, self.count, self.engine = puzzle, 0, engine or engine_on(puzzle, "cpu")
        self.store = None if self.engine.xp is np else self.engine.given(np.zeros((capacity, puzzle.cells), np.uint8))
        width, letters = (puzzle.cells, puzzle.letters) if self.store is None else BYTES_OF_HASHES
        self.numbers, self.slots = hash_numbers(width, letters), empty_slots(capacity)
        kinds = (np.int32, np.int32, np.float32, np.int32, np.int8, np.bool_)
        state = np.zeros((capacity, width), dtype=np.uint8)
        self.nodes = Nodes(state, *(np.zeros(capacity, dtype=kind) for kind in kinds))
        self.searches = np.zeros(searches, dtype=SEARCH)
        self.searches["running"], self.searches["goal_node"] = True, NOTHING
        self.searches["cost"] = self.searches["bound"] = np.inf

    def reserve(self, more: int) -> None:
        """Make room for more nodes, doubling; of two slots at least one is free."""
        needed = self.count + more
        if len(self.nodes.g) < needed:
            self.widen("nodes", needed)
            if self.store is not None:
                more = self.store.new_zeros(len(self.nodes.g) - len(self.store), self.puzzle.cells)
                self.store = self.engine.xp.concatenate([self.store, more])
        if len(self.slots) < 2 * needed:
            self.slots = empty_slots(needed)
            self.rehash()

    def widen(self, name: str, needed: int) -> None:
        """Give the arrays of a named tuple room for `needed` rows, or for twice as many as they have if that is more.

        One after another, so that memory holds only one of them twice.
        """
        for part in getattr(self, name)._fields:
            array = getattr(getattr(self, name), part)
            larger = np.zeros((max(needed, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
            larger[: len(array)] = array
            setattr(self, name, getattr(self, name)._replace(**{part: larger}))

    def states(self, nodes: np.ndarray) -> Batch:
        """The states of nodes, a batch of the engine [N, D]."""
        return self.nodes.state[nodes] if self.store is None else self.store[self.engine.given(nodes)]

    def keys(self, states: Batch) -> np.ndarray:
        """What tells states apart, uint8 [N, K]."""
        if self.store is None:
            return states
        return self.engine.fetched(self.engine.hashes(states)).view(np.uint8).reshape(len(states), BYTES_OF_HASHES[0])

    def keep(self, nodes: np.ndarray, states: Batch) -> None:
        """Store the states of new nodes where kernels haven't."""
        if self.store is not None:
            self.store[self.engine.given(nodes)] = states

    def rehash(self) -> None:
        """Enter all nodes in the hash table, which is empty."""
        _rehash(self.nodes.state, self.nodes.search, self.count, self.numbers, self.slots)

    def in_time(self, rules: Rules, clock: Clock) -> Rules:
        """The rules, with batches that should end in time; if none does, rules that end all searches that still run."""
        report(self.work)
        if clock.deadline == np.inf:
            return rules
        running = self.searches["running"]
        if room := clock.room(self.work()[0]):
            return rules._replace(batch_size=int(min(rules.batch_size, max(1, room / max(1, running.sum())))))
        self.searches["out_of_time"] |= running
        return rules._replace(batch_size=1, max_expansions=0)

    def work(self) -> tuple[int, int]:
        """Nodes expanded and generated by all searches."""
        return int(self.searches["expanded"].sum()), int(self.searches["generated"].sum())

    def row(self, search: int) -> tuple:
        """What a search that has ended found, as a row of a SearchResult.

        The path may be shorter than the goal's g where a node on it was reached cheaper since.
        """
        found, actions, nodes = self.searches[search], [], self.nodes
        node = found["goal_node"]
        while node != NOTHING and nodes.parent[node] != NOTHING:
            actions.append(nodes.action[node])
            node = nodes.parent[node]
        cost = len(actions) if np.isfinite(found["cost"]) else np.inf
        work, limits = found[["expanded", "generated"]], found[["out_of_memory", "out_of_time"]]
        return cost, *work, min(found["bound"], cost), actions[::-1], *limits


def empty_slots(nodes: int) -> np.ndarray:
    """A hash table with room for that many nodes: at least four slots a node, a power of two."""
    return np.zeros(1 << (4 * nodes - 1).bit_length(), dtype=np.int32)


@njit(cache=True, inline="always")
def same(states, row, others, other):
    """True if two rows are the same state."""
    different = np.uint8(0)
    for cell in range(states.shape[1]):  # all cells, so that many are compared at a time
        different |= states[row, cell] ^ others[other, cell]
    return different == 0


@njit(cache=True, inline="always")
def hash_in(states, row, search, numbers):
    """The hash of a row as a state of a search."""
    return hash_of(states, row, numbers) ^ np.uint64(search) * SPREAD


@njit(cache=True, inline="always")
def slot_of_state(state, searches, slots, hashed, others, row, search):
    """The slot of the node of a search that has the state of a row of others, or the slot where it would go."""
    slot = first_slot(hashed, slots)
    while slots[slot] != 0:
        node = slots[slot] - 1
        if searches[node] == search and same(state, node, others, row):
            break
        slot = next_slot(slot, slots)
    return slot


@njit(cache=True)
def _rehash(state, searches, count, numbers, slots):
    """Enter nodes, whose states are different, in empty slots.

    Some are hashed before their slots are read, so that many accesses to far memory go on at a time.
    """
    hashes = np.empty(HASHED, dtype=np.uint64)
    for first in range(0, count, HASHED):
        end = min(first + HASHED, count)
        for node in range(first, end):
            hashes[node - first] = hash_in(state, node, searches[node], numbers)
        for node in range(first, end):
            if searches[node] != NOTHING:
                slot = first_slot(hashes[node - first], slots)
                while slots[slot] != 0:
                    slot = next_slot(slot, slots)
                slots[slot] = node + 1
