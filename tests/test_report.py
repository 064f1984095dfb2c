"""The report: every number leads back to the results, and the same results give the same bytes."""

import json
import math
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from synthetic_study import study_of, write_kept, write_results

from costtogo.figures.catalogue import catalogue
from costtogo.files import FileError
from costtogo.puzzles import title
from costtogo.report.markdown import amount, interval, percent, places, short
from costtogo.report.quantities import TIMES
from costtogo.report.results import Beside, StudyResults
from costtogo.report.tables import learning_curve
from costtogo.report.trainings import flatten
from costtogo.report.verdicts import NOT_COVERED, VERDICTS
from costtogo.report.write import write as write_report

ROOT = Path(__file__).parent.parent
STUDY = study_of((3, 4))
TIMINGS = ("stages", "searches", "reported_vs_reproduced")


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    return write_results(STUDY, tmp_path_factory.mktemp("results")).parent


@pytest.fixture(scope="module")
def written(results, tmp_path_factory) -> Path:
    return run(results, tmp_path_factory.mktemp("reports"))


def run(results: Path, reports: Path) -> Path:
    measured = write_kept(reports / "measured")
    beside = Beside(ROOT / "data/reported", measured, ROOT / "workflow/captions")
    write_report(StudyResults(results / STUDY.study, STUDY, beside), reports / STUDY.study)
    return reports / STUDY.study


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture
def changed(results, tmp_path):
    """A copy of the results that a test may change."""
    return Path(shutil.copytree(results, tmp_path / "changed"))


def test_the_same_results_give_the_same_bytes(results, written, tmp_path):
    assert contents(run(results, tmp_path)) == contents(written)


def test_tables_of_models_that_are_gone_are_removed(results, written, tmp_path):
    gone = tmp_path / STUDY.study / "tables" / "grid_of_a_model_that_is_gone.csv"
    gone.parent.mkdir(parents=True)
    gone.write_text("")
    assert contents(run(results, tmp_path)) == contents(written)


def test_wall_clock_times_touch_no_file_but_their_own(changed, written, tmp_path):
    for path in (changed / STUDY.study / "timings").glob("*/*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": 123.0}))
    for path in (changed / STUDY.study / "timings" / "searches").glob("*.parquet"):
        frame = pd.read_parquet(path)
        frame.assign(seconds=2 * frame["seconds"]).to_parquet(path)
    before, after = contents(written), contents(run(changed, tmp_path))
    changed_files = {name for name in before if before[name] != after[name]}
    assert changed_files == {"timings.md", *(f"timings/{name}.csv" for name in TIMINGS)}


def test_the_report_shows_every_figure_but_those_of_time(written):
    shown = re.findall(r"\]\(((?:figures|timings)/.+?)\.png\)", (written / "report.md").read_text())
    timed = re.findall(r"\]\(((?:figures|timings)/.+?)\.png\)", (written / "timings.md").read_text())
    assert sorted(shown + timed) == sorted(entry.stem for entry in catalogue(STUDY, written.parent / "measured"))
    assert all(name.startswith("timings/seconds_") for name in timed)
    assert not any(name.startswith("timings/seconds_") for name in shown)


@pytest.mark.parametrize("name", ["report.md", "timings.md"])
def test_every_row_of_a_table_has_the_columns_of_its_head(name, written):
    rows = re.findall(r"(?:^\|.*\|$\n?)+", (written / name).read_text(), flags=re.MULTILINE)
    assert rows
    for table in rows:
        assert len({line.count(" | ") for line in table.strip().splitlines()}) == 1


@pytest.mark.parametrize("name", ["report.md", "timings.md"])
def test_no_number_is_missing_without_a_dash(name, written):
    assert not re.search(r"\b(nan|None|inf)\b", (written / name).read_text())


def test_a_changed_result_changes_its_number_in_summary_and_metrics(changed, tmp_path):
    path = changed / STUDY.study / "searches" / "DNN_reduced_0" / "grid.parquet"
    grid = pd.read_parquet(path)
    grid.loc[grid["set"] == "test", ["optimal_percent", "nodes_expanded"]] = 12.5, 345.25
    grid.to_parquet(path)
    folder = run(changed, tmp_path)
    summary = next(line for line in (folder / "report.md").read_text().splitlines() if "`DNN_reduced_0`" in line)
    assert "12.50 [" in summary and "345.25" in summary
    metrics = metrics_of(folder)
    assert metrics["DNN_reduced_0"]["optimal_percent"] == 12.5
    assert metrics["DNN_final_2x2x2_nr"]["optimal_percent"] != 12.5


def metrics_of(folder: Path) -> dict[str, dict[str, float]]:
    """The metrics of each model."""
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("metrics/*.json")}


def test_metrics_are_finite_numbers_of_every_model(written):
    metrics = metrics_of(written)
    assert set(metrics) == set(STUDY.models)
    for measures in metrics.values():
        assert {"selected_iteration", "mean_absolute_error", "optimal_percent", "zero_nodes_expanded"} <= set(measures)
        assert all(math.isfinite(value) for value in measures.values())


def test_the_table_of_each_search_has_the_network_and_both_baselines(written):
    for model in STUDY.models:
        grid = pd.read_csv(written / "tables" / f"grid_{model}.csv")
        assert set(grid["heuristic"]) == {"network", "exact", "zero"}


REPORTED = ROOT / "data/reported/thesis.csv"
OTHERS = ROOT / "data/reported/cube2/final_year_report.csv"


