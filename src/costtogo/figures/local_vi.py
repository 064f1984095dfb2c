"""The figures of local value iteration: its lengths, its policy, and a comparison with other solvers."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from costtogo.analysis.local_solutions import lengths_by_size, lengths_of, solver_name
from costtogo.figures import style
from costtogo.puzzles import make

POLICY_COLUMNS = 5


@style.kind_of_figure
def local_vi_lengths_by_size(classes: pd.DataFrame, boards: pd.DataFrame, reported: pd.DataFrame) -> Figure:
    """Average and longest solutions by initial size, ours and the document's.

    classes: initial_size, share, average_moves (both exact, as text), maximum_moves.  boards: those of
    lengths_of.  reported: the document's numbers, section, initial_size, quantity, value.
    """
    sizes, reported = lengths_by_size(classes, boards), _numbers(reported, "Table 2")
    figure, (axes,) = style.subplots(grid=False, height=3.4)
    axes.plot(sizes["initial_size"], sizes["maximum_moves"], "v-", color=style.GREY, label="longest of all boards")
    axes.plot(sizes["initial_size"], sizes["longest"], **style.look_of(1), label="longest of those drawn")
    axes.plot(sizes["initial_size"], sizes["average_moves"], **style.look_of(0), label="average of all boards")
    for quantity in ("maximum_moves", "average_moves"):
        rows = reported[reported["quantity"] == quantity]
        axes.plot(rows["initial_size"], rows["value"], "x", color=style.BLACK, markersize=7, markeredgewidth=1.4)
    axes.set(xlabel="tiles that each step begins with", ylabel="moves of a solution", ylim=(0, None))
    style.whole_ticks(axes.xaxis)
    axes.grid(visible=True)
    document = Line2D([], [], color=style.BLACK, marker="x", linestyle="", label="the document's, of boards it drew")
    return style.with_legend(figure, more=[document], columns=2)


def _numbers(reported: pd.DataFrame, section: str) -> pd.DataFrame:
    """The numbers of a table of the document, value as float."""
    rows = reported[reported["section"] == section]
    return rows.assign(value=rows["value"].astype(float))


@style.kind_of_figure
def local_vi_lengths_by_class(classes: pd.DataFrame, boards: pd.DataFrame, reported: pd.DataFrame) -> Figure:
    """Lengths of the solutions of random boards with one tile a step, by the most tiles considered at once.

    classes: initial_size, considered, maximum_moves of all boards, bound.  boards: those of lengths_of.
    reported: the document's numbers, section, considered, quantity, value.
    """
    classes, reported = classes[classes["initial_size"] == 1], _numbers(reported, "Table 1")
    figure, panels = style.subplots(len(classes), grid=False, sharex=True, height=1.1 * len(classes) + 0.6)
    drawn = len(lengths_of(boards, 1))
    edges = np.arange(0, classes["bound"].max() + 8, 4)
    for axes, row in zip(panels, classes.itertuples(), strict=True):
        lengths = lengths_of(boards, 1, row.considered)
        axes.hist(lengths, bins=edges, color=style.BLUE)
        axes.axvline(row.maximum_moves, color=style.VERMILION, linewidth=1.4)
        axes.axvline(row.bound, color=style.GREY, linestyle="--", linewidth=1.2)
        told = reported[reported["considered"] == row.considered].set_index("quantity")["value"]
        top = axes.get_ylim()[1]
        axes.plot(told[["average_moves", "maximum_moves"]], [0.06 * top] * 2, "x", color=style.BLACK, clip_on=False)
        axes.set_yticks([])
        tiles = "tile" if row.considered == 1 else "tiles"
        style.name_panel(axes, f"{row.considered} {tiles} at once: {len(lengths):,} of {drawn:,} boards")
    panels[-1].set_xlabel("moves of a solution")
    handles = [
        Line2D([], [], color=style.VERMILION, label="longest of all boards"),
        Line2D([], [], color=style.GREY, linestyle="--", label="the document's bound φ"),
        Line2D([], [], color=style.BLACK, marker="x", linestyle="", label="the document's average and longest"),
    ]
    return style.with_legend(figure, handles=handles, columns=3)


@style.kind_of_figure
def local_vi_policy(policy: pd.DataFrame, puzzle: str) -> Figure:
    """A board for each tile: how many moves bring it home from each cell, and to which cell it goes first.

    policy: tile, cell, blank, moves, to.  A number is the mean over the cells of the blank; grey cells stay.
    """
    tiles, side = policy["tile"].unique(), make(puzzle).side
    rows = -(-len(tiles) // POLICY_COLUMNS)
    figure, panels = style.subplots(rows, POLICY_COLUMNS, grid=False, height=1.45 * rows)
    means = policy.groupby(["tile", "cell"])["moves"].mean()
    for axes, tile in zip(panels, tiles, strict=False):
        _policy_board(axes, side, tile, means[tile], policy[policy["tile"] == tile], means.max())
    for axes in panels:
        axes.set_axis_off()
    return figure


def _policy_board(axes: Axes, side: int, tile: int, means: pd.Series, frame: pd.DataFrame, most: float) -> None:
    for cell in range(side * side):
        x, y = cell % side, side - 1 - cell // side
        mean = means.get(cell)
        colour = style.PALE if mean is None else colormaps["cividis_r"](mean / most)
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=1))
        if mean is None:
            style.write_in(axes, x + 0.5, y + 0.5, str(cell + 1) if cell + 1 < tile else "", style.GREY, 6)
            continue
        ink = style.readable_on(colour)
        style.write_in(axes, x + 0.5, y + 0.62, f"{mean:.0f}", ink, 6)
        moved = frame.loc[(frame["cell"] == cell) & (frame["to"] != cell), "to"]
        if cell != tile - 1 and len(moved):
            to = moved.mode().iloc[0]
            across, up = (to % side - cell % side) * 0.26, (cell // side - to // side) * 0.26
            tail = np.array([x + 0.5 - across / 2, y + 0.24 - up / 2])
            arrow = {"arrowstyle": "-|>", "color": ink, "lw": 0.8, "mutation_scale": 5, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", tail + (across, up), tail, arrowprops=arrow)
    home = ((tile - 1) % side, side - 1 - (tile - 1) // side)
    axes.add_patch(Rectangle(home, 1, 1, fill=False, edgecolor=style.VERMILION, linewidth=1.6))
    axes.set(xlim=(-0.05, side + 0.05), ylim=(-0.05, side + 0.05), aspect="equal")
    axes.set_title(f"tile {tile}", fontsize=7, pad=2)


@style.kind_of_figure
def local_vi_compared(searches: pd.DataFrame, clock: pd.DataFrame) -> Figure:
    """Every board by every solver: moves beyond the shortest solution, and milliseconds.

    searches: solver, instance, length, optimal.  clock: solver, instance, seconds.
    """
    whole = searches.merge(clock, on=["solver", "instance"], validate="one_to_one").dropna(subset="length")
    figure, (axes,) = style.subplots(grid=False, height=4.2)
    handles = []
    for number, (look, rows) in enumerate(style.lines(whole, "solver", ls="none")):
        shifted = rows["length"] - rows["optimal"] + 0.6 * (number / whole["solver"].nunique() - 0.5)
        axes.plot(1e3 * rows["seconds"], shifted, **look, markersize=2.5, alpha=0.35, markeredgewidth=0)
        middle = 1e3 * rows["seconds"].median(), (rows["length"] - rows["optimal"]).mean()
        axes.plot(*middle, **look, markersize=9, markeredgecolor=style.BLACK)
        handles.append(Line2D([], [], **look | {"label": solver_name(look["label"])}))
    style.logarithmic(axes.xaxis)
    axes.set(xlabel="milliseconds a board", ylabel="moves beyond the shortest solution")
    axes.grid(visible=True)
    return style.with_legend(figure, handles=handles, columns=2)
