"""The report's chapter on local value iteration, and its tables."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from costtogo.literature.comparison import compare_local_vi
from costtogo.literature.words import REPRODUCED, SOURCE_ERRS, WORSE
from costtogo.puzzles import make, title
from costtogo.report.figures import Figures
from costtogo.report.pages import Page
from costtogo.report.render import items, render
from costtogo.tables.local_vi import local, solvers
from costtogo.tables.results import StudyResults, Tables

EXCHANGED = "1 2 4 3 5 6 7 8 9 10 11 12 13 15 14 0"
TOLD = {
    REPRODUCED: "are reproduced",
    SOURCE_ERRS: "are errors of the document",
    WORSE: "differ",
}  # verdicts in the key results
SMALLER = "puzzle8"  # on which a test compares the shares and averages with every board
compared = compare_local_vi  # the document's numbers with ours; where results are timed, wall-clock times alone


def heading(results: StudyResults) -> str:
    """What the report of a study of it alone is called."""
    return f"The {title(results.puzzle)} by local value iteration"


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
    """The page of the puzzle; where networks have one of its name, too, this one adds the method's name."""
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
    """Nothing: the document's numbers are in reported_vs_reproduced.csv and, where they differ, in differences."""
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
    """The wall-clock times, and the document's with ours."""
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
