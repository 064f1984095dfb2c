"""The solutions of local value iteration by what they began with, and the names of the solvers compared with it."""

from fractions import Fraction

import pandas as pd

SOLVERS = {
    "bwas_network": "BWAS over the learned network",
    "ida_star_manhattan": "IDA*, Manhattan distance with linear conflicts",
    "ida_star_pattern_database": "IDA*, pattern database",
}


def lengths_of(boards: pd.DataFrame, initial_size: int, considered: int = 0) -> pd.Series:
    """The length of each board that was drawn, if `considered` is given of those with at most so many tiles at once.

    boards: initial_size, considered and length, and how many boards have these: boards.
    """
    own = boards[boards["initial_size"] == initial_size]
    own = own[own["considered"] == considered] if considered else own
    return own["length"].repeat(own["boards"])


def lengths_by_size(classes: pd.DataFrame, boards: pd.DataFrame) -> pd.DataFrame:
    """A row for each initial size: averages and most moves of the boards drawn and of all boards.

    classes: initial_size, considered, share and average_moves (exact, as text), maximum_moves.  boards: those of
    lengths_of.
    """
    rows = []
    for size, group in classes.groupby("initial_size", sort=False):
        lengths = lengths_of(boards, size)
        parts = zip(group["share"], group["average_moves"], strict=True)
        rows.append(
            {
                "initial_size": size,
                "drawn_average": lengths.mean(),
                "longest": int(lengths.max()),
                "average_moves": float(sum(Fraction(share) * Fraction(average) for share, average in parts)),
                "maximum_moves": int(group["maximum_moves"].max()),
                "considered": int(group["considered"].max()),
            }
        )
    return pd.DataFrame(rows)


def solver_name(solver: str) -> str:
    """local_vi_3 -> "local value iteration, 3 tiles a step"."""
    size = solver.removeprefix("local_vi_")
    return SOLVERS.get(solver) or f"local value iteration, {size} {'tile' if size == '1' else 'tiles'} a step"
