"""What a study's heuristics need: results/<study>/footprints/<puzzle>.parquet has the memory of each in bytes.

Their speed is among the timings: seconds for the children of a state, asked for one state and for many at a time
(DeepCubeA, tables 2 and 3).
"""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.files import read_tensors
from costtogo.heuristics.children import child_costs
from costtogo.learning.instances import draw_walk_ends
from costtogo.progress import say
from costtogo.puzzles import levels_of
from costtogo.puzzles.base import Puzzle
from costtogo.stages.search.loading import checkpoint, index_of, load_heuristic, load_network
from costtogo.stages.stage_run import StageRun
from costtogo.types import States

STATES = 1000  # that the speed is the mean of
AT_A_TIME = (1, STATES)
WALKS = (1000, 10_000)  # moves from the goal, as DeepCubeA draws its states


def run(params: Path, out: Path, model: Sequence[Path] = (), database: Sequence[Path] = ()) -> None:
    """Measure every heuristic; model: the folder of each training, database: the file of each pattern database."""
    read = [*map(index_of, model), *database]
    stage = StageRun("footprints", __name__, params, out, read)
    puzzle, files = stage.puzzle, {path.stem: path for path in database}
    states = draw_states(puzzle, stage.parameters["seed"], stage.parameters.get("boxes", 0))
    rows, clock = [], []
    for folder in model:
        network = load_network(folder, stage.device)
        rows.append({"heuristic": folder.name, "bytes": network_bytes(folder)})
        clock += [{"heuristic": folder.name, **row} for row in speeds(puzzle, network, states)]
    for name in stage.parameters["baselines"]:
        heuristic = load_heuristic(puzzle, name, files.get(name))
        rows.append({"heuristic": name, "bytes": table_bytes(heuristic)})
        clock += [{"heuristic": name, **row} for row in speeds(puzzle, heuristic, states)]
    for row, slow, fast in zip(rows, clock[::2], clock[1::2], strict=True):
        each = f"{slow['seconds']:.2g} s a state, {fast['seconds']:.2g} s in a batch"
        say(f"{row['heuristic']}: {row['bytes']:,} bytes, {each}")
    metrics = {f"{row['heuristic']}_bytes": row["bytes"] for row in rows}
    stage.finish_tables({"": pd.DataFrame(rows)}, metrics, pd.DataFrame(clock))


def draw_states(puzzle: Puzzle, seed: int, boxes: int) -> States:
    """States that the speed is measured on, uint8 [STATES, D]: scrambled ones, or starts of levels with boxes."""
    if not puzzle.one_goal:
        return levels_of(puzzle).draw(STATES, boxes, seed, "selection")
    return draw_walk_ends(puzzle, STATES, WALKS, np.random.default_rng(seed))


def network_bytes(model: Path) -> int:
    """Bytes of the weights of the last checkpoint of a training, as they are stored."""
    tensors, _ = read_tensors(checkpoint(model))
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def table_bytes(heuristic) -> int:
    """Bytes of the tables that are looked up; 0 where there are none, or only those of the level searched."""
    return getattr(heuristic, "nbytes", 0)


def speeds(puzzle: Puzzle, heuristic, states: States) -> list[dict]:
    """Seconds for the children of a state, by how many states are asked for at a time."""
    rows, children = [], getattr(heuristic, "children", partial(child_costs, puzzle, cost_to_go=heuristic))
    for count in AT_A_TIME:
        children(states[:count])  # loads compiled code
        begun = time.perf_counter()
        for first in range(0, len(states), count):
            children(states[first : first + count])
        rows.append({"states_at_a_time": count, "seconds": (time.perf_counter() - begun) / len(states)})
    return rows
