"""Where a report's own numbers come from: the results of its study, and what a longer study has kept."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from costtogo.files import read_csv, read_frame, read_json


class Source(Protocol):
    """The findings of one study. group is models, audits, searches or instances, name a model or a puzzle."""

    def frame(self, group: str, name: str, table: str) -> pd.DataFrame | None:
        """A table of a stage, or None where there is none."""

    def card(self, group: str, name: str) -> dict[str, Any]:
        """What a stage noted of itself, empty where it has not run; its wall-clock time is under timing."""

    def path(self, group: str, name: str, table: str) -> str:
        """Where a reader finds that table."""


@dataclass(frozen=True)
class OwnResults:
    """The results of the study that the report is about: results/<study>.

    timed: whether its wall-clock times, which differ from run to run, may be seen.
    """

    folder: Path
    timed: bool = False

    def frame(self, group: str, name: str, table: str) -> pd.DataFrame | None:
        """Read results/<study>/<group>/<name>/<table>.parquet."""
        path = self._file(group, name, table)
        return _frame(path) if path.exists() and (self.timed or group != "timings") else None

    def card(self, group: str, name: str) -> dict[str, Any]:
        """Read results/<study>/<group>/<name>.json."""
        path, timing = self.folder / group / f"{name}.json", self.folder / "timings" / group / f"{name}.json"
        card = read_json(path) if path.exists() else {}
        return card | ({"timing": read_json(timing)} if self.timed and timing.exists() else {})

    def path(self, group: str, name: str, table: str) -> str:
        """As seen from the project's root."""
        return str(Path("results", self.folder.name) / self._file(group, name, table).relative_to(self.folder))

    def _file(self, group: str, name: str, table: str) -> Path:
        if group == "timings":
            return self.folder / "timings" / "searches" / f"{name}.parquet"
        return self.folder / group / name / f"{table}.parquet"


@dataclass(frozen=True)
class KeptResults:
    """What `costtogo keep` put below data/measured of a study."""

    folder: Path
    study: str

    def frame(self, group: str, name: str, table: str) -> pd.DataFrame | None:
        """Read data/measured/<study>/<group>_<name>_<table>.csv."""
        path = self.folder / self.study / f"{group}_{name}_{table}.csv"
        return _frame(path) if path.exists() else None

    def card(self, group: str, name: str) -> dict[str, Any]:
        """The stage's entry of data/measured/<study>.json."""
        return self._cards.get(f"{group}/{name}", {})

    def path(self, group: str, name: str, table: str) -> str:
        """As seen from the project's root."""
        return str(Path("data/measured", self.study, f"{group}_{name}_{table}.csv"))

    @property
    def _cards(self) -> dict[str, Any]:
        path = self.folder / f"{self.study}.json"
        return read_json(path) if path.exists() else {}


@cache
def _frame(path: Path) -> pd.DataFrame:
    return read_csv(path) if path.suffix == ".csv" else read_frame(path)


def forget() -> None:
    """Read every table anew from now on."""
    _frame.cache_clear()
