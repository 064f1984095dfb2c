"""What stages that search begin with: heuristics by name, and instance sets."""

from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.exact.nearby import Ends, GoalAlone
from costtogo.files import FileError, read_frame
from costtogo.heuristics import network
from costtogo.heuristics.network import NetworkHeuristic
from costtogo.heuristics.zero import zero
from costtogo.params.searches import ZERO
from costtogo.puzzles import find, made
from costtogo.puzzles.base import Puzzle
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_nearby
from costtogo.types import Heuristic, States

Sets = dict[str, tuple[pd.DataFrame, States]]  # by name: rows, and their states uint8 [N, D]


def load_heuristic(puzzle: Puzzle, name: str, database: Path | None = None) -> Heuristic:
    """A heuristic that nobody trained, by its name: manhattan (with linear conflicts), matching, pairs, zero, or that
    of a pattern database.

    database: the file of a pattern database, which may have any name.
    They are named by the puzzle's family, so that other puzzles do not run through their modules.
    """
    family = find(puzzle.name)[0]
    if database is not None:
        return made(family.database)(puzzle, database)
    if name == ZERO:
        return zero
    if name not in family.bounds:
        raise ValueError(f"there is no heuristic {name}")
    return made(family.bounds[name])(puzzle)


def load_network(model: Path, device: str, iteration: int | None = None) -> NetworkHeuristic:
    """A checkpoint of a training, whose folder model is: the last, or that of an iteration."""
    return network.load(checkpoint(model, iteration), device=device)


def read_ends(stage: StageRun, table: Path) -> Ends:
    """The exact distances around the goal that a search may end in: those of the table or, where the study says so,
    that of the goal alone."""
    return GoalAlone(stage.puzzle) if stage.parameters.get("goal_alone") else read_nearby(table, stage.puzzle)


def index_of(model: Path) -> Path:
    """The file that names the checkpoints of a training, whose folder model is."""
    return model / "checkpoints.parquet"


def checkpoint(model: Path, iteration: int | None = None) -> Path:
    """The file of a checkpoint of a training, whose folder model is: the last, or that of an iteration."""
    index = read_frame(index_of(model))
    chosen = index if iteration is None else index[index["iteration"] == iteration]
    return model / chosen["file"].iloc[-1]


def read_sets(puzzle: Puzzle, path: Path) -> Sets:
    """The instance sets of a file."""
    frame = read_frame(path)
    if missing := sorted({"set", "instance", "state", "distance"} - set(frame.columns)):
        raise FileError(f"{path} has no column {missing[0]}; draw the instances again.")
    return {
        name: (rows.reset_index(drop=True), np.array([puzzle.parse_state(text) for text in rows["state"]]))
        for name, rows in frame.groupby("set", sort=False)
    }
