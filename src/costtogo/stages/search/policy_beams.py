"""Beam search by the policy of a network: results/<study>/policy_beams/<model>/."""

from functools import partial

from costtogo.heuristics.policy_guide import PolicyGuide
from costtogo.params.searches import PolicyBeamParams
from costtogo.search import beam
from costtogo.search.beam import BeamLimits
from costtogo.search.replayed import warm_up
from costtogo.stages.search.cells import Given, Searches, stage_of


def searches(given: Given, asked: PolicyBeamParams) -> Searches:
    """One for each width."""
    limits = BeamLimits(max_moves=asked.max_moves, max_nodes=given.max_nodes)
    search = partial(beam.solve, given.puzzle, PolicyGuide(given.heuristic), nearby=given.nearby, limits=limits)
    warm_up(given.puzzle, partial(search, width=1))
    for width in asked.widths:
        yield given.sets[asked.set], {"width": width}, partial(search, width=width)


run = stage_of(PolicyBeamParams, searches)
