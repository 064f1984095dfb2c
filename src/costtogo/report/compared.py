"""The literature's numbers beside ours as a part of the report: counts, tables by section, disagreements, errata."""

from collections.abc import Iterator

import pandas as pd

from costtogo.analysis.listings import Replay
from costtogo.puzzles import family
from costtogo.report.markdown import amount, is_missing, short, table
from costtogo.report.quantities import THESIS, TIMES, form_of, quantity_of
from costtogo.report.verdicts import SHORT, VERDICTS

LISTED = "convergence_point_iteration"  # shown as one list a model
COLUMNS = {"thesis": "reported", "exact recipe": "reproduced_thesis", "compact": "reproduced_default"}
EXPLANATIONS = {
    "convergence_points": "How many convergence points come within a budget depends on the width of the network, on"
    " the learning rate and on chance: a point needs one validation sample of 20 to 200 states whose loss is below ε.",
    "convergence_point_iteration": "A point comes when one small validation sample happens to lie below ε, so its"
    " iteration varies from seed to seed; later points inherit the delay of earlier ones. An iteration of a compact"
    " network is 1 or 2 steps of Adam on large minibatches, one of the thesis's 32 steps on minibatches of 32.",
    "states_seen": "The same as the iterations of the convergence points, times the states of an iteration.",
    "mean_absolute_error": "The error at a convergence point is mostly how far the cost-to-go of distant states has"
    " still to rise, so it depends on how many iterations the points took: a training that passes its points sooner"
    " has a larger error at each.",
    "admissible_percent": "The thesis's own checkpoints of one training lie up to 24 points apart on this measure;"
    " it follows the bias of the moment, which the last minibatches decide.",
    "overestimation_mean": "The mean is over the overestimated states alone, whose number changes from one checkpoint"
    " to the next; where few states are overestimated it says little.",
    "consistent_percent": "Consistency of a state needs an error that hardly differs between neighbours; a narrower"
    " network, or fewer steps since the last target update, is rougher.",
    "optimal_percent": "Later convergence points overestimate more states on the way and so trade optimal solutions"
    " for fewer expanded nodes; compare the nodes expanded in the same table.",
    "nodes_expanded": "A network that underestimates far states spreads the search: more expanded nodes, and more"
    " optimal solutions; compare the share of optimal solutions in the same table.",
    "states_sampled": "333 walks of 30 moves are 9,990 states.",
    "sampled_percent": "The thesis reads its figure; ours is the exact share, by propagating the chances of a walk over"
    " all states.",
    "sampled_states_difference": "Both samplers have the same distribution; their difference is chance.",
    "sampled_percent_difference": "Both samplers have the same distribution; their difference is chance.",
    "validation_loss": "A spike of one training.",
    "nodes_expanded_ratio": "It depends on how much the network underestimates: one that does so more expands more"
    " nodes at λ = 0.7 and less, and gains less from them.",
    "length": "The search at this λ ends with a detour.",
    "training_time": "Another computer.",
    "seconds": "Another computer.",
}


def compared(comparison: pd.DataFrame, listings: dict[float, Replay]) -> str:
    """The section of the report; comparison as comparison.compare returns it."""
    parts = [
        "## Reported and reproduced\n",
        "Every number of the thesis (Tardón Rubio 2022) on these puzzles that a study can check, beside ours;"
        " [reported_vs_reproduced.csv](reported_vs_reproduced.csv) has each with its interval, reason and file."
        " *Exact recipe*: the thesis's network, minibatch, learning rate and iterations, from `config/thesis.yaml`, as"
        " kept in `data/measured/`. *Compact*: this study's training of the same name, which differs in width, depth,"
        " minibatch, learning rate (and its decay) and iterations alone. *All states*: the same over every state of the"
        " puzzle. The verdict is on the exact recipe where it has been run, else on the compact network. Checkpoints"
        " are matched by the number of their convergence point.\n",
        _counts(comparison),
        _tolerances(),
        _not_run(comparison),
    ]
    for section, rows in comparison.groupby("section", sort=False):
        parts += [f"### Thesis {section}\n", *_section(rows)]
    parts += ["### Where they disagree\n", *_disagreements(comparison)]
    parts += ["### Slips in the thesis's text\n", *_errata(comparison)]
    parts += ["### The solutions of appendix 7.4\n", *(_listing(weight, replay) for weight, replay in listings.items())]
    return "\n".join(parts)


def _counts(comparison: pd.DataFrame) -> str:
    rows = []
    for section, group in comparison.groupby("section", sort=False):
        found = group["verdict"].value_counts()
        rows.append([section, amount(len(group)), *(amount(found.get(verdict, 0)) for verdict in VERDICTS)])
    for name, column in (("**all**", "verdict"), ("all, by the compact networks", "verdict_default")):
        found = comparison[column].value_counts()
        rows.append([name, amount(len(comparison)), *(amount(found.get(verdict, 0)) for verdict in VERDICTS)])
    return table(["section", "numbers", *VERDICTS], rows)


def _tolerances() -> str:
    named = []
    for quantity in THESIS.values():
        if quantity.tolerance:
            named.append(f"{quantity.title} ± {quantity.tolerance}")
    return (
        "A number *agrees* when the thesis's lies in our 95 % interval, or when the two differ by no more than the"
        " following, or when the thesis's <, >, ≤ or ≥ holds somewhere in our interval; everything else must be equal:"
        f" {'; '.join(named)}. Otherwise it *beats* the thesis's or falls"
        " *short* of it by which way is better; where neither way is better, a difference counts as short.\n"
    )


