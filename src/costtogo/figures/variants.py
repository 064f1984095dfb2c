"""Trainings that differ in one thing: where they end, how they get there, and what predicts a good search."""

import pandas as pd
from matplotlib.figure import Figure

from costtogo.analysis.several_seeds import BASE, in_order, last_checkpoints, longest
from costtogo.figures import style
from costtogo.figures.chosen import in_cell, weight_text
from costtogo.puzzles import family

PANELS_A_ROW = 3
LEAST_ERROR = 1e-3  # moves; smaller errors of a tower are shown as this
ERROR, OPTIMAL, NODES = "mean absolute error, moves", "optimal, %", "nodes expanded"
QUALITY = {"admissible_percent": "admissible, %", "consistent_percent": "consistent, %"}


@style.kind_of_figure
def variants(frame: pd.DataFrame, puzzle: str) -> Figure:
    """Where the trainings on a puzzle that a study repeated with several seeds ended.

    frame: puzzle, variant, seed, iteration, mean_absolute_error, set, path_weight, batch_size, optimal_percent,
    nodes_expanded; a row a checkpoint and cell of the searches.
    """
    last = last_checkpoints(frame[frame["puzzle"] == puzzle])
    if family(puzzle) != "hanoi":
        measures = {"mean_absolute_error": ERROR, "optimal_percent": OPTIMAL, "nodes_expanded": NODES}
        return seeds_by_variant(last, BASE + puzzle, measures)
    first = last.iloc[0]
    measures = {"mean_absolute_error": ERROR, "nodes_expanded": f"{NODES}, {weight_text(first)}"}
    last = last[in_cell(last, first)].assign(mean_absolute_error=last["mean_absolute_error"].clip(lower=LEAST_ERROR))
    return seeds_by_variant(last, BASE + puzzle, measures, by_powers=True)


@style.kind_of_figure
def variant_errors(frame: pd.DataFrame, puzzle: str, mean_distance: float) -> Figure:
    """The error over all states as these trainings went on; frame: as in variants."""
    known = {"error of the zero heuristic": mean_distance}
    return curves_by_variant(frame, puzzle, "mean_absolute_error", ERROR, known)


@style.kind_of_figure
def variant_losses(frame: pd.DataFrame, puzzle: str) -> Figure:
    """The validation loss as these trainings went on; frame: as in variants, with validation_loss."""
    return curves_by_variant(frame, puzzle, "validation_loss", "validation loss, moves²", {})


@style.kind_of_figure
def variant_costs(frame: pd.DataFrame, puzzle: str, mean_distance: float) -> Figure:
    """The mean cost-to-go over all states as these trainings went on; frame: as in variants, with bias."""
    frame = frame.assign(cost_to_go=(frame["bias"] + mean_distance).clip(lower=0.1))
    return curves_by_variant(frame, puzzle, "cost_to_go", "mean cost-to-go, moves", {"mean distance": mean_distance})


def seeds_by_variant(frame: pd.DataFrame, base: str, measures: dict[str, str], by_powers: bool = False) -> Figure:
    """A dot for each seed of each variant and a bar at their median, one panel a measure; base is the first row.

    frame: variant, seed and the measures, one row a training.  measures: the label of each.  by_powers: whether
    their axes are logarithmic; others are where the values need it.
    """
    variants = in_order(frame["variant"], base)
    figure, panels = style.subplots(1, len(measures), sharey=True, height=1.0 + 0.26 * len(variants))
    for axes, (measure, label) in zip(panels, measures.items(), strict=True):
        for place, variant in enumerate(variants):
            values = frame.loc[frame["variant"] == variant, measure]
            axes.plot(values, [place] * len(values), ls="none", marker="o", color=style.BLUE, alpha=0.6)
            axes.plot([values.median()], [place], ls="none", marker="|", markersize=13, color=style.BLACK)
        axes.axvline(frame.loc[frame["variant"] == base, measure].median(), color=style.GREY, ls=":", lw=1)
        if by_powers or 0 < frame[measure].min() * style.WIDE_RANGE < frame[measure].max():
            style.logarithmic(axes.xaxis)
        axes.set_xlabel(label)
    panels[0].set_yticks(range(len(variants)), variants)
    panels[0].invert_yaxis()
    return figure


