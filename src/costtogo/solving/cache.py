"""Exact distances, computed once on a machine and then read from the user's cache folder.

The folder is COSTTOGO_CACHE if that is set, else costtogo in XDG_CACHE_HOME or in ~/.cache. If it cannot be written,
results are used and not kept; files that cannot be read are computed again.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from filelock import AcquireReturnProxy, FileLock, Timeout

from costtogo.files import FileError, json_text, read_arrays, remove_parts, write_arrays, write_bytes
from costtogo.progress import say
from costtogo.puzzles import of_package
from costtogo.puzzles import rules as rules_of
from costtogo.puzzles.base import Puzzle, random_walks
from costtogo.types import States

WHOSE = "whose"  # the array that says whose the others are
WALK = 100  # moves of the walk by whose states rules are known
DIGEST = 32  # bytes of a digest at the end of a file of kept_bytes
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


def kept_bytes(name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
    """The bytes that make returns, uint8 [N], from the cache; their last 32 become a digest.

    They are read, not mapped: numpy takes memory for so many in huge pages, in which random accesses are fast.

    name: of the file, which tells everything that decides the bytes. Of several processes that lack the file, one makes
    it and the others wait. A file that is damaged is made again.
    """
    place = folder()
    if place is None:
        return make()
    path = place / name
    if (found := _read_bytes(path)) is not None:
        return found
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = _locked(path)
    except OSError as error:
        say(f"The folder {place} cannot be written ({error.strerror}): the table is made now and not kept.")
        return make()
    with lock:
        if (found := _read_bytes(path)) is not None:
            return found
        if path.exists():
            say(f"{path} is damaged: it is made again.")
        remove_parts([path])
        content = make()
        content[-DIGEST:] = _digest_of(name, content)
        try:
            write_bytes(path, content.data)
        except FileError as error:
            say(f"{error} The table is used and not kept.")
    return content


def _locked(path: Path) -> AcquireReturnProxy:
    """The lock of a file, which ends with the process; a line on stderr if another process has it."""
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        return lock.acquire(timeout=0)
    except Timeout:
        say(f"Another process makes {path}: this one waits for it.")
        return lock.acquire()


def _read_bytes(path: Path) -> np.ndarray | None:
    """The content of a file if it is there and its digest is right."""
    try:
        content = np.fromfile(path, dtype=np.uint8)
    except OSError:  # not there
        return None
    right = len(content) > DIGEST and (content[-DIGEST:] == _digest_of(path.name, content)).all()
    return content if right else None


def _digest_of(name: str, content: np.ndarray) -> np.ndarray:
    """SHA-256 of a name and of all but the last bytes of a content, uint8 [DIGEST]."""
    digest = hashlib.sha256(name.encode())
    digest.update(content[:-DIGEST].data)
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def _digest(arrays: Arrays) -> str:
    """SHA-256 of arrays with their names, kinds and shapes."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
