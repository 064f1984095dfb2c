"""Solve scrambles or states given by hand or in a CSV, over a trained network or exactly.

Over a network, puzzles whose states can be listed are solved by BWAS. Larger ones have some seconds, for beams that
widen where the network tells the cost-to-go of all children at once, else for BWAS with one λ after another.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.exact.nearby import NearbyTable, nearby_table
from costtogo.external import STATES, Instances
from costtogo.external import load as load_instances
from costtogo.files import is_stream, read_frame, read_json, write_csv
from costtogo.heuristics.averaged import AveragedHeuristic
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.network import NetworkHeuristic, load
from costtogo.learning.local_vi import Local, band_order, reading_order
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, is_listed, random_walks, solves
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.search.anytime import solve_with_weights, solve_within
from costtogo.search.bwas import Limits, solve, why_ended
from costtogo.stages.solve_exact import check_exact, exact_search
from costtogo.stages.stage_run import say
from costtogo.stages.tables import read_nearby
from costtogo.types import ActionHeuristic, SearchResult, States, UserError, excerpt

LENGTHS = {"length": "moves", "length_qtm": "quarter turns", "length_htm": "moves with half turns as one"}
NEARBY_DEPTH = 5  # of a table made for one command
REPORT_SECONDS = 10  # between lines of progress, and between writings of a file that grows
LISTED = {"path_weight": 0.7, "batch_size": 5, "max_expansions": 200_000}  # BWAS where nothing else is asked for
LARGE = {"path_weight": 0.4, "batch_size": 1000, "max_expansions": 10_000_000}
RISING = (0.8, 1.0)  # λ of the solver rising: soon a solution, then a shorter one with larger and larger N
SHORTENING = 0.1  # of its seconds, for making solutions of sliding tiles shorter by stretches
WITHOUT_NETWORK = ("exact", "local")
LOCAL_SIZES = {3: 4, 4: 5}  # by side, tiles a step of local value iteration in reading order; 2 by bands elsewhere
SECONDS = 30.0
MOST_NODES = 60_000_000
RISING_BATCH = 500


@dataclass(frozen=True)
class Setting:
    """How to search. What is None depends on the puzzle: LISTED or LARGE.

    solver: auto, bwas, greedy (BWAS at λ = 0 and N = 1), beam, rising (BWAS with each λ of RISING), and exact
    and local (local value iteration), which need no network.
    until_proved: go on after the first solution.  seconds: the effort of beam and rising for each state, the limit of
    exact, SECONDS where none are given; a limit of bwas and greedy where they are.
    average: symmetric images of a state over which values are averaged.
    """

    path_weight: float | None = None
    batch_size: int | None = None
    max_expansions: int | None = None
    max_nodes: int = MOST_NODES
    until_proved: bool = False
    solver: str = "auto"
    seconds: float | None = None
    average: int = 1

    def resolved(self, heuristic: NetworkHeuristic) -> "Setting":
        """The same with a solver named in place of auto: bwas where the puzzle can be listed or one of its options is
        given. UserError where the solver is another and does not take them."""
        asked = (self.path_weight, self.max_expansions, self.until_proved) != (None, None, False)
        if self.solver == "beam" and self.batch_size is not None:
            raise UserError("The solver beam chooses its widths by its --seconds: leave out --batch-size.")
        if self.solver in ("beam", "rising") and asked:
            raise UserError(
                f"The solver {self.solver} ends with its --seconds or --max-nodes: leave out --path-weight, "
                "--max-expansions and --until-proved, or choose --solver bwas."
            )
        if self.solver != "auto":
            return self
        if is_listed(heuristic.puzzle) or asked:
            return replace(self, solver="bwas")
        return replace(self, solver="beam" if heuristic.by_action else "rising")

    @property
    def effort(self) -> float:
        """The seconds that a search which improves, or proves, may take."""
        return SECONDS if self.seconds is None else self.seconds

    def of_bwas(self, puzzle: Puzzle) -> dict:
        """λ, N, where a search ends, and whether it goes on: keyword arguments of bwas.solve."""
        given = {name: getattr(self, name) for name in LISTED}
        named = {"path_weight": 0.0, "batch_size": 1} if self.solver == "greedy" else {}
        values = {**(LISTED if is_listed(puzzle) else LARGE), **named}
        values |= {name: value for name, value in given.items() if value is not None}
        limits = Limits(values.pop("max_expansions"), self.max_nodes, np.inf if self.seconds is None else self.seconds)
        return {**values, "limits": limits, "until_proved": self.until_proved}


def solve_one(puzzle_name: str | None, model: Path | None, kind: str, text: str, setting: Setting) -> None:
    """Print the solution of one scramble or state; UserError where none was found within the limits."""
    puzzle, setting, begin = find_solver(puzzle_name, model, setting)
    start = STATES[kind](puzzle, text)
    row = begin().row(start)
    if not row["solved"]:
        raise UserError(_why_unsolved(row, setting))
    print(puzzle.draw(start))
    print(f"solution        {row['solution'] or '(solved already)'}")
    for name, metric in LENGTHS.items():
        if name in row:
            print(f"length          {row[name]} {metric}")
    print(f"lower bound     {row['lower_bound']:.1f} moves{_condition(setting)}")
    print(f"nodes expanded  {row['nodes_expanded']:,}")
    print(f"seconds         {row['seconds']:.3f}")


def _condition(setting: Setting) -> str:
    """What the lower bound rests on."""
    if setting.solver == "exact":
        return " (proved)"
    return "" if setting.solver in ("beam", "local") else " (conditional: if the network never overestimates)"


def _why_unsolved(row: dict, setting: Setting) -> str:
    """One sentence on what ended a search, and what to raise."""
    expansions = f"{row['nodes_expanded']:,} expansions"
    if setting.solver == "exact":
        least = f"every solution has {row['lower_bound']:.0f} moves or more"
        return f"Not solved within {setting.effort:g} seconds and {expansions}: {least}; raise --seconds."
    if setting.solver in ("beam", "rising"):
        return f"Not solved within {expansions}; raise --seconds or --max-nodes."
    if row["ended"] == "memory":
        return f"Not solved: memory held the {setting.max_nodes:,} nodes allowed after {expansions}; raise --max-nodes."
    if row["ended"] == "seconds":
        return f"Not solved within {setting.effort:g} seconds and {expansions}; raise --seconds."
    return f"Not solved within {expansions}; raise --max-expansions."


def solve_file(puzzle_name: str | None, model: Path | None, instances: Path, out: Path, setting: Setting) -> None:
    """Solve the rows of a CSV: its column, solution, length, nodes_expanded, seconds and solved are written.

    Of the solver exact also lower_bound and nodes_generated; where the CSV tells optimal lengths, those too. The file
    grows as rows are solved; a stream, which cannot be written anew, gets all at the end.
    """
    _check_out(instances, out)
    puzzle, setting, begin = find_solver(puzzle_name, model, setting)
    wanted = load_instances(puzzle, instances)
    solver, rows, written = begin(), [], time.monotonic()
    for start in told(list(wanted.states), puzzle.name):
        rows.append(solver.row(start))
        if time.monotonic() - written >= REPORT_SECONDS and not is_stream(out):
            write_csv(out, _solved(puzzle, wanted, rows, setting))
            written = time.monotonic()
    solved = _solved(puzzle, wanted, rows, setting)
    write_csv(out, solved)
    beside = sys.stderr if is_stream(out) else sys.stdout  # which may be that stream
    print(f"{int(solved['solved'].sum())} of {len(solved)} solved, written to {out}", file=beside)
    if "optimal_moves" in solved:
        count = int((solved[length_names(puzzle)[0]] == solved["optimal_moves"]).sum())
        print(f"{count} of them at the length that {instances} tells", file=beside)


def _check_out(instances: Path, out: Path) -> None:
    """UserError where the solutions would replace the instances, or can only be refused once they are found."""
    if os.path.isdir(out):
        raise UserError(f"--out {excerpt(str(out))} is a folder: name the CSV file to write.")
    if os.path.isfile(instances) and os.path.exists(out) and os.path.samefile(instances, out):
        raise UserError(f"--out {excerpt(str(out))} is the file of --instances, which it would replace: name another.")


def _solved(puzzle: Puzzle, instances: Instances, rows: list[dict], setting: Setting) -> pd.DataFrame:
    """The instances searched so far beside what was found."""
    measured = ["nodes_expanded", *(["nodes_generated", "lower_bound"] if setting.solver == "exact" else [])]
    columns = ["solution", *length_names(puzzle), *measured, "seconds", "solved"]
    solved = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(length_names(puzzle), "Int64"))
    solved.insert(0, instances.kind, instances.texts[: len(rows)])
    if np.isfinite(instances.optimal).all():
        solved["optimal_moves"] = instances.optimal[: len(rows)].astype(np.int64)
    return solved


def find_heuristic(puzzle_name: str | None, model: Path | None) -> NetworkHeuristic:
    """The network of a checkpoint or of a model's folder; without one, the default study's model of the puzzle."""
    path = _checkpoint(model or _default_model(puzzle_name))
    heuristic = load(path)
    if puzzle_name is not None and heuristic.puzzle.name != make(puzzle_name).name:
        raise UserError(f"{path} was trained on {heuristic.puzzle.name}, not on {puzzle_name}; choose another --model.")
    return heuristic


def _default_model(puzzle_name: str | None) -> Path:
    """The best model of a puzzle in the study of its own or the default one; of a large puzzle the headline of the
    study's report, else its first model."""
    if puzzle_name is None:
        raise UserError("Name the puzzle with --puzzle, or a checkpoint with --model.")
    puzzle = make(puzzle_name)
    study = Path("results") / puzzle.name
    if is_listed(puzzle) and not study.is_dir():
        study = Path("results") / "default"
    command = "make" if study.name == "default" else f"snakemake --cores all {puzzle.name}"
    nothing = f"There is no trained model of {puzzle_name} in {study}; run {command}, or give --model."
    if not is_listed(puzzle):
        trained = sorted(path.stem for path in (study / "models").glob("*.json"))
        if not trained:
            raise UserError(nothing)
        report = study / "report" / "report.json"
        headline = read_json(report)["parameters"]["headline"] if report.exists() else None
        return study / "models" / (headline if headline in trained else trained[0])
    cards = [read_json(path) for path in sorted((study / "searches").glob("*.json"))]
    searched = [
        card for card in cards if card["parameters"]["puzzle"] == puzzle.name and "optimal_percent" in card["metrics"]
    ]
    if not searched:
        raise UserError(nothing)
    best = min(searched, key=lambda card: (-card["metrics"]["optimal_percent"], card["metrics"]["nodes_expanded"]))
    return study / "models" / best["name"]


