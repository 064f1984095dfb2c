"""The rows of a kept study as git holds them: data/measured/<study>/, a table for each kind of stage.

    models.csv, audits.csv, timings.csv     what trainings, audits and clocks left
    searches.csv                            what all solvers found
    puzzles.csv                             the rest: states by distance, instance sets, footprints …

Columns stage, "searches/DNN_0", and table, "grid", say whose rows they are; a column that a table does not have is
empty there. The study's JSON has the columns of each table, under TABLES. A table of all trainings of a study, such as
variants, is a file of its own.
"""

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from costtogo.files import FileError, parse_csv, read_csv, write_csv
from costtogo.tables.kept import file_of, tables_kept, whose

WHOSE = ["stage", "table"]  # the first columns
COLUMNS, TEXTS, COUNT = "columns", "texts", "rows"
Told = Mapping[str, Mapping[str, Any]]  # by address COLUMNS of a table, TEXTS, those that are texts, and COUNT


def rows_of(folder: Path) -> "KeptRows":
    """The tables of a kept study; folder: data/measured/<study>.  Without tables where there is no such study."""
    told = folder.with_name(f"{folder.name}.json")
    return KeptRows(folder, tables_kept(told) if told.exists() else {})


class KeptRows:
    """The tables of a kept study, each file read once.  folder: data/measured/<study>.  told: as the JSON has it."""

    def __init__(self, folder: Path, told: Told):
        self.folder, self.told = folder, told
        self._files: dict[str, dict[tuple[str, str], pd.DataFrame]] = {}

    def has(self, address: str) -> bool:
        """Whether a table was kept."""
        return address in self.told if "/" in address else (self.folder / file_of(address)).exists()

    def table(self, address: str) -> pd.DataFrame:
        """A table that was kept; FileError where its file or its rows are missing."""
        path = self.folder / file_of(address)
        if not path.exists():
            raise FileError(f"{path} is missing, which the study was kept with: git checkout {path} restores it.")
        if "/" not in address:
            return read_csv(path)
        if address not in self.told:
            raise FileError(f"{self.folder} has no rows of {address}: run the study again, and publish it.")
        texts = self.told[address].get(TEXTS, [])
        content = self.text(address).to_csv(index=False).encode()
        return parse_csv(path, content, dtype=dict.fromkeys(texts, str)).fillna(dict.fromkeys(texts, ""))

    def text(self, address: str) -> pd.DataFrame:
        """The same with its cells as they are written."""
        path, columns = self.folder / file_of(address), self.told[address][COLUMNS]
        rows = self._rows(path).get(tuple(whose(address)), pd.DataFrame(columns=columns))
        if not {*columns} <= {*rows} or len(rows) != self.told[address][COUNT]:
            raise FileError(f"{path} is damaged: it has not all of {address}; git checkout {path} restores it.")
        return rows[columns]

    def _rows(self, path: Path) -> dict[tuple[str, str], pd.DataFrame]:
        """All rows of a file as text, by stage and table."""
        if path.name not in self._files:
            whole = read_csv(path, dtype=str, keep_default_na=False)
            if not {*WHOSE} <= {*whole}:
                raise FileError(f"{path} is damaged: it has no column {WHOSE[0]}; git checkout {path} restores it.")
            self._files[path.name] = dict(iter(whole.groupby(WHOSE, sort=False)))
        return self._files[path.name]


def write_rows(folder: Path, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Write tables, by address and as as_text returns them, into the files of their groups.  Returns the files."""
    files: dict[Path, list[pd.DataFrame]] = {}
    for address, frame in sorted(tables.items()):
        named = frame.assign(**dict(zip(WHOSE, whose(address), strict=True)))
        files.setdefault(folder / file_of(address), []).append(named[[*WHOSE, *frame]])
    for path, frames in files.items():
        write_csv(path, pd.concat(frames, ignore_index=True).fillna(""))
    return [*files]


def as_text(frame: pd.DataFrame, form: str | None = None) -> pd.DataFrame:
    """The cells of a frame as CSV has them; what is missing is empty.  form: of its floats, such as "%.6g"."""
    content = frame.to_csv(index=False, float_format=form)
    return pd.read_csv(io.StringIO(content), dtype=str, keep_default_na=False)


def told_of(frame: pd.DataFrame, texts: Iterable[str] = ()) -> dict[str, Any]:
    """What the JSON says of a table.  texts: its columns of text, which are read as such."""
    return {COLUMNS: [*frame], COUNT: len(frame)} | ({TEXTS: [*texts]} if texts else {})
