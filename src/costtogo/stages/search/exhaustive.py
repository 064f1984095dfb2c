"""BWAS over λ × N where every state has been listed: results/<study>/searches/<name>/.

Of a model, whose network was evaluated on every state, or with the exact and the zero heuristic. Results come from the
engine over a table. The engine over the network repeats part of the searches: its seconds are those to compare with
the literature, and both engines must find the same lengths.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from costtogo.analysis.suboptimality import separated, summarise
from costtogo.files import read_arrays, read_frame
from costtogo.heuristics.network import NetworkHeuristic
from costtogo.heuristics.table import TableHeuristic, exact, zero
from costtogo.params.searches import CellParams, GridParams, SearchProtocol
from costtogo.progress import say
from costtogo.puzzles.base import ListedPuzzle
from costtogo.search import bwas
from costtogo.search.bwas import Limits
from costtogo.search.replayed import checked, warm_up
from costtogo.stages.search.loading import Sets, index_of, load_network, read_sets
from costtogo.stages.search.running import describe, run_alone, run_searches
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_table
from costtogo.types import Heuristic, UserError

ALL_STARTS_CHUNK = 100_000
BLIND = 10  # times the fewest nodes: a checkpoint that expands more does not compete
RUNS = 5  # of a search that is timed alone and is the only one of its cell; their median counts
LONG = 10  # seconds of a search that is timed once
VALUES = "values.npz"  # of an audit
CELL = ["heuristic", "set", "path_weight", "batch_size"]
ROW = ["instance", "distance", "solved", "cost", "optimal", "nodes_expanded", "nodes_generated", "lower_bound",
       "solution"]  # fmt: skip
SUMMARY = ["instances", "solved_percent", "optimal_percent", "optimal_low", "optimal_high", "length", "excess",
           "nodes_expanded", "nodes_generated"]  # fmt: skip
AT_DISTANCE = ["distance", "instances", "optimal_percent", "optimal_low", "optimal_high", "nodes_expanded"]
HEADLINE = ("optimal_percent", "nodes_expanded", "length")


@dataclass(frozen=True)
class Protocol:
    """What the searches of a puzzle share.  distance: of every state, by rank."""

    puzzle: ListedPuzzle
    asked: SearchProtocol
    grids: list[GridParams]
    distance: np.ndarray
    sets: Sets

    def cells(self, every_checkpoint: bool = False) -> list[CellParams]:
        """Every (set, λ, N) of the grids and the headline cell; or of those grids that each checkpoint is to search,
        where there are any."""
        grids = [grid for grid in self.grids if grid.every_checkpoint or not every_checkpoint]
        cells = [cell for grid in grids for cell in grid.cells]
        return list(dict.fromkeys(cells if cells and every_checkpoint else [*cells, self.asked.headline]))

    def search(
        self, name: str, heuristic: Heuristic, cell: CellParams, chosen: np.ndarray | slice = slice(None), alone=False
    ) -> pd.DataFrame:
        """The rows of a cell, from all instances of its set or those at some places, in one call or each alone."""
        instances, starts = self.sets[cell.set]
        setting = {"path_weight": cell.path_weight, "batch_size": cell.batch_size}
        rows = (run_alone if alone else run_searches)(
            self.puzzle, self.of(heuristic, cell), instances.iloc[chosen], starts[chosen], heuristic=name, **setting
        )
        walks = {"walk": instances["walk"].iloc[chosen].to_numpy()} if "walk" in instances else {}
        return rows.assign(optimal=rows["cost"] == rows["distance"], **walks)

    def of(self, heuristic: Heuristic, cell: CellParams, **limits):
        """The search of a cell; limits: other than those asked for."""
        limits = {"max_expansions": self.asked.max_expansions, "max_nodes": self.asked.max_nodes} | limits
        setting = {"path_weight": cell.path_weight, "batch_size": cell.batch_size, "limits": Limits(**limits)}
        return partial(bwas.solve, self.puzzle, heuristic, **setting)


def run(
    params: Path, out: Path, table: Path, instances: Path, audit: Path | None = None, model: Path | None = None
) -> None:
    """Search for a model, whose folders audit and model are, or without them with the exact and the zero heuristic."""
    if (audit is None) != (model is None):
        raise UserError("Give both --audit and --model to search with a network, or neither for the baselines.")
    inputs = [table, instances, *([audit / VALUES, index_of(model)] if audit else [])]
    stage = StageRun("search", __name__, params, out, inputs)
    puzzle = stage.puzzle
    protocol = Protocol(
        puzzle,
        SearchProtocol(**stage.parameters["search"]),
        [GridParams(**values) for values in stage.parameters["searches"]],
        read_table(table, puzzle),
        read_sets(puzzle, instances),
    )
    found = search_model(stage, protocol, audit, model) if audit else search_baselines(protocol)
    clock = [timing("table", rows, "float32") for _, rows in found.searches.groupby(CELL, sort=False)] + found.clock
    tables = {**summaries(found.searches), "searches": found.searches[[*CELL, *ROW]], **found.tables}
    stage.finish_tables(tables, found.metrics, pd.DataFrame(clock))


class Found(NamedTuple):
    """What a stage finds: the searches over a table, further tables, the timings of other searches, metrics."""

    searches: pd.DataFrame
    metrics: dict[str, float]
    tables: dict[str, pd.DataFrame] = {}
    clock: list[dict] = []


def search_model(stage: StageRun, protocol: Protocol, audit: Path, model: Path) -> Found:
    """Search with every audited checkpoint; the one chosen on the selection set is taken for the model.

    lower_bound has the heuristic's largest overestimate taken off: it is never above the optimum.
    """
    tables = read_tables(protocol.puzzle, audit / VALUES)
    points = read_frame(index_of(model)).set_index("iteration")["convergence_point"]
    selection = select(protocol, tables, points)
    iteration = int(selection.loc[selection["selected"], "iteration"].iloc[0])
    heuristic = tables[iteration]
    overestimate = float(np.max(heuristic.values - protocol.distance.astype(np.float32), initial=0.0))
    searches = search_cells(protocol, "network", heuristic, protocol.cells())
    network = load_network(model, stage.device, iteration)
    agreement, clock = search_over_network(protocol, network, searches)
    more = search_checkpoints(protocol, tables, points, {iteration: searches})
    more |= {"selection": selection, "admissible": search_admissible(protocol, heuristic, overestimate)}
    metrics = {"selected_iteration": iteration, "overestimation_max": overestimate, **agreement}
    metrics |= headline_metrics(protocol, searches)
    if stage.out.name in protocol.asked.all_starts:
        with stage.part("all starts"):
            metrics |= search_all_starts(protocol, heuristic)
    bound = np.maximum(searches["lower_bound"] - overestimate, 0.0)
    return Found(searches.assign(lower_bound=bound), metrics, more, clock)


def search_baselines(protocol: Protocol) -> Found:
    """Search with the exact heuristic from all instances, with the zero heuristic from a few of each set.

    The zero heuristic expands up to all states in each search.
    """
    few = {}
    for name, (instances, starts) in protocol.sets.items():
        chosen = spread(len(starts), protocol.asked.zero_instances)
        few[name] = instances.iloc[chosen], starts[chosen]
    parts, metrics = [], {}
    floor, ceiling = exact(protocol.puzzle, protocol.distance), zero(protocol.puzzle)
    for name, heuristic, part in (("exact", floor, protocol), ("zero", ceiling, replace(protocol, sets=few))):
        parts.append(search_cells(part, name, heuristic, part.cells()))
        metrics |= {f"{name}_{measure}": value for measure, value in headline_metrics(protocol, parts[-1]).items()}
    return Found(pd.concat(parts, ignore_index=True), metrics)


def read_tables(puzzle: ListedPuzzle, values: Path) -> dict[int, TableHeuristic]:
    """The values of every audited checkpoint by its iteration."""
    arrays = read_arrays(values)
    pairs = zip(arrays["iteration"].tolist(), arrays["value"], strict=True)
    return {iteration: TableHeuristic(puzzle, table) for iteration, table in pairs}


def select(protocol: Protocol, tables: dict[int, TableHeuristic], points: pd.Series) -> pd.DataFrame:
    """One row per audited checkpoint; selected is the one of fewest expansions among those that are optimal enough.

    Of those that expand at most BLIND times the fewest nodes, optimal enough are the one that solves most instances
    optimally, and those that a paired test does not separate from it. A network that knows little searches
    nearly all states, and finds shortest solutions so. Of equally few expansions the later counts. Instances have their
    weights, so that shares are those of the set before it lost the states of the test sets.
    points: convergence points by iteration.
    """
    cell, rows, optimal = protocol.asked.selection, [], []
    weights = protocol.sets[cell.set][0]["weight"]
    for iteration, table in tables.items():
        found = protocol.search("network", table, cell)
        optimal.append(found["optimal"].to_numpy())
        rows.append(
            {
                "iteration": iteration,
                "convergence_point": int(points[iteration]),
                "optimal_percent": 100 * np.average(found["optimal"], weights=weights),
                "nodes_expanded": np.average(found["nodes_expanded"], weights=weights),
            }
        )
    frame = pd.DataFrame(rows)
    sees = frame["nodes_expanded"] <= BLIND * frame["nodes_expanded"].min()
    best = optimal[frame["optimal_percent"].where(sees).idxmax()]
    frame["separated"] = [separated(best, other) for other in optimal]
    enough = sees & ~frame["separated"]
    chosen = frame.index[enough & (frame["nodes_expanded"] == frame.loc[enough, "nodes_expanded"].min())].max()
    return frame.assign(selected=frame.index == chosen)


def search_cells(
    protocol: Protocol, name: str, heuristic: Heuristic, cells: list[CellParams], place: str = ""
) -> pd.DataFrame:
    """The rows of some cells; place: the end of the name in lines of progress."""
    warm_up(protocol.puzzle, protocol.of(heuristic, protocol.asked.headline, max_nodes=2000))
    frames = []
    for cell in cells:
        frames.append(protocol.search(name, heuristic, cell))
        where = f"{cell.set}, λ = {cell.path_weight}, N = {cell.batch_size}"
        say(f"{protocol.puzzle.name}, {name} heuristic{place}, {where}: {describe(frames[-1])}")
    return pd.concat(frames, ignore_index=True)


def search_checkpoints(
    protocol: Protocol, tables: dict[int, TableHeuristic], points: pd.Series, known: dict[int, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    """The summaries of every audited checkpoint, with iteration and convergence_point before them.

    points: convergence points by iteration.  known: searches of those that have searched every cell, by iteration.
    """
    cells, parts = protocol.cells(every_checkpoint=True), {"grid": [], "by_distance": []}
    for iteration, table in tables.items():
        if iteration in known:
            searches = pd.concat([in_cell(known[iteration], cell) for cell in cells], ignore_index=True)
        else:
            searches = search_cells(protocol, "network", table, cells, f" of iteration {iteration}")
        place = {"iteration": iteration, "convergence_point": int(points[iteration])}
        for name, frame in summaries(searches).items():
            parts[name].append(frame.assign(**place)[[*place, *frame.columns]])
    grid, by_distance = (pd.concat(part, ignore_index=True) for part in parts.values())
    return {"checkpoints": grid, "checkpoints_by_distance": by_distance}


def in_cell(searches: pd.DataFrame, cell: CellParams) -> pd.DataFrame:
    """The searches of a cell."""
    return searches[(searches[CELL[1:]] == [cell.set, cell.path_weight, cell.batch_size]).all(axis=1)]


def search_admissible(protocol: Protocol, heuristic: TableHeuristic, overestimate: float) -> pd.DataFrame:
    """Summaries at λ = 1, N = 1 from part of the headline set: optimality follows from admissibility there.

    Searched with the network, with it less its largest overestimate over all states and cut at 0 (shifted), which is
    admissible, and with the exact distance.
    """
    puzzle, cell = protocol.puzzle, CellParams(set=protocol.asked.headline.set, path_weight=1.0, batch_size=1)
    chosen = spread(len(protocol.sets[cell.set][0]), protocol.asked.admissible_instances)
    heuristics = {
        "network": heuristic,
        "shifted": TableHeuristic(puzzle, np.maximum(heuristic.values - np.float32(overestimate), 0)),
        "exact": exact(puzzle, protocol.distance),
    }
    found = [protocol.search(name, heuristic, cell, chosen) for name, heuristic in heuristics.items()]
    return summaries(pd.concat(found, ignore_index=True))["grid"]


def spread(count: int, most: int) -> np.ndarray:
    """Up to `most` row indices, evenly spaced over `count` rows, the first and the last among them: int64."""
    return np.linspace(0, count - 1, min(most, count)).astype(np.int64)


def search_over_network(
    protocol: Protocol, network: NetworkHeuristic, searches: pd.DataFrame
) -> tuple[dict, list[dict]]:
    """Repeat part of every cell over the network, some searches each alone and more of them in step.

    Returns the share of searches with the length that the table gave, and the timings.
    """
    warm_up(protocol.puzzle, protocol.of(network, protocol.asked.headline, max_nodes=2000))
    clock, same = [], []
    for cell, short in comparable(protocol, searches):
        chosen = short[spread(len(short), protocol.asked.network_searches)]
        alone = chosen[spread(len(chosen), protocol.asked.network_searches_alone)]
        left_out = len(protocol.sets[cell.set][0]) - len(short)
        for engine, places in {"network alone": alone, "network in step": chosen}.items():
            rows = protocol.search("network", network, cell, places, alone=engine == "network alone")
            if engine == "network alone" and len(places) == 1 and rows["seconds"].iloc[0] < LONG:
                more = [protocol.search("network", network, cell, places, alone=True) for _ in range(RUNS - 1)]
                rows = rows.assign(seconds=np.median([run["seconds"].iloc[0] for run in [rows, *more]]))
            clock.append(timing(engine, rows, network.precision, left_out))
        same.append(rows["cost"].to_numpy() == in_cell(searches, cell)["cost"].to_numpy()[chosen])
    return {"engines_agree_percent": 100 * float(np.mean(np.concatenate(same)))} if same else {}, clock


def comparable(protocol: Protocol, searches: pd.DataFrame) -> list[tuple[CellParams, np.ndarray]]:
    """The cells to be repeated over the network, each with the places of its set's instances that may be.

    They are the same in all cells of a set, so that seconds differ by cell, not by instance: those that took at most
    network_max_steps steps of N nodes over the table in every cell. Where these are fewer than are searched alone, the
    cell with the fewest short searches is not repeated.
    """
    asked, found = protocol.asked, []
    for name, (instances, _) in protocol.sets.items():
        short = {
            cell: in_cell(searches, cell)["nodes_expanded"].to_numpy() <= asked.network_max_steps * cell.batch_size
            for cell in protocol.cells()
            if cell.set == name
        }
        enough = min(asked.network_searches_alone, len(instances))
        while short and np.all(list(short.values()), axis=0).sum() < enough:
            del short[min(short, key=lambda cell: short[cell].sum())]
        found += [(cell, np.flatnonzero(np.all(list(short.values()), axis=0))) for cell in short]
    return found


def search_all_starts(protocol: Protocol, heuristic: TableHeuristic) -> dict[str, float]:
    """The headline cell from every state of the puzzle: a fact, not an estimate."""
    search, count = protocol.of(heuristic, protocol.asked.headline), protocol.puzzle.state_count
    expanded, excess = 0, np.zeros(count)
    for first in range(0, count, ALL_STARTS_CHUNK):
        ranks = np.arange(first, min(first + ALL_STARTS_CHUNK, count))
        found, _ = checked(protocol.puzzle, search, protocol.puzzle.unrank(ranks))
        expanded += int(found.nodes_expanded.sum())
        excess[ranks] = found.cost - protocol.distance[ranks]
    return {
        "all_starts_optimal_percent": 100 * int((excess == 0).sum()) / count,
        "all_starts_nodes_expanded": expanded / count,
        "all_starts_mean_excess": float(excess.sum()) / count,
        "all_starts_worst_excess": float(excess.max()),
    }


def summaries(searches: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The searches by cell, and by cell and distance."""
    by_distance = summarise(searches, [*CELL, "distance"]).sort_values([*CELL, "distance"], kind="stable")
    return {"grid": summarise(searches, CELL)[[*CELL, *SUMMARY]], "by_distance": by_distance[[*CELL, *AT_DISTANCE]]}


def headline_metrics(protocol: Protocol, searches: pd.DataFrame) -> dict[str, float]:
    """The numbers of the headline cell."""
    row = summarise(in_cell(searches, protocol.asked.headline)).iloc[0]
    return {measure: row[measure] for measure in HEADLINE}


def timing(engine: str, rows: pd.DataFrame, precision: str, left_out: int = 0) -> dict:
    """One row of timing: seconds a search, with their spread where each was searched alone, and nodes expanded.

    left_out: instances of the set that were too slow to be searched so, in this cell or in another.
    """
    seconds, nodes = rows["seconds"], rows["nodes_expanded"]
    each = seconds if engine == "network alone" else pd.Series([seconds.mean()])
    times = {"seconds": each.mean(), "seconds_low": each.min(), "seconds_high": each.max()}
    speed = {"nodes_expanded": nodes.mean(), "nodes_per_second": nodes.sum() / seconds.sum(), "precision": precision}
    cell = {name: rows[name].iloc[0] for name in CELL}
    return {"engine": engine, **cell, "searches": len(rows), **times, **speed, "left_out": left_out}
