"""What batch weighted A* found over path weight λ and batch size N, and what it cost."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from costtogo.figures.binning import bin_width, binned_means
from costtogo.figures.style import (
    BLACK,
    GREY,
    MARKERS,
    PALE,
    SEQUENTIAL,
    SERIES,
    count_text,
    legend_above,
    name_panel,
    plain_logarithmic_ticks,
    readable_on,
    show_counts,
    styled,
    whole_ticks,
)

ROUNDING = 1e-9  # of a share of 100 %
HEURISTICS = {"exact": "exact distance", "network": "network", "zero": "zero"}
UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "µs"))  # of time, in seconds


@styled
def search_grid(cells: pd.DataFrame) -> Figure:
    """Optimal solutions of the network, and nodes expanded with each heuristic, by λ and N.

    cells: heuristic, path_weight, batch_size, optimal_percent, nodes_expanded; one row a cell of one set.
    The panels of nodes share one logarithmic scale of colour.
    """
    figure = Figure()
    present = [name for name in HEURISTICS if name in set(cells["heuristic"])]
    panels = figure.subplots(1, 1 + len(present), sharey=True)
    network = cells[cells["heuristic"] == "network"]
    places = weights_and_sizes(network)
    least = min(network["optimal_percent"].min(), 99)
    draw_cells(panels[0], network, "optimal_percent", places, Normalize(least, 100), percent_text)
    name_panel(panels[0], "optimal, %\nnetwork")
    scale = LogNorm(max(cells["nodes_expanded"].min(), 1), cells["nodes_expanded"].max())
    for axes, heuristic in zip(panels[1:], present, strict=True):
        rows = cells[cells["heuristic"] == heuristic]
        draw_cells(axes, rows, "nodes_expanded", places, scale, count_text)
        name_panel(axes, f"nodes expanded\n{HEURISTICS[heuristic]}")
    panels[0].set_ylabel("path weight λ")
    figure.supxlabel("batch size N", fontsize=9)
    return figure


@styled
def search_seconds(timings: pd.DataFrame) -> Figure:
    """Mean seconds of one search by λ and N, one panel an engine.

    timings: engine, path_weight, batch_size, seconds; one row a cell of one set and heuristic.
    """
    figure = Figure()
    engines = list(dict.fromkeys(timings["engine"]))
    panels = figure.subplots(1, len(engines), sharey=True, squeeze=False)[0]
    scale = LogNorm(timings["seconds"].min(), timings["seconds"].max())
    for axes, engine in zip(panels, engines, strict=True):
        rows = timings[timings["engine"] == engine]
        draw_cells(axes, rows, "seconds", weights_and_sizes(timings), scale, seconds_text)
        name_panel(axes, f"seconds a search\n{engine}")
    panels[0].set_ylabel("path weight λ")
    figure.supxlabel("batch size N", fontsize=9)
    return figure


def percent_text(value: float) -> str:
    """A share to two places, where only the whole is 100.  99.407 -> "99.41", 99.998 -> "99.99"."""
    return "100" if value > 100 - ROUNDING else f"{min(value, 99.99):.2f}"


def seconds_text(value: float) -> str:
    """Seconds in the unit that fits.  0.0000223 -> "22 µs", 0.27 -> "270 ms", 2.72 -> "2.7 s"."""
    size, unit = next((pair for pair in UNITS if value >= pair[0]), UNITS[-1])
    scaled = value / size
    return f"{scaled:.0f} {unit}" if scaled >= 10 else f"{scaled:.2g} {unit}"


def weights_and_sizes(cells: pd.DataFrame) -> tuple[list[float], list[int]]:
    """All λ, the largest first, and all N of the cells."""
    return sorted(cells["path_weight"].unique(), reverse=True), sorted(cells["batch_size"].unique())


def draw_cells(axes: Axes, rows: pd.DataFrame, value: str, places, scale: Normalize, text, colors=SEQUENTIAL) -> None:
    """A heat map with the value written in each cell, in black or white as the colour below asks.

    places: all λ and N, as weights_and_sizes gives them; a cell that the rows lack is left blank.
    """
    table = rows.pivot(index="path_weight", columns="batch_size", values=value)
    table = table.reindex(index=places[0], columns=places[1])
    mesh = axes.imshow(table, cmap=colors, norm=scale, aspect="auto")
    axes.hlines(np.arange(1, table.shape[0]) - 0.5, -0.5, table.shape[1] - 0.5, color="white", lw=1)
    axes.vlines(np.arange(1, table.shape[1]) - 0.5, -0.5, table.shape[0] - 0.5, color="white", lw=1)
    axes.set_xticks(range(table.shape[1]), [f"{size:,}" for size in table.columns])
    axes.set_yticks(range(table.shape[0]), [f"{weight:g}" for weight in table.index])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (row, column), number in np.ndenumerate(table.to_numpy()):
        if np.isfinite(number):
            color = readable_on(mesh.cmap(scale(number)))
            axes.text(column, row, text(number), ha="center", va="center", color=color, fontsize=8)


@styled
def optimal_by_distance(results: pd.DataFrame, title: str) -> Figure:
    """Share of instances solved optimally at each distance, one line a label, above the number of instances.

    results: label, distance, instances, optimal_percent.  title says what was searched, and how.
    """
    figure = Figure()
    shares, instances = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    width = bin_width(int(results["distance"].max()))
    handles = []
    for number, (label, group) in enumerate(results.groupby("label", sort=False)):
        means = binned_means(group, "optimal_percent", "instances", width)
        marker = MARKERS[number % len(MARKERS)] if width == 1 else None
        look = {"color": SERIES[number % len(SERIES)], "marker": marker}
        handles += shares.plot(means["distance"], means["optimal_percent"], label=label, clip_on=False, **look)
    instances.bar(means["distance"], means["instances"], width=0.8 * width, color=GREY)
    low, _ = shares.get_ylim()
    shares.set_ylim(min(low, 99), 100)
    shares.margins(x=0.02)
    name_panel(shares, title)
    shares.set_ylabel("optimal solutions, %")
    shares.grid(axis="y")
    instances.set_ylabel("instances")
    instances.set_xlabel("distance from the goal, moves")
    whole_ticks(instances.xaxis, 15)
    whole_ticks(instances.yaxis, 3)
    show_counts(instances.yaxis)
    figure.align_ylabels()
    legend_above(figure, handles, columns=3)
    return figure


@styled
def nodes_from_start(cells: pd.DataFrame, states: int) -> Figure:
    """Nodes expanded from the start state by λ, one panel an N, between exact (floor) and zero (ceiling).

    cells: label, heuristic, path_weight, batch_size, optimal_percent, nodes_expanded.  states is the size of
    the puzzle.  A hollow marker is a solution longer than the optimum.
    """
    figure = Figure()
    sizes = sorted(cells.loc[cells["heuristic"] == "network", "batch_size"].unique())
    panels = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    weights = sorted(cells["path_weight"].unique())
    for axes, size in zip(panels, sizes, strict=True):
        handles = _draw_nodes(axes, cells[cells["batch_size"] == size], weights)
        handles.append(axes.axhline(states, color=PALE, lw=1.4, label=f"all {states:,} states"))
        name_panel(axes, f"N = {size}")
        axes.set_xticks(range(len(weights)), [f"{weight:g}" for weight in weights])
        axes.set_yscale("log")
        plain_logarithmic_ticks(axes.yaxis)
        axes.grid(axis="y")
    panels[0].set_ylabel("nodes expanded")
    figure.supxlabel("path weight λ", fontsize=9)
    legend_above(figure, handles, columns=3)
    return figure


def _draw_nodes(axes: Axes, cells: pd.DataFrame, weights: list[float]) -> list:
    handles = []
    fixed = {"exact": (":", "exact distance"), "zero": ("--", "zero heuristic")}
    networks = cells[cells["heuristic"] == "network"]
    for number, (label, group) in enumerate(networks.groupby("label", sort=False)):
        color, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
        handles += _draw_line(axes, group, weights, color=color, marker=marker, label=label)
    for heuristic, (line, label) in fixed.items():
        group = cells[cells["heuristic"] == heuristic]
        handles += _draw_line(axes, group, weights, color=BLACK, ls=line, marker=".", label=label)
    return handles


def _draw_line(axes: Axes, group: pd.DataFrame, weights: list[float], **look) -> list:
    group = group.sort_values("path_weight")
    places = np.array([weights.index(weight) for weight in group["path_weight"]])
    nodes = group["nodes_expanded"].to_numpy()
    longer = (group["optimal_percent"] < 100).to_numpy()
    hollow = {**look, "ls": "none", "markerfacecolor": "white", "markersize": 5, "label": None}
    line = axes.plot(places, nodes, markersize=5, **{"lw": 1.2, **look})
    axes.plot(places[longer], nodes[longer], **hollow)
    return line
