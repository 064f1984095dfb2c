"""What is made once on a machine and then read: exact distances, in the user's folder for caches.

The folder is COSTTOGO_CACHE if that is set, else costtogo in XDG_CACHE_HOME or in ~/.cache. Where nothing can be
written there, what is made is used and not kept; what cannot be read there is made anew.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from costtogo.files import FileError, read_arrays, write_arrays

FORMAT = "1"  # part of every name; another number leaves older files aside


def folder() -> Path | None:
    """The folder for caches; None where the user has none."""
    named = os.environ.get("COSTTOGO_CACHE")
    if named:
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "costtogo"
    except RuntimeError:  # nobody's home
        return None


def cached(name: str, make: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays that make returns, from the cache if they are there."""
    place = folder()
    if place is None:
        return make()
    path = place / f"{name}.{FORMAT}.npz"
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
