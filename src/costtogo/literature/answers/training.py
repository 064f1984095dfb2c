"""How a training went: its convergence points, what it saw, how long it took."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from costtogo.literature.answers.pairs import PAIRS
from costtogo.literature.finding import NAN, Finding, Row, absent, finds
from costtogo.literature.reported import SECONDS
from costtogo.literature.verdicts import HALF_LEARNED
from costtogo.literature.words import NOT_REACHED
from costtogo.tables.extracts import EARLY
from costtogo.tables.results import StudyResults

CURVE = "models/{ours}/curve"


def with_target(results: StudyResults, row: Row) -> str | None:
    """The model by value iteration, which has convergence points, for a row: with adaptive K for the thesis's.

    Of a training that a document calls worse, ours like it.
    """
    if row["listed"]:
        return row["ours"]
    own = PAIRS.get(row["model"], ("",))[0]
    if results.has(f"models/{own}"):
        return own
    models = {name: results.model(name) for name in results.model_names}
    kinds = {name: each.sampler.kind for name, each in models.items() if each.trainer == "davi"}
    alike = (name for name, kind in kinds.items() if (kind == "adaptive_k") == (row["model"] == "C3_DNN_0"))
    return next((results.with_seed(name) for name in alike), None)


@finds("convergence_points", "convergence_point_iteration")
def convergence_points(results: StudyResults, row: Row) -> Finding | None:
    """How many there are up to the row's iteration, or the iteration of one of them."""
    model = with_target(results, row)
    curve = results.find_frame(f"models/{model}/curve")
    if curve is None:
        return None
    at, notes = curve.loc[curve["updated"].astype(bool), "iteration"], [] if row["listed"] else [model]
    if row["quantity"] == "convergence_points":
        value = len(at) if math.isnan(row["iteration"]) else int((at <= row["iteration"]).sum())
        upto = min(results.metric(f"models/{model}", "iterations"), row["iteration"])
        notes.append(f"in {upto:,.0f} iterations")
    else:
        if len(at) < row["point"]:
            return absent(NOT_REACHED, f"{len(at)} convergence points in {curve['iteration'].max():,.0f} iterations")
        value = at.iloc[int(row["point"]) - 1]
    return Finding(value, ", ".join(notes), file=results.place(f"models/{model}/curve"))


@finds("validation_loss", of="repeated", table=CURVE)
def validation_loss(results: StudyResults, row: Row, curve: pd.DataFrame) -> float:
    """The largest of the early iterations that the thesis reports."""
    return curve.loc[curve["iteration"].between(*EARLY), "validation_loss"].max()


@finds("states_seen", "states_seen_percent", "times_seen", of="repeated", table=CURVE)
def seen_until_point(results: StudyResults, row: Row, curve: pd.DataFrame) -> Finding | None:
    """States drawn until a convergence point, and by the states of the puzzle."""
    there = _at_point(curve, row)
    if isinstance(there, Finding):
        return there
    iteration, each = there["iteration"], results.training(row["ours"])["states_per_iteration"]
    return Finding(_by_states(iteration * each, row), f"iteration {iteration}")


@finds("distance_learned", "distance_seen", of="learned")
def reach_at_point(results: StudyResults, row: Row) -> Finding | None:
    """How far from the goal states are learned, a move more at each convergence point; and how far those drawn are."""
    model = with_target(results, row)
    curve = results.find_frame(f"models/{model}/curve")
    there = None if curve is None else _at_point(curve, row)
    if there is None or isinstance(there, Finding):
        return there
    value = float(there["convergence_points" if row["quantity"] == "distance_learned" else "effective_k"])
    return Finding(value, f"{model}, iteration {there['iteration']}", file=results.place(f"models/{model}/curve"))


def _at_point(curve: pd.DataFrame, row: Row) -> pd.Series | Finding:
    """The row of a curve at the row's convergence point, or why there is none."""
    chosen = curve[curve["updated"].astype(bool) & (curve["convergence_points"] == row["point"])]
    if len(chosen):
        return chosen.iloc[0]
    points = int(curve["updated"].sum())
    return absent(NOT_REACHED, f"{points} convergence points in {curve['iteration'].max():,.0f} iterations")


@finds("states_seen", "states_seen_percent", of="learned")
def seen_in_all(results: StudyResults, row: Row) -> Finding:
    """The same of all trainings that led to the model."""
    seen = sum(results.metric(f"models/{model}", "states_seen") for model in results.asked.lineage(row["ours"]))
    file = results.place(f"models/{row['ours']}", ".json")
    return Finding(_by_states(seen, row), _lineage_text(results, row["ours"]), file=file)


