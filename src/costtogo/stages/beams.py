"""Beam search over the network of a puzzle too large to list: results/<study>/beams/<model>/.

searches.parquet has a row for each instance and width, grid.parquet one for each set and width. A distance is known
where the instances are the beginnings of a shortest path, or lie within the exact table; elsewhere it is missing.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from costtogo.analysis.intervals import mean_interval
from costtogo.exact.nearby import FAR, NearbyTable
from costtogo.files import read_frame, write_frame
from costtogo.heuristics.network import NetworkHeuristic, load
from costtogo.learning.instances import draw_prefixes, draw_walk_ends
from costtogo.params import derive_seed
from costtogo.params_large import BeamParams, PrefixInstances, WalkInstances
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, solves
from costtogo.search.beam import BeamLimits, solve
from costtogo.stages.frame import StageRun, say
from costtogo.stages.tables import read_nearby
from costtogo.types import UserError

MEASURES = ("solved_percent", "length", "optimal_percent", "nodes_expanded")
KINDS = {"walks": WalkInstances, "prefixes": PrefixInstances}


def run(params: Path, table: Path, model: Path, out: Path) -> None:
    """Search from every instance of the sets named, with every width; model is the folder of a training."""
    stage = StageRun("beams", __name__, params, out, [table, model / "checkpoints.parquet"])
    torch.set_num_threads(stage.parameters["threads"])
    puzzle = make(stage.parameters["puzzle"])
    nearby = read_nearby(table, puzzle)
    heuristic = load(model / read_frame(model / "checkpoints.parquet")["file"].iloc[-1])
    limits = BeamLimits(max_nodes=stage.parameters["max_nodes"])
    frames = []
    for beams in (BeamParams(**values) for values in stage.parameters["beams"]):
        instances = draw(puzzle, stage.parameters["instances"][beams.set], stage.parameters["seed"], beams.set, nearby)
        for width in beams.widths:
            frames.append(search(puzzle, heuristic, instances, width, nearby, limits).assign(set=beams.set))
            say(f"{out.name}, {beams.set}, width {width:,}: {describe(frames[-1])}")
    searches = pd.concat(frames, ignore_index=True)
    grid = summarise(searches)
    clock = searches[["set", "width", "instance", "seconds"]]
    write_frame(stage.results / "timings" / "beams" / f"{out.name}.parquet", clock)
    write_frame(out / "searches.parquet", searches.drop(columns="seconds"))
    write_frame(out / "grid.parquet", grid)
    metrics = {f"{row.set}_{row.width}_{name}": getattr(row, name) for row in grid.itertuples() for name in MEASURES}
    known = {name: value for name, value in metrics.items() if not np.isnan(value)}
    stage.finish([out / "searches.parquet", out / "grid.parquet"], known, threads=stage.parameters["threads"])


def draw(puzzle: Puzzle, values: dict, seed: int, name: str, nearby: NearbyTable) -> pd.DataFrame:
    """The instances of a set: state (a row of uint8 [D]) and distance, NaN where it is not known."""
    params = KINDS[values["kind"]](**values)
    if isinstance(params, WalkInstances):
        states = draw_walk_ends(puzzle, params.states, params.length, np.random.default_rng(derive_seed(seed, name)))
        found = nearby(states)
        distance = np.where(found == FAR, np.nan, found)
    else:
        states = draw_prefixes(puzzle, params.moves)
        distance = np.arange(1.0, len(states) + 1) if params.shortest else np.full(len(states), np.nan)
    return pd.DataFrame({"instance": np.arange(len(states)), "state": list(states), "distance": distance})


def search(
    puzzle: Puzzle, heuristic: NetworkHeuristic, instances: pd.DataFrame, width: int, nearby: NearbyTable, limits
) -> pd.DataFrame:
    """One row a search; every solution is replayed."""
    rows = []
    for instance in instances.itertuples():
        start = instance.state[None]
        begun = time.perf_counter()
        found = solve(puzzle, heuristic, start, width=width, nearby=nearby, limits=limits)
        seconds = time.perf_counter() - begun
        if found.solved[0] and not solves(puzzle, start, found.solutions)[0]:
            raise UserError(f"A solution of {puzzle.name} does not reach the goal: a defect of the search.")
        rows.append(
            {
                "width": width,
                "instance": instance.instance,
                "state": puzzle.format_state(instance.state),
                "distance": instance.distance,
                "solved": bool(found.solved[0]),
                "cost": float(found.cost[0]),
                "nodes_expanded": int(found.nodes_expanded[0]),
                "nodes_generated": int(found.nodes_generated[0]),
                "solution": puzzle.format_moves(found.solutions[0]),
                "seconds": seconds,
            }
        )
    return pd.DataFrame(rows)


def summarise(searches: pd.DataFrame) -> pd.DataFrame:
    """One row for each set and width; length over the solved, with its 95 % interval, optimal where that is known."""
    rows = []
    for (name, width), group in searches.groupby(["set", "width"], sort=False):
        solved, known = group[group["solved"]], group[group["distance"].notna()]
        length, low, high = mean_interval(solved["cost"])
        optimal = 100 * (known["cost"] == known["distance"]).mean() if len(known) else np.nan
        row = {"set": name, "width": width, "instances": len(group), "solved_percent": 100 * group["solved"].mean()}
        row |= {"length": length, "length_low": low, "length_high": high, "known": len(known)}
        rows.append({**row, "optimal_percent": optimal, "nodes_expanded": group["nodes_expanded"].mean()})
    return pd.DataFrame(rows)


def describe(searches: pd.DataFrame) -> str:
    """One line on the searches of a set with one width."""
    row = summarise(searches).iloc[0]
    optimal = "" if np.isnan(row["optimal_percent"]) else f", {row['optimal_percent']:.1f} % optimal"
    return (
        f"{row['solved_percent']:.1f} % of {row['instances']} solved, {row['length']:.2f} moves{optimal}, "
        f"{row['nodes_expanded']:,.0f} nodes expanded, {searches['seconds'].mean():.2f} s each"
    )
