"""Beam search over a network: results/<study>/beams/<model>/."""

from functools import partial

from costtogo.heuristics.averaged import AveragedHeuristic
from costtogo.params.searches import BeamParams
from costtogo.search.anytime import solve_images
from costtogo.search.beam import BeamLimits
from costtogo.stages.search.cells import Given, Searches, stage_of


def searches(given: Given, asked: BeamParams) -> Searches:
    """One for each width."""
    puzzle, scores = given.puzzle, given.heuristic
    scores = scores if asked.average == 1 else AveragedHeuristic(puzzle, scores, asked.average)
    limits = BeamLimits(max_moves=asked.max_moves, max_nodes=given.max_nodes)
    search = partial(solve_images, puzzle, scores, count=asked.images, nearby=given.nearby, limits=limits)
    for width in asked.widths:
        yield given.sets[asked.set], {"width": width}, partial(search, width=width)


run = stage_of(BeamParams, searches)
