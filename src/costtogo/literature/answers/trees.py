"""Our numbers for DeepCube's: from Monte Carlo tree search and from the two-phase solver, on the same cubes."""

import numpy as np
import pandas as pd

from costtogo.literature.answers import sampled_searches as searches
from costtogo.literature.answers.sampled_searches import Searches, is_scrambled, searches_in, share_of
from costtogo.literature.finding import Finding, Row, absent, finds, mean
from costtogo.literature.words import NOT_REACHED
from costtogo.params.instances import WalkInstances
from costtogo.puzzles import noun
from costtogo.tables.results import StudyResults, once
from costtogo.tables.searches import exact_solutions

TURNS = 15  # random turns of the cubes whose median lengths DeepCube gives (McAleer et al. 2018, 5)


def is_of_turns(results: StudyResults, name: str) -> bool:
    """Whether a set is drawn by walks of TURNS moves."""
    kind = results.asked.instances[name]
    return isinstance(kind, WalkInstances) and kind.length == (TURNS, TURNS)


@once
def less_scrambled(results: StudyResults) -> Searches | None:
    """The trees of the states that are TURNS random moves from the goal."""
    return searches.trees(results, is_of_turns)


@once
def two_phase(results: StudyResults) -> Searches | None:
    """What the two-phase solver found of the scrambled states."""
    table = f"two_phase/{results.puzzle}/searches"
    found = results.find_frame(table)
    rows = pd.DataFrame() if found is None else found[[is_scrambled(results, name) for name in found["set"]]]
    if rows.empty:
        return None
    what = f"{len(rows)} {noun(results.puzzle)}s of the set {rows['set'].iloc[0]}, the program kociemba"
    return searches_in(results, table, rows, ["set"], what)


@finds("length", "seconds", of="sampled")
def of_two_phases(results: StudyResults, row: Row) -> Finding | None:
    """Mean length in quarter turns, and seconds of a search, of the two-phase solver."""
    found = two_phase(results) if row["model"] == "Kociemba" else None
    if found is None:
        return None
    column = "cost" if row["quantity"] == "length" else "seconds"
    return mean(found.solved[column], f"{found.what}; each search a process of its own", found.file)


@finds("at_most_kociemba_percent", of="learned")
def at_most_two_phases(results: StudyResults, row: Row) -> Finding | None:
    """The share of scrambled states that trees solve in at most as many moves as the two-phase solver."""
    ours, theirs = searches.trees(results, is_scrambled), two_phase(results)
    if ours is None or theirs is None:
        return None
    both = ours.rows.merge(theirs.rows, on=["set", "instance"], suffixes=("", "_theirs"))
    holds: pd.Series = both["cost"] <= both["cost_theirs"]
    return share_of(ours, holds, f"{ours.what}; {theirs.what}") if len(both) else None


@finds("median_length", of="sampled")
def median(results: StudyResults, row: Row) -> Finding | None:
    """The median length of trees, where an unsolved state counts as longer than all; of Korf's solver, of optima."""
    if row["model"] == "Korf":
        exact = exact_solutions(results)
        rows = exact[[is_of_turns(results, name) for name in exact["set"]]] if exact is not None else ()
        if not len(rows) or not rows["solved"].all():
            return None
        what = f"{len(rows)} {noun(results.puzzle)}s of the set {rows['set'].iloc[0]}, {results.asked.exact_solver}"
        return Finding(float(rows["distance"].median()), what, file=results.place(f"optima/{results.puzzle}"))
    found = less_scrambled(results) if row["model"] == "DeepCube" else None
    if found is None:
        return None
    middle = float(found.rows["cost"].median())
    unsolved = absent(NOT_REACHED, f"half of {found.what}, or more are not solved")
    return Finding(middle, found.what, file=found.file) if np.isfinite(middle) else unsolved


@finds("optimal_percent", of="learned")
def optimal(results: StudyResults, row: Row) -> Finding | None:
    """The share of less scrambled states that trees solve in the fewest moves, where those of all are known."""
    found = less_scrambled(results) if row["model"] == "DeepCube" else None
    if found is None or found.rows["distance"].isna().any():
        return None
    return share_of(found, found.rows["cost"] == found.rows["distance"], found.what)
