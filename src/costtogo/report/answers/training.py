"""How a training went: its convergence points, what it saw, how long it took."""

import math

import pandas as pd

from costtogo.analysis.literature import SECONDS
from costtogo.report.answer import NAN, Answer, Row, answers, learned, repeated
from costtogo.report.results import StudyResults


def iterations_of(results: StudyResults, model: str | None) -> float:
    """Iterations of a training, NaN where it has not run."""
    return results.find_card(f"models/{model}").get("metrics", {}).get("iterations", NAN)


def updates_of(results: StudyResults, model: str | None) -> pd.DataFrame | None:
    """The rows of a training's curve in which its target network was updated."""
    curve = results.find(f"models/{model}/curve")
    return None if curve is None else curve[curve["updated"].astype(bool)]


def trained_with_target(results: StudyResults, row: Row) -> str | None:
    """The model by value iteration, which has convergence points, beside a row's: with adaptive K for the thesis's."""
    if row["listed"]:
        return row["ours"]
    kinds = {name: each.sampler.kind for name, each in results.params.models.items() if each.trainer == "davi"}
    return next((name for name, kind in kinds.items() if (kind == "adaptive_k") == (row["model"] == "C3_DNN_0")), None)


@answers("total_iterations", of=repeated)
def total_iterations(results: StudyResults, row: Row) -> Answer | None:
    """The iterations themselves where our training went as far; a shorter one has none to compare."""
    if not iterations_of(results, row["ours"]) >= row["value"]:
        return None
    return Answer(row["value"], results.place(f"models/{row['ours']}/curve"), note="the training goes as far")


@answers("convergence_points", "convergence_point_iteration")
def convergence_points(results: StudyResults, row: Row) -> Answer | None:
    """How many there are up to the row's iteration, or the iteration of one of them."""
    model = trained_with_target(results, row)
    updates = updates_of(results, model)
    if updates is None:
        return None
    notes = [] if row["listed"] else [model]
    if row["quantity"] == "convergence_points":
        upto = min(iterations_of(results, model), row["iteration"])
        value = len(updates) if math.isnan(row["iteration"]) else int((updates["iteration"] <= row["iteration"]).sum())
        notes.append(f"in {upto:,.0f} iterations")
    else:
        value = updates["iteration"].iloc[int(row["point"]) - 1] if len(updates) >= row["point"] else NAN
    return Answer(value, results.place(f"models/{model}/curve"), note=", ".join(notes))


@answers("validation_loss")
def validation_loss(results: StudyResults, row: Row) -> Answer | None:
    """The largest of iterations 200 to 250."""
    curve = results.find(f"models/{row['ours']}/curve")
    if curve is None:
        return None
    losses = curve.loc[curve["iteration"].between(200, 250), "validation_loss"]
    return Answer(losses.max(), results.place(f"models/{row['ours']}/curve"))


@answers("states_seen", "states_seen_percent", "times_seen", of=repeated)
def seen_until_point(results: StudyResults, row: Row) -> Answer | None:
    """States drawn until a convergence point, and by the states of the puzzle."""
    updates = updates_of(results, row["ours"])
    chosen = updates[updates["convergence_points"] == row["point"]] if updates is not None else ()
    if not len(chosen):
        return None
    iteration = chosen["iteration"].iloc[0]
    seen = iteration * results.training(row["ours"])["states_per_iteration"]
    note = f"iteration {iteration}"
    return Answer(_by_states(seen, row), results.place(f"models/{row['ours']}/curve"), note=note)


@answers("states_seen", "states_seen_percent", of=learned)
def seen_in_all(results: StudyResults, row: Row) -> Answer | None:
    """The same of all trainings that led to the model."""
    seen = _by_states(_of_lineage(results, row["ours"], "states_seen"), row)
    return Answer(seen, results.place(f"models/{row['ours']}", ".json"), note=_lineage_text(results, row["ours"]))


def _by_states(seen: float, row: Row) -> float:
    """States seen as they are, as a share of all states, or as how often one was seen."""
    counted = {"states_seen_percent": 100 * seen / row["states"], "times_seen": seen / row["states"]}
    return counted.get(row["quantity"], seen)


def _of_lineage(results: StudyResults, model: str, name: str) -> float:
    """A measure of a training, summed over those that it starts from; NaN before all are finished."""
    cards = [results.find_card(f"models/{each}") for each in results.lineage(model)]
    return sum(card["metrics"][name] for card in cards) if all(cards) else NAN


def _lineage_text(results: StudyResults, model: str) -> str:
    trainers = [f"{name} ({results.model(name).trainer.replace('_', ' ')})" for name in results.lineage(model)]
    return f"the whole training of {' and '.join(trainers)}"


def seconds_of(card: dict) -> float:
    """Seconds of a training, the runs before it was resumed among them; NaN where they may not be seen."""
    timing = card.get("timing", {})
    return timing.get("seconds", NAN) + timing.get("earlier_seconds", 0.0)


@answers("training_time")
def training_time(results: StudyResults, row: Row) -> Answer | None:
    """The time of the training up to the row's iteration, every iteration taking the same."""
    if not row["listed"]:
        return None
    card = results.find_card(f"models/{row['ours']}")
    seconds, timing, note = seconds_of(card), card.get("timing", {}), ""
    if not math.isnan(row["iteration"]):
        iterations = min(row["iteration"], iterations_of(results, row["ours"]))
        seconds *= iterations / iterations_of(results, row["ours"])
        note = f"{iterations:,.0f} iterations "
    note += f"on {timing.get('threads', 1)} thread of {timing.get('processor', '')}"
    return Answer(seconds / SECONDS[row["unit"]], results.place(f"models/{row['ours']}/curve"), note=note)


@answers("training_time", "iteration_time", of=learned)
def time_of_all(results: StudyResults, row: Row) -> Answer | None:
    """The time of all trainings that led to the model, or of an iteration of them."""
    cards = [results.find_card(f"models/{each}") for each in results.lineage(row["ours"])]
    value = sum(map(seconds_of, cards)) / SECONDS[row["unit"]]
    if row["quantity"] == "iteration_time":
        value /= _of_lineage(results, row["ours"], "iterations")
    file = results.place(f"timings/models/{row['ours']}", ".json")
    return Answer(value, file, note=_lineage_text(results, row["ours"]))


@answers("training_diverges")
def training_diverges(results: StudyResults, row: Row) -> Answer | None:
    """1 where the last network is worse than none: its error over all states is more than their mean distance."""
    measures = results.find(f"audits/{row['ours']}/measures")
    mean = results.find_card(f"tables/{row['puzzle']}").get("metrics", {}).get("mean_distance", NAN)
    if measures is None or math.isnan(mean):
        return None
    last = measures[measures["scope"] == "all"].sort_values("iteration").iloc[-1]
    error = float(last["mean_absolute_error"])
    note = f"the last network errs by {error:.3g} moves, none at all by {mean:.3g}"
    return Answer(float(error > mean), results.place(f"audits/{row['ours']}/measures"), note=note)
