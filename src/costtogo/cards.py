"""What is kept of the card of a finished stage, and the key that follows from it.

The key names a result: reports print it, and the run of the stage in MLflow bears it. It is the same whether it is made
of the card that lies among the results or of the one that `costtogo publish` has put into git.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, TypeAlias

Card: TypeAlias = dict[str, Any]

KEY_FIELDS = ("stage", "study", "name", "parameters", "inputs", "code")
KEYED = {*KEY_FIELDS}  # the fields of a card that has a key
SHOWN = 12  # hexadecimal digits of a key that reports print
CHECKPOINTS = "/checkpoints/"


def few(files: dict[str, str]) -> dict[str, str]:
    """Digests by path without those of single networks; that of their index, checkpoints.parquet, stays.

    External instances, wherever their folder is, are named as seen from it.
    """
    return {_place(path): found for path, found in files.items() if CHECKPOINTS not in path}


def _place(path: str) -> str:
    """A file of the project by its path; another, of the folder of external instances, without where that lies."""
    return f"$COSTTOGO_EXTERNAL/{Path(path).name}" if Path(path).is_absolute() else path


def key_of(card: Card, **more: str) -> str:
    """SHA-256 of what decides a stage's result: parameters, digests of what it read, code; more: what else does."""
    fields = {field: card[field] for field in KEY_FIELDS} | more
    text = json.dumps(fields | {"inputs": few(card["inputs"])}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def short_key(card: Card) -> str:
    """The digits of a card's key that reports print, and `costtogo track --open` takes."""
    return key_of(card)[:SHOWN]
