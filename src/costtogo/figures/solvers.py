"""Solvers compared over one network: solutions against the states that the network evaluated."""

import pandas as pd
from matplotlib.figure import Figure

from costtogo.figures import style


@style.kind_of_figure
def solver_work(
    trees: pd.DataFrame, policy_beams: pd.DataFrame, beams: pd.DataFrame, grid: pd.DataFrame, sets: list[str]
) -> Figure:
    """Solved share and mean length against states evaluated, a column for each set, a colour for each solver.

    trees, policy_beams: set, solved_percent, length, nodes_expanded; trees also prior, values, untried and shortening.
    beams, grid: the same with nodes_generated, which their network evaluates.
    """
    whole = trees[
        (trees["values"] == "network") & (trees["untried"] == "parent") & (trees["shortening"] == "shortcuts")
    ]
    found = {
        "trees": (whole[whole["prior"] == "policy"], "nodes_expanded"),
        "trees, uniform prior": (whole[whole["prior"] == "uniform"], "nodes_expanded"),
        "beams by the policy": (policy_beams, "nodes_expanded"),
        "beams by the values": (beams, "nodes_generated"),
        "BWAS": (grid, "nodes_generated"),
    }
    figure, panels = style.subplots(2, len(sets), height=4.6, sharex="col")
    shares, lengths = panels[: len(sets)], panels[len(sets) :]
    for number, (name, (rows, counted)) in enumerate(found.items()):
        look = style.look_of(number, label=name, ls="")
        for share, length, chosen in zip(shares, lengths, sets, strict=True):
            own = rows[rows["set"] == chosen].sort_values(counted)
            share.plot(own[counted], own["solved_percent"], **look)
            length.plot(own[counted], own["length"], **look)
    for share, length, chosen in zip(shares, lengths, sets, strict=True):
        style.name_panel(share, chosen)
        share.set(ylim=(-4, 104))
        length.set(xlabel="states evaluated", xscale="log")
        length.margins(x=0.1, y=0.1)
        style.plain_logarithmic_ticks(length.xaxis)
    shares[0].set_ylabel("solved, %")
    lengths[0].set_ylabel("mean length, moves")
    return style.with_legend(figure, columns=3)
