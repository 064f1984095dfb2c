"""BWAS over λ × N: results/<study>/searches/<model>/ with a network, results/<study>/baselines/<name>/ without.

A baseline is a heuristic that nobody trained, a pattern database or the Manhattan distance; instances, limits and
engine are those of the networks. Of either the exact distances around the goal take the place of what it says.

The searches of a cell go in step, where N is small with those of other cells, so the seconds of a search are its share
of a whole by nodes expanded.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.params.searches import GridParams
from costtogo.search import bwas
from costtogo.search.bwas import Limits
from costtogo.search.replayed import warm_up
from costtogo.stages.search.cells import Given, Searches, search_all
from costtogo.stages.search.loading import index_of, load_heuristic, load_network, read_ends
from costtogo.stages.stage_run import StageRun

STATES_IN_STEP = 4096  # that one call of the network evaluates at about the same speed for each


def run(
    params: Path, out: Path, table: Path, instances: Path, model: Path | None = None, database: Path | None = None
) -> None:
    """Search every cell of the grids with the network of a training, whose folder model is, or with a baseline.

    database: the file of the pattern database, if the baseline is one.
    """
    inputs = [table, instances, database, model and index_of(model)]
    stage = StageRun("grid" if model else "baselines", __name__, params, out, inputs)
    puzzle, asked = stage.puzzle, [GridParams(**values) for values in stage.parameters["searches"]]
    name = stage.parameters.get("heuristic")
    found = load_network(model, stage.device) if model else load_heuristic(puzzle, name, database)
    heuristic, small = NearbyHeuristic(found, read_ends(stage, table)), Limits(max_nodes=2000)
    warm_up(puzzle, partial(bwas.solve, puzzle, heuristic, path_weight=0.5, batch_size=2, limits=small))
    search_all(stage, asked, searches, instances, heuristic)


def searches(given: Given, asked: GridParams) -> Searches:
    """One for each N and as many λ as go in one call."""
    instances, starts = given.sets[asked.set]
    limits = Limits(max_nodes=asked.max_nodes)
    for batch_size in asked.batch_size:
        for weights in in_step(asked.path_weight, batch_size * len(starts)):
            every = pd.concat([instances] * len(weights)), np.tile(starts, (len(weights), 1))
            cell = {"path_weight": np.repeat(weights, len(starts)), "batch_size": batch_size}
            yield every, cell, partial(bwas.solve, given.puzzle, given.heuristic, **cell, limits=limits)


def in_step(path_weights: list[float], states: int) -> list[list[float]]:
    """The λ whose cells are searched together: as many as one call of the network holds, each with so many states."""
    together = max(1, STATES_IN_STEP // states)
    return [path_weights[first : first + together] for first in range(0, len(path_weights), together)]
