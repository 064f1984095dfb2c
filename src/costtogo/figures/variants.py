"""Trainings that differ in one thing: where they end, how they get there, and what predicts a good search."""

import pandas as pd
from matplotlib.figure import Figure

from costtogo.figures.style import (
    BLACK,
    BLUE,
    GREY,
    ORDERED,
    PALE,
    SIZE,
    legend_above,
    name_panel,
    plain_logarithmic_ticks,
    show_counts,
    styled,
    whole_ticks,
)

PANELS_A_ROW = 3


@styled
def seeds_by_variant(frame: pd.DataFrame, base: str, measures: dict[str, str], logarithmic: tuple[str, ...]) -> Figure:
    """A dot for each seed of each variant and a bar at their median, one panel a measure; base is the first row.

    frame: variant, seed and the measures, one row a training.  measures: the label of each.  logarithmic: the
    measures on a logarithmic axis.
    """
    variants = [base, *sorted(set(frame["variant"]) - {base})]
    figure = Figure(figsize=(SIZE[0], 1.0 + 0.26 * len(variants)))
    panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    for axes, (measure, label) in zip(panels, measures.items(), strict=True):
        for place, variant in enumerate(variants):
            values = frame.loc[frame["variant"] == variant, measure]
            axes.plot(values, [place] * len(values), ls="none", marker="o", color=BLUE, alpha=0.6)
            axes.plot([values.median()], [place], ls="none", marker="|", markersize=13, color=BLACK)
        axes.axvline(frame.loc[frame["variant"] == base, measure].median(), color=GREY, ls=":", lw=1)
        if measure in logarithmic:
            axes.set_xscale("log")
            plain_logarithmic_ticks(axes.xaxis)
        axes.set_xlabel(label)
        axes.grid(axis="y")
    panels[0].set_yticks(range(len(variants)), variants)
    panels[0].invert_yaxis()
    return figure


@styled
def curves_by_variant(frame: pd.DataFrame, base: str, measure: str, label: str, known: dict | None) -> Figure:
    """A measure by iteration, on a logarithmic axis: a panel a variant, a line a seed, base behind in grey.

    frame: variant, seed, iteration and the measure.  known: the label and the value of a line across.
    """
    variants = [base, *sorted(set(frame["variant"]) - {base})]
    rows = -(-len(variants) // PANELS_A_ROW)
    figure = Figure(figsize=(SIZE[0], 0.7 + 1.35 * rows))
    panels = figure.subplots(rows, PANELS_A_ROW, sharex=True, sharey=True, squeeze=False).ravel()
    handles = {}
    for axes, variant in zip(panels, variants, strict=False):
        for shown, look in {
            base: {"color": PALE, "label": base},
            variant: {"color": BLUE, "label": "its seeds"},
        }.items():
            for _, group in frame[frame["variant"] == shown].sort_values("iteration").groupby("seed"):
                (handles[look["label"]],) = axes.plot(group["iteration"], group[measure], lw=1, **look)
        if known is not None:
            handles["known"] = axes.axhline(known["value"], color=BLACK, ls=":", lw=1, label=known["label"])
        name_panel(axes, variant)
        axes.set_yscale("log")
        axes.grid(axis="y")
        show_counts(axes.xaxis)
    plain_logarithmic_ticks(panels[0].yaxis)
    for axes in panels[len(variants) :]:
        axes.set_axis_off()
    figure.supxlabel("iteration", fontsize=9)
    figure.supylabel(label, fontsize=9)
    legend_above(figure, list(handles.values()))
    return figure


@styled
def measures_by_point(frame: pd.DataFrame, shown: str, measures: dict[str, str]) -> Figure:
    """Each measure against the convergence point: a line for each training, those of shown in colour; a panel each."""
    columns = 2
    rows = -(-len(measures) // columns)
    figure = Figure(figsize=(SIZE[0], 1.6 * rows + 0.6))
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    handles = {}
    for axes, (measure, label) in zip(panels, measures.items(), strict=False):
        for (variant, _), group in frame.groupby(["variant", "seed"]):
            own = variant == shown
            look = {"color": BLUE if own else PALE, "zorder": 2 if own else 1, "lw": 1.2 if own else 0.8}
            look["label"] = shown if own else "the others"
            (handles[own],) = axes.plot(group["convergence_point"], group[measure], marker="o", markersize=2, **look)
        name_panel(axes, label)
        whole_ticks(axes.xaxis)
        show_counts(axes.yaxis)
    for axes in panels[len(measures) :]:
        axes.set_axis_off()
    figure.supxlabel("convergence point", fontsize=9)
    legend_above(figure, list(handles.values()))
    return figure


@styled
def scattered(frame: pd.DataFrame, measures: dict[str, str], targets: dict[str, str]) -> Figure:
    """A point for each checkpoint: a measure to the right, what the searches found upwards, coloured by point."""
    figure = Figure(figsize=(SIZE[0], 1.9 * len(targets) + 0.4))
    panels = figure.subplots(len(targets), len(measures), sharex="col", sharey="row", squeeze=False)
    for row, (target, upwards) in zip(panels, targets.items(), strict=True):
        for axes, (measure, label) in zip(row, measures.items(), strict=True):
            dots = axes.scatter(frame[measure], frame[target], c=frame["convergence_point"], s=9, cmap=ORDERED)
            if axes in panels[-1]:
                axes.set_xlabel(label)
        row[0].set_ylabel(upwards)
        if target == "nodes_expanded":
            row[0].set_yscale("log")
            plain_logarithmic_ticks(row[0].yaxis)
    bar = figure.colorbar(dots, ax=panels, label="convergence point")
    whole_ticks(bar.ax.yaxis)
    return figure
