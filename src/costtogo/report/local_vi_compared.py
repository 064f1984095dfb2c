"""Each number of the document on local value iteration beside ours."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from costtogo.files import read_csv, read_frame

REPORTED = Path("data/reported/local_value_iteration.csv")
TIMED = ("training_minutes", "training_seconds", "seconds_per_board")
DRAWN = 100_000  # the document's random boards
DEVIATIONS = 3  # of a sampled number from the exact one, in standard deviations
AGREES, DIFFERS, WITHIN, NOT_COVERED = "agrees", "differs", "within chance", "not covered"


class Tables(NamedTuple):
    """What the stage wrote; clock: its wall-clock times."""

    subproblems: pd.DataFrame
    shares: pd.DataFrame
    classes: pd.DataFrame
    preferences: pd.DataFrame
    boards: pd.DataFrame
    policy: pd.DataFrame
    larger: pd.DataFrame
    clock: pd.DataFrame

    @classmethod
    def read(cls, results: Path, puzzle: str) -> "Tables":
        """results: the study's folder."""
        folder = results / "local_vi" / puzzle
        named = {name: read_frame(folder / f"{name}.parquet") for name in cls._fields if name != "clock"}
        return cls(**named, clock=read_frame(results / "timings" / "local_vi" / f"{puzzle}.parquet"))


class Answer(NamedTuple):
    """Our number as text, whether the document's agrees, and why not."""

    reproduced: str
    verdict: str
    note: str = ""


def read_reported(path: Path = REPORTED) -> pd.DataFrame:
    """The document's numbers: tile, considered and initial_size are 0 where a number has none; value is text."""
    rows = read_csv(path, dtype=str).fillna("")
    for name in ("tile", "considered", "initial_size"):
        rows[name] = rows[name].replace("", "0").astype(int)
    return rows


def compare(reported: pd.DataFrame, tables: Tables, timed: bool = False) -> pd.DataFrame:
    """A row for every number: ours, the verdict, a note; timed: those that a clock tells, or the others."""
    rows, sizes = reported[reported["quantity"].isin(TIMED) == timed], set(tables.classes["initial_size"])
    answers = [
        _ANSWERS[row.quantity](row, tables) if row.initial_size in sizes else Answer("–", NOT_COVERED)
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


def _share(row, tables: Tables) -> Answer:
    found = tables.shares.query("initial_size == 1 and tile == @row.tile and considered == @row.considered")
    return exactly(row.value, Fraction(found["share"].iloc[0]))


def _subproblem(row, tables: Tables) -> pd.Series:
    return tables.subproblems.query("initial_size == 1 and tile == @row.tile and considered == @row.considered").iloc[0]


def _class(row, tables: Tables) -> pd.Series:
    return tables.classes.query("initial_size == 1 and considered == @row.considered").iloc[0]


def _boards(row, tables: Tables) -> Answer:
    share = Fraction(_class(row, tables)["share"])
    drawn = int((tables.boards["considered_1"] == row.considered).sum())
    deviation = float(DRAWN * share * (1 - share)) ** 0.5
    close = abs(int(row.value) - DRAWN * share) <= DEVIATIONS * deviation
    return Answer(
        str(drawn), WITHIN if close else DIFFERS, f"{float(DRAWN * share):,.1f} of {DRAWN:,} boards on average"
    )


def _average(row, tables: Tables) -> Answer:
    size = row.initial_size
    orders = tables.preferences.query("initial_size == @size and considered == @row.considered")["average_moves"]
    share = float(Fraction(_class(row, tables)["share"])) if row.considered else 1
    slack = DEVIATIONS * tables.boards[f"length_{size}"].std() / (DRAWN * share) ** 0.5
    inside = orders.min() - slack <= float(row.value) <= orders.max() + slack
    note = f"{orders.min():.2f} to {orders.max():.2f} by the order in which equally good moves are tried"
    return Answer(f"{orders.iloc[0]:.2f}", WITHIN if inside else DIFFERS, note)


def _maximum(row, tables: Tables) -> Answer:
    size = row.initial_size
    chosen = tables.boards[f"considered_{size}"] == row.considered if row.considered else slice(None)
    drawn = tables.boards.loc[chosen, f"length_{size}"].max()
    true = tables.preferences.query("initial_size == @size and considered == @row.considered")["maximum_moves"].max()
    possible = int(row.value) <= true
    return Answer(f"{drawn:.0f}", WITHIN if possible else DIFFERS, f"the longest of all boards has {true} moves")


def _seconds(tables: Tables, what: str, size: int) -> float:
    return tables.clock.query("side == 4 and initial_size == @size and what == @what")["seconds"].iloc[0]


def _training(row, tables: Tables) -> Answer:
    seconds = _seconds(tables, "value functions", row.initial_size)
    ours = seconds / 60 if row.quantity == "training_minutes" else seconds
    return Answer(f"{ours:.2g}", f"{float(row.value) / ours:,.0f} times as fast")


def _seconds_per_board(row, tables: Tables) -> Answer:
    ours = _seconds(tables, "boards", row.initial_size) / len(tables.boards)
    return Answer(f"{ours:.2g}", f"{float(row.value) / ours:,.0f} times as fast")


HALVED = "halved there: two tiles that are not looked at can be exchanged, so every placement can be reached"

_ANSWERS: dict[str, Callable[..., Answer]] = {
    "share": _share,
    "states": lambda row, tables: exactly(row.value, int(_subproblem(row, tables)["solvable"]), HALVED),
    "most_states": lambda row, tables: exactly(
        row.value, int(tables.subproblems.query("initial_size == 1")["solvable"].max()), HALVED
    ),
    "class_share": lambda row, tables: exactly(row.value, Fraction(_class(row, tables)["share"])),
    "class_percent": lambda row, tables: rounded(row.value, float(100 * Fraction(_class(row, tables)["share"]))),
    "bound": lambda row, tables: exactly(row.value, int(_class(row, tables)["bound"])),
    "most_moves": lambda row, tables: exactly(row.value, int(_subproblem(row, tables)["most_moves"])),
    "boards": _boards,
    "average_moves": _average,
    "maximum_moves": _maximum,
    "training_minutes": _training,
    "training_seconds": _training,
    "seconds_per_board": _seconds_per_board,
}
