"""The memory that the stages of a listed puzzle need, and the memory of this machine."""

import math
import os
from typing import TYPE_CHECKING

from costtogo.types import UserError

if TYPE_CHECKING:
    from costtogo.puzzles.base import Puzzle

MOST_STATES = 2**31 - 1  # their ranks are int32
# Bytes per state besides a neighbour table of four bytes per action, measured on towers and on the 2×2×2 cube.
OF_TABLE = 10  # for breadth-first search
OF_AUDIT = 75  # for the audit of one checkpoint


def machine_memory() -> int:
    """Bytes of memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def refuse_unlisted(puzzle: "Puzzle", audited: bool) -> None:
    """UserError if the states of a puzzle have no ranks, or are more than this machine can hold.

    audited: True if networks are audited on every state, False if only an exact table is made.
    """
    from costtogo.puzzles.base import is_listed

    states = puzzle.state_count
    if not is_listed(puzzle):
        raise UserError(
            f"{puzzle.name} cannot be listed, for its {in_words(states)} states have no ranks; leave it out, or make "
            "a study of its own for it, as config/puzzle15.yaml is."
        )
    needed, memory = states * (4 * len(puzzle.actions) + (OF_AUDIT if audited else OF_TABLE)), machine_memory()
    if needed > memory:
        work = "an audit" if audited else "an exact table"
        raise UserError(
            f"{work} of the {in_words(states)} states of {puzzle.name} takes about {in_words(-(-needed // 2**30))} GiB "
            f"of memory and this machine has {memory // 2**30:,} GiB; leave it out."
        )
    if states > MOST_STATES:
        raise UserError(
            f"{puzzle.name} has {in_words(states)} states, more than the {MOST_STATES:,} that can be listed; leave it "
            "out."
        )


def in_words(count: int) -> str:
    """A number that may be very large.  -> "181,440" or "10^40"."""
    return f"{count:,}" if count < 10**21 else f"10^{int(math.log10(count))}"