def test_every_number_of_the_literature_stands_beside_ours(written):
    reported = pd.concat([pd.read_csv(REPORTED), pd.read_csv(OTHERS)], ignore_index=True)
    beside = pd.read_csv(written / "reported_vs_reproduced.csv")
    assert len(beside) == len(reported) >= 250
    pd.testing.assert_series_equal(beside["reported"], reported["value"], check_names=False)
    assert set(beside["verdict"]) <= set(VERDICTS)
    assert beside["reason"].notna().all()
    covered = beside[beside["verdict"] != NOT_COVERED]
    assert len(covered) > 50
    assert covered[["reproduced_thesis", "reproduced_default"]].notna().any(axis=1).all()
    assert covered["results_file"].notna().all()
    assert (
        beside.loc[beside["verdict"] == NOT_COVERED, ["reproduced_thesis", "reproduced_default"]].isna().all(axis=None)
    )


def test_our_number_beside_the_literatures_is_the_one_of_the_results(written):
    beside = pd.read_csv(written / "reported_vs_reproduced.csv")
    row = beside[(beside["set"] == "grid") & (beside["model"] == "DNN_final_2x2x2_nr")]
    row = row[(row["quantity"] == "nodes_expanded") & (row["path_weight"] == 0.7) & (row["batch_size"] == 5)].iloc[0]
    ours = pd.read_csv(written / "tables" / "grid_DNN_final_2x2x2_nr.csv")
    ours = ours[(ours["heuristic"] == "network") & (ours["set"] == "grid")]
    ours = ours[(ours["path_weight"] == 0.7) & (ours["batch_size"] == 5)]
    assert row["reproduced_default"] == pytest.approx(ours["nodes_expanded"].item())


def test_times_are_compared_apart_and_only_there(written):
    beside = pd.read_csv(written / "reported_vs_reproduced.csv")
    assert beside.loc[beside["quantity"].isin(TIMES), "reproduced_default"].isna().all()
    apart = pd.read_csv(written / "timings" / "reported_vs_reproduced.csv")
    assert {"seconds", "training_time"} <= set(apart["quantity"]) <= set(TIMES)
    assert apart["reproduced_default"].notna().any()


def test_a_set_of_all_the_farthest_states_has_a_table_of_its_own(written):
    text = (written / "report.md").read_text()
    (part,) = re.findall(r"From all 30 states that are 4 moves away, the farthest there are:\n\n(.*?)\n\n", text, re.S)
    names = [line.split("|")[1].strip() for line in part.splitlines()[2:]]
    assert names == ["`DNN_final_2x2x2_nr`", "`DNN_reduced_0`", "exact", "zero"]


def test_the_counts_by_verdict_add_up(written):
    beside = pd.read_csv(written / "reported_vs_reproduced.csv")
    lines = [line for line in (written / "report.md").read_text().splitlines() if line.startswith("| **all** |")]
    for line, thesis in zip(lines, (True, False), strict=True):
        total, *counts = (int(cell.replace(",", "")) for cell in line.strip("| ").split(" | ")[1:])
        own = beside[(beside["source"] == "thesis") == thesis]
        assert total == len(own) == sum(counts)
        assert counts == [int((own["verdict"] == verdict).sum()) for verdict in VERDICTS]


def test_every_slip_of_the_thesis_is_told(written):
    text = (written / "report.md").read_text()
    for erratum in pd.read_csv(REPORTED)["erratum"].dropna().unique():
        assert erratum in text


def test_the_learning_curve_weighs_distances_by_their_states(results):
    found = StudyResults(results / STUDY.study, STUDY)
    curve = learning_curve(found, "hanoi_3_uniform")
    errors = found.frame("models/hanoi_3_uniform/errors")
    last = errors[errors["iteration"] == errors["iteration"].max()]
    expected = (last["mean_absolute_error"] * last["states"]).sum() / last["states"].sum()
    assert curve["mean_absolute_error"].iloc[-1] == pytest.approx(expected)


def test_the_report_says_how_far_sets_overlap_and_which_puzzles_are_exempt(written):
    text = (written / "report.md").read_text()
    assert "The Towers of Hanoi are exempt" in text
    assert "states that a selection set holds too" in text


def test_a_selection_of_two_checkpoints_is_refused(changed, tmp_path):
    path = changed / STUDY.study / "searches" / "DNN_reduced_0" / "selection.parquet"
    selection = pd.read_parquet(path)
    pd.concat([selection, selection]).to_parquet(path)
    with pytest.raises(FileError, match="selects 2 checkpoints"):
        run(changed, tmp_path)


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (percent, 100.0, "100"),
        (percent, 99.998, "99.99"),
        (percent, 99.99999999999999, "100"),
        (percent, None, "–"),
        (amount, 1234567.0, "1,234,567"),
        (amount, 72.836, "72.84"),
        (amount, math.nan, "–"),
        (places(3), 0.1234, "0.123"),
        (short, 0.7, "0.7"),
        (short, "uniform", "uniform"),
        (title, "cube2", "2×2×2 cube"),
        (title, "hanoi_7", "Towers of Hanoi H(7, 3)"),
        (title, "hanoi_7_4", "Towers of Hanoi H(7, 4)"),
        (title, "lights_out_7", "Lights Out, 7 × 7"),
        (flatten, {"sampler": {"kind": "uniform"}, "seed": 1}, {"sampler.kind": "uniform", "seed": 1}),
    ],
)
def test_values_are_written_for_readers(write, value, text):
    assert write(value) == text


def test_a_share_of_one_instance_has_no_interval():
    assert interval(100.0, None, None) == "100"
    assert interval(99.87, 99.78, 99.92) == "99.87 [99.78, 99.92]"
