"""Solve scrambles or states given by hand or in a CSV, over a network or exactly: costtogo.solving in a shell."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from costtogo.cards import SHOWN
from costtogo.commands.drawing import drawn, is_terminal
from costtogo.external import Instances, given_of
from costtogo.external import load as load_instances
from costtogo.files import digest, is_stream, json_text, read_csv, read_text, write_text
from costtogo.notation import refuse_goal
from costtogo.notation.given import Given
from costtogo.progress import Progress, say, watching, with_progress
from costtogo.puzzles import make, named, rules
from costtogo.puzzles.base import Puzzle
from costtogo.solve_options import NETWORK, WITHOUT_NETWORK, Setting, Task
from costtogo.solving.exact import NO_SOLUTION, exact_values, is_immediate, is_tabled, no_solution
from costtogo.solving.model_cards import ModelCard, find_model, models
from costtogo.solving.searches import Solver, solver_of
from costtogo.solving.solution import METRICS, Solution
from costtogo.types import States, UserError, excerpt

if TYPE_CHECKING:
    import pandas

    from costtogo.heuristics.network import NetworkHeuristic


@dataclass(frozen=True)
class Chosen:
    """The puzzle, how to search, and the network, if any: loaded at once if the search goes by it for certain."""

    puzzle: Puzzle
    setting: Setting
    card: ModelCard | None = None
    heuristic: "NetworkHeuristic | None" = None

    def key(self, *more: bool | str) -> str:
        """A digest of all that decides the solutions: the puzzle, the setting, the network, and `more`."""
        network = self.card and digest(self.card.checkpoint())
        decides = [self.puzzle.name, rules(self.puzzle.name), asdict(self.setting), network, *more]
        return sha256(json_text(decides).encode()).hexdigest()[:SHOWN]

    def ready(self) -> Solver:
        """The solver, loaded and compiled already, so that its seconds exclude that."""
        network = None if self.card is None else lambda: self.heuristic or load_network(self.card.checkpoint())
        return solver_of(self.puzzle, self.setting, network, named=self.heuristic is not None)


def run(task: Task, setting: Setting) -> None:
    """Solve one state and print the solution, or many and write them; UserError where options do not fit."""
    name = None if task.puzzle is None else named(task.puzzle)
    task.refuse(setting)
    # What is typed is read, and told if it has no solution, before a network is loaded; unless that one is named.
    chosen = choose(name, task.model, setting) if task.model or not name else None
    puzzle = chosen.puzzle if chosen else make(name)
    refuse_goal(puzzle, task.goal)
    if task.instances is None:
        given = given_of(puzzle, *task.start, task.goal)
        puzzle = given.puzzle or puzzle  # which a level may need
        if why := no_solution(puzzle, given.state):
            raise UserError(why)
        solve_one(chosen or choose(puzzle.name, task.model, setting), given, task.json)
    else:
        wanted = load_instances(puzzle, task.instances, task.keep_going, task.goal)
        puzzle = wanted.given[0].puzzle or puzzle
        solve_file(chosen or choose(puzzle.name, task.model, setting), wanted, task)


def choose(puzzle_name: str | None, model: Path | None, setting: Setting) -> Chosen:
    """Find the puzzle and the network, which auto loads only where it needs it; UserError if they do not fit."""
    puzzle = None if puzzle_name is None else make(puzzle_name)
    if setting.solver in WITHOUT_NETWORK or setting.is_classical:
        return Chosen(puzzle, setting)
    name = None if puzzle is None else puzzle.name
    if setting.is_open and model is None and puzzle is not None:
        cards = [] if is_immediate(puzzle) else models(name)
        return Chosen(puzzle, setting, cards[0] if cards else None)
    card = find_model(name, model)
    path = card.checkpoint()
    heuristic = load_network(path)
    if name not in (None, heuristic.puzzle.name):
        raise UserError(f"{path} was trained on {heuristic.puzzle.name}, not on {name}; choose another --model.")
    setting.resolved(heuristic.puzzle, heuristic)
    return Chosen(heuristic.puzzle, setting, card, heuristic)


def load_network(path: Path) -> "NetworkHeuristic":
    """A checkpoint as a heuristic."""
    from costtogo.heuristics.network import load  # which loads torch

    return load(path)


def solve_one(chosen: Chosen, given: Given, as_json: bool) -> None:
    """Print the solution of one state; UserError if none is found within the limits."""
    solve = chosen.ready()
    with progress_shown() as watch, watching(watch):
        solution = solve(given)
    if not solution.solved:
        raise UserError(_why_unsolved(solution, chosen.setting))
    if as_json:
        print(json.dumps(_record(solution, chosen), ensure_ascii=False))
        return
    drawn(chosen.puzzle, _shown(given))
    for name, value in _lines(solution, chosen):
        print(f"{name:16}{value}")


def _shown(given: Given) -> States:
    """The state as it is held, uint8 [D]."""
    return given.state if given.shown is None else given.shown


def _lines(solution: Solution, chosen: Chosen) -> Iterator[tuple[str, str]]:
    """The printed lines of a solution: name and text."""
    yield "read as", solution.given.read_as or "(the goal)"
    if solution.given.goal:
        yield "goal", solution.given.goal
    yield "solution", solution.text or "(solved already)"
    yield "length", f"{solution.length} {solution.metric}"
    if solution.half_turn_length is not None:
        yield "length", f"{solution.half_turn_length} {METRICS['length_htm']}"
    if solution.pushes is not None:
        yield "pushes", f"{solution.pushes} of these"
    if solution.optimum is not None:
        yield "optimum", f"{solution.optimum} {solution.counted[1]} (proved)"
    else:
        yield "lower bound", f"{solution.lower_bound:.1f} {solution.metric}{_condition(solution, chosen.card)}"
    yield "solver", solution.told
    if solution.heuristic == NETWORK:
        yield "network", chosen.card.told
    yield "nodes expanded", f"{solution.nodes_expanded:,}"
    yield "seconds", f"{solution.seconds:.3f}"


def _condition(solution: Solution, card: ModelCard | None) -> str:
    """The condition of a lower bound, in words; empty if it holds in any case."""
    if solution.holds:
        return ""
    over = card.numbers.get("overestimated_percent") if card else None
    audit = f"; on {over:g} % of the states of its audit it does" if over else ""
    return f" (conditional: if the network never overestimates{audit})"


def _record(solution: Solution, chosen: Chosen) -> dict:
    """A solution in the form of --json."""
    card = chosen.card
    return {
        "puzzle": solution.puzzle.name,
        "read_as": solution.given.read_as,
        "state": solution.puzzle.format_state(_shown(solution.given)),
        "goal": solution.given.goal or None,
        "solver": solution.solver,
        "heuristic": solution.heuristic,
        "why": solution.why or None,
        "network": {"name": card.name, "origin": card.origin} if solution.heuristic == NETWORK else None,
        "solution": solution.text,
        "moves": solution.moves,
        "length": solution.length,
        "metric": solution.metric,
        "length_htm": solution.half_turn_length,
        "pushes": solution.pushes,
        "optimum": solution.optimum,
        "proved": solution.proved,
        "lower_bound": round(solution.lower_bound, 4),
        "lower_bound_holds": solution.holds,
        "nodes_expanded": solution.nodes_expanded,
        "nodes_generated": solution.nodes_generated,
        "seconds": round(solution.seconds, 4),
    }


@contextmanager
def progress_shown() -> Iterator[Callable[[Progress], None] | None]:
    """Show a line of progress on the terminal, which disappears at the end; None if stderr is no terminal."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("searching") as status:

        def show(progress: Progress) -> None:
            best = f", best so far {progress.best_length:.0f} moves" if np.isfinite(progress.best_length) else ""
            at = f" {progress.told}" if progress.told else ""
            nodes = f"{progress.nodes_expanded:,} nodes expanded, {progress.nodes_generated:,} generated"
            status.update(f"searching{at}: {nodes}{best}")

        yield show


