"""What a network says of states: how far off it is, whether it overestimates and whether neighbours fit."""

import math
from dataclasses import replace

import pandas as pd

from costtogo.report.answer import Answer, Row, answers, extreme, large, mean, repeated, share
from costtogo.report.answers.search import judged, share_of
from costtogo.report.answers.training import iterations_of
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
        iterations = iterations_of(results, row["ours"])
        near = (frame["iteration"] / iterations - row["iteration"] / row["total"]).abs()
        chosen = frame[near == near.min()]
        done = chosen["iteration"].iloc[0] / iterations
        at = f"{100 * done:.0f} % of the training (the thesis's {100 * row['iteration'] / row['total']:.0f} %)"
    return chosen, f"{at}, iteration {chosen['iteration'].iloc[0]:.0f}"


@answers("mean_absolute_error", of=repeated)
def error_at_distance(results: StudyResults, row: Row) -> Answer | None:
    """The error over the states at a distance."""
    address = f"audits/{row['ours']}/by_distance"
    frame = results.find(address)
    if frame is None or math.isnan(row["distance"]):
        return None
    frame = frame[(frame["scope"] == row["set"]) & (frame["distance"] == row["distance"])]
    chosen, note = matching(results, frame, row)
    value = chosen["mean_absolute_error"].max()
    return Answer(value, results.place(address), exhaustive=value, note=note)


@answers("mean_absolute_error", "admissible_percent", "overestimation_mean", "consistent_percent", of=repeated)
def measure(results: StudyResults, row: Row) -> Answer | None:
    """A measure of an exhaustive audit: over the literature's sample, and over all states."""
    address, quantity = f"audits/{row['ours']}/measures", row["quantity"]
    frame = results.find(address)
    if frame is None or not math.isnan(row["distance"]):
        return None
    chosen, note = matching(results, frame, row)
    by_scope = {scope: extreme(part[quantity], row) for scope, part in chosen.groupby("scope")}
    if row["set"] not in by_scope:
        return None
    value, file = by_scope[row["set"]], results.place(address)
    sampled = chosen.loc[chosen["scope"] == row["set"], "states"].iloc[0]
    bounded = quantity.endswith("_percent") and sampled < row["states"]  # else the sample is full of repetitions
    found = share(value, sampled, file, note) if bounded else Answer(value, file, note=note)
    return replace(found, exhaustive=by_scope["all"])


@answers("consistent_percent", of=large)
def consistent_on_walks(results: StudyResults, row: Row) -> Answer | None:
    """Of the states on random walks, by the last checkpoint."""
    address = f"audits/{row['ours']}/consistency"
    shares = results.find(address)
    if shares is None:
        return None
    last = shares.sort_values("iteration").iloc[-1]
    note = f"our last checkpoint, iteration {last['iteration']:,.0f} of another trainer"
    return share(last["consistent_percent"], last["states"], results.place(address), note)


@answers("admissible_percent", "admissible_within_one_percent", of=large)
def admissible_where_known(results: StudyResults, row: Row) -> Answer | None:
    """Share of states not overestimated: of external instances, else of those in the exact table."""
    slack = 1 if row["quantity"] == "admissible_within_one_percent" else 0
    known, near = judged(results), results.find(f"audits/{row['ours']}/nearby")
    if known is not None:
        note = f"cost-to-go of {known.what.split(',')[0]}, all scrambled by 1,000 moves or more"
        return share_of(known, known.rows["cost_to_go"] <= known.rows["optimal"] + slack, note)
    if near is None or slack:
        return None
    percent = (near["admissible_percent"] * near["states"]).sum() / near["states"].sum()
    note = f"states up to {near['distance'].max()} moves away, where distances are known"
    return Answer(percent, results.place(f"audits/{row['ours']}/nearby"), note=note)


@answers("overestimation_mean", of=large)
def overestimation_where_known(results: StudyResults, row: Row) -> Answer | None:
    """Mean overestimate of external instances that are overestimated."""
    known = judged(results)
    if known is None:
        return None
    over = known.rows["cost_to_go"] - known.rows["optimal"]
    note = f"over the {(over > 0).sum()} overestimated of {known.what.split(',')[0]}"
    return mean(over[over > 0], known.file, note)
