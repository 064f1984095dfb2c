"""The report of a large puzzle: every number of the literature has a row, every part may be missing."""

import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_pages import texts_of, whole_text
from synthetic_large import PARTS, names_of, study_of, write_results
from synthetic_study import whole

from costtogo.files import digest
from costtogo.literature.comparison import compare_all
from costtogo.literature.counterparts import OTHER_SETS
from costtogo.literature.documents import documents
from costtogo.literature.quantities import OTHERS, TIMES
from costtogo.literature.reported import DOCUMENTS, read_reported, trainings
from costtogo.literature.words import NOT_COMPARABLE, NOT_JUDGED, NOT_RUN, REPRODUCED, VERDICTS, WORSE
from costtogo.params.base import TrainingName
from costtogo.params.searches import OptimaParams
from costtogo.params.trainers import training_of
from costtogo.report.write import write
from costtogo.stages.search.external import AGAINST_THE_OPTIMUM
from costtogo.tables.results import References, StudyResults

ROOT = Path(__file__).parents[1]
BESIDE = References(ROOT / "data/reported", ROOT / "data/none", ROOT / "workflow/captions.yaml")
STUDIES = {name: study_of(name) for name in ("cube3", "puzzle15")}
STUDY = STUDIES["cube3"]  # where a test is of what the cube alone has
REPORTED = {name: read_reported(documents(name, BESIDE.reported), name) for name in STUDIES}
NUMBERS = {"cube3": (276, 100), "puzzle15": (80, 15)}  # of the literature, and at least how many are covered
of_the_cube = pytest.mark.parametrize("study", ["cube3"], indirect=True)


@pytest.fixture(scope="module", params=STUDIES)
def study(request):
    return STUDIES[request.param]


@pytest.fixture(scope="module")
def results(study, tmp_path_factory) -> Path:
    return write_results(study, tmp_path_factory.mktemp("results")).parent


@pytest.fixture(scope="module")
def written(study, results, tmp_path_factory) -> Path:
    return run(study, results, tmp_path_factory.mktemp("reports"))


@pytest.fixture
def changed(results, tmp_path):
    """A copy of the results that a test may change."""
    return Path(shutil.copytree(results, tmp_path / "changed"))


def run(study, results: Path, reports: Path, references: References = BESIDE) -> Path:
    """Write the report, and return its folder."""
    write(StudyResults(results / study.study, whole(study), references), reports / study.study)
    return reports / study.study


def beside(folder: Path, **terms) -> pd.Series:
    """The row of reported_vs_reproduced.csv with these values, of the first document that has one."""
    rows = pd.read_csv(folder / "reported_vs_reproduced.csv", dtype={"section": str})
    for column, value in terms.items():
        rows = rows[rows[column] == value]
    return rows.iloc[0]


def change(study, results: Path, path: str, **columns) -> None:
    """Set columns of a table of the results; {} in its path is the model."""
    path = results / study.study / path.format(*study.models)
    pd.read_parquet(path).assign(**columns).to_parquet(path)


def test_every_number_of_the_literature_has_a_row_and_a_verdict_with_a_reason(study, written):
    rows, (numbers, least) = pd.read_csv(written / "reported_vs_reproduced.csv"), NUMBERS[study.study]
    assert len(rows) == len(REPORTED[study.study]) == numbers
    np.testing.assert_array_equal(rows["reported"], REPORTED[study.study]["value"])
    assert set(rows["verdict"]) <= set(VERDICTS) and set(rows["source"]) <= set(DOCUMENTS)
    assert rows["reason"].notna().all() and set(rows["puzzle"]) == {study.puzzle}
    assert not rows["reason"].str.contains("has no counterpart").any() or study is STUDY
    covered = rows[rows["reproduced"].notna()]
    assert len(covered) > least and covered["results_file"].notna().all()
    assert rows.loc[rows["verdict"].isin([REPRODUCED, WORSE]), "reproduced"].notna().all()


