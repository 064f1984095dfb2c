"""The numbers of the documents other than the thesis on a puzzle whose states can be listed, beside ours.

Ours are of the training that bears the row's name, Report_DNN or Report_Polyak, in the study of the report or in what
`costtogo keep final_year_report` put aside. A row for every number, covered or not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from costtogo.analysis.literature import SECONDS
from costtogo.report.answers import NAN, NETWORK_ENGINE, Answer, Row, share_interval
from costtogo.report.comparison import AGREES, NOT_COVERED, judge
from costtogo.report.facts import Facts
from costtogo.report.large_comparison import LARGE_QUANTITIES, LARGE_TIMES, MACHINES, REASONS
from costtogo.report.results import StudyResults

COLUMNS = ("reproduced", "interval_95", "verdict", "note", "results_file")  # that compare_listed adds
NETWORK = "Report_DNN"
OPTIMAL = "PDB_solver"
WHY_NOT = REASONS | {
    "actions": "turns of all six faces; but for turns of the whole cube those of three are enough",
    "nodes_per_second": "another solver, which the study does not run",
}


@dataclass(frozen=True)
class Listed:
    """What answers the rows: the study's own results or those kept, and what is known without a network."""

    results: StudyResults
    facts: Facts

    def training(self, model: str) -> dict[str, Any]:
        """The parameters of a training, empty where it has not run."""
        return self.results.find_card(f"models/{model}").get("parameters", {}).get("training", {})

    def cell(self, row: Row) -> dict[str, Any] | None:
        """The searches at the row's λ and N, or at the headline's, on the set of the row or the headline's."""
        card = self.results.find_card(f"searches/{NETWORK}")
        grid = self.results.find(f"searches/{NETWORK}/grid")
        if not card or grid is None:
            return None
        wanted = dict(card["parameters"]["search"]["headline"])
        wanted |= {name: row[name] for name in ("path_weight", "batch_size") if not math.isnan(row[name])}
        alike = np.isclose(grid["path_weight"], wanted["path_weight"]) & (grid["batch_size"] == wanted["batch_size"])
        found = grid[alike & (grid["set"] == wanted["set"])]
        return (
            None if found.empty else found.iloc[0].to_dict() | {"limit": card["parameters"]["search"]["max_expansions"]}
        )

    @property
    def file(self) -> str:
        """Where a reader finds the searches."""
        return self.results.place(f"searches/{NETWORK}/grid")


def compare_listed(reported: pd.DataFrame, found: Listed) -> pd.DataFrame:
    """One row a reported number: adds reproduced, interval_95, verdict, note and results_file."""
    rows = []
    for row in reported.to_dict("records"):
        ours = _answer(found, row)
        if ours is None:
            verdict, parts = NOT_COVERED, [_why_not(row, found)]
        elif row["quantity"] in SETTINGS and row["relation"] == "=":
            same = math.isclose(ours.value, row["value"])
            told = "the same setting" if same else f"a setting, not a result; ours is {ours.value:.6g}"
            verdict, parts = (AGREES if same else NOT_COVERED), [ours.note, told]
        else:
            verdict, why = judge(row, ours, LARGE_QUANTITIES)
            parts = [ours.note, why]
        parts += [f"erratum: {row['erratum']}"] if isinstance(row["erratum"], str) else []
        beside = {
            "reproduced": ours.value if ours else NAN,
            "interval_95": f"[{ours.low:.6g}, {ours.high:.6g}]" if ours and not math.isnan(ours.low) else "",
            "verdict": verdict,
            "note": "; ".join(filter(None, parts)),
            "results_file": ours.file if ours else "",
        }
        rows.append(row | beside)
    return pd.DataFrame(rows, columns=[*reported.columns, *COLUMNS]).rename(columns={"value": "reported"})


def _answer(found: Listed, row: Row) -> Answer | None:
    if row["quantity"] in ("states", "diameter"):
        return found.facts.answer(row)
    find = FINDERS.get(row["quantity"])
    answered = find(found, row) if find else None
    return None if answered is None or math.isnan(answered.value) else answered


def _why_not(row: Row, found: Listed) -> str:
    quantity = row["quantity"]
    if quantity in MACHINES:
        return "a machine, not a result; ours is named in timings.md"
    if isinstance(row["model"], str) and row["model"].startswith("Report") and not found.training(row["model"]):
        return f"the training has not been run: config/{row['source']}.yaml"
    if quantity in LARGE_TIMES and row["model"] == NETWORK:
        return "wall-clock times of this study differ from run to run and stand in timings.md"
    if row["model"] == OPTIMAL:
        return "another solver, which the study does not run"
    return WHY_NOT.get(quantity, "the study has no counterpart, or has not run it")


def _setting(name: str) -> Callable[[Listed, Row], Answer | None]:
    """A finder of a parameter of the training."""

    def find(found: Listed, row: Row) -> Answer | None:
        value: Any = found.training(row["model"])
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return None if value is None else Answer(float(value), found.results.place(f"models/{row['model']}/curve"))

    return find


def _last_rate(found: Listed, row: Row) -> Answer | None:
    """The learning rate at the end of the training, in per cent of the first."""
    training = found.training(row["model"])
    if "learning_rate_factor" not in training:
        return None
    last = 100 * training["learning_rate_factor"] ** training["iterations"]
    return Answer(last, found.results.place(f"models/{row['model']}/curve"), note="the factor, iteration by iteration")


