"""External instances, solved and held against the optimum: results/<study>/external/<model>/.

searches.parquet has a row for each budget and instance, summary.parquet one for the first 30, the first 100 and all
of a budget. A search has so many seconds, so the results depend on the machine as those of no other stage do. What is
solved lies in results/<study>/resume/external_<model>/, under a digest of itself: a run that was killed, or asked for
more states, goes on there.
"""

import hashlib
import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.analysis.suboptimality import summarise
from costtogo.exact.solver import exact_solver
from costtogo.external import Instances
from costtogo.external import load as load_instances
from costtogo.external_files import find
from costtogo.files import FileError, json_text, read_text, write_text
from costtogo.params.searches import ExternalBudget, ExternalParams
from costtogo.progress import say, with_progress
from costtogo.puzzles.base import Puzzle
from costtogo.search import anytime
from costtogo.search.replayed import Search, warm_up
from costtogo.stages.search.loading import index_of, load_network, read_ends
from costtogo.stages.search.running import describe, in_notation, metrics_of, run_searches
from costtogo.stages.stage_run import StageRun, parameters_of

FIRST = (30, 100)  # instances that the summary tells of, besides all
CELL = ["seconds_allowed", "instance"]
FOUND = ["solved", "cost", "length_htm", "nodes_expanded", "nodes_generated", "solution"]
AGAINST_THE_OPTIMUM = ("optimal_length", "optimal_percent", "optimal_percent_low", "optimal_percent_high",
                       "admissible_percent")  # fmt: skip
SUMMARY = ["seconds_allowed", "first", "solved_percent", "length", "length_low", "length_high", *AGAINST_THE_OPTIMUM]
RENAMED = {"instances": "first", "optimal_low": "optimal_percent_low", "optimal_high": "optimal_percent_high"}
MEASURES = ("solved_percent", "length", "optimal_length", "optimal_percent", "admissible_percent")


def run(params: Path, out: Path, table: Path, model: Path) -> None:
    """Solve the first instances of the file that the parameters name; model is the folder of a training."""
    asked = ExternalParams(**parameters_of(params)["external"])
    path = find(asked.file)
    stage = StageRun("external", __name__, params, out, [table, index_of(model), path])
    puzzle, network = stage.puzzle, load_network(model, stage.device)
    instances, nearby = load_instances(puzzle, path), read_ends(stage, table)
    instances = with_optima(puzzle, instances.first(max(budget.states for budget in asked.budgets)))
    partials, frames = stage.results / "resume" / f"external_{out.name}", []
    for budget in asked.budgets:
        options = {"nearby": nearby, **options_of(budget, stage.parameters["threads"])}
        search = partial(anytime.solve, puzzle, network, max_nodes=stage.parameters["max_nodes"], **options)
        first, partial_file = instances.first(budget.states), partials / f"{key(stage.card, budget)}.jsonl"
        with stage.part(f"searches_{budget.seconds:g}s"):
            found = search_within(puzzle, search, budget, first, partial_file, f"{out.name}, {budget.searched}")
        costs = {"cost_to_go": network(first.states).astype(np.float64), first.kind: first.texts}
        frames.append(found.assign(seconds_allowed=budget.seconds, **costs))
    found = pd.concat(frames, ignore_index=True)
    summary = summary_of(found)
    rows = in_notation(puzzle, found).rename(columns={"distance": "optimal"})
    searches = rows[[*CELL, instances.kind, "optimal", "cost_to_go", *FOUND]]
    named = summary.assign(
        budget=[f"{seconds:g}s" for seconds in summary["seconds_allowed"]],
        states=[f"first_{first}" for first in summary["first"]],
    )
    metrics = metrics_of(named, ["budget", "states"], MEASURES)
    stage.finish_tables({"searches": searches, "summary": summary}, metrics, found[[*CELL, "seconds"]])


def with_optima(puzzle: Puzzle, instances: Instances) -> Instances:
    """The instances with the lengths of shortest solutions that follow from the rules, where the file tells none."""
    by_rules = exact_solver(puzzle) if np.isnan(instances.optimal).any() else None
    if by_rules is None:
        return instances
    found = by_rules(instances.states)
    return replace(instances, optimal=np.where(found.solved, found.cost, np.nan))


def options_of(budget: ExternalBudget, threads: int) -> dict:
    """How the solver anytime searches under a budget."""
    if budget.solver == "beam":
        return {}
    named = {name: getattr(budget, name) for name in ("path_weights", "batch_size", "widening", "shortening")}
    return {**named, "count": budget.images, "threads": threads}


def key(card: dict, budget: ExternalBudget) -> str:
    """What searches must agree in to be taken for those of a budget of this run; how many it asks for may differ."""
    same = {name: card[name] for name in ("inputs", "code", "versions")}
    same["parameters"] = {**card["parameters"], "external": budget.model_dump(exclude={"states"})}
    return hashlib.sha256(json_text(same).encode()).hexdigest()


def search_within(
    puzzle: Puzzle, search: Search, budget: ExternalBudget, instances: Instances, kept_in: Path, name: str
) -> pd.DataFrame:
    """One row a search under a budget; those in the file are kept, and each new one is added to it."""
    rows = kept(kept_in, name)[: len(instances.states)]
    if rows:
        say(f"{name}: resumed after {len(rows)} instances")
    count = len(instances.states)
    frame = pd.DataFrame({"set": "external", "instance": np.arange(count), "distance": instances.optimal})
    warm_up(puzzle, partial(search, seconds=0.1))
    search = partial(search, seconds=budget.seconds)
    for place in with_progress(range(len(rows), count), count - len(rows), name):
        found = run_searches(puzzle, search, frame.iloc[[place]], instances.states[[place]])
        rows += found.to_dict("records")
        keep(kept_in, rows)
    return pd.DataFrame(rows)


def keep(file: Path, rows: list[dict]) -> None:
    """Write rows, one a line, under a line with a digest of them and of the file's name, which is their key."""
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    write_text(file, f"{_seal(file, lines)}\n{lines}")


def kept(file: Path, name: str) -> list[dict]:
    """The rows of an earlier run; none where there was none, or where the file holds something else: a line says so."""
    if not file.exists():
        return []
    try:
        seal, _, lines = read_text(file).partition("\n")
        if seal != _seal(file, lines):
            raise FileError(f"{file} is not what an earlier run wrote: it is cut off or was changed since.")
    except FileError as error:
        shutil.rmtree(file, ignore_errors=True)  # where a folder is in its place
        say(f"{name}: all searches begin anew: {error}")
        return []
    return [json.loads(line) for line in lines.splitlines()]


def _seal(file: Path, lines: str) -> str:
    return hashlib.sha256(f"{file.stem}\n{lines}".encode()).hexdigest()


def summary_of(searches: pd.DataFrame) -> pd.DataFrame:
    """One row for the first 30, the first 100 and all of a budget, each told as it is made."""
    frames = []
    for seconds, group in searches.groupby("seconds_allowed", sort=False):
        for first in [*(first for first in FIRST if first < len(group)), len(group)]:
            say(f"the first {first}, {seconds:g} s each: {describe(group[:first])}")
            frames.append(summarise(group[:first], ["seconds_allowed"]))
    return pd.concat(frames, ignore_index=True).rename(columns=RENAMED)[SUMMARY]
