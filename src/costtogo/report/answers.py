"""Our number for a number of the literature, found in the tables of a study.

A number of a checkpoint is compared with our checkpoint of the same convergence point; where our training has not
reached it, with the nearest; where the literature names an iteration alone, with the one at the same share of
the training.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from costtogo.analysis.intervals import wilson
from costtogo.analysis.literature import SECONDS
from costtogo.report.results import StudyResults

NETWORK_ENGINE = "network alone"  # the engine that, like the literature's, searches one instance at a time
NAN = math.nan

Row = dict[str, Any]  # a row of data/reported/*.csv


@dataclass(frozen=True)
class Answer:
    """Our number for a row of the literature.

    low and high bound it (95 %) where it is sampled; exhaustive is the same over all states; note says what
    differs from the row's own terms.
    """

    value: float
    file: str
    low: float = NAN
    high: float = NAN
    exhaustive: float = NAN
    note: str = ""


def answer(results: StudyResults, row: Row) -> Answer | None:
    """Our number for a row from one results, None where it has none; of all models where the row names none."""
    find = FINDERS.get(row["quantity"])
    if find is None:
        return None
    models = [row["model"]] if isinstance(row["model"], str) else row["models"]
    answers = [find(results, {**row, "model": model}) for model in models]
    found = [each for each in answers if each is not None and not math.isnan(each.value)]
    if len(models) == 1 or not found:
        return found[0] if found else None
    worst = _extreme(pd.Series([each.value for each in found]), row)
    return replace(next(each for each in found if each.value == worst), note=f"over {len(found)} models")


def _extreme(values: pd.Series, row: Row) -> float:
    """The value that decides whether a claim on all of them holds."""
    return float(values.min() if row["relation"].startswith(">") else values.max())


def _matching(frame: pd.DataFrame, row: Row, iterations: float) -> tuple[pd.DataFrame, str]:
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
        near = (frame["iteration"] / iterations - row["iteration"] / row["total"]).abs()
        chosen = frame[near == near.min()]
        share = chosen["iteration"].iloc[0] / iterations
        at = f"{100 * share:.0f} % of the training (the thesis's {100 * row['iteration'] / row['total']:.0f} %)"
    return chosen, f"{at}, iteration {chosen['iteration'].iloc[0]:.0f}"


def _iterations(results: StudyResults, row: Row) -> float:
    return results.find_card(f"models/{row['model']}").get("metrics", {}).get("iterations", NAN)


def _metric(results: StudyResults, row: Row, name: str) -> Answer | None:
    value = results.find_card(f"models/{row['model']}").get("metrics", {}).get(name, NAN)
    return Answer(value, results.place(f"models/{row['model']}/curve"))


def _total_iterations(results: StudyResults, row: Row) -> Answer | None:
    """The iterations themselves where our training went as far; a shorter one has none to compare."""
    if not _iterations(results, row) >= row["value"]:
        return None
    return Answer(row["value"], results.place(f"models/{row['model']}/curve"), note="the training goes as far")


def _updates(results: StudyResults, row: Row) -> pd.DataFrame | None:
    curve = results.find(f"models/{row['model']}/curve")
    return None if curve is None else curve[curve["updated"].astype(bool)]


def _convergence_points(results: StudyResults, row: Row) -> Answer | None:
    updates = _updates(results, row)
    if updates is None:
        return None
    count = len(updates) if math.isnan(row["iteration"]) else int((updates["iteration"] <= row["iteration"]).sum())
    note = f"in {min(_iterations(results, row), row['iteration']):,.0f} iterations"
    return Answer(count, results.place(f"models/{row['model']}/curve"), note=note)


def _convergence_point_iteration(results: StudyResults, row: Row) -> Answer | None:
    updates = _updates(results, row)
    if updates is None or len(updates) < row["point"]:
        return None
    return Answer(updates["iteration"].iloc[int(row["point"]) - 1], results.place(f"models/{row['model']}/curve"))


def _training_time(results: StudyResults, row: Row) -> Answer | None:
    """The time of the training up to the row's iteration, every iteration taking the same."""
    timing = results.find_card(f"models/{row['model']}").get("timing", {})
    seconds = timing.get("seconds", NAN) + timing.get("earlier_seconds", 0.0)
    iterations = min(row["iteration"], _iterations(results, row))
    seconds *= iterations / _iterations(results, row)
    note = f"{iterations:,.0f} iterations on {timing.get('threads', 1)} thread of {timing.get('processor', '')}"
    return Answer(seconds / SECONDS[row["unit"]], results.place(f"models/{row['model']}/curve"), note=note)