def _by_states(seen: float, row: Row) -> float:
    """States seen as they are, as a share of all states, or as how often one was seen."""
    counted = {"states_seen_percent": 100 * seen / row["states"], "times_seen": seen / row["states"]}
    return counted.get(row["quantity"], seen)


def _lineage_text(results: StudyResults, model: str) -> str:
    trainers = [f"{name} ({results.model(name).trainer.replace('_', ' ')})" for name in results.asked.lineage(model)]
    return f"the whole training of {' and '.join(trainers)}"


def _seconds(timing: dict[str, Any]) -> float:
    """Seconds of a training, the runs before it was resumed among them; NaN where they may not be seen."""
    return timing.get("seconds", NAN) + timing.get("earlier_seconds", 0.0)


@finds("training_time", of="listed")
def training_time(results: StudyResults, row: Row) -> Finding:
    """The time of the training up to the row's iteration, every iteration taking the same."""
    timing, note = results.find_card(f"models/{row['ours']}").get("timing", {}), ""
    seconds, total = _seconds(timing), results.metric(f"models/{row['ours']}", "iterations")
    if not math.isnan(row["iteration"]):
        upto = min(row["iteration"], total)
        seconds, note = seconds * (upto / total), f"{upto:,.0f} iterations "
    note += f"on {timing.get('threads', 1)} thread of {timing.get('processor', '')}"
    return Finding(seconds / SECONDS[row["unit"]], note, file=results.place(CURVE.format_map(row)))


@finds("training_time", "iteration_time", of="learned")
def time_of_all(results: StudyResults, row: Row) -> Finding:
    """The time of all trainings that led to the model, or of an iteration of them."""
    models = results.asked.lineage(row["ours"])
    value = sum(_seconds(results.find_card(f"models/{model}").get("timing", {})) for model in models)
    value /= SECONDS[row["unit"]]
    if row["quantity"] == "iteration_time":
        value /= sum(results.metric(f"models/{model}", "iterations") for model in models)
    file = results.place(f"timings/models/{row['ours']}", ".json")
    return Finding(value, _lineage_text(results, row["ours"]), file=file)


@finds("training_diverges", of="listed", table="audits/{ours}/measures")
def training_diverges(results: StudyResults, row: Row, measures: pd.DataFrame) -> Finding:
    """1 where the last network is worse than none: its error over all states is more than their mean distance."""
    mean = results.metric(f"tables/{row['puzzle']}", "mean_distance")
    error = float(measures[measures["scope"] == "all"].sort_values("iteration")["mean_absolute_error"].iloc[-1])
    return _worse_than_none(error, mean, "the last network")


@finds("training_diverges", of="sampled")
def diverges_where_known(results: StudyResults, row: Row) -> Finding | None:
    """The same over the study's own states whose distance is known, by the training that is like the document's.

    Of the one that does not diverge: ours, if its target network waits for a threshold as the document's does.
    """
    model = PAIRS.get(row["model"], (row["ours"],))[0]
    known = results.find_frame(f"audits/{model}/known")
    if known is None or (model == row["ours"] and results.model(model).polyak):
        return None
    error, mean = np.average(known[["mean_absolute_error", "distance"]], axis=0, weights=known["states"])
    trained = results.metric(f"models/{model}", "iterations")
    found = _worse_than_none(error, mean, f"{model} after {trained:,.0f} iterations")
    if found.value == 0 and error > HALF_LEARNED * mean:
        return absent(NOT_REACHED, f"{found.note}: it has not learned enough to diverge")
    if found.value == 0 and row["value"] == 1:
        return absent(NOT_REACHED, f"{found.note}; the document does not say when it diverges")
    return replace(found, file=results.place(f"audits/{model}/known"))


@finds("divergence_iteration", of="sampled")
def divergence_iteration(results: StudyResults, row: Row) -> Finding | None:
    """The convergence point from which on, to the last, the network errs by more near the goal than none at all."""
    model = PAIRS.get(row["model"], ("",))[0]
    errors = results.find_frame(f"models/{model}/errors")
    if errors is None:
        return None
    near = results.frame(f"tables/{row['puzzle']}")
    mean = np.average(near["distance"], weights=near["states"])
    diverged = (errors["mean_absolute_error"] > mean)[::-1].cummin()[::-1]
    if not diverged.any():
        return absent(NOT_REACHED, f"{model} does not diverge in {errors['iteration'].max():,.0f} iterations")
    note = f"{model} errs by more than none at all, {mean:.3g} moves, from here on"
    return Finding(errors["iteration"][diverged].iloc[0], note, file=results.place(f"models/{model}/errors"))


def _worse_than_none(error: float, mean: float, what: str) -> Finding:
    note = f"{what} errs by {error:.3g} moves, none at all by {mean:.3g}"
    return Finding(NAN if math.isnan(mean) else float(error > mean), note)
