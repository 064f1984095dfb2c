"""Training states of Sokoban: walks back from the solved states of many levels (DeepCubeA, Methods, Sokoban).

A walk begins with all boxes on targets and the player on any floor, and takes steps back, with pulls and without. It
never pulls a box into the only way out of where the player then is: half of all long walks would end there, in states
that no step leads to, so that no search comes by them.
"""

import numpy as np

from costtogo.compiled import njit
from costtogo.learning.random_numbers import remainder, xor_shift
from costtogo.puzzles.sokoban import BOX_ON_TARGET, FLOOR, PLAYER, TARGET, WALL, Sokoban, back, back_allowed
from costtogo.types import NO_ACTION, States


def solved_levels(levels: States) -> States:
    """Levels with all boxes on targets and no player, uint8 [L, D]."""
    letters = np.array([FLOOR, BOX_ON_TARGET, FLOOR, BOX_ON_TARGET, FLOOR, BOX_ON_TARGET, WALL], dtype=np.uint8)
    return letters[levels]


def walk_ends(
    puzzle: Sokoban, solved: States, count: int, length: tuple[int, int], pulls: float, generator: np.random.Generator
) -> States:
    """Ends of walks back from solved levels drawn at random, each of a length drawn uniformly: uint8 [count, D].

    solved: solved_levels, uint8 [L, D].  pulls: the chance that a walk pulls where it can.
    A step is undone only where no other is left.
    """
    which = generator.integers(len(solved), size=count)
    lengths = generator.integers(length[0], length[1] + 1, size=count)
    seeds = generator.integers(1, 1 << 63, size=count, dtype=np.uint64)
    return _walk_ends(solved[which], lengths, seeds, puzzle.steps, pulls)


@njit(cache=True, inline="always")
def _shuts(state, player, step, steps):
    """True if a pull leaves no free cell next to the player."""
    for other in steps:
        cell = player - step + other
        if cell != player and state[cell] <= TARGET:
            return False
    return True


@njit(cache=True)
def _walk_ends(states, lengths, seeds, steps, pulls):
    """Each walk in turn, in place of its solved level.

    A choice is the action of a step back without a pull or, if it is at least A, with one.
    """
    actions = len(steps)
    allowed = np.empty(2 * actions, dtype=np.int64)
    for row in range(len(states)):
        state, random = states[row], seeds[row]
        # Put the player on a floor, each as likely.
        floors = 0
        for cell in range(len(state)):
            floors += state[cell] == FLOOR
        if floors == 0:
            continue
        random = xor_shift(random)
        player = _floor(state, remainder(random, floors))
        state[player] += PLAYER
        last = NO_ACTION  # the choice that would undo the last step
        for _ in range(lengths[row]):
            # Find the steps that are possible: plain ones come first in allowed, then pulls.
            free = pulling = 0
            for choice in range(2 * actions):
                step, pulled = steps[choice % actions], choice >= actions
                possible = back_allowed(state, player, step, pulled) and choice != last
                if possible and not (pulled and _shuts(state, player, step, steps)):
                    allowed[free] = choice
                    free += 1
                    pulling += choice >= actions
            if free == 0 and last == NO_ACTION:
                break
            # Choose one: a pull or not by its chance where there are both, then each as likely.
            random = xor_shift(random)
            if free == 0:  # undoing is all that is left
                choice = last
            elif 0 < pulling < free:
                pull, plain = (random >> np.uint64(11)) * (1.0 / 9007199254740992.0) < pulls, free - pulling
                random = xor_shift(random)
                choice = allowed[plain + remainder(random, pulling) if pull else remainder(random, plain)]
            else:
                choice = allowed[remainder(random, free)]
            # Take it.
            step, pulled = steps[choice % actions], choice >= actions
            back(state, player, step, pulled)
            player -= step
            last = NO_ACTION if pulled else choice ^ 1
    return states


@njit(cache=True, inline="always")
def _floor(state, order):
    """The cell of a floor, by its place among the floors of a level."""
    cell = 0
    while state[cell] != FLOOR or order > 0:
        order -= state[cell] == FLOOR
        cell += 1
    return cell
