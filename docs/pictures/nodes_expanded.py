"""Draw the picture of the README from rows that git keeps: python docs/pictures/nodes_expanded.py."""

from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from costtogo.figures.style import BLUE, DOTS_PER_INCH, GREEN, GREY, SETTINGS
from costtogo.tables.kept import MEASURED
from costtogo.tables.rows import rows_of

MODEL = "DNN_final_2x2x2"
KEPT = rows_of(MEASURED / "default")
PICTURE = Path(__file__).with_suffix(".png")
WORDS = {
    "zero": ("no heuristic", GREY),
    "network": ("a trained network", BLUE),
    "exact": ("the exact distance", GREEN),
}


def rows() -> pd.DataFrame:
    """The searches of states drawn evenly from all, by heuristic: nodes_expanded, instances, optimal_percent."""
    found = pd.concat(KEPT.table(f"searches/{name}/grid") for name in ("baseline_cube2", MODEL))
    return found[(found["set"] == "uniform") & (found["batch_size"] == 5)].set_index("heuristic").loc[list(WORDS)]


def described(found: pd.DataFrame) -> str:
    """The numbers of the picture in words, which the file holds, too."""
    nodes = [f"{words}: {found.loc[name, 'nodes_expanded']:,.0f}" for name, (words, _) in WORDS.items()]
    return "Nodes expanded on average from states of the 2×2×2 cube drawn evenly. " + "; ".join(nodes)


def draw(found: pd.DataFrame) -> Figure:
    """A bar for each heuristic on a logarithmic axis, with its number."""
    with matplotlib.rc_context(SETTINGS | {"font.size": 11, "ytick.labelsize": 11}):
        figure = Figure(figsize=(8, 2.3), layout="constrained")
        axes = figure.add_subplot()
        nodes = found["nodes_expanded"]
        labels = [words for words, _ in WORDS.values()]
        axes.barh(labels, nodes, color=[color for _, color in WORDS.values()], height=0.62)
        for place, count in enumerate(nodes):
            axes.annotate(f" {count:,.0f}", (count, place), va="center", weight="bold")
        axes.set_xscale("log")
        axes.set_xlim(1, 2e7)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.invert_yaxis()
        axes.set_xlabel("nodes expanded for one solution (mean; each line to the right is ten times as many)")
        axes.set_title("From any state of the 2×2×2 cube: the search is guided by …", loc="left", fontsize=11)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        return figure


if __name__ == "__main__":
    found = rows()
    draw(found).savefig(PICTURE, dpi=DOTS_PER_INCH, metadata={"Description": described(found), "Software": None})
