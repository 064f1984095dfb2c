"""How training went: loss, convergence points, how far the states drawn reach, and what it cost."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costtogo.analysis.literature import COLUMNS, trainings
from costtogo.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LINE_POINTS,
    ORANGE,
    SIZE,
    kind_of_figure,
    legend_above,
    name_panel,
    plain_logarithmic_ticks,
    show_counts,
    whole_ticks,
)

LOSS = "mean squared error, moves²"
WALKED, MOVED = "walk length\n(effective K)", "disks\nthat move"  # what effective_k counts
PANELS_A_ROW = 2
SHORTEST_ZOOM = 50  # iterations
FEW_POINTS = 40  # up to so many convergence points have room for a large circle each


@kind_of_figure
def training(curve: pd.DataFrame, epsilon: float, sampler: str) -> Figure:
    """Loss and validation loss by iteration, and below them how far the states drawn reach.

    curve: iteration, loss, validation_loss (NaN where not computed), effective_k, updated.
    A circle marks each convergence point; the dotted line is epsilon, the loss that calls for one.
    """
    return _training_curve(curve, epsilon, MOVED if sampler == "growing_tower" else WALKED)


@kind_of_figure
def kept_training(curve: pd.DataFrame, epsilon: float) -> Figure:
    """The same of a training that another study kept."""
    return _training_curve(curve, epsilon, WALKED)


def _training_curve(curve: pd.DataFrame, epsilon: float, reach: str) -> Figure:
    figure = Figure()
    losses, walks = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    handles = _draw_losses(losses, curve, epsilon)
    handles[-2].set_label(f"convergence point ({curve['updated'].sum():,})")
    handles[-1].set_label(f"ε = {epsilon:g}")
    losses.set_ylabel(LOSS)
    walks.step(curve["iteration"], curve["effective_k"], where="post", color=GREY)
    walks.set_ylim(bottom=0)
    walks.set_ylabel(reach)
    walks.set_xlabel("iteration")
    whole_ticks(walks.yaxis, 3)
    show_counts(walks.xaxis)
    figure.align_ylabels()
    legend_above(figure, handles)
    return figure


def _draw_losses(axes: Axes, curve: pd.DataFrame, epsilon: float) -> list:
    validation = curve.dropna(subset="validation_loss")
    pixels = len(curve) > LINE_POINTS
    handles = axes.plot(
        curve["iteration"], curve["loss"], color=BLUE, lw=0.7, alpha=0.8, label="loss", rasterized=pixels
    )
    handles += axes.plot(
        validation["iteration"],
        validation["validation_loss"],
        color=ORANGE,
        lw=1,
        zorder=1.9,  # below the loss, which strays less
        label="validation loss",
        rasterized=pixels,
    )
    updates = curve[curve["updated"]]
    many = len(updates) > FEW_POINTS
    handles += axes.plot(
        updates["iteration"],
        updates["validation_loss"].fillna(updates["loss"]),
        ls="none",
        marker="o",
        markersize=2 if many else 5,
        markerfacecolor=BLACK if many else "white",
        markeredgecolor=BLACK,
        markeredgewidth=0 if many else 1,
        label="convergence point",
    )
    handles.append(axes.axhline(epsilon, color=BLACK, ls=":", lw=1, label="ε"))
    axes.set_yscale("log")
    plain_logarithmic_ticks(axes.yaxis)
    axes.grid(axis="y")
    return handles


@kind_of_figure
def last_points(curves: dict[str, pd.DataFrame], epsilons: dict[str, float]) -> Figure:
    """Losses around the last two convergence points of each model, one panel a model.

    curves: by model, as in training.
    """
    rows = -(-len(curves) // PANELS_A_ROW)
    figure = Figure(figsize=(SIZE[0], 1.2 + 1.5 * rows))
    panels = figure.subplots(rows, PANELS_A_ROW, squeeze=False).ravel()
    for axes in panels[len(curves) :]:
        axes.set_axis_off()
    for axes, (model, curve) in zip(panels, curves.items(), strict=False):
        handles = _draw_losses(axes, around_last_points(curve), epsilons[model])
        name_panel(axes, f"{model}, ε = {epsilons[model]:g}")
        whole_ticks(axes.xaxis, 5)
        show_counts(axes.xaxis)
    figure.supylabel(LOSS, fontsize=9)
    figure.supxlabel("iteration", fontsize=9)
    legend_above(figure, handles)
    return figure


def around_last_points(curve: pd.DataFrame) -> pd.DataFrame:
    """The curve from just before the last convergence point but one to as long after the last as lies between them.

    At least SHORTEST_ZOOM iterations count as between them; a curve without a convergence point stays whole.
    """
    points = curve.loc[curve["updated"], "iteration"]
    if points.empty:
        return curve
    before, last = points.iloc[-2:].min(), points.iloc[-1]
    gap = max(last - before, SHORTEST_ZOOM)
    return curve[curve["iteration"].between(before - gap // 5, last + gap)]


@kind_of_figure
def loss_curve(curve: pd.DataFrame, card: dict) -> Figure:
    """Loss and validation loss by iteration, both axes logarithmic.

    curve: iteration, loss, validation_loss (NaN where not computed).  card: of the training.
    """
    pressed = card["parameters"]["training"].get("trainer") == "presses"
    figure = Figure()
    axes = figure.subplots()
    validation = curve.dropna(subset="validation_loss")
    pixels = len(curve) > LINE_POINTS
    handles = axes.plot(curve["iteration"], curve["loss"], color=BLUE, lw=0.6, label="loss", rasterized=pixels)
    look = {"color": ORANGE, "marker": "o", "mec": BLACK, "mew": 0.6}
    handles += axes.plot(validation["iteration"], validation["validation_loss"], label="validation loss", **look)
    axes.set(xscale="log", yscale="log", xlabel="iteration", ylabel="cross-entropy, nats a press" if pressed else LOSS)
    for axis in (axes.xaxis, axes.yaxis):
        plain_logarithmic_ticks(axis)
    axes.grid(axis="y")
    legend_above(figure, handles)
    return figure


@kind_of_figure
def training_costs(
    cards: dict[str, dict], clocks: dict[str, dict], literature: dict[str, pd.DataFrame], puzzle: str, name: str
) -> Figure:
    """Hours and states of a training, with those that it starts from, above the literature's, on logarithmic scales.

    cards, clocks: the cards and the wall-clock times of these trainings.  literature: files of data/reported.
    name: of ours.
    """
    states = sum(card["metrics"]["states_seen"] for card in cards.values())
    seconds = sum(clock["seconds"] + clock.get("earlier_seconds", 0.0) for clock in clocks.values())
    reported = pd.concat(literature.values()) if literature else pd.DataFrame(columns=COLUMNS)
    return cost_bars(trainings(reported[reported["puzzle"] == puzzle].astype({"value": float}), name, seconds, states))


def cost_bars(trainings: pd.DataFrame) -> Figure:
    """label, hours, states and own (bool) of each training; NaN where the literature does not say."""
    figure = Figure(figsize=(SIZE[0], 0.9 + 0.36 * len(trainings)))
    panels = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(trainings))[::-1]
    colors = [GREEN if own else GREY for own in trainings["own"]]
    titles = {"hours": ("hours of training", _hours), "states": ("states seen in training", _billions)}
    for axes, (column, (title, text)) in zip(panels, titles.items(), strict=True):
        values = trainings[column]
        least = values.min() / 4
        axes.barh(places, values - least, left=least, color=colors, height=0.62)
        for place, value in zip(places, values, strict=True):
            if np.isfinite(value):
                axes.annotate(text(value), (value, place), xytext=(4, 0), textcoords="offset points", va="center")
        axes.set(xscale="log", xlabel=title, xlim=(least, values.max() * 12))
        axes.minorticks_off()
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.set_yticks(places, trainings["label"])
        axes.tick_params(axis="y", length=0)
    return figure


def _hours(value: float) -> str:
    """Hours, and less than one as minutes.  0.284 -> "17 minutes", 36 -> "36"."""
    return f"{value:.3g}" if value >= 1 else f"{60 * value:.2g} minutes"


def _billions(value: float) -> str:
    """States in few characters.  93600000 -> "94 million", 1e10 -> "10 billion"."""
    return f"{value / 1e9:.3g} billion" if value >= 1e9 else f"{value / 1e6:.3g} million"
