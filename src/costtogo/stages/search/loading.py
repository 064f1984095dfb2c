"""What stages that search begin with: heuristics by name, and instance sets."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from costtogo.files import FileError, read_frame
from costtogo.heuristics import network, table
from costtogo.puzzles import find, make
from costtogo.puzzles.base import Puzzle
from costtogo.stages.stage_run import StageRun
from costtogo.types import Heuristic, States

Sets = dict[str, tuple[pd.DataFrame, States]]  # by name: rows, and their states uint8 [N, D]


def begin(name: str, module: str, params: Path, out: Path, *read: Path | None) -> tuple[StageRun, Puzzle]:
    """The run of a stage, as StageRun, and the puzzle it is about; read: its files, None for what it is not given."""
    stage = StageRun(name, module, params, out.with_suffix(""), [path for path in read if path is not None])
    torch.set_num_threads(stage.parameters.get("threads", torch.get_num_threads()))
    return stage, make(stage.parameters["puzzle"])


def load_heuristic(
    puzzle: Puzzle,
    name: str,
    *,
    model: Path | None = None,
    iteration: int | None = None,
    database: Path | None = None,
    distance: np.ndarray | None = None,
    device: str = "cpu",
) -> Heuristic:
    """The heuristic of a name: network, manhattan (with linear conflicts), exact, zero, or that of a pattern database.

    model: the folder of the network's training.  iteration: of its checkpoint, the last if left out.
    database: the file of a pattern database, which may have any name.  distance: of every state, for exact.
    Those that only some puzzles have are named by the puzzle's family, so that others do not run through their modules.
    """
    family = find(puzzle.name)[0]
    if database is not None:
        return _made(family.database)(puzzle, database)
    match name:
        case "network":
            return network.load(checkpoint(model, iteration), device=device)
        case "exact":
            return table.exact(puzzle, distance)
        case "zero":
            return table.zero(puzzle)
        case "manhattan":
            return _made(family.bound)(puzzle)
    raise ValueError(f"there is no heuristic {name}")


def _made(place: tuple[str, str]) -> Callable[..., Heuristic]:
    module, maker = place
    return getattr(import_module(f"costtogo.{module}"), maker)


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
