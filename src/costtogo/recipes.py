"""Recipes: everything that decides a stage's result; their keys; and the marks of finished stages.

A recipe holds the stage's slice of the parameters, the digests of its code and of the files that no stage makes, and
the keys of the stages it reads from. Its digest is the key; no result enters it. The Snakefile writes each recipe to
.snakemake/costtogo/recipes/<study>/<group>/<name>.<key>.json, a cache whose files never change. A finished stage leaves
results/<study>/done/<group>/<name>.<key>.done. So a changed parameter asks for another mark, and a parameter changed
back finds the old one: file dates play no part.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from costtogo.files import FileError, digest, json_text, read_json, read_text, write_json, write_text
from costtogo.params.study import files_of, modules_of
from costtogo.sources import code_of
from costtogo.types import UserError

RECIPES = Path(".snakemake/costtogo/recipes")
PLAN = "COSTTOGO_PLAN"  # the recipe of the last stage of the running study
KEY_LENGTH = 12  # hexadecimal digits
NAME = re.compile(r"(?P<name>.+)\.(?P<key>[0-9a-f]{12})(?:\.(?P<time>\d+))?")


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the result of a stage.

    parameters: its slice.  code: the digest of each source file it depends on.  inputs: the key of each stage that it
    reads from, by "<study>/<group>/<name>".  files: the digest of each file that no stage makes.
    """

    parameters: dict[str, Any]
    code: dict[str, str]
    inputs: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        """The recipe as JSON."""
        return json_text({part.name: getattr(self, part.name) for part in fields(self)})

    @cached_property
    def key(self) -> str:
        """The first digits of the digest of the text."""
        return key_of(self.text)

    def write(self, folder: Path, name: str, time: int = 1, within: Path = RECIPES) -> Path:
        """Write the recipe of the stage that makes folder/name, unless it exists; returns the file.

        folder: results/<study>/<group>.  time: the number of times the stage was made with this key, counted from 1.
        """
        path = within / folder.parent.name / folder.name / f"{stem(name, self.key, time)}.json"
        if _text_of(path) != self.text:
            write_text(path, self.text)
        return path


def key_of(text: str) -> str:
    """The key of a recipe's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]


def stem(name: str, key: str, time: int = 1) -> str:
    """The file name of a recipe and of a mark, without suffix."""
    return f"{name}.{key}" + (f".{time}" if time > 1 else "")


def _text_of(path: Path) -> str:
    """The text of a file, empty if it cannot be read."""
    try:
        return read_text(path)
    except FileError:
        return ""


def read_recipe(path: Path) -> Recipe:
    """Read a recipe; FileError if it is damaged."""
    text = read_text(path)
    found = NAME.fullmatch(path.stem)
    if found is None or key_of(text) != found["key"]:
        raise FileError(f"{path} is damaged: start snakemake again, which writes it anew.")
    return Recipe(**read_json(path))


def puzzle_files(recipe: Recipe) -> list[Path]:
    """The files that describe the puzzles of a stage."""
    return files_of(recipe.parameters)


def refuse_others(recipe: Recipe, module: str, subject: str) -> None:
    """UserError if the code is no longer the recipe's; module: of the stage; subject: the stage in the message."""
    now = code_of(module, modules_of(recipe.parameters))
    if now != recipe.code:
        changed = sorted(name for name, _ in now.items() ^ recipe.code.items())
        raise UserError(
            f"The code of {subject} has changed since the workflow was started ({shortened(changed)}): "
            "start snakemake again."
        )


def shortened(names: list[str], most: int = 3) -> str:
    """Names in a row, only the first if there are many.  -> "a.py, b.py, c.py and 4 more"."""
    names = list(dict.fromkeys(names))
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


@dataclass(frozen=True)
class Mark:
    """The mark of a finished stage: its file, and the parts of the file's name."""

    path: Path
    name: str
    key: str
    time: int

    @classmethod
    def of(cls, path: Path) -> "Mark | None":
        """The mark in a file, from the file's name; None for another file."""
        found = NAME.fullmatch(path.stem) if path.suffix == ".done" else None
        return cls(path, found["name"], found["key"], int(found["time"] or 1)) if found else None

    @property
    def content(self) -> dict[str, Any]:
        """The digests of the card, of each code file and of each file of wall-clock times; FileError if damaged."""
        match read_json(self.path):
            case {"card": str(), "code": dict(), "timings": dict()} as content:
                return content
        raise FileError(f"{self.path} is damaged")


def marks(folder: Path, name: str | None = None) -> list[Mark]:
    """The marks of the stages that make folder/<name>, or of one stage, newest last.

    folder: results/<study>/<group>.
    """
    found = (Mark.of(path) for path in sorted((folder.parent / "done" / folder.name).glob("*.done")))
    chosen = [mark for mark in found if mark is not None and name in (None, mark.name)]
    return sorted(chosen, key=lambda mark: mark.time)


def mark_path(folder: Path, name: str, key: str, time: int = 1) -> Path:
    """The path of a stage's mark; folder: results/<study>/<group>."""
    return folder.parent / "done" / folder.name / f"{stem(name, key, time)}.done"


def progress(environment: Mapping[str, str]) -> str:
    """How many stages of the running study are finished; empty if COSTTOGO_PLAN names no recipe.

    -> "; 19 of 21 stages of smoke are finished"
    """
    plan = Path(environment.get(PLAN, ""))
    if not plan.is_file():
        return ""
    inputs = read_recipe(plan).inputs
    stages = [(Path("results", *place.split("/")), key) for place, key in inputs.items()]
    found = sum(key in [mark.key for mark in marks(path.parent, path.name)] for path, key in stages)
    return f"; {found} of {len(inputs) + 1} stages of {plan.parents[1].name} are finished"


def begin(folder: Path, name: str) -> None:
    """Remove the marks and the card of a stage that is about to run: it is unfinished until it ends.

    FileError if they cannot be removed.
    """
    for path in [*(mark.path for mark in marks(folder, name)), folder / f"{name}.json"]:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise FileError(f"Cannot replace {path}: {error.strerror}; make it writable, then run again.") from error


def finish(recipe: Path, folder: Path, card: Path, timings: list[Path]) -> Path:
    """Write the mark of a finished stage; recipe: its file; timings: its files of wall-clock times."""
    path = folder.parent / "done" / folder.name / f"{recipe.stem}.done"
    code = read_recipe(recipe).code
    clocks = {str(clock): digest(clock) for clock in timings}
    write_json(path, {"card": digest(card), "code": code, "timings": clocks})
    return path
