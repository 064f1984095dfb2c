"""The settings of external instances, searched with on the study's own: results/<study>/anytime/<model>/.

searches.parquet has a row for each budget and instance, grid.parquet one for each set and budget. A search has so many
seconds, so the results depend on the machine, as those of external instances do.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from costtogo.exact.nearby import NearbyTable
from costtogo.heuristics.network import NetworkHeuristic
from costtogo.params.searches import AnytimeParams
from costtogo.search import anytime
from costtogo.search.replayed import warm_up
from costtogo.stages.search.external import options_of
from costtogo.stages.search.loading import Sets, index_of, load_network, read_ends, read_sets
from costtogo.stages.search.running import finish_cells, run_alone
from costtogo.stages.stage_run import StageRun

MEASURES = ("solved_percent", "length", "optimal_percent")


def run(params: Path, out: Path, table: Path, instances: Path, model: Path) -> None:
    """Search from the first instances of each set named, under each budget; model is the folder of a training."""
    stage = StageRun("anytime", __name__, params, out, [table, instances, index_of(model)])
    network = load_network(model, stage.device)
    sets, nearby = read_sets(stage.puzzle, instances), read_ends(stage, table)
    asked = [AnytimeParams(**values) for values in stage.parameters["anytime"]]
    found = search_sets(stage, network, nearby, sets, asked)
    finish_cells(stage, found, [*AnytimeParams.cell], MEASURES)


def search_sets(
    stage: StageRun, network: NetworkHeuristic, nearby: NearbyTable, sets: Sets, asked: list[AnytimeParams]
) -> Iterator[pd.DataFrame]:
    """The rows of one set and budget after another."""
    puzzle, limits = stage.puzzle, {"max_nodes": stage.parameters["max_nodes"], "nearby": nearby}
    for searches in asked:
        instances, starts = sets[searches.set]
        for budget in searches.budgets:
            options = {**limits, **options_of(budget, stage.parameters["threads"])}
            search = partial(anytime.solve, puzzle, network, **options)
            warm_up(puzzle, partial(search, seconds=0.1))
            search, count = partial(search, seconds=budget.seconds), budget.states
            first, name = instances.iloc[:count], f"{searches.set}, {budget.searched}"
            yield run_alone(puzzle, search, first, starts[:count], name, seconds_allowed=budget.seconds)