def _validation_loss(results: StudyResults, row: Row) -> Answer | None:
    curve = results.find(f"models/{row['model']}/curve")
    if curve is None:
        return None
    losses = curve.loc[curve["iteration"].between(200, 250), "validation_loss"]
    return Answer(losses.max(), results.place(f"models/{row['model']}/curve"))


def _states_seen(results: StudyResults, row: Row) -> Answer | None:
    updates = _updates(results, row)
    if updates is None:
        return None
    chosen = updates[updates["convergence_points"] == row["point"]]
    if chosen.empty:
        return None
    each = results.card(f"models/{row['model']}")["parameters"]["training"]["states_per_iteration"]
    note = f"iteration {chosen['iteration'].iloc[0]}"
    return Answer(chosen["iteration"].iloc[0] * each, results.place(f"models/{row['model']}/curve"), note=note)


def _states_seen_percent(results: StudyResults, row: Row) -> Answer | None:
    found = _states_seen(results, row)
    return replace(found, value=100 * found.value / row["states"]) if found else None


def _times_seen(results: StudyResults, row: Row) -> Answer | None:
    found = _states_seen(results, row)
    return replace(found, value=found.value / row["states"]) if found else None


def _mean_absolute_error(results: StudyResults, row: Row) -> Answer | None:
    if math.isnan(row["distance"]):
        return _measure(results, row, "mean_absolute_error")
    frame = results.find(f"audits/{row['model']}/by_distance")
    if frame is None:
        return None
    frame = frame[(frame["scope"] == row["set"]) & (frame["distance"] == row["distance"])]
    chosen, note = _matching(frame, row, _iterations(results, row))
    value = chosen["mean_absolute_error"].max()
    return Answer(value, results.place(f"audits/{row['model']}/by_distance"), exhaustive=value, note=note)


def _measure(results: StudyResults, row: Row, quantity: str) -> Answer | None:
    """A measure of an audit: over the literature's sample, and over all states."""
    frame = results.find(f"audits/{row['model']}/measures")
    if frame is None:
        return None
    chosen, note = _matching(frame, row, _iterations(results, row))
    by_scope = {scope: _extreme(part[quantity], row) for scope, part in chosen.groupby("scope")}
    if row["set"] not in by_scope:
        return None
    value, everything = by_scope[row["set"]], by_scope["all"]
    low, high = NAN, NAN
    sampled = chosen.loc[chosen["scope"] == row["set"], "states"].iloc[0]
    if quantity.endswith("_percent") and sampled < row["states"]:  # else the sample is full of repetitions
        low, high = share_interval(value, sampled)
    return Answer(value, results.place(f"audits/{row['model']}/measures"), low, high, everything, note)


def share_interval(percent: float, count: float) -> tuple[float, float]:
    """The 95 % interval of a share of so many states, in per cent."""
    low, high = wilson(round(percent * count / 100), int(count))
    return 100 * low, 100 * high


def _cell(results: StudyResults, row: Row) -> Answer | None:
    """A number of the searches at one λ and N; the extreme over λ where the row gives none."""
    at_distance = not math.isnan(row["distance"])
    table = "checkpoints_by_distance" if at_distance else "checkpoints"
    frame = results.find(f"searches/{row['model']}/{table}")
    if frame is None:
        return None
    cells = frame[frame["set"] == _set(results, row)]
    if not math.isnan(row["batch_size"]):
        cells = cells[cells["batch_size"] == row["batch_size"]]
    if at_distance:
        cells = cells[cells["distance"] == row["distance"]]
    if not math.isnan(row["path_weight"]):
        cells = cells[(cells["path_weight"] - row["path_weight"]).abs() < 1e-9]
    chosen, note = _matching(cells, row, _iterations(results, row))
    if chosen.empty:
        return None
    value = _extreme(chosen[row["quantity"]].fillna(math.inf), row)  # no length where nothing was solved
    low, high = NAN, NAN
    if row["quantity"] == "optimal_percent" and chosen["instances"].iloc[0] > 1:
        low, high = share_interval(value, chosen["instances"].iloc[0])
    return Answer(value, results.place(f"searches/{row['model']}/{table}"), low, high, note=note)


def _set(results: StudyResults, row: Row) -> str:
    """The set of a row in our study; a smaller tower is solved within the tower that the model is for."""
    puzzle = results.find_card(f"models/{row['model']}").get("parameters", {}).get("training", {}).get("puzzle")
    return row["set"] if row["puzzle"] == puzzle else f"start_{row['puzzle'].removeprefix('hanoi_')}"


