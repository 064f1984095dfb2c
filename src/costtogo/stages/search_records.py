"""What the stages that search from the instances of a large puzzle share."""

from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.analysis.intervals import mean_interval
from costtogo.files import FileError, read_frame, write_frame
from costtogo.heuristics.network import NetworkHeuristic, load
from costtogo.puzzles.base import Puzzle, solves
from costtogo.stages.stage_run import StageRun
from costtogo.types import SearchResult, States, UserError


def last_network(model: Path, device: str) -> NetworkHeuristic:
    """The last checkpoint of a training, whose folder model is, to compute on a device."""
    return load(model / read_frame(model / "checkpoints.parquet")["file"].iloc[-1], device=device)


def read_sets(puzzle: Puzzle, path: Path) -> dict[str, tuple[pd.DataFrame, States]]:
    """The instance sets by name: the rows of each and their states, uint8 [N, D]."""
    frame = read_frame(path)
    if missing := sorted({"set", "instance", "state", "distance"} - set(frame.columns)):
        raise FileError(f"{path} has no column {missing[0]}; draw the instances again.")
    return {
        name: (rows.reset_index(drop=True), np.array([puzzle.parse_state(text) for text in rows["state"]]))
        for name, rows in frame.groupby("set", sort=False)
    }


def to_rows(puzzle: Puzzle, instances: pd.DataFrame, starts: States, found: SearchResult, **cell) -> pd.DataFrame:
    """One row a search, with the columns of its cell before the others; every solution is replayed.

    A solution is written action by action: the customary notation may put moves that commute in another order.
    """
    solved = np.flatnonzero(found.solved)
    right = solves(puzzle, starts[solved], [found.solutions[row] for row in solved])
    if not right.all():
        raise UserError(f"{(~right).sum()} solutions of {puzzle.name} do not reach the goal: a defect of the search.")
    return pd.DataFrame(
        {
            "set": instances["set"],
            **cell,
            "instance": instances["instance"],
            "distance": instances["distance"],
            "solved": found.solved,
            "cost": found.cost,
            "nodes_expanded": found.nodes_expanded,
            "nodes_generated": found.nodes_generated,
            "solution": [" ".join(puzzle.actions[action] for action in actions) for actions in found.solutions],
        }
    )


def summarise(searches: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """One row for each group of searches, in order of appearance; shares in percent, lengths in moves.

    length is over the solved, with its 95 % interval; optimal_length and optimal_percent over the known, whose distance
    is known, and excess, the moves too many, over those of them that are solved. Where searches tell why they ended,
    out_of_memory_percent is the share that reached its cap.
    """
    rows = []
    for key, group in searches.groupby(by, sort=False):
        known = group[group["distance"].notna()]
        length, low, high = mean_interval(group.loc[group["solved"], "cost"])
        row = {**dict(zip(by, key, strict=True)), "instances": len(group)}
        row |= {
            "solved_percent": 100 * group["solved"].mean(),
            "length": length,
            "length_low": low,
            "length_high": high,
        }
        optimal = 100 * (known["cost"] == known["distance"]).mean() if len(known) else np.nan
        row |= {"known": len(known), "optimal_length": known["distance"].mean(), "optimal_percent": optimal}
        row["excess"] = (known["cost"] - known["distance"])[known["solved"]].mean()
        row |= {name: group[name].mean() for name in ("nodes_expanded", "nodes_generated")}
        if "ended" in group:
            row["out_of_memory_percent"] = 100 * (group["ended"] == "memory").mean()
        rows.append(row)
    return pd.DataFrame(rows)


def describe(searches: pd.DataFrame) -> str:
    """One line on the searches of a cell."""
    row = summarise(searches, ["set"]).iloc[0]
    length = f", {row['length']:.2f} moves" if row["solved_percent"] else ""
    optimal = "" if np.isnan(row["optimal_percent"]) else f", {row['optimal_percent']:.1f} % optimal"
    return (
        f"{row['solved_percent']:.1f} % of {row['instances']} solved{length}{optimal}, "
        f"{row['nodes_expanded']:,.0f} nodes expanded, {searches['seconds'].mean():.2f} s each"
    )


def finish(stage: StageRun, out: Path, searches: pd.DataFrame, cell: list[str], measures: tuple[str, ...]) -> None:
    """Write the searches of a stage, their seconds apart, and the summary of each cell; log the measures known."""
    grid, group = summarise(searches, cell), out.parent.name
    clock = searches[[*cell, "instance", "seconds"]]
    write_frame(stage.results / "timings" / group / f"{out.name}.parquet", clock)
    write_frame(out / "searches.parquet", searches.drop(columns="seconds"))
    write_frame(out / "grid.parquet", grid)
    metrics = metrics_of(grid, cell, measures)
    threads = stage.parameters.get("threads", 1)
    stage.finish([out / "searches.parquet", out / "grid.parquet"], metrics, threads=threads)


def metrics_of(grid: pd.DataFrame, by: list[str], measures: tuple[str, ...]) -> dict[str, float]:
    """The measures of every row of a summary that are known, named by its cell: scrambled_1000_length."""
    named = {
        "_".join([*(str(row[column]) for column in by), name]): float(row[name])
        for row in grid.to_dict("records")
        for name in measures
    }
    return {name: value for name, value in named.items() if not np.isnan(value)}
