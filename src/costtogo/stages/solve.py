"""Solve scrambles or states given by hand or in a CSV, by BWAS over a trained network."""

import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from costtogo.files import read_csv, read_frame, read_json, write_csv
from costtogo.heuristics.network import NetworkHeuristic, load
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, apply, solves
from costtogo.search.bwas import Limits, solve
from costtogo.types import States, UserError

COLUMNS = ("scramble", "state")


@dataclass(frozen=True)
class Setting:
    """How to search: λ, N, where a search ends as unsolved, whether it goes on after the first solution."""

    path_weight: float
    batch_size: int
    limits: Limits
    until_proved: bool = False


def solve_one(puzzle_name: str | None, model: Path | None, kind: str, text: str, setting: Setting) -> None:
    """Print the solution of one scramble or state; UserError where none was found within the limits."""
    heuristic = find_heuristic(puzzle_name, model)
    puzzle = heuristic.puzzle
    start = read_start(puzzle, kind, text)
    warm_up(heuristic, start)
    row = solve_row(heuristic, start, setting)
    if not row["solved"]:
        raise UserError(f"Not solved within {row['nodes_expanded']:,} expansions; raise --max-expansions.")
    print(puzzle.draw(start))
    print(f"solution        {row['solution'] or '(solved already)'}")
    print(f"length          {row['length']} moves")
    print(f"lower bound     {row['lower_bound']:.1f} moves (conditional: if the network never overestimates)")
    print(f"nodes expanded  {row['nodes_expanded']:,}")
    print(f"seconds         {row['seconds']:.3f}")


def solve_file(puzzle_name: str | None, model: Path | None, instances: Path, out: Path, setting: Setting) -> None:
    """Solve every row of a CSV; the file written has its column, solution, length, nodes_expanded, seconds, solved."""
    frame = read_csv(instances, dtype=str, keep_default_na=False)
    kinds = [name for name in COLUMNS if name in frame.columns]
    if not kinds:
        raise UserError(f"{instances} has no column named scramble or state; add one as its header.")
    heuristic = find_heuristic(puzzle_name, model)
    starts = [_read_row(heuristic.puzzle, kinds[0], text, instances, row) for row, text in enumerate(frame[kinds[0]])]
    if starts:
        warm_up(heuristic, starts[0])
    rows = [solve_row(heuristic, start, setting) for start in starts]
    columns = ["solution", "length", "nodes_expanded", "seconds", "solved"]
    solved = pd.DataFrame(rows, columns=columns).astype({"length": "Int64"})
    write_csv(out, pd.concat([frame[kinds[:1]], solved], axis=1))
    print(f"{int(solved['solved'].sum())} of {len(solved)} solved, written to {out}")


def find_heuristic(puzzle_name: str | None, model: Path | None) -> NetworkHeuristic:
    """The network of a checkpoint or of a model's folder; without one, the default study's model of the puzzle."""
    path = _checkpoint(model or _default_model(puzzle_name))
    heuristic = load(path)
    if puzzle_name is not None and heuristic.puzzle.name != make(puzzle_name).name:
        raise UserError(f"{path} was trained on {heuristic.puzzle.name}, not on {puzzle_name}; choose another --model.")
    return heuristic


def _default_model(puzzle_name: str | None) -> Path:
    """The default study's best model of a puzzle: most optimal solutions, then fewest nodes expanded."""
    if puzzle_name is None:
        raise UserError("Name the puzzle with --puzzle, or a checkpoint with --model.")
    puzzle, study = make(puzzle_name).name, Path("results/default")
    cards = [read_json(path) for path in sorted((study / "searches").glob("*.json"))]
    searched = [
        card for card in cards if card["parameters"]["puzzle"] == puzzle and "optimal_percent" in card["metrics"]
    ]
    if not searched:
        raise UserError(f"There is no trained model of {puzzle_name} in results/default; run make, or give --model.")
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


def read_start(puzzle: Puzzle, kind: str, text: str) -> States:
    """A scramble applied to the goal, or a state read as it is, uint8 [D]."""
    return puzzle.parse_state(text) if kind == "state" else apply(puzzle, puzzle.goal, puzzle.parse_moves(text))


def _read_row(puzzle: Puzzle, kind: str, text: str, path: Path, row: int) -> States:
    try:
        return read_start(puzzle, kind, text)
    except UserError as error:
        raise UserError(f"{path}, line {row + 2}: {error}") from error


def warm_up(heuristic: NetworkHeuristic, start: States) -> None:
    """A first small search, so that no seconds hold the loading of compiled code."""
    solve(heuristic.puzzle, heuristic, start[None], path_weight=1.0, batch_size=1, limits=Limits(max_expansions=2))


def solve_row(heuristic: NetworkHeuristic, start: States, setting: Setting) -> dict:
    """One search; its solution is replayed before it is given."""
    begun = time.perf_counter()
    result = solve(
        heuristic.puzzle, heuristic, start[None], path_weight=setting.path_weight, batch_size=setting.batch_size,
        limits=setting.limits, until_proved=setting.until_proved,
    )  # fmt: skip
    seconds = time.perf_counter() - begun
    solved = bool(result.solved[0]) and bool(solves(heuristic.puzzle, start[None], result.solutions)[0])
    return {
        "solution": heuristic.puzzle.format_moves(result.solutions[0]) if solved else "",
        "length": int(result.cost[0]) if solved else None,
        "nodes_expanded": int(result.nodes_expanded[0]),
        "lower_bound": float(result.lower_bound[0]),
        "seconds": round(seconds, 4),
        "solved": solved,
    }
