"""The settings of external instances, searched with on the study's own: results/<study>/anytime/<model>/.

A search has so many seconds, so the results depend on the machine, as those of external instances do.
"""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from costtogo.exact.nearby import NearbyTable
from costtogo.heuristics.network import NetworkHeuristic
from costtogo.params.searches import AnytimeParams
from costtogo.search import anytime
from costtogo.search.replayed import warm_up
from costtogo.stages.search.external import options_of
from costtogo.stages.search.over_network import SOLUTIONS, stage_of
from costtogo.stages.search.running import run_alone
from costtogo.stages.stage_run import StageRun
from costtogo.types import States


def search_set(
    stage: StageRun, network: NetworkHeuristic, nearby: NearbyTable, asked: AnytimeParams, instances, starts: States
) -> Iterator[pd.DataFrame]:
    """The rows of the first instances under one budget after another."""
    puzzle, limits = stage.puzzle, {"max_nodes": stage.parameters["max_nodes"], "nearby": nearby}
    for budget in asked.budgets:
        search = partial(anytime.solve, puzzle, network, **limits, **options_of(budget, stage.parameters["threads"]))
        warm_up(puzzle, partial(search, seconds=0.1))
        search, count = partial(search, seconds=budget.seconds), budget.states
        first, name = instances.iloc[:count], f"{asked.set}, {budget.searched}"
        yield run_alone(puzzle, search, first, starts[:count], name, seconds_allowed=budget.seconds)


run = stage_of(AnytimeParams, search_set, SOLUTIONS)
