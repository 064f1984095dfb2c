"""BWAS over λ × N for a model, or for the exact and the zero heuristic: results/<study>/searches/<name>/.

Results come from the engine over a table. The engine over the network repeats part of the searches: its
seconds are those to compare with the literature, and both engines must find the same lengths.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from costtogo.analysis.suboptimality import CELL, summarise
from costtogo.files import read_arrays, read_frame, write_frame
from costtogo.heuristics.network import load
from costtogo.heuristics.table import TableHeuristic, exact, zero
from costtogo.params.searches import CellParams, GridParams, SearchProtocol
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, solves
from costtogo.search.bwas import Limits, solve
from costtogo.stages.stage_run import StageRun, say
from costtogo.stages.tables import read_table
from costtogo.types import Heuristic, UserError

ALL_STARTS_CHUNK = 100_000


@dataclass(frozen=True)
class Task:
    """What the searches of this stage share."""

    puzzle: Puzzle
    search: SearchProtocol
    grids: list[GridParams]
    distance: np.ndarray
    instances: pd.DataFrame

    @property
    def limits(self) -> Limits:
        """Where a search ends as unsolved."""
        return Limits(self.search.max_expansions, self.search.max_nodes)

    def set(self, name: str) -> pd.DataFrame:
        """The instances of a set."""
        return self.instances[self.instances["set"] == name]

    def cells(self) -> list[CellParams]:
        """Every (set, λ, N) of the grids, then the headline cell if no grid holds it."""
        cells = self._cells(self.grids)
        return cells + ([] if self.search.headline in cells else [self.search.headline])

    def cells_of_every_checkpoint(self) -> list[CellParams]:
        """Those of the grids that every audited checkpoint is to search."""
        return self._cells([grid for grid in self.grids if grid.every_checkpoint])

    def _cells(self, grids: list[GridParams]) -> list[CellParams]:
        return [
            CellParams(set=grid.set, path_weight=weight, batch_size=size)
            for grid in grids
            for weight in grid.path_weight
            for size in grid.batch_size
        ]


def run(
    params: Path,
    table: Path,
    instances: Path,
    out: Path,
    audit: Path | None = None,
    model: Path | None = None,
):
    """Search for a model (audit and model are its folders), or for both baselines where they are not given."""
    inputs = [table, instances] + ([audit / "values.npz", model / "checkpoints.parquet"] if audit else [])
    stage = StageRun("search", __name__, params, out, inputs)
    torch.set_num_threads(stage.parameters["threads"])
    puzzle = make(stage.parameters["puzzle"])
    grids = [GridParams(**values) for values in stage.parameters["searches"]]
    protocol = SearchProtocol(**stage.parameters["search"])
    task = Task(puzzle, protocol, grids, read_table(table, puzzle), read_frame(instances))
    if audit:
        outputs, metrics, clock = search_model(stage, task, audit, model)
    else:
        outputs, metrics, clock = search_baselines(stage, task)
    write_frame(stage.results / "timings" / "searches" / f"{out.name}.parquet", pd.DataFrame(clock))
    stage.finish(outputs, metrics, threads=stage.parameters["threads"])


def search_model(stage: StageRun, task: Task, audit: Path, model: Path):
    """Search with every audited checkpoint; the one chosen on the selection set stands for the model."""
    checkpoints = read_frame(model / "checkpoints.parquet").set_index("iteration")
    tables = read_tables(task.puzzle, audit / "values.npz")
    selection = select(task, tables, checkpoints)
    iteration = int(selection.loc[selection["selected"], "iteration"].iloc[0])
    heuristic = tables[iteration]
    overestimate = float(np.max(heuristic.values - task.distance.astype(np.float32), initial=0.0))
    searches, clock = search_grid(task, "network", heuristic, overestimate, task.cells())
    network = load(model / checkpoints.loc[iteration, "file"])
    agreement, network_clock = search_over_network(task, network, searches)
    frames = {"selection": selection, **summaries(searches), "searches": searches}
    frames |= search_checkpoints(task, tables, checkpoints, {iteration: searches})
    frames["admissible"] = search_admissible(task, heuristic, overestimate)
    metrics = {"selected_iteration": iteration, "overestimation_max": overestimate, **agreement}
    metrics |= headline(task, frames["grid"], "network")
    if stage.out.name in task.search.all_starts:
        with stage.part("all starts"):
            metrics |= search_all_starts(task, heuristic)
    return write_frames(stage.out, frames), metrics, clock + network_clock


def read_tables(puzzle: Puzzle, values: Path) -> dict[int, TableHeuristic]:
    """The values of every audited checkpoint by its iteration."""
    arrays = read_arrays(values)
    pairs = zip(arrays["iteration"].tolist(), arrays["value"], strict=True)
    return {iteration: TableHeuristic(puzzle, table) for iteration, table in pairs}


def search_checkpoints(
    task: Task, tables: dict[int, TableHeuristic], checkpoints: pd.DataFrame, known: dict[int, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    """The summaries of every audited checkpoint, with iteration and convergence_point before them.

    known: the searches of those that have searched every cell already, by iteration.
    """
    cells = task.cells_of_every_checkpoint() or [task.search.headline]
    parts: dict[str, list[pd.DataFrame]] = {"checkpoints": [], "checkpoints_by_distance": []}
    for iteration, table in tables.items():
        if iteration in known:
            searches = pd.concat([in_cell(known[iteration], cell) for cell in cells], ignore_index=True)
        else:
            searches, _ = search_grid(task, "network", table, 0.0, cells, f" of iteration {iteration}")
        place = {"iteration": iteration, "convergence_point": int(checkpoints.loc[iteration, "convergence_point"])}
        for part, frame in zip(parts.values(), summaries(searches).values(), strict=True):
            part.append(frame.assign(**place)[[*place, *frame.columns]])
    return {name: pd.concat(part, ignore_index=True) for name, part in parts.items()}


def in_cell(searches: pd.DataFrame, cell: CellParams) -> pd.DataFrame:
    """The searches of a cell."""
    return searches[(searches[CELL[1:]] == [cell.set, cell.path_weight, cell.batch_size]).all(axis=1)]


def search_admissible(task: Task, heuristic: TableHeuristic, overestimate: float) -> pd.DataFrame:
    """Summaries at λ = 1, N = 1 from part of the headline set: optimality follows from admissibility there.

    Searched with the network, with it less its largest overestimate over all states and cut at 0 (shifted), which is
    admissible, and with the exact distance.
    """
    cell = CellParams(set=task.search.headline.set, path_weight=1.0, batch_size=1)
    chosen = task.set(cell.set)
    chosen = chosen.iloc[spread(len(chosen), task.search.admissible_instances)]
    heuristics = {
        "network": heuristic,
        "shifted": TableHeuristic(task.puzzle, np.maximum(heuristic.values - np.float32(overestimate), 0)),
        "exact": exact(task.puzzle, task.distance),
    }
    found = [search_cell(task, name, table, cell, 0.0, chosen)[0] for name, table in heuristics.items()]
    return summarise(pd.concat(found, ignore_index=True), CELL)


def search_baselines(stage: StageRun, task: Task):
    """The exact heuristic on all instances, the zero heuristic on a few of each set."""
    best, best_clock = search_grid(task, "exact", exact(task.puzzle, task.distance), 0.0, task.cells())
    few = Task(task.puzzle, task.search, task.grids, task.distance, few_of_each_set(task))
    worst, worst_clock = search_grid(few, "zero", zero(task.puzzle), 0.0, task.cells())
    searches = pd.concat([best, worst], ignore_index=True)
    frames = {**summaries(searches), "searches": searches}
    metrics = {
        f"{name}_{metric}": value
        for name in ("exact", "zero")
        for metric, value in headline(task, frames["grid"], name).items()
    }
    return write_frames(stage.out, frames), metrics, best_clock + worst_clock


def few_of_each_set(task: Task) -> pd.DataFrame:
    """Instances for the zero heuristic, which expands up to all states in each search, spread over each set."""
    groups = task.instances.groupby("set", sort=False)
    chosen = [group.iloc[spread(len(group), task.search.zero_instances)] for _, group in groups]
    return pd.concat(chosen, ignore_index=True)


def spread(count: int, most: int) -> np.ndarray:
    """At most so many rows out of count, from the first to the last: int64."""
    return np.linspace(0, count - 1, min(most, count)).astype(np.int64)


def select(task: Task, tables: dict[int, TableHeuristic], checkpoints: pd.DataFrame) -> pd.DataFrame:
    """One row per audited checkpoint; selected is the one of fewest expansions among those that are optimal enough.

    Optimal enough is a share of at least selection_optimal_percent; where none has it, the largest share there is.
    Instances have their weights, so that shares are those of the set before it lost the states of the test sets.
    """
    cell, rows = task.search.selection, []
    weights = task.set(cell.set)["weight"]
    for iteration, table in tables.items():
        found, _ = search_cell(task, "network", table, cell, 0.0)
        rows.append(
            {
                "iteration": iteration,
                "convergence_point": int(checkpoints.loc[iteration, "convergence_point"]),
                "optimal_percent": 100 * np.average(found["optimal"], weights=weights),
                "nodes_expanded": np.average(found["nodes_expanded"], weights=weights),
            }
        )
    frame = pd.DataFrame(rows)
    enough = min(task.search.selection_optimal_percent, frame["optimal_percent"].max())
    good = frame[frame["optimal_percent"] >= enough]
    return frame.assign(selected=frame.index == good["nodes_expanded"].idxmin())


def search_grid(
    task: Task, name: str, heuristic: Heuristic, overestimate: float, cells: list[CellParams], place: str = ""
) -> tuple[pd.DataFrame, list[dict]]:
    """Some cells: one row per search, and one row of timing per cell; place is told beside the progress."""
    warm_up(task, name, heuristic)
    frames, clock = [], []
    for cell in cells:
        frame, seconds = search_cell(task, name, heuristic, cell, overestimate)
        frames.append(frame)
        clock.append(timing("table", frame, seconds, np.full(1, seconds / len(frame)), "float32"))
        say(
            f"{task.puzzle.name}, {name} heuristic{place}, {cell.set}, λ = {cell.path_weight}, N = {cell.batch_size}: "
            f"{100 * frame['optimal'].mean():.2f} % of {len(frame)} optimal, "
            f"{frame['nodes_expanded'].mean():,.1f} nodes expanded"
        )
    return pd.concat(frames, ignore_index=True), clock


def search_cell(task: Task, name: str, heuristic: Heuristic, cell: CellParams, overestimate: float, chosen=None):
    """Search from the instances of a cell, or from those chosen; one row per search, and the seconds in all.

    lower_bound has the heuristic's largest overestimate taken off: it is never above the optimum.
    """
    chosen = task.set(cell.set) if chosen is None else chosen
    starts = task.puzzle.unrank(chosen["rank"].to_numpy())
    begun = time.perf_counter()
    result = solve(
        task.puzzle,
        heuristic,
        starts,
        path_weight=cell.path_weight,
        batch_size=cell.batch_size,
        limits=task.limits,
    )
    seconds = time.perf_counter() - begun
    check_solutions(task.puzzle, starts, result)
    distance = chosen["distance"].to_numpy()
    frame = pd.DataFrame(
        {
            "heuristic": name,
            "set": cell.set,
            "path_weight": cell.path_weight,
            "batch_size": cell.batch_size,
            "instance": chosen["instance"].to_numpy(),
            "distance": distance,
            "solved": result.solved,
            "cost": result.cost,
            "optimal": result.cost == distance,
            "nodes_expanded": result.nodes_expanded,
            "nodes_generated": result.nodes_generated,
            "lower_bound": np.maximum(result.lower_bound - overestimate, 0.0),
            "solution": [task.puzzle.format_moves(actions) for actions in result.solutions],
        }
    )
    return frame, seconds


def warm_up(task: Task, name: str, heuristic: Heuristic) -> None:
    """Search once untimed, so that no timing holds the compilation of the engine."""
    search_cell(task, name, heuristic, task.search.headline, 0.0, task.instances.nsmallest(1, "distance"))


def check_solutions(puzzle: Puzzle, starts, result) -> None:
    """Replay every solution; a wrong one is an error of ours and stops the stage."""
    solved = np.flatnonzero(result.solved)
    right = solves(puzzle, starts[solved], [result.solutions[row] for row in solved])
    if not right.all():
        raise UserError(f"{(~right).sum()} solutions of {puzzle.name} do not reach the goal: a defect of the search.")


def search_over_network(task: Task, network: Heuristic, searches: pd.DataFrame) -> tuple[dict, list[dict]]:
    """Repeat part of every cell over the network, some searches each alone and more of them in step.

    Left out are those that took over network_max_steps steps of N nodes over the table.
    Returns the share of searches with the length that the table gave, and the timings.
    """
    warm_up(task, "network", network)
    clock, same = [], []
    for cell in task.cells():
        expected = in_cell(searches, cell)
        expected = expected[expected["nodes_expanded"] <= task.search.network_max_steps * cell.batch_size]
        if expected.empty:
            continue
        expected = expected.iloc[spread(len(expected), task.search.network_searches)]
        chosen = task.set(cell.set).set_index("instance", drop=False).loc[expected["instance"]]
        rows = [chosen.iloc[[row]] for row in spread(len(chosen), task.search.network_searches_alone)]
        alone = [search_cell(task, "network", network, cell, 0.0, row) for row in rows]
        frame, each = pd.concat([frame for frame, _ in alone]), np.array([seconds for _, seconds in alone])
        clock.append(timing("network alone", frame, each.sum(), each, network.precision))
        frame, seconds = search_cell(task, "network", network, cell, 0.0, chosen)
        clock.append(timing("network in step", frame, seconds, np.full(1, seconds / len(frame)), network.precision))
        same.append(frame["cost"].to_numpy() == expected["cost"].to_numpy())
    return {"engines_agree_percent": 100 * float(np.mean(np.concatenate(same)))} if same else {}, clock


def search_all_starts(task: Task, heuristic: TableHeuristic) -> dict[str, float]:
    """The headline cell from every state of the puzzle: a fact, not an estimate."""
    cell = task.search.headline
    optimal, expanded, excess, worst = 0, 0, 0.0, 0.0
    for first in range(0, task.puzzle.state_count, ALL_STARTS_CHUNK):
        ranks = np.arange(first, min(first + ALL_STARTS_CHUNK, task.puzzle.state_count))
        starts = task.puzzle.unrank(ranks)
        weights = {"path_weight": cell.path_weight, "batch_size": cell.batch_size, "limits": task.limits}
        result = solve(task.puzzle, heuristic, starts, **weights)
        check_solutions(task.puzzle, starts, result)
        optimal += int((result.cost == task.distance[ranks]).sum())
        expanded += int(result.nodes_expanded.sum())
        excess += float(np.sum(result.cost - task.distance[ranks]))
        worst = max(worst, float(np.max(result.cost - task.distance[ranks])))
    count = task.puzzle.state_count
    return {
        "all_starts_optimal_percent": 100 * optimal / count,
        "all_starts_nodes_expanded": expanded / count,
        "all_starts_mean_excess": excess / count,
        "all_starts_worst_excess": worst,
    }


def summaries(searches: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The searches by cell, and by cell and distance."""
    by_distance = summarise(searches, [*CELL, "distance"]).sort_values([*CELL, "distance"], kind="stable")
    return {
        "grid": summarise(searches, CELL),
        "by_distance": by_distance[[*CELL, "distance", "instances", "optimal_percent", "nodes_expanded"]],
    }


