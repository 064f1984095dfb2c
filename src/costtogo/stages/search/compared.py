"""Local value iteration and the other solvers on the same random boards: results/<study>/compared/<puzzle>.parquet.

A row for each solver and board; the optimum is that of IDA* over the pattern database. Each board is solved alone, and
the seconds are among the timings.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.heuristics.tile_sums import TileSumHeuristic
from costtogo.learning import local_vi
from costtogo.learning.local_vi import Local
from costtogo.params.searches import MANHATTAN
from costtogo.progress import say
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.search import bwas, ida_star
from costtogo.search.ida_star import IdaLimits
from costtogo.search.replayed import Search
from costtogo.stages.local_vi import random_boards
from costtogo.stages.search.loading import index_of, load_heuristic, load_network
from costtogo.stages.search.running import describe, run_alone
from costtogo.stages.stage_run import StageRun
from costtogo.types import Heuristic, States

OPTIMAL = "ida_star_pattern_database"
RENAMED = {"cost": "length", "distance": "optimal"}
COLUMNS = ["solver", "instance", "state", "length", "nodes_generated", "optimal"]


def run(params: Path, out: Path, model: Path, database: Path) -> None:
    """Solve the boards by all solvers; model is the folder of a training, database a file.  out ends in .parquet."""
    stage = StageRun("local_vi_compared", __name__, params, out, [index_of(model), database])
    puzzle, asked = stage.puzzle, stage.parameters["compared"]
    starts = random_boards(puzzle, asked["boards"], np.random.default_rng(stage.parameters["seed"]))
    boards = pd.DataFrame({"set": "random", "instance": np.arange(len(starts)), "distance": np.nan})
    frames = {}
    network, optimal = load_network(model, stage.device), load_heuristic(puzzle, OPTIMAL, database)
    for name, search in solvers(puzzle, starts, network, optimal, stage.parameters["sizes"], asked).items():
        for start in starts[:2]:
            search(start[None])  # so that no time holds the loading of compiled code
        with stage.part(name):
            frames[name] = run_alone(puzzle, search, boards, starts, name, solver=name)
        say(f"{name}: {describe(frames[name])}")
        if name == OPTIMAL:
            boards["distance"] = frames[name]["cost"]
    frames[OPTIMAL] = frames.pop(OPTIMAL).assign(distance=boards["distance"])
    found = pd.concat(frames.values(), ignore_index=True).rename(columns=RENAMED)
    found["length"] = found["length"].where(found["solved"])
    found["state"] = [puzzle.format_state(start) for start in starts] * len(frames)
    metrics = {f"{name}_length": rows["length"].mean() for name, rows in found.groupby("solver")}
    stage.finish_tables({"": found[COLUMNS]}, metrics, found[["solver", "instance", "seconds"]])


def solvers(
    puzzle: SlidingTiles,
    boards: States,
    network: Heuristic,
    database: TileSumHeuristic,
    sizes: list[int],
    asked: dict,
) -> dict[str, Search]:
    """What solves one board, by name, the exact one first; boards: for which value functions are made at once."""
    named: dict[str, Search] = {OPTIMAL: partial(ida_star.solve, puzzle, database)}
    for size in sizes:
        local = Local(puzzle, size)
        local.solve(boards)
        named[f"local_vi_{size}"] = partial(local_vi.solve, puzzle, local)
    setting = {name: asked[name] for name in ("path_weight", "batch_size")}
    named["bwas_network"] = partial(bwas.solve, puzzle, network, **setting)
    manhattan, limits = load_heuristic(puzzle, MANHATTAN), IdaLimits(asked["max_generated"])
    named["ida_star_manhattan"] = partial(ida_star.solve, puzzle, manhattan, limits=limits)
    return named
