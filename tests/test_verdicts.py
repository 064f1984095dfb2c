"""The literature's numbers beside ours: which training stands beside a number, how the two are judged, and why not."""

import math
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
import synthetic_local_vi
from synthetic_answers import REPORTED, MadeUp
from synthetic_study import whole

from costtogo.analysis.literature import COLUMNS, read_reported
from costtogo.files import write_frame
from costtogo.params.loading import load
from costtogo.report.answer import Answer
from costtogo.report.literature import repeated_table
from costtogo.report.quantities import OTHERS, THESIS, TIMES, quantity_of
from costtogo.report.results import StudyResults
from costtogo.report.verdicts import (
    AGREES,
    ALONE,
    BEATS,
    BY_RECIPE,
    DIFFERS,
    NOT_COVERED,
    SHORT,
    VERDICTS,
    WITHIN,
    compare,
    compare_texts,
    judge,
    judge_text,
    project,
)

ROOT = Path(__file__).parents[1]
NAN = math.nan
ROW = dict.fromkeys(COLUMNS, NAN) | {
    **{"source": "thesis", "section": "5.7", "quantity": "optimal_percent", "puzzle": "cube2", "model": "walker"},
    **{"iteration": 795.0, "point": 11.0, "path_weight": 0.7, "batch_size": 5.0, "set": "test", "relation": "="},
    **{"value": 99.04, "unit": "%"},
}
JUDGED = ROW | {"repeated": True}
TRAINED = {"metrics": {"iterations": 2000}, "parameters": {"training": {"puzzle": "cube2"}}}
EXPANDED = {"quantity": "nodes_expanded", "value": 100.0}


@pytest.mark.parametrize(
    ("change", "value", "verdict"),
    [
        ({}, 99.04, AGREES),
        ({}, 98.6, AGREES),
        ({}, 98.4, SHORT),
        ({}, 99.8, BEATS),
        ({"repeated": False}, 98.6, SHORT),
        (EXPANDED, 109.0, AGREES),
        (EXPANDED, 89.0, BEATS),
        (EXPANDED, 111.0, SHORT),
        ({"quantity": "states_at_distance", "value": 276.0}, 276.0, AGREES),
        ({"quantity": "states_at_distance", "value": 276.0}, 277.0, SHORT),
        ({"quantity": "nodes_expanded", "value": 73.0, "relation": ">="}, 60.0, BEATS),
        ({"quantity": "nodes_expanded", "value": 76.0, "relation": "<="}, 80.0, SHORT),
        ({"quantity": "nodes_expanded", "value": 76.0, "relation": "<="}, 76.0, AGREES),
        ({"quantity": "nodes_expanded", "value": 76.0, "relation": "<"}, 76.0, SHORT),
        ({"value": 96.4, "relation": ">"}, 96.4, SHORT),
        ({"quantity": "length", "value": 127.0}, math.inf, SHORT),
        ({"repeated": False, "quantity": "total_iterations", "value": 10.0}, 10.0, AGREES),
        ({"repeated": False, "quantity": "total_iterations", "value": 10.0}, 20.0, NOT_COVERED),
        ({"repeated": False, "quantity": "learning_rate_last_percent", "value": 1.0, "relation": ">="}, 0.5, SHORT),
    ],
)
def test_a_number_is_judged_by_its_tolerance_and_by_which_way_is_better(change, value, verdict):
    assert judge(JUDGED | change, Answer(value))[0] == verdict


def test_a_number_within_our_interval_agrees_however_far_it_is():
    assert judge(JUDGED, Answer(97.0, low=95.0, high=99.1))[0] == AGREES
    assert judge(JUDGED, Answer(97.0, low=95.0, high=98.9))[0] == SHORT
    assert judge(JUDGED, None)[0] == NOT_COVERED


def test_a_bound_that_our_interval_reaches_is_not_broken():
    row = JUDGED | {"quantity": "sampled_percent", "value": 6.0, "relation": "<"}
    assert judge(row, Answer(6.03, low=5.85, high=6.21)) == (AGREES, "within the interval")
    assert judge(row, Answer(6.3, low=6.1, high=6.5))[0] == SHORT


@pytest.mark.parametrize(
    ("theirs", "answer", "verdict"),
    [
        ("7/8", Answer(Fraction(7, 8)), AGREES),
        ("7/8", Answer(Fraction(6, 8)), DIFFERS),
        ("83.3", Answer(83.35), AGREES),
        ("83.3", Answer(83.45), DIFFERS),
        ("90", Answer(80.0, low=70.0, high=95.0), WITHIN),
        ("96", Answer(80.0, low=70.0, high=95.0), DIFFERS),
    ],
)
def test_a_text_is_judged_exactly_or_as_rounded_or_by_chance(theirs, answer, verdict):
    assert judge_text({"value": theirs, "quantity": "share"}, answer)[0] == verdict


def test_the_thesis_is_judged_by_its_own_tolerances_and_named_as_its_own():
    assert set(THESIS) == set(read_reported([REPORTED / "thesis.csv"])["quantity"])
    assert quantity_of("optimal_percent", thesis=True).tolerance == "0.5"
    assert quantity_of("optimal_percent").tolerance == ""
    assert set(THESIS) < set(OTHERS)


