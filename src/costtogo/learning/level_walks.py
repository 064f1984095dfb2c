"""Training states of Sokoban: walks back from the solved states of many levels (DeepCubeA, Methods, Sokoban).

A walk begins with all boxes on targets and the player on any floor, and takes steps back, with pulls and without.
"""

import numpy as np
from numba import njit

from costtogo.puzzles.sokoban import BOX_ON_TARGET, FLOOR, PLAYER, Sokoban, back, back_allowed
from costtogo.types import States

WAYS = 8  # steps back, with a pull and without


def solved_levels(levels: States) -> States:
    """Levels with all boxes on targets and no player, uint8 [L, D]."""
    letters = np.array([FLOOR, BOX_ON_TARGET, FLOOR, BOX_ON_TARGET, FLOOR, BOX_ON_TARGET, 6], dtype=np.uint8)
    return letters[levels]


def walk_ends(
    puzzle: Sokoban, solved: States, count: int, length: tuple[int, int], pulls: float, generator: np.random.Generator
) -> States:
    """Ends of walks back from solved levels drawn at random, each of a length drawn uniformly: uint8 [count, D].

    solved: solved_levels, uint8 [L, D].  pulls: the chance that a walk pulls where it can.
    """
    which = generator.integers(len(solved), size=count)
    lengths = generator.integers(length[0], length[1] + 1, size=count)
    seeds = generator.integers(1, 1 << 63, size=count, dtype=np.uint64)
    return _walk_ends(solved[which], lengths, seeds, puzzle.steps, pulls)


@njit(cache=True, inline="always")
def _next(random):
    """The next of a sequence of random numbers, uint64: xorshift64 (Marsaglia 2003)."""
    random ^= random << np.uint64(13)
    random ^= random >> np.uint64(7)
    random ^= random << np.uint64(17)
    return random


@njit(cache=True, inline="always")
def _below(random, count):
    """A number 0 … count - 1 by a random one."""
    return np.int64((random >> np.uint64(33)) % np.uint64(count))


@njit(cache=True)
def _walk_ends(states, lengths, seeds, steps, pulls):
    """Each walk in turn, in place of its solved level."""
    actions = len(steps)
    allowed = np.empty(2 * actions, dtype=np.int64)
    for row in range(len(states)):
        state, random = states[row], seeds[row]
        # Put the player on a floor.
        floors = 0
        for cell in range(len(state)):
            floors += state[cell] == FLOOR
        if floors == 0:
            continue
        random = _next(random)
        order, player = _below(random, floors), 0
        while state[player] != FLOOR or order > 0:
            order -= state[player] == FLOOR
            player += 1
        state[player] += PLAYER
        # Step back.
        last = -1
        for _ in range(lengths[row]):
            free = pulling = 0
            for choice in range(2 * actions):
                if back_allowed(state, player, steps[choice % actions], choice >= actions) and choice != last:
                    allowed[free] = choice
                    free += 1
                    pulling += choice >= actions
            if free == 0:
                break
            random = _next(random)
            if 0 < pulling < free:  # plain steps come first in allowed
                pull = (random >> np.uint64(11)) * (1.0 / 9007199254740992.0) < pulls
                random = _next(random)
                place = free - pulling + _below(random, pulling) if pull else _below(random, free - pulling)
            else:
                place = _below(random, free)
            choice = allowed[place]
            step, pulled = steps[choice % actions], choice >= actions
            back(state, player, step, pulled)
            player -= step
            last = -1 if pulled else choice ^ 1
    return states
