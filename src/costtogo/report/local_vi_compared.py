"""Each number of the document on local value iteration beside ours."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from costtogo.files import read_csv
from costtogo.report.results import StudyResults

TIMED = ("training_minutes", "training_seconds", "seconds_per_board")
DRAWN = 100_000  # the document's random boards
DEVIATIONS = 3  # of a sampled number from the exact one, in standard deviations
AGREES, DIFFERS, WITHIN, NOT_COVERED = "agrees", "differs", "within chance", "not covered"


def local(results: StudyResults, name: str) -> pd.DataFrame:
    """A table of the stage: subproblems, shares, classes, preferences, boards, policy or larger."""
    return results.frame(f"local_vi/{results.puzzle}/{name}")


class Answer(NamedTuple):
    """Our number as text, whether the document's agrees, and why not."""

    reproduced: str
    verdict: str
    note: str = ""


def read_reported(path: Path) -> pd.DataFrame:
    """The document's numbers: tile, considered and initial_size are 0 where a number has none; value is text."""
    rows = read_csv(path, dtype=str).fillna("")
    for name in ("tile", "considered", "initial_size"):
        rows[name] = rows[name].replace("", "0").astype(int)
    return rows


def compare(reported: pd.DataFrame, results: StudyResults) -> pd.DataFrame:
    """A row for every number: ours, the verdict, a note; those that a clock tells, or the others where it is hidden."""
    rows, sizes = (
        reported[reported["quantity"].isin(TIMED) == results.timed],
        set(local(results, "classes")["initial_size"]),
    )
    answers = [
        _ANSWERS[row.quantity](row, results) if row.initial_size in sizes else Answer("–", NOT_COVERED)
        for row in rows.itertuples()
    ]
    found = pd.DataFrame(answers, columns=Answer._fields, index=rows.index)
    return rows.join(found).drop(columns="erratum").reset_index(drop=True)


def exactly(text: str, ours: Fraction | int, note: str = "") -> Answer:
    """Whether two numbers are the same."""
    same = Fraction(text) == ours
    return Answer(str(ours), AGREES if same else DIFFERS, "" if same else note)


def rounded(text: str, ours: float) -> Answer:
    """Whether ours, rounded or cut off to as many places, is the text."""
    places = len(text.partition(".")[2])
    off = abs(float(text) - ours) * 10**places
    return Answer(f"{ours:.{places + 2}f}", AGREES if off <= 1 else DIFFERS)


def _share(row, results: StudyResults) -> Answer:
    found = local(results, "shares").query("initial_size == 1 and tile == @row.tile and considered == @row.considered")
    return exactly(row.value, Fraction(found["share"].iloc[0]))


def _subproblem(row, results: StudyResults) -> pd.Series:
    return (
        local(results, "subproblems")
        .query("initial_size == 1 and tile == @row.tile and considered == @row.considered")
        .iloc[0]
    )


def _class(row, results: StudyResults) -> pd.Series:
    return local(results, "classes").query("initial_size == 1 and considered == @row.considered").iloc[0]


def _boards(row, results: StudyResults) -> Answer:
    share = Fraction(_class(row, results)["share"])
    drawn = int((local(results, "boards")["considered_1"] == row.considered).sum())
    deviation = float(DRAWN * share * (1 - share)) ** 0.5
    close = abs(int(row.value) - DRAWN * share) <= DEVIATIONS * deviation
    return Answer(
        str(drawn), WITHIN if close else DIFFERS, f"{float(DRAWN * share):,.1f} of {DRAWN:,} boards on average"
    )


def _average(row, results: StudyResults) -> Answer:
    size = row.initial_size
    orders = local(results, "preferences").query("initial_size == @size and considered == @row.considered")[
        "average_moves"
    ]
    share = float(Fraction(_class(row, results)["share"])) if row.considered else 1
    slack = DEVIATIONS * local(results, "boards")[f"length_{size}"].std() / (DRAWN * share) ** 0.5
    inside = orders.min() - slack <= float(row.value) <= orders.max() + slack
    note = f"{orders.min():.2f} to {orders.max():.2f} by the order in which equally good moves are tried"
    return Answer(f"{orders.iloc[0]:.2f}", WITHIN if inside else DIFFERS, note)


def _maximum(row, results: StudyResults) -> Answer:
    size = row.initial_size
    chosen = local(results, "boards")[f"considered_{size}"] == row.considered if row.considered else slice(None)
    drawn = local(results, "boards").loc[chosen, f"length_{size}"].max()
    true = (
        local(results, "preferences")
        .query("initial_size == @size and considered == @row.considered")["maximum_moves"]
        .max()
    )
    possible = int(row.value) <= true
    return Answer(f"{drawn:.0f}", WITHIN if possible else DIFFERS, f"the longest of all boards has {true} moves")


def _seconds(results: StudyResults, what: str, size: int) -> float:
    return (
        results.frame(f"timings/local_vi/{results.puzzle}")
        .query("side == 4 and initial_size == @size and what == @what")["seconds"]
        .iloc[0]
    )


def _training(row, results: StudyResults) -> Answer:
    seconds = _seconds(results, "value functions", row.initial_size)
    ours = seconds / 60 if row.quantity == "training_minutes" else seconds
    return Answer(f"{ours:.2g}", f"{float(row.value) / ours:,.0f} times as fast")


def _seconds_per_board(row, results: StudyResults) -> Answer:
    ours = _seconds(results, "boards", row.initial_size) / len(local(results, "boards"))
    return Answer(f"{ours:.2g}", f"{float(row.value) / ours:,.0f} times as fast")


HALVED = "halved there: two tiles that are not looked at can be exchanged, so every placement can be reached"

_ANSWERS: dict[str, Callable[..., Answer]] = {
    "share": _share,
    "states": lambda row, results: exactly(row.value, int(_subproblem(row, results)["solvable"]), HALVED),
    "most_states": lambda row, results: exactly(
        row.value, int(local(results, "subproblems").query("initial_size == 1")["solvable"].max()), HALVED
    ),
    "class_share": lambda row, results: exactly(row.value, Fraction(_class(row, results)["share"])),
    "class_percent": lambda row, results: rounded(row.value, float(100 * Fraction(_class(row, results)["share"]))),
    "bound": lambda row, results: exactly(row.value, int(_class(row, results)["bound"])),
    "most_moves": lambda row, results: exactly(row.value, int(_subproblem(row, results)["most_moves"])),
    "boards": _boards,
    "average_moves": _average,
    "maximum_moves": _maximum,
    "training_minutes": _training,
    "training_seconds": _training,
    "seconds_per_board": _seconds_per_board,
}