def _checkpoint(model: Path) -> Path:
    """A checkpoint file as it is; of a model's folder the selected checkpoint, else the last."""
    if not model.is_dir():
        return model
    index = read_frame(model / "checkpoints.parquet")
    selection = model.resolve().parents[1] / "searches" / model.name / "selection.parquet"
    if selection.exists():
        chosen = read_frame(selection)
        index = index[index["iteration"] == chosen.loc[chosen["selected"], "iteration"].iloc[0]]
    return model / index["file"].iloc[-1]


def told(starts: list[States], name: str) -> Iterator[States]:
    """The starts one by one, with a line of progress every REPORT_SECONDS."""
    begun = said = time.monotonic()
    for done, start in enumerate(starts):
        if (now := time.monotonic()) - said >= REPORT_SECONDS:
            left = (now - begun) / done * (len(starts) - done)
            say(f"{name}: {done} of {len(starts)} searched, {left // 60:.0f}:{left % 60:02.0f} left")
            said = now
        yield start


def length_names(puzzle: Puzzle) -> list[str]:
    """The columns of a solution's length: in quarter and in half turns where the puzzle knows both."""
    return ["length_qtm", "length_htm"] if puzzle.half_turn_length else ["length"]


@dataclass(frozen=True)
class Solver:
    """What searches from one start, uint8 [D]."""

    puzzle: Puzzle
    search: Callable[[States], SearchResult]

    def row(self, start: States) -> dict:
        """One search; its solution is replayed before it is given."""
        puzzle, begun = self.puzzle, time.perf_counter()
        result = self.search(start)
        seconds = time.perf_counter() - begun
        solved = bool(result.solved[0]) and bool(solves(puzzle, start[None], result.solutions)[0])
        actions, names = result.solutions[0], length_names(puzzle)
        lengths = [len(actions), *([puzzle.half_turn_length(actions)] if len(names) > 1 else [])]
        return {
            "solution": puzzle.format_moves(actions) if solved else "",
            **dict(zip(names, lengths if solved else [None] * len(names), strict=True)),
            "nodes_expanded": int(result.nodes_expanded[0]),
            "nodes_generated": int(result.nodes_generated[0]),
            "lower_bound": float(result.lower_bound[0]),
            "seconds": round(seconds, 4),
            "solved": solved,
            "ended": why_ended(result)[0],
        }


