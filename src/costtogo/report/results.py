"""The results of a study as its report reads them: its own, below results/, or those kept below data/measured/.

Everything that a stage left has an address, its place below the study's folder without suffix:

    searches/<model>/grid        a table          own: results/<study>/searches/<model>/grid.parquet
                                                  kept: data/measured/<study>/searches_<model>_grid.csv
    optima/<puzzle>              the one table of a stage that has no other
    timings/searches/<model>     the seconds of its searches; seen only where results are timed, or kept
    models/<model>               a card           own: results/<study>/models/<model>.json
                                                  kept: an entry of data/measured/<study>.json
    tables/<puzzle>              arrays           own: results/<study>/tables/<puzzle>.npz

StudyResults(folder, params) is made once, where a report begins, and handed on; it also has the study's parameters, so
that nothing else takes the study:

    results.frame(address)       a table; FileError where there is none      results.find(address)       or None
    results.card(address)        what a stage noted; FileError likewise      results.find_card(address)  or {}
    results.arrays(address)      named arrays, {} where there are none
    results.place(address)       where a reader finds a table, from the project's root
    results.kept(study)          what another study has kept
    results.with_times()         the same results with their wall-clock times
    results.study                the study's name
    results.puzzles[puzzle]      what the study asks of a puzzle: its instances, searches, audit …
    results.of(puzzle)           the same results, of one puzzle alone, or of several
    results.puzzle, .asked       the puzzle of a study of one, and what is asked of it
    results.models[puzzle]       the names of the models of a puzzle
    results.model(name)          the parameters of a training; .model_names, .trained, .puzzle_of(name), .lineage(name)
    results.of_each(names, address)   a table of each name, one under the other; "beams/{}/grid"
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from costtogo.analysis.documents import MEASURED, REPORTED
from costtogo.figures.catalogue import outdated
from costtogo.files import FileError, read_arrays, read_csv, read_frame, read_json

CARDS = (  # the groups of the stages whose cards the report lists
    *("tables", "pattern_databases", "instances", "optima", "models", "audits", "searches"),
    *("baselines", "footprints", "beams", "external"),
)
TIMES = "timings"
Tables = dict[str, pd.DataFrame]  # of a report, by the stems of their files
RESULTS = Path("results")


Find = TypeVar("Find", bound=Callable[["StudyResults"], Any])


@dataclass(frozen=True)
class Beside:
    """What stands beside a study's results in its report; the defaults are the project's own.

    reported: the literature's numbers and listings.  measured: what longer studies kept.  captions: of the figures.
    """

    reported: Path = REPORTED
    measured: Path = MEASURED
    captions: Path = Path("workflow/captions")


@dataclass(frozen=True)
class StudyResults:
    """The results of one study, each file read once.

    folder: results/<study>, or data/measured/<study> of kept results.  params: the study's parameters, None of kept
    results.  beside: what stands beside them.  timed: whether wall-clock times, which differ from run to run, may be
    seen.  only: the puzzles that are looked at, all of the study if None.
    """

    folder: Path
    params: Any = None
    beside: Beside = Beside()
    timed: bool = False
    is_kept: bool = False
    only: tuple[str, ...] | None = None
    _found: dict[tuple, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_kept(cls, folder: Path) -> "StudyResults":
        """What `costtogo keep` put into data/measured/<study> and the JSON file of that name."""
        return cls(folder, is_kept=True)

    def kept(self, study: str) -> "StudyResults":
        """What another study has kept, empty where it has not."""
        return self._once(self.beside.measured / study, StudyResults.of_kept)

    def with_times(self) -> "StudyResults":
        """The same results with their wall-clock times; what was read is not read again."""
        return replace(self, timed=True)

    def of(self, *puzzles: str) -> "StudyResults":
        """The same results as far as they are of some puzzles, their models and what is asked of them."""
        return replace(self, only=puzzles)

    @property
    def study(self) -> str:
        """The study's name."""
        return self.folder.name

    # Tables and arrays

    def frame(self, address: str) -> pd.DataFrame:
        """A table of a stage; FileError where there is none."""
        return self._once(self._file(address), read_csv if self.is_kept else read_frame)

    def find(self, address: str) -> pd.DataFrame | None:
        """A table of a stage; None where there is none that may be seen.

        The searches of external instances may be seen as long as the model has the network that they were made with.
        """
        hidden = address.startswith(f"{TIMES}/") and not (self.timed or self.is_kept)
        if hidden or not self._file(address).exists():
            return None
        _, external, name = address.rpartition("external/")
        return None if external and not self._is_current(name.partition("/")[0]) else self.frame(address)

    def _is_current(self, model: str) -> bool:
        return self.is_kept or (self.has(f"external/{model}") and not outdated(model, self.find_card))

    def of_each(self, names: Iterable[str], address: str) -> pd.DataFrame:
        """A table of each that has it, one under the other; {} of the address is the name, which becomes a column.

        Column model, first: the name.  Without rows where none has it.
        """
        found = {name: self.find(address.format(name)) for name in names}
        frames = [frame.assign(model=name)[["model", *frame]] for name, frame in found.items() if frame is not None]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def arrays(self, address: str) -> dict[str, np.ndarray]:
        """The arrays of a stage, empty where it has left none."""
        path = self.folder / f"{address}.npz"
        return self._once(path, read_arrays) if path.exists() else {}

    def has(self, address: str) -> bool:
        """Whether a stage has left its card, so that it has run."""
        return bool(self.find_card(address))

    def place(self, address: str, suffix: str | None = None) -> str:
        """Where a reader finds a table, or a file of another suffix, as seen from the project's root."""
        file = self._file(address) if suffix is None else self.folder / f"{address}{suffix}"
        return str((MEASURED if self.is_kept else RESULTS) / self.study / file.relative_to(self.folder))

    def _file(self, address: str) -> Path:
        if not self.is_kept:
            return self.folder / f"{address}.parquet"
        group, *names = address.split("/")
        return self.folder / f"{'_'.join([group, *(reversed(names) if group == TIMES else names)])}.csv"

    # Cards

    def card(self, address: str) -> dict[str, Any]:
        """What a stage noted of itself, its wall-clock times under timing where they may be seen; FileError if none."""
        if found := self.find_card(address):
            return found
        raise FileError(f"{self.folder / address}.json is missing: run the study again.")

    def find_card(self, address: str) -> dict[str, Any]:
        """The same, empty where the stage has not run."""
        if self.is_kept:
            return self.cards.get(address, {}) if self.folder.with_name(f"{self.study}.json").exists() else {}
        path, clock = self.folder / f"{address}.json", self.folder / TIMES / f"{address}.json"
        if not path.exists():
            return {}
        card = self._once(path, read_json)
        return card | ({"timing": self._once(clock, read_json)} if self.timed and clock.exists() else {})

    @cached_property
    def cards(self) -> dict[str, dict[str, Any]]:
        """The cards of all stages that a report draws on, by address."""
        if self.is_kept:
            return self._once(self.folder.with_name(f"{self.study}.json"), read_json)
        paths = [path for group in CARDS for path in sorted((self.folder / group).glob("*.json"))]
        return {f"{path.parent.name}/{path.stem}": self._once(path, read_json) for path in paths}

    def _once(self, path: Path, read: Callable[[Path], Any]) -> Any:
        key = (read, path)
        if key not in self._found:
            self._found[key] = read(path)
        return self._found[key]

    # Parameters

    @cached_property
    def puzzles(self) -> dict[str, Any]:
        """What the study asks of each puzzle, by the puzzle's name."""
        if self.params is None:
            return {}
        shown = self.params.puzzles if self.only is None else self.only
        return {puzzle: self.params.about(puzzle) for puzzle in shown}

    @property
    def puzzle(self) -> str:
        """The puzzle of a study that has one."""
        return next(iter(self.puzzles))

    @property
    def asked(self) -> Any:
        """What the study asks of that puzzle."""
        return self.puzzles[self.puzzle]

    @property
    def is_exhaustive(self) -> bool:
        """Whether all states of that puzzle are listed."""
        return self.asked.is_exhaustive

    @property
    def listed(self) -> list[str]:
        """The puzzles of the study whose states are all listed, the smaller first."""
        return sorted(self.params.listed, key=by_size)

    @cached_property
    def models(self) -> dict[str, list[str]]:
        """The names of the models by puzzle, the smaller puzzle of a kind first; without puzzles that have none."""
        by_puzzle = {puzzle: list(self.puzzles[puzzle].models) for puzzle in sorted(self.puzzles, key=by_size)}
        return {puzzle: models for puzzle, models in by_puzzle.items() if models}

    @property
    def model_names(self) -> list[str]:
        """Those of all puzzles."""
        return [model for models in self.models.values() for model in models]

    @property
    def trained(self) -> list[str]:
        """Those whose training is finished."""
        return [model for model in self.model_names if self.has(f"models/{model}")]

    def training(self, model: str) -> dict[str, Any]:
        """The parameters of a training in plain values: as its card has them, or as they are if it has not run."""
        card = self.find_card(f"models/{model}")
        return card["parameters"]["training"] if card else self.model(model).model_dump()

    def model(self, name: str) -> Any:
        """The parameters of a training."""
        return self.params.models[name]

    def puzzle_of(self, model: str) -> str:
        """The puzzle that a model is trained for."""
        return self.model(model).puzzle

    def lineage(self, model: str) -> list[str]:
        """The models whose trainings led to one, in their order, itself the last."""
        start = self.model(model).starts_from
        return [model] if start is None else [*self.lineage(start), model]

    # What the searches of a puzzle that can be listed go by

    def headline(self, puzzle: str) -> dict[str, Any]:
        """set, path_weight and batch_size of the search that stands for each model of a puzzle."""
        return self.card(f"searches/{self.models[puzzle][0]}")["parameters"]["search"]["headline"]

    def selected_iteration(self, model: str) -> int:
        """The iteration of the checkpoint that the searches of a model use."""
        selection = self.frame(f"searches/{model}/selection")
        chosen = selection.loc[selection["selected"], "iteration"]
        if chosen.size != 1:
            raise FileError(
                f"searches/{model}/selection.parquet selects {chosen.size} checkpoints; it must select one."
            )
        return int(chosen.iloc[0])

    def searched_iteration(self, model: str) -> int:
        """The iteration of the checkpoint that a model's searches use: the chosen one, or the last."""
        if self.of(self.puzzle_of(model)).is_exhaustive:
            return self.selected_iteration(model)
        return int(self.frame(f"models/{model}/checkpoints")["iteration"].iloc[-1])


def once(find: Find) -> Find:
    """Have a function of results, which takes nothing else, look into each only once."""

    @wraps(find)
    def found(results: StudyResults):
        key = (find, results.timed, results.only)
        if key not in results._found:
            results._found[key] = find(results)
        return results._found[key]

    return found


def by_size(name: str) -> tuple[int, str]:
    """A key that sorts hanoi_9 before hanoi_10."""
    return len(name), name
