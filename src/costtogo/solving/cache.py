"""Exact distances, computed once on a machine and then read from the user's cache folder.

The folder is COSTTOGO_CACHE if that is set, else costtogo in XDG_CACHE_HOME or in ~/.cache. If it cannot be written,
results are used and not kept; files that cannot be read are computed again.
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

    what: the kind of arrays, for example "distance".  keyed: maps states to the keys by which the arrays are read.
    A file holds a digest of its puzzle, rules and content; if any of these differs, the arrays are made again. Nothing
    is kept for another package's puzzle, because its code may change.
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
