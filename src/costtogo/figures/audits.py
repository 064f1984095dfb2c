"""How often a network keeps a heuristic's promises: never too high, never falling by more than a move."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from costtogo.figures.style import (
    GREY,
    MARKERS,
    SERIES,
    legend_above,
    name_panel,
    show_counts,
    styled,
    whole_ticks,
)

SHARES = {"admissible_percent": "admissible states", "consistent_percent": "consistent states"}


@styled
def audit_shares(measures: pd.DataFrame) -> Figure:
    """Shares of admissible and of consistent states of each audited checkpoint.

    measures: model, iteration, scope, admissible_percent, consistent_percent, selected (bool).
    Filled dots are over all states, hollow ones over the literature's sample; a ring marks the selected
    checkpoint.
    """
    figure = Figure()
    panels = figure.subplots(1, 2, sharey=True)
    handles = []
    for number, (model, group) in enumerate(measures.groupby("model", sort=False)):
        for axes, measure in zip(panels, SHARES, strict=True):
            handles += _draw_shares(axes, group, measure, model, number)
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


def _draw_shares(axes: Axes, group: pd.DataFrame, measure: str, model: str, number: int) -> list:
    color, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
    lines = []
    for scope, fill, line in (("all", color, "-"), ("sample", "white", "none")):
        dots = group[group["scope"] == scope].sort_values("iteration")
        if dots.empty:
            continue
        lines += axes.plot(
            dots["iteration"],
            dots[measure],
            color=color,
            marker=marker,
            markersize=5,
            markerfacecolor=fill,
            ls=line,
            lw=0.6,
            label=model,
        )
    chosen = group[group["selected"] & (group["scope"] == "all")]
    axes.plot(
        chosen["iteration"],
        chosen[measure],
        ls="none",
        marker="o",
        markersize=11,
        mfc="none",
        mec=color,
        mew=1.2,
    )
    return lines[:1]


def _scope_handles() -> list[Line2D]:
    """What filled, hollow and ringed markers mean."""
    looks = {
        "all states": {"color": GREY, "marker": "o", "markersize": 5},
        "sample": {"color": GREY, "marker": "o", "markersize": 5, "mfc": "white", "ls": "none"},
        "checkpoint of the searches": {"ls": "none", "marker": "o", "markersize": 11, "mfc": "none", "mec": GREY},
    }
    return [Line2D([], [], label=label, lw=0.6, **look) for label, look in looks.items()]