# Which training stands


def searched(point: int, percent: float) -> dict[str, pd.DataFrame]:
    cell = {"set": "test", "path_weight": 0.7, "batch_size": 5, "instances": 1000, "nodes_expanded": 100.0}
    place = {"iteration": 100 * point, "convergence_point": point, "optimal_percent": percent}
    return {"searches/walker/checkpoints": pd.DataFrame([cell | place])}


@pytest.fixture
def study(tmp_path) -> MadeUp:
    found = MadeUp(tmp_path, "walker")
    found.cards, found.tables = {"models/walker": TRAINED}, searched(11, 98.0)
    return found


def compared(study: MadeUp, timed: bool = False, **changes) -> pd.Series:
    reported = pd.DataFrame([ROW | changes])
    return project(compare(reported, study.results(timed)), BY_RECIPE).iloc[0]


def keep(study: MadeUp, tables: dict[str, pd.DataFrame]) -> None:
    """Keep an exact recipe of the same name as the study thesis."""
    exact = MadeUp(study.folder.parents[1], "walker", name="exact")
    exact.cards, exact.tables = {"models/walker": TRAINED}, tables
    exact.keep("thesis")


def test_the_verdict_is_on_the_exact_recipe_where_it_was_run(study):
    keep(study, searched(11, 99.9))
    row = compared(study)
    assert (row["reproduced_thesis"], row["reproduced_default"]) == (99.9, 98.0)
    assert (row["verdict"], row["verdict_default"]) == (BEATS, SHORT)
    assert "exact recipe; convergence point 11" in row["reason"] and "data/measured/thesis" in row["results_file"]


def test_the_compact_network_stands_alone_where_the_exact_recipe_was_not_run(study):
    row = compared(study, erratum="A slip.")
    assert math.isnan(row["reproduced_thesis"]) and row["verdict"] == SHORT
    assert "has not been run" in row["reason"] and row["reason"].endswith("erratum: A slip.")
    study.cards, study.tables, study.folder = {}, {}, study.folder.with_name("nothing")
    nothing = compared(study)
    assert nothing["verdict"] == NOT_COVERED and "no counterpart" in nothing["reason"]


def test_an_exact_training_that_stopped_short_is_not_answered_by_the_compact_one(study):
    curve = pd.DataFrame({"iteration": range(100, 2001, 100), "updated": True, "validation_loss": 1.0})
    study.tables["models/walker/curve"] = curve
    keep(study, {"models/walker/curve": curve[:12]})
    row = compared(study, quantity="convergence_point_iteration", value=9900.0, point=13.0)
    assert row["verdict"] == NOT_COVERED and row["verdict_default"] == BEATS
    assert "exact recipe; nothing to compare" in row["reason"]


def test_a_time_of_the_study_itself_is_told_among_the_times_alone(study):
    study.cards["timings/models/walker"] = {"seconds": 3600.0}
    terms = {"quantity": "training_time", "unit": "h", "value": 1.0, "iteration": 2000.0}
    assert "timings.md" in compared(study, **terms)["reason"]
    assert compared(study, timed=True, **terms)["verdict"] == AGREES


# The final-year report's numbers on the 2×2×2

OTHER = read_reported([REPORTED / "cube2" / "final_year_report.csv"], "cube2")
HEADLINE = {"set": "scrambled_1000", "path_weight": 0.8, "batch_size": 64}
TRAININGS = {
    name: model.model_dump()
    for name, model in load([ROOT / "params.yaml", ROOT / "config" / "final_year_report.yaml"]).models.items()
}


@pytest.fixture
def final_year(tmp_path) -> MadeUp:
    """A finished study of the report's trainings."""
    found = MadeUp(tmp_path, *TRAININGS, name="final_year_report")
    found.layers = [1, 6, 100, 20]
    search = {"headline": HEADLINE, "max_expansions": 51200}
    found.cards = {f"models/{name}": {"parameters": {"training": each}} for name, each in TRAININGS.items()}
    found.cards |= {f"timings/models/{name}": {"seconds": 1800.0} for name in TRAININGS}
    found.cards |= {"searches/Report_DNN": {"parameters": {"search": search}}}
    found.cards |= {"tables/cube2": {"metrics": {"mean_distance": 2.1}}}
    cell = HEADLINE | {"instances": 100, "solved_percent": 100.0, "optimal_percent": 97.0, "length": 10.78}
    cell |= {"excess": 0.06, "nodes_expanded": 1088.0, "nodes_generated": 3000.0}
    clock = {"engine": "network alone", "searches": 12, "seconds": 0.05, "precision": "float32"}
    errors = {"scope": "all", "iteration": [500, 5000], "mean_absolute_error": [3.0, 0.2]}
    found.tables = {
        "searches/Report_DNN/grid": pd.DataFrame([cell, cell | {"path_weight": 1.0}]),
        "timings/searches/Report_DNN": pd.DataFrame([clock | HEADLINE]),
        "audits/Report_Polyak/measures": pd.DataFrame(errors),
    }
    return found