def _why_unsolved(solution: Solution, setting: Setting) -> str:
    """One sentence on why a search ended, and which option to raise."""
    expansions = f"{solution.nodes_expanded:,} expansions"
    if np.isposinf(solution.lower_bound):  # no state is left that could be expanded
        return NO_SOLUTION
    if solution.solver == "exact":
        least = f"every solution has {solution.lower_bound:.0f} moves or more"
        if solution.ended == "memory":
            return f"Not solved: {least}, and more states than memory holds lie between; choose another --solver."
        return f"Not solved within {setting.effort:g} seconds and {expansions}: {least}; raise --seconds."
    if solution.solver in ("beam", "rising"):
        return f"Not solved within {expansions}; raise --seconds or --max-nodes."
    if solution.ended == "memory":
        return f"Not solved: memory held the nodes allowed after {expansions}; raise --max-nodes."
    if solution.ended == "seconds":
        return f"Not solved within {setting.effort:g} seconds and {expansions}; raise --seconds."
    return f"Not solved within {expansions}; raise --max-expansions."


def solve_file(chosen: Chosen, wanted: Instances, task: Task) -> None:
    """Solve the rows of a table and write its states, solution, length, nodes_expanded, seconds, solved and key.

    The solver exact, and others over no network, add lower_bound and nodes_generated; auto adds the solver of each row.
    Known optimal lengths, from the CSV or from exact distances, are added, too, and so are the table's further columns.
    The file grows as rows are solved, and an interrupted run goes on from there; a stream, which cannot be rewritten,
    gets all rows at the end.
    """
    puzzle, instances, out = chosen.puzzle, task.instances, task.out
    streamed = is_stream(out)
    optimal = optimal_lengths(puzzle, wanted)
    key = chosen.key(optimal is not None, *[task.goal] * bool(task.goal))
    there = not streamed and os.path.isfile(out) and os.path.getsize(out) > 0
    before, done = _begun(out, wanted, key) if there and not task.overwrite else ("", 0)
    solve, solutions, due = chosen.ready(), [], 0.0

    def write() -> None:
        if not solutions:
            return
        rows = _solved(wanted, optimal, solutions, done).assign(key=key)
        write_text(out, before + rows.to_csv(index=False, header=not before, lineterminator="\n"))

    try:
        for place in with_progress(range(done, len(wanted.given)), len(wanted.given) - done, puzzle.name):
            wrong = place in wanted.faults
            solutions.append(None if wrong else solve(wanted.given[place]))
            if not streamed and (begun := time.monotonic()) >= due:
                write()
                due = begun + max(1, 20 * (time.monotonic() - begun))  # seconds
        write()
    except KeyboardInterrupt:
        if kept := done + len(solutions):
            write()
        again = "" if streamed else "; the same command goes on from there"
        say(f"{kept} of {len(wanted.states)} rows are kept in {out}{again}." if kept else "No row is finished yet.")
        raise
    beside = sys.stderr if streamed else sys.stdout  # which may be that stream
    solved = _solved(wanted, optimal, solutions, done) if streamed else read_csv(out)
    print(f"{int(solved['solved'].sum())} of {len(solved)} solved, written to {out}", file=beside)
    if wanted.faults:
        print(f"{len(wanted.faults)} could not be read: the column fault says why", file=beside)
    if "optimal_moves" in solved:
        longer = solved[length_names(puzzle)[0]] - solved["optimal_moves"]
        source = instances if np.isfinite(wanted.optimal).any() else "the exact distances"
        print(f"{(longer == 0).sum()} of them at the optimal length by {source}", file=beside)
        if (longer < 0).any():
            print(f"{(longer < 0).sum()} of them shorter, so that {source} cannot be right", file=beside)


