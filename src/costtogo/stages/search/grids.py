"""BWAS over λ × N: results/<study>/searches/<model>/ with a network, results/<study>/baselines/<name>/ without.

A baseline is a heuristic that nobody trained, a pattern database or the Manhattan distance; instances, limits and
engine are those of the networks. Of either the exact distances around the goal take the place of what it says.

searches.parquet has a row for each instance and cell, grid.parquet one for each set, λ and N. The searches of a cell
go in step, where N is small with those of other cells, so the seconds of a search are its share of a whole by nodes
expanded.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.params.searches import GridParams
from costtogo.puzzles.base import Puzzle
from costtogo.search import bwas
from costtogo.search.bwas import Limits
from costtogo.search.replayed import warm_up
from costtogo.stages.search.loading import Sets, index_of, load_heuristic, load_network, read_ends, read_sets
from costtogo.stages.search.running import finish_cells, run_searches
from costtogo.stages.stage_run import StageRun
from costtogo.types import Heuristic

STATES_IN_STEP = 4096  # that one call of the network evaluates at about the same speed for each
CELL = ["set", "path_weight", "batch_size"]
MEASURES = ("solved_percent", "length", "optimal_percent", "nodes_expanded", "out_of_memory_percent")


def run(
    params: Path, out: Path, table: Path, instances: Path, model: Path | None = None, database: Path | None = None
) -> None:
    """Search every cell of the grids with the network of a training, whose folder model is, or with a baseline.

    database: the file of the pattern database, if the baseline is one.
    """
    inputs = [table, instances, database, model and index_of(model)]
    stage = StageRun("grid" if model else "baselines", __name__, params, out, inputs)
    puzzle, asked = stage.puzzle, stage.parameters
    found = load_network(model, stage.device) if model else load_heuristic(puzzle, asked["heuristic"], database)
    heuristic = NearbyHeuristic(found, read_ends(stage, table))
    grids = [GridParams(**values) for values in asked["searches"]]
    finish_cells(stage, search_grids(puzzle, heuristic, read_sets(puzzle, instances), grids), CELL, MEASURES)


def search_grids(puzzle: Puzzle, heuristic: Heuristic, sets: Sets, grids: list[GridParams]) -> Iterator[pd.DataFrame]:
    """The rows of some cells after another, until all cells of all grids are searched."""
    small = {"path_weight": 0.5, "batch_size": 2, "limits": Limits(max_nodes=2000)}
    warm_up(puzzle, partial(bwas.solve, puzzle, heuristic, **small))
    for grid in grids:
        instances, starts = sets[grid.set]
        for batch_size in grid.batch_size:
            for weights in in_step(grid.path_weight, batch_size * len(starts)):
                cell = {"path_weight": np.repeat(weights, len(starts)), "batch_size": batch_size}
                search = partial(bwas.solve, puzzle, heuristic, **cell, limits=Limits(max_nodes=grid.max_nodes))
                every = pd.concat([instances] * len(weights))
                yield run_searches(puzzle, search, every, np.tile(starts, (len(weights), 1)), **cell)


def in_step(path_weights: list[float], states: int) -> list[list[float]]:
    """The λ whose cells are searched together: as many as one call of the network holds, each with so many states."""
    together = max(1, STATES_IN_STEP // states)
    return [path_weights[first : first + together] for first in range(0, len(path_weights), together)]
