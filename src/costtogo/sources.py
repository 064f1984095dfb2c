"""Which source files a stage runs through: the closure of its imports inside this package.

The workflow makes them inputs of the stage's rule and the stage records their digest, so that a change of
code reruns what it may change. Of the puzzles a stage runs through its own alone. Tracking is left out: it sees
results, it does not make them.
"""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from costtogo.puzzles import find

PACKAGE = "costtogo"
ROOT = Path(__file__).parent
REGISTRY = "costtogo.puzzles"  # which only finds the modules of puzzles
NOT_RESULTS = ("costtogo.tracking",)


def sources(module: str, puzzles: Iterable[str] = ()) -> list[Path]:
    """The files of a module such as costtogo.stages.train and of all it imports from this package, sorted.

    puzzles: names of those that the module makes.
    """
    found: dict[str, Path] = {}
    families = [find(puzzle)[0] for puzzle in puzzles]
    waiting = [module, *(f"{REGISTRY}.{family.made[0]}" for family in families)]
    waiting += [f"{PACKAGE}.{family.bound[0]}" for family in families if family.bound]
    while waiting:
        name = waiting.pop()
        if name in found or name == REGISTRY or name.startswith(NOT_RESULTS):
            continue
        path = _file(ROOT, name)
        if path is not None:
            found[name] = path
            waiting += _imports(path)
    return sorted(found.values())


def code_digest(module: str, puzzles: Iterable[str] = ()) -> str:
    """SHA-256 over the sources of a module that makes some puzzles, names included."""
    total = hashlib.sha256()
    for path in sources(module, puzzles):
        total.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


@cache
def _file(root: Path, name: str) -> Path | None:
    place = root.joinpath(*name.split(".")[1:])
    candidates = (place / "__init__.py", place.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """Modules of this package that a file names in its imports, functions' own imports too."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(name for name in names if name.split(".")[0] == PACKAGE)