def _seconds(results: StudyResults, row: Row) -> Answer | None:
    frame = results.find(f"timings/searches/{row['model']}")
    if frame is None:
        return None
    cells = frame[(frame["engine"] == NETWORK_ENGINE) & (frame["set"] == _set(results, row))]
    if cells.empty:
        return None
    seconds = cells.pivot(index="path_weight", columns="batch_size", values="seconds")
    weights = seconds.index if math.isnan(row["path_weight"]) else [row["path_weight"]]
    if row["quantity"] == "seconds_ratio_batch_size":
        sizes = seconds.reindex(columns=[3, 7])
        values = sizes[3] / sizes[7]
    elif row["quantity"] == "seconds_ratio_path_weight":
        ratios = seconds.reindex([1.0]).to_numpy() / seconds.reindex(weights).to_numpy()
        values = pd.Series(ratios.mean(axis=1))
    else:
        values = seconds.reindex(index=weights, columns=[row["batch_size"]])[row["batch_size"]]
    note = f"{cells['searches'].iloc[0]:.0f} searches with the chosen checkpoint"
    return Answer(_extreme(values, row), results.place(f"timings/searches/{row['model']}"), note=note)


def _nodes_ratio(results: StudyResults, row: Row) -> Answer | None:
    """Nodes expanded with λ = 1 to those with the row's λ, the extreme over N."""
    weights = (1.0, row["path_weight"])
    frame = results.find(f"searches/{row['model']}/checkpoints")
    if frame is None:
        return None
    chosen, note = _matching(frame[frame["set"] == row["set"]], row, _iterations(results, row))
    nodes = chosen.pivot(index="path_weight", columns="batch_size", values="nodes_expanded")
    if not set(weights) <= set(nodes.index):
        return None
    value = _extreme(nodes.loc[weights[0]] / nodes.loc[weights[1]], row)
    return Answer(value, results.place(f"searches/{row['model']}/checkpoints"), note=note)


def _worst_distance(results: StudyResults, row: Row) -> Answer | None:
    """The least share of optimal solutions over the distances."""
    shares = _shares_by_distance(results, row)
    if shares is None:
        return None
    return Answer(float(shares.min()), results.place(f"searches/{row['model']}/checkpoints_by_distance"))


def _difference(results: StudyResults, row: Row) -> Answer | None:
    """The most that a model's share of optimal solutions is below DNN_reduced_0's at point 10, over the distances."""
    ours = _shares_by_distance(results, row)
    best = _shares_by_distance(results, {**row, "model": "DNN_reduced_0", "point": 10.0})
    if ours is None or best is None:
        return None
    return Answer(float((best - ours).max()), results.place(f"searches/{row['model']}/checkpoints_by_distance"))


def _shares_by_distance(results: StudyResults, row: Row) -> pd.Series | None:
    """The share of optimal solutions of a checkpoint by distance."""
    frame = results.find(f"searches/{row['model']}/checkpoints_by_distance")
    if frame is None:
        return None
    alike = (frame["set"] == row["set"]) & (frame["batch_size"] == row["batch_size"])
    chosen, _ = _matching(frame[alike & (frame["path_weight"] == row["path_weight"])], row, _iterations(results, row))
    return chosen.set_index("distance")["optimal_percent"]


FINDERS = {
    "parameters": lambda results, row: _metric(results, row, "parameters"),
    "total_iterations": _total_iterations,
    "convergence_points": _convergence_points,
    "convergence_point_iteration": _convergence_point_iteration,
    "training_time": _training_time,
    "states_seen": _states_seen,
    "states_seen_percent": _states_seen_percent,
    "times_seen": _times_seen,
    "validation_loss": _validation_loss,
    "mean_absolute_error": _mean_absolute_error,
    "admissible_percent": lambda results, row: _measure(results, row, "admissible_percent"),
    "overestimation_mean": lambda results, row: _measure(results, row, "overestimation_mean"),
    "consistent_percent": lambda results, row: _measure(results, row, "consistent_percent"),
    "optimal_percent": _cell,
    "optimal_percent_least": _worst_distance,
    "optimal_percent_difference": _difference,
    "nodes_expanded": _cell,
    "nodes_expanded_ratio": _nodes_ratio,
    "length": _cell,
    "seconds": _seconds,
    "seconds_ratio_batch_size": _seconds,
    "seconds_ratio_path_weight": _seconds,
}
