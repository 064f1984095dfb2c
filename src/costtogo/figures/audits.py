"""What a network says of states whose distance is known, and of those whose distance is not."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from costtogo.figures.binning import bin_width, binned_means
from costtogo.figures.chosen import network_error, selected_iteration
from costtogo.figures.style import (
    BLACK,
    BLUE,
    GREY,
    SIZE,
    SKY,
    VERMILION,
    kind_of_figure,
    legend_above,
    look_of,
    name_panel,
    show_counts,
    whole_ticks,
)
from costtogo.learning.distributions import walk_spread
from costtogo.puzzles import make

SHARES = {"admissible_percent": "admissible states", "consistent_percent": "consistent states"}
DISTANCE = "distance from the goal, moves"


@kind_of_figure
def audit(measures: dict[str, pd.DataFrame], selections: dict[str, pd.DataFrame]) -> Figure:
    """Shares of admissible and of consistent states of each audited checkpoint.

    measures: of each model iteration, scope, admissible_percent, consistent_percent.
    selections: iteration and selected (bool) of each model's checkpoints.
    Filled dots are over all states, hollow ones over the literature's sample; a ring marks the checkpoint of the
    searches.
    """
    figure = Figure()
    panels = figure.subplots(1, 2, sharey=True)
    handles = []
    for number, (model, rows) in enumerate(measures.items()):
        for axes, measure in zip(panels, SHARES, strict=True):
            handles += _draw_shares(axes, rows, measure, look_of(number), model)
            chosen = rows[(rows["iteration"] == selected_iteration(selections[model])) & (rows["scope"] == "all")]
            ring = {"ls": "none", "marker": "o", "markersize": 11, "mfc": "none", "mew": 1.2}
            axes.plot(chosen["iteration"], chosen[measure], mec=look_of(number)["color"], **ring)
    for axes, text in zip(panels, SHARES.values(), strict=True):
        name_panel(axes, text)
        axes.set_xlabel("iteration")
        axes.grid(axis="y")
        axes.margins(x=0.08)
        whole_ticks(axes.xaxis, 5)
        show_counts(axes.xaxis)
    panels[0].set_ylabel("share of states, %")
    legend_above(figure, [*handles[:: len(panels)], *_scope_handles()], columns=3)
    return figure


def _draw_shares(axes: Axes, rows: pd.DataFrame, measure: str, look: dict, model: str) -> list:
    lines = []
    for scope, fill, line in (("all", look["color"], "-"), ("sample", "white", "none")):
        dots = rows[rows["scope"] == scope].sort_values("iteration")
        if len(dots):
            look |= {"markersize": 5, "markerfacecolor": fill, "ls": line, "lw": 0.6, "label": model}
            lines += axes.plot(dots["iteration"], dots[measure], **look)
    return lines[:1]


def _scope_handles() -> list[Line2D]:
    """What filled, hollow and ringed markers mean."""
    looks = {
        "all states": {"color": GREY, "marker": "o", "markersize": 5},
        "sample": {"color": GREY, "marker": "o", "markersize": 5, "mfc": "white", "ls": "none"},
        "checkpoint of the searches": {"ls": "none", "marker": "o", "markersize": 11, "mfc": "none", "mec": GREY},
    }
    return [Line2D([], [], label=label, lw=0.6, **look) for label, look in looks.items()]


@kind_of_figure
def nearby_audit(nearby: pd.DataFrame) -> Figure:
    """Mean cost-to-go, and share of admissible states, at each distance of the exact table.

    nearby: distance, mean_cost_to_go, admissible_percent.
    """
    return _costs_and_shares(nearby)


@kind_of_figure
def known_audit(known: pd.DataFrame) -> Figure:
    """Mean cost-to-go, and share of admissible states, of instances whose distance is known, by distance.

    known: distance, states, mean_cost_to_go, admissible_percent; a row for each set and distance.
    """
    farthest = int(known["distance"].max()) if len(known) else 0
    width = max(2, bin_width(farthest))  # a walk of even length ends at an even distance
    means = [binned_means(known, column, "states", width) for column in ("mean_cost_to_go", "admissible_percent")]
    return _costs_and_shares(means[0].merge(means[1].drop(columns="states"), on="distance"))


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


@kind_of_figure
def scrambled_costs(costs: pd.DataFrame) -> Figure:
    """Cost-to-go by the number of moves of the scramble: its mean, and where nine tenths of the states lie.

    costs: depth, mean_cost_to_go, low, high.
    """
    return _costs_by_depth(costs)


@kind_of_figure
def walk_costs(table, values, selection: pd.DataFrame, puzzle: str, walk_max: int) -> Figure:
    """Cost-to-go after up to walk_max random moves from the goal, by the exact chance of every state.

    table: distance [S].  values: iteration [C] and value [C, S] of each audited checkpoint.
    """
    distance = table["distance"]
    cost_to_go = network_error(values, selection, distance) + distance
    return _costs_by_depth(pd.DataFrame(walk_spread(make(puzzle), walk_max, cost_to_go, distance)))


def _costs_by_depth(costs: pd.DataFrame) -> Figure:
    """Cost-to-go by depth, with mean_distance where costs has it; the diagonal is the most a scramble can be away."""
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
