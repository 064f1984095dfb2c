"""The Towers of Hanoi: nodes of searches from the start, and the ways they found, drawn on all states."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import CenteredNorm
from matplotlib.figure import Figure

from costtogo.figures import style
from costtogo.figures.chosen import network_error, weight_text
from costtogo.puzzles import make
from costtogo.puzzles.base import ListedPuzzle, apply
from costtogo.tables.results import START

PEGS = 3
CORNERS = np.array([[1.0, 0.0], [0.5, np.sqrt(3) / 2], [0.0, 0.0]])  # of pegs 0, 1, 2: goal right, start left
CORNER_SUM = 0 + 1 + 2  # less two corners leaves the third
MOST_STATES_WITH_EDGES = 1000  # of a larger graph only the states, and those as pixels inside the SVG


def positions(disks: int) -> np.ndarray:
    """The place of each state of H(disks, 3) in the plane, float64 [S, 2], so that every move has length 1.

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


def ranks_along(puzzle: ListedPuzzle, solution: str) -> np.ndarray:
    """The ranks of the states that a solution passes from the start, both ends included, int64 [moves + 1].

    solution: moves "from>to" of the top disk of a peg, with spaces between.  "2>1 2>0 1>0" of hanoi_2 -> [8, 7, 1, 0].
    Raises UserError where a move is not legal.
    """
    states = [puzzle.start]
    for action in puzzle.parse_moves(solution):
        states.append(apply(puzzle, states[-1], [action]))
    return puzzle.rank(np.stack(states))


def edges(puzzle: ListedPuzzle) -> np.ndarray:
    """The pairs of states one move apart, int64 [moves, 2], each pair once, moves of the smallest disk first."""
    neighbours = puzzle.neighbours()
    states = np.broadcast_to(np.arange(len(neighbours))[:, None], neighbours.shape)
    pairs = np.stack([states, neighbours], axis=2)[states < neighbours]
    return pairs[np.argsort(pairs[:, 1] - pairs[:, 0], kind="stable")]


@style.kind_of_figure
def from_start(table: dict[str, np.ndarray], grids: dict[str, pd.DataFrame], baseline: pd.DataFrame) -> Figure:
    """Nodes expanded from the start state by λ, one panel an N, between exact (floor) and zero (ceiling).

    table: distance [S].  grids: of each model set, heuristic, path_weight, batch_size, optimal_percent, nodes_expanded;
    baseline likewise, with the exact and the zero heuristic.  A hollow marker is a solution longer than the optimum.
    """
    cells = pd.concat([frame.assign(label=name) for name, frame in {**grids, "": baseline}.items()])
    cells, states = cells[cells["set"] == START], table["distance"].size
    sizes = sorted(cells.loc[cells["heuristic"] == "network", "batch_size"].unique())
    figure, panels = style.subplots(1, len(sizes), sharey=True)
    weights = sorted(cells["path_weight"].unique())
    for axes, size in zip(panels, sizes, strict=True):
        _draw_nodes(axes, cells[cells["batch_size"] == size].sort_values("path_weight", kind="stable"), weights)
        axes.axhline(states, color=style.PALE, lw=1.4, label=f"all {states:,} states")
        style.name_panel(axes, f"N = {size}")
        axes.set_xticks(range(len(weights)), [f"{weight:g}" for weight in weights])
        style.logarithmic(axes.yaxis)
    panels[0].set_ylabel("nodes expanded")
    figure.supxlabel("path weight λ")
    return style.with_legend(figure, columns=3)


def _draw_nodes(axes: Axes, cells: pd.DataFrame, weights: list[float]) -> None:
    cells = cells.assign(place=cells["path_weight"].map(weights.index))
    found = list(style.lines(cells[cells["heuristic"] == "network"], "label"))
    for heuristic, line, label in (("exact", ":", "exact distance"), ("zero", "--", "zero heuristic")):
        look = {"color": style.BLACK, "ls": line, "marker": ".", "label": label}
        found.append((look, cells[cells["heuristic"] == heuristic]))
    for look, group in found:
        longer = group[group["optimal_percent"] < 100]
        axes.plot(group["place"], group["nodes_expanded"], markersize=5, lw=1.2, **look)
        hollow = look | {"ls": "none", "markerfacecolor": "white", "label": None}
        axes.plot(longer["place"], longer["nodes_expanded"], markersize=5, **hollow)