def find_solver(
    puzzle_name: str | None, model: Path | None, setting: Setting
) -> tuple[Puzzle, Setting, Callable[[], Solver]]:
    """The puzzle, the setting with its solver named, and what makes that solver ready; states are read in between, so
    that a mistake in them is soon told.

    The solver is ready when a first small search is done, so that no seconds hold the loading of compiled code.
    """
    if setting.solver not in WITHOUT_NETWORK:
        heuristic = find_heuristic(puzzle_name, model)
        setting = setting.resolved(heuristic)
        return heuristic.puzzle, setting, partial(_network_solver, heuristic, setting)
    if model is not None:
        raise UserError(f"The solver {setting.solver} needs no network: leave out --model.")
    if puzzle_name is None:
        raise UserError("Name the puzzle with --puzzle.")
    puzzle = make(puzzle_name)
    check_exact(puzzle, setting.solver)
    return puzzle, setting, partial(_local_solver if setting.solver == "local" else _exact_solver, puzzle, setting)


def _network_solver(heuristic: NetworkHeuristic, setting: Setting) -> Solver:
    puzzle = heuristic.puzzle
    if setting.average > 1:
        heuristic = AveragedHeuristic(puzzle, heuristic, setting.average)
    nearby = find_nearby(puzzle) if setting.solver == "beam" or not is_listed(puzzle) else None
    _search(puzzle, heuristic, nearby, replace(setting, max_expansions=2, seconds=0.1), _short_walk(puzzle))
    return Solver(puzzle, partial(_search, puzzle, heuristic, nearby, setting))


