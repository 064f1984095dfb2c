"""How long the solutions of beams are, and how far those of external instances are from the shortest."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from costtogo.figures import style
from costtogo.puzzles import noun


@style.kind_of_figure
def beam_lengths(grid: pd.DataFrame, sets: list[str]) -> Figure:
    """Mean length of the solutions and nodes expanded by beam width, one line for each of some sets.

    grid: set, width, length, length_low, length_high (95 %), nodes_expanded.
    """
    cells = grid[grid["set"].isin(sets)]
    figure, (lengths, nodes) = style.subplots(1, 2, height=3.4)
    for look, group in style.lines(cells.sort_values("width"), "set"):
        interval = [group["length"] - group["length_low"], group["length_high"] - group["length"]]
        lengths.errorbar(group["width"], group["length"], interval, capsize=3, **look)
        nodes.plot(group["width"], group["nodes_expanded"], **look)
    if (cells["nodes_expanded"] > 0).any():  # all starts may lie within the exact table
        style.logarithmic(nodes.yaxis)
    label_widths(lengths, cells["width"], ylabel="mean length, moves")
    label_widths(nodes, cells["width"], ylabel="nodes expanded")
    return style.with_legend(figure)


@style.kind_of_figure
def beam_seconds(searches: pd.DataFrame, clock: pd.DataFrame, sets: list[str]) -> Figure:
    """Seconds of a search by beam width, and mean length by mean seconds, one line for each of some sets.

    searches: set, width, instance, cost (inf where unsolved).  clock: set, width, instance, seconds.
    """
    timed = searches.merge(clock, on=["set", "width", "instance"])
    timed = timed[timed["set"].isin(sets)]
    figure, (times, lengths) = style.subplots(1, 2, height=3.4)
    means = timed[np.isfinite(timed["cost"])].groupby(["set", "width"], sort=False)[["seconds", "cost"]].mean()
    for look, group in style.lines(means.reset_index(), "set"):
        times.plot(group["width"], group["seconds"], **look)
        lengths.plot(group["seconds"], group["cost"], **look)
        for cell in group.itertuples() if len(group) > 1 else ():
            note = {"xytext": (5, 3), "textcoords": "offset points", "fontsize": 8}
            lengths.annotate(style.count_text(cell.width), (cell.seconds, cell.cost), **note)
    label_widths(times, timed["width"], yscale="log", ylabel="seconds a search")
    lengths.set(xscale="log", xlabel="seconds a search", ylabel="mean length, moves")
    lengths.margins(x=0.15)
    for axis in (times.yaxis, lengths.xaxis):
        style.plain_logarithmic_ticks(axis)
    return style.with_legend(figure)


def label_widths(axes: Axes, widths: pd.Series, **more) -> None:
    """Give a panel a logarithmic axis of beam widths; more: its other settings."""
    axes.set(xscale="log", xlabel="beam width, states", **more)
    axes.margins(x=0.1)
    places = sorted(set(widths))
    axes.set_xticks(places, [style.count_text(width) for width in places])
    axes.minorticks_off()


@style.kind_of_figure
def prefix_lengths(searches: pd.DataFrame, chosen: str) -> Figure:
    """Length found by distance on a set, one marker for each beam width; the diagonal is the shortest length.

    searches: set, width, distance, solved (bool), cost.  An unsolved state is a cross on the diagonal.
    """
    searches = searches[searches["set"] == chosen]
    figure, (axes,) = style.subplots(height=3.8)
    farthest = searches["distance"].max()
    axes.plot([0, farthest], [0, farthest], label="shortest", **style.REFERENCE)
    for look, group in style.lines(searches.sort_values("width"), "width", ls="none", markersize=6, clip_on=False):
        solved, name = group[group["solved"]], f"width {look.pop('label'):,}"
        longer = solved["cost"] > solved["distance"]
        axes.plot(solved["distance"][~longer], solved["cost"][~longer], label=f"{name}, shortest", **look)
        hollow = look | {"mfc": "white", "mew": 1.4, "label": f"{name}, longer"}
        axes.plot(solved["distance"][longer], solved["cost"][longer], **hollow)
        lost = group.loc[~group["solved"], "distance"]
        if len(lost):
            axes.plot(lost, lost, ls="none", marker="x", color=look["color"], ms=7, label=f"{name}, unsolved")
    axes.set(ylabel="length found, moves", xlim=(0, farthest + 0.5), ylim=(0, None))
    style.by_distance(axes)
    style.whole_ticks(axes.yaxis, 15)
    return style.with_legend(figure, columns=3)


@style.kind_of_figure
def external_excess(searches: pd.DataFrame, puzzle: str) -> Figure:
    """Moves that solutions have beyond the optimum, with both lengths in the next panel; a row for each budget.

    searches: seconds_allowed, optimal (NaN where unknown: then only the lengths found are shown), cost (inf where
    unsolved); one row for each budget and instance.
    """
    budgets, what = list(searches.groupby("seconds_allowed")), noun(puzzle)
    known = searches["optimal"].notna().all()
    figure, panels = style.subplots(len(budgets), 1 + known, sharex="col", height=0.8 + 2.6 * len(budgets))
    rows = panels.reshape(len(budgets), -1)
    found = searches[np.isfinite(searches["cost"])]
    lengths = pd.concat([searches["optimal"].dropna(), found["cost"], pd.Series([0.0] if found.empty else [])])
    edges = np.arange(lengths.min(), lengths.max() + 2) - 0.5
    excess = (found["cost"] - found["optimal"]).to_numpy() if len(found) and known else np.zeros(1)
    places = np.arange(0, 1 + excess.max(), 1 if (excess % 2).any() else 2)  # mostly a path is odd where the optimum is
    for (allowed, group), panels in zip(budgets, rows, strict=True):
        solved = group[np.isfinite(group["cost"])]
        if known:
            draw_excesses(panels[0], group, solved, places, what)
            panels[-1].hist(group["optimal"], edges, color=style.PALE, label="shortest")
        unsolved = f", {len(group) - len(solved)} unsolved" if len(group) > len(solved) else ""
        style.name_panel(panels[0], f"{allowed:g} s each{unsolved}")
        panels[-1].hist(solved["cost"], edges, color=style.BLUE, histtype="step", lw=1.6, label="found")
        for values, color in ((group["optimal"], style.GREY), (solved["cost"], style.BLUE)):
            panels[-1].axvline(values.mean(), color=color, ls="--", lw=1)
        panels[-1].set(ylabel=f"{what}s")
        style.whole_ticks(panels[-1].xaxis, 12)
        for axes in panels:
            style.whole_ticks(axes.yaxis)
    rows[-1][0].set(xlabel="moves beyond the shortest")
    rows[-1][-1].set(xlabel="length, moves")  # the same panel where no optimum is known
    return style.with_legend(figure, more=[Line2D([], [], color=style.GREY, ls="--", lw=1, label="mean")])


def draw_excesses(axes: Axes, group: pd.DataFrame, solved: pd.DataFrame, places: np.ndarray, noun: str) -> None:
    """Draw the number of solutions by moves beyond the shortest, as bars with their shares of the group."""
    counts = [int((solved["cost"] - solved["optimal"] == place).sum()) for place in places]
    bars = axes.bar(places, counts, width=0.7 * (places[1] if len(places) > 1 else 2), color=style.BLUE)
    texts = [f"{100 * count / len(group):.0f} %" if count else "" for count in counts]
    axes.bar_label(bars, texts, fontsize=8 if len(counts) < 10 else 6, padding=2)
    axes.set(ylabel=f"of {len(group)} {noun}s", xticks=places[:: 1 + len(places) // 12])
