"""Audit of a network of a puzzle too large to list: results/<study>/audits/<model>/.

nearby.parquet: the last checkpoint on states of known distance, drawn uniformly at each (exact.nearby).
known.parquet: the last checkpoint on the instances whose distance is known, by set and distance.
consistency.parquet: some checkpoints on the states of random walks (thesis 5.9).
scrambled.parquet: what the last checkpoint says of states after 1, 2 … random moves (final-year report, figure 12).
greedy.parquet: what greedy search solves of such states with each checkpoint (DeepCubeA, figure 3).
progress.parquet: what BWAS finds on a set of instances with some checkpoints; no rows where the study does not ask.
Of a puzzle whose states have goals of their own nearby.parquet is about all states of the levels that are listed, walks
lead back from their solved states, and there are three tables more about the last checkpoint:
dead_ends.parquet: what it says of children from which no solution is left.
bounds.parquet: what BWAS finds on the set of progress by the last alone, and by the larger of it and each lower bound.
along.parquet: what it says along a shortest solution of an instance of middling distance.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from costtogo.analysis.audit import Findings, measures, measures_by_distance
from costtogo.analysis.level_audit import DeadEnds, audit_level
from costtogo.analysis.neighbourhoods import audit_near_goal, look_around
from costtogo.analysis.suboptimality import summarise
from costtogo.exact.level_sample import LevelSample
from costtogo.exact.nearby import GoalAlone, NearbyTable, draw_by_distance
from costtogo.exact.solver import exact_solver
from costtogo.files import read_frame
from costtogo.heuristics.larger import Larger
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.network import NetworkHeuristic, load
from costtogo.learning.instances import draw_walk_ends
from costtogo.learning.samplers import sample_states
from costtogo.params.audits import ProgressParams, SampledAudit
from costtogo.params.base import derive_seed
from costtogo.params.training import sampler_of
from costtogo.progress import say, with_progress
from costtogo.puzzles import find, levels_of
from costtogo.puzzles.base import Puzzle
from costtogo.search import bwas, greedy
from costtogo.search.bwas import Limits
from costtogo.search.replayed import checked
from costtogo.stages.search.loading import Sets, load_heuristic, read_sets
from costtogo.stages.search.running import SUMMARY, run_searches
from costtogo.stages.search.running import describe as describe_searches
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_exact, read_nearby
from costtogo.types import Heuristic, States

Checkpoints: TypeAlias = dict[int, NetworkHeuristic]  # by iteration, ascending
Walks: TypeAlias = Callable[[int, tuple[int, int], np.random.Generator], States]  # walks' ends: count, lengths
OF_A_STATE = ["mean_absolute_error", "bias", "admissible_percent", "overestimation_mean", "overestimation_max"]
MEASURES = [*OF_A_STATE, "consistent_percent", "descending_percent"]
ALONG = ["set", "instance", "step", "state", "distance", "cost_to_go", "push"]
PROGRESS = ["set", "path_weight", "batch_size", "iteration"]  # the columns that name a row
SHOWN = ["admissible_percent", "mean_absolute_error", "overestimation_max"]  # on the card


def run(params: Path, table: Path, instances: Path, model: Path, out: Path) -> None:
    """Audit the checkpoints of a training; model is its folder, table the exact distances around the goal."""
    inputs = [table, instances, model / "checkpoints.parquet", *sorted(model.glob("checkpoints/*.safetensors"))]
    stage = StageRun("audit_samples", __name__, params, out, inputs)
    wanted, puzzle = SampledAudit(**stage.parameters["audit"]), stage.puzzle
    checkpoints = read_checkpoints(model, stage.device)
    last, some = checkpoints[max(checkpoints)], spread(checkpoints, wanted.consistency_checkpoints)
    near_goal, sets = read_exact(table, puzzle), read_sets(puzzle, instances)
    ends, walks = DeadEnds(), walks_of(near_goal)
    questions = {
        "nearby": partial(audit_nearby, near_goal, last, wanted, ends),
        "known": lambda _: audit_known(last, sets),
        "scrambled": partial(audit_scrambled, walks, last, wanted),
        "consistency": partial(audit_consistency, puzzle, near_goal, some, wanted),
        "greedy": partial(audit_greedy, puzzle, walks, checkpoints, wanted),
        "progress": lambda _: audit_progress(read_nearby(table, puzzle), checkpoints, sets, wanted.progress),
    }
    if isinstance(near_goal, LevelSample):
        questions["dead_ends"] = lambda _: pd.DataFrame([ends.summary()])
        questions["bounds"] = lambda _: audit_bounds(puzzle, last, sets, wanted.progress)
        questions["along"] = lambda _: audit_along(puzzle, last, sets)
    frames = {}
    for name, answer in questions.items():
        with stage.part(name):
            frames[name] = answer(np.random.default_rng(derive_seed(stage.parameters["seed"], name)))
    say(describe(out.name, frames))
    stage.finish_tables(frames, card_metrics(frames))


def read_checkpoints(model: Path, device: str) -> Checkpoints:
    """All that a training has left."""
    index = read_frame(model / "checkpoints.parquet")
    return {row.iteration: load(model / row.file, device=device) for row in index.itertuples()}


def spread(checkpoints: Checkpoints, count: int) -> Checkpoints:
    """Up to count of the checkpoints, evenly spread, the last among them."""
    iterations = list(checkpoints)
    chosen = np.linspace(len(iterations) - 1, 0, min(count, len(iterations))).astype(int)[::-1]
    return {iterations[place]: checkpoints[iterations[place]] for place in chosen}


def walks_of(known: NearbyTable | LevelSample) -> Walks:
    """What draws the ends of walks back from the goal, or from the solved states of the levels that are listed."""
    if isinstance(known, LevelSample):
        return partial(levels_of(known.puzzle).walk_ends, known.levels)
    return partial(draw_walk_ends, known.puzzle)


def audit_nearby(
    known: NearbyTable | LevelSample, heuristic: Heuristic, wanted: SampledAudit, ends: DeadEnds, generator
) -> pd.DataFrame:
    """One row for each distance of the table, or of the levels, of which every state is looked at."""
    if isinstance(known, LevelSample):
        source = levels_of(known.puzzle)
        parts = [
            audit_level(known.puzzle, source.table(level), heuristic, ends)
            for level in with_progress(known.levels, len(known.levels), "levels")
        ]
        columns = ([getattr(part, name.name) for part in parts] for name in fields(Findings))
        findings = Findings(*map(np.concatenate, columns))
    else:
        states, distance = draw_by_distance(known, wanted.nearby_states, generator)
        findings = audit_near_goal(known, heuristic, states, distance)
    found = pd.DataFrame(measures_by_distance(findings))
    found["mean_cost_to_go"] = found["distance"] + found["bias"]
    return found[["distance", "states", "mean_cost_to_go", *MEASURES]]


def audit_known(heuristic: Heuristic, sets: Sets) -> pd.DataFrame:
    """One row for each set and distance, of the instances whose distance is known."""
    rows = []
    for name, (instances, states) in sets.items():
        known = instances["distance"].notna().to_numpy()
        distance = instances["distance"].to_numpy()[known].astype(np.int64)
        for moves in np.unique(distance):
            error = heuristic(states[known][distance == moves]) - np.float32(moves)
            rows.append({"set": name, "distance": int(moves), **measures_of(error)})
    found = pd.DataFrame(rows, columns=["set", "distance", "states", *OF_A_STATE])
    found.insert(3, "mean_cost_to_go", found["distance"] + found["bias"])
    return found


def audit_progress(
    table: NearbyTable, checkpoints: Checkpoints, sets: Sets, asked: ProgressParams | None
) -> pd.DataFrame:
    """One row for some checkpoints: summarise of BWAS on the set asked for."""
    if asked is None:
        return pd.DataFrame(columns=PROGRESS)
    frames, cell = [], {"path_weight": asked.path_weight, "batch_size": asked.batch_size}
    for iteration, network in spread(checkpoints, asked.checkpoints).items():
        options = {**cell, "limits": Limits(max_nodes=asked.max_nodes)}
        search = partial(bwas.solve, network.puzzle, NearbyHeuristic(network, table), **options)
        found = run_searches(network.puzzle, search, *sets[asked.set], **cell, iteration=iteration)
        place = f"iteration {iteration}, {asked.set}, λ = {asked.path_weight:g}, N = {asked.batch_size:,}"
        say(f"{place}: {describe_searches(found)}")
        frames.append(found)
    return summarise(pd.concat(frames, ignore_index=True), PROGRESS)[[*PROGRESS, *SUMMARY]]


def audit_bounds(puzzle: Puzzle, last: NetworkHeuristic, sets: Sets, asked: ProgressParams | None) -> pd.DataFrame:
    """A row without a bound, and one for each of the puzzle: summarise of BWAS, searches of the same limits."""
    if asked is None:
        return pd.DataFrame(columns=["bound"])
    frames, cell = [], {"path_weight": asked.path_weight, "batch_size": asked.batch_size}
    alone, bounds = NearbyHeuristic(last, GoalAlone(puzzle)), find(puzzle.name)[0].bounds
    guides = {"none": alone} | {name: Larger(alone, load_heuristic(puzzle, name)) for name in bounds}
    for name, heuristic in guides.items():
        search = partial(bwas.solve, puzzle, heuristic, **cell, limits=Limits(max_nodes=asked.max_nodes))
        frames.append(run_searches(puzzle, search, *sets[asked.set], **cell, bound=name))
    columns = ["bound", "set", "path_weight", "batch_size"]
    return summarise(pd.concat(frames, ignore_index=True), columns)[[*columns, *SUMMARY]]


def audit_along(puzzle: Puzzle, last: NetworkHeuristic, sets: Sets) -> pd.DataFrame:
    """One row a state on a shortest solution of the first set's instance that lies in the middle of those by distance;
    none where no distance is known."""
    name, (instances, states) = next(iter(sets.items()))
    known = np.flatnonzero(instances["distance"].notna())
    if not len(known):
        return pd.DataFrame(columns=ALONG)
    order = known[instances["distance"].to_numpy()[known].argsort(kind="stable")]
    place = int(order[len(order) // 2])
    solution = exact_solver(puzzle)(states[[place]]).solutions[0]
    way = [states[place]]
    for action in solution:
        way.append(puzzle.move(way[-1][None], np.array([action]))[0])
    return pd.DataFrame(
        {
            "set": name,
            "instance": instances["instance"].iloc[place],
            "step": np.arange(len(way)),
            "state": [puzzle.format_state(state) for state in way],
            "distance": len(solution) - np.arange(len(way)),
            "cost_to_go": last(np.array(way)).astype(np.float64),
            "push": np.concatenate([[False], puzzle.is_push(states[place], solution)]),
        },
        columns=ALONG,
    )


def measures_of(error: np.ndarray) -> dict[str, float]:
    """The measures of some states by the error of their cost-to-go alone, float32 [N], in moves."""
    unknown = np.zeros(len(error), dtype=bool)
    found = measures(Findings(unknown, error, unknown, unknown))
    return {name: found[name] for name in ("states", *OF_A_STATE)}


def audit_scrambled(walks: Walks, heuristic: Heuristic, wanted: SampledAudit, generator) -> pd.DataFrame:
    """One row for each scramble depth: the spread of the cost-to-go, from its 5th to its 95th percentile."""
    rows = []
    for depth in range(1, wanted.depths + 1):
        values = heuristic(walks(wanted.scrambled_states, (depth, depth), generator))
        values = values.astype(np.float64)
        low, high = np.percentile(values, [5, 95])
        row = {"depth": depth, "states": len(values), "mean_cost_to_go": values.mean(), "low": low, "high": high}
        rows.append({**row, "std": values.std()})
    return pd.DataFrame(rows)


def audit_consistency(puzzle: Puzzle, known, some: Checkpoints, wanted: SampledAudit, generator) -> pd.DataFrame:
    """One row for each of some checkpoints, on the same states."""
    if isinstance(known, LevelSample):
        states = walks_of(known)(wanted.consistency_states, (1, wanted.walk_max), generator)
    else:
        walks = sampler_of(kind="deepcube")
        states = sample_states(puzzle, walks, wanted.consistency_states, wanted.walk_max, generator)
    shares = [100 * look_around(puzzle, heuristic, states).consistent.mean() for heuristic in some.values()]
    return pd.DataFrame({"iteration": list(some), "states": len(states), "consistent_percent": shares})


def audit_greedy(
    puzzle: Puzzle, walks: Walks, checkpoints: Checkpoints, wanted: SampledAudit, generator
) -> pd.DataFrame:
    """One row for each checkpoint and scramble depth, on the same states: solved, and what the network says of them.

    Every solution is replayed.
    """
    depths, count = wanted.greedy_depths, wanted.greedy_states
    starts = np.concatenate([walks(count, (depth, depth), generator) for depth in depths])
    rows = []
    for iteration, heuristic in checkpoints.items():
        found, _ = checked(puzzle, partial(greedy.solve, puzzle, heuristic, max_moves=wanted.greedy_moves), starts)
        costs = heuristic(starts).astype(np.float64).reshape(len(depths), count).mean(axis=1)
        shares = 100 * found.solved.reshape(len(depths), count).mean(axis=1)
        for depth, share, cost in zip(depths, shares, costs, strict=True):
            row = {"iteration": iteration, "depth": depth, "states": count, "solved_percent": share}
            rows.append(row | {"mean_cost_to_go": cost})
    return pd.DataFrame(rows)


def card_metrics(frames: dict[str, pd.DataFrame]) -> dict[str, float]:
    """What the last checkpoint shows."""
    metrics = {
        f"distance_{row['distance']:.0f}_{name}": row[name]
        for row in frames["nearby"].to_dict("records")
        for name in SHOWN
    }
    for name, group in frames["known"].groupby("set", sort=False):
        metrics |= {f"known_{name}_{measure}": value for measure, value in pooled(group).items()}
    metrics["consistent_percent"] = frames["consistency"]["consistent_percent"].iloc[-1]
    solved = of_last(frames["greedy"])
    return metrics | {f"greedy_{row.depth}_solved_percent": row.solved_percent for row in solved.itertuples()}


def pooled(known: pd.DataFrame) -> dict[str, float]:
    """The measures shown of all distances together; known: rows of audit_known."""
    weights = known["states"] / known["states"].sum()
    means = {name: float((known[name] * weights).sum()) for name in ("admissible_percent", "mean_absolute_error")}
    return means | {"overestimation_max": float(known["overestimation_max"].max())}


def describe(name: str, frames: dict[str, pd.DataFrame]) -> str:
    """One line on the last checkpoint."""
    consistent = frames["consistency"]["consistent_percent"].iloc[-1]
    return (
        f"{name}: {consistent:.2f} % consistent; "
        f"admissible by distance: {percents(frames['nearby']['admissible_percent'])} %; "
        f"solved by greedy search: {percents(of_last(frames['greedy'])['solved_percent'])} %"
    )


def of_last(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last checkpoint."""
    return rows[rows["iteration"] == rows["iteration"].iloc[-1]]


def percents(values: Iterable[float]) -> str:
    """[100.0, 97.25] -> "100, 97"."""
    return ", ".join(f"{value:.0f}" for value in values)
