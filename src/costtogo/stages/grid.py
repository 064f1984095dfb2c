"""BWAS over λ × N with the network of a puzzle too large to list: results/<study>/searches/<model>/.

searches.parquet has a row for each instance and cell, grid.parquet one for each set, λ and N. The searches of a cell
go in step, where N is small with those of other cells, so the seconds of a search are its share of a whole by nodes
expanded.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.params.searches import GridParams
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, random_walks
from costtogo.search.bwas import Limits, solve, why_ended
from costtogo.stages.search_records import describe, finish, last_network, read_sets, to_rows
from costtogo.stages.stage_run import StageRun, say
from costtogo.stages.tables import read_nearby
from costtogo.types import States

STATES_IN_STEP = 4096  # that one call of the network evaluates at about the same speed for each
CELL = ["set", "path_weight", "batch_size"]
MEASURES = ("solved_percent", "length", "optimal_percent", "nodes_expanded", "out_of_memory_percent")


def run(params: Path, table: Path, instances: Path, model: Path, out: Path) -> None:
    """Search every cell of the grids; model is the folder of a training. Exact distances replace the network's."""
    stage = StageRun("grid", __name__, params, out, [table, instances, model / "checkpoints.parquet"])
    torch.set_num_threads(stage.parameters["threads"])
    puzzle = make(stage.parameters["puzzle"])
    sets = read_sets(puzzle, instances)
    network = last_network(model, stage.parameters["device"])
    search_cells(stage, out, NearbyHeuristic(network, read_nearby(table, puzzle)), sets)


def search_cells(stage: StageRun, out: Path, heuristic: NearbyHeuristic, sets: dict) -> None:
    """Search every cell of the stage's grids with a heuristic, and finish; sets: of search_records.read_sets."""
    puzzle, frames = heuristic.puzzle, []
    warm_up(puzzle, heuristic)
    for grid in (GridParams(**values) for values in stage.parameters["searches"]):
        for batch_size in grid.batch_size:
            for weights in in_step(grid.path_weight, batch_size * len(sets[grid.set][0])):
                found = search(
                    puzzle, heuristic, *sets[grid.set], weights, batch_size, Limits(max_nodes=grid.max_nodes)
                )
                for (_, path_weight, _), cell in found.groupby(CELL, sort=False):
                    say(f"{out.name}, {grid.set}, λ = {path_weight}, N = {batch_size:,}: {describe(cell)}")
                frames.append(found)
    finish(stage, out, pd.concat(frames, ignore_index=True), CELL, MEASURES)


def warm_up(puzzle: Puzzle, heuristic: NearbyHeuristic) -> None:
    """A small search, so that no cell's seconds hold the loading of compiled code."""
    start = random_walks(puzzle, 1, 20, np.random.default_rng(0))[0, -1:]
    solve(puzzle, heuristic, start, path_weight=0.5, batch_size=2, limits=Limits(max_nodes=2000))


def in_step(path_weights: list[float], states: int) -> list[list[float]]:
    """The λ whose cells are searched together: as many as one call of the network holds, each with so many states."""
    together = max(1, STATES_IN_STEP // states)
    return [path_weights[first : first + together] for first in range(0, len(path_weights), together)]


def search(
    puzzle: Puzzle, heuristic, instances: pd.DataFrame, starts: States, weights: list[float], batch_size: int, limits
) -> pd.DataFrame:
    """Some cells of one N in step, one row a search; its seconds are its share of all by nodes expanded."""
    every = pd.concat([instances] * len(weights), ignore_index=True)
    cell = {"path_weight": np.repeat(weights, len(instances)), "batch_size": batch_size}
    begun = time.perf_counter()
    found = solve(puzzle, heuristic, np.tile(starts, (len(weights), 1)), **cell, limits=limits)
    seconds = time.perf_counter() - begun
    frame = to_rows(puzzle, every, np.tile(starts, (len(weights), 1)), found, **cell)
    frame.insert(frame.columns.get_loc("solution"), "ended", why_ended(found))
    return frame.assign(seconds=seconds * found.nodes_expanded / max(1, found.nodes_expanded.sum()))
