"""What is made once on a machine and then read: exact distances, in the user's folder for caches.

The folder is COSTTOGO_CACHE if that is set, else costtogo in XDG_CACHE_HOME or in ~/.cache. Where nothing can be
written there, what is made is used and not kept; what cannot be read there is made anew.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from costtogo.files import FileError, json_text, read_arrays, write_arrays
from costtogo.puzzles import of_package
from costtogo.puzzles import rules as rules_of
from costtogo.puzzles.base import Puzzle, random_walks
from costtogo.types import States

FORMAT = "2"  # part of the names of our own puzzles' files; another number leaves older ones aside
WHOSE = "whose"  # the array that says whose the others are
WALK = 100  # moves of the walk by whose states rules are known
Arrays = dict[str, np.ndarray]


def folder() -> Path | None:
    """The folder for caches; None where the user has none."""
    named = os.environ.get("COSTTOGO_CACHE")
    if named:
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "costtogo"
    except RuntimeError:  # nobody's home
        return None


def cached(what: str, puzzle: Puzzle, keyed: Callable[[States], np.ndarray], make: Callable[[], Arrays]) -> Arrays:
    """The arrays that make returns, from the cache if they are there.

    what: "distance" for instance, of a puzzle.  keyed: what states are found by in the arrays. A file says whose it is,
    and what is in it: one of another puzzle, of other rules or of other content is made anew. Those of a puzzle from a
    file are found by its rules; those of another package's puzzle, whose code may change, are not kept.
    """
    place, rules = folder(), rules_of(puzzle.name)
    if place is None or not (rules or of_package(puzzle.name)):
        return make()
    known = hashlib.sha256(json_text(rules).encode()).hexdigest()[:16] if rules else FORMAT
    path = place / f"{what}-{puzzle.name}.{known}.npz"
    walk = random_walks(puzzle, 1, WALK, np.random.default_rng(0))[0]
    of = f"{what} of {puzzle.name} {puzzle.actions}", {"goal": puzzle.goal, "walk": walk, "keys": keyed(walk)}
    try:
        found = read_arrays(path)
        if str(found.pop(WHOSE, "")) == _whose(*of, found):
            return found
    except FileError:  # not there, cut off or of another kind
        pass
    arrays = make()
    try:
        write_arrays(path, **arrays, **{WHOSE: np.array(_whose(*of, arrays))})
    except FileError:  # read-only or full
        pass
    return arrays


def _whose(of: str, rules: Arrays, arrays: Arrays) -> str:
    """What a file says of itself: what it is of, and a digest of that, of states by the rules, and of its content."""
    digest = hashlib.sha256(of.encode())
    for name, array in sorted(rules.items()) + sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array))
    return f"{of}, SHA-256 {digest.hexdigest()}"
