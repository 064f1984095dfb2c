"""External instances, solved and held against the optimum: results/<study>/external/<model>/.

searches.parquet has a row for each budget and instance, summary.parquet one for the first 30, the first 100 and all
of a budget. A search has so many seconds, so the results depend on the machine as those of no other stage do. What is
solved lies in results/<study>/resume/external_<model>/, under a digest of itself: a run that was killed, or asked for
more states, goes on there.
"""

import hashlib
import json
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from costtogo.analysis.intervals import mean_interval, wilson
from costtogo.exact.lights_out import FewestPresses
from costtogo.exact.nearby import NearbyTable
from costtogo.external import Instances
from costtogo.external import load as load_instances
from costtogo.external_files import find
from costtogo.files import FileError, json_text, read_text, write_frame, write_text
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.network import NetworkHeuristic
from costtogo.params.searches import ExternalBudget, ExternalParams
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, random_walks, solves
from costtogo.search.anytime import solve_with_weights, solve_within
from costtogo.stages.search_records import last_network, metrics_of
from costtogo.stages.solve import told
from costtogo.stages.stage_run import StageRun, parameters_of, say
from costtogo.stages.tables import read_nearby
from costtogo.types import SearchResult, States, UserError

FIRST = (30, 100)  # instances that the summary tells of, besides all
CELL = ["seconds_allowed", "instance"]
INTERVAL = ("optimal_percent_low", "optimal_percent_high")
AGAINST_THE_OPTIMUM = ("optimal_length", "optimal_percent", *INTERVAL, "admissible_percent")
MEASURES = ("solved_percent", "length", "optimal_length", "optimal_percent", "admissible_percent")


@dataclass(frozen=True)
class Solver:
    """Searches under a budget, over a network, that end in the exact table: BWAS where it has λ and N, else beams."""

    puzzle: Puzzle
    heuristic: NetworkHeuristic
    nearby: NearbyTable
    budget: ExternalBudget
    max_nodes: int
    threads: int

    def warm_up(self) -> None:
        """A small search, so that no other's seconds hold the loading of compiled code."""
        start = random_walks(self.puzzle, 1, 20, np.random.default_rng(0))[0, -1]
        self.search(start, seconds=0.1)

    def search(self, start: States, **limits) -> SearchResult:
        """One search from uint8 [D]; limits: seconds, max_nodes."""
        if self.budget.solver == "beam":
            return solve_within(self.puzzle, self.heuristic, start, nearby=self.nearby, **limits)
        return solve_with_weights(
            self.puzzle,
            NearbyHeuristic(self.heuristic, self.nearby),
            start,
            path_weights=self.budget.path_weights,
            batch_size=self.budget.batch_size,
            count=self.budget.images,
            widening=self.budget.widening,
            shortening=self.budget.shortening,
            threads=self.threads,
            **limits,
        )

    def row(self, start: States) -> dict:
        """One search from uint8 [D]; its solution is replayed."""
        begun = time.perf_counter()
        found = self.search(start, seconds=self.budget.seconds, max_nodes=self.max_nodes)
        seconds = time.perf_counter() - begun
        solved, solution = bool(found.solved[0]), found.solutions[0]
        if solved and not solves(self.puzzle, start[None], [solution])[0]:
            raise UserError(f"A solution of {self.puzzle.name} does not reach the goal: a defect of the search.")
        counted = solved and self.puzzle.half_turn_length
        return {
            "solved": solved,
            "cost": float(found.cost[0]),
            "length_htm": float(self.puzzle.half_turn_length(solution)) if counted else np.nan,
            "nodes_expanded": int(found.nodes_expanded[0]),
            "nodes_generated": int(found.nodes_generated[0]),
            "solution": self.puzzle.format_moves(solution),
            "seconds": seconds,
        }


def run(params: Path, table: Path, model: Path, out: Path) -> None:
    """Solve the first instances of the file that the parameters name; model is the folder of a training."""
    asked = ExternalParams(**parameters_of(params)["external"])
    path = find(asked.file)
    stage = StageRun("external", __name__, params, out, [table, model / "checkpoints.parquet", path])
    torch.set_num_threads(stage.parameters["threads"])
    puzzle = make(stage.parameters["puzzle"])
    heuristic = last_network(model, stage.parameters["device"])
    instances, nearby = with_optima(puzzle, load_instances(puzzle, path)), read_nearby(table, puzzle)
    partials, frames = stage.results / "resume" / f"external_{out.name}", []
    for budget in asked.budgets:
        limits = stage.parameters["max_nodes"], stage.parameters["threads"]
        solver = Solver(puzzle, heuristic, nearby, budget, *limits)
        first, partial = instances.first(budget.states), partials / f"{key(stage.card, budget)}.jsonl"
        with stage.part(f"searches_{budget.seconds:g}s"):
            found = search(solver, first, partial, f"{out.name}, {budget.searched}")
        frames.append(table_of(heuristic, first, found).assign(seconds_allowed=budget.seconds))
    found = pd.concat(frames, ignore_index=True)
    summary = summarise(found)
    write_frame(stage.results / "timings" / "external" / f"{out.name}.parquet", found[[*CELL, "seconds"]])
    searches = found[["seconds_allowed", *found.columns.drop(["seconds_allowed", "seconds"])]]
    write_frame(out / "searches.parquet", searches)
    write_frame(out / "summary.parquet", summary)
    for row in summary.itertuples():
        say(f"{out.name}, {describe(row)}")
    named = summary.assign(
        budget=[f"{seconds:g}s" for seconds in summary["seconds_allowed"]],
        states=[f"first_{first}" for first in summary["first"]],
    )
    metrics = metrics_of(named, ["budget", "states"], MEASURES)
    stage.finish([out / "searches.parquet", out / "summary.parquet"], metrics, threads=stage.parameters["threads"])