def _begun(out: Path, wanted: Instances, key: str) -> tuple[str, int]:
    """The text of a file that the same command has begun, and its number of rows; UserError if another one did."""
    begun = read_csv(out, dtype=str, keep_default_na=False)
    done = len(begun)
    own = {wanted.kind, "key"} <= {*begun} and begun[wanted.kind].tolist() == [*wanted.texts[:done]]
    if not own or {*begun["key"]} != {key}:
        raise UserError(
            f"--out {excerpt(str(out))} is there and of other instances or settings: name another, or give --overwrite."
        )
    say(f"{done} of {len(wanted.texts)} rows are in {out} already; --overwrite searches them again.")
    return read_text(out), done


def optimal_lengths(puzzle: Puzzle, instances: Instances) -> np.ndarray | None:
    """Moves of shortest solutions, float64 [N], NaN if unknown; None if all are.

    They are from the file, or else from the distances of all states.
    """
    known = exact_values(puzzle, instances.states).astype(np.float64) if is_tabled(puzzle) else instances.optimal
    known[[*instances.faults]] = np.nan
    optimal = np.where(np.isfinite(instances.optimal), instances.optimal, known)
    return optimal if np.isfinite(optimal).any() else None


def _solved(
    instances: Instances, optimal: np.ndarray | None, solutions: list[Solution | None], first: int
) -> "pandas.DataFrame":
    """The rows of the instances searched in this run; first: the place of the first one."""
    from pandas import DataFrame  # loads for a fifth of a second, which one state need not wait for

    rows = DataFrame([{"solved": False} if each is None else _row(each) for each in solutions]).round({"seconds": 4})
    lengths = [name for name in rows if name.startswith("length")]
    rows[lengths] = rows[lengths].where(rows["solved"])
    counts = [name for name in rows if name.startswith(("length", "nodes"))]
    rows[counts] = rows[counts].astype("Int64")
    those = slice(first, first + len(rows))
    rows.insert(0, instances.kind, instances.texts[those])
    if optimal is not None:
        rows["optimal_moves"] = optimal[those]
        rows["optimal_moves"] = rows["optimal_moves"].astype("Int64")
    if any(each.goal for each in instances.given):
        rows["goal"] = [each.goal for each in instances.given[those]]
    if instances.faults:
        rows["fault"] = [instances.faults.get(place, "") for place in range(first, first + len(rows))]
    others = {name: cells for name, cells in instances.others.items() if name.lower() not in {*rows, "key"}}
    return rows.assign(**{name: cells[those] for name, cells in others.items()})


def _row(solution: Solution) -> dict:
    """A solution as a row of a CSV."""
    lengths = zip(length_names(solution.puzzle), (solution.length, solution.half_turn_length), strict=False)
    over_facts = solution.solver == "exact" or solution.heuristic not in (None, NETWORK)
    bounds = {"nodes_generated": solution.nodes_generated, "lower_bound": solution.lower_bound}
    chosen = {"solver": solution.solver} if solution.why else {}
    return {
        "solution": solution.text,
        **dict(lengths),
        "nodes_expanded": solution.nodes_expanded,
        **(bounds if over_facts or chosen else {}),
        **chosen,
        "seconds": solution.seconds,
        "solved": solution.solved,
    }


def length_names(puzzle: Puzzle) -> list[str]:
    """The columns of a solution's length: quarter and half turns if the puzzle has both."""
    return ["length_qtm", "length_htm"] if puzzle.half_turn_length else ["length"]
