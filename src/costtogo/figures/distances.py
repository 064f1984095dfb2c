"""How many states lie at each distance, and which of them the instance sets hold."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costtogo.figures.binning import bin_width, binned_counts
from costtogo.figures.style import (
    BLACK,
    GREY,
    MARKERS,
    PALE,
    SERIES,
    kind_of_figure,
    legend_above,
    show_counts,
    whole_ticks,
)

MANY_TIMES = 10_000  # states at the commonest distance over those at the rarest, from where a logarithmic scale helps


@kind_of_figure
def distances(table: dict[str, np.ndarray], instances: pd.DataFrame) -> Figure:
    """States of a puzzle at each distance below, the share of each instance set above.

    table: distance [S].  instances: set, distance, one row an instance.  A set of one state is a vertical line at its
    distance.
    """
    figure = Figure()
    shares, states = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    counts = np.bincount(table["distance"])
    handles = _draw_shares(shares, table["distance"], instances)
    _draw_states(states, table["distance"], logarithmic=counts.max() > MANY_TIMES * counts.min())
    figure.align_ylabels()
    legend_above(figure, handles, columns=3)
    return figure


def _draw_shares(axes: Axes, distance: np.ndarray, instances: pd.DataFrame) -> list:
    largest = int(distance.max())
    middles, total = binned_counts(distance, largest)
    handles = [axes.fill_between(middles, 100 * total / total.sum(), color=PALE, label="all states", lw=0)]
    for number, (name, group) in enumerate(instances.groupby("set", sort=False)):
        label = f"{name} ({len(group):,})"
        color = SERIES[number % len(SERIES)]
        if len(group) == 1:
            handles.append(axes.axvline(group["distance"].iloc[0], color=color, ls="--", label=label))
            continue
        share = 100 * binned_counts(group["distance"], largest)[1] / len(group)
        marker = MARKERS[number % len(MARKERS)] if middles.size <= 20 else None
        handles += axes.plot(middles, share, color=color, marker=marker, label=label)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share of states, %")
    axes.grid(axis="y")
    return handles


def _draw_states(axes: Axes, distance: np.ndarray, logarithmic: bool) -> None:
    width = bin_width(int(distance.max()))
    middles, total = binned_counts(distance, int(distance.max()))
    bars = axes.bar(middles, total, width=0.8 * width, color=GREY)
    if logarithmic:
        axes.set_yscale("log")
        axes.set_ylim(0.7, total.max() * 12)
    if middles.size <= 16:
        texts = [f"{value:,}" for value in total]
        axes.bar_label(bars, texts, rotation=0 if total.max() < 1000 else 30, fontsize=6.5, color=BLACK, padding=1)
    axes.set_ylabel("states" if width == 1 else f"states per {width} moves")
    axes.set_xlabel("distance from the goal, moves")
    show_counts(axes.yaxis)
    whole_ticks(axes.xaxis, 15)
