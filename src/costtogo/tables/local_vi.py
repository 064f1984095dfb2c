"""The tables of local value iteration: classes of boards, subproblems, lengths, other solvers on the same boards."""

from fractions import Fraction
from functools import partial

import pandas as pd

from costtogo.analysis.local_solutions import lengths_by_size, solver_name
from costtogo.tables.results import StudyResults


def local(results: StudyResults, name: str) -> pd.DataFrame:
    """A table of the stage: subproblems, shares, classes, preferences, boards, policy or larger."""
    return results.frame(f"local_vi/{results.puzzle}/{name}")


def classes(results: StudyResults) -> pd.DataFrame:
    """The classes of boards, with their fractions as numbers, too."""
    found = local(results, "classes").rename(columns={"share": "share_exact", "average_moves": "average_exact"})
    found["share_percent"] = [float(100 * Fraction(text)) for text in found["share_exact"]]
    found["average_moves"] = [float(Fraction(text)) for text in found["average_exact"]]
    return found


def sizes(results: StudyResults) -> pd.DataFrame:
    """By initial size: averages and most moves of the boards drawn and of all boards, states of the subproblems."""
    states = local(results, "subproblems").groupby("initial_size")["states"].sum()
    found = lengths_by_size(local(results, "classes"), local(results, "boards"))
    return found.assign(states=found["initial_size"].map(states))


def solvers(results: StudyResults) -> pd.DataFrame:
    """A row for each solver: share solved, and mean length and optimum of the boards that it solved."""
    if results.asked.local_vi.compared is None:
        return pd.DataFrame()
    rows = []
    for solver, boards in results.frame(f"compared/{results.puzzle}").groupby("solver", sort=False):
        length, optimal = (boards.dropna(subset="length")[name].mean() for name in ("length", "optimal"))
        solved = 100 * boards["length"].count() / len(boards)
        row = {"solver": solver_name(solver), "boards": len(boards), "solved_percent": solved, "length": length}
        rows.append(row | {"optimal_length": optimal, "ratio": length / optimal})
    return pd.DataFrame(rows)


LOCAL_VI_TABLES = {
    "classes": classes,
    "sizes": sizes,
    **{name: partial(local, name=name) for name in ("larger", "shares", "subproblems", "preferences")},
    "solvers": solvers,
}
