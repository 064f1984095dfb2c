"""All states that the moves of a puzzle reach from its goal, found by breadth-first search and ranked in that order.

A permutation puzzle from a file has no formula for the rank of a state, so a hash table of the found states gives it.
Ranks grow with the distance; the goal has rank 0.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.hashing import NONE, first_slot, hash_numbers, hash_of, next_slot
from costtogo.puzzles.base import ListedPuzzle, inverses
from costtogo.puzzles.generators import Generators
from costtogo.puzzles.puzzle_files import UNKNOWN as UNKNOWN_COUNT
from costtogo.puzzles.puzzle_files import PuzzleFile
from costtogo.types import NO_STATE, Neighbours, Ranks, States, UserError, excerpt

MOST_STATES = 10_000_000  # in a listing
AT_ONCE = 1_000_000  # states that are listed within seconds, which each command does anew
LARGEST_LISTING = 4 << 30  # bytes
UNKNOWN = -2  # the target of a move
AT_FIRST = 1 << 12  # states with room in the first arrays


class Orbit(NamedTuple):
    """The states in the order in which they were found.

    states: uint8 [S, D].  neighbours: int32 [S, A], NO_STATE if a move changes nothing.
    slots: int32, the number of the state in each slot of the hash table (exact.hashing), NONE if it is empty.
    """

    states: States
    neighbours: Neighbours
    slots: np.ndarray


def puzzle_of(file: PuzzleFile) -> Generators:
    """The puzzle of a file: with ranks if all states fit into memory, else without.

    UserError if the file does not give the number of states and there are too many to count.
    """
    large = Generators(file)
    most = min(MOST_STATES, LARGEST_LISTING // _bytes_a_state(large))
    if file.states == UNKNOWN_COUNT or (file.states is not None and file.states > most):
        return large
    listed = ListedGenerators(file, most)
    if file.states is None:
        listed.orbit  # noqa: B018  counted now, so that too many are refused here
    return listed


class ListedGenerators(Generators, ListedPuzzle):
    """A permutation puzzle from a file, with all states listed."""

    def __init__(self, file: PuzzleFile, most: int = MOST_STATES):
        super().__init__(file)
        self._most = most

    @cached_property
    def orbit(self) -> Orbit:
        """All states; UserError if they are too many to list, or not as many as the file says."""
        said = self.file.states
        orbit = find_orbit(self, self._most if said is None else said)
        if orbit is None and said is None:
            raise UserError(
                f"More than {self._most:,} states of {self.name} can be reached, too many to list: say in its file how "
                "many there are with the key states."
            )
        if said is not None and (orbit is None or len(orbit.states) != said):
            found = f"more than {said:,}" if orbit is None else f"{len(orbit.states):,}"
            raise UserError(
                f"The file of {self.name} says that {said:,} states can be reached, but {found} can: correct the key "
                "states, or the moves."
            )
        return orbit

    @property
    def state_count(self) -> int:
        """S: the number in the file, or the number counted."""
        return self.file.states or len(self.orbit.states)

    def rank(self, states: States) -> Ranks:
        """The place of each state in the order in which they were found, int64 [N]; NO_STATE if it was not found."""
        return _look_up(states, self.orbit, hash_numbers(self.cells, self.letters))

    def unrank(self, ranks: Ranks) -> States:
        """The states of the given ranks, uint8 [N, D]."""
        return self.orbit.states[ranks]

    def neighbours(self) -> Neighbours:
        """The neighbours that the search found, int32 [S, A]."""
        return self.orbit.neighbours

    def parse_state(self, text: str) -> States:
        """A state, uint8 [D]; UserError if moves cannot make it, where that is known at once."""
        state = super().parse_state(text)
        if self.state_count <= AT_ONCE and self.rank(state[None])[0] == NO_STATE:
            raise UserError(f"Impossible state: no moves of {self.name} make '{excerpt(text.strip())}'.")
        return state


def find_orbit(puzzle: Generators, most: int) -> Orbit | None:
    """Breadth-first search from the goal; None if there are more than `most` states."""
    numbers, actions = hash_numbers(puzzle.cells, puzzle.letters), len(puzzle.actions)
    goal = Orbit(puzzle.goal[None], np.full((1, actions), UNKNOWN, dtype=np.int32), np.empty(0))
    orbit = _room(goal, AT_FIRST, numbers)
    done, count = 0, 1
    while done < count <= most:
        done, count = _search(orbit, done, count, puzzle.turns, inverses(puzzle), numbers)
        if done < count <= most:
            cut = Orbit(orbit.states[:count], orbit.neighbours[:count], orbit.slots)
            orbit = _room(cut, min(2 * len(orbit.states), most + actions), numbers)
    return Orbit(orbit.states[:count], orbit.neighbours[:count], orbit.slots) if count <= most else None


def _bytes_a_state(puzzle: Generators) -> int:
    """Bytes of memory for each state of an orbit, with up to four slots for a state."""
    return puzzle.cells + 4 * len(puzzle.actions) + 16


def _room(orbit: Orbit, states: int, numbers: np.ndarray) -> Orbit:
    """The same orbit with room for `states` states, and a table of slots that stays at most half full."""
    count, (cells, actions) = len(orbit.states), (orbit.states.shape[1], orbit.neighbours.shape[1])
    larger = np.empty((states, cells), dtype=np.uint8), np.empty((states, actions), dtype=np.int32)
    larger[0][:count], larger[1][:count] = orbit.states, orbit.neighbours
    slots = np.full(1 << (2 * states - 1).bit_length(), NONE, dtype=np.int32)
    _enter_all(larger[0], count, slots, numbers)
    return Orbit(*larger, slots)


@njit(cache=True)
def _search(orbit, done, count, turns, undo, numbers):
    """Make the moves of the states from number `done` on, while there is room for all states they may lead to.

    The states before `count` are known; those before `done` have all their neighbours. A move to a state also gives the
    move back, so each pair of neighbours is looked up once.  Returns done and count.
    """
    states, neighbours, slots = orbit
    actions, cells = turns.shape
    child = np.empty((1, cells), dtype=np.uint8)
    while done < count and count + actions <= len(states):
        for action in range(actions):
            if neighbours[done, action] != UNKNOWN:
                continue
            differs = False
            for cell in range(cells):
                child[0, cell] = states[done, turns[action, cell]]
                differs |= child[0, cell] != states[done, cell]
            if not differs:
                neighbours[done, action] = NO_STATE
                continue
            slot = _slot_of(child, 0, states, slots, numbers)
            if slots[slot] == NONE:
                slots[slot] = count
                states[count] = child[0]
                neighbours[count] = UNKNOWN
                count += 1
            neighbours[done, action] = slots[slot]
            neighbours[slots[slot], undo[action]] = done
        done += 1
    return done, count


@njit(cache=True)
def _slot_of(wanted, row, states, slots, numbers):
    """The slot of a state's number, or the empty slot where it would go; states with equal hashes are compared."""
    slot = first_slot(hash_of(wanted, row, numbers), slots)
    while slots[slot] != NONE:
        known, cell = states[slots[slot]], 0
        while cell < wanted.shape[1] and known[cell] == wanted[row, cell]:
            cell += 1
        if cell == wanted.shape[1]:
            break
        slot = next_slot(slot, slots)
    return slot


@njit(cache=True)
def _enter_all(states, count, slots, numbers):
    for row in range(count):
        slots[_slot_of(states, row, states, slots, numbers)] = row


@njit(cache=True)
def _look_up(wanted, orbit, numbers):
    """The number of each state, int64 [N], NO_STATE if it is unknown."""
    ranks = np.empty(len(wanted), dtype=np.int64)
    for row in range(len(wanted)):
        slot = _slot_of(wanted, row, orbit.states, orbit.slots, numbers)
        ranks[row] = orbit.slots[slot] if orbit.slots[slot] != NONE else NO_STATE
    return ranks
