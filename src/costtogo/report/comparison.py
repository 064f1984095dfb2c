"""Each number of the literature beside ours: from its exact recipe, from the compact networks, and over all states."""

import math
from typing import NamedTuple

import pandas as pd

from costtogo.puzzles import make
from costtogo.report.answers import NAN, Answer, Row, answer
from costtogo.report.facts import Facts
from costtogo.report.results import StudyResults

AGREES, BEATS, SHORT, NOT_COVERED = "agrees", "beats", "short", "not covered"
VERDICTS = (AGREES, BEATS, SHORT, NOT_COVERED)


class Quantity(NamedTuple):
    """How a quantity is named, which way is better (+1 more, -1 less, 0 neither), and what counts as agreement."""

    title: str
    better: int
    absolute: float = 0.0  # in the quantity's unit
    relative: float = 0.0  # of the reported value


QUANTITIES = {
    "states": Quantity("states", 0),
    "states_at_distance": Quantity("states at a distance", 0),
    "diameter": Quantity("largest distance, moves", 0),
    "diameter_half_turns": Quantity("largest distance with half turns, moves", 0),
    "parameters": Quantity("trainable parameters", 0),
    "states_sampled": Quantity("states drawn", 0),
    "sampled_percent": Quantity("share of drawn states, %", 0),
    "sampled_states_difference": Quantity("difference of the two samplers, states", 0),
    "sampled_percent_difference": Quantity("difference of the two samplers, points", 0, absolute=0.2),
    "total_iterations": Quantity("iterations", 0),
    "validation_loss": Quantity("highest validation loss of iterations 200 to 250, moves²", 0),
    "convergence_points": Quantity("convergence points", 1, relative=0.2),
    "convergence_point_iteration": Quantity("iteration of a convergence point", -1, relative=0.2),
    "states_seen": Quantity("states seen", -1, relative=0.2),
    "states_seen_percent": Quantity("states seen, % of all", -1),
    "times_seen": Quantity("times that a state was seen on average", 0),
    "training_time": Quantity("training time", -1, relative=0.2),
    "mean_absolute_error": Quantity("mean absolute error, moves", -1, relative=0.1),
    "admissible_percent": Quantity("admissible, %", 1, absolute=5.0),
    "overestimation_mean": Quantity("mean overestimate, moves", -1, absolute=0.05),
    "consistent_percent": Quantity("consistent, %", 1, absolute=5.0),
    "optimal_percent": Quantity("optimal, %", 1, absolute=0.5),
    "optimal_percent_least": Quantity("optimal at the worst distance, %", 1),
    "optimal_percent_difference": Quantity("most below DNN_reduced_0 at a distance, points", -1),
    "nodes_expanded": Quantity("nodes expanded", -1, relative=0.1),
    "nodes_expanded_ratio": Quantity("nodes expanded with λ = 1 to those with λ, times", 0),
    "seconds": Quantity("seconds", -1, relative=0.2),
    "seconds_ratio_batch_size": Quantity("seconds with N = 3 to those with N = 7, times", 0),
    "seconds_ratio_path_weight": Quantity("seconds with λ = 1 to those with λ, times", 0, absolute=0.3),
    "length": Quantity("length, moves", -1),
    "extra_moves": Quantity("moves too many", 0),
    "moves_before_detour": Quantity("moves before the detour", 0),
}
BESIDE = (  # columns that compare adds
    *("reproduced_thesis", "reproduced_default", "exhaustive", "interval_95", "verdict", "verdict_default"),
    *("reason", "results_file"),
)
TIMES = ("seconds", "training_time", "seconds_ratio_batch_size", "seconds_ratio_path_weight")


