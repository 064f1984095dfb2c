"""What the numbers of the literature count or measure: each quantity once, with its name, its tolerance, its reason.

quantities.csv has them: of the thesis, whose trainings and searches are repeated checkpoint by checkpoint on puzzles
that can be listed, and, where they are others, of all other documents and of the thesis on puzzles too large to list;
and of local value iteration, whose document has numbers of its own.
as_is: a number that is the same or not, what a training or a search was asked for, and written as it is.
"""

import csv
import io
from pathlib import Path
from typing import NamedTuple

from costtogo.analysis.numbers import Format, amount, is_missing, percent, places, short
from costtogo.files import read_text

TINY = ("states", "states_seen_percent", "move_sequences")  # or huge: written with a power of ten
ERRORS = ("overestimation_mean", "mean_absolute_error")  # in moves, of which three places count
TABLE = Path(__file__).with_suffix(".csv")


class Quantity(NamedTuple):
    """A quantity of data/reported.

    title: as readers see it.  better: of a result, +1 if more is better, -1 if less, 0 if neither.  absolute, relative:
    by how much two numbers may differ and be the same, in the quantity's unit and as a share of the reported value.
    matters: the least difference that does, as a share of the reported value; of shares it is WIDEST of the verdicts.
    clock: it is a wall-clock time, which is reported apart.  reason: why we have no number for it, where we have none;
    no_run: nor would any run of ours give one.
    form: how its numbers are written, where not as form_of says.  parameter: of a setting of a training, where the
    parameters of one have it: "architecture.first_layers.0".
    """

    title: str
    better: int = 0
    absolute: float = 0.0
    relative: float = 0.0
    matters: float = 0.25
    clock: bool = False
    reason: str = ""
    no_run: bool = False
    form: Format | None = None
    parameter: str = ""

    @property
    def tolerance(self) -> str:
        """In words, empty where numbers must be equal.  -> "5", "20 %"."""
        if self.absolute:
            return f"{self.absolute:g}"
        return f"{100 * self.relative:g} %" if self.relative else ""


def is_share(name: str) -> bool:
    """Whether a quantity counts of each hundred."""
    return "percent" in name or name == "states_solved"


def _read(of: str) -> dict[str, Quantity]:
    """The rows of TABLE of the thesis or of other documents, by their names in data/reported."""
    rows = csv.DictReader(io.StringIO(read_text(TABLE)))
    return {row["name"]: _quantity(row) for row in rows if row["of"] == of}


def _quantity(row: dict[str, str]) -> Quantity:
    better, absolute, relative = (float(row[name] or 0) for name in ("better", "absolute", "relative"))
    clock, no_run, form = row["clock"] == "yes", row["no_run"] == "yes", short if row["as_is"] == "yes" else None
    matters = float(row["matters"] or Quantity._field_defaults["matters"])
    judged = (row["title"], int(better), absolute, relative, matters)
    return Quantity(*judged, clock, row["reason"], no_run, form, row["parameter"])


THESIS = _read("thesis")
OTHERS = THESIS | _read("others")
LOCAL_VI = _read("local_vi")
TIMES = tuple(name for name, quantity in OTHERS.items() if quantity.clock)


def quantity_of(name: str, thesis: bool = False) -> Quantity:
    """A quantity by its name in data/reported; thesis: in the tables of the thesis's own recipes."""
    return (THESIS if thesis and name in THESIS else LOCAL_VI | OTHERS)[name]


def form_of(name: str, thesis: bool = False) -> Format:
    """How the numbers of a quantity are written."""
    if name in TIMES and (name in THESIS or not thesis):
        return lambda value: "–" if is_missing(value) else f"{value:,.3g}"
    if name in TINY and not thesis:
        return "{:.3g}".format
    if found := quantity_of(name).form:
        return found
    return percent if "percent" in name else places(3) if name in ERRORS else amount