@pytest.mark.parametrize("name", ["puzzle24", "puzzle35", "puzzle48", "lights_out_7"])
def test_every_number_on_the_other_boards_has_a_verdict_with_a_reason_of_its_own(name, tmp_path):
    study = study_of(name)
    folder = write_results(study, tmp_path, ("models", "searches", "external"))
    rows = compare_all(StudyResults(folder, whole(study), BESIDE))
    assert len(rows) == len(read_reported(documents(name, BESIDE.reported), name)) > 15
    assert rows["reason"].str.len().min() > 0
    assert not rows["reason"].str.contains("has no counterpart|^another solver.*DeepCubeA").any()
    covered = rows[rows["reproduced"].notna()]
    assert {"states", "actions"} & set(covered["quantity"])
    if "actions_corner" in set(rows["quantity"]):
        told = covered.set_index("quantity")["reproduced"]
        assert (told["actions"], told["actions_edge"], told["actions_corner"]) == (4, 3, 2)


def test_the_first_page_has_our_numbers_of_external_instances_where_the_literature_has_none(tmp_path):
    study = study_of("lights_out_7")
    folder = run(study, write_results(study, tmp_path / "results").parent, tmp_path / "reports")
    text = (folder / "report.md").read_text(encoding="utf-8").partition("The literature beside ours")[2]
    rows = dict(re.findall(r"^\| ([a-z ,%]+) \| (\S+) \| ", text, re.MULTILINE))
    assert {"solved, %", "mean length, moves", "shortest solutions, %"} < set(rows) and "–" not in rows.values()


def test_every_reason_is_of_a_quantity_that_the_literature_has():
    read = read_reported(sorted(BESIDE.reported.glob("*/*.csv")))
    named = {name for name, quantity in OTHERS.items() if quantity.reason}
    assert named <= set(read["quantity"]) and set(OTHER_SETS) <= set(read["set"])


def test_times_are_compared_apart_and_only_there(written):
    rows = pd.read_csv(written / "reported_vs_reproduced.csv")
    assert rows.loc[rows["quantity"].isin(TIMES), "reproduced"].isna().all()
    apart = pd.read_csv(written / "timings" / "reported_vs_reproduced.csv")
    assert set(apart["quantity"]) <= set(TIMES)
    ours = apart[(apart["model"] == "Report_DNN") & (apart["quantity"] == "training_time")]["reproduced"]
    ours = ours * {"d": 24, "h": 1}[apart.loc[ours.index[0], "unit"]]
    assert ours.tolist() == pytest.approx([2.5 / 3600]), "hours, of 2.5 seconds"


@of_the_cube
def test_our_number_is_the_one_of_the_results(results, written):
    external = pd.read_parquet(results / STUDY.study / "external/walks/searches.parquet")
    external = external[external["seconds_allowed"] == external["seconds_allowed"].max()]
    optimal = 100 * (external["cost"] == external["optimal"]).mean()
    assert beside(written, source="deepcubea", quantity="optimal_percent")["reproduced"] == pytest.approx(optimal)
    two_more = 100 * (external["cost"] == external["optimal"] + 2).mean()
    assert beside(written, quantity="extra_moves_2_percent")["reproduced"] == pytest.approx(two_more)
    solved = external.loc[external["solved"], "cost"].mean()
    assert beside(written, quantity="length", model="Report_DNN")["reproduced"] == pytest.approx(solved)


@of_the_cube
@pytest.mark.parametrize(("distance", "expected"), [(15, REPRODUCED), (7, REPRODUCED)])
def test_a_prefix_is_compared_at_its_own_distance(study, changed, tmp_path, distance, expected):
    folder = run(study, changed, tmp_path)
    terms = {"quantity": "optimal_percent", "set": "superflip_four_spot_prefixes", "distance": distance}
    assert beside(folder, **terms)["verdict"] == expected
    searches = pd.read_parquet(changed / STUDY.study / "beams/walks/searches.parquet")
    longer = searches["cost"] + 2.0 * (searches["distance"] == distance)
    change(study, changed, "beams/{}/searches.parquet", cost=longer)
    assert beside(run(study, changed, tmp_path), **terms)["verdict"] == WORSE


@of_the_cube
def test_a_state_that_the_exact_table_knows_is_no_search_of_few_nodes(written):
    terms = {"quantity": "nodes_expanded", "set": "superflip_four_spot_prefixes"}
    near, far = beside(written, **terms, distance=6), beside(written, **terms, distance=8)
    assert near["verdict"] == NOT_COMPARABLE and "exact table of 6 moves" in near["reason"]
    assert far["verdict"] != NOT_COMPARABLE and far["reproduced"] > 0


