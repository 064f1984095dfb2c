"""Exact optima of a study's own instance sets: results/<study>/optima/<puzzle>.parquet.

The instances of results/<study>/instances/<puzzle>.parquet in the same columns, their distance filled in where a
shortest solution was found: of sliding tiles by IDA* over a pattern database, of Lights Out by linear algebra, of
Sokoban by listing the level, of others by breadth-first search from both ends, of the 3×3×3 also by IDA* over a table
of distances or a pattern database. Of an unsolved one its lower bound is a fact. What searches from instances reads
this file in place of the other.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.analysis.suboptimality import summarise
from costtogo.exact.cosets import Cosets, build
from costtogo.exact.nearby import nearby_table
from costtogo.exact.solver import ExactSearch, Guide, Means, exact_solver
from costtogo.params.searches import GUIDE, OptimaParams
from costtogo.progress import say
from costtogo.puzzles import made
from costtogo.puzzles.base import Puzzle
from costtogo.search.replayed import warm_up
from costtogo.stages.search.loading import index_of, load_heuristic, load_network, read_sets
from costtogo.stages.search.running import describe, metrics_of, refuse, run_alone
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_nearby

COLUMNS = ["distance", "solved", "lower_bound", "nodes_expanded", "nodes_generated", "solution"]
NOT_SEARCHED = {
    "cost": np.inf, "solved": False, "lower_bound": 0.0, "nodes_expanded": 0, "nodes_generated": 0, "solution": ""
}  # fmt: skip
NEAR, NEAR_TABLE = 8, 13  # moves of the first search, which is over soon; of one that is to need a table of distances
MEASURES = ("solved_percent", "length", "nodes_generated")


def run(
    params: Path,
    out: Path,
    instances: Path,
    database: Path | None = None,
    table: Path | None = None,
    model: Path | None = None,
) -> None:
    """Solve the instances asked for; out ends in .parquet.

    database: the file that IDA* goes by, if it does.  table, model: of the guide, if there is one.
    """
    read = [instances, database, table, model and index_of(model)]
    stage = StageRun("optima", __name__, params, out, read)
    puzzle, optima = stage.puzzle, OptimaParams(**stage.parameters["optima"])
    network = None if model is None else load_network(model, stage.device)
    guide = None if network is None else made(GUIDE)(puzzle, network, read_nearby(table, puzzle))
    search = exact_search(puzzle, optima, database, guide)
    warm_up(puzzle, search, NEAR if optima.table is None else NEAR_TABLE)
    frames = []
    for name, (asked, starts) in read_sets(puzzle, instances).items():
        if not optima.asks_for(name):
            frames.append(asked.assign(**NOT_SEARCHED))
            continue
        with stage.part(name):
            rows = run_alone(puzzle, search, asked, starts, name, stage.parameters["threads"])
        refuse(rows, rows["solved"] & rows["distance"].notna() & (rows["cost"] != rows["distance"]))
        say(f"{name}: {describe(rows)}")
        frames.append(rows.join(asked[asked.columns.difference(rows.columns)]))
    found = pd.concat(frames, ignore_index=True)
    searched = found[[optima.asks_for(name) for name in found["set"]]]
    metrics = metrics_of(summarise(searched, ["set"]), ["set"], MEASURES)
    found["distance"] = found["cost"].where(found["solved"], found["distance"])
    columns = [*asked.columns.drop("distance"), *COLUMNS]
    stage.finish_tables({"": found[columns]}, metrics, searched[["set", "instance", "seconds"]])


def exact_search(puzzle: Puzzle, asked: OptimaParams, database: Path | None, guide: Guide | None) -> ExactSearch:
    """The exact solver of the puzzle, with what the parameters ask for."""
    name = asked.pattern_database
    heuristic = None if name is None else partial(load_heuristic, puzzle, name, database)
    seconds = np.inf if asked.seconds is None else asked.seconds
    means = Means(
        partial(nearby_table, puzzle, asked.around), heuristic, max_generated=asked.max_generated, seconds=seconds
    )
    if asked.table is not None:
        coordinates = Cosets(puzzle, half_turns=False, arranged=asked.table == "large")
        say(f"The {asked.table} table of the distances of {puzzle.name}'s cosets is made.")
        known = coordinates, build(coordinates)
        means = replace(means, cosets=lambda: known, guide=guide)
    return exact_solver(puzzle, means)
