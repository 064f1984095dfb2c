"""Solve scrambles or states given by hand or in a CSV, over a trained network or exactly.

Over a network, puzzles whose states can be listed are solved by BWAS. Larger ones are solved within
some seconds: by widening beams if the network scores all children at once or has a policy, else by BWAS with one λ
after another. A policy can guide Monte Carlo tree search, too. Exactly are solved sliding tiles, by IDA* over a pattern
database, Lights Out, by linear algebra, levels of Sokoban, by listing all of their states, and cubes not too far from
the goal, by breadth-first search from both ends.
"""

import os
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.exact import lights_out, pattern_database
from costtogo.exact.lights_out import FewestPresses
from costtogo.exact.meeting import MeetingSearch
from costtogo.exact.nearby import Ends, GoalAlone, NearbyTable, nearby_table
from costtogo.external import Instances, state_of
from costtogo.external import load as load_instances
from costtogo.files import is_stream, read_frame, read_json, write_csv
from costtogo.heuristics.averaged import AveragedHeuristic
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.network import NetworkHeuristic, load
from costtogo.heuristics.pattern_database import PatternDatabaseHeuristic
from costtogo.heuristics.policy_guide import PolicyGuide
from costtogo.learning import local_vi
from costtogo.learning.local_vi import Local, band_order, reading_order
from costtogo.puzzles import exact_solver, make
from costtogo.puzzles.base import Puzzle, is_listed
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.search import anytime, bwas, ida_star, mcts
from costtogo.search.bwas import Limits
from costtogo.search.ida_star import IdaLimits
from costtogo.stages.search.loading import checkpoint, load_heuristic
from costtogo.stages.search.running import REPORT_SECONDS, Search, in_notation, run_searches, warm_up, with_progress
from costtogo.stages.stage_run import say
from costtogo.stages.tables import read_nearby
from costtogo.types import Heuristic, States, UserError, excerpt

UNKNOWN = pd.DataFrame({"set": [""], "instance": [0], "distance": [np.nan]})  # an instance
LENGTHS = {"length": "moves", "length_qtm": "quarter turns", "length_htm": "moves with half turns as one"}
NEARBY_DEPTH = 5  # of a table made for one command
LISTED = {"path_weight": 0.7, "batch_size": 5, "max_expansions": 200_000}  # BWAS where nothing else is asked for
LARGE = {"path_weight": 0.4, "batch_size": 1000, "max_expansions": 10_000_000}
RISING = (0.8, 1.0)  # λ of the solver rising: soon a solution, then a shorter one with larger and larger N
SHORTENING = 0.1  # of its seconds, for making solutions of sliding tiles shorter by stretches
WITHOUT_NETWORK = {  # solvers: the families of puzzles that they solve, and these in words
    "exact": (
        ("sliding", "lights_out", "cube2", "cube3", "sokoban", "file"),
        "cubes, tiles, Lights Out, Sokoban, puzzles of files",
    ),
    "local": (("sliding",), "sliding tiles"),
}
LOCAL_SIZES = {3: 4, 4: 5}  # by side, tiles a step of local value iteration in reading order; 2 by bands elsewhere
SMALL = {3: "4-4", 4: "5-5-5", 5: "4-5-5-5-5", 6: "4-4-4-4-4-4-4-4-3", 7: "3-3-3-3-3-3-3-3-3-3-3-3-3-3-3-3"}  # by side
SECONDS = 30.0
MOST_NODES = 60_000_000
RISING_BATCH = 500
# Of mcts, where all states can be listed and elsewhere: among the best on own states of the 2×2×2 and the 3×3×3 cube.
TREES_LISTED, TREES_LARGE = {"exploration": 50.0, "virtual_loss": 10.0, "leaves": 8}, {"exploration": 40.0}
NO_TREE = (None, None, False, 1)  # options that mcts does not have, left out
MOST_BETWEEN = 150_000_000  # children that breadth-first search looks up; of the 3×3×3 all up to 8 moves away
MOST_EVALUATED = 100_000  # states of a tree where nothing else is asked for