@of_the_cube
def test_what_no_run_could_give_is_not_comparable(written):
    no_run = {"quantity": "diameter", "source": "deepcubea"}, {"quantity": "length", "model": "CFOP"}
    for terms in (*no_run, {"quantity": "nodes_expanded", "model": "Rokicki"}):
        row = beside(written, **terms)
        assert row["verdict"] == NOT_COMPARABLE and math.isnan(row["reproduced"])
    for terms in (
        {"quantity": "nodes_expanded", "model": "Korf"},
        {"quantity": "symmetric_solution_percent", "model": "Rokicki"},
    ):
        assert beside(written, **terms)["verdict"] == NOT_RUN, "a run of ours could answer it"


@of_the_cube
def test_a_setting_agrees_where_it_is_the_same_and_is_not_judged_elsewhere(written):
    same = beside(written, quantity="check_interval", model="Report_DNN")
    assert (same["verdict"], same["reason"], same["reproduced"]) == (NOT_JUDGED, "the same setting", 500)
    other = beside(written, quantity="residual_blocks", source="deepcubea")
    assert other["verdict"] == NOT_JUDGED and other["reproduced"] == 2 and "ours is 2" in other["reason"]


@of_the_cube
def test_barely_scrambled_cubes_do_not_stand_beside_the_literatures(study, changed, tmp_path):
    shutil.rmtree(changed / STUDY.study / "external")
    grid = pd.read_parquet(changed / STUDY.study / "beams/walks/grid.parquet").set_index(["set", "width"])
    widest = grid.loc["scrambled", "length"].iloc[-1]
    assert beside(run(study, changed, tmp_path), quantity="length", model="Report_DNN")["reproduced"] == pytest.approx(
        widest
    )
    near = STUDY.instances["scrambled"].model_copy(update={"length": (8, 9)})
    study = study.model_copy(update={"instances": {**STUDY.instances, "scrambled": near}})
    run(study, changed, tmp_path)
    row = beside(tmp_path / STUDY.study, quantity="length", model="Report_DNN")
    assert row["verdict"] == NOT_RUN and math.isnan(row["reproduced"])


def test_a_page_has_the_parameters_in_which_trainings_differ_and_a_table_has_all(tmp_path):
    study = study_of("lights_out_7")
    folder = run(study, write_results(study, tmp_path / "results").parent, tmp_path / "reports")
    settings = pd.read_csv(folder / "tables/settings_lights_out_7.csv", index_col="parameter", dtype=str)
    shown = set(re.findall(r"^\| \*(.+?)\* \|", (folder / "pages/lights_out_7.md").read_text(), flags=re.MULTILINE))
    differing = set(settings.index[settings.nunique(axis=1) > 1])
    assert shown == differing, "iterations among the measures of the trainings"
    assert {"trainer", "sampler.kind"} <= shown and "puzzle" in set(settings.index) - shown
    assert settings.columns.tolist() == list(study.models)


def test_what_the_headline_model_solved_is_the_first_finding(study, changed, tmp_path):
    asked = {"solved_percent": 87.5, "length": 41.25, "optimal_length": 39.75, "optimal_percent": 12.5}
    change(study, changed, "external/{}/summary.parquet", **asked)
    text = (run(study, changed, tmp_path) / "report.md").read_text()
    first = next(line for line in text.splitlines() if line.startswith("- "))
    model = study.headline or min(study.models)
    assert f"`{model}` solves 87.50 % of the first" in first and "in 41.25 [" in first
    assert "the optimum is 39.75; 12.50 [" in first


@pytest.mark.parametrize("missing", [*PARTS, "all"])
def test_a_part_that_has_not_run_is_told_with_the_command_that_runs_it(missing, study, tmp_path):
    parts = [part for part in PARTS if part != missing and missing != "all"]
    results = write_results(study, tmp_path / "results", parts).parent
    folder = run(study, results, tmp_path / "reports")
    text = whole_text(folder)
    target = f"{study.study}-external" if missing == "external" else study.study
    told = f"not run yet; `snakemake --cores all {target}` runs it."
    silent = missing in ("instances", "footprints")  # which have no section of their own
    asked = missing == "all" or names_of(study, missing)
    assert (told in text) == bool(asked and not silent)
    assert not re.search(r"\b(nan|None|inf|NaN)\b", text)
    assert len(pd.read_csv(folder / "reported_vs_reproduced.csv")) == len(REPORTED[study.study])


