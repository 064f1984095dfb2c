"""What a network says of states whose distance is known, and of those whose distance is not."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from costtogo.figures import style
from costtogo.figures.binning import bin_width, binned_means
from costtogo.figures.chosen import network_error, selected_iteration, shown_iteration
from costtogo.learning.distributions import walk_spread
from costtogo.puzzles import make

SHARES = {"admissible_percent": "admissible states", "consistent_percent": "consistent states"}
RING = {"ls": "none", "marker": "o", "markersize": 11, "mfc": "none"}  # around the checkpoint of the searches


@style.kind_of_figure
def audit(measures: dict[str, pd.DataFrame], selections: dict[str, pd.DataFrame]) -> Figure:
    """Shares of admissible and of consistent states of each audited checkpoint.

    measures: of each model iteration, scope, admissible_percent, consistent_percent.
    selections: iteration and selected (bool) of each model's checkpoints.
    Filled dots are over all states, hollow ones over the literature's sample; a ring marks the checkpoint of the
    searches.
    """
    figure, panels = style.subplots(1, 2, sharey=True)
    for axes, (measure, text) in zip(panels, SHARES.items(), strict=True):
        for number, (model, rows) in enumerate(measures.items()):
            _draw_shares(axes, rows, measure, style.look_of(number, label=model))
            chosen = rows[(rows["iteration"] == selected_iteration(selections[model])) & (rows["scope"] == "all")]
            axes.plot(chosen["iteration"], chosen[measure], mec=style.look_of(number)["color"], mew=1.2, **RING)
        style.name_panel(axes, text)
        axes.margins(x=0.08)
        style.whole_ticks(axes.xaxis, 5)
        style.by_iteration(axes)
    panels[0].set_ylabel("share of states, %")
    dot = {"color": style.GREY, "marker": "o", "markersize": 5, "lw": 0.6}
    meanings = [
        Line2D([], [], label="all states", **dot),
        Line2D([], [], label="sample", mfc="white", ls="none", **dot),
        Line2D([], [], label="checkpoint of the searches", mec=style.GREY, **RING),
    ]
    return style.with_legend(figure, more=meanings, columns=3)


def _draw_shares(axes: Axes, rows: pd.DataFrame, measure: str, look: dict) -> None:
    for scope, fill, line in (("all", look["color"], "-"), ("sample", "white", "none")):
        dots = rows[rows["scope"] == scope].sort_values("iteration")
        if len(dots):
            axes.plot(dots["iteration"], dots[measure], markersize=5, markerfacecolor=fill, ls=line, lw=0.6, **look)


@style.kind_of_figure
def nearby_audit(nearby: pd.DataFrame) -> Figure:
    """Mean cost-to-go, and share of admissible states, at each distance of the exact table.

    nearby: distance, mean_cost_to_go, admissible_percent.
    """
    return _costs_and_shares(nearby)


@style.kind_of_figure
def known_audit(known: pd.DataFrame) -> Figure:
    """Mean cost-to-go, and share of admissible states, of instances whose distance is known, by distance.

    known: distance, states, mean_cost_to_go, admissible_percent; a row for each set and distance.
    """
    farthest = int(known["distance"].max()) if len(known) else 0
    width = max(2, bin_width(farthest))  # a walk of even length ends at an even distance
    return _costs_and_shares(binned_means(known, ["mean_cost_to_go", "admissible_percent"], "states", width))


def _costs_and_shares(audited: pd.DataFrame) -> Figure:
    """Two panels by distance: mean_cost_to_go beside the exact distance, admissible_percent."""
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
    """Cost-to-go by the number of moves of the scramble: its mean, and where nine tenths of the states lie.

    costs: depth, mean_cost_to_go, low, high.
    """
    return _costs_by_depth(costs)


@style.kind_of_figure
def walk_costs(table, values, selection: pd.DataFrame, puzzle: str, walk_max: int) -> Figure:
    """Cost-to-go after up to walk_max random moves from the goal, by the exact chance of every state.

    table: distance [S].  values: iteration [C] and value [C, S] of each audited checkpoint.
    """
    distance = table["distance"]
    cost_to_go = network_error(values, selection, distance) + distance
    return _costs_by_depth(pd.DataFrame(walk_spread(make(puzzle), walk_max, cost_to_go, distance)))


def _costs_by_depth(costs: pd.DataFrame) -> Figure:
    """Cost-to-go by depth, with mean_distance where costs has it; the diagonal is the most a scramble can be away."""
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


MESH_CELLS = 500  # a larger map is drawn as pixels inside the SVG
SMALLEST_ERROR = 0.01  # moves; the error map shows smaller errors in the same colour


@style.kind_of_figure
def error_by_distance(errors: dict[str, pd.DataFrame], selections: dict[str, pd.DataFrame]) -> Figure:
    """Error of each model's selected checkpoint over all states.

    errors: of each model iteration, scope, distance, states, mean_absolute_error, bias.
    selections: iteration and selected (bool) of each model's checkpoints.
    """
    frames = []
    for model, rows in errors.items():
        rows = rows[rows["scope"] == "all"]
        iteration = shown_iteration(selections[model], rows["iteration"])
        frames.append(rows[rows["iteration"] == iteration].assign(label=f"{model}, iteration {iteration:,}"))
    return error_lines(pd.concat(frames))


@style.kind_of_figure
def error_by_checkpoint(errors: pd.DataFrame) -> Figure:
    """Error of each audited checkpoint of a model over all states; errors: as in error_by_distance, of the model."""
    errors = errors[errors["scope"] == "all"].sort_values("iteration", kind="stable")
    pairs = zip(errors["convergence_point"], errors["iteration"], strict=True)
    labels = [f"point {point}, iteration {iteration:,}" for point, iteration in pairs]
    return error_lines(errors.assign(label=labels), ordered=True)


@style.kind_of_figure
def error_at_point(errors: dict[str, pd.DataFrame]) -> Figure:
    """Error of all models at the last convergence point that every model with one has reached.

    errors: of each model iteration, convergence_point, distance, states, mean_absolute_error, bias.
    """
    rows = pd.concat(errors, names=["model"]).reset_index("model")
    if rows.empty:
        return nothing_reached()
    shared = rows.groupby("model")["convergence_point"].max().min()
    rows = rows[rows["convergence_point"] == shared]
    labels = rows["model"] + rows["iteration"].map(", iteration {:,}".format)
    return error_lines(rows.assign(label=labels), f"at convergence point {shared}")


def error_lines(errors: pd.DataFrame, title: str = "", *, ordered: bool = False) -> Figure:
    """Mean absolute error of networks by distance, and their bias below.

    errors: label, distance, states, mean_absolute_error, bias; one line a label.  The lines of labels in an
    order go from dark to bright.
    """
    figure, (absolute, bias) = style.subplots(2, sharex=True, height_ratios=(4, 3))
    width = bin_width(int(errors["distance"].max()))
    for look, group in style.lines(errors, "label", ordered=ordered):
        if width > 1 or len(group) > 20:
            look["marker"] = None
        means = binned_means(group, ["mean_absolute_error", "bias"], "states", width)
        absolute.plot(means["distance"], means["mean_absolute_error"], **look)
        bias.plot(means["distance"], means["bias"], **look)
    bias.axhline(0, color=style.BLACK, lw=0.8)
    style.name_panel(absolute, title)
    absolute.set(ylabel="mean absolute\nerror, moves", ylim=(0, None))
    bias.set_ylabel("bias, moves\n(above 0: too high)")
    style.by_distance(bias)
    return style.with_legend(figure, columns=3)


@style.kind_of_figure
def learning_curve(errors: pd.DataFrame) -> Figure:
    """Mean absolute error by distance (upwards) as the convergence points pass (to the right), if there are any.

    errors: iteration, convergence_point, distance, states, mean_absolute_error.
    The last column is the end of training where that is no convergence point of its own.
    """
    if errors.empty:
        return nothing_reached()
    figure, (axes,) = style.subplots(grid=False)
    width = bin_width(int(errors["distance"].max()))
    iterations = errors.groupby("iteration")
    columns = [binned_means(group, ["mean_absolute_error"], "states", width) for _, group in iterations]
    grid = pd.concat([column.set_index("distance")["mean_absolute_error"] for column in columns], axis=1).sort_index()
    points = iterations["convergence_point"].first().to_numpy()
    across, up = np.arange(points.size + 1) - 0.5, np.append(grid.index - width / 2, grid.index[-1] + width / 2)
    look = {"norm": "log", "cmap": style.SEQUENTIAL, "rasterized": grid.size > MESH_CELLS}
    mesh = axes.pcolormesh(across, up, grid.clip(lower=SMALLEST_ERROR), **look)
    _label_points(axes, points)
    axes.set_ylabel("distance from the goal, moves")
    style.whole_ticks(axes.yaxis, 15)
    bar = figure.colorbar(mesh, ax=axes, label="mean absolute error, moves")
    style.plain_logarithmic_ticks(bar.ax.yaxis)
    return figure


def nothing_reached() -> Figure:
    """What is shown in place of a figure over convergence points where there are none."""
    figure, (axes,) = style.subplots(grid=False)
    axes.text(0.5, 0.5, "no convergence point was reached", ha="center", transform=axes.transAxes)
    axes.set_axis_off()
    return figure


def _label_points(axes: Axes, points: np.ndarray) -> None:
    """Name the columns by their convergence points; a repeated one is the end of training."""
    step = -(-points.size // 14)
    places = np.arange(0, points.size, step)
    repeated = np.append(False, points[1:] == points[:-1])
    axes.set_xticks(places, ["end" if repeated[place] else f"{points[place]}" for place in places])
    axes.set_xlabel("convergence points passed")