@dataclass(frozen=True)
class Setting:
    """How to search. What is None depends on the puzzle: LISTED or LARGE.

    solver: auto, bwas, greedy (BWAS at λ = 0 and N = 1), beam, rising (BWAS with each λ of RISING), mcts, and exact
    and local (local value iteration), which need no network.
    until_proved: go on after the first solution.  seconds: the effort of beam and rising for each state, the limit of
    exact, SECONDS where none are given; a limit of bwas, greedy and mcts where they are.
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
        if self.solver == "mcts" and not heuristic.has_policy:
            raise UserError("The solver mcts needs a network with a policy: give --model of a training by adi.")
        if self.solver == "mcts" and NO_TREE != (self.path_weight, self.batch_size, self.until_proved, self.average):
            raise UserError(
                "The solver mcts has no λ, N, proof or average: leave out --path-weight, --batch-size, --until-proved "
                "and --average."
            )
        if self.solver in ("beam", "rising") and asked:
            raise UserError(
                f"The solver {self.solver} ends with its --seconds or --max-nodes: leave out --path-weight, "
                "--max-expansions and --until-proved, or choose --solver bwas."
            )
        if self.solver != "auto":
            return self
        if is_listed(heuristic.puzzle) or asked:
            return replace(self, solver="bwas")
        # Where moves cannot be undone, beams end in dead ends.
        beam = (heuristic.by_action or heuristic.has_policy) and heuristic.puzzle.has_inverses
        return replace(self, solver="beam" if beam else "rising")

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
    puzzle, heuristic, setting = choose(puzzle_name, model, setting)
    start = state_of(puzzle, kind, text)
    row = search_from(puzzle, make_ready(puzzle, heuristic, setting), start).iloc[0]
    if not row["solved"]:
        raise UserError(_why_unsolved(row, setting))
    print(puzzle.draw(start))
    print(f"solution        {row['solution'] or '(solved already)'}")
    for name in length_names(puzzle):
        print(f"length          {row[name]:.0f} {LENGTHS[name]}")
    if puzzle.is_push:
        print(f"pushes          {puzzle.is_push(start, puzzle.parse_moves(row['solution'])).sum()} of these")
    print(f"lower bound     {row['lower_bound']:.1f} moves{_condition(setting)}")
    print(f"nodes expanded  {row['nodes_expanded']:,}")
    print(f"seconds         {row['seconds']:.3f}")


def _condition(setting: Setting) -> str:
    """What the lower bound rests on."""
    if setting.solver == "exact":
        return " (proved)"
    return "" if setting.solver in ("beam", "local", "mcts") else " (conditional: if the network never overestimates)"


def _why_unsolved(row: pd.Series, setting: Setting) -> str:
    """One sentence on what ended a search, and what to raise."""
    expansions = f"{row['nodes_expanded']:,} expansions"
    if setting.solver == "exact" and np.isinf(row["lower_bound"]):
        return "There is no solution: whatever the moves, the goal cannot be reached from there."
    if setting.solver == "exact":
        least = f"every solution has {row['lower_bound']:.0f} moves or more"
        if row["ended"] == "memory":
            return f"Not solved: {least}, and more states than memory holds lie between; choose another --solver."
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
    puzzle, heuristic, setting = choose(puzzle_name, model, setting)
    wanted = load_instances(puzzle, instances)
    search, rows, written = make_ready(puzzle, heuristic, setting), [], time.monotonic()
    for start in with_progress(wanted.states, len(wanted.states), puzzle.name):
        rows.append(search_from(puzzle, search, start))
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


def _solved(puzzle: Puzzle, instances: Instances, rows: list[pd.DataFrame], setting: Setting) -> pd.DataFrame:
    """The instances searched so far beside what was found."""
    lengths, solved = length_names(puzzle), pd.concat(rows, ignore_index=True)
    solved[lengths] = solved[lengths].where(solved["solved"]).astype("Int64")
    measured = ["nodes_expanded", *(["nodes_generated", "lower_bound"] if setting.solver == "exact" else [])]
    solved = solved[["solution", *lengths, *measured, "seconds", "solved"]].round({"seconds": 4})
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
    """The best model of a puzzle in the study of its own or the default one: the headline of the study's report, else
    the one whose searches are optimal most often, else the first."""
    if puzzle_name is None:
        raise UserError("Name the puzzle with --puzzle, or a checkpoint with --model.")
    puzzle = make(puzzle_name)
    study = Path("results") / puzzle.name
    if is_listed(puzzle) and not study.is_dir():
        study = Path("results") / "default"
    cards = [(path.stem, read_json(path)["parameters"]) for path in sorted((study / "models").glob("*.json"))]
    trained = [name for name, parameters in cards if parameters["puzzle"] == puzzle.name]
    if not trained:
        command = "make" if study.name == "default" else f"snakemake --cores all {puzzle.name}"
        raise UserError(f"There is no trained model of {puzzle_name} in {study}; run {command}, or give --model.")
    report = study / "report" / "report.json"
    headline = read_json(report)["parameters"]["puzzles"][puzzle.name]["headline"] if report.exists() else None

    def order(name: str) -> tuple:
        card = study / "searches" / f"{name}.json"
        metrics = read_json(card)["metrics"] if card.exists() else {}
        return name != headline, -metrics.get("optimal_percent", 0), metrics.get("nodes_expanded", np.inf)

    return study / "models" / min(trained, key=order)


def _checkpoint(model: Path) -> Path:
    """A checkpoint file as it is; of a model's folder the selected checkpoint, else the last."""
    if not model.is_dir():
        return model
    selection = model.resolve().parents[1] / "searches" / model.name / "selection.parquet"
    if not selection.exists():
        return checkpoint(model)
    chosen = read_frame(selection)
    return checkpoint(model, chosen.loc[chosen["selected"], "iteration"].iloc[0])


