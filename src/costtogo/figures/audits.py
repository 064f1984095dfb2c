"""The cost-to-go that a network gives states, where the exact distance is known and where it is not."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from costtogo.figures import style
from costtogo.figures.binning import bin_width, binned_means
from costtogo.figures.chosen import network_error, selected_iteration, shown_iteration
from costtogo.learning.distributions import walk_spread
from costtogo.puzzles import make

SHARES = {"admissible_percent": "not admissible: overestimated", "consistent_percent": "not consistent"}
RING = {"ls": "none", "marker": "o", "markersize": 11, "mfc": "none"}  # around the checkpoint of the searches
LEAST_SHARE = 0.001  # per cent; smaller shares are drawn at this value


@style.kind_of_figure
def audit(measures: dict[str, pd.DataFrame], selections: dict[str, pd.DataFrame]) -> Figure:
    """Share of states that break each property, on a logarithmic scale: a line for each model, a dot a checkpoint.

    measures: of each model iteration, scope, admissible_percent, consistent_percent.
    selections: iteration and selected (bool) of each model's checkpoints.
    Filled dots are over all states, hollow ones over the literature's sample; a ring marks the checkpoint that the
    searches use.
    """
    figure, panels = style.subplots(1, 2, sharey=True, grid=False, height=1.4 + 0.36 * len(measures))
    places = range(len(measures))[::-1]
    for axes, (measure, text) in zip(panels, SHARES.items(), strict=True):
        for place, (model, rows) in zip(places, measures.items(), strict=True):
            chosen = rows["iteration"] == selected_iteration(selections[model])
            _draw_shares(axes, place, rows.assign(broken=(100 - rows[measure]).clip(lower=LEAST_SHARE)), chosen)
        axes.set(xscale="log", xlim=(LEAST_SHARE / 1.5, 150), xlabel="share of states, %", title=text)
        axes.set_xticks([0.001, 0.01, 0.1, 1, 10, 100], ["0", "0.01", "0.1", "1", "10", "100"])
        axes.set_yticks(places, list(measures))
        axes.grid()
    return style.with_legend(figure)


def _draw_shares(axes: Axes, place: int, rows: pd.DataFrame, chosen: pd.Series) -> None:
    """Draw the checkpoints of a model on its line; rows: scope and broken, in per cent."""
    looks = {"all": (style.BLUE, "all states", 0.12), "sample": ("white", "sample", -0.12)}
    for scope, (fill, label, up) in looks.items():
        dots = rows[rows["scope"] == scope]
        dot = {"ls": "none", "marker": "o", "markersize": 5, "mfc": fill, "mec": style.BLUE, "label": label}
        axes.plot(dots["broken"], np.full(len(dots), place + up), **dot)
    ringed = rows[chosen & (rows["scope"] == "all")]
    ring = {"mec": style.VERMILION, "mew": 1.2, "label": "checkpoint of the searches"}
    axes.plot(ringed["broken"], np.full(len(ringed), place + 0.12), **RING, **ring)


@style.kinds_of_figure(nearby_audit={}, known_audit={"least_bin": 2})  # a walk of even length ends at an even distance
def costs_and_shares(audited: pd.DataFrame, least_bin: int = 0) -> Figure:
    """Mean cost-to-go with the exact distance, and share of admissible states, by exact distance.

    audited: distance, mean_cost_to_go, admissible_percent and, if a distance may have several rows, states.
    least_bin: the least number of distances in a bin; 0 if audited has one row for each distance.
    """
    if least_bin:
        farthest = int(audited["distance"].max()) if len(audited) else 0
        width = max(least_bin, bin_width(farthest))
        audited = binned_means(audited, ["mean_cost_to_go", "admissible_percent"], "states", width)
    figure, (costs, shares) = style.subplots(1, 2, height=3.2)
    distance = audited["distance"]
    costs.plot(distance, audited["mean_cost_to_go"], label="mean cost-to-go", clip_on=False, **style.look_of(0))
    costs.plot(distance, distance, label="exact distance", **style.REFERENCE)
    costs.set(ylabel="moves", ylim=(0, None))
    style.whole_ticks(costs.yaxis)
    shares.plot(distance, audited["admissible_percent"], label="admissible states", clip_on=False, **style.look_of(1))
    shares.set(ylabel="share of states, %", ylim=(0, 100))
    for axes in (costs, shares):
        style.by_distance(axes, 12)
    return style.with_legend(figure)


@style.kind_of_figure
def scrambled_costs(costs: pd.DataFrame) -> Figure:
    """Cost-to-go by the number of moves of the scramble: its mean, and the range of nine tenths of the states.

    costs: depth, mean_cost_to_go, low, high and, where it is known, mean_distance.  The diagonal is the
    greatest distance that a scramble can have.
    """
    figure, (axes,) = style.subplots()
    depth, highest = costs["depth"], 1.05 * costs[[*{"high", "mean_distance"} & {*costs}]].max(axis=None)
    axes.plot(depth, costs["mean_cost_to_go"], label="mean cost-to-go", **style.look_of(0))
    look = {"color": style.SKY, "alpha": 0.4, "lw": 0, "label": "5–95 % of states"}
    axes.fill_between(depth, costs["low"], costs["high"], **look)
    axes.plot([0, highest], [0, highest], label="cost-to-go = moves", **style.REFERENCE)
    if "mean_distance" in costs:
        axes.plot(depth, costs["mean_distance"], color=style.VERMILION, lw=1, label="mean distance")
    axes.set(xlabel="moves of the scramble", xlim=(0, depth.max() + 0.5))
    axes.set(ylabel="cost-to-go, moves", ylim=(0, highest))
    return style.with_legend(figure)


@style.kind_of_figure
def walk_costs(table, values, selection: pd.DataFrame, puzzle: str, walk_max: int) -> Figure:
    """Cost-to-go after up to walk_max random moves from the goal, by the exact chance of every state.

    table: distance [S].  values: iteration [C] and value [C, S] of each audited checkpoint.
    """
    distance = table["distance"]
    cost_to_go = network_error(values, selection, distance) + distance
    return scrambled_costs(pd.DataFrame(walk_spread(make(puzzle), walk_max, cost_to_go, distance)))


MESH_CELLS = 500  # a larger map is drawn as pixels inside the SVG
SMALLEST_ERROR = 0.01  # moves; the error map shows smaller errors in the same colour


@style.kind_of_figure
def error_by_distance(errors: dict[str, pd.DataFrame], selections: dict[str, pd.DataFrame]) -> Figure:
    """Mean error of each model's selected checkpoint over all states by distance; above 0 it overestimates.

    errors: of each model iteration, scope, distance, states, mean_absolute_error, bias.
    selections: iteration and selected (bool) of each model's checkpoints.
    """
    frames = []
    for model, rows in errors.items():
        rows = rows[rows["scope"] == "all"]
        iteration = shown_iteration(selections[model], rows["iteration"])
        frames.append(rows[rows["iteration"] == iteration].assign(label=f"{model}, iteration {iteration:,}"))
    shown = pd.concat(frames)
    figure, (axes,) = style.subplots()
    width = bin_width(int(shown["distance"].max()))
    for look, group in style.lines(shown, "label"):
        if width > 1 or len(group) > 20:
            look["marker"] = None
        means = binned_means(group, ["mean_absolute_error", "bias"], "states", width)
        axes.plot(means["distance"], means["bias"], **look)
    axes.axhline(0, color=style.BLACK, lw=0.8)
    axes.set_ylabel("mean error, moves\n(above 0: too high)")
    style.by_distance(axes)
    return style.with_legend(figure, columns=2)


@style.kind_of_figure
def learning_curve(errors: dict[str, pd.DataFrame]) -> Figure:
    """Mean absolute error by distance (upwards) as the convergence points pass (to the right), one panel a model.

    errors: of each model iteration, convergence_point, distance, states, mean_absolute_error; the goal, where every
    network gives 0, is left out.  All panels share one scale of colour.
    The last column is the end of the training if that is not a convergence point.
    """
    reached = {model: rows[rows["distance"] > 0] for model, rows in errors.items() if len(rows)}
    if not reached:
        return nothing_reached()
    grids = {model: _error_grid(rows) for model, rows in reached.items()}
    most = max(grid.max(axis=None) for grid, _ in grids.values())
    scale = LogNorm(SMALLEST_ERROR, max(most, 2 * SMALLEST_ERROR))
    figure, panels = style.small_multiples(len(grids), sharey=True, row_height=1.9)
    for axes, (model, (grid, points)) in zip(panels, grids.items(), strict=True):
        width = grid.index[1] - grid.index[0] if len(grid) > 1 else 1
        across, up = np.arange(points.size + 1) - 0.5, np.append(grid.index - width / 2, grid.index[-1] + width / 2)
        look = {"norm": scale, "cmap": f"{style.ORDERED}_r", "rasterized": grid.size > MESH_CELLS}
        mesh = axes.pcolormesh(across, up, grid.clip(lower=SMALLEST_ERROR), **look)
        _label_points(axes, points)
        style.name_panel(axes, model)
        style.whole_ticks(axes.yaxis, 8)
    figure.supylabel("distance from the goal, moves")
    figure.supxlabel("convergence points passed")
    bar = figure.colorbar(mesh, ax=panels, label="mean absolute error, moves")
    style.plain_logarithmic_ticks(bar.ax.yaxis)
    return figure


def _error_grid(errors: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """The error by distance (rows) and iteration (columns), and the convergence points passed by then."""
    width, iterations = bin_width(int(errors["distance"].max())), errors.groupby("iteration")
    columns = [binned_means(group, ["mean_absolute_error"], "states", width) for _, group in iterations]
    grid = pd.concat([column.set_index("distance")["mean_absolute_error"] for column in columns], axis=1).sort_index()
    return grid, iterations["convergence_point"].first().to_numpy()


def nothing_reached() -> Figure:
    """The figure that replaces one over convergence points if the training reached none."""
    figure, (axes,) = style.subplots(grid=False)
    axes.text(0.5, 0.5, "no convergence point was reached", ha="center", transform=axes.transAxes)
    axes.set_axis_off()
    return figure


def _label_points(axes: Axes, points: np.ndarray) -> None:
    """Name the columns by their convergence points; a repeated one is the end of training."""
    step = -(-points.size // 7)
    places = np.arange(0, points.size, step)
    repeated = np.append(False, points[1:] == points[:-1])
    axes.set_xticks(places, ["end" if repeated[place] else f"{points[place]}" for place in places])
