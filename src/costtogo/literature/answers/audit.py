"""What a network says of states: how far off it is, whether it overestimates and whether neighbours fit."""

import math
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from costtogo.literature.answers import sampled_searches as searches
from costtogo.literature.answers.training import with_target
from costtogo.literature.finding import Finding, Row, absent, extreme, finds, mean, share
from costtogo.literature.words import CANNOT_TELL, NOT_COMPARABLE, NOT_REACHED
from costtogo.tables.results import StudyResults


class Checkpoint(NamedTuple):
    """The rows of the checkpoint that answers a row of the literature.

    note: how it was chosen.  missing: without rows, the answer that says why there are none.
    """

    rows: pd.DataFrame
    note: str = ""
    missing: Finding | None = None


def matching(results: StudyResults, frame: pd.DataFrame, row: Row) -> Checkpoint:
    """Our checkpoint for a row's, or why there is none: as the first of CHECKPOINT_RULES that speaks says.

    frame: iteration, convergence_point.  All checkpoints where the row names none.
    """
    if math.isnan(row["iteration"]) or frame.empty:
        return Checkpoint(frame)
    return next(found for rule in CHECKPOINT_RULES if (found := rule(results, frame, row)) is not None)


def by_point(results: StudyResults, frame: pd.DataFrame, row: Row) -> Checkpoint | None:
    """The checkpoint of the row's convergence point."""
    here = frame[frame["convergence_point"] == row["point"]]
    return _chosen(here[here["iteration"] == here["iteration"].min()], f"convergence point {row['point']:.0f}")


def at_the_end(results: StudyResults, frame: pd.DataFrame, row: Row) -> Checkpoint | None:
    """The last checkpoint, where the row's point is the end of a training as long as ours, which had as many points."""
    total = _total(results, row)
    if math.isnan(row["point"]) or not total == row["total"] == row["iteration"]:
        return None
    if _points(results, row) < row["point"]:  # ours did not get so far
        return None
    return _chosen(frame[frame["iteration"] == total], "the last checkpoint, after as many iterations")


def no_such_point(results: StudyResults, frame: pd.DataFrame, row: Row) -> Checkpoint | None:
    """Why a row that names a convergence point has no checkpoint of ours."""
    points, point = _points(results, row), row["point"]
    if math.isnan(point):
        return None
    if points < point:
        total = _total(results, row)
        longer = f", in {total:,.0f} iterations; the source has {row['total']:,.0f}" if total < row["total"] else ""
        return _without(frame, NOT_REACHED, f"{points:.0f} convergence points in all, not {point:.0f}{longer}")
    return _without(frame, NOT_COMPARABLE, f"the checkpoint of convergence point {point:.0f} was not looked at")


def same_iteration(results: StudyResults, frame: pd.DataFrame, row: Row) -> Checkpoint | None:
    """The checkpoint of the row's iteration, where both trainings have as many iterations."""
    if _total(results, row) != row["total"]:
        return None
    why = f"the checkpoint of iteration {row['iteration']:.0f} was not looked at"
    found = _chosen(frame[frame["iteration"] == row["iteration"]], "the same iteration")
    return found or _without(frame, NOT_COMPARABLE, why)


def same_share(results: StudyResults, frame: pd.DataFrame, row: Row) -> Checkpoint | None:
    """The checkpoint at the nearest share of the iterations, where the trainings differ in length."""
    total, theirs = _total(results, row), row["iteration"] / row["total"]
    apart = (frame["iteration"] / total - theirs).abs()
    here = frame[apart == apart.min()]
    done = here["iteration"].iloc[0] / total
    return _chosen(here, f"{100 * done:.0f} % of the training (the thesis's {100 * theirs:.0f} %)")


CHECKPOINT_RULES = (by_point, at_the_end, no_such_point, same_iteration, same_share)


def _chosen(rows: pd.DataFrame, how: str) -> Checkpoint | None:
    """The rows of a checkpoint with how it was chosen; None without rows."""
    return Checkpoint(rows, f"{how}, iteration {rows['iteration'].iloc[0]:.0f}") if len(rows) else None


def _without(frame: pd.DataFrame, verdict: str, why: str) -> Checkpoint:
    """No rows of the frame, and the verdict that says so."""
    return Checkpoint(frame[:0], missing=absent(verdict, why))


def _total(results: StudyResults, row: Row) -> float:
    """The iterations of our training."""
    return results.metric(f"models/{row['ours']}", "iterations")


def _points(results: StudyResults, row: Row) -> float:
    """The convergence points of our training."""
    return results.metric(f"models/{row['ours']}", "convergence_points")


