"""Exact optima of a study's own instance sets: results/<study>/optima/<puzzle>.parquet.

The instances of results/<study>/instances/<puzzle>.parquet in the same columns, their distance filled in where a
shortest solution was found: of sliding tiles by IDA* over a pattern database, of Lights Out by linear algebra. What
searches from instances reads this file in place of the other.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.exact.lights_out import FewestPresses
from costtogo.exact.pattern_database import load
from costtogo.files import write_frame
from costtogo.heuristics.pattern_database import PatternDatabaseHeuristic
from costtogo.params.searches import OptimaParams
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, random_walks
from costtogo.search import ida_star
from costtogo.search.ida_star import IdaLimits
from costtogo.stages.search_records import read_sets, to_rows
from costtogo.stages.stage_run import StageRun, say
from costtogo.types import SearchResult, States, UserError

SLOW = 10  # seconds after which a search is told of
Solver = Callable[[States], SearchResult]  # of states uint8 [B, D]


def run(params: Path, instances: Path, out: Path, database: Path | None = None) -> None:
    """Solve every instance; database: the file that IDA* goes by, none for Lights Out.  out ends in .parquet."""
    read = [instances] if database is None else [instances, database]
    stage = StageRun("optima", __name__, params, out.with_suffix(""), read)
    puzzle = make(stage.parameters["puzzle"])
    sets = read_sets(puzzle, instances)
    solver = exact_solver(puzzle, OptimaParams(**stage.parameters["optima"]), database)
    solver(random_walks(puzzle, 1, 20, np.random.default_rng(0))[0, -1:])  # loads compiled code
    frames, threads = [], stage.parameters["threads"]
    for name, (rows, states) in sets.items():
        with stage.part(name):
            frames.append(solve_set(puzzle, solver, rows, states, threads))
        say(describe(frames[-1]))
    found = pd.concat(frames, ignore_index=True)
    clock = found[["set", "instance", "seconds"]]
    write_frame(stage.results / "timings" / "optima" / f"{puzzle.name}.parquet", clock)
    write_frame(out, found.drop(columns="seconds"))
    metrics = {f"{frame['set'].iloc[0]}_{name}": value for frame in frames for name, value in measures(frame).items()}
    stage.finish([out], metrics, threads=threads)


def exact_solver(puzzle: Puzzle, wanted: OptimaParams, database: Path | None) -> Solver:
    """What finds shortest solutions of the puzzle's states."""
    if wanted.pattern_database is None:
        return FewestPresses(puzzle).solve
    heuristic = PatternDatabaseHeuristic(puzzle, load(database))
    return partial(ida_star.solve, puzzle, heuristic, limits=IdaLimits(max_generated=wanted.max_generated))


def solve_set(
    puzzle: Puzzle, solver: Solver, instances: pd.DataFrame, states: States, threads: int = 1
) -> pd.DataFrame:
    """The rows of a set with their distances, and what finding these took; lower_bound holds where it was not found.

    threads: states that are solved at a time.  Raises UserError where a distance that was known is another one.
    """

    def solve_row(place: int) -> pd.DataFrame:
        begun = time.perf_counter()
        found = solver(states[[place]])
        seconds = time.perf_counter() - begun
        row = to_rows(puzzle, instances.iloc[[place]], states[[place]], found)
        if seconds > SLOW:
            told = f"{found.cost[0]:.0f} moves" if found.solved[0] else f"at least {found.lower_bound[0]:.0f} moves"
            say(f"{row['set'].iloc[0]} {place}: {told}, {found.nodes_generated[0]:,} nodes, {seconds:.0f} s")
        return row.assign(lower_bound=found.lower_bound, seconds=seconds)

    with ThreadPoolExecutor(threads) as pool:
        rows = pd.concat(pool.map(solve_row, range(len(states))), ignore_index=True)
    wrong = rows["solved"] & rows["distance"].notna() & (rows["distance"] != rows["cost"])
    if wrong.any():
        first = rows[wrong].iloc[0]
        raise UserError(
            f"Instance {first['instance']} of the set {first['set']} was known to be {first['distance']:.0f} moves from"
            f" the goal and is solved in {first['cost']:.0f} moves: a defect of the solver."
        )
    distance = rows["cost"].where(rows["solved"], rows["distance"])
    columns = ["distance", "solved", "lower_bound", "nodes_expanded", "nodes_generated", "solution", "seconds"]
    return instances[["set", "instance", "state"]].join(rows.assign(distance=distance)[columns])


def measures(rows: pd.DataFrame) -> dict[str, float]:
    """What the card tells of a set: the share solved, and the means of the solved and of all."""
    solved = rows[rows["solved"]]
    found = {"solved_percent": 100 * rows["solved"].mean(), "nodes_generated": rows["nodes_generated"].mean()}
    return found | ({"length": solved["distance"].mean()} if len(solved) else {})


def describe(rows: pd.DataFrame) -> str:
    """One line on a set."""
    found, seconds = measures(rows), rows["seconds"]
    length = f", {found['length']:.2f} moves" if "length" in found else ""
    return (
        f"{rows['set'].iloc[0]}: {found['solved_percent']:.1f} % of {len(rows)} solved exactly{length}, "
        f"{found['nodes_generated']:,.0f} nodes, {seconds.mean():.3g} s each, {seconds.max():.3g} at most"
    )