@of_the_cube
def test_a_missing_external_run_is_named_where_its_number_would_stand(study, tmp_path):
    results = write_results(study, tmp_path / "results", [part for part in PARTS if part != "external"]).parent
    row = beside(run(study, results, tmp_path / "reports"), source="deepcubea", quantity="optimal_percent")
    assert row["verdict"] == NOT_RUN and "snakemake cube3-external" in row["reason"]


@of_the_cube
def test_the_released_results_on_the_same_instances_stand_beside_those_of_the_paper(study, written, changed, tmp_path):
    row = {"source": "deepcubea", "quantity": "optimal_percent", "set": "scrambled_1000_10000"}
    assert "DeepCubeA's released files have" in beside(written, **row)["reason"]
    change(study, changed, "external/{}/searches.parquet", instance=10**6)
    assert "released files" not in beside(run(study, changed, tmp_path), **row)["reason"], "of no instance of these"


def test_nothing_solved_is_told_too(study, changed, tmp_path):
    lost = {"solved": False, "cost": np.inf, "solution": ""}
    for group in ("beams", "searches", "external"):
        change(study, changed, f"{group}/{{}}/searches.parquet", **lost)
    for path in ("beams/{}/grid.parquet", "searches/{}/grid.parquet", "external/{}/summary.parquet"):
        change(study, changed, path, solved_percent=0.0, length=np.nan, length_low=np.nan, length_high=np.nan)
    text = whole_text(run(study, changed, tmp_path))
    assert not re.search(r"\b(nan|None|inf|NaN)\b", text) and ("is not solved" in text or study is not STUDY)


def test_the_shortest_solutions_of_cubes_name_their_limit_and_the_rows_that_need_them_are_judged(tmp_path):
    study = STUDY.model_copy(update={"optima": OptimaParams(table="large", seconds=60)})
    results = write_results(study, tmp_path / "results", ("instances", "optima")).parent
    folder = run(study, results, tmp_path / "reports")
    assert "cubes by IDA* over the large table of distances, at most 60 s each:" in whole_text(folder)
    row = beside(folder, source="deepcube", quantity="length", model="Korf")
    assert row["verdict"] != NOT_RUN and "IDA* over the large table of distances" in row["reason"]
    for model in ("Korf", "Rokicki"):
        row = beside(folder, source="deepcube", quantity="nodes_expanded", model=model)
        assert row["verdict"] == NOT_COMPARABLE and "another table than that solver's" in row["reason"]
    found = pd.read_parquet(results / study.study / "optima" / "cube3.parquet").query("set == 'scrambled'")
    turns = found["solution"].str.replace(r"(\S)2", r"\1 \1", regex=True).str.split()
    three = [moves[at : at + 3] for moves in turns for at in range(len(moves) - 2)]
    same = [first == third and first.strip("'") != second.strip("'") for first, second, third in three]
    row = beside(folder, quantity="aba_triplet_percent", model="Rokicki")
    assert row["verdict"] != NOT_RUN and row["reproduced"] == pytest.approx(100 * np.mean(same))


@pytest.mark.parametrize("solved", [True, False])
def test_optima_that_are_not_known_leave_no_trace(solved, study, changed, tmp_path):
    lost = {} if solved else {"solved": False, "cost": np.inf, "solution": ""}
    change(study, changed, "external/{}/searches.parquet", optimal=np.nan, **lost)
    change(study, changed, "external/{}/summary.parquet", **dict.fromkeys(AGAINST_THE_OPTIMUM, np.nan))
    if study.optima is not None:
        change(study, changed, "beams/{}/searches.parquet", distance=np.nan)
    folder = run(study, changed, tmp_path)
    text = whole_text(folder)
    assert not re.search(r"\b(nan|None|inf|NaN)\b", text) and "where the optimum is" not in text
    row = beside(folder, quantity="optimal_percent", model="DeepCubeA", set="scrambled_1000_10000")
    assert row["verdict"] == NOT_COMPARABLE and row["reason"].startswith("needs optima")


