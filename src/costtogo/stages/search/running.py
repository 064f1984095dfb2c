"""How searches are run, checked and timed, and how their rows are described: the same for every solver.

A search is a solver with its puzzle, its heuristic and its settings: a function of starts alone.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

from costtogo.analysis.suboptimality import summarise
from costtogo.progress import with_progress
from costtogo.puzzles.base import Puzzle
from costtogo.search.replayed import Search, checked
from costtogo.types import States, UserError

SUMMARY = ["instances", "solved_percent", "length", "length_low", "length_high", "known", "optimal_length",
           "optimal_percent", "excess", "nodes_expanded", "nodes_generated", "out_of_memory_percent"]  # fmt: skip


def run_searches(puzzle: Puzzle, search: Search, instances: pd.DataFrame, starts: States, **cell) -> pd.DataFrame:
    """One call of a search from all instances: a row for each, with the columns of its cell.

    instances: columns set, instance and distance, NaN where that is not known.  starts: their states, uint8 [B, D].
    seconds is the share of a search in those of the call, by nodes expanded. A solution is written action by action:
    the customary notation may put moves that commute in another order.
    Raises UserError where a solution is wrong, or shorter than the distance that is known.
    """
    found, seconds = checked(puzzle, search, starts)
    work = found.nodes_expanded if found.nodes_expanded.any() else np.ones(len(starts))
    rows = pd.DataFrame(
        {
            "set": instances["set"].to_numpy(),
            **cell,
            "instance": instances["instance"].to_numpy(),
            "distance": instances["distance"].to_numpy(),
            "solved": found.solved,
            "cost": found.cost,
            "nodes_expanded": found.nodes_expanded,
            "nodes_generated": found.nodes_generated,
            "lower_bound": found.lower_bound,
            "ended": found.ended,
            "solution": [" ".join(puzzle.actions[action] for action in actions) for actions in found.solutions],
            "seconds": seconds * work / work.sum(),
        }
    )
    refuse(rows, rows["cost"] < rows["distance"])
    return rows


def run_alone(
    puzzle: Puzzle, search: Search, instances: pd.DataFrame, starts: States, name: str = "", threads: int = 1, **cell
) -> pd.DataFrame:
    """The same with a call for each instance, whose seconds are its own; name: says in lines of progress whose it is.

    threads: searches that go on side by side.
    """

    def one(place: int) -> pd.DataFrame:
        return run_searches(puzzle, search, instances.iloc[[place]], starts[[place]], **cell)

    with ThreadPoolExecutor(threads) as pool:
        rows = (pool.map if threads > 1 else map)(one, range(len(starts)))
        return pd.concat(with_progress(rows, len(starts), name), ignore_index=True)


def refuse(rows: pd.DataFrame, wrong: pd.Series) -> None:
    """UserError that names the first row whose known distance is wrong, if any is."""
    for row in rows[wrong].head(1).itertuples():
        raise UserError(
            f"Instance {row.instance} of the set {row.set} is solved in {row.cost:g} moves, not in the {row.distance:g}"
            " that were known as its optimum: mend the file of instances, or the solver."
        )


def in_notation(puzzle: Puzzle, searches: pd.DataFrame) -> pd.DataFrame:
    """Searches with their solutions in the customary notation, and length_htm, their moves where a half turn is one.

    That is NaN where a puzzle has no half turns, or a search no solution.
    """
    solutions, length = [puzzle.parse_moves(text) for text in searches["solution"]], puzzle.half_turn_length
    lengths = [float(length(moves)) if length else np.nan for moves in solutions]
    told = [puzzle.format_moves(moves) for moves in solutions]
    return searches.assign(solution=told, length_htm=np.where(searches["solved"], lengths, np.nan))


def describe(searches: pd.DataFrame) -> str:
    """One line on some searches."""
    (row,), seconds = summarise(searches).to_dict("records"), searches["seconds"]
    length = f", {row['length']:.2f} moves" if row["solved_percent"] else ""
    optimal = f", {row['optimal_percent']:.1f} % optimal" if row["known"] else ""
    return (
        f"{row['solved_percent']:.1f} % of {row['instances']} solved{length}{optimal}, "
        f"{row['nodes_generated']:,.0f} nodes generated, {seconds.mean():.3g} s each, {seconds.max():.3g} at most"
    )


def metrics_of(summary: pd.DataFrame, by: list[str], measures: tuple[str, ...]) -> dict[str, float]:
    """The measures of every row of a summary that are known, named by its cell: scrambled_1000_length."""
    named = {
        "_".join([*(str(row[column]) for column in by), name]): float(row[name])
        for row in summary.to_dict("records")
        for name in measures
    }
    return {name: value for name, value in named.items() if not np.isnan(value)}
