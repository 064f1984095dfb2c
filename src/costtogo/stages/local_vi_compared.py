"""Local value iteration beside the other solvers on the same random boards: results/<study>/compared/<puzzle>.parquet.

A row for each solver and board; the optimum is that of IDA* over the pattern database. Each board is solved alone, and
the seconds stand among the timings.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from costtogo.exact.pattern_database import load
from costtogo.files import write_frame
from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.network import NetworkHeuristic
from costtogo.heuristics.pattern_database import PatternDatabaseHeuristic
from costtogo.learning.local_vi import Local
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.search import bwas, ida_star
from costtogo.stages.local_vi import random_boards
from costtogo.stages.search_records import last_network
from costtogo.stages.stage_run import StageRun, say
from costtogo.types import SearchResult, States, UserError

Solver = Callable[[States], SearchResult]  # of one start, uint8 [1, D]
OPTIMAL = "ida_star_pattern_database"


def run(params: Path, model: Path, database: Path, out: Path) -> None:
    """Solve the boards by all solvers; model: the folder of a training.  out ends in .parquet."""
    stage = StageRun(
        "local_vi_compared", __name__, params, out.with_suffix(""), [model / "checkpoints.parquet", database]
    )
    torch.set_num_threads(stage.parameters["threads"])
    puzzle, asked = make(stage.parameters["puzzle"]), stage.parameters["compared"]
    boards = random_boards(puzzle, asked["boards"], np.random.default_rng(stage.parameters["seed"]))
    heuristics = last_network(model, "cpu"), PatternDatabaseHeuristic(puzzle, load(database))
    frames = []
    for name, solver in solvers(puzzle, boards, *heuristics, stage.parameters["sizes"], asked).items():
        with stage.part(name):
            frames.append(solve_all(puzzle, name, solver, boards))
        say(describe(frames[-1]))
    found = pd.concat(frames, ignore_index=True)
    optimal = found[found["solver"] == OPTIMAL].set_index("instance")["length"]
    found["optimal"] = found["instance"].map(optimal)
    if (found["length"] < found["optimal"]).any():
        raise UserError("A solution is shorter than that of IDA* over the pattern database: a defect of a solver.")
    write_frame(
        stage.results / "timings" / "compared" / f"{puzzle.name}.parquet", found[["solver", "instance", "seconds"]]
    )
    write_frame(out, found.drop(columns="seconds"))
    metrics = {f"{name}_length": rows["length"].mean() for name, rows in found.groupby("solver")}
    stage.finish([out], metrics, threads=stage.parameters["threads"])


def solvers(
    puzzle: SlidingTiles,
    boards: States,
    network: NetworkHeuristic,
    database: PatternDatabaseHeuristic,
    sizes: list[int],
    asked: dict,
) -> dict[str, Solver]:
    """What solves one board, by name, the exact one last; boards: for which value functions are made at once."""
    named: dict[str, Solver] = {}
    for size in sizes:
        local = Local(puzzle, size)
        local.solve(boards)
        named[f"local_vi_{size}"] = partial(_locally, local)
    weights = {name: asked[name] for name in ("path_weight", "batch_size")}
    named["bwas_network"] = partial(bwas.solve, puzzle, network, **weights)
    manhattan, limits = Manhattan(puzzle, linear_conflicts=True), ida_star.IdaLimits(asked["max_generated"])
    named["ida_star_manhattan"] = partial(ida_star.solve, puzzle, manhattan, limits=limits)
    named[OPTIMAL] = partial(ida_star.solve, puzzle, database)
    return named


def _locally(local: Local, start: States) -> SearchResult:
    return local.solve(start).result()


def solve_all(puzzle: SlidingTiles, name: str, solver: Solver, boards: States) -> pd.DataFrame:
    """A row for each board, uint8 [B, D]; length is NaN where the solver ended without a solution."""
    for board in boards[:2]:
        solver(board[None])  # so that no time holds the loading of compiled code
    rows = []
    for instance, board in enumerate(boards):
        begun = time.perf_counter()
        found = solver(board[None])
        seconds = time.perf_counter() - begun
        if found.solved[0] and not solves(puzzle, board[None], found.solutions)[0]:
            raise UserError(f"A solution of {puzzle.name} does not reach the goal: a defect of {name}.")
        rows.append(
            {
                "solver": name,
                "instance": instance,
                "state": puzzle.format_state(board),
                "length": found.cost[0] if found.solved[0] else np.nan,
                "nodes_generated": int(found.nodes_generated[0]),
                "seconds": seconds,
            }
        )
    return pd.DataFrame(rows)


def describe(rows: pd.DataFrame) -> str:
    """One line on a solver."""
    solved, seconds = rows["length"].notna(), rows["seconds"]
    return (
        f"{rows['solver'].iloc[0]}: {100 * solved.mean():.1f} % of {len(rows)} boards solved, "
        f"{rows['length'].mean():.2f} moves, {1e3 * seconds.mean():.3g} ms each, {1e3 * seconds.max():.3g} at most"
    )
