"""Draw an entry of the catalogue: the only module that reads results for figures and writes their files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from costtogo.collecting import collect
from costtogo.figures.catalogue import KINDS, FigureEntry, listed
from costtogo.figures.style import FIGURES, Figure, image
from costtogo.files import read_csv, write_bytes
from costtogo.tables.kept import name_of
from costtogo.tables.results import StudyResults

collect("costtogo.figures")


def draw(entry: FigureEntry, results: StudyResults) -> Figure:
    """Draw a figure of a study's results.  FileError where a file that it needs is missing or damaged."""
    source = results.kept(entry.study) if entry.study else results
    given = {argument: _content(addresses, source.whole) for argument, addresses in entry.tables.items()}
    given |= {argument: _content(addresses, source.card) for argument, addresses in entry.cards.items()}
    if entry.documents:
        given["reported"] = pd.concat(map(read_csv, entry.documents))
    return FIGURES[entry.kind](**given, **entry.options)


def _content(addresses: str | list[str], read: Callable[[str], Any]) -> Any:
    """The content of an address; for several addresses, by the names of their models or baselines."""
    if isinstance(addresses, str):
        return read(addresses)
    return {name_of(address): read(address) for address in addresses}


def files_of(entry: FigureEntry, results: StudyResults) -> list[Path]:
    """All files that a figure reads; results: the study's own."""
    own = [results.file(address) for address in entry.own_tables]
    return own + [results.folder / f"{address}.json" for address in listed(entry.cards)] + [*map(Path, entry.files)]


def write(entry: FigureEntry, results: StudyResults, reports: Path) -> list[Path]:
    """Draw a figure and write it in every kind below the study's reports; returns its files."""
    picture, paths = draw(entry, results), [reports / entry.file(kind) for kind in KINDS]
    for path, kind in zip(paths, KINDS, strict=True):
        write_bytes(path, image(picture, kind))
    return paths
