"""The report's chapter on local value iteration, and its tables."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import pandas as pd

from costtogo.analysis.local_solutions import lengths_by_size, solver_name
from costtogo.puzzles import make, title
from costtogo.report.answers.local_vi import local
from costtogo.report.comparison import compare_texts
from costtogo.report.figures import Figures
from costtogo.report.pages import Page
from costtogo.report.render import items, render
from costtogo.report.results import StudyResults, Tables
from costtogo.report.words import REPRODUCED, SOURCE_ERRS, WORSE

EXCHANGED = "1 2 4 3 5 6 7 8 9 10 11 12 13 15 14 0"
TOLD = {
    REPRODUCED: "are reproduced",
    SOURCE_ERRS: "are errors of the document",
    WORSE: "differ",
}  # verdicts in the key results
SMALLER = "puzzle8"  # on which a test compares the shares and averages with every board


def heading(results: StudyResults) -> str:
    """What the report of a study of it alone is called."""
    return f"The {title(results.puzzle)} by local value iteration"


def compared(results: StudyResults) -> pd.DataFrame:
    """The document's numbers beside ours, those that a clock tells or, where results are not timed, the others."""
    return compare_texts(results)


def findings(results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame) -> list[list[str]]:
    """The moves by initial size, how the document's numbers came out, and other solvers on the same boards."""
    counted = comparison["verdict"].value_counts()
    verdicts = [f"{counted.get(verdict, 0)} {words}" for verdict, words in TOLD.items()]
    told = {"boards": results.asked.local_vi.boards, "states": make(results.puzzle).state_count, "verdicts": verdicts}
    text = render(
        "findings_local_vi",
        tables=by_puzzle[results.puzzle],
        count=len(comparison),
        title=title(results.puzzle),
        classes=one_tile_a_step(by_puzzle[results.puzzle]["classes"]).to_dict("records"),
        **told,
    )
    return [items(text)]


def summary(results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame) -> str:
    """The key numbers, and what was done."""
    smaller = {"title": title(SMALLER), "states": make(SMALLER).state_count}
    sizes = by_puzzle[results.puzzle]["sizes"].assign(run=results.run(f"local_vi/{results.puzzle}"))
    return render("local_vi_summary", sizes=sizes, smaller=smaller)


def pages(
    results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame, figures: Figures
) -> Iterator[Page]:
    """The one of the puzzle; where networks have one of its name, too, this has the method's name besides."""
    tables = by_puzzle[results.puzzle]
    shares, subproblems = (one_tile_a_step(tables[name]) for name in ("shares", "subproblems"))
    text = render(
        "local_vi",
        heading=heading(results),
        tables=tables,
        drawn=figures.of(results.puzzle),
        shares=shares.merge(subproblems, on=["tile", "considered"]),
        classes=one_tile_a_step(tables["classes"]),
    )
    yield Page(f"{results.puzzle}_local_vi" if results.models else results.puzzle, "local_vi", text)


def literature(results: StudyResults, comparison: pd.DataFrame) -> str:
    """Nothing: the document's numbers stand in reported_vs_reproduced.csv and, where they differ, in differences."""
    return ""


def differences(results: StudyResults, comparison: pd.DataFrame) -> str:
    """Where the document does not hold, and why. Empty if the document is about another puzzle."""
    if comparison.empty:
        return ""
    subproblems = one_tile_a_step(local(results, "subproblems"))
    return render(
        "local_vi_differences",
        orders=local(results, "preferences")["order"].nunique(),
        differing=comparison[comparison["verdict"].isin([SOURCE_ERRS, WORSE])],
        exchanged=_exchanged(subproblems, make(results.puzzle)),
    )


def timings(results: StudyResults, comparison: pd.DataFrame, figures: Figures) -> str:
    """The wall-clock times, and the document's beside ours."""
    clock, found = results.frame(f"timings/local_vi/{results.puzzle}"), solvers(results)
    if not found.empty:
        seconds = results.frame(f"timings/compared/{results.puzzle}").groupby("solver", sort=False)["seconds"]
        means, longest = (1e3 * values.to_numpy() for values in (seconds.mean(), seconds.max()))
        found = found.assign(milliseconds=means, longest_milliseconds=longest)
    values = {"clock": clock.assign(tiles=clock["side"] ** 2 - 1), "comparison": comparison, "solvers": found}
    return render("local_vi_timings", drawn=figures.of(results.puzzle), **values)


def one_tile_a_step(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the subproblems that begin with one tile."""
    return frame[frame["initial_size"] == 1]


def _exchanged(subproblems: pd.DataFrame, puzzle) -> dict[str, Any]:
    """A board that shows why the states are not halved: two pairs of tiles are exchanged against the goal.

    pair: the first of them, a subproblem of its own.  home: the tiles before it.  others: the second pair.
    states: those of that subproblem that occur.  largest: those of the largest one.
    """
    state = puzzle.parse_state(EXCHANGED)  # which refuses boards that cannot be solved
    away = sorted(int(tile) for tile in state[state != puzzle.goal])
    pair, others = away[:2], away[2:]
    alike = (subproblems["tile"] == pair[-1]) & (subproblems["considered"] == len(pair))
    states = {"states": subproblems.loc[alike, "solvable"].iloc[0], "largest": subproblems["solvable"].max()}
    return {"board": puzzle.draw(state), "pair": pair, "others": others, "home": list(range(1, pair[0])), **states}


def classes(results: StudyResults) -> pd.DataFrame:
    """The classes of boards with their fractions as numbers beside them."""
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
    """A row for each solver: share solved, and length beside the optimum of the boards it solved."""
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