@style.kind_of_figure
def way(table, values: dict, selections: dict, searches: dict[str, pd.DataFrame], puzzle: str) -> Figure:
    """The way from start to goal that each model's greediest search found, over the network's error on every state.

    table: distance [S].  values: of each model iteration [C] and value [C, S] of each audited checkpoint.
    selections: of each model iteration and selected (bool).  searches: of each model set, heuristic, path_weight,
    batch_size, solved (bool), solution.  All panels share the scales of colour.
    """
    errors = {name: network_error(values[name], selections[name], table["distance"]) for name in values}
    ways = {name: _greediest(searches[name], name) for name in values}
    return solutions_on_graph(make(puzzle), ways, errors)


def _greediest(searches: pd.DataFrame, model: str) -> tuple[str, str]:
    """The solution from the start by the search with the least λ and N, and its name; "" if none was found."""
    found = searches[(searches["set"] == START) & searches["solved"] & (searches["heuristic"] == "network")]
    if found.empty:
        return "", model
    greediest = found.sort_values(["path_weight", "batch_size"]).iloc[0]
    return greediest["solution"], f"{model}, {weight_text(greediest)}"


def solutions_on_graph(puzzle: ListedPuzzle, ways: dict[str, tuple[str, str]], errors: dict[str, np.ndarray]) -> Figure:
    """The ways that searches found from start to goal, drawn over all states in the colours of the network's error.

    ways: by model a solution, moves "from>to" from the start state or "", and its name.  errors: by model h minus
    distance of every state, in moves, float [S].
    """
    disks, places = puzzle.disks, positions(puzzle.disks)
    figure, panels = style.small_multiples(len(ways), a_row=2, row_height=2.3)
    passed = {model: ranks_along(puzzle, solution) for model, (solution, _) in ways.items() if solution}
    limit = max(float(np.quantile(np.abs(error), 0.99)) for error in errors.values()) or 1.0
    most = max((len(ranks) for ranks in passed.values()), default=2)
    for axes, (model, (_, name)) in zip(panels, ways.items(), strict=True):
        drawn, length = _draw_states(axes, places, errors[model], puzzle, limit), "no way found"
        if model in passed:
            moves = _draw_way(axes, places[passed[model]], most)
            length = f"{len(passed[model]) - 1:,} moves (least {2**disks - 1:,})"
        _name_ends(axes, places, disks)
        style.name_panel(axes, f"{name}:\n{length}")
        axes.set_aspect("equal")
        axes.set_axis_off()
    label = "network minus distance, moves\n(below 0: too low)"
    figure.colorbar(drawn, ax=panels, extend="both", label=label)
    if passed:
        bar = figure.colorbar(
            moves, ax=panels, orientation="horizontal", shrink=0.6, aspect=40, pad=0.05, label="moves made"
        )
        style.whole_ticks(bar.ax.xaxis, 6)
        style.show_counts(bar.ax.xaxis)
    return figure


def _draw_states(axes: Axes, places: np.ndarray, error: np.ndarray, puzzle: ListedPuzzle, limit: float):
    """Draw all states in the colours of their errors, from -limit to limit; returns the dots, for a colour bar."""
    disks = puzzle.disks
    if len(places) <= MOST_STATES_WITH_EDGES:
        lines = LineCollection(places[edges(puzzle)], colors=style.PALE, linewidths=0.6 if disks > 5 else 1, zorder=1)
        axes.add_collection(lines)
    points = 160 / 2**disks  # points between neighbours at the size of a panel
    size = min(max(0.8 * points, 0.7), 10) ** 2
    look = {"s": size, "linewidths": 0, "zorder": 2, "rasterized": len(places) > MOST_STATES_WITH_EDGES}
    return axes.scatter(*places.T, c=error, cmap=style.DIVERGING, norm=CenteredNorm(halfrange=limit), **look)


def _draw_way(axes: Axes, way: np.ndarray, most: int) -> LineCollection:
    """Draw the steps of a way, from dark to bright at `most` moves; returns the lines, for a colour bar."""
    steps = np.stack([way[:-1], way[1:]], axis=1)
    axes.add_collection(LineCollection(steps, colors="white", linewidths=3.5, capstyle="round", zorder=3))
    drawn = LineCollection(steps, cmap=style.ORDERED, linewidths=2, capstyle="round", zorder=4)
    drawn.set(array=np.arange(len(steps)), clim=(0, most - 1))
    axes.add_collection(drawn)
    return drawn


def _name_ends(axes: Axes, places: np.ndarray, disks: int) -> None:
    gap = 0.04 * 2**disks
    for (x, y), text, side, shift in ((places[-1], "start", "right", -gap), (places[0], "goal", "left", gap)):
        axes.plot(x, y, marker="o", markersize=6, mfc="white", mec=style.BLACK, mew=1.2, zorder=5, clip_on=False)
        axes.text(x + shift, y, text, ha=side, va="center", fontsize=8, weight="bold")
