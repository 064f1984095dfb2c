"""The location of the CSV files of external instances: the folder that COSTTOGO_EXTERNAL names, else data/external.

They are not part of the project, and nothing is trained or chosen on them; the README says where to get them.
"""

import os
from pathlib import Path

from costtogo.types import UserError

VARIABLE = "COSTTOGO_EXTERNAL"
DEFAULT = Path("data/external")


def folder() -> Path:
    """The folder of the files: the one that the environment names, else data/external."""
    return Path(os.environ.get(VARIABLE) or DEFAULT)


def find(name: str) -> Path:
    """The path of a file; UserError if the folder or the file is missing."""
    place = folder()
    advice = f"set {VARIABLE} to the folder that has {name}, or import the originals as the README says"
    if not place.is_dir():
        raise UserError(f"There is no folder {place} of external instances: {advice}.")
    if not (place / name).is_file():
        raise UserError(f"The folder {place} of external instances has no {name}: {advice}.")
    return place / name
