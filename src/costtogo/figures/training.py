"""Trainings: loss, convergence points, results as training goes on, and costs."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costtogo.analysis.several_seeds import CELLS
from costtogo.figures import style
from costtogo.figures.chosen import in_cell, weight_text
from costtogo.literature.reported import COLUMNS, trainings
from costtogo.params.trainers import loss_of

SEVERAL = "loss, in the unit of each trainer"
SHOWN_DISTANCES = 6  # lines of a figure with one for each distance
LEAST_LOSS = 1e-4  # moves²; smaller losses are not shown
FEW_POINTS = 40  # with up to this many convergence points each has a large circle


@style.kinds_of_figure(training={}, kept_training={})
def training(curves: dict[str, pd.DataFrame], losses: dict[str, dict]) -> Figure:
    """Loss and validation loss by iteration, one panel a model; panels share the scale if all have the same loss.

    curves: of each model iteration, loss, validation_loss (NaN where not computed), effective_k, updated.
    losses: of each model epsilon, the loss at which a convergence point is reached (None if its trainer has none), and
    name, the loss with its unit.  A circle marks each convergence point; the dotted line is ε.
    """
    names = list(dict.fromkeys(loss["name"] for loss in losses.values()))
    alike = len(names) == 1
    figure, panels = style.small_multiples(len(curves), sharey=alike)
    for axes, (model, curve) in zip(panels, curves.items(), strict=True):
        epsilon, points = losses[model]["epsilon"], f"{curve['updated'].sum():,} points"
        _draw_losses(axes, curve, epsilon)
        style.name_panel(axes, model if epsilon is None else f"{model}\nε = {epsilon:g}, {points}")
        style.whole_ticks(axes.xaxis, 4)
        style.show_counts(axes.xaxis)
    for axes in panels[:1] if alike else panels:
        axes.set_ylim(bottom=max(axes.get_ylim()[0], LEAST_LOSS))
    figure.supylabel(names[0] if alike else SEVERAL)
    figure.supxlabel("iteration")
    return style.with_legend(figure)


def _draw_losses(axes: Axes, curve: pd.DataFrame, epsilon: float | None) -> None:
    """Draw loss, validation loss, convergence points and, if a trainer has it, ε."""
    validation, updates = curve.dropna(subset="validation_loss"), curve[curve["updated"]]
    pixels, many = len(curve) > style.LINE_POINTS, len(updates) > FEW_POINTS
    look = {"color": style.BLUE, "lw": 0.7, "alpha": 0.8, "rasterized": pixels}
    axes.plot(curve["iteration"], curve["loss"], label="loss", **look)
    look = {"color": style.ORANGE, "lw": 1, "zorder": 1.9, "rasterized": pixels}  # below the loss, which strays less
    axes.plot(validation["iteration"], validation["validation_loss"], label="validation loss", **look)
    look = {"ls": "none", "marker": "o", "markersize": 2 if many else 4, "mfc": style.BLACK if many else "white"}
    look |= {"mec": style.BLACK, "mew": 0 if many else 1, "label": "convergence point"}
    axes.plot(updates["iteration"], updates["validation_loss"].fillna(updates["loss"]), **look)
    if epsilon is not None:
        axes.axhline(epsilon, label="ε", **style.REFERENCE)
    style.logarithmic(axes.yaxis)
    axes.grid(axis="y")


@style.kind_of_figure
def loss_curve(curve: pd.DataFrame, card: dict) -> Figure:
    """Loss and validation loss by iteration, both axes logarithmic.

    curve: iteration, loss, validation_loss (NaN where not computed).  card: of the training.
    """
    figure, (axes,) = style.subplots()
    validation = curve.dropna(subset="validation_loss")
    pixels = len(curve) > style.LINE_POINTS
    axes.plot(curve["iteration"], curve["loss"], color=style.BLUE, lw=0.6, label="loss", rasterized=pixels)
    look = {"color": style.ORANGE, "marker": "o", "mec": style.BLACK, "mew": 0.6}
    axes.plot(validation["iteration"], validation["validation_loss"], label="validation loss", **look)
    axes.set(xlabel="iteration", ylabel=loss_of(card["parameters"]["training"])[1])
    style.logarithmic(axes.xaxis, axes.yaxis)
    return style.with_legend(figure)


@style.kind_of_figure
def training_costs(
    cards: dict[str, dict], clocks: dict[str, dict], puzzle: str, name: str, reported: pd.DataFrame | None = None
) -> Figure:
    """Hours and states of a training and those it starts from, above the literature's, on logarithmic scales.

    cards, clocks: the cards and the wall-clock times of these trainings.  name: the label of ours.
    reported: rows of data/reported on this puzzle and others; None if no document has numbers on it.
    """
    states = sum(card["metrics"]["states_seen"] for card in cards.values())
    seconds = sum(clock["seconds"] + clock.get("earlier_seconds", 0.0) for clock in clocks.values())
    reported = pd.DataFrame(columns=COLUMNS) if reported is None else reported
    reported = reported[reported["puzzle"] == puzzle].astype({"value": float})
    shown = trainings(reported, name, seconds, states)
    figure, panels = style.subplots(1, 2, grid=False, sharey=True, height=0.9 + 0.36 * len(shown))
    places = np.arange(len(shown))[::-1]
    colors = [style.GREEN if own else style.GREY for own in shown["own"]]
    titles = {"hours": ("hours of training", _hours), "states": ("states seen in training", _billions)}
    for axes, (column, (title, text)) in zip(panels, titles.items(), strict=True):
        values, least = shown[column], shown[column].min() / 4
        bars = axes.barh(places, values - least, left=least, color=colors, height=0.62)
        axes.bar_label(bars, [text(value) if np.isfinite(value) else "" for value in values], padding=4)
        axes.set(xscale="log", xlabel=title, xlim=(least, values.max() * 12))
        axes.minorticks_off()
        axes.grid(axis="x")
        axes.set_yticks(places, shown["label"])
        axes.tick_params(axis="y", length=0)
    return figure


def _hours(value: float) -> str:
    """Hours as text, in minutes below one hour.  0.284 -> "17 minutes", 36 -> "36"."""
    return f"{value:.3g}" if value >= 1 else f"{60 * value:.2g} minutes"


def _billions(value: float) -> str:
    """A number of states in few characters.  93600000 -> "94 million", 1e10 -> "10 billion"."""
    return f"{value / 1e9:.3g} billion" if value >= 1e9 else f"{value / 1e6:.3g} million"


@style.kind_of_figure
def mean_costs(looks: pd.DataFrame, measures: pd.DataFrame, table: dict[str, np.ndarray]) -> Figure:
    """Validation loss and, below it, the mean cost-to-go over all states by iteration.

    looks: iteration, validation_loss.  measures: iteration, scope, bias.  table: distance [S].
    The dotted line is the mean distance.
    """
    mean_distance = table["distance"].mean(dtype=np.float64)
    looks = measures[measures["scope"] == "all"].merge(looks[["iteration", "validation_loss"]], on="iteration")
    cost_to_go = looks["bias"] + mean_distance
    figure, (losses, costs) = style.subplots(2, sharex=True)
    losses.plot(looks["iteration"], looks["validation_loss"], color=style.ORANGE, marker="o")
    style.logarithmic(losses.yaxis)
    losses.set_ylabel("validation loss,\nmoves²")
    costs.plot(looks["iteration"], cost_to_go, label="mean cost-to-go", **style.look_of(0))
    costs.axhline(mean_distance, label="mean distance", **style.REFERENCE)
    costs.set(ylabel="mean cost-to-go\nof all states, moves", ylim=(0, None))
    style.by_iteration(costs)
    return style.with_legend(figure)


@style.kind_of_figure
def optimal_by_iteration(shares: pd.DataFrame) -> Figure:
    """Share of instances solved optimally and nodes expanded as training goes on, a line for each of some distances.

    shares: set, path_weight, batch_size, iteration, distance, instances, optimal_percent, nodes_expanded; the figure
    shows the cell with the most instances.
    """
    cells = shares.groupby(CELLS, as_index=False)["instances"].sum()
    cell = cells.loc[cells["instances"].idxmax()].to_dict()
    shares = shares[in_cell(shares, cell) & (shares["distance"] > 0)]
    figure, (optimal, nodes) = style.subplots(2, sharex=True)
    present = np.sort(shares["distance"].unique())
    chosen = present[np.unique(np.linspace(0, len(present) - 1, SHOWN_DISTANCES).round().astype(int))]
    shown = shares[shares["distance"].isin(chosen)].sort_values(["distance", "iteration"])
    for look, group in style.lines(shown, "distance", ordered=True):
        look["label"] = f"distance {look['label']}"
        optimal.plot(group["iteration"], group["optimal_percent"], clip_on=False, **look)
        nodes.plot(group["iteration"], group["nodes_expanded"], **look)
    optimal.set(ylabel="optimal solutions, %", ylim=(min(90, optimal.get_ylim()[0]), 100))
    nodes.set_ylabel("nodes expanded")
    style.logarithmic(nodes.yaxis)
    style.name_panel(optimal, f"set {cell['set']}, {weight_text(cell)}")
    style.by_iteration(nodes)
    return style.with_legend(figure, columns=6)


@style.kinds_of_figure(
    greedy_shares={"measure": "solved_percent", "ylabel": "solved by greedy search, %", "ylim": (0, 100)},
    large_mean_costs={"measure": "mean_cost_to_go", "ylabel": "mean cost-to-go, moves", "ylim": (0, None)},
)
def by_depth(greedy: pd.DataFrame, measure: str, **upwards) -> Figure:
    """A measure of scrambled states as training goes on, one line a scramble depth.

    greedy: iteration, depth and the measure.  upwards: the label and the limits of its axis.
    """
    figure, (axes,) = style.subplots()
    for look, group in style.lines(greedy.sort_values(["depth", "iteration"]), "depth", ordered=True, clip_on=False):
        look["label"] = f"{look['label']} moves"
        axes.plot(group["iteration"], group[measure], **look)
    axes.set(xlim=(0, None), **upwards)
    style.by_iteration(axes)
    return style.with_legend(figure, columns=6)


@style.kind_of_figure
def progress(searches: pd.DataFrame, card: dict) -> Figure:
    """Results of BWAS as training goes on: moves beyond the optimum (left), shares of the instances (right).

    searches: iteration, excess (moves, over solved instances with a known optimum), length (moves, over solved ones),
    solved_percent, optimal_percent; NaN where unknown.  If no optimum is known, the left panel shows the length.
    card: of the training, whose number of states is proportional to the iterations.
    """
    figure, (moves, shares) = style.subplots(1, 2, height=3.2)
    iterations, known = searches["iteration"], searches["optimal_percent"].notna().any()
    seen = card["metrics"]["states_seen"] * iterations / iterations.max() / 1e6
    measure, label = ("excess", "moves beyond the optimum") if known else ("length", "length of the solutions")
    moves.plot(seen, searches[measure], "o-", color=style.BLUE, clip_on=False, label=f"{label}, where solved")
    moves.set(ylabel="moves", ylim=(0 if known else None, None))
    shares.plot(seen, searches["solved_percent"], "s-", color=style.GREEN, clip_on=False, label="solved")
    if known:
        look = {"color": style.VERMILION, "clip_on": False, "label": "solved optimally"}
        shares.plot(seen, searches["optimal_percent"], "^-", **look)
    shares.set(ylabel="share of instances, %", ylim=(0, 100))
    for axes in (moves, shares):
        axes.set(xlabel="states seen in training, millions", xlim=(0, None))
    return style.with_legend(figure)
