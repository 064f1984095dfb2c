"""BWAS over λ × N with the network of a puzzle too large to list: results/<study>/searches/<model>/.

searches.parquet has a row for each instance and cell, grid.parquet one for each set, λ and N. The instances of a cell
are searched in step, so the seconds of a search are an even share of its cell's.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from costtogo.files import read_frame, write_frame
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.network import load
from costtogo.params_large import GridParams
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, random_walks
from costtogo.search.bwas import Limits, solve, why_ended
from costtogo.stages.frame import StageRun, say
from costtogo.stages.searched import describe, metrics_of, read_sets, summarise, to_rows
from costtogo.stages.tables import read_nearby

CELL = ["set", "path_weight", "batch_size"]
MEASURES = ("solved_percent", "length", "optimal_percent", "nodes_expanded", "out_of_memory_percent")


def run(params: Path, table: Path, instances: Path, model: Path, out: Path) -> None:
    """Search every cell of the grids; model is the folder of a training. Exact distances replace the network's."""
    stage = StageRun("grid", __name__, params, out, [table, instances, model / "checkpoints.parquet"])
    torch.set_num_threads(stage.parameters["threads"])
    puzzle = make(stage.parameters["puzzle"])
    sets = read_sets(puzzle, instances)
    network = load(model / read_frame(model / "checkpoints.parquet")["file"].iloc[-1])
    heuristic = NearbyHeuristic(network, read_nearby(table, puzzle))
    warm_up(puzzle, heuristic)
    frames = []
    for name, path_weight, batch_size, limits in cells([GridParams(**grid) for grid in stage.parameters["searches"]]):
        rows, starts = sets[name]
        cell, begun = {"path_weight": path_weight, "batch_size": batch_size}, time.perf_counter()
        found = solve(puzzle, heuristic, starts, **cell, limits=limits)
        seconds = time.perf_counter() - begun
        frame = to_rows(puzzle, rows, starts, found, **cell)
        frame.insert(frame.columns.get_loc("solution"), "ended", why_ended(found))
        frames.append(frame.assign(seconds=seconds / len(frame)))
        say(f"{out.name}, {name}, λ = {path_weight}, N = {batch_size:,}: {describe(frame, seconds)}")
    searches = pd.concat(frames, ignore_index=True)
    grid = summarise(searches, CELL)
    clock = searches[[*CELL, "instance", "seconds"]]
    write_frame(stage.results / "timings" / "searches" / f"{out.name}.parquet", clock)
    write_frame(out / "searches.parquet", searches.drop(columns="seconds"))
    write_frame(out / "grid.parquet", grid)
    metrics = metrics_of(grid, CELL, MEASURES)
    stage.finish([out / "searches.parquet", out / "grid.parquet"], metrics, threads=stage.parameters["threads"])


def warm_up(puzzle: Puzzle, heuristic: NearbyHeuristic) -> None:
    """A small search, so that no cell's seconds hold the loading of compiled code."""
    start = random_walks(puzzle, 1, 20, np.random.default_rng(0))[0, -1:]
    solve(puzzle, heuristic, start, path_weight=0.5, batch_size=2, limits=Limits(max_nodes=2000))


def cells(grids: list[GridParams]) -> Iterator[tuple[str, float, int, Limits]]:
    """Set, λ, N and limits of every cell."""
    for grid in grids:
        for path_weight in grid.path_weight:
            for batch_size in grid.batch_size:
                yield grid.set, path_weight, batch_size, Limits(max_nodes=grid.max_nodes)