def compare(reported: pd.DataFrame, own: StudyResults, kept: StudyResults, facts: Facts) -> pd.DataFrame:
    """One row per reported number.

    reported: the rows of data/reported.  own: the study of the report, with compact networks.  kept: what was
    measured with the literature's exact recipe.  Adds reproduced_thesis, reproduced_default, exhaustive,
    interval_95, verdict (of the exact recipe where it was run, else of the compact network), verdict_default,
    reason and results_file.
    """
    stopped = reported["value"].where(reported["quantity"] == "total_iterations", reported["iteration"])
    totals = stopped.groupby(reported["model"]).max().to_dict()
    models = reported.dropna(subset="model").groupby("puzzle")["model"].unique().to_dict()
    rows = []
    for row in reported.to_dict("records"):
        row |= {"states": make(row["puzzle"]).state_count}
        row |= {"total": totals.get(row["model"], NAN), "models": models.get(row["puzzle"], ())}
        fact = facts.answer(row)
        exact = fact or answer(kept, row)
        compact = fact if fact and row["quantity"] != "parameters" else answer(own, row)
        ran = [isinstance(row["model"], str) and each.has(f"models/{row['model']}") for each in (kept, own)]
        found = _beside(row, exact, compact, "a fact" if fact else _standing(*ran))
        rows.append({**{name: row[name] for name in reported}, **found})
    return pd.DataFrame(rows, columns=[*reported.columns, *BESIDE]).rename(columns={"value": "reported"})


def _standing(exact_ran: bool, compact_ran: bool) -> str:
    """Which training the verdict is on."""
    if exact_ran:
        return "exact recipe"
    return "compact network; the exact recipe has not been run" if compact_ran else "neither"


def _beside(row: Row, exact: Answer | None, compact: Answer | None, standing: str) -> Row:
    basis = exact if standing == "exact recipe" else exact or compact
    verdict, why = judge(row, basis)
    return {
        "reproduced_thesis": exact.value if exact else NAN,
        "reproduced_default": compact.value if compact else NAN,
        "exhaustive": basis.exhaustive if basis else NAN,
        "interval_95": f"[{basis.low:.6g}, {basis.high:.6g}]" if basis and not math.isnan(basis.low) else "",
        "verdict": verdict,
        "verdict_default": judge(row, compact)[0],
        "reason": _reason(row, basis, standing, why),
        "results_file": basis.file if basis else "",
    }


def _reason(row: Row, basis: Answer | None, standing: str, why: str) -> str:
    if basis:
        parts = [part for part in ("" if standing == "a fact" else standing, basis.note, why) if part]
    elif row["quantity"] in TIMES and standing != "exact recipe":
        parts = ["wall-clock times of this study differ from run to run and stand in timings.md"]
    elif standing == "neither":
        parts = ["the exact recipe has not been run, and the study has no counterpart"]
    else:
        parts = [standing, "nothing to compare: not reached, not solved, or not measured"]
    erratum = row["erratum"] if isinstance(row["erratum"], str) else ""
    return "; ".join(parts + ([f"erratum: {erratum}"] if erratum else []))


def judge(row: Row, found: Answer | None, quantities: dict[str, Quantity] = QUANTITIES) -> tuple[str, str]:
    """The verdict on our number and why, in words."""
    if found is None:
        return NOT_COVERED, ""
    quantity, theirs, relation = quantities[row["quantity"]], row["value"], row["relation"]
    slack = max(quantity.absolute, quantity.relative * abs(theirs))
    if relation != "=":
        holds = _holds(found.value, relation, theirs)
        if holds:
            return AGREES, f"{found.value:.6g} {relation} {theirs:.6g}"
        if _holds(found.low, relation, theirs) or _holds(found.high, relation, theirs):
            return AGREES, "within the interval"
    elif not math.isnan(found.low) and found.low <= theirs <= found.high:
        return AGREES, "within the interval"
    elif abs(found.value - theirs) <= slack:
        return AGREES, f"within {slack:.3g}" if slack else "the same"
    better = quantity.better * (found.value - theirs) > 0
    return (BEATS if better else SHORT), f"differs by {found.value - theirs:+.4g}"


def _holds(value: float, relation: str, bound: float) -> bool:
    return {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}[relation]
