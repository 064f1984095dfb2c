"""Which source files a stage runs through: the closure of its imports inside this package.

The workflow makes them inputs of the stage's rule and the stage records their digest, so that a change of
code reruns what it may change. Of the puzzles a stage runs through its own alone. Tracking is left out: it sees
results, it does not make them.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from costtogo.puzzles import find

PACKAGE = "costtogo"
ROOT = Path(__file__).parent
REGISTRY = "costtogo.puzzles"  # which only finds the modules of puzzles
NOT_RESULTS = ("costtogo.tracking",)
IMPORT = re.compile(  # a line of its own, as the formatter leaves them
    rf"^[ ]*(?:import ({PACKAGE}[.\w]*)|from ({PACKAGE}[.\w]*) import (?:\(([^)]*)\)|(.*)))", re.MULTILINE
)
NAME = re.compile(r"(\w+)(?: as \w+)?")


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
    """What a file names in its imports from this package, functions' own imports too, and words that are no modules.

    Read by a pattern, for the workflow asks at each start and parsing takes ten times as long.
    """
    names = []
    for whole, module, several, one in IMPORT.findall(path.read_text()):
        names += [whole or module, *(f"{module}.{name}" for name in NAME.findall(several or one))]
    return tuple(names)
