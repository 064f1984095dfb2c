"""Which source files a stage runs through, the closure of its imports inside this package, and their digest.

The key of a stage holds the digest, so that a change of code makes anew what it may change. Comments, docstrings and
formatting are no code. Of the puzzles a stage runs through its own alone. Tracking is left out, and so is what decides
which stages are made: they see results, they do not make them.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from costtogo import syntax
from costtogo.files import read_bytes, recall, write_json

PACKAGE = "costtogo"
ROOT = Path(__file__).parent
REGISTRY = "costtogo.puzzles"  # which only finds the modules of puzzles
NOT_RESULTS = ("costtogo.tracking", "costtogo.recipes", "costtogo.sources", "costtogo.syntax")
# What has been parsed, by the digest of the bytes and of what parses them: parsing takes long.
PARSER = read_bytes(syntax.__file__)
MEMORY = Path(".snakemake/costtogo/sources.json")


class Source(NamedTuple):
    """What a source file holds: the digest of its code and the modules that it imports."""

    code: str
    imports: tuple[str, ...]


def code_of(module: str, others: Iterable[str] = ()) -> dict[str, str]:
    """The digest of the code of each file that a module such as costtogo.stages.train runs through, itself among them.

    By the file's path below the package, sorted.  others: modules that it imports by name.
    """
    found = {path: _source(path).code for start in (module, *others) for path in _closure(ROOT, start)}
    return {path.relative_to(ROOT).as_posix(): found[path] for path in sorted(found)}


def digest_of(code: dict[str, str]) -> str:
    """SHA-256 over what code_of returns."""
    return hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()


@cache
def _closure(root: Path, module: str) -> frozenset[Path]:
    """The file of a module and those of all it imports."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name.endswith(".*"):
            folder = root.joinpath(*name.split(".")[1:-1])
            waiting += [name[:-1] + path.stem for path in folder.glob("*.py")]
        if name in found or name == REGISTRY or name.startswith(NOT_RESULTS):
            continue
        path = _file(root, name)
        if path is not None:
            found[name] = path
            waiting += _source(path).imports
    return frozenset(found.values())


@cache
def _file(root: Path, name: str) -> Path | None:
    place = root.joinpath(*name.split(".")[1:])
    candidates = (place / "__init__.py", place.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


@cache
def _source(path: Path) -> Source:
    """What a file holds, as it was parsed before if its bytes were."""
    content = read_bytes(path)
    key = hashlib.sha256(PARSER + content).hexdigest()
    known = _remembered()
    if key not in known:
        text = content.decode()
        own = [name for name in syntax.imports(text) if name.split(".")[0] == PACKAGE]
        known[key] = [syntax.digest(text), own]
    code, imports = known[key]
    return Source(code, tuple(imports))


@cache
def _remembered() -> dict[str, list]:
    """What earlier processes have parsed, and this one."""
    return recall(MEMORY)


def remember() -> None:
    """Write down what has been parsed in this process for the next ones; needless where nothing was."""
    if recall(MEMORY) != _remembered():
        write_json(MEMORY, _remembered())