def _of_cell(found: Listed, row: Row) -> Answer | None:
    """A number of the searches at the row's λ and N."""
    cell = found.cell(row)
    if cell is None:
        return None
    low, high, count = NAN, NAN, cell["instances"]
    note = f"{count:.0f} instances of the set {cell['set']}, λ = {cell['path_weight']:g}, N = {cell['batch_size']:.0f}"
    if row["model"] == OPTIMAL:
        value, note = cell["length"] - cell["excess"], f"the mean distance of {note}"
    elif row["quantity"] == "search_iterations":
        value, note = cell["nodes_expanded"] / cell["batch_size"], f"nodes expanded over N; {note}"
    else:
        value = cell[NAMES.get(row["quantity"], row["quantity"])]
    if row["quantity"] in ("states_solved", "optimal_percent"):
        low, high = share_interval(value, count)
    return Answer(float(value), found.file, low, high, note=note)


NAMES = {"states_solved": "solved_percent", "extra_moves": "excess", "states_sampled": "instances"}


def _of_optimal(found: Listed, row: Row) -> Answer | None:
    """Lengths, of the network's solutions or of the shortest; of the other solver nothing else."""
    return _of_cell(found, row) if row["model"] == NETWORK or row["quantity"] == "length" else None


def _limit(found: Listed, row: Row) -> Answer | None:
    cell = found.cell(row)
    return (
        None if cell is None else Answer(cell["limit"] / cell["batch_size"], found.file, note="max_expansions over N")
    )


def _chosen(found: Listed, row: Row) -> Answer | None:
    cell = found.cell(row)
    return None if cell is None else Answer(float(cell[row["quantity"].removesuffix("_chosen")]), found.file)


def _feasible(found: Listed, row: Row) -> Answer | None:
    """The greatest λ at which every instance is solved."""
    cell, grid = found.cell(row), found.results.find(f"searches/{NETWORK}/grid")
    if cell is None:
        return None
    solved = grid[(grid["set"] == cell["set"]) & (grid["solved_percent"] == 100)]
    return Answer(float(solved["path_weight"].max()), found.file, note="the greatest λ at which all are solved")


def _diverges(found: Listed, row: Row) -> Answer | None:
    """1 where the last network is worse than none: its error over all states is more than their mean distance."""
    measures = found.results.find(f"audits/{row['model']}/measures")
    distances = found.facts.states[found.facts.states["puzzle"] == row["puzzle"]]
    if measures is None or distances.empty:
        return None
    last = measures[measures["scope"] == "all"].sort_values("iteration").iloc[-1]
    mean = float(np.average(distances["distance"], weights=distances["states"]))
    error = float(last["mean_absolute_error"])
    note = f"the last network errs by {error:.3g} moves, none at all by {mean:.3g}"
    return Answer(float(error > mean), found.results.place(f"audits/{row['model']}/measures"), note=note)


def _seconds(found: Listed, row: Row) -> Answer | None:
    """Seconds of a search by the engine that calls the network for each search alone, as the literature's."""
    cell, clock = found.cell(row), found.results.find(f"timings/searches/{NETWORK}")
    if cell is None or clock is None or row["model"] != NETWORK:
        return None
    alike = (clock["engine"] == NETWORK_ENGINE) & (clock["set"] == cell["set"])
    alike &= np.isclose(clock["path_weight"], cell["path_weight"]) & (clock["batch_size"] == cell["batch_size"])
    if not alike.any():
        return None
    one = clock[alike].iloc[0]
    path = found.results.place(f"timings/searches/{NETWORK}")
    return Answer(one["seconds"], path, note=f"{one['searches']:.0f} searches, {one['precision']}")


def _training_time(found: Listed, row: Row) -> Answer | None:
    timing = found.results.find_card(f"models/{row['model']}").get("timing", {})
    seconds = timing.get("seconds", NAN) + timing.get("earlier_seconds", 0.0)
    note = f"on {timing.get('threads', 1)} thread of {timing.get('processor', '')}"
    return Answer(seconds / SECONDS[row["unit"]], found.results.place(f"models/{row['model']}/curve"), note=note)


SETTINGS = {
    "averaging_rate": _setting("polyak"),
    "forced_update_iteration": _setting("forced_update"),
    "residual_blocks": _setting("architecture.residual_blocks"),
    "scramble_moves_max": _setting("sampler.walk_max"),
    "training_batch_size": _setting("minibatch"),
    "states_per_iteration": _setting("states_per_iteration"),
    "total_iterations": _setting("iterations"),
    "learning_rate": _setting("learning_rate"),
    "learning_rate_decay": _setting("learning_rate_factor"),
    "learning_rate_last_percent": _last_rate,
    "check_interval": _setting("check_every"),
    "loss_threshold": _setting("epsilon"),
    "path_weight_chosen": _chosen,
    "batch_size_chosen": _chosen,
    "search_iterations_limit": _limit,
    "states_sampled": _of_cell,
}
FINDERS = SETTINGS | {
    "training_diverges": _diverges,
    "states_solved": _of_cell,
    "optimal_percent": _of_cell,
    "extra_moves": _of_cell,
    "search_iterations": _of_cell,
    "nodes_generated": _of_optimal,
    "length": _of_optimal,
    "path_weight_feasible": _feasible,
    "seconds": _seconds,
    "training_time": _training_time,
}


def as_thesis(comparison: pd.DataFrame) -> pd.DataFrame:
    """The same in the columns of the thesis's comparison, to stand in one file with it."""
    named = comparison.rename(columns={"reproduced": "reproduced_thesis", "note": "reason"})
    return named.assign(reproduced_default=NAN, exhaustive=NAN, verdict_default=NOT_COVERED)
