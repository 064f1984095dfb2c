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

FORMAT = "1"  # part of the names of our own puzzles' files; another number leaves older ones aside


def folder() -> Path | None:
    """The folder for caches; None where the user has none."""
    named = os.environ.get("COSTTOGO_CACHE")
    if named:
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "costtogo"
    except RuntimeError:  # nobody's home
        return None


def cached(what: str, puzzle: str, make: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays that make returns, from the cache if they are there.

    what: "distance" for instance, of a puzzle by its name. Those of a puzzle from a file are found by its rules; those
    of another package's puzzle, whose code may change, are not kept.
    """
    place, rules = folder(), rules_of(puzzle)
    if place is None or not (rules or of_package(puzzle)):
        return make()
    known = hashlib.sha256(json_text(rules).encode()).hexdigest()[:16] if rules else FORMAT
    path = place / f"{what}-{puzzle}.{known}.npz"
    if path.exists():
        try:
            return read_arrays(path)
        except FileError:  # cut off or of another kind
            pass
    arrays = make()
    try:
        write_arrays(path, **arrays)
    except FileError:  # read-only or full
        pass
    return arrays