@pytest.mark.parametrize("study", ["puzzle15"], indirect=True)
def test_the_words_of_a_board_are_not_those_of_a_cube(written, study):
    for name, text in {**texts_of(written), "timings.md": (written / "timings.md").read_text()}.items():
        told = re.sub(r"DeepCubeA?|deepcubea|the cube|the 3x3x3", "", text)
        assert not re.search(r"cube|quarter turn|half turn|mirror|superflip", told, flags=re.IGNORECASE), name
    assert study.external.budgets[0].searched in (written / "report.md").read_text()
    assert "# 15-puzzle" in (written / "report.md").read_text()


def test_a_study_of_which_the_literature_says_nothing_has_a_report_too(study, results, tmp_path):
    folder = run(study, results, tmp_path, References(tmp_path / "none", BESIDE.measured, BESIDE.captions))
    assert "no number on this puzzle" in (folder / "report.md").read_text()
    assert not pd.read_csv(folder / "timings" / "stages.csv").empty


@of_the_cube
def test_solutions_without_three_moves_have_no_patterns(study, changed, tmp_path):
    change(study, changed, "external/{}/searches.parquet", solution="R U", cost=2.0, optimal=2.0, solved=True)
    row = beside(run(study, changed, tmp_path), quantity="conjugate_triplet_percent", model="DeepCubeA")
    assert row["verdict"] == NOT_RUN


def test_external_results_of_another_network_are_not_shown(study, changed, tmp_path):
    (model,) = study.models
    card = changed / study.study / "external" / f"{model}.json"
    checkpoints = f"results/{study.study}/models/{model}/checkpoints.parquet"
    for solved_with, shown in ((digest(changed / checkpoints.removeprefix("results/")), True), ("0" * 64, False)):
        card.write_text(json.dumps(json.loads(card.read_text()) | {"inputs": {checkpoints: solved_with}}))
        terms = {"source": "deepcubea", "quantity": "optimal_percent", "set": "scrambled_1000_10000"}
        told = beside(run(study, changed, tmp_path), **terms)["results_file"]
        assert ("/external/" in str(told)) == shown, "else the beams' own optima, or none"


def test_trainings_are_told_in_hours_and_ours_first():
    frame = trainings(REPORTED["cube3"], "ours", 3600.0, 7.0).set_index("label")
    assert frame.index[0] == "ours" and frame.loc["ours", ["hours", "states"]].tolist() == [1, 7]
    assert frame.loc["DeepCubeA", ["hours", "states"]].tolist() == [36, 1e10]
    assert frame.loc["final-year report", "hours"] == 7 * 24
    assert not frame.index.duplicated().any() and frame["own"].sum() == 1


def test_a_fine_tuned_model_has_cost_what_it_starts_from_cost_too(tmp_path):
    first = STUDY.models["walks"]
    models = {"tuned": first.model_copy(update={"starts_from": "walks"}), "walks": first}
    study = STUDY.model_copy(update={"models": models, "headline": "tuned"})
    results = write_results(study, tmp_path / "results").parent
    run(study, results, tmp_path / "reports")
    assert (
        beside(tmp_path / "reports/cube3", quantity="states_seen", model="Report_DNN")["reproduced"] == 2 * 93_600_000
    )
    assert "`tuned` starts from the last weights of `walks`" in (tmp_path / "reports/cube3/pages/cube3.md").read_text()


def test_thresholds_and_convergence_points_are_those_of_a_training_that_has_them(tmp_path):
    sampler = {"kind": "adaptive_k", "walk_max": 26, "conv_point_offs": 2}
    walks = STUDY.models["walks"].model_dump(exclude={"starts_from"})
    davi = training_of(**walks | {"trainer": "davi", "sampler": sampler, "epsilon": 0.05})
    study = STUDY.model_copy(update={"models": {**STUDY.models, "davi": davi}, "headline": "walks"})
    results = write_results(study, tmp_path / "results").parent
    run(study, results, tmp_path / "reports")
    folder = tmp_path / "reports/cube3"
    assert beside(folder, quantity="loss_threshold", model="C3_DNN_0")["reason"] == "the same setting"
    assert beside(folder, quantity="convergence_points", model="C3_DNN_0")["reproduced"] == 2, "up to iteration 1,400"
    assert beside(folder, quantity="loss_threshold", model="Report_DNN")["verdict"] == NOT_JUDGED


