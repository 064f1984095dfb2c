"""How long trainings would take, from their first seconds: `costtogo estimate`, and what reports tell of it."""

import pandas as pd
import pytest
from messages import is_one_sentence
from synthetic_study import study_of, write_results

from costtogo.commands import estimate
from costtogo.files import read_csv, write_csv
from costtogo.literature.estimates import not_run, price_of_undecided
from costtogo.params.loading import load
from costtogo.params.slices import slices
from costtogo.report.write import write
from costtogo.tables.kept import ESTIMATES
from costtogo.tables.results import References, StudyResults
from costtogo.types import UserError

STUDY = load(["config/smoke.yaml"])
NAMES = ["H4_DNN_reduced_0", "hanoi_4_uniform"]


@pytest.fixture(scope="module")
def row():
    return estimate.estimate(slices(STUDY)["models/hanoi_4_uniform"], 0.3)


def test_the_hours_are_the_time_of_a_state_times_all_states(row):
    asked = STUDY.models["hanoi_4_uniform"]
    assert row["states"] == asked.iterations * asked.states_per_iteration
    assert row["hours"] == pytest.approx(row["microseconds"] * 1e-6 * row["states"] / 3600, rel=0.05, abs=1e-4)
    measured = row["timed_seconds"] * 1e6 / row["timed_iterations"] / asked.states_per_iteration
    assert row["microseconds"] == pytest.approx(measured, rel=0.2)  # timed_seconds has one decimal
    assert row["microseconds_least"] <= row["microseconds"] <= row["microseconds_most"]


def test_a_training_stops_when_its_seconds_are_up_or_it_ends(row):
    assert row["timed_iterations"] < STUDY.models["hanoi_4_uniform"].iterations
    whole = estimate.estimate(slices(STUDY)["models/hanoi_4_uniform"], 1000)
    assert whole["timed_iterations"] == STUDY.models["hanoi_4_uniform"].iterations - 1


def test_kept_rows_replace_those_of_the_same_trainings_alone(tmp_path, capsys):
    write_csv(tmp_path / f"{ESTIMATES}.csv", pd.DataFrame({"model": [NAMES[0], "another"], "hours": [1000.0, 7.0]}))
    estimate.run(STUDY, NAMES, 0.2, tmp_path)
    kept = read_csv(tmp_path / f"{ESTIMATES}.csv").set_index("model")["hours"]
    assert sorted(kept.index) == sorted(["another", *NAMES])
    assert kept["another"] == 7 and (kept[NAMES] < 1).all()
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == NAMES


@pytest.mark.parametrize(
    ("names", "seconds", "told"),
    [(["hanoi_4_uniforn"], 1, "did you mean 'hanoi_4_uniform'?"), (["DNN_reduced_0"], 1e-6, "ask for more seconds")],
)
def test_what_cannot_be_told_is_refused_in_one_sentence(names, seconds, told, tmp_path):
    with pytest.raises(UserError, match=told.replace("?", r"\?")) as error:
        estimate.run(STUDY, names, seconds, tmp_path)
    assert is_one_sentence(str(error.value))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("seconds", "text"), [(5400, "1.5 h"), (90, "1.5 min"), (12.4, "12 s")])
def test_a_duration_has_the_largest_unit_that_is_not_too_large(seconds, text):
    assert estimate.duration(seconds) == text


def test_the_report_tells_of_exact_recipes_that_have_not_been_run_alone(tmp_path):
    study = study_of()
    write_results(study, tmp_path / "results")
    results = StudyResults(tmp_path / "results" / study.study, study, References(measured=tmp_path))
    write(results, tmp_path / "before")
    row = dict.fromkeys(["timed_iterations", *estimate.NAMES, "iterations"], 3)
    row |= {"puzzle": "cube2", "hours": 5.8, "threads": 1, "precision": "float32", "processor": "one"}
    rows = [{"model": model, **row} for model in ("DNN_reduced_0", "DNN_0")]
    write_csv(tmp_path / "thesis" / f"{ESTIMATES}.csv", pd.DataFrame(rows))
    (tmp_path / "thesis.json").write_text('{"models/DNN_0": {"parameters": {"training": {"puzzle": "cube2"}}}}')
    results = StudyResults(tmp_path / "results" / study.study, study, References(measured=tmp_path))
    assert list(not_run(results)["model"]) == ["DNN_reduced_0"]
    write(results, tmp_path / "after")
    before, after = ((tmp_path / name / "timings.md").read_text() for name in ("before", "after"))
    heading = "## Exact recipes that have not been run"
    assert heading not in before and heading in after
    told = after.partition(heading)[2]
    assert "| `DNN_reduced_0` |" in told and "`DNN_0`" not in told


def test_every_number_that_cannot_be_told_has_something_that_would_decide_it():
    results = StudyResults.to_write_again("default")
    rows = pd.read_csv("reports/published/default/reported_vs_reproduced.csv")
    price = price_of_undecided(results, rows).set_index("model")
    undecided = rows[rows["verdict"].eq("cannot tell") & rows["source"].eq("thesis") & rows["kind"].ne("fact")]
    assert len(price) and price["undecided"].to_dict() == undecided["model"].value_counts().to_dict()
    assert (price["hours"] > 0).all()
    exact, compact = price[price["recipe"] == "exact"], price[price["recipe"] == "compact"]
    assert set(compact["decides"]) <= {"the exact recipe", "more seeds"}
    few = exact[exact["seeds"] < 5]
    assert (few["decides"] == [f"{5 - seeds} seeds more" for seeds in few["seeds"]]).all()
    assert price_of_undecided(results, rows[rows["verdict"] != "cannot tell"]).empty
    assert (price_of_undecided(results, rows.assign(seeds=float("nan")))["seeds"] == 1).all()
