"""From an entry of the catalogue to its files: the one place that reads for figures, and the one that writes them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from costtogo.collecting import collect
from costtogo.figures.catalogue import KINDS, FigureEntry
from costtogo.figures.style import FIGURES, Figure, image
from costtogo.files import read_arrays, read_csv, read_frame, read_json, write_bytes
from costtogo.tables.rows import rows_of

collect("costtogo.figures")
Read = Callable[[Path], Any]
READERS = {".parquet": read_frame, ".npz": read_arrays, ".json": read_json, ".csv": read_csv}


def of_file(path: Path) -> Any:
    """What a file holds, by its suffix."""
    return READERS[path.suffix](path)


def draw(entry: FigureEntry, results: Path, read: Read = of_file) -> Figure:
    """Draw a figure; results: the study's folder.  read: gives what a file of the study's holds.

    Raises FileError where a file that it needs is missing or damaged.
    """
    given = {argument: _content(paths, results, read) for argument, paths in entry.reads.items()}
    given |= {argument: _content(paths, Path(), of_file) for argument, paths in entry.files.items()}
    return FIGURES[entry.kind](**given, **entry.options)


def _content(paths: str | list[list[str]], folder: Path, read: Read) -> Any:
    """What a file below a folder holds; of several files, by their names."""
    if isinstance(paths, list):
        return {name: _content(path, folder, read) for name, path in paths}
    file, _, kept = paths.partition("#")
    path = folder / file
    return rows_of(path.parent).table(kept) if kept else read(path)


def write(entry: FigureEntry, results: Path, reports: Path, read: Read = of_file) -> list[Path]:
    """Draw a figure and write it in every kind below the study's reports; returns its files."""
    picture, paths = draw(entry, results, read), [reports / entry.file(kind) for kind in KINDS]
    for path, kind in zip(paths, KINDS, strict=True):
        write_bytes(path, image(picture, kind))
    return paths
