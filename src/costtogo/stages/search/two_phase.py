"""Kociemba's two-phase solver on the study's own instances: results/<study>/two_phase/<puzzle>/.

The stage is for a target of its own, since it needs a program that is not part of this project.
"""

from functools import partial
from pathlib import Path

from costtogo.params.searches import TwoPhaseParams
from costtogo.search import two_phase
from costtogo.stages.search.cells import Given, Searches, search_all
from costtogo.stages.stage_run import StageRun


def run(params: Path, out: Path, instances: Path) -> None:
    """Search from every instance of the sets named."""
    stage = StageRun("two_phase", __name__, params, out, [instances])
    search_all(stage, [TwoPhaseParams(**stage.parameters["two_phase"])], searches, instances)


def searches(given: Given, asked: TwoPhaseParams) -> Searches:
    """One for each set."""
    search = partial(two_phase.solve, given.puzzle, seconds=asked.seconds)
    search(given.sets[asked.sets[0]][1][:1])  # so that the program's tables are in the memory of files
    for name in asked.sets:
        yield given.sets[name], {}, search