def _not_run(comparison: pd.DataFrame) -> str:
    rows = comparison[comparison["quantity"] == "convergence_points"]
    waiting = rows.groupby("model", sort=False)["reproduced_thesis"].apply(lambda found: found.isna().all())
    names = ", ".join(f"`{name}`" for name in waiting.index[waiting])
    return f"Exact recipes not yet run: {names}.\n" if names else "All exact recipes have been run.\n"


def _section(rows: pd.DataFrame) -> Iterator[str]:
    points = rows[rows["quantity"] == LISTED]
    if not points.empty:
        yield _points_table(points)
    others = rows[rows["quantity"] != LISTED]
    if not others.empty:
        yield rows_table(others)


def rows_table(rows: pd.DataFrame) -> str:
    """A row for each number."""
    header = ["model", "where", "quantity", "thesis", "exact recipe", "compact", "all states", "verdict"]
    return table(header, (_line(row) for row in rows.to_dict("records")))


def _points_table(points: pd.DataFrame) -> str:
    lines = []
    for model, group in points.groupby("model", sort=False):
        for name, column in COLUMNS.items():
            values = [amount(value) for value in group[column]]
            if any(value != "–" for value in values):
                lines.append([f"`{model}`" if name == "thesis" else "", name, ", ".join(values)])
    head = "Iterations of the convergence points, from the first listed to the last:\n\n"
    return head + table(["model", "", "iterations"], lines)


def _line(row: dict) -> list[str]:
    form = form_of(row["quantity"], thesis=True)
    relation = "" if row["relation"] == "=" else f"{row['relation']} "
    ours = [form(row[name]) for name in ("reproduced_thesis", "reproduced_default", "exhaustive")]
    unit = f" {row['unit']}" if row["quantity"] in TIMES and row["quantity"] in THESIS else ""
    name = f"`{row['model']}`" if isinstance(row["model"], str) else row["puzzle"]
    theirs = relation + form(row["reported"]) + unit
    return [name, where_text(row), quantity_of(row["quantity"], thesis=True).title, theirs, *ours, row["verdict"]]


def where_text(row: dict) -> str:
    """The checkpoint, set, λ, N and distance that a row names.  -> "iteration 795 (point 11), grid, λ = 0.7, N = 5"."""
    parts = []
    if not is_missing(row["iteration"]):
        point = "" if is_missing(row["point"]) else f" (point {row['point']:.0f})"
        parts.append(f"iteration {amount(row['iteration'])}{point}")
    if isinstance(row["set"], str):
        parts.append(row["set"])
    if isinstance(row["model"], str) and family(row["puzzle"]) == "hanoi":
        parts.append(row["puzzle"])
    signs = {"path_weight": "λ = ", "batch_size": "N = ", "distance": "distance "}
    parts += [f"{sign}{short(float(row[name]))}" for name, sign in signs.items() if not is_missing(row[name])]
    return ", ".join(parts)


def _disagreements(comparison: pd.DataFrame) -> Iterator[str]:
    """A paragraph on each quantity of a section that falls short somewhere."""
    fallen = comparison[comparison["verdict"] == SHORT]
    if fallen.empty:
        yield "Nowhere.\n"
    for (section, quantity), rows in fallen.groupby(["section", "quantity"], sort=False):
        alike = comparison[(comparison["section"] == section) & (comparison["quantity"] == quantity)]
        ours = rows["reproduced_thesis"].fillna(rows["reproduced_default"])
        worst = rows.loc[(ours - rows["reported"]).abs().idxmax()]
        form, value = form_of(quantity, thesis=True), ours.loc[worst.name]
        models = ", ".join(f"`{name}`" for name in dict.fromkeys(rows["model"].dropna()))
        yield (
            f"**{section}, {quantity_of(quantity, thesis=True).title}**: {len(rows)} of {len(alike)} fall short"
            f"{f' ({models})' if models else ''}; the farthest is {form(value)} where the thesis has"
            f" {'' if worst['relation'] == '=' else worst['relation'] + ' '}{form(worst['reported'])}"
            f" ({where_text(worst.to_dict()) or worst['puzzle']})."
            f" {EXPLANATIONS.get(quantity, 'No reason is known.')}\n"
        )


def _errata(comparison: pd.DataFrame) -> Iterator[str]:
    found = comparison[comparison["erratum"].notna()]
    for (section, erratum), rows in found.groupby(["section", "erratum"], sort=False):
        values = " and ".join(dict.fromkeys(f"{value:g}" for value in rows["reported"]))
        yield f"- {section}, {quantity_of(rows['quantity'].iloc[0], thesis=True).title} {values}: {erratum}"
    yield ""


def _listing(weight: float, replay: Replay) -> str:
    first = f"The listing for λ = {weight:g} has {replay.moves} moves; all are legal and the last reaches the goal. "
    if not replay.extra_moves:
        return first + "No shorter solution exists.\n"
    detours = ", ".join(str(move) for move in replay.detours)
    return first + (
        f"The shortest has {int(replay.distance[0])}: after {replay.moves_before_detour} moves that each bring the goal"
        f" nearer, the moves {detours} do not.\n"
    )
