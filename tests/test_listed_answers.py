"""The final-year report's numbers on the 2×2×2 beside ours: which number answers, and that each has its reason."""

import math
from pathlib import Path

import pandas as pd
import pytest

from costtogo.analysis.literature import read_reported
from costtogo.params.loading import load
from costtogo.report.compared import rows_table
from costtogo.report.comparison import AGREES, BEATS, NOT_COVERED, SHORT, VERDICTS
from costtogo.report.facts import Facts
from costtogo.report.large_comparison import LARGE_TIMES
from costtogo.report.listed_answers import COLUMNS, Listed, as_thesis, compare_listed

ROOT = Path(__file__).parent.parent
REPORTED = read_reported([ROOT / "data" / "reported" / "cube2" / "final_year_report.csv"], "cube2")
STATES = pd.DataFrame({"puzzle": "cube2", "distance": [0, 10, 11, 14], "states": [1, 1000, 2000, 276]})
HEADLINE = {"set": "scrambled_1000", "path_weight": 0.8, "batch_size": 64}


class MadeUp:
    """A finished study of the report's trainings."""

    def __init__(self, diverged: bool = False, timed: bool = False):
        study = load([ROOT / "params.yaml", ROOT / "config" / "final_year_report.yaml"])
        self.trainings = {name: model.model_dump() for name, model in study.models.items()}
        self.timed = timed
        self.error = 900.0 if diverged else 0.2

    def find_card(self, address):
        group, name = address.split("/")
        if group == "searches":
            return {"parameters": {"search": {"headline": HEADLINE, "max_expansions": 51200}}}
        timing = {"timing": {"seconds": 1800.0, "threads": 1, "processor": "x"}} if self.timed else {}
        return {"parameters": {"training": self.trainings[name]}} | timing

    def find(self, address):
        group = address.split("/")[0]
        if group == "audits":
            rows = [
                {"scope": "all", "iteration": i, "mean_absolute_error": e} for i, e in ((500, 3.0), (5000, self.error))
            ]
            return pd.DataFrame(rows)
        if group == "timings":
            clock = {"engine": "network alone", "searches": 12, "seconds": 0.05, "precision": "float32"}
            return pd.DataFrame([clock | HEADLINE]) if self.timed else None
        found = {"instances": 100, "solved_percent": 100.0, "optimal_percent": 97.0, "length": 10.78, "excess": 0.06}
        cell = HEADLINE | found | {"nodes_expanded": 1088.0, "nodes_generated": 3000.0}
        return pd.DataFrame([cell, cell | {"path_weight": 1.0}])

    def place(self, address):
        return address


class Nothing(MadeUp):
    def find_card(self, address):
        return {}

    def find(self, address):
        return None


def compared(source) -> pd.DataFrame:
    facts = Facts("made_up", STATES, {}, {}, {}, {}, {})
    return compare_listed(REPORTED, Listed(source, facts))


def one(rows: pd.DataFrame, quantity: str, model: str | None = "Report_DNN", relation: str = "=") -> dict:
    alike = (rows["quantity"] == quantity) & (rows["relation"] == relation)
    alike &= rows["model"].isna() if model is None else rows["model"] == model
    (found,) = rows[alike].to_dict("records")
    return found


@pytest.mark.parametrize("source", [MadeUp(), MadeUp(timed=True), Nothing()], ids=["run", "timed", "not run"])
def test_every_number_has_a_verdict_and_a_note_and_an_erratum_stays(source):
    rows = compared(source)
    assert len(rows) == len(REPORTED) == 43 and list(rows.columns[-len(COLUMNS) :]) == list(COLUMNS)
    assert set(rows["verdict"]) <= set(VERDICTS) and (rows["note"] != "").all()
    doubted = rows[rows["erratum"].notna()]
    assert len(doubted) == 6 and doubted["note"].str.contains("erratum: ").all()


def test_what_was_not_run_is_told_with_the_study_that_runs_it():
    rows = compared(Nothing())
    assert one(rows, "length")["note"] == "the training has not been run: config/final_year_report.yaml"
    assert one(rows, "states", None)["reproduced"] == STATES["states"].sum()
    covered = rows[rows["verdict"] != NOT_COVERED]
    assert set(covered["quantity"]) == {"states", "diameter"}


def test_the_searches_answer_tables_1_and_2():
    rows = compared(MadeUp())
    assert one(rows, "length")["reproduced"] == 10.78
    assert one(rows, "length", "PDB_solver")["reproduced"] == pytest.approx(10.72)
    assert one(rows, "extra_moves")["verdict"] == AGREES  # 0.06 against 0.1
    assert one(rows, "states_solved")["verdict"] == AGREES
    assert one(rows, "search_iterations")["reproduced"] == 17
    assert one(rows, "nodes_generated")["verdict"] == BEATS
    assert one(rows, "optimal_percent", relation=">")["verdict"] == AGREES
    assert one(rows, "search_iterations_limit")["reproduced"] == 800
    assert one(rows, "path_weight_feasible")["reproduced"] == 1.0


def test_table_4_is_the_recipe_that_ran():
    rows = compared(MadeUp())
    same = ["total_iterations", "training_batch_size", "states_per_iteration", "learning_rate", "learning_rate_decay"]
    same += ["check_interval", "loss_threshold", "scramble_moves_max", "residual_blocks", "forced_update_iteration"]
    assert {one(rows, quantity)["verdict"] for quantity in same} == {AGREES}
    last = rows[rows["quantity"] == "learning_rate_last_percent"]
    assert last["reproduced"].tolist() == pytest.approx([100 * 0.9995**5000] * 2)
    assert set(last["verdict"]) == {AGREES}


@pytest.mark.parametrize(("diverged", "verdict"), [(False, AGREES), (True, SHORT)])
def test_averaging_has_diverged_where_the_last_network_is_worse_than_none(diverged, verdict):
    row = one(compared(MadeUp(diverged)), "training_diverges", "Report_Polyak")
    assert (row["reproduced"], row["verdict"]) == (float(diverged), verdict)
    assert one(compared(MadeUp()), "averaging_rate", "Report_Polyak")["verdict"] == AGREES


def test_times_are_seen_only_when_asked_for():
    apart, asked = compared(MadeUp()), compared(MadeUp(timed=True))
    for quantity, value in (("seconds", 0.05), ("training_time", 0.5)):
        assert math.isnan(one(apart, quantity)["reproduced"]) and "timings.md" in one(apart, quantity)["note"]
        assert one(asked, quantity)["reproduced"] == value


def test_both_documents_stand_in_one_file():
    rows = as_thesis(compared(MadeUp()))
    assert {"reported", "reproduced_thesis", "reproduced_default", "verdict", "reason"} <= set(rows.columns)
    assert "reproduced" not in rows and (rows["reason"] != "").all()


def test_every_time_of_the_document_stands_in_the_table_of_times():
    answered = compared(MadeUp(timed=True))
    times = answered[answered["quantity"].isin(LARGE_TIMES)]
    shown = rows_table(as_thesis(times))
    assert shown.count("\n") >= len(times)
    assert "nodes generated a second" in shown
