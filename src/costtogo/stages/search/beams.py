"""Beam search over a network: results/<study>/beams/<model>/."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from costtogo.exact.nearby import NearbyTable
from costtogo.heuristics.averaged import AveragedHeuristic
from costtogo.params.searches import BeamParams
from costtogo.search.anytime import solve_images
from costtogo.search.beam import BeamLimits
from costtogo.stages.search.over_network import stage_of
from costtogo.stages.search.running import run_alone
from costtogo.stages.stage_run import StageRun
from costtogo.types import ActionHeuristic, States


def search_beams(
    stage: StageRun, network: ActionHeuristic, nearby: NearbyTable, beams: BeamParams, instances, starts: States
) -> Iterator[pd.DataFrame]:
    """The rows of one width after another; beams do not tell why they ended."""
    scores = network if beams.average == 1 else AveragedHeuristic(stage.puzzle, network, beams.average)
    limits = BeamLimits(max_moves=beams.max_moves, max_nodes=stage.parameters["max_nodes"])
    search = partial(solve_images, stage.puzzle, scores, count=beams.images, nearby=nearby, limits=limits)
    for width in beams.widths:
        one, name = partial(search, width=width), f"beams of width {width:,} from {beams.set}"
        yield run_alone(stage.puzzle, one, instances, starts, name, width=width).drop(columns="ended")


run = stage_of(BeamParams, search_beams)