def _exact_solver(puzzle: Puzzle, setting: Setting) -> Solver:
    search = exact_search(puzzle, setting.effort)
    search(_short_walk(puzzle))
    return Solver(puzzle, search)


def _local_solver(puzzle: SlidingTiles, setting: Setting) -> Solver:
    local = Local(puzzle, LOCAL_SIZES.get(puzzle.side, 2), reading_order if puzzle.side in LOCAL_SIZES else band_order)
    local.solve(_short_walk(puzzle)[None])  # value functions are made
    return Solver(puzzle, lambda start: local.solve(start[None]).result())


def _short_walk(puzzle: Puzzle) -> States:
    """A state near the goal, uint8 [D]."""
    return random_walks(puzzle, 1, 20, np.random.default_rng(0))[0, -1]


def _search(
    puzzle: Puzzle, heuristic: ActionHeuristic, nearby: NearbyTable | None, setting: Setting, start: States
) -> SearchResult:
    """Search from one start over a network; nearby: exact distances around the goal of a puzzle too large to list."""
    limits = {"seconds": setting.effort, "max_nodes": setting.max_nodes}
    if setting.solver == "beam":
        return solve_within(puzzle, heuristic, start, nearby=nearby, **limits)
    heuristic = heuristic if nearby is None else NearbyHeuristic(heuristic, nearby)
    if setting.solver == "rising":
        batch = setting.batch_size or RISING_BATCH
        limits |= {"path_weights": RISING, "batch_size": batch, "widening": True, "shortening": SHORTENING}
        return solve_with_weights(puzzle, heuristic, start, threads=len(os.sched_getaffinity(0)), **limits)
    return solve(puzzle, heuristic, start[None], **setting.of_bwas(puzzle))


def find_nearby(puzzle: Puzzle) -> NearbyTable:
    """The exact distances around the goal: the study's table where there is one, else a smaller one made now."""
    path = Path("results") / puzzle.name / "tables" / f"{puzzle.name}.npz"
    return read_nearby(path, puzzle) if path.exists() else nearby_table(puzzle, NEARBY_DEPTH)
