"""Instance sets of a puzzle with exact distances: results/<study>/instances/<puzzle>.parquet."""

from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.files import write_frame
from costtogo.learning.instances import draw_sets
from costtogo.params import InstanceParams
from costtogo.puzzles import make
from costtogo.stages.frame import StageRun
from costtogo.stages.tables import read_table

SMALL = 100_000  # states; below it selection sets may share states with test sets, else little would be left


def run(params: Path, table: Path, out: Path) -> None:
    """Draw every set; columns set, role, instance, rank, state (text), distance."""
    stage = StageRun("instances", __name__, params, out.with_suffix(""), [table])
    puzzle = make(stage.parameters["puzzle"])
    distance = read_table(table, puzzle)
    sets = {name: InstanceParams(**values) for name, values in stage.parameters["instances"].items()}
    drawn = draw_sets(puzzle, sets, distance, stage.parameters["seed"], disjoint=puzzle.state_count > SMALL)
    frames = [_frame(puzzle, name, sets[name].role, ranks, distance) for name, ranks in drawn.items()]
    write_frame(out, pd.concat(frames, ignore_index=True))
    stage.finish([out], {name: len(ranks) for name, ranks in drawn.items()})


def _frame(puzzle, name: str, role: str, ranks: np.ndarray, distance: np.ndarray) -> pd.DataFrame:
    states = [puzzle.format_state(state) for state in puzzle.unrank(ranks)]
    return pd.DataFrame(
        {
            "set": name,
            "role": role,
            "instance": np.arange(len(ranks)),
            "rank": ranks,
            "state": states,
            "distance": distance[ranks].astype(np.int64),
        }
    )
