"""How training went: loss, convergence points, and the error against the exact distance as both grow."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from costtogo.figures.binning import bin_width, binned_means
from costtogo.figures.style import (
    BLACK,
    BLUE,
    GREY,
    LINE_POINTS,
    MARKERS,
    ORANGE,
    SEQUENTIAL,
    SERIES,
    SIZE,
    legend_above,
    name_panel,
    plain_logarithmic_ticks,
    shades,
    show_counts,
    styled,
    whole_ticks,
)

MESH_CELLS = 500  # a larger map is drawn as pixels inside the SVG
LOSS = "mean squared error, moves²"
PANELS_A_ROW = 2
SHORTEST_ZOOM = 50  # iterations
FEW_POINTS = 40  # up to so many convergence points have room for a large circle each
SHOWN_DISTANCES = 6  # lines of a figure with one for each distance
SMALLEST_ERROR = 0.01  # moves; the error map shows smaller errors in the same colour


@styled
def training_curve(curve: pd.DataFrame, epsilon: float, reach: str) -> Figure:
    """Loss and validation loss by iteration, and below them how far the states drawn reach.

    curve: iteration, loss, validation_loss (NaN where not computed), effective_k, updated.
    A circle marks each convergence point; the dotted line is epsilon, the loss that calls for one.  reach says
    what effective_k counts.
    """
    figure = Figure()
    losses, walks = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    handles = _draw_losses(losses, curve, epsilon)
    handles[-2].set_label(f"convergence point ({curve['updated'].sum():,})")
    handles[-1].set_label(f"ε = {epsilon:g}")
    losses.set_ylabel(LOSS)
    walks.step(curve["iteration"], curve["effective_k"], where="post", color=GREY)
    walks.set_ylim(bottom=0)
    walks.set_ylabel(reach)
    walks.set_xlabel("iteration")
    whole_ticks(walks.yaxis, 3)
    show_counts(walks.xaxis)
    figure.align_ylabels()
    legend_above(figure, handles)
    return figure


def _draw_losses(axes: Axes, curve: pd.DataFrame, epsilon: float) -> list:
    validation = curve.dropna(subset="validation_loss")
    pixels = len(curve) > LINE_POINTS
    handles = axes.plot(
        curve["iteration"], curve["loss"], color=BLUE, lw=0.7, alpha=0.8, label="loss", rasterized=pixels
    )
    handles += axes.plot(
        validation["iteration"],
        validation["validation_loss"],
        color=ORANGE,
        lw=1,
        zorder=1.9,  # below the loss, which strays less
        label="validation loss",
        rasterized=pixels,
    )
    updates = curve[curve["updated"]]
    many = len(updates) > FEW_POINTS
    handles += axes.plot(
        updates["iteration"],
        updates["validation_loss"].fillna(updates["loss"]),
        ls="none",
        marker="o",
        markersize=2 if many else 5,
        markerfacecolor=BLACK if many else "white",
        markeredgecolor=BLACK,
        markeredgewidth=0 if many else 1,
        label="convergence point",
    )
    handles.append(axes.axhline(epsilon, color=BLACK, ls=":", lw=1, label="ε"))
    axes.set_yscale("log")
    plain_logarithmic_ticks(axes.yaxis)
    axes.grid(axis="y")
    return handles


@styled
def mean_costs(looks: pd.DataFrame, mean_distance: float) -> Figure:
    """Validation loss and, below it, the mean cost-to-go over all states by iteration.

    looks: iteration, validation_loss, cost_to_go, one row a checkpoint.  The dotted line is the mean distance.
    """
    figure = Figure()
    losses, costs = figure.subplots(2, 1, sharex=True)
    losses.plot(looks["iteration"], looks["validation_loss"], color=ORANGE, marker="o")
    losses.set_yscale("log")
    plain_logarithmic_ticks(losses.yaxis)
    losses.set_ylabel("validation loss,\nmoves²")
    handles = costs.plot(looks["iteration"], looks["cost_to_go"], color=BLUE, marker="o", label="mean cost-to-go")
    handles.append(costs.axhline(mean_distance, color=BLACK, ls=":", lw=1, label="mean distance"))
    costs.set_ylim(bottom=0)
    costs.set(xlabel="iteration", ylabel="mean cost-to-go\nof all states, moves")
    show_counts(costs.xaxis)
    for axes in (losses, costs):
        axes.grid(axis="y")
    figure.align_ylabels()
    legend_above(figure, handles)
    return figure


@styled
def optimal_by_iteration(shares: pd.DataFrame, title: str) -> Figure:
    """Share of instances solved optimally and nodes expanded as training goes on, a line for each of some distances.

    shares: iteration, distance, optimal_percent, nodes_expanded.  title says what was searched, and how.
    """
    figure = Figure()
    optimal, nodes = figure.subplots(2, 1, sharex=True)
    shares = shares[shares["distance"] > 0]
    present = np.sort(shares["distance"].unique())
    chosen = present[np.unique(np.linspace(0, len(present) - 1, SHOWN_DISTANCES).round().astype(int))]
    handles = []
    for number, (color, distance) in enumerate(zip(shades(len(chosen)), chosen, strict=True)):
        group = shares[shares["distance"] == distance].sort_values("iteration")
        look = {"color": color, "marker": MARKERS[number % len(MARKERS)], "label": f"distance {distance}"}
        handles += optimal.plot(group["iteration"], group["optimal_percent"], clip_on=False, **look)
        nodes.plot(group["iteration"], group["nodes_expanded"], **look)
    optimal.set(ylabel="optimal solutions, %", ylim=(min(90, optimal.get_ylim()[0]), 100))
    nodes.set(xlabel="iteration", ylabel="nodes expanded", yscale="log")
    plain_logarithmic_ticks(nodes.yaxis)
    name_panel(optimal, title)
    show_counts(nodes.xaxis)
    for axes in (optimal, nodes):
        axes.grid(axis="y")
    figure.align_ylabels()
    legend_above(figure, handles, columns=6)
    return figure


@styled
def last_points(curves: dict[str, tuple[pd.DataFrame, float]]) -> Figure:
    """Losses around the last two convergence points of each model, one panel a model.

    curves: by model, its curve as in training_curve and its epsilon.
    """
    rows = -(-len(curves) // PANELS_A_ROW)
    figure = Figure(figsize=(SIZE[0], 1.2 + 1.5 * rows))
    panels = figure.subplots(rows, PANELS_A_ROW, squeeze=False).ravel()
    for axes in panels[len(curves) :]:
        axes.set_axis_off()
    for axes, (model, (curve, epsilon)) in zip(panels, curves.items(), strict=False):
        handles = _draw_losses(axes, around_last_points(curve), epsilon)
        name_panel(axes, f"{model}, ε = {epsilon:g}")
        whole_ticks(axes.xaxis, 5)
        show_counts(axes.xaxis)
    figure.supylabel(LOSS, fontsize=9)
    figure.supxlabel("iteration", fontsize=9)
    legend_above(figure, handles)
    return figure


def around_last_points(curve: pd.DataFrame) -> pd.DataFrame:
    """The curve from just before the last convergence point but one to as long after the last as lies between them.

    At least SHORTEST_ZOOM iterations count as between them; a curve without a convergence point stays whole.
    """
    points = curve.loc[curve["updated"], "iteration"]
    if points.empty:
        return curve
    before, last = points.iloc[-2:].min(), points.iloc[-1]
    gap = max(last - before, SHORTEST_ZOOM)
    return curve[curve["iteration"].between(before - gap // 5, last + gap)]


@styled
def error_by_distance(errors: pd.DataFrame, title: str = "", *, ordered: bool = False) -> Figure:
    """Mean absolute error of networks by distance, and their bias below.

    errors: label, distance, states, mean_absolute_error, bias; one line a label.  The lines of labels in an
    order go from dark to bright.
    """
    if errors.empty:
        return nothing_reached()
    figure = Figure()
    absolute, bias = figure.subplots(2, 1, sharex=True, height_ratios=(4, 3))
    width = bin_width(int(errors["distance"].max()))
    groups, handles = errors.groupby("label", sort=False), []
    colors = shades(len(groups)) if ordered else SERIES
    for number, (label, group) in enumerate(groups):
        look = {"color": colors[number % len(colors)], "label": label}
        if width == 1 and len(group) <= 20:
            look["marker"] = MARKERS[number % len(MARKERS)]
        for axes, measure in ((absolute, "mean_absolute_error"), (bias, "bias")):
            means = binned_means(group, measure, "states", width)
            handles += axes.plot(means["distance"], means[measure], **look)
    bias.axhline(0, color=BLACK, lw=0.8)
    absolute.set_ylim(bottom=0)
    name_panel(absolute, title)
    absolute.set_ylabel("mean absolute\nerror, moves")
    bias.set_ylabel("bias, moves\n(above 0: too high)")
    bias.set_xlabel("distance from the goal, moves")
    whole_ticks(bias.xaxis, 15)
    for axes in (absolute, bias):
        axes.grid(axis="y")
    figure.align_ylabels()
    legend_above(figure, handles[::2], columns=3)
    return figure


@styled
def learning_curve(errors: pd.DataFrame) -> Figure:
    """Mean absolute error by distance (upwards) as the convergence points pass (to the right), if there are any.

    errors: iteration, convergence_point, distance, states, mean_absolute_error.
    The last column is the end of training where that is no convergence point of its own.
    """
    if errors.empty:
        return nothing_reached()
    figure = Figure()
    axes = figure.subplots()
    width = bin_width(int(errors["distance"].max()))
    columns = [
        binned_means(group, "mean_absolute_error", "states", width).set_index("distance")["mean_absolute_error"]
        for _, group in errors.groupby("iteration")
    ]
    grid = pd.concat(columns, axis=1).sort_index()
    points = errors.groupby("iteration")["convergence_point"].first().to_numpy()
    shown = np.clip(grid.to_numpy(), SMALLEST_ERROR, None)
    mesh = axes.pcolormesh(
        np.arange(points.size + 1) - 0.5,
        np.append(grid.index - width / 2, grid.index[-1] + width / 2),
        shown,
        norm=LogNorm(vmin=max(SMALLEST_ERROR, np.nanmin(shown)), vmax=np.nanmax(shown)),
        cmap=SEQUENTIAL,
        rasterized=grid.size > MESH_CELLS,
    )
    _label_points(axes, points)
    axes.set_ylabel("distance from the goal, moves")
    whole_ticks(axes.yaxis, 15)
    bar = figure.colorbar(mesh, ax=axes, label="mean absolute error, moves")
    plain_logarithmic_ticks(bar.ax.yaxis)
    return figure


def nothing_reached() -> Figure:
    """What is shown in place of a figure over convergence points where there are none."""
    figure = Figure()
    axes = figure.subplots()
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
