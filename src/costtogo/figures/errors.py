"""How far networks are off the exact distance: by distance, by checkpoint, and as their training goes on."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from costtogo.figures.binning import bin_width, binned_means
from costtogo.figures.chosen import shown_iteration
from costtogo.figures.style import (
    BLACK,
    MARKERS,
    SEQUENTIAL,
    SERIES,
    kind_of_figure,
    legend_above,
    name_panel,
    plain_logarithmic_ticks,
    shades,
    whole_ticks,
)

MESH_CELLS = 500  # a larger map is drawn as pixels inside the SVG
SMALLEST_ERROR = 0.01  # moves; the error map shows smaller errors in the same colour


@kind_of_figure
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


@kind_of_figure
def error_by_checkpoint(errors: pd.DataFrame) -> Figure:
    """Error of each audited checkpoint of a model over all states; errors: as in error_by_distance, of the model."""
    errors = errors[errors["scope"] == "all"].sort_values("iteration", kind="stable")
    pairs = zip(errors["convergence_point"], errors["iteration"], strict=True)
    labels = [f"point {point}, iteration {iteration:,}" for point, iteration in pairs]
    return error_lines(errors.assign(label=labels), ordered=True)


@kind_of_figure
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


@kind_of_figure
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
