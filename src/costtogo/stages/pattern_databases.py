"""A pattern database of sliding tiles or of a cube's pieces: results/<study>/pattern_databases/<name>.npz."""

import resource
import sys
from pathlib import Path

from costtogo.exact.partition import format_partition
from costtogo.progress import say
from costtogo.puzzles import pattern_builder
from costtogo.stages.stage_run import StageRun


def run(params: Path, out: Path) -> None:
    """Build the database of the partition that the parameters name; out ends in .npz."""
    stage = StageRun("pattern_database", __name__, params, out, [])
    patterns = pattern_builder(stage.puzzle.name)  # by name, so that no other puzzle's code is the stage's
    with stage.part("backward search"):
        database = patterns.database_of(stage.puzzle, stage.parameters["partition"], say)
    with stage.part("writing"):
        patterns.save(out, database)
    measures = patterns.measures(database) | {"bytes": out.stat().st_size}
    say(f"{out.stem}: {format_partition(database.partition)}, {measures['placings']:,} placings")
    stage.finish([out], measures, threads=1, peak_memory_bytes=peak_memory())


def peak_memory() -> int:
    """The most memory that this process has held at once, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