def length_names(puzzle: Puzzle) -> list[str]:
    """The columns of a solution's length: in quarter and in half turns where the puzzle knows both."""
    return ["length_qtm", "length_htm"] if puzzle.half_turn_length else ["length"]


def search_from(puzzle: Puzzle, search: Search, start: States) -> pd.DataFrame:
    """The row of one search from uint8 [D], its solution in the customary notation, its length as length_names."""
    row = in_notation(puzzle, run_searches(puzzle, search, UNKNOWN, start[None]))
    return row.rename(columns={"cost": length_names(puzzle)[0]})


def choose(
    puzzle_name: str | None, model: Path | None, setting: Setting
) -> tuple[Puzzle, NetworkHeuristic | None, Setting]:
    """The puzzle, the network to search over, if any, and the setting with its solver named."""
    if setting.solver not in WITHOUT_NETWORK:
        heuristic = find_heuristic(puzzle_name, model)
        return heuristic.puzzle, heuristic, setting.resolved(heuristic)
    if model is not None:
        raise UserError(f"The solver {setting.solver} needs no network: leave out --model.")
    if puzzle_name is None:
        raise UserError("Name the puzzle with --puzzle.")
    puzzle, (solved, kinds) = make(puzzle_name), WITHOUT_NETWORK[setting.solver]
    if puzzle.family not in solved:
        raise UserError(
            f"There is no {setting.solver} solver of {puzzle.name}, only of {kinds}; choose another one with --solver."
        )
    return puzzle, None, setting


def make_ready(puzzle: Puzzle, heuristic: NetworkHeuristic | None, setting: Setting) -> Search:
    """The search of a setting, once a first small one is done, so that no seconds hold the loading of compiled code."""
    if heuristic is None:
        search = _without_network(puzzle, setting)
        warm_up(puzzle, search)
        return search
    guided = setting.solver == "beam" and heuristic.has_policy
    scores = PolicyGuide(heuristic) if guided else heuristic
    scores = scores if setting.average == 1 else AveragedHeuristic(puzzle, scores, setting.average)
    nearby = find_nearby(puzzle) if setting.solver == "beam" or not is_listed(puzzle) else None
    warm_up(puzzle, _over_network(puzzle, scores, nearby, replace(setting, max_expansions=2, seconds=0.1)))
    return _over_network(puzzle, scores, nearby, setting)


