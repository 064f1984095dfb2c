"""What networks are worth as their training goes on."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costtogo.figures.chosen import in_cell, weight_text
from costtogo.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    MARKERS,
    ORANGE,
    SIZE,
    VERMILION,
    kind_of_figure,
    legend_above,
    name_panel,
    plain_logarithmic_ticks,
    shades,
    show_counts,
)

SHOWN_DISTANCES = 6  # lines of a figure with one for each distance


@kind_of_figure
def mean_costs(looks: pd.DataFrame, measures: pd.DataFrame, table: dict[str, np.ndarray]) -> Figure:
    """Validation loss and, below it, the mean cost-to-go over all states by iteration.

    looks: iteration, validation_loss.  measures: iteration, scope, bias.  table: distance [S].
    The dotted line is the mean distance.
    """
    mean_distance = table["distance"].mean(dtype=np.float64)
    looks = measures[measures["scope"] == "all"].merge(looks[["iteration", "validation_loss"]], on="iteration")
    cost_to_go = looks["bias"] + mean_distance
    figure = Figure()
    losses, costs = figure.subplots(2, 1, sharex=True)
    losses.plot(looks["iteration"], looks["validation_loss"], color=ORANGE, marker="o")
    losses.set_yscale("log")
    plain_logarithmic_ticks(losses.yaxis)
    losses.set_ylabel("validation loss,\nmoves²")
    handles = costs.plot(looks["iteration"], cost_to_go, color=BLUE, marker="o", label="mean cost-to-go")
    handles.append(costs.axhline(mean_distance, color=BLACK, ls=":", lw=1, label="mean distance"))
    costs.set_ylim(bottom=0)
    costs.set(xlabel="iteration", ylabel="mean cost-to-go\nof all states, moves")
    show_counts(costs.xaxis)
    for axes in (losses, costs):
        axes.grid(axis="y")
    figure.align_ylabels()
    legend_above(figure, handles)
    return figure


@kind_of_figure
def optimal_by_iteration(shares: pd.DataFrame) -> Figure:
    """Share of instances solved optimally and nodes expanded as training goes on, a line for each of some distances.

    shares: set, path_weight, batch_size, iteration, distance, instances, optimal_percent, nodes_expanded; shown is the
    cell with most instances.
    """
    cells = shares.groupby(["set", "path_weight", "batch_size"], as_index=False)["instances"].sum()
    cell = cells.loc[cells["instances"].idxmax()].to_dict()
    shares = shares[in_cell(shares, cell) & (shares["distance"] > 0)]
    figure = Figure()
    optimal, nodes = figure.subplots(2, 1, sharex=True)
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
    name_panel(optimal, f"set {cell['set']}, {weight_text(cell)}")
    show_counts(nodes.xaxis)
    for axes in (optimal, nodes):
        axes.grid(axis="y")
    figure.align_ylabels()
    legend_above(figure, handles, columns=6)
    return figure


@kind_of_figure
def greedy_shares(greedy: pd.DataFrame) -> Figure:
    """Share of states that greedy search solves as training goes on, one line a scramble depth.

    greedy: iteration, depth, solved_percent.
    """
    figure, axes = _by_depth(greedy, "solved_percent")
    axes.set(ylabel="solved by greedy search, %", ylim=(0, 100))
    return figure


@kind_of_figure
def large_mean_costs(greedy: pd.DataFrame) -> Figure:
    """Mean cost-to-go of scrambled states as training goes on, one line a scramble depth.

    greedy: iteration, depth, mean_cost_to_go.
    """
    figure, axes = _by_depth(greedy, "mean_cost_to_go")
    axes.set(ylabel="mean cost-to-go, moves")
    axes.set_ylim(bottom=0)
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


@kind_of_figure
def progress(searches: pd.DataFrame, card: dict) -> Figure:
    """What BWAS finds as the training goes on: moves beyond the optimum (left), shares of the instances (right).

    searches: iteration, excess (moves, over the solved of known optimum), length (moves, over the solved),
    solved_percent, optimal_percent; NaN where nothing is known. Where no optimum is known, left is the length.
    card: of the training; the states it saw are in proportion to the iterations.
    """
    figure = Figure(figsize=(SIZE[0], 3.2))
    moves, shares = figure.subplots(1, 2)
    iterations, known = searches["iteration"], searches["optimal_percent"].notna().any()
    seen = card["metrics"]["states_seen"] * iterations / iterations.max() / 1e6
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