def curves_by_variant(frame: pd.DataFrame, puzzle: str, measure: str, label: str, known: dict[str, float]) -> Figure:
    """A measure by iteration, on a logarithmic axis: a panel a variant, a line a seed, base behind in grey.

    frame: puzzle, variant, seed, iteration and the measure.  known: the values of lines across by their labels.
    """
    frame, base = frame[frame["puzzle"] == puzzle], BASE + puzzle
    variants = in_order(frame["variant"], base)
    rows = -(-len(variants) // PANELS_A_ROW)
    shared = {"sharex": True, "sharey": True, "height": 0.7 + 1.35 * rows}
    figure, panels = style.subplots(rows, PANELS_A_ROW, shown=len(variants), **shared)
    for axes, variant in zip(panels, variants, strict=True):
        looks = {base: (style.PALE, base), variant: (style.BLUE, "its seeds")}  # one where the base is shown itself
        for shown, (color, name) in looks.items():
            for _, group in frame[frame["variant"] == shown].sort_values("iteration").groupby("seed"):
                axes.plot(group["iteration"], group[measure], lw=1, color=color, label=name)
        for name, value in known.items():
            axes.axhline(value, label=name, **style.REFERENCE)
        style.name_panel(axes, variant)
        axes.set_yscale("log")
        style.show_counts(axes.xaxis)
    style.plain_logarithmic_ticks(panels[0].yaxis)
    figure.supxlabel("iteration")
    figure.supylabel(label)
    return style.with_legend(figure)


@style.kind_of_figure
def measures_by_point(frame: pd.DataFrame, puzzle: str) -> Figure:
    """Each measure against the convergence point: a line for each training, the longest variant in colour.

    frame: as in variants, with kind, convergence_point, rank_correlation, admissible_percent, consistent_percent.
    """
    frame = _searched(frame, puzzle)
    frame = frame[frame["kind"] == "convergence_point"]
    measures = {"mean_absolute_error": ERROR, "rank_correlation": "rank correlation", **QUALITY}
    measures |= {"optimal_percent": OPTIMAL, "nodes_expanded": NODES}
    shown = longest(frame)
    rows = len(measures) // 2
    figure, panels = style.subplots(rows, 2, grid=False, sharex=True, height=1.6 * rows + 0.6)
    for axes, (measure, label) in zip(panels, measures.items(), strict=True):
        for (variant, _), group in frame.groupby(["variant", "seed"]):
            own = variant == shown
            look = {"color": style.BLUE if own else style.PALE, "zorder": 2 if own else 1, "lw": 1.2 if own else 0.8}
            look["label"] = shown if own else "the others"
            axes.plot(group["convergence_point"], group[measure], marker="o", markersize=2, **look)
        style.name_panel(axes, label)
        style.whole_ticks(axes.xaxis)
        style.show_counts(axes.yaxis)
    figure.supxlabel("convergence point")
    return style.with_legend(figure)


@style.kind_of_figure
def predictors(frame: pd.DataFrame, puzzle: str) -> Figure:
    """A point for each checkpoint: a measure to the right, what the searches found upwards, coloured by point.

    frame: as in measures_by_point.
    """
    frame, targets = _searched(frame, puzzle), {"nodes_expanded": NODES, "optimal_percent": OPTIMAL}
    measures = {
        "mean_absolute_error": "mean absolute\nerror, moves",
        "rank_correlation": "rank\ncorrelation",
        **QUALITY,
    }
    height = 1.9 * len(targets) + 0.4
    figure, panels = style.subplots(len(targets), len(measures), grid=False, sharex="col", sharey="row", height=height)
    rows = panels.reshape(len(targets), -1)
    for axes, label in zip(rows[-1], measures.values(), strict=True):
        axes.set_xlabel(label)
    for row, (target, upwards) in zip(rows, targets.items(), strict=True):
        for axes, measure in zip(row, measures, strict=True):
            dots = axes.scatter(frame[measure], frame[target], c=frame["convergence_point"], s=9, cmap=style.ORDERED)
        row[0].set_ylabel(upwards)
        if target == "nodes_expanded":
            style.logarithmic(row[0].yaxis)
    bar = figure.colorbar(dots, ax=panels, label="convergence point")
    style.whole_ticks(bar.ax.yaxis)
    return figure


def _searched(frame: pd.DataFrame, puzzle: str) -> pd.DataFrame:
    """The rows of the trainings on a puzzle that were not only audited."""
    return frame[frame["puzzle"] == puzzle].dropna(subset=["nodes_expanded"])
