"""What a network says of states: how far off it is, whether it overestimates and whether neighbours fit."""

import math
from dataclasses import replace

import pandas as pd

from costtogo.report.answer import Answer, Row, answers, extreme, mean, share
from costtogo.report.answers.search import judged, share_of
from costtogo.report.results import StudyResults


def matching(results: StudyResults, frame: pd.DataFrame, row: Row) -> tuple[pd.DataFrame, str]:
    """The rows of the checkpoint that answers a row of the literature, and how it was chosen.

    frame: iteration, convergence_point.  All checkpoints where the row names none.
    """
    if math.isnan(row["iteration"]) or frame.empty:
        return frame, ""
    if not math.isnan(row["point"]):
        near = (frame["convergence_point"] - row["point"]).abs()
        chosen = frame[near == near.min()]
        chosen = chosen[chosen["iteration"] == chosen["iteration"].min()]
        at = f"convergence point {chosen['convergence_point'].iloc[0]:.0f}"
        at += "" if near.min() == 0 else f" (the thesis's {row['point']:.0f} is not among ours)"
    else:
        iterations = results.metric(f"models/{row['ours']}", "iterations")
        near = (frame["iteration"] / iterations - row["iteration"] / row["total"]).abs()
        chosen = frame[near == near.min()]
        done = chosen["iteration"].iloc[0] / iterations
        at = f"{100 * done:.0f} % of the training (the thesis's {100 * row['iteration'] / row['total']:.0f} %)"
    return chosen, f"{at}, iteration {chosen['iteration'].iloc[0]:.0f}"


@answers("mean_absolute_error", of="repeated", table="audits/{ours}/by_distance")
def error_at_distance(results: StudyResults, row: Row, layers: pd.DataFrame) -> Answer | None:
    """The error over the states at a distance."""
    if math.isnan(row["distance"]):
        return None
    here = layers[(layers["scope"] == row["set"]) & (layers["distance"] == row["distance"])]
    chosen, note = matching(results, here, row)
    value = chosen["mean_absolute_error"].max()
    return Answer(value, note, exhaustive=value)


@answers(
    *("mean_absolute_error", "admissible_percent", "overestimation_mean", "consistent_percent"),
    of="repeated",
    table="audits/{ours}/measures",
)
def measure(results: StudyResults, row: Row, measures: pd.DataFrame) -> Answer | None:
    """A measure of an exhaustive audit: over the literature's sample, and over all states."""
    chosen, note = matching(results, measures, row)
    by_scope = {scope: extreme(part[row["quantity"]], row) for scope, part in chosen.groupby("scope")}
    if row["set"] not in by_scope or not math.isnan(row["distance"]):
        return None
    value, sampled = by_scope[row["set"]], chosen.loc[chosen["scope"] == row["set"], "states"].iloc[0]
    bounded = "percent" in row["quantity"] and sampled < row["states"]  # else the sample is full of repetitions
    return replace(share(value, sampled, note) if bounded else Answer(value, note), exhaustive=by_scope["all"])


@answers("consistent_percent", of="sampled", table="audits/{ours}/consistency")
def consistent_on_walks(results: StudyResults, row: Row, shares: pd.DataFrame) -> Answer:
    """Of the states on random walks, by the last checkpoint."""
    last = shares.sort_values("iteration").iloc[-1]
    note = f"our last checkpoint, iteration {last['iteration']:,.0f} of another trainer"
    return share(last["consistent_percent"], last["states"], note)


@answers("admissible_percent", "admissible_within_one_percent", "overestimation_mean", of="sampled")
def where_optima_are_known(results: StudyResults, row: Row) -> Answer | None:
    """Of external instances, those not overestimated or by at most a move, and the mean overestimate of the others."""
    found = judged(results)
    if found is None:
        return None
    over, of = found.rows["cost_to_go"] - found.rows["optimal"], found.what.split(",")[0]
    if row["quantity"] == "overestimation_mean":
        return mean(over[over > 0], f"over the {(over > 0).sum()} overestimated of {of}", found.file)
    slack = 1 if row["quantity"] == "admissible_within_one_percent" else 0
    holds = found.rows["cost_to_go"] <= found.rows["optimal"] + slack
    return share_of(found, holds, f"cost-to-go of {of}, all scrambled by 1,000 moves or more")


@answers("admissible_percent", of="sampled", table="audits/{ours}/nearby")
def admissible_nearby(results: StudyResults, row: Row, near: pd.DataFrame) -> Answer:
    """The same of states in the exact table around the goal."""
    percent = (near["admissible_percent"] * near["states"]).sum() / near["states"].sum()
    return Answer(percent, f"states up to {near['distance'].max()} moves away, where distances are known")