def headline(task: Task, grid: pd.DataFrame, name: str) -> dict[str, float]:
    """The numbers of the headline cell."""
    cell = task.search.headline
    row = grid[(grid[CELL] == [name, cell.set, cell.path_weight, cell.batch_size]).all(axis=1)].iloc[0]
    return {metric: row[metric] for metric in ("optimal_percent", "nodes_expanded", "length")}


def timing(engine: str, frame: pd.DataFrame, seconds: float, each: np.ndarray, precision: str) -> dict:
    """One row of timing: seconds a search with their spread, nodes expanded a search and a second."""
    cell = {name: frame[name].iloc[0] for name in CELL}
    times = {"seconds": each.mean(), "seconds_low": each.min(), "seconds_high": each.max()}
    times["nodes_expanded"] = frame["nodes_expanded"].mean()
    speed = {"nodes_per_second": frame["nodes_expanded"].sum() / seconds, "precision": precision}
    return {"engine": engine, **cell, "searches": len(frame), **times, **speed}


def write_frames(out: Path, frames: dict[str, pd.DataFrame]) -> list[Path]:
    """Write each frame as parquet below out."""
    for name, frame in frames.items():
        write_frame(out / f"{name}.parquet", frame)
    return [out / f"{name}.parquet" for name in frames]
