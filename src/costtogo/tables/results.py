"""The results of a study as its report reads them: its own, below results/, or those kept below data/measured/.

Everything that a stage left has an address, its place below the study's folder without suffix:

    searches/<model>/grid        a table          own: results/<study>/searches/<model>/grid.parquet
                                                  kept: rows of data/measured/<study>/searches.csv
    optima/<puzzle>              the one table of a stage that has no other
    timings/searches/<model>     the seconds of its searches; seen only where results are timed, or kept
    models/<model>               a card           own: results/<study>/models/<model>.json
                                                  kept: an entry of data/measured/<study>.json
    tables/<puzzle>              states at each distance, where all are listed; own: of tables/<puzzle>.npz

StudyResults(folder, params) is made once, where a report begins, and handed on; it also has the study's parameters, so
that nothing else takes the study. Of a large table a report sees an extract, which is also what is kept of it
(costtogo.tables.extracts).

    results.frame(address)       a table; FileError where there is none      results.find_frame(address)    or None
    results.whole(address)       all that a stage left of it, or arrays by name, as figures need it
    results.card(address)        what a stage noted; FileError likewise      results.find_card(address)     or {}
    results.run(address)         the key of its run in MLflow
    results.metric(address, name)    a number that a stage measured; NaN where it has not run
    results.place(address)       where a reader finds a table, from the project's root
    results.kept(study)          what another study has kept
    results.kept_on(*puzzles)    what each study that its report shows has kept of some puzzles
    results.with_times()         the same results with their wall-clock times
    results.study                the study's name
    results.puzzles[puzzle]      what the study asks of a puzzle: its instances, searches, audit …
    results.of(puzzle)           the same results, of one puzzle alone, or of several
    results.puzzle, .asked       the puzzle of a study of one, and what is asked of it
    results.models[puzzle]       the names of the models of a puzzle
    results.model(name)          the parameters of a training; .model_names, .trained
    results.of_each(names, address)   a table of each name, one under the other; "beams/{}/grid"
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from costtogo.cards import KEYED, short_key
from costtogo.files import FileError, read_arrays, read_frame, read_json
from costtogo.params.base import TrainingName
from costtogo.params.study import Study
from costtogo.tables import extracts
from costtogo.tables.kept import (
    CAPTIONS,
    MEASURED,
    REPORT,
    REPORTED,
    RESULTS,
    cards_kept,
    file_of,
    kept_of,
    outdated,
    tables_kept,
)
from costtogo.tables.rows import KeptRows, rows_of
from costtogo.types import UserError

CARDS = (  # the groups of the stages whose cards the report lists
    *("tables", "pattern_databases", "instances", "optima", "models", "audits", "searches"),
    *("baselines", "footprints", "beams", "external"),
)
TIMES, TABLE = "timings", "table"
NO_MEASURES = (TIMES, "resume", "figures", "report")  # folders of no stage, or of one that measures nothing
ARRAYS = ".npz"  # the suffix of files of arrays; tables are Parquet
Tables = dict[str, pd.DataFrame]  # of a report, by the stems of their files
Find = TypeVar("Find", bound=Callable[["StudyResults"], Any])


@dataclass(frozen=True)
class References:
    """What a report shows with a study's results; the defaults are the project's own.

    reported: the literature's numbers and listings.  measured: what longer studies kept.  captions: of the figures.
    """

    reported: Path = REPORTED
    measured: Path = MEASURED
    captions: Path = CAPTIONS


@dataclass(frozen=True)
class StudyResults:
    """The results of one study, each file read once.

    folder: results/<study>, or data/measured/<study> of kept results.  params: the study's parameters, None of what
    another study has kept.  references: what is shown with them.  timed: whether wall-clock times, which differ from
    run to run, may be seen.  only: the puzzles that are looked at, all of the study if None.  seed: of trainings that
    were made with several, the one that represents the study; 0 for that of its headline.
    """

    folder: Path
    params: Any = None
    references: References = References()
    timed: bool = False
    is_kept: bool = False
    only: tuple[str, ...] | None = None
    seed: int = 0
    _found: dict[tuple, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_kept(cls, folder: Path) -> "StudyResults":
        """What `costtogo publish` put into data/measured/<study> and the JSON file of that name, for another report."""
        return cls(folder, is_kept=True)

    @classmethod
    def to_write_again(cls, study: str, references: References = References()) -> "StudyResults":
        """The same, for the study's own report; UserError where a study was not kept with its report."""
        kept = cls.of_kept(references.measured / study).find_card(REPORT)
        if not kept:
            raise UserError(
                f"{references.measured} has no report of the study {study}: run it, then `costtogo publish {study}`."
            )
        if not tables_kept(references.measured / f"{study}.json"):
            raise UserError(f"{references.measured / study} is of an earlier form: it has a file for each model.")
        return cls(references.measured / study, Study(**kept["parameters"]), references, is_kept=True)

    def kept(self, study: str) -> "StudyResults":
        """What another study has kept, empty where it has not."""
        return self._once(("kept", study), lambda: StudyResults.of_kept(self.references.measured / study))

    def kept_on(self, *puzzles: str) -> list["StudyResults"]:
        """What each study that this one's report shows has kept of some puzzles."""
        paths = kept_of(self.params, puzzles, self.references.measured)
        return [self.kept(path.stem) for path in paths]

    def with_times(self) -> "StudyResults":
        """The same results with their wall-clock times; what was read is not read again."""
        return replace(self, timed=True)

    def of(self, *puzzles: str) -> "StudyResults":
        """The same results of some puzzles alone, with their models and what the study asks of them."""
        return replace(self, only=puzzles)

    def of_seed(self, seed: int) -> "StudyResults":
        """The same results where the trainings with another seed represent the study."""
        return replace(self, seed=seed)

    @property
    def study(self) -> str:
        """The study's name."""
        return self.folder.name

    # Tables and arrays

    def frame(self, address: str) -> pd.DataFrame:
        """A table of a stage; FileError where there is none."""
        return self._once((TABLE, address), lambda: self._table(address))

    def _table(self, address: str) -> pd.DataFrame:
        if self.is_kept:
            return self._kept_rows.table(address)
        content, kind = self.whole(address), extracts.kind_of(address)
        if kind == "models/errors":
            return extracts.of_errors(content, self.frame(f"tables/{self.model(address.split('/')[1]).puzzle}"))
        return extracts.EXTRACTS.get(kind, pd.DataFrame)(content)

    def whole(self, address: str) -> Any:
        """A table as the stage left it, or its arrays by name; of kept results what was kept.  FileError if missing."""
        if self.is_kept:
            return self.frame(address)
        file = self.file(address)
        return read_arrays(file) if file.suffix == ARRAYS else read_frame(file)

    @property
    def tables_read(self) -> dict[str, pd.DataFrame]:
        """The tables that have been asked for so far, by address."""
        return {key[1]: found for key, found in self._found.items() if key[0] == TABLE}

    def find_frame(self, address: str) -> pd.DataFrame | None:
        """A table of a stage; None where there is none that may be seen.

        The searches of external instances may be seen as long as the model has the network that they were made with.
        """
        hidden = address.startswith(f"{TIMES}/") and not self._sees_times
        if self.is_kept and self.params is None and "/" in address:
            hidden = extracts.kind_of(address) not in extracts.FOR_OTHERS
        if hidden or not (self._kept_rows.has(address) if self.is_kept else self.file(address).exists()):
            return None
        _, external, name = address.rpartition("external/")
        return None if external and not self._is_current(name.partition("/")[0]) else self.frame(address)

    def keeps(self, address: str) -> bool:
        """Whether a table was kept with the report."""
        return self.is_kept and self._kept_rows.has(address)

    @property
    def _kept_rows(self) -> KeptRows:
        return self._once(("rows", self.folder), lambda: rows_of(self.folder))

    @property
    def _json(self) -> Path:
        """The JSON of a kept study."""
        return self.folder.with_name(f"{self.study}.json")

    @property
    def _sees_times(self) -> bool:
        return self.timed or self.params is None

    def _is_current(self, model: str) -> bool:
        return self.params is None or (self.has(f"external/{model}") and not outdated(model, self.find_card))

    def of_each(self, names: Iterable[str], address: str) -> pd.DataFrame:
        """A table of each that has it, one under the other; {} of the address is the name, which becomes a column.

        Column model, first: the name.  Without rows where none has it.
        """
        found = {name: self.find_frame(address.format(name)) for name in names}
        frames = [frame.assign(model=name)[["model", *frame]] for name, frame in found.items() if frame is not None]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def has(self, address: str) -> bool:
        """Whether a stage has left its card, so that it has run."""
        return bool(self.find_card(address))

    def place(self, address: str, suffix: str | None = None) -> str:
        """Where a reader finds a table, or a file of another suffix, as seen from the project's root."""
        if self.params is None:
            return str(MEASURED / self.study / file_of(address))
        return str(RESULTS / self.study / f"{address}{'.parquet' if suffix is None else suffix}")

    def file(self, address: str) -> Path:
        """The file of a table of the study's own."""
        return self.folder / f"{address}{ARRAYS if extracts.kind_of(address) in extracts.ARRAYS else '.parquet'}"

    # Cards

    def card(self, address: str) -> dict[str, Any]:
        """What a stage noted of itself, its wall-clock times under timing where they may be seen; FileError if none.

        The address timings/models/<model> is of these times alone.
        """
        if found := self.find_card(address):
            return found
        raise FileError(f"{self.folder / address}.json is missing: run the study again.")

    def find_card(self, address: str) -> dict[str, Any]:
        """The same, empty where the stage has not run."""
        if address.startswith(f"{TIMES}/"):
            return self.find_card(address.removeprefix(f"{TIMES}/")).get("timing", {})
        entry = self._entry(address)
        card = {name: value for name, value in entry.items() if name != "timing" or self._sees_times}
        return card if set(card) != {"timing"} else {}

    def metric(self, address: str, name: str) -> float:
        """A number that a stage measured; NaN where it has not run."""
        return self.find_card(address).get("metrics", {}).get(name, math.nan)

    def run(self, address: str) -> str:
        """The key of a stage's run in MLflow; empty where the stage has not run, or where too little is kept of it."""
        card = self.find_card(address)
        return short_key(card) if KEYED <= card.keys() else ""

    @cached_property
    def cards(self) -> dict[str, dict[str, Any]]:
        """The cards of all stages that a report draws on, by address."""
        found = [place for place, entry in self._entries.items() if set(entry) != {"timing"}]
        groups = dict.fromkeys([*CARDS, *(group for asked in self.puzzles.values() for group in asked.by_group)])
        places = [place for group in groups for place in sorted(found, key=_in_order) if place.startswith(f"{group}/")]
        return {place: self.find_card(place) for place in places}

    @cached_property
    def stages(self) -> dict[str, dict[str, Any]]:
        """The cards of all stages that have measured something, by address."""
        places = [place for place in sorted(self._entries, key=_in_order) if place.split("/")[0] not in NO_MEASURES]
        return {place: card for place in places if (card := self.find_card(place))}

    @cached_property
    def timings(self) -> dict[str, dict[str, Any]]:
        """What each stage noted of its run, by address: seconds, threads, processor …"""
        found = {place: entry["timing"] for place, entry in self._entries.items() if entry.get("timing")}
        return {place: found[place] for place in sorted(found, key=_in_order)}

    @property
    def _entries(self) -> dict[str, dict[str, Any]]:
        """The card of each stage, and under timing what it noted of its run, by address."""
        if self.is_kept:
            return self._once(("entries", self._json), lambda: cards_kept(self._json)) if self._json.exists() else {}
        return self._once(("entries", self.folder), self._own_entries)

    def _own_entries(self) -> dict[str, dict[str, Any]]:
        """The same from the files of the stages themselves."""
        return {place: self._entry(place) for place in self._places}

    @property
    def _places(self) -> list[str]:
        """The addresses of the stages that have left a card or a clock."""
        if self.is_kept:
            return [*self._entries]
        paths = [*self.folder.glob("*/*.json"), *(self.folder / TIMES).glob("*/*.json")]
        return [f"{path.parent.name}/{path.stem}" for path in paths]

    def _entry(self, address: str) -> dict[str, Any]:
        """The card of one stage; of the study's own results it alone is read, for other stages may be running."""
        if self.is_kept:
            return self._entries.get(address, {})
        return self._once(("entry", address), lambda: self._own_entry(address))

    def _own_entry(self, address: str) -> dict[str, Any]:
        card, times = self.folder / f"{address}.json", self.folder / TIMES / f"{address}.json"
        entry = read_json(card) if card.exists() else {}
        return entry | ({"timing": read_json(times)} if times.exists() else {})

    def _once(self, key: tuple, read: Callable[[], Any]) -> Any:
        if key not in self._found:
            self._found[key] = read()
        return self._found[key]

    # Parameters

    @cached_property
    def puzzles(self) -> dict[str, Any]:
        """What the study asks of each puzzle, by the puzzle's name, the smaller of a kind first."""
        if self.params is None:
            return {}
        shown = sorted(self.params.puzzles if self.only is None else self.only, key=by_size)
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
    def listed(self) -> list[str]:
        """The puzzles of the study whose states are all listed, the smaller first."""
        return sorted(self.params.listed, key=by_size)

    @cached_property
    def models(self) -> dict[str, list[str]]:
        """The names of the models by puzzle, the smaller puzzle of a kind first; without puzzles that have none."""
        return {puzzle: list(asked.models) for puzzle, asked in self.puzzles.items() if asked.models}

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

    # What the searches of a puzzle that can be listed go by

    @property
    def headline_model(self) -> str:
        """The model that is compared with the literature where one puzzle's states are sampled."""
        return self.with_seed(self.asked.headline or min(self.model_names))

    @cached_property
    def trainings(self) -> dict[str, TrainingName]:
        """The variant and the seed of each training that the study asks for or that has run, by its name."""
        ran = (place.partition("/")[2] for place in self._places if place.startswith("models/"))
        asked = () if self.params is None else self.params.models
        return {name: TrainingName.of(name) for name in (*asked, *ran)}

    def seeds_of(self, variant: str) -> dict[int, str]:
        """The trainings of a variant by seed, the first seed first: that of seed 0 alone if it was not repeated."""
        found = {name.seed: model for model, name in self.trainings.items() if name.variant == variant}
        return {seed: found[seed] for seed in sorted(found)}

    def with_seed(self, model: str) -> str:
        """The training of a model that has this view's seed; the model itself where it was trained with one seed."""
        name = self.trainings[model]
        return self.seeds_of(name.variant)[self.seed] if name.seed and self.seed else model

    def headline_cell(self, puzzle: str) -> dict[str, Any]:
        """set, path_weight and batch_size of the search by which each model of a puzzle is compared."""
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
        if self.params.puzzles[self.model(model).puzzle].is_exhaustive:
            return self.selected_iteration(model)
        return int(self.frame(f"models/{model}/checkpoints")["iteration"].iloc[-1])


def once(find: Find) -> Find:
    """Have a function of results, which takes nothing else, look into each only once."""

    @wraps(find)
    def found(results: StudyResults):
        return results._once((find, results.timed, results.only, results.seed), lambda: find(results))

    return found


def alike(frame: pd.DataFrame, row: Mapping[str, Any], *names: str) -> pd.DataFrame:
    """The rows of a frame that have the numbers or texts of one in some columns, as far as it has any there."""
    for name in names:
        if isinstance(row[name], str):
            frame = frame[frame[name] == row[name]]
        elif not math.isnan(row[name]):
            frame = frame[np.isclose(frame[name], row[name])]
    return frame


def _in_order(address: str) -> tuple[str, str]:
    """A key that sorts stages as their files."""
    group, name = address.split("/")
    return group, f"{name}.json"


def by_size(name: str) -> tuple[int, str]:
    """A key that sorts hanoi_9 before hanoi_10."""
    return len(name), name


START = "start"  # the instance set that holds the start state alone