def _over_network(puzzle: Puzzle, heuristic: Heuristic, nearby: Ends | None, setting: Setting) -> Search:
    """A search over a network; nearby: exact distances around the goal of a puzzle too large to list."""
    if setting.solver in ("bwas", "greedy"):
        known = heuristic if nearby is None else NearbyHeuristic(heuristic, nearby)
        return partial(bwas.solve, puzzle, known, **setting.of_bwas(puzzle))
    if setting.solver == "mcts":
        seconds = np.inf if setting.seconds is None else setting.seconds
        limits = Limits(setting.max_expansions or MOST_EVALUATED, setting.max_nodes, seconds)
        return partial(
            mcts.solve, puzzle, heuristic, limits=limits, **(TREES_LISTED if is_listed(puzzle) else TREES_LARGE)
        )
    options = {"seconds": setting.effort, "max_nodes": setting.max_nodes, "nearby": nearby}
    if setting.solver == "rising":
        options |= {"path_weights": RISING, "batch_size": setting.batch_size or RISING_BATCH, "widening": True}
        options |= {"shortening": SHORTENING, "threads": len(os.sched_getaffinity(0))}
    return partial(anytime.solve, puzzle, heuristic, **options)


def _without_network(puzzle: Puzzle, setting: Setting) -> Search:
    """A search by local value iteration, or one for shortest solutions, which ends as unsolved after its seconds."""
    if setting.solver == "local":
        size, order = (LOCAL_SIZES[puzzle.side], reading_order) if puzzle.side in LOCAL_SIZES else (2, band_order)
        return partial(local_vi.solve, puzzle, Local(puzzle, size, order))
    if puzzle.family == "lights_out":
        return partial(lights_out.solve, puzzle, FewestPresses(puzzle))
    if not puzzle.one_goal:
        return partial(exact_solver(puzzle), seconds=setting.effort)
    if puzzle.family != "sliding":
        return MeetingSearch(puzzle, find_nearby(puzzle), MOST_BETWEEN, setting.effort).solve
    options = {"limits": IdaLimits(seconds=setting.effort), "threads": os.cpu_count() or 1}
    return partial(ida_star.solve, puzzle, find_database(puzzle), **options)


def find_nearby(puzzle: Puzzle) -> Ends:
    """The exact distances around the goal: the study's table where there is one, else a smaller one made now.

    Where each state has its own goal, a test for solved states alone.
    """
    if not puzzle.one_goal:
        return GoalAlone(puzzle)
    path = Path("results") / puzzle.name / "tables" / f"{puzzle.name}.npz"
    known = read_nearby(path, puzzle) if path.exists() else None
    return known if isinstance(known, NearbyTable) else nearby_table(puzzle, NEARBY_DEPTH)  # a whole table has no end


def find_database(puzzle: SlidingTiles) -> PatternDatabaseHeuristic:
    """The database that the puzzle's study finds optima by, else its largest, else a small one made now."""
    study = Path("results") / puzzle.name
    optima = study / "optima" / f"{puzzle.name}.json"
    name = read_json(optima)["parameters"]["optima"]["pattern_database"] if optima.exists() else None
    built = sorted((study / "pattern_databases").glob("*.npz"), key=lambda path: path.stat().st_size)
    if built:
        return load_heuristic(puzzle, name, database=next((path for path in built if path.stem == name), built[-1]))
    say(
        f"There is no pattern database of {puzzle.name} in {study}: a small one, {SMALL[puzzle.side]}, is built now, "
        f"and searches take longer; snakemake --cores all {puzzle.name} builds the study's."
    )
    return PatternDatabaseHeuristic(puzzle, pattern_database.build(puzzle.side, SMALL[puzzle.side]))
