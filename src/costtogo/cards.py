"""The part of a finished stage's card that is kept, and the key made from it.

The key names a result: reports print it, and the stage's run in MLflow carries it. A card among the results and the one
that `costtogo publish` put into git give the same key.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, TypeAlias

Card: TypeAlias = dict[str, Any]

KEY_FIELDS = ("stage", "study", "name", "parameters", "inputs", "code")
KEYED = {*KEY_FIELDS}  # the fields of every card with a key
SHOWN = 12  # hexadecimal digits of a key in reports
CHECKPOINTS = "/checkpoints/"


def few(files: dict[str, str]) -> dict[str, str]:
    """Digests by path, without the files of single networks; their index, checkpoints.parquet, stays.

    External instances have a path relative to their folder, wherever it is.
    """
    return {_place(path): found for path, found in files.items() if CHECKPOINTS not in path}


def _place(path: str) -> str:
    """A project file keeps its path; a file of external instances gets one without the location of its folder."""
    return f"$COSTTOGO_EXTERNAL/{Path(path).name}" if Path(path).is_absolute() else path


def key_of(card: Card, **more: str) -> str:
    """SHA-256 of everything that decides a stage's result: parameters, digests of its inputs, code, and `more`."""
    fields = {field: card[field] for field in KEY_FIELDS} | more
    text = json.dumps(fields | {"inputs": few(card["inputs"])}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def made_by(study: str, stage: str) -> str:
    """The command that makes a stage, by its address, and what it needs."""
    return f"snakemake --cores all results/{study}/{stage}.json"


def short_key(card: Card) -> str:
    """The digits of a card's key that reports print and `costtogo track --open` takes."""
    return key_of(card)[:SHOWN]
