"""Kociemba's two-phase solver on the study's own instances: results/<study>/two_phase/<puzzle>/.

searches.parquet has a row for each instance, grid.parquet one for each set. The stage is for a target of its own,
since it needs a program that is not part of this project.
"""

from functools import partial
from pathlib import Path

from costtogo.params.searches import TwoPhaseParams
from costtogo.search import two_phase
from costtogo.stages.search.loading import read_sets
from costtogo.stages.search.running import finish_cells, run_alone
from costtogo.stages.stage_run import StageRun

MEASURES = ("solved_percent", "length", "optimal_percent")


def run(params: Path, out: Path, instances: Path) -> None:
    """Search from every instance of the sets named."""
    stage = StageRun("two_phase", __name__, params, out, [instances])
    asked, sets = TwoPhaseParams(**stage.parameters["two_phase"]), read_sets(stage.puzzle, instances)
    search = partial(two_phase.solve, stage.puzzle, seconds=asked.seconds)
    search(sets[asked.sets[0]][1][:1])  # so that the program's tables are in the memory of files
    found = (run_alone(stage.puzzle, search, *sets[name], f"two phases from {name}") for name in asked.sets)
    finish_cells(stage, found, ["set"], MEASURES)
