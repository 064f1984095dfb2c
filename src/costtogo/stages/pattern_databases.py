"""An additive pattern database of sliding tiles: results/<study>/pattern_databases/<name>.npz."""

import resource
import sys
from pathlib import Path

from costtogo.exact.partition import format_partition
from costtogo.exact.pattern_database import PatternDatabase, build, save
from costtogo.progress import say
from costtogo.stages.stage_run import StageRun


def run(params: Path, out: Path) -> None:
    """Build the database of the partition that the parameters name; out ends in .npz."""
    stage = StageRun("pattern_database", __name__, params, out, [])
    side, partition = stage.puzzle.side, stage.parameters["partition"]
    build(side, tuple((tile,) for tile in range(1, side * side)))  # compiles: the part below times computing alone
    with stage.part("backward search"):
        database = build(side, partition, say)
    with stage.part("writing"):
        save(out, database)
    say(f"{out.stem}: {format_partition(database.partition)}, {len(database.values):,} placings")
    stage.finish([out], measures(database, out), threads=1, peak_memory_bytes=peak_memory())


def measures(database: PatternDatabase, file: Path) -> dict[str, int]:
    """What the card says of a database: patterns that are images of each other share a table."""
    return {
        "patterns": len(database.partition),
        "tables": len(database.starts) - 1,
        "largest_pattern": max(len(pattern) for pattern in database.partition),
        "placings": len(database.values),
        "most_moves": int(database.values.max()),
        "bytes": file.stat().st_size,
    }


def peak_memory() -> int:
    """The most memory that this process has held at once, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
