"""Shortest solutions: of sliding tiles by IDA* over a pattern database, of Lights Out by linear algebra."""

import os
from collections.abc import Callable
from pathlib import Path

from costtogo.exact.lights_out import FewestPresses
from costtogo.exact.pattern_database import build, load
from costtogo.files import read_json
from costtogo.heuristics.pattern_database import PatternDatabaseHeuristic
from costtogo.puzzles.base import Puzzle
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.search.ida_star import IdaLimits, solve
from costtogo.stages.stage_run import say
from costtogo.types import SearchResult, States, UserError

SMALL = {3: "4-4", 4: "5-5-5", 5: "4-5-5-5-5", 6: "4-4-4-4-4-4-4-4-3", 7: "3-3-3-3-3-3-3-3-3-3-3-3-3-3-3-3"}  # by side


def check_exact(puzzle: Puzzle, solver: str = "exact") -> None:
    """UserError where the puzzle has no solver of this name, exact or local."""
    solved, kinds = {
        "exact": (("sliding", "lights_out"), "sliding tiles and Lights Out"),
        "local": (("sliding",), "sliding tiles"),
    }[solver]
    if puzzle.family not in solved:
        raise UserError(
            f"There is no {solver} solver of {puzzle.name}, only of {kinds}; choose another one with --solver."
        )


def exact_search(puzzle: Puzzle, seconds: float) -> Callable[[States], SearchResult]:
    """What finds a shortest solution from a start, uint8 [D], or ends as unsolved after so many seconds."""
    if puzzle.family == "lights_out":
        fewest = FewestPresses(puzzle)
        return lambda start: fewest.solve(start[None])
    heuristic, threads = find_database(puzzle), os.cpu_count() or 1
    return lambda start: solve(puzzle, heuristic, start[None], limits=IdaLimits(seconds=seconds), threads=threads)


def find_database(puzzle: SlidingTiles) -> PatternDatabaseHeuristic:
    """The database that the puzzle's study finds optima by, else its largest, else a small one made now."""
    study = Path("results") / puzzle.name
    optima = study / "optima" / f"{puzzle.name}.json"
    name = read_json(optima)["parameters"]["optima"]["pattern_database"] if optima.exists() else None
    built = sorted((study / "pattern_databases").glob("*.npz"), key=lambda path: path.stat().st_size)
    chosen = next((path for path in built if path.stem == name), built[-1] if built else None)
    if chosen is not None:
        return PatternDatabaseHeuristic(puzzle, load(chosen))
    say(
        f"There is no pattern database of {puzzle.name} in {study}: a small one, {SMALL[puzzle.side]}, is built now, "
        f"and searches take longer; snakemake --cores all {puzzle.name} builds the study's."
    )
    return PatternDatabaseHeuristic(puzzle, build(puzzle.side, SMALL[puzzle.side]))