def test_numbers_are_of_all_seeds_of_the_training_that_stands_for_the_study(tmp_path):
    trainers = study_of("cube3-trainers")
    folder = write_results(trainers, tmp_path)
    for seed, cost in enumerate((24, 26, 34), start=1):
        path = folder / "beams" / f"walks_by_action_seed{seed}" / "searches.parquet"
        pd.read_parquet(path).assign(solved=True, cost=cost).to_parquet(path)
    rows = compare_all(StudyResults(folder, whole(trainers), BESIDE))
    of_report = rows[rows["model"] == "Report_DNN"].drop_duplicates("quantity").set_index("quantity")
    length, setting = of_report.loc["length"], of_report.loc["learning_rate"]
    assert length["reproduced"] == 28 and length["seeds"] == 3 and length["interval_95"] == "[1.71036, 54.2896]"
    assert length["reason"].startswith("mean of 3 seeds; the first: 20 cubes of the set scrambled")
    assert setting["seeds"] == 1 and "mean of" not in setting["reason"]
    facts = rows[rows["kind"] == "fact"]
    assert facts["reproduced"].notna().any() and not facts["reason"].str.contains("mean of").any()


def test_trainings_with_several_seeds_are_compared_pair_by_pair(tmp_path):
    trainers = study_of("cube3-trainers")
    folder = write_results(trainers, tmp_path)
    for name in trainers.models:
        path = folder / "anytime" / name / "grid.parquet"
        variant, seed = TrainingName.of(name)
        length = {"walks_by_action": 24.0, "walks_by_state": 23.5, "davi_adaptive_k": 24.0}[variant] + 3 * seed
        pd.read_parquet(path).assign(length=length + 0.01 * seed * (variant != "walks_by_action")).to_parquet(path)
    report = run(trainers, tmp_path, tmp_path / "reports")
    found = pd.read_csv(report / "tables" / "seeds.csv")
    found = found[(found["measure"] == "length") & found["searches"].str.endswith(" s each")].set_index("variant")
    assert set(found["seeds"]) == {3} and found.loc["walks_by_action", "mean"] == 30
    assert found.loc["walks_by_state", "difference_high"] < 0 < found.loc["davi_adaptive_k", "difference_high"]
    text = (report / "pages" / "cube3.md").read_text(encoding="utf-8")
    assert "## Trainings compared" in text and re.search(r"`walks_by_state` \| 3 .*\*\*-0\.5\d … -0\.4\d\*\*", text)
    screen = (report / "report.md").read_text(encoding="utf-8").partition("## Key numbers")[0]
    assert re.search(
        r"3 trainings of each recipe\. Searches within seconds, .* s each: .*`walks_by_state` .* 29\.52 \[", screen
    )
    assert re.search(r"\(-0\.5\d to -0\.4\d beside `walks_by_action`\)", screen)


def test_consistency_is_that_of_the_network_that_learns_the_bellman_equation_at_the_same_point(tmp_path):
    trainers = study_of("cube3-trainers")
    folder = write_results(trainers, tmp_path)
    names = [name for name, model in trainers.models.items() if model.sampler.kind == "adaptive_k"]
    for name in names:
        path = folder / "audits" / name / "consistency.parquet"
        pd.read_parquet(path).assign(consistent_percent=lambda rows: rows["iteration"] / 100).to_parquet(path)
    row = beside(run(trainers, tmp_path, tmp_path / "reports"), quantity="consistent_percent", point=7)
    assert row["reproduced"] == 35 and row["verdict"] == WORSE, "convergence point 7 is at iteration 3,500"
    assert names[0] in row["reason"] and "convergence point 7" in row["reason"]


@of_the_cube
def test_consistency_of_a_network_that_learns_walks_is_not_compared(study, written):
    row = beside(written, quantity="consistent_percent")
    assert row["verdict"] == NOT_COMPARABLE and "Bellman" in row["reason"] and math.isnan(row["reproduced"])
