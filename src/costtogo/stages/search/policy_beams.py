"""Beam search by the policy of a network: results/<study>/policy_beams/<model>/.

searches.parquet has a row for each instance and width, grid.parquet one for each set and width.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from costtogo.heuristics.policy_guide import PolicyGuide
from costtogo.params.searches import PolicyBeamParams
from costtogo.search import beam
from costtogo.search.beam import BeamLimits
from costtogo.search.replayed import warm_up
from costtogo.stages.search.loading import Sets, index_of, load_network, read_ends, read_sets
from costtogo.stages.search.running import finish_cells, run_alone
from costtogo.stages.stage_run import StageRun
from costtogo.types import SearchResult

MEASURES = ("solved_percent", "length", "optimal_percent", "nodes_expanded")


def run(params: Path, out: Path, table: Path, instances: Path, model: Path) -> None:
    """Search from every instance of the sets named, with every width; model is the folder of a training."""
    stage = StageRun("policy_beams", __name__, params, out, [table, instances, index_of(model)])
    guide = PolicyGuide(load_network(model, stage.device))
    sets, nearby = read_sets(stage.puzzle, instances), read_ends(stage, table)
    search = partial(beam.solve, stage.puzzle, guide, nearby=nearby)
    warm_up(stage.puzzle, partial(search, width=1))
    asked = [PolicyBeamParams(**values) for values in stage.parameters["policy_beams"]]
    finish_cells(stage, search_beams(stage, search, sets, asked), [*PolicyBeamParams.cell], MEASURES)


def search_beams(
    stage: StageRun, search: Callable[..., SearchResult], sets: Sets, asked: list[PolicyBeamParams]
) -> Iterator[pd.DataFrame]:
    """The rows of one set and width after another; beams do not tell why they ended.

    search: of starts, with a width and limits.
    """
    for beams in asked:
        limits = BeamLimits(max_moves=beams.max_moves, max_nodes=stage.parameters["max_nodes"])
        for width in beams.widths:
            one, name = partial(search, width=width, limits=limits), f"beams of width {width:,} from {beams.set}"
            yield run_alone(stage.puzzle, one, *sets[beams.set], name, width=width).drop(columns="ended")
