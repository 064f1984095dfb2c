"""Results of a made-up study for the answers to the literature: a few tables and cards, by address."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from kept_studies import keep

from costtogo.files import write_arrays, write_csv, write_frame, write_json
from costtogo.params.study import PuzzleParams, Study
from costtogo.tables.results import References, StudyResults

REPORTED = Path(__file__).parents[1] / "data/reported"


class MadeUp:
    """A study of the 2×2×2 cube, written when its results are requested.

    tables, cards: by address.  layers: states at each distance, if it has an exact table.  models: their parameters.
    """

    def __init__(self, folder: Path, *models: str, name: str = "made_up"):
        self.folder, self.measured = folder / "results" / name, folder / "measured"
        self.tables: dict[str, pd.DataFrame] = {}
        self.cards: dict[str, dict] = {}
        self.layers: list[int] = []
        self.models = {model: SimpleNamespace(puzzle="cube2") for model in models}

    def results(self, timed: bool = True) -> StudyResults:
        """The results in the form that the report reads."""
        for address, frame in self.tables.items():
            write_frame(self.folder / f"{address}.parquet", frame)
        for address, card in self.cards.items():
            write_json(self.folder / f"{address}.json", card)
        if self.layers:
            distance = np.repeat(np.arange(len(self.layers)), self.layers)
            write_arrays(self.folder / "tables/cube2.npz", distance=distance)
        asked = {"cube2": PuzzleParams.model_construct(exact="all")}
        study = Study.model_construct(
            study=self.folder.name,
            seed=1,
            threads=1,
            puzzles=asked,
            models=self.models,
            architectures={},
            beside=["final_year_report", "seeds", "thesis"],
        )
        return StudyResults(self.folder, study, References(REPORTED, self.measured), timed=timed)

    def keep(self, name: str) -> None:
        """Keep all of it as a study with this name."""
        self.results()
        alone = {address: frame for address, frame in self.tables.items() if "/" not in address}
        folder = keep(self.measured, name, self.cards, {each: self.tables[each] for each in self.tables.keys() - alone})
        for address, frame in alone.items():
            write_csv(folder / f"{address}.csv", frame)