@finds("mean_absolute_error", of="repeated", table="audits/{ours}/by_distance")
def error_at_distance(results: StudyResults, row: Row, layers: pd.DataFrame) -> Finding | None:
    """The error over the states at a distance."""
    if math.isnan(row["distance"]):
        return None
    here = layers[(layers["scope"] == row["set"]) & (layers["distance"] == row["distance"])]
    found = matching(results, here, row)
    value = found.rows["mean_absolute_error"].max()
    return found.missing or Finding(value, found.note, exhaustive=value)


@finds(
    *("mean_absolute_error", "admissible_percent", "overestimation_mean", "consistent_percent"),
    of="repeated",
    table="audits/{ours}/measures",
)
def measure(results: StudyResults, row: Row, measures: pd.DataFrame) -> Finding | None:
    """A measure of an exhaustive audit: over the literature's sample, and over all states."""
    chosen, note, missing = matching(results, measures, row)
    if missing:
        return missing
    scopes = dict(list(chosen.groupby("scope")))
    if row["set"] not in scopes or not math.isnan(row["distance"]):
        return None
    decisive = _decisive(scopes[row["set"]], row)
    value, exhaustive = decisive[row["quantity"]], extreme(scopes["all"][row["quantity"]], row)
    if math.isnan(value) and row["quantity"] == "overestimation_mean":
        return absent(CANNOT_TELL, f"{note}: no state is overestimated, and the mean of nothing is no number")
    found = Finding(value, note)
    if "percent" in row["quantity"] and decisive["states"] < row["states"]:  # else the sample is full of repetitions
        found = _over_walks(share(value, decisive["states"], note), decisive, row["quantity"])
    error = scopes["all"]["mean_absolute_error"].max() / results.metric(f"tables/{row['puzzle']}", "mean_distance")
    return replace(found, exhaustive=exhaustive, error_share=error)


def _over_walks(found: Finding, measures: pd.Series, quantity: str) -> Finding:
    """A share of the states on some walks with the interval over the walks, where the audit has written it."""
    low, high = (measures.get(quantity.replace("percent", end), math.nan) for end in ("low", "high"))
    return found if math.isnan(low) else replace(found, low=low, high=high)


def _decisive(measures: pd.DataFrame, row: Row) -> pd.Series:
    """The checkpoint that decides whether a claim on all of them holds; the first where none has a number."""
    values = measures[row["quantity"]]
    if values.isna().all():
        return measures.iloc[0]
    return measures.loc[values.idxmin() if row["relation"].startswith(">") else values.idxmax()]


@finds("consistent_percent", of="learned")
def consistent_on_walks(results: StudyResults, row: Row) -> Finding | None:
    """Of the states on random walks, by the network that learns the Bellman equation, at the row's convergence point.

    What a network learns from the length of walks has no reason to be consistent, and is not compared.
    """
    model = with_target(results, row)
    if model is None:
        return absent(NOT_COMPARABLE, "no network of the study learns the Bellman equation")
    shares = results.find_frame(f"audits/{model}/consistency")
    if shares is None:
        return None
    looks = results.frame(f"models/{model}/checkpoints")[["iteration", "convergence_point"]]
    chosen = matching(results, shares.merge(looks, on="iteration"), row | {"ours": model})
    if chosen.missing:
        return chosen.missing
    last = chosen.rows.sort_values("iteration").iloc[-1]
    note = f"{model}, {chosen.note or 'the last checkpoint'}"
    return share(last["consistent_percent"], last["states"], note, results.place(f"audits/{model}/consistency"))


@finds("admissible_percent", "admissible_within_one_percent", "overestimation_mean", of="sampled")
def where_optima_are_known(results: StudyResults, row: Row) -> Finding | None:
    """Of external instances, those not overestimated or by at most a move, and the mean overestimate of the others."""
    found = searches.external_with_optima(results)
    if found is None:
        return None
    over, of = found.rows["cost_to_go"] - found.rows["optimal"], found.what.split(",")[0]
    if row["quantity"] == "overestimation_mean":
        return mean(over[over > 0], f"over the {(over > 0).sum()} overestimated of {of}", found.file)
    slack = 1 if row["quantity"] == "admissible_within_one_percent" else 0
    holds = found.rows["cost_to_go"] <= found.rows["optimal"] + slack
    return searches.share_of(found, holds, f"cost-to-go of {of}, all scrambled by 1,000 moves or more")


@finds("admissible_percent", of="sampled", table="audits/{ours}/nearby")
def admissible_nearby(results: StudyResults, row: Row, near: pd.DataFrame) -> Finding:
    """The same of states in the exact table around the goal."""
    percent = (near["admissible_percent"] * near["states"]).sum() / near["states"].sum()
    return Finding(percent, f"states up to {near['distance'].max()} moves away, where distances are known")
