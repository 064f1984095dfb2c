"""BWAS over the λ × N of a study's networks with a heuristic that nobody trained: results/<study>/baselines/<name>/.

The same instances, limits and engine, and the same exact distances around the goal; the files are as those of grid.
"""

from pathlib import Path

from costtogo.exact.pattern_database import load
from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.pattern_database import PatternDatabaseHeuristic
from costtogo.heuristics.tile_sums import TileSumHeuristic
from costtogo.params.searches import MANHATTAN
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle
from costtogo.stages.grid import search_cells
from costtogo.stages.search_records import read_sets
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_nearby


def run(params: Path, table: Path, instances: Path, out: Path, database: Path | None = None) -> None:
    """Search every cell of the grids; database: the file of the pattern database, none for the Manhattan distance."""
    read = [table, instances] if database is None else [table, instances, database]
    stage = StageRun("baselines", __name__, params, out, read)
    puzzle = make(stage.parameters["puzzle"])
    heuristic = NearbyHeuristic(baseline(puzzle, stage.parameters["heuristic"], database), read_nearby(table, puzzle))
    search_cells(stage, out, heuristic, read_sets(puzzle, instances))


def baseline(puzzle: Puzzle, name: str, database: Path | None) -> TileSumHeuristic:
    """The heuristic of a name in baselines."""
    if name == MANHATTAN:
        return Manhattan(puzzle, linear_conflicts=True)
    return PatternDatabaseHeuristic(puzzle, load(database))
