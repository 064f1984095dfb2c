"""What local value iteration comes to: states of subproblems, classes of boards, lengths of solutions, seconds.

Its document has numbers of its own. A row says which by its terms: tile, considered and initial_size, 0 where it has
none. Most are exact, as fractions; what depends on boards drawn, or on which of several equally good moves a policy
takes, has the bounds of chance for low and high.
"""

from fractions import Fraction
from functools import partial

from costtogo.analysis.local_solutions import lengths_of
from costtogo.literature import finding
from costtogo.literature.finding import Finding, Row
from costtogo.tables.local_vi import local
from costtogo.tables.results import StudyResults, alike

DOCUMENT = "local_value_iteration"
finds = partial(finding.finds, document=DOCUMENT)
PUZZLE = "puzzle15"  # the document's
DRAWN = 100_000  # the document's random boards
RARE = 1e-3  # the chance of a sample without a board so long
DEVIATIONS = 3  # of a sampled number from the exact one, in standard deviations
SIDE = 4  # of the document's board
HALVED = "halved there: two tiles that are not looked at can be exchanged, so every placement can be reached"
EXACT = {  # the table and the column of each number that is exact
    "share": ("shares", "share"),
    "states": ("subproblems", "solvable"),
    "most_states": ("subproblems", "solvable"),
    "most_moves": ("subproblems", "most_moves"),
    "class_share": ("classes", "share"),
    "class_percent": ("classes", "share"),
    "bound": ("classes", "bound"),
}


def sizes(results: StudyResults) -> set[int]:
    """With how many tiles a step begins, in the study."""
    return set(local(results, "classes")["initial_size"])


@finds(*EXACT)
def exact(results: StudyResults, row: Row) -> Finding:
    """A number of the theorems, which are about one tile a step."""
    quantity = row["quantity"]
    table, column = EXACT[quantity]
    named = [name for name in ("tile", "considered") if row[name]]
    value = Fraction(str(alike(local(results, table), row, "initial_size", *named)[column].max()))
    if quantity == "class_percent":
        percent, places = float(100 * value), len(row["written"].partition(".")[2])
        last = 10**-places  # by which a number that was rounded or cut may differ
        return Finding(percent, "", percent - last, percent + last, text=f"{percent:.{places + 2}f}", fact=True)
    halved = quantity.endswith("states") and value != row["value"]
    return Finding(value, HALVED if halved else "", text=str(value), fact=True)


@finds("boards")
def boards(results: StudyResults, row: Row) -> Finding:
    """Boards of a class among those drawn, and among the document's by chance."""
    share = _share(results, row)
    average, half = float(DRAWN * share), DEVIATIONS * float(DRAWN * share * (1 - share)) ** 0.5
    drawn = len(lengths_of(local(results, "boards"), 1, row["considered"]))
    note = f"{average:,.1f} of {DRAWN:,} boards on average"
    return Finding(drawn, note, average - half, average + half, text=str(drawn), fact=True)


@finds("average_moves")
def average_moves(results: StudyResults, row: Row) -> Finding:
    """Of a class or of all boards; the bounds are those of all orders in which moves may be tried, and of a sample."""
    orders = alike(local(results, "preferences"), row, "initial_size", "considered")["average_moves"]
    share = float(_share(results, row)) if row["considered"] else 1
    lengths = lengths_of(local(results, "boards"), row["initial_size"])
    slack = DEVIATIONS * lengths.std() / (DRAWN * share) ** 0.5
    note = f"{orders.min():.2f} to {orders.max():.2f} by the order in which equally good moves are tried"
    return Finding(orders.iloc[0], note, orders.min() - slack, orders.max() + slack, text=f"{orders.iloc[0]:.2f}")


@finds("maximum_moves")
def maximum_moves(results: StudyResults, row: Row) -> Finding | None:
    """Of the boards drawn.

    The bounds are what a sample as large as the document's rarely stays below, and the longest of all boards.
    """
    boards, size = local(results, "boards"), row["initial_size"]
    drawn, lengths = lengths_of(boards, size), lengths_of(boards, size, row["considered"])
    longest = alike(local(results, "preferences"), row, "initial_size", "considered")["maximum_moves"].max()
    if lengths.empty:
        return None
    below = RARE ** (len(drawn) / (DRAWN * len(lengths)))  # so that below^n is RARE, of the document's n boards
    least = lengths.quantile(below, interpolation="lower")
    note = f"such a sample has {least:.0f} moves or more, and the longest of all boards {longest}"
    return Finding(lengths.max(), note, least, longest, text=f"{lengths.max():.0f}")


@finds("training_minutes", "training_seconds", "seconds_per_board")
def seconds(results: StudyResults, row: Row) -> Finding:
    """Seconds or minutes for all value functions, or seconds of a board."""
    quantity = row["quantity"]
    what = "boards" if quantity == "seconds_per_board" else "value functions"
    clock = results.frame(f"timings/local_vi/{results.puzzle}")
    found = alike(clock, row | {"side": SIDE, "what": what}, "side", "initial_size", "what")["seconds"].iloc[0]
    by = {"training_minutes": 60, "seconds_per_board": len(lengths_of(local(results, "boards"), 1))}.get(quantity, 1)
    times = float(row["value"]) / (found / by)
    return Finding(found / by, f"{times:,.0f} times as fast", text=f"{found / by:.2g}")


def _share(results: StudyResults, row: Row) -> Fraction:
    """The share of all boards that are in a class, one tile a step."""
    classes = alike(local(results, "classes"), row | {"initial_size": 1}, "initial_size", "considered")
    return Fraction(classes["share"].iloc[0])