def with_optima(puzzle: Puzzle, instances: Instances) -> Instances:
    """The instances with the lengths of shortest solutions that follow from the rules, where the file tells none."""
    if puzzle.family != "lights_out" or not np.isnan(instances.optimal).any():
        return instances
    return replace(instances, optimal=FewestPresses(puzzle)(instances.states).astype(np.float64))


def key(card: dict, budget: ExternalBudget) -> str:
    """What searches must agree in to be taken for those of a budget of this run; how many it asks for may differ."""
    same = {name: card[name] for name in ("inputs", "code", "versions")}
    same["parameters"] = {**card["parameters"], "external": budget.model_dump(exclude={"states"})}
    return hashlib.sha256(json_text(same).encode()).hexdigest()


def search(solver: Solver, instances: Instances, partial: Path, name: str) -> pd.DataFrame:
    """One row a search; those in the partial file are kept, and each new one is added to it."""
    rows = kept(partial, name)[: len(instances.states)]
    if rows:
        say(f"{name}: resumed after {len(rows)} instances")
    solver.warm_up()
    for start in told(list(instances.states[len(rows) :]), name):
        rows.append({"instance": len(rows), **solver.row(start)})
        keep(partial, rows)
    return pd.DataFrame(rows)


def keep(partial: Path, rows: list[dict]) -> None:
    """Write rows, one a line, under a line with a digest of them and of the file's name, which is their key."""
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    write_text(partial, f"{_seal(partial, lines)}\n{lines}")


def kept(partial: Path, name: str) -> list[dict]:
    """The rows of an earlier run; none where there was none, or where the file holds something else: a line says so."""
    if not partial.exists():
        return []
    try:
        seal, _, lines = read_text(partial).partition("\n")
        if seal != _seal(partial, lines):
            raise FileError(f"{partial} is not what an earlier run wrote: it is cut off or was changed since.")
    except FileError as error:
        shutil.rmtree(partial, ignore_errors=True)  # where a folder is in its place
        say(f"{name}: all searches begin anew: {error}")
        return []
    return [json.loads(line) for line in lines.splitlines()]


def _seal(partial: Path, lines: str) -> str:
    return hashlib.sha256(f"{partial.stem}\n{lines}".encode()).hexdigest()


def table_of(heuristic: NetworkHeuristic, instances: Instances, found: pd.DataFrame) -> pd.DataFrame:
    """The searches beside the optimum and the network's cost-to-go; UserError where one beats the optimum."""
    known = pd.DataFrame(
        {
            "instance": np.arange(len(instances.states)),
            instances.kind: instances.texts,
            "optimal": instances.optimal.astype(np.float64),
            "cost_to_go": heuristic(instances.states).astype(np.float64),
        }
    )
    searches = known.merge(found, on="instance", validate="one_to_one")
    for row in np.flatnonzero(searches["cost"] < searches["optimal"]):
        cost, optimal = searches["cost"][row], searches["optimal"][row]
        raise UserError(
            f"Instance {row} is solved in {cost:g} moves, fewer than the {optimal:g} of its optimum: mend the file."
        )
    return searches


def summarise(searches: pd.DataFrame) -> pd.DataFrame:
    """One row for the first 30, the first 100 and all of a budget; length over the solved, intervals of 95 %.

    What is held against the optimum is NaN where that is not known.
    """
    rows = []
    for seconds, group in searches.groupby("seconds_allowed", sort=False):
        firsts = [*(first for first in FIRST if first < len(group)), len(group)]
        rows += [{"seconds_allowed": seconds, **_summary(group.iloc[:first])} for first in firsts]
    return pd.DataFrame(rows)


def _summary(searches: pd.DataFrame) -> dict:
    """The measures of some searches; one that is not solved is not optimal."""
    length, low, high = mean_interval(searches.loc[searches["solved"], "cost"])
    measures = {
        "first": len(searches),
        "solved_percent": 100 * searches["solved"].mean(),
        "length": length,
        "length_low": low,
        "length_high": high,
    }
    if searches["optimal"].isna().any():
        return measures | dict.fromkeys(AGAINST_THE_OPTIMUM, np.nan)
    optimal = int((searches["cost"] == searches["optimal"]).sum())
    optimal_low, optimal_high = wilson(optimal, len(searches))
    values = {
        "optimal_length": searches["optimal"].mean(),
        "optimal_percent": 100 * optimal / len(searches),
        "optimal_percent_low": 100 * optimal_low,
        "optimal_percent_high": 100 * optimal_high,
        "admissible_percent": 100 * (searches["cost_to_go"] <= searches["optimal"]).mean(),
    }
    return measures | values


def describe(row) -> str:
    """One line on a row of the summary."""
    length = f", {row.length:.2f} moves ({row.length_low:.2f} – {row.length_high:.2f})" if row.solved_percent else ""
    solved = f"the first {row.first}, {row.seconds_allowed:g} s each: {row.solved_percent:.1f} % solved{length}"
    if np.isnan(row.optimal_length):
        return solved
    return (
        f"{solved}, optimum {row.optimal_length:.2f}, "
        f"{row.optimal_percent:.1f} % optimal ({row.optimal_percent_low:.1f} – {row.optimal_percent_high:.1f}), "
        f"network admissible on {row.admissible_percent:.1f} %"
    )
