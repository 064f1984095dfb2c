"""The Towers of Hanoi: what a search from the start takes, and the way it found, drawn on every state."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import CenteredNorm
from matplotlib.figure import Figure

from costtogo.figures.chosen import START, network_error, weight_text
from costtogo.figures.style import (
    BLACK,
    DIVERGING,
    ORDERED,
    PALE,
    kind_of_figure,
    logarithmic,
    look_of,
    name_panel,
    show_counts,
    subplots,
    whole_ticks,
    with_legend,
)

PEGS = 3
CORNERS = np.array([[1.0, 0.0], [0.5, np.sqrt(3) / 2], [0.0, 0.0]])  # of pegs 0, 1, 2: goal right, start left
CORNER_SUM = 0 + 1 + 2  # less two corners leaves the third
MOST_STATES_WITH_EDGES = 1000  # of a larger graph only the states, and those as pixels inside the SVG


def disks_of(states: int) -> int:
    """The number of disks of a puzzle of so many states.  81 -> 4"""
    return round(np.log(states) / np.log(PEGS))


def positions(disks: int) -> np.ndarray:
    """Where each state of H(disks, 3) lies in the plane, float64 [S, 2], so that every move has length 1.

    A state's rank is the sum of peg_i · 3^i over its disks, 0 the smallest.  All disks on one peg is a corner
    of the triangle; a disk's peg picks one of three smaller triangles, whose other two corners change sides.
    """
    ranks = np.arange(PEGS**disks)
    corner_of_peg = np.tile(np.arange(PEGS), (ranks.size, 1))
    places = np.zeros((ranks.size, 2))
    for disk in reversed(range(disks)):
        peg = ranks // PEGS**disk % PEGS
        corner = corner_of_peg[ranks, peg]
        places += CORNERS[corner] * 2**disk
        turned = CORNER_SUM - corner[:, None] - corner_of_peg
        corner_of_peg = np.where(np.arange(PEGS) == peg[:, None], corner_of_peg, turned)
    return places


def ranks_along(solution: str, disks: int) -> np.ndarray:
    """The ranks of the states that a solution passes, start and goal included, int64 [moves + 1].

    solution: moves "from>to" of the top disk of a peg, with spaces between, from all disks on the last peg.
    "2>1 2>0 1>0" with 2 disks -> [8, 7, 1, 0].
    Raises ValueError where a move is not legal.
    """
    pegs = np.full(disks, PEGS - 1)
    weights = PEGS ** np.arange(disks)
    ranks = [pegs @ weights]
    for move in solution.split():
        source, target = map(int, move.split(">"))
        tops = [min(np.flatnonzero(pegs == peg), default=disks) for peg in (source, target)]
        if tops[0] >= tops[1]:
            raise ValueError(f"The move {move} is not legal: disk {tops[0]} cannot go onto disk {tops[1]}.")
        pegs[tops[0]] = target
        ranks.append(pegs @ weights)
    return np.array(ranks)


def edges(disks: int) -> np.ndarray:
    """The pairs of states that one move joins, int64 [moves, 2], each pair once."""
    ranks = np.arange(PEGS**disks)
    pegs = ranks[:, None] // PEGS ** np.arange(disks) % PEGS
    pairs = []
    for disk in range(disks):
        for step in (1, 2):
            target = (pegs[:, disk] + step) % PEGS
            smaller = pegs[:, :disk]
            free = (smaller != pegs[:, [disk]]).all(1) & (smaller != target[:, None]).all(1)
            neighbour = ranks + (target - pegs[:, disk]) * PEGS**disk
            keep = free & (ranks < neighbour)
            pairs.append(np.stack([ranks[keep], neighbour[keep]], axis=1))
    return np.concatenate(pairs)


@kind_of_figure
def from_start(table: dict[str, np.ndarray], grids: dict[str, pd.DataFrame], baseline: pd.DataFrame) -> Figure:
    """Nodes expanded from the start state by λ, one panel an N, between exact (floor) and zero (ceiling).

    table: distance [S].  grids: of each model set, heuristic, path_weight, batch_size, optimal_percent, nodes_expanded;
    baseline likewise, with the exact and the zero heuristic.  A hollow marker is a solution longer than the optimum.
    """
    cells = pd.concat([frame.assign(label=name) for name, frame in {**grids, "": baseline}.items()])
    cells, states = cells[cells["set"] == START], table["distance"].size
    sizes = sorted(cells.loc[cells["heuristic"] == "network", "batch_size"].unique())
    figure, panels = subplots(1, len(sizes), sharey=True)
    weights = sorted(cells["path_weight"].unique())
    for axes, size in zip(panels, sizes, strict=True):
        handles = _draw_nodes(axes, cells[cells["batch_size"] == size], weights)
        handles.append(axes.axhline(states, color=PALE, lw=1.4, label=f"all {states:,} states"))
        name_panel(axes, f"N = {size}")
        axes.set_xticks(range(len(weights)), [f"{weight:g}" for weight in weights])
        logarithmic(axes.yaxis)
    panels[0].set_ylabel("nodes expanded")
    figure.supxlabel("path weight λ", fontsize=9)
    return with_legend(figure, handles, columns=3)


def _draw_nodes(axes: Axes, cells: pd.DataFrame, weights: list[float]) -> list:
    handles = []
    fixed = {"exact": (":", "exact distance"), "zero": ("--", "zero heuristic")}
    networks = cells[cells["heuristic"] == "network"]
    for number, (label, group) in enumerate(networks.groupby("label", sort=False)):
        handles += _draw_line(axes, group, weights, **look_of(number, label=label))
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


@kind_of_figure
def way(table, values, selection: pd.DataFrame, searches: pd.DataFrame, model: str) -> Figure:
    """The way from start to goal that the greediest search found, over the network's error on every state.

    table: distance [S].  values: iteration [C] and value [C, S] of each audited checkpoint.  searches: set, heuristic,
    path_weight, batch_size, solved (bool), solution.
    """
    error = network_error(values, selection, table["distance"])
    found = searches[(searches["set"] == START) & searches["solved"] & (searches["heuristic"] == "network")]
    if found.empty:
        return solution_on_graph("", error, label=model)
    greediest = found.sort_values(["path_weight", "batch_size"]).iloc[0]
    return solution_on_graph(greediest["solution"], error, label=f"{model}, {weight_text(greediest)}")


def solution_on_graph(solution: str, error: np.ndarray, *, label: str) -> Figure:
    """The way a search found from start to goal, drawn on all states, coloured by the network's error.

    solution: moves "from>to" from the start state, or "".  error: h minus distance of every state, in
    moves, float [S].  label says which search found the way.
    """
    disks = disks_of(error.size)
    figure, (axes,) = subplots(height=5.0, grid=False)
    places = positions(disks)
    _draw_states(figure, axes, places, error, disks)
    way = places[ranks_along(solution, disks)]
    length = "no way found"
    if solution:
        _draw_way(figure, axes, way)
        length = f"{len(way) - 1:,} moves (least {2**disks - 1:,})"
    _name_ends(axes, places, disks)
    axes.set_title(f"{label}: {length}", loc="left")
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def _draw_states(figure: Figure, axes: Axes, places: np.ndarray, error: np.ndarray, disks: int) -> None:
    if len(places) <= MOST_STATES_WITH_EDGES:
        lines = LineCollection(places[edges(disks)], colors=PALE, linewidths=0.6 if disks > 5 else 1, zorder=1)
        axes.add_collection(lines)
    points = 330 / 2**disks  # points between neighbours at this figure size
    size = min(max(0.8 * points, 0.7), 10) ** 2
    look = {"s": size, "linewidths": 0, "zorder": 2, "rasterized": len(places) > MOST_STATES_WITH_EDGES}
    limit = float(np.quantile(np.abs(error), 0.99)) or 1.0
    drawn = axes.scatter(*places.T, c=error, cmap=DIVERGING, norm=CenteredNorm(halfrange=limit), **look)
    figure.colorbar(
        drawn,
        ax=axes,
        shrink=0.75,
        pad=0.0,
        extend="both",
        label="network minus distance, moves\n(below 0: too low)",
    )


def _draw_way(figure: Figure, axes: Axes, way: np.ndarray) -> None:
    steps = np.stack([way[:-1], way[1:]], axis=1)
    axes.add_collection(LineCollection(steps, colors="white", linewidths=5.5, capstyle="round", zorder=3))
    drawn = LineCollection(steps, array=np.arange(len(steps)), cmap=ORDERED, linewidths=3, capstyle="round", zorder=4)
    drawn.set_clim(0, len(steps))
    axes.add_collection(drawn)
    bar = figure.colorbar(drawn, ax=axes, orientation="horizontal", shrink=0.5, aspect=40, pad=0.0)
    bar.set_label("moves made")
    whole_ticks(bar.ax.xaxis, 6)
    show_counts(bar.ax.xaxis)


def _name_ends(axes: Axes, places: np.ndarray, disks: int) -> None:
    gap = 0.02 * 2**disks
    for place, text, side in ((places[-1], "start", "right"), (places[0], "goal", "left")):
        axes.plot(*place, marker="o", markersize=8, mfc="white", mec=BLACK, mew=1.4, zorder=5, clip_on=False)
        shift = -2 * gap if side == "right" else 2 * gap
        axes.text(place[0] + shift, place[1], text, ha=side, va="center", fontsize=10, weight="bold")