def answered(study: MadeUp, timed: bool = False) -> pd.DataFrame:
    return project(compare(OTHER, study.results(timed)), ALONE)


def one(rows: pd.DataFrame, quantity: str, model: str | None = "Report_DNN", relation: str = "=") -> dict:
    alike = (rows["quantity"] == quantity) & (rows["relation"] == relation)
    alike &= rows["model"].isna() if model is None else rows["model"] == model
    (found,) = rows[alike].to_dict("records")
    return found


@pytest.mark.parametrize("kind", ["run", "timed", "kept", "not run"])
def test_every_number_has_a_verdict_and_a_note_and_an_erratum_stays(kind, final_year, tmp_path):
    if kind == "kept":
        final_year.keep("final_year_report")
    if kind in ("kept", "not run"):
        final_year = MadeUp(tmp_path, name="another")
        final_year.layers = [1, 6]
    rows = answered(final_year, timed=kind == "timed")
    assert len(rows) == len(OTHER) == 43 and list(rows.columns[-len(ALONE) :]) == list(ALONE.values())
    assert set(rows["verdict"]) <= set(VERDICTS) and (rows["note"] != "").all()
    doubted = rows[rows["erratum"].notna()]
    assert len(doubted) == 6 and doubted["note"].str.contains("erratum: ").all()
    assert one(rows, "states", None)["reproduced"] == sum(final_year.layers), "which every study knows"
    told = one(rows, "length")["note"]
    assert (told == "the training has not been run: config/final_year_report.yaml") == (kind == "not run")
    if kind == "not run":
        assert set(rows.loc[rows["verdict"] != NOT_COVERED, "quantity"]) == {"states", "diameter"}


def test_the_searches_answer_tables_1_and_2(final_year):
    rows = answered(final_year)
    assert one(rows, "length")["reproduced"] == 10.78
    assert one(rows, "length", "PDB_solver")["reproduced"] == pytest.approx(10.72)
    assert one(rows, "extra_moves")["verdict"] == AGREES  # 0.06 against 0.1
    assert one(rows, "states_solved")["verdict"] == AGREES
    assert one(rows, "search_iterations")["reproduced"] == 17
    assert one(rows, "nodes_generated")["verdict"] == BEATS
    assert one(rows, "optimal_percent", relation=">")["verdict"] == AGREES
    assert one(rows, "search_iterations_limit")["reproduced"] == 800
    assert one(rows, "path_weight_feasible")["reproduced"] == 1.0


def test_table_4_is_the_recipe_that_ran(final_year):
    rows = answered(final_year)
    same = ["total_iterations", "training_batch_size", "states_per_iteration", "learning_rate", "learning_rate_decay"]
    same += ["check_interval", "loss_threshold", "scramble_moves_max", "residual_blocks", "forced_update_iteration"]
    assert {one(rows, quantity)["verdict"] for quantity in same} == {AGREES}
    last = rows[rows["quantity"] == "learning_rate_last_percent"]
    assert last["reproduced"].tolist() == pytest.approx([100 * 0.9995**5000] * 2)
    assert set(last["verdict"]) == {AGREES}


@pytest.mark.parametrize(("error", "verdict"), [(0.2, AGREES), (900.0, SHORT)])
def test_averaging_has_diverged_where_the_last_network_is_worse_than_none(error, verdict, final_year):
    final_year.tables["audits/Report_Polyak/measures"].loc[1, "mean_absolute_error"] = error
    rows = answered(final_year)
    row = one(rows, "training_diverges", "Report_Polyak")
    assert (row["reproduced"], row["verdict"]) == (float(error > 2.1), verdict)
    assert one(rows, "averaging_rate", "Report_Polyak")["verdict"] == AGREES


def test_every_time_of_the_document_stands_in_the_table_of_times(final_year):
    apart, asked = answered(final_year), answered(final_year, timed=True)
    for quantity, value in (("seconds", 0.05), ("training_time", 0.5)):
        assert math.isnan(one(apart, quantity)["reproduced"]) and "timings.md" in one(apart, quantity)["note"]
        assert one(asked, quantity)["reproduced"] == value
    times = OTHER[OTHER["quantity"].isin(TIMES)]
    shown = repeated_table(project(compare(times, final_year.results()), BY_RECIPE))
    assert shown.count("\n") == len(times) + 2 and "nodes generated a second" in shown


def test_a_class_of_which_no_board_was_drawn_has_no_answer(tmp_path):
    asked = synthetic_local_vi.study_of()
    path = synthetic_local_vi.write_results(asked, tmp_path) / "local_vi/puzzle15/boards.parquet"
    boards = pd.read_parquet(path)
    write_frame(path, boards[boards["considered_1"] != 5])
    rows = compare_texts(StudyResults(tmp_path / "local_vi", whole(asked)))
    missing = rows[(rows["quantity"] == "maximum_moves") & (rows["initial_size"] == 1) & (rows["considered"] == 5)]
    assert missing[["reproduced", "verdict"]].to_numpy().tolist() == [["–", NOT_COVERED]]
    assert (rows["verdict"] != NOT_COVERED).any()
