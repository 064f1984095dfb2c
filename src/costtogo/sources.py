"""The source files that a stage depends on, the closure of its imports inside this package, and their digest.

For a puzzle of another package, the imports inside that package count too. For every module, a table next to it with
the same name counts, such as literature/quantities.csv.

The key of a stage contains the digest, so a change of code runs again the stages it may affect. Comments, docstrings
and formatting do not count. Of the puzzles, a stage depends only on its own. Tracking does not count, and neither does
the code that decides which stages run: they do not make results.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from costtogo import syntax
from costtogo.files import read_bytes, recall, write_json
from costtogo.types import UserError

PACKAGE = "costtogo"
ROOT = Path(__file__).parent
REGISTRY = "costtogo.puzzles"  # only finds the modules of puzzles
NOT_RESULTS = ("costtogo.tracking", "costtogo.recipes", "costtogo.sources", "costtogo.syntax")
TABLE = ".csv"  # numbers and names that a module reads when it is imported
# Parsing is slow, so results are kept by the digest of the file's bytes and of the parser.
PARSER = read_bytes(syntax.__file__)
MEMORY = Path(".snakemake/costtogo/sources.json")


class Source(NamedTuple):
    """The content of a source file: the digest of its code and the modules that it imports."""

    code: str
    imports: tuple[str, ...]


def code_of(module: str, others: Iterable[str] = ()) -> dict[str, str]:
    """The digest of each file that a module such as costtogo.stages.train depends on, including its own.

    By the file's path below the package, sorted; for other packages by the path below outside/.
    others: modules that it imports by name.
    """
    found = {_place(path, start): _source(path).code for start in (module, *others) for path in _closure(ROOT, start)}
    return dict(sorted(found.items()))


def _place(path: Path, start: str) -> str:
    """The name of a file that a module depends on.  -> "puzzles/cube.py", "outside/their_package/rules.py"."""
    if path.is_relative_to(ROOT):
        return path.relative_to(ROOT).as_posix()
    return f"outside/{path.relative_to(_folder_of(start.split('.')[0])).as_posix()}"


def digest_of(code: dict[str, str]) -> str:
    """SHA-256 of the result of code_of."""
    return hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()


@cache
def _closure(root: Path, module: str) -> frozenset[Path]:
    """The files of a module and of all its imports, in its own package and in this one, and their tables."""
    packages = {PACKAGE, module.split(".")[0]}
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
            waiting += [name for name in _source(path).imports if name.split(".")[0] in packages]
    tables = {table for path in found.values() if (table := path.with_suffix(TABLE)).is_file()}
    return frozenset({*found.values(), *tables})


@cache
def _file(root: Path, name: str) -> Path | None:
    package, *parts = name.split(".")
    place = (root if package == PACKAGE else _folder_of(package) / package).joinpath(*parts)
    candidates = (place / "__init__.py", place.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


@cache
def _folder_of(package: str) -> Path:
    """The folder of another package, or of a single module."""
    spec = find_spec(package)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise UserError(f"The package {package} has no source file, and a stage depends on the code it runs through.")
    path = Path(spec.origin)
    return path.parents[1] if path.name == "__init__.py" else path.parent


@cache
def _source(path: Path) -> Source:
    """The content of a file, from an earlier parse if its bytes are the same."""
    content = read_bytes(path)
    if path.suffix == TABLE:
        return Source(hashlib.sha256(content).hexdigest(), ())
    key = hashlib.sha256(PARSER + content).hexdigest()
    known = _remembered()
    if key not in known:
        text = content.decode()
        known[key] = [syntax.digest(text), syntax.imports(text)]
    code, imports = known[key]
    return Source(code, tuple(imports))


@cache
def _remembered() -> dict[str, list]:
    """Everything that earlier processes and this one have parsed."""
    return recall(MEMORY)


def remember() -> None:
    """Save what this process has parsed for later ones; does nothing if there is nothing new."""
    if recall(MEMORY) != _remembered():
        write_json(MEMORY, _remembered())
