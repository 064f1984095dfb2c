"""Figures of a puzzle too large to list: what its network says of states, and how long the solutions are."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from costtogo.figures.binning import bin_width, binned_means
from costtogo.figures.searches import draw_cells, seconds_text, weights_and_sizes
from costtogo.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LINE_POINTS,
    MARKERS,
    ORANGE,
    PALE,
    SEQUENTIAL,
    SERIES,
    SIZE,
    SKY,
    VERMILION,
    count_text,
    legend_above,
    name_panel,
    plain_logarithmic_ticks,
    shades,
    show_counts,
    styled,
    whole_ticks,
)

UNSOLVED = "not all solved"
HALF_A_CELL = 0.5
BETTER, WORSE = SEQUENTIAL, f"{SEQUENTIAL}_r"  # maps of what should be large, of what should be small: bright is good
DISTANCE = "distance from the goal, moves"


@styled
def loss_curve(curve: pd.DataFrame, quantity: str) -> Figure:
    """Loss and validation loss by iteration, both axes logarithmic.

    curve: iteration, loss, validation_loss (NaN where not computed).  quantity: what they are, and in which unit.
    """
    figure = Figure()
    axes = figure.subplots()
    validation = curve.dropna(subset="validation_loss")
    pixels = len(curve) > LINE_POINTS
    handles = axes.plot(curve["iteration"], curve["loss"], color=BLUE, lw=0.6, label="loss", rasterized=pixels)
    look = {"color": ORANGE, "marker": "o", "mec": BLACK, "mew": 0.6}
    handles += axes.plot(validation["iteration"], validation["validation_loss"], label="validation loss", **look)
    axes.set(xscale="log", yscale="log", xlabel="iteration", ylabel=quantity)
    for axis in (axes.xaxis, axes.yaxis):
        plain_logarithmic_ticks(axis)
    axes.grid(axis="y")
    legend_above(figure, handles)
    return figure


@styled
def scrambled_costs(costs: pd.DataFrame) -> Figure:
    """Cost-to-go by the number of moves of the scramble: its mean, and where nine tenths of the states lie.

    costs: depth, mean_cost_to_go, low, high, and mean_distance where it is known.  The diagonal is the most that a
    scramble can be away.
    """
    figure = Figure()
    axes = figure.subplots()
    depth, highest = costs["depth"], 1.05 * costs[[*{"high", "mean_distance"} & {*costs}]].max(axis=None)
    band = axes.fill_between(depth, costs["low"], costs["high"], color=SKY, alpha=0.4, lw=0, label="5–95 % of states")
    handles = axes.plot(depth, costs["mean_cost_to_go"], color=BLUE, marker="o", label="mean cost-to-go")
    handles += axes.plot([0, highest], [0, highest], color=BLACK, ls=":", lw=1, label="cost-to-go = moves")
    if "mean_distance" in costs:
        handles += axes.plot(depth, costs["mean_distance"], color=VERMILION, lw=1, label="mean distance")
    axes.set(xlim=(0, depth.max() + 0.5), ylim=(0, highest))
    axes.set(xlabel="moves of the scramble", ylabel="cost-to-go, moves")
    axes.grid(axis="y")
    legend_above(figure, [handles[0], band, *handles[1:]])
    return figure


@styled
def greedy_shares(shares: pd.DataFrame) -> Figure:
    """Share of states that greedy search solves as training goes on, one line a scramble depth.

    shares: iteration, depth, solved_percent.
    """
    figure, axes = _by_depth(shares, "solved_percent")
    axes.set(ylabel="solved by greedy search, %", ylim=(0, 100))
    return figure


@styled
def mean_costs(costs: pd.DataFrame) -> Figure:
    """Mean cost-to-go of scrambled states as training goes on, one line a scramble depth.

    costs: iteration, depth, mean_cost_to_go.
    """
    figure, axes = _by_depth(costs, "mean_cost_to_go")
    axes.set(ylabel="mean cost-to-go, moves")
    axes.set_ylim(bottom=0)
    return figure


@styled
def progress(searches: pd.DataFrame) -> Figure:
    """What BWAS finds as the training goes on: moves beyond the optimum (left), shares of the instances (right).

    searches: states (seen in training), excess (moves, over the solved of known optimum), length (moves, over the
    solved), solved_percent, optimal_percent; NaN where nothing is known. Where no optimum is known, left is the length.
    """
    figure = Figure(figsize=(SIZE[0], 3.2))
    moves, shares = figure.subplots(1, 2)
    seen, known = searches["states"] / 1e6, searches["optimal_percent"].notna().any()
    measure, label = ("excess", "moves beyond the optimum") if known else ("length", "length of the solutions")
    look = {"color": BLUE, "marker": "o", "clip_on": False, "label": f"{label}, where solved"}
    handles = moves.plot(seen, searches[measure], **look)
    moves.set_ylabel("moves")
    if known:
        moves.set_ylim(bottom=0)
    handles += shares.plot(seen, searches["solved_percent"], color=GREEN, marker="s", clip_on=False, label="solved")
    if known:
        look = {"color": VERMILION, "marker": "^", "clip_on": False}
        handles += shares.plot(seen, searches["optimal_percent"], label="solved optimally", **look)
    shares.set(ylabel="share of instances, %", ylim=(0, 100))
    for axes in (moves, shares):
        axes.set_xlabel("states seen in training, millions")
        axes.set_xlim(left=0)
        axes.grid(axis="y")
    legend_above(figure, handles)
    return figure


def _by_depth(frame: pd.DataFrame, measure: str) -> tuple[Figure, Axes]:
    """A measure by iteration, one line a scramble depth."""
    figure = Figure()
    axes = figure.subplots()
    groups, handles = frame.sort_values("iteration").groupby("depth"), []
    for number, (color, (depth, group)) in enumerate(zip(shades(len(groups)), groups, strict=True)):
        look = {"color": color, "marker": MARKERS[number % len(MARKERS)], "label": f"{depth} moves"}
        handles += axes.plot(group["iteration"], group[measure], clip_on=False, **look)
    axes.set(xlabel="iteration")
    axes.set_xlim(left=0)
    show_counts(axes.xaxis)
    axes.grid(axis="y")
    legend_above(figure, handles, columns=6)
    return figure, axes


@styled
def nearby_audit(nearby: pd.DataFrame) -> Figure:
    """Mean cost-to-go, and share of admissible states, at each distance of the exact table.

    nearby: distance, mean_cost_to_go, admissible_percent.
    """
    return _costs_and_shares(nearby)


def _costs_and_shares(audited: pd.DataFrame) -> Figure:
    """Two panels by distance: mean_cost_to_go beside the exact distance, admissible_percent."""
    figure = Figure(figsize=(SIZE[0], 3.2))
    costs, shares = figure.subplots(1, 2)
    distance = audited["distance"]
    look = {"color": BLUE, "marker": "o", "clip_on": False}
    handles = costs.plot(distance, audited["mean_cost_to_go"], label="mean cost-to-go", **look)
    handles += costs.plot(distance, distance, color=BLACK, ls=":", lw=1, label="exact distance")
    costs.set_ylabel("moves")
    costs.set_ylim(bottom=0)
    whole_ticks(costs.yaxis)
    look = {"color": VERMILION, "marker": "s", "clip_on": False}
    handles += shares.plot(distance, audited["admissible_percent"], label="admissible states", **look)
    shares.set(ylabel="share of states, %", ylim=(0, 100))
    for axes in (costs, shares):
        axes.set_xlabel(DISTANCE)
        whole_ticks(axes.xaxis, 12)
        axes.grid(axis="y")
    legend_above(figure, handles)
    return figure


@styled
def known_audit(known: pd.DataFrame) -> Figure:
    """Mean cost-to-go, and share of admissible states, of instances whose distance is known, by distance.

    known: distance, states, mean_cost_to_go, admissible_percent; a row for each set and distance.
    """
    farthest = int(known["distance"].max()) if len(known) else 0
    width = max(2, bin_width(farthest))  # a walk of even length ends at an even distance
    means = [binned_means(known, column, "states", width) for column in ("mean_cost_to_go", "admissible_percent")]
    return _costs_and_shares(means[0].merge(means[1].drop(columns="states"), on="distance"))


@styled
def grid_heat_maps(cells: pd.DataFrame) -> Figure:
    """Share solved, mean length and nodes generated by λ and N, the brighter the better.

    cells: path_weight, batch_size, solved_percent, length (of what was solved), nodes_generated.  A framed cell has
    unsolved searches.
    """
    figure = Figure(figsize=(SIZE[0], 3.4))
    panels = figure.subplots(1, 3, sharey=True)
    lengths, nodes = cells["length"], cells["nodes_generated"]
    scales = {
        "solved_percent": (Normalize(0, 100), "{:.0f}".format, "solved, %"),
        "length": (Normalize(*_range(lengths, 1)), "{:.1f}".format, "length, moves"),
        "nodes_generated": (LogNorm(*_range(nodes, 1)), count_text, "nodes generated"),
    }
    for axes, (column, (scale, text, title)) in zip(panels, scales.items(), strict=True):
        colors = BETTER if column == "solved_percent" else WORSE
        draw_cells(axes, cells, column, weights_and_sizes(cells), scale, text, colors)
        mark_unsolved(axes, cells)
        name_panel(axes, title)
    label_grid(figure, panels)
    return figure


@styled
def grid_seconds(cells: pd.DataFrame) -> Figure:
    """Mean seconds of a search by λ and N, the brighter the better; a framed cell has unsolved searches.

    cells: path_weight, batch_size, solved_percent, seconds.
    """
    figure = Figure(figsize=(3.6, 3.4))
    axes = figure.subplots()
    scale = LogNorm(*_range(cells["seconds"], 1e-3))
    draw_cells(axes, cells, "seconds", weights_and_sizes(cells), scale, seconds_text, WORSE)
    mark_unsolved(axes, cells)
    name_panel(axes, "seconds a search")
    label_grid(figure, [axes])
    return figure


def _range(values: pd.Series, least: float) -> tuple[float, float]:
    """The ends of a scale of colour, at least so far apart; any where there is nothing to show."""
    low = values.min() if values.notna().any() else 1.0
    return low, max(values.max() if values.notna().any() else low, low + least)


def mark_unsolved(axes: Axes, cells: pd.DataFrame) -> None:
    """Frame the cells of draw_cells with unsolved searches, and cross out those where nothing was solved."""
    weights, sizes = weights_and_sizes(cells)
    for cell in cells[cells["solved_percent"] < 100].itertuples():
        x, y = sizes.index(cell.batch_size), weights.index(cell.path_weight)
        corner = (x - HALF_A_CELL + 0.06, y - HALF_A_CELL + 0.08)
        axes.add_patch(Rectangle(corner, 0.88, 0.84, fill=False, edgecolor=VERMILION, linewidth=1.6))
        if not cell.solved_percent:
            axes.plot([x - 0.4, x + 0.4], [y + 0.38, y - 0.38], color=VERMILION, lw=1.2)


@styled
def heuristics_compared(cells: pd.DataFrame) -> Figure:
    """Share solved, length and nodes generated by λ, a column of panels for each N, a line for each heuristic.

    cells: heuristic, path_weight, batch_size, solved_percent, length (of what was solved), nodes_generated, and
    optimal_length where every optimum is known, else NaN.  A hollow marker: not all were solved.
    """
    rows = {"solved_percent": "solved, %", "length": "length, moves", "nodes_generated": "nodes generated"}
    figure, panels, handles = _by_weight(cells, rows, logarithmic=("nodes_generated",))
    panels[0, 0].set_ylim(0, 100)
    if cells["optimal_length"].notna().all():
        look = {"color": BLACK, "ls": ":", "lw": 1, "label": "optimum"}
        handles += [axes.axhline(cells["optimal_length"].iloc[0], **look) for axes in panels[1]][:1]
    return _finished(figure, panels, handles)


@styled
def heuristics_seconds(cells: pd.DataFrame) -> Figure:
    """Seconds of a search and nodes generated a second by λ, as heuristics_compared.

    cells: heuristic, path_weight, batch_size, solved_percent, seconds, nodes_per_second.
    """
    rows = {"seconds": "seconds a search", "nodes_per_second": "nodes a second"}
    return _finished(*_by_weight(cells, rows, logarithmic=rows))


def _by_weight(
    cells: pd.DataFrame, rows: dict[str, str], logarithmic: Iterable[str]
) -> tuple[Figure, np.ndarray, list]:
    """Panels by λ, a row for each column of cells with its name, and the handles of the heuristics."""
    sizes = sorted(cells["batch_size"].unique())
    figure = Figure(figsize=(SIZE[0], 1.0 + 1.7 * len(rows)))
    panels = figure.subplots(len(rows), len(sizes), sharex=True, sharey="row", squeeze=False)
    handles = []
    for number, (name, own) in enumerate(cells.groupby("heuristic", sort=False)):
        look = {"color": SERIES[number % len(SERIES)], "marker": MARKERS[number % len(MARKERS)], "clip_on": False}
        handles.append(Line2D([], [], **look, label=name))
        for place, size in enumerate(sizes):
            group = own[own["batch_size"] == size].sort_values("path_weight")
            lost = group[group["solved_percent"] < 100]
            for axes, column in zip(panels[:, place], rows, strict=True):
                axes.plot(group["path_weight"], group[column], **look)
                if len(lost):  # the layout finds no room for an unclipped line of nothing
                    axes.plot(lost["path_weight"], lost[column], **look | {"ls": "none", "mfc": "white"})
    for (column, title), row in zip(rows.items(), panels, strict=True):
        row[0].set_ylabel(title)
        if column in logarithmic and (cells[column] > 0).any():
            row[0].set_yscale("log")
            plain_logarithmic_ticks(row[0].yaxis)
    for axes, size in zip(panels[0], sizes, strict=True):
        name_panel(axes, f"N = {size:,}")
    return figure, panels, handles


def _finished(figure: Figure, panels: np.ndarray, handles: list) -> Figure:
    """The grid, the axis of λ and the legend of panels of _by_weight."""
    for axes in panels.flat:
        axes.grid(axis="y")
    figure.align_ylabels()
    figure.supxlabel("path weight λ", fontsize=9)
    unsolved = Line2D([], [], ls="none", marker="o", mfc="white", mec=BLACK, label=UNSOLVED)
    legend_above(figure, [*handles, unsolved], columns=6)
    return figure


def label_grid(figure: Figure, panels) -> None:
    """Name the axes of heat maps over λ and N and say what their frames mean."""
    panels[0].set_ylabel("path weight λ")
    figure.supxlabel("batch size N", fontsize=9)
    legend_above(figure, [Patch(fill=False, edgecolor=VERMILION, linewidth=1.6, label=UNSOLVED)])


@styled
def beam_lengths(cells: pd.DataFrame) -> Figure:
    """Mean length of the solutions and nodes expanded by beam width, one line a set.

    cells: set, width, length, length_low, length_high (95 %), nodes_expanded.
    """
    figure = Figure(figsize=(SIZE[0], 3.4))
    lengths, nodes = figure.subplots(1, 2)
    handles = []
    for number, (name, group) in enumerate(cells.sort_values("width").groupby("set", sort=False)):
        look = {"color": SERIES[number % len(SERIES)], "marker": MARKERS[number % len(MARKERS)], "label": name}
        interval = [group["length"] - group["length_low"], group["length_high"] - group["length"]]
        handles.append(lengths.errorbar(group["width"], group["length"], interval, capsize=3, **look))
        nodes.plot(group["width"], group["nodes_expanded"], **look)
    if (cells["nodes_expanded"] > 0).any():  # all starts may lie within the exact table
        nodes.set_yscale("log")
        plain_logarithmic_ticks(nodes.yaxis)
    lengths.set_ylabel("mean length, moves")
    nodes.set_ylabel("nodes expanded")
    for axes in (lengths, nodes):
        label_widths(axes, cells["width"])
    legend_above(figure, handles)
    return figure


@styled
def beam_seconds(searches: pd.DataFrame) -> Figure:
    """Seconds of a search by beam width, and mean length by mean seconds, one line a set.

    searches: set, width, seconds, cost (inf where unsolved); one row a search.
    """
    figure = Figure(figsize=(SIZE[0], 3.4))
    times, lengths = figure.subplots(1, 2)
    means = searches[np.isfinite(searches["cost"])].groupby(["set", "width"], sort=False)[["seconds", "cost"]].mean()
    handles = []
    for number, (name, group) in enumerate(means.reset_index().groupby("set", sort=False)):
        look = {"color": SERIES[number % len(SERIES)], "marker": MARKERS[number % len(MARKERS)], "label": name}
        handles += times.plot(group["width"], group["seconds"], **look)
        lengths.plot(group["seconds"], group["cost"], **look)
        for cell in group.itertuples() if len(group) > 1 else ():
            note = {"xytext": (5, 3), "textcoords": "offset points", "fontsize": 8}
            lengths.annotate(count_text(cell.width), (cell.seconds, cell.cost), **note)
    times.set(yscale="log", ylabel="seconds a search")
    label_widths(times, searches["width"])
    lengths.set(xscale="log", xlabel="seconds a search", ylabel="mean length, moves")
    lengths.margins(x=0.15)
    for axis in (times.yaxis, lengths.xaxis):
        plain_logarithmic_ticks(axis)
    lengths.grid(axis="y")
    legend_above(figure, handles)
    return figure


def label_widths(axes: Axes, widths: pd.Series) -> None:
    """A logarithmic axis of beam widths."""
    axes.set(xscale="log", xlabel="beam width, states")
    axes.margins(x=0.1)
    places = sorted(set(widths))
    axes.set_xticks(places, [count_text(width) for width in places])
    axes.minorticks_off()
    axes.grid(axis="y")


@styled
def prefix_lengths(searches: pd.DataFrame) -> Figure:
    """Length found by distance, the diagonal being the shortest; one marker a beam width.

    searches: width, distance, solved (bool), cost.  An unsolved state is a cross on the diagonal.
    """
    figure = Figure(figsize=(SIZE[0], 3.8))
    axes = figure.subplots()
    farthest = searches["distance"].max()
    handles = axes.plot([0, farthest], [0, farthest], color=BLACK, ls=":", lw=1, label="shortest")
    for number, (width, group) in enumerate(searches.groupby("width")):
        solved = group[group["solved"]]
        longer = solved["cost"] > solved["distance"]
        color, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
        look = {"color": color, "marker": marker, "ls": "none", "markersize": 6, "clip_on": False}
        name = f"width {width:,}"
        handles += axes.plot(solved["distance"][~longer], solved["cost"][~longer], label=f"{name}, shortest", **look)
        look |= {"mfc": "white", "mew": 1.4}
        handles += axes.plot(solved["distance"][longer], solved["cost"][longer], label=f"{name}, longer", **look)
        lost = group.loc[~group["solved"], "distance"]
        if len(lost):
            handles += axes.plot(lost, lost, ls="none", marker="x", color=color, ms=7, label=f"{name}, unsolved")
    axes.set(xlabel=DISTANCE, ylabel="length found, moves", xlim=(0, farthest + 0.5))
    axes.set_ylim(bottom=0)
    for axis in (axes.xaxis, axes.yaxis):
        whole_ticks(axis, 15)
    axes.grid(axis="y")
    legend_above(figure, handles, columns=3)
    return figure


@styled
def external_excess(searches: pd.DataFrame, noun: str) -> Figure:
    """Moves that the solutions have beyond the optimum, and the two lengths side by side; a row for each budget.

    searches: seconds_allowed, optimal (NaN where unknown: then the lengths found stand alone), cost (inf where
    unsolved); one row a budget and instance.  noun: what an instance is, "cube".
    """
    budgets = list(searches.groupby("seconds_allowed"))
    figure = Figure(figsize=(SIZE[0], 0.8 + 2.6 * len(budgets)))
    known = searches["optimal"].notna().all()
    rows = figure.subplots(len(budgets), 1 + known, squeeze=False, sharex="col")
    costs = searches["cost"][np.isfinite(searches["cost"])]
    lengths = pd.concat([searches["optimal"].dropna(), costs, pd.Series([0.0] if costs.empty else [])])
    edges = np.arange(lengths.min(), lengths.max() + 2) - 0.5
    most = (searches["cost"] - searches["optimal"])[np.isfinite(searches["cost"])].max() if len(costs) and known else 0
    places = np.arange(0, 1 + most, 2)  # a path is odd where the optimum is
    for (allowed, group), panels in zip(budgets, rows, strict=True):
        solved = group[np.isfinite(group["cost"])]
        if known:
            draw_excesses(panels[0], group, solved, places, noun)
            panels[-1].hist(group["optimal"], edges, color=PALE, label="shortest")
        unsolved = f", {len(group) - len(solved)} unsolved" if len(group) > len(solved) else ""
        name_panel(panels[0], f"{allowed:g} s each{unsolved}")
        panels[-1].hist(solved["cost"], edges, color=BLUE, histtype="step", lw=1.6, label="found")
        for values, color in ((group["optimal"], GREY), (solved["cost"], BLUE)):
            panels[-1].axvline(values.mean(), color=color, ls="--", lw=1)
        panels[-1].set(ylabel=f"{noun}s")
        whole_ticks(panels[-1].xaxis, 12)
        for axes in panels:
            whole_ticks(axes.yaxis)
            axes.grid(axis="y")
    if known:
        rows[-1][0].set(xlabel="moves beyond the shortest")
    rows[-1][-1].set(xlabel="length, moves")
    mean = Line2D([], [], color=GREY, ls="--", lw=1, label="mean")
    legend_above(figure, [*rows[0][-1].get_legend_handles_labels()[0], mean])
    return figure


def draw_excesses(axes: Axes, group: pd.DataFrame, solved: pd.DataFrame, places: np.ndarray, noun: str) -> None:
    """How many solutions have so many moves beyond the shortest, as bars with their shares of the group."""
    counts = [int((solved["cost"] - solved["optimal"] == place).sum()) for place in places]
    bars = axes.bar(places, counts, width=1.4, color=BLUE)
    axes.bar_label(bars, [f"{100 * count / len(group):.0f} %" for count in counts], fontsize=8, padding=2)
    axes.set(ylabel=f"of {len(group)} {noun}s", xticks=places[:: 1 + len(places) // 12])


@styled
def training_costs(trainings: pd.DataFrame) -> Figure:
    """Hours and states of each training, ours above the literature's, on logarithmic scales.

    trainings: label, hours, states, own (bool); NaN where the literature does not say.
    """
    figure = Figure(figsize=(SIZE[0], 0.9 + 0.36 * len(trainings)))
    panels = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(trainings))[::-1]
    colors = [GREEN if own else GREY for own in trainings["own"]]
    titles = {"hours": ("hours of training", _hours), "states": ("states seen in training", _billions)}
    for axes, (column, (title, text)) in zip(panels, titles.items(), strict=True):
        values = trainings[column]
        least = values.min() / 4
        axes.barh(places, values - least, left=least, color=colors, height=0.62)
        for place, value in zip(places, values, strict=True):
            if np.isfinite(value):
                axes.annotate(text(value), (value, place), xytext=(4, 0), textcoords="offset points", va="center")
        axes.set(xscale="log", xlabel=title, xlim=(least, values.max() * 12))
        axes.minorticks_off()
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.set_yticks(places, trainings["label"])
        axes.tick_params(axis="y", length=0)
    return figure


def _hours(value: float) -> str:
    """Hours, and less than one as minutes.  0.284 -> "17 minutes", 36 -> "36"."""
    return f"{value:.3g}" if value >= 1 else f"{60 * value:.2g} minutes"


def _billions(value: float) -> str:
    """States in few characters.  93600000 -> "94 million", 1e10 -> "10 billion"."""
    return f"{value / 1e9:.3g} billion" if value >= 1e9 else f"{value / 1e6:.3g} million"
