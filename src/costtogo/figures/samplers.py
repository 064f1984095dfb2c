"""How the states of the samplers spread over the distances, by the longest walk they are drawn from."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costtogo.figures.binning import bin_middle, bin_width
from costtogo.figures.style import (
    BLACK,
    GREY,
    MARKERS,
    PALE,
    SIZE,
    kind_of_figure,
    legend_above,
    name_panel,
    shades,
    whole_ticks,
)

ADAPTIVE = "adaptive_k"  # the sampler whose walks grow with the convergence points
DEVIATIONS = 2  # half the height of the band of chance, in standard deviations


@kind_of_figure
def sampler_distances(spread: pd.DataFrame) -> Figure:
    """Distances of the states that deepcube and deepcubea draw, for several K; spread: as in sampled_distances."""
    return sampled_distances(spread[spread["sampler"] != ADAPTIVE], "K")


@kind_of_figure
def effective_k(spread: pd.DataFrame) -> Figure:
    """Distances of the states that adaptive-K draws, for several effective K; spread: as in sampled_distances."""
    return sampled_distances(spread[spread["sampler"] == ADAPTIVE], "effective K")


def sampled_distances(spread: pd.DataFrame, symbol: str) -> Figure:
    """Share of states at each distance by walk length: drawn as markers, expected as lines; one panel a sampler.

    spread: sampler, walk_max, distance, states, sampled, expected_percent.  symbol is the literature's name
    of walk_max.  The pale area is the share of all states.
    """
    figure = Figure()
    samplers = list(dict.fromkeys(spread["sampler"]))
    panels = figure.subplots(1, len(samplers), sharey=True, squeeze=False)[0]
    for axes, sampler in zip(panels, samplers, strict=True):
        handles = _draw_shares(axes, spread[spread["sampler"] == sampler], symbol)
        name_panel(axes, sampler.replace("_", "-"))
        axes.set_xlabel("distance from the goal, moves")
        whole_ticks(axes.xaxis, 15)
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
    panels[0].set_ylabel("share of states, %")
    legend_above(figure, handles)
    return figure


def _draw_shares(axes: Axes, spread: pd.DataFrame, symbol: str) -> list:
    lengths = sorted(spread["walk_max"].unique())
    handles = []
    for number, (length, color) in enumerate(zip(lengths, shades(len(lengths)), strict=True)):
        rows = _binned(spread[spread["walk_max"] == length])
        drawn = 100 * rows["sampled"] / rows["sampled"].sum()
        axes.plot(rows["distance"], rows["expected_percent"], color=color, lw=1)
        look = {"color": color, "marker": MARKERS[number % len(MARKERS)]}
        axes.plot(rows["distance"], drawn, ls="none", **look)
        handles += axes.plot([], [], lw=1, label=f"{symbol} = {length}", **look)
    share = 100 * rows["states"] / rows["states"].sum()
    return [*handles, axes.fill_between(rows["distance"], share, color=PALE, label="all states", lw=0)]


@kind_of_figure
def sampler_difference(spread: pd.DataFrame) -> Figure:
    """States that one sampler draws more than another at each distance, one panel a walk length.

    spread: as in sampled_distances; of the two samplers besides adaptive-K, which have the same walk lengths and
    numbers of states, the first is taken from the second.  The band is what chance alone makes likely.
    """
    spread = spread[spread["sampler"] != ADAPTIVE]
    first, second = dict.fromkeys(spread["sampler"])
    lengths = sorted(spread["walk_max"].unique())
    figure = Figure(figsize=(SIZE[0], 1.2 + 1.1 * len(lengths)))
    panels = figure.subplots(len(lengths), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, length in zip(panels, lengths, strict=True):
        rows = spread[spread["walk_max"] == length]
        one, other = (_binned(rows[rows["sampler"] == name]) for name in (first, second))
        handles = _draw_difference(axes, one, other, f"{second} minus {first}")
        name_panel(axes, f"K = {length}, {one['sampled'].sum():,} states of each")
    figure.supylabel("difference, states", fontsize=9)
    panels[-1].set_xlabel("distance from the goal, moves")
    whole_ticks(panels[-1].xaxis, 15)
    legend_above(figure, handles)
    return figure


def _draw_difference(axes: Axes, one: pd.DataFrame, other: pd.DataFrame, label: str) -> list:
    chance = one["expected_percent"] / 100
    deviation = np.sqrt(2 * one["sampled"].sum() * chance * (1 - chance))
    width = one["distance"].diff().min()
    band = axes.bar(
        one["distance"],
        2 * DEVIATIONS * deviation,
        bottom=-DEVIATIONS * deviation,
        width=0.9 * width,
        color=PALE,
        label=f"±{DEVIATIONS} standard deviations of independent states",
    )
    bars = axes.bar(one["distance"], other["sampled"] - one["sampled"], width=0.5 * width, color=GREY, label=label)
    axes.axhline(0, color=BLACK, lw=0.8)
    axes.grid(axis="y")
    return [bars, band]


def _binned(rows: pd.DataFrame) -> pd.DataFrame:
    """One sampler's rows of one walk length with distances gathered into bins."""
    sums = rows[["distance", "states", "sampled", "expected_percent"]]
    width = bin_width(int(rows["distance"].max()))
    return sums.assign(distance=bin_middle(rows["distance"], width)).groupby("distance", as_index=False).sum()
