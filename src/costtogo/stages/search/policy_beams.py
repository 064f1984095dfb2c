"""Beam search by the policy of a network: results/<study>/policy_beams/<model>/."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from costtogo.exact.nearby import NearbyTable
from costtogo.heuristics.network import NetworkHeuristic
from costtogo.heuristics.policy_guide import PolicyGuide
from costtogo.params.searches import PolicyBeamParams
from costtogo.search import beam
from costtogo.search.beam import BeamLimits
from costtogo.search.replayed import warm_up
from costtogo.stages.search.over_network import stage_of
from costtogo.stages.search.running import run_alone
from costtogo.stages.stage_run import StageRun
from costtogo.types import States


def search_beams(
    stage: StageRun, network: NetworkHeuristic, nearby: NearbyTable, beams: PolicyBeamParams, instances, starts: States
) -> Iterator[pd.DataFrame]:
    """The rows of one width after another; beams do not tell why they ended."""
    limits = BeamLimits(max_moves=beams.max_moves, max_nodes=stage.parameters["max_nodes"])
    search = partial(beam.solve, stage.puzzle, PolicyGuide(network), nearby=nearby, limits=limits)
    warm_up(stage.puzzle, partial(search, width=1))
    for width in beams.widths:
        one, name = partial(search, width=width), f"beams of width {width:,} from {beams.set}"
        yield run_alone(stage.puzzle, one, instances, starts, name, width=width).drop(columns="ended")


run = stage_of(PolicyBeamParams, search_beams)
