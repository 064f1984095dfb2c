"""Beam search over a network: results/<study>/beams/<model>/.

searches.parquet has a row for each instance and width, grid.parquet one for each set and width.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from costtogo.exact.nearby import NearbyTable
from costtogo.heuristics.averaged import AveragedHeuristic
from costtogo.params.searches import BeamParams
from costtogo.puzzles.base import Puzzle
from costtogo.search.anytime import solve_images
from costtogo.search.beam import BeamLimits
from costtogo.stages.search.loading import Sets, index_of, load_network, read_ends, read_sets
from costtogo.stages.search.running import finish_cells, run_alone
from costtogo.stages.stage_run import StageRun
from costtogo.types import ActionHeuristic

CELL = ["set", "width"]
MEASURES = ("solved_percent", "length", "optimal_percent", "nodes_expanded")


def run(params: Path, out: Path, table: Path, instances: Path, model: Path) -> None:
    """Search from every instance of the sets named, with every width; model is the folder of a training."""
    stage = StageRun("beams", __name__, params, out, [table, instances, index_of(model)])
    puzzle, network = stage.puzzle, load_network(model, stage.device)
    sets, nearby = read_sets(puzzle, instances), read_ends(stage, table)
    beams = [BeamParams(**values) for values in stage.parameters["beams"]]
    limits = BeamLimits(max_nodes=stage.parameters["max_nodes"])
    finish_cells(stage, search_beams(puzzle, network, nearby, sets, beams, limits), CELL, MEASURES)


def search_beams(
    puzzle: Puzzle,
    network: ActionHeuristic,
    nearby: NearbyTable,
    sets: Sets,
    asked: list[BeamParams],
    limits: BeamLimits,
) -> Iterator[pd.DataFrame]:
    """The rows of one set and width after another; beams do not tell why they ended."""
    for beams in asked:
        scores = network if beams.average == 1 else AveragedHeuristic(puzzle, network, beams.average)
        for width in beams.widths:
            own = replace(limits, max_moves=beams.max_moves)
            options = {"width": width, "count": beams.images, "nearby": nearby, "limits": own}
            search = partial(solve_images, puzzle, scores, **options)
            name = f"beams of width {width:,} from {beams.set}"
            yield run_alone(puzzle, search, *sets[beams.set], name, width=width).drop(columns="ended")
