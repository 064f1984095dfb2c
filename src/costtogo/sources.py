"""Which source files a stage runs through, the closure of its imports inside this package, and their digest.

Of a puzzle of another package, the imports inside that package count too; of every module, a table of its name beside
it, as literature/quantities.csv.

The key of a stage holds the digest, so that a change of code makes anew what it may change. Comments, docstrings and
formatting are no code. Of the puzzles a stage runs through its own alone. Tracking is left out, and so is what decides
which stages are made: they see results, they do not make them.
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
REGISTRY = "costtogo.puzzles"  # which only finds the modules of puzzles
NOT_RESULTS = ("costtogo.tracking", "costtogo.recipes", "costtogo.sources", "costtogo.syntax")
TABLE = ".csv"  # of the numbers and names that a module reads as it is imported
# What has been parsed, by the digest of the bytes and of what parses them: parsing takes long.
PARSER = read_bytes(syntax.__file__)
MEMORY = Path(".snakemake/costtogo/sources.json")


class Source(NamedTuple):
    """What a source file holds: the digest of its code and the modules that it imports."""

    code: str
    imports: tuple[str, ...]


def code_of(module: str, others: Iterable[str] = ()) -> dict[str, str]:
    """The digest of the code of each file that a module such as costtogo.stages.train runs through, itself among them.

    By the file's path below the package, sorted; of other packages by the path below outside/.
    others: modules that it imports by name.
    """
    found = {_place(path, start): _source(path).code for start in (module, *others) for path in _closure(ROOT, start)}
    return dict(sorted(found.items()))


def _place(path: Path, start: str) -> str:
    """The name of a file that a module runs through.  -> "puzzles/cube.py", "outside/their_package/rules.py"."""
    if path.is_relative_to(ROOT):
        return path.relative_to(ROOT).as_posix()
    return f"outside/{path.relative_to(_folder_of(start.split('.')[0])).as_posix()}"


def digest_of(code: dict[str, str]) -> str:
    """SHA-256 over what code_of returns."""
    return hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()


@cache
def _closure(root: Path, module: str) -> frozenset[Path]:
    """The file of a module and those of all it imports, of its own package and of this one, and their tables."""
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
    """The folder that another package, or a module alone, lies in."""
    spec = find_spec(package)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise UserError(f"The package {package} has no source file, and a stage depends on the code it runs through.")
    path = Path(spec.origin)
    return path.parents[1] if path.name == "__init__.py" else path.parent


@cache
def _source(path: Path) -> Source:
    """What a file holds, as it was parsed before if its bytes were."""
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
    """What earlier processes have parsed, and this one."""
    return recall(MEMORY)


def remember() -> None:
    """Write down what has been parsed in this process for the next ones; needless where nothing was."""
    if recall(MEMORY) != _remembered():
        write_json(MEMORY, _remembered())
