"""What states of training and work of search buy, as tables.budgets has it."""

from itertools import cycle

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from costtogo.figures import style
from costtogo.tables.budgets import ENOUGH, rows_of

FEW_TICKS = 3  # greatest length over least; below it, powers of ten leave an axis one or two ticks
OTHERS = [{"color": style.BLACK, "ls": "none", "marker": marker, "mfc": "white", "ms": 6} for marker in "*DXP"]


@style.kind_of_figure
def budget_lengths(
    cards: dict[str, dict],
    beams: dict[str, pd.DataFrame],
    anytime: dict[str, pd.DataFrame],
    chosen: str,
    puzzle: str,
    reported: pd.DataFrame,
) -> Figure:
    """Mean length by the states that a network was trained on, and by the nodes of a beam.

    Only of searches that solve ENOUGH; a third panel shows by the states how much was solved, unless all was.

    cards: of trainings.  beams, anytime: their grids of searches by width and by seconds.  chosen: the set.
    reported: of other programs on any puzzle: puzzle, program, states_seen (NaN if not said), nodes, length.
    """
    by_width, by_seconds = (
        rows_of(cards, grids, group, chosen) for group, grids in (("beams", beams), ("anytime", anytime))
    )
    some_left = any((rows["solved_percent"] < 100).any() for rows in (by_width, by_seconds))
    figure, (training, search, *solved) = style.subplots(1, 3 if some_left else 2, height=3.8)
    search.sharey(training)
    search.tick_params(labelleft=False)
    for rows, dashes in ((by_width, "-"), (by_seconds, ":")):
        for look, group in style.lines(rows.sort_values("states", kind="stable"), "searches", ordered=True, mfc="none"):
            enough = group[group["solved_percent"] >= ENOUGH]
            training.plot(enough["states"], enough["length"], **look | {"ls": "none", "label": None})
            line, means = look | {"marker": None, "ls": dashes}, enough.groupby("states")["length"].mean()
            training.plot(means.index, means, **line)
            shares = group.groupby("states")["solved_percent"].mean()
            for axes in solved:
                axes.plot(shares.index, shares, **line | {"label": None})
    enough = by_width[by_width["solved_percent"] >= ENOUGH]
    means = enough.groupby(["states", "searches"])[["nodes_generated", "length"]].mean().reset_index()
    for number, (look, group) in enumerate(
        style.lines(means.sort_values(["states", "nodes_generated"]), "states", ordered=True)
    ):
        search.plot(group["nodes_generated"], group["length"], **look | {"label": None})
        side = {"xytext": (-4, 3), "ha": "right"} if number % 2 else {"xytext": (4, 3)}  # where neighbours have room
        note = side | {"textcoords": "offset points", "fontsize": 7}
        search.annotate(style.count_text(look["label"]), group[["nodes_generated", "length"]].iloc[0], **note)
    others = reported[reported["puzzle"] == puzzle]
    for look, (name, own) in zip(cycle(OTHERS), others.groupby("program", sort=False), strict=False):
        training.plot(own["states_seen"], own["length"], label=name, **look)
        search.plot(own["nodes"], own["length"], **look)
    training.set(xlabel="states seen in training", ylabel="mean length, moves")
    search.set(xlabel="nodes of a search")
    for axes in solved:
        axes.set(xlabel="states seen in training", ylabel="solved, %")
    for axes in (training, search, *solved):
        style.logarithmic(axes.xaxis)
        axes.xaxis.set_major_locator(LogLocator())
    style.logarithmic(training.yaxis)  # of both, which share it
    low, high = training.get_ylim()
    if high < FEW_TICKS * low:
        training.yaxis.set_major_locator(MaxNLocator(8))
    return style.with_legend(figure)
