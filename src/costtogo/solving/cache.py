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
    and what is in it: one of another puzzle, of other rules or of other content is made anew. Those of another
    package's puzzle, whose code may change, are not kept.
    """
    place, rules = folder(), rules_of(puzzle.name)
    if place is None or not (rules or of_package(puzzle.name)):
        return make()
    walk = random_walks(puzzle, 1, WALK, np.random.default_rng(0))[0]
    told = {"rules": np.array(json_text([rules, puzzle.actions])), "walk": walk, "keys": keyed(walk)}
    whose = f"{what}-{puzzle.name}.{_digest(told | {'goal': puzzle.goal})[:16]}"
    path = place / f"{whose}.npz"
    try:
        found = read_arrays(path)
        if str(found.pop(WHOSE, "")) == f"{whose} {_digest(found)}":
            return found
    except FileError:  # not there, cut off or of another kind
        pass
    arrays = make()
    try:
        write_arrays(path, **arrays, **{WHOSE: np.array(f"{whose} {_digest(arrays)}")})
    except FileError:  # read-only or full
        pass
    return arrays


def _digest(arrays: Arrays) -> str:
    """SHA-256 of arrays with their names, kinds and shapes."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
