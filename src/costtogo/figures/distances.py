"""The number of states at each distance: of the puzzle, of instance sets, and of the states that samplers draw."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costtogo.figures import style
from costtogo.figures.binning import bin_middle, bin_width, binned_counts

MANY_TIMES = 10_000  # states at the commonest distance over those at the rarest, from where a logarithmic scale helps
ADAPTIVE = "adaptive_k"  # the sampler whose walks grow with the convergence points
DEVIATIONS = 2  # half the height of the band of chance, in standard deviations


@style.kind_of_figure
def distances(table: dict[str, np.ndarray], instances: pd.DataFrame) -> Figure:
    """The number of states at each distance (below), and the share of each instance set there (above).

    table: distance [S].  instances: set, distance, one row an instance.  A set of one state is a vertical line.
    """
    figure, (shares, states) = style.subplots(2, grid=False, sharex=True, height_ratios=(3, 2))
    _draw_sets(shares, table["distance"], instances)
    _draw_states(states, table["distance"])
    return style.with_legend(figure, columns=3)


def _draw_sets(axes: Axes, distance: np.ndarray, instances: pd.DataFrame) -> None:
    largest = int(distance.max())
    middles, total = binned_counts(distance, largest)
    axes.fill_between(middles, 100 * total / total.sum(), color=style.PALE, label="all states", lw=0)
    for look, group in style.lines(instances, "set"):
        look["label"] += f" ({len(group):,})"
        if len(group) == 1:
            axes.axvline(group["distance"].iloc[0], **look | {"marker": None, "ls": "--"})
            continue
        share = 100 * binned_counts(group["distance"], largest)[1] / len(group)
        axes.plot(middles, share, **look if middles.size <= 20 else look | {"marker": None})
    axes.set(ylabel="share of states, %", ylim=(0, None))
    axes.grid(axis="y")


def _draw_states(axes: Axes, distance: np.ndarray) -> None:
    counts, width = np.bincount(distance), bin_width(int(distance.max()))
    middles, total = binned_counts(distance, int(distance.max()))
    bars = axes.bar(middles, total, width=0.8 * width, color=style.GREY)
    if counts.max() > MANY_TIMES * counts.min():
        axes.set_yscale("log")
        axes.set_ylim(0.7, total.max() * 12)
    if middles.size <= 16:
        texts, turned = [f"{value:,}" for value in total], 0 if total.max() < 1000 else 30
        axes.bar_label(bars, texts, rotation=turned, fontsize=6.5, color=style.BLACK, padding=1)
    axes.set_ylabel("states" if width == 1 else f"states per {width} moves")
    style.show_counts(axes.yaxis)
    style.by_distance(axes)


@style.kinds_of_figure(sampler_distances={"symbol": "K"}, effective_k={"symbol": "effective K", "adaptive": True})
def sampled_distances(spread: pd.DataFrame, symbol: str, adaptive: bool = False) -> Figure:
    """Share of states at each distance by walk length: drawn as markers, expected as lines; one panel a sampler.

    spread: sampler, walk_max, distance, states, sampled, expected_percent.  symbol: the literature's name of walk_max.
    adaptive: True for adaptive-K alone, False for the other samplers.  The pale area is the share of all states.
    """
    spread = spread[(spread["sampler"] == ADAPTIVE) == adaptive]
    samplers = list(dict.fromkeys(spread["sampler"]))
    figure, panels = style.subplots(1, len(samplers), sharey=True)
    for axes, sampler in zip(panels, samplers, strict=True):
        _draw_lengths(axes, spread[spread["sampler"] == sampler], symbol)
        style.name_panel(axes, sampler.replace("_", "-"))
        style.by_distance(axes)
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("share of states, %")
    return style.with_legend(figure)


def _draw_lengths(axes: Axes, spread: pd.DataFrame, symbol: str) -> None:
    for look, group in style.lines(spread.sort_values("walk_max", kind="stable"), "walk_max", ordered=True):
        rows, label = _binned(group), f"{symbol} = {look.pop('label')}"
        drawn = 100 * rows["sampled"] / rows["sampled"].sum()
        axes.plot(rows["distance"], rows["expected_percent"], color=look["color"], lw=1)
        axes.plot(rows["distance"], drawn, ls="none", **look)
        axes.plot([], [], lw=1, label=label, **look)
    share = 100 * rows["states"] / rows["states"].sum()
    axes.fill_between(rows["distance"], share, color=style.PALE, label="all states", lw=0)


@style.kind_of_figure
def sampler_difference(spread: pd.DataFrame) -> Figure:
    """States that one sampler draws more than another at each distance, one panel a walk length.

    spread: as in sampled_distances.  Both samplers other than adaptive-K have the same walk lengths and numbers of
    states; the figure shows the second minus the first.  The band is the range that chance alone makes likely.
    """
    spread = spread[spread["sampler"] != ADAPTIVE]
    first, second = dict.fromkeys(spread["sampler"])
    lengths = sorted(spread["walk_max"].unique())
    figure, panels = style.subplots(len(lengths), sharex=True, sharey=True, height=1.2 + 1.1 * len(lengths))
    for axes, length in zip(panels, lengths, strict=True):
        rows = spread[spread["walk_max"] == length]
        one, other = (_binned(rows[rows["sampler"] == name]) for name in (first, second))
        _draw_difference(axes, one, other, f"{second} minus {first}")
        style.name_panel(axes, f"K = {length}, {one['sampled'].sum():,} states of each")
    figure.supylabel(f"states of {second} minus {first}")
    style.by_distance(panels[-1])
    return style.with_legend(figure, handles=style.labelled(figure)[::-1])


def _draw_difference(axes: Axes, one: pd.DataFrame, other: pd.DataFrame, label: str) -> None:
    chance = one["expected_percent"] / 100
    deviation = np.sqrt(2 * one["sampled"].sum() * chance * (1 - chance))
    width = one["distance"].diff().min()
    band = {"height": 2 * DEVIATIONS * deviation, "bottom": -DEVIATIONS * deviation, "width": 0.9 * width}
    chances = f"±{DEVIATIONS} standard deviations of independent states"
    axes.bar(one["distance"], **band, color=style.PALE, label=chances)
    more = other["sampled"] - one["sampled"]
    axes.bar(one["distance"], more, width=0.5 * width, color=style.GREY, label=label)
    axes.axhline(0, color=style.BLACK, lw=0.8)


def _binned(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of one sampler and walk length, summed over bins of distance."""
    sums = rows[["distance", "states", "sampled", "expected_percent"]]
    width = bin_width(int(rows["distance"].max()))
    return sums.assign(distance=bin_middle(rows["distance"], width)).groupby("distance", as_index=False).sum()
