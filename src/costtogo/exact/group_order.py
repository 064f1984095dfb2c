"""How many states the moves of a permutation puzzle reach, by the order of their group (Schreier and Sims, in sympy).

States are fewer than permutations if cells of one letter change places. Cells that always move together are a piece. If
no two pieces that can change places look alike, nothing is hidden and the states are as many as the permutations.
"""

import ctypes
import math
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import contextmanager

from costtogo.exact.orbit import MOST_STATES
from costtogo.puzzles.puzzle_files import LARGEST_STATES, UNKNOWN

SECONDS = 8.0  # after which the order stays unknown
AGAIN = 0.5  # seconds after which the end of the time is raised anew


def states_reached(turns: Sequence[Sequence[int]], goal: Sequence, seconds: float = SECONDS) -> int | str | None:
    """The number of states, as the file of a puzzle has it: None if they are few enough to be counted one by one.

    "unknown" if it takes longer than `seconds`, or if alike pieces hide an unknown part of many permutations.

    turns: where each cell's letter comes from under each move, [A, D].  goal: the letter of each cell, [D].
    """
    from sympy.combinatorics import Permutation, PermutationGroup

    try:
        with _at_most(seconds):
            group = PermutationGroup([Permutation(list(turn)) for turn in turns])
            if group.is_alt_sym(1e-6):  # all arrangements of the cells, or all even ones
                alike = math.prod(map(math.factorial, Counter(goal).values()))
                even = alike == 1 and all(move.is_even for move in group.generators)
                return _in_a_file(math.factorial(group.degree) // alike // (1 + even))
            hidden = len({*goal}) < len(goal) and not all(_differ(group, orbit, goal) for orbit in group.orbits())
            order = int(group.order())
    except TimeoutError:
        return UNKNOWN
    return _in_a_file(order) if not hidden else None if order <= MOST_STATES else UNKNOWN


def _in_a_file(states: int) -> int | str:
    """The number as a file may have it."""
    return states if states <= LARGEST_STATES else UNKNOWN


def _differ(group, orbit: set[int], goal: Sequence) -> bool:
    """True if no two pieces of an orbit of cells have the same letters in the same places."""
    first = min(orbit)
    fixed = group.stabilizer(first)
    piece = [cell for cell in range(group.degree) if all(move(cell) == cell for move in fixed.generators)]
    looks = [tuple(goal[move(cell)] for cell in piece) for move in group.orbit_transversal(first)]
    return len({*looks}) == len(looks)


@contextmanager
def _at_most(seconds: float):
    """TimeoutError after some seconds, whatever thread this is."""
    here, raised, done = ctypes.c_ulong(threading.get_ident()), ctypes.py_object(TimeoutError), threading.Event()

    def interrupt():
        wait = seconds
        while not done.wait(wait):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(here, raised)
            wait = AGAIN  # a callback of the garbage collector swallows whatever is raised in it

    timer, begin = threading.Thread(target=interrupt, daemon=True), time.monotonic()
    timer.start()
    try:
        yield
        if time.monotonic() - begin > seconds:
            raise TimeoutError
    finally:
        done.set()
        timer.join()
