"""The report: every number leads back to the results, and the same results give the same bytes, whatever is asked."""

import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_large
import synthetic_local_vi
from report_pages import anchors_of, links_of, texts_of, whole_text
from synthetic_study import study_of, whole, write_kept, write_results

from costtogo.analysis.numbers import amount, percent, places, short
from costtogo.figures.catalogue import catalogue
from costtogo.files import FileError, flatten
from costtogo.literature.claims import claims
from costtogo.literature.quantities import THESIS, TIMES
from costtogo.literature.words import BETTER, NOT_JUDGED, NOT_REACHED, NOT_RUN, REPRODUCED, VERDICTS, WORSE
from costtogo.params.instances import WalkInstances
from costtogo.params.searches import BeamParams
from costtogo.params.study import Study
from costtogo.puzzles import title
from costtogo.report.figures import MOST, Figures
from costtogo.report.markdown import interval
from costtogo.report.pages import linked
from costtogo.report.write import write
from costtogo.tables.results import References, StudyResults
from costtogo.tables.rows import rows_of
from costtogo.tables.whole import learning_curve

ROOT = Path(__file__).parent.parent
LINES = 250  # of a page that is no appendix
STUDY = study_of((3, 4))
BOARDS, LOCALLY = synthetic_large.study_of("puzzle15"), synthetic_local_vi.study_of()


def several() -> Study:
    """A study of puzzles that are asked different things: a cube beams besides, the boards two kinds of chapters."""
    listed = study_of((3,), name="several")
    sets = {"scrambled": WalkInstances(kind="walks", states=5, length=(2, 4))}
    beams = [BeamParams(solver="beam", set="scrambled", widths=[10, 20])]
    cube = listed.puzzles["cube2"].model_copy(update={"instances": sets, "searches": beams})
    boards = BOARDS.model_copy(update={"local_vi": LOCALLY.local_vi})
    puzzles = listed.puzzles | {"cube2": cube, "puzzle15": boards}
    return listed.model_copy(update={"puzzles": puzzles, "models": listed.models | BOARDS.models})


STUDIES = {"tiny": STUDY, "several": several(), "puzzle15": whole(BOARDS), "local_vi": whole(LOCALLY)}


def write_all(study: Study, folder: Path) -> Path:
    """Make up the results of a study by what is asked of its puzzles; returns the folder."""
    for puzzle in study.puzzles:
        asked = study.about(puzzle)
        if asked.models and not asked.is_exhaustive:
            synthetic_large.write_results(asked, folder)
        if asked.local_vi:
            synthetic_local_vi.write_results(asked, folder)
    listed = {puzzle: asked for puzzle, asked in study.puzzles.items() if asked.is_exhaustive}
    if listed:
        write_results(study.model_copy(update={"puzzles": listed}), folder)
    for puzzle in listed:
        for model in study.about(puzzle).models if listed[puzzle].beams else ():
            random = np.random.default_rng(1)
            synthetic_large.write_beams(folder / study.study, study.about(puzzle), model, random)
    return folder


@pytest.fixture(scope="module", params=STUDIES)
def study(request) -> Study:
    return STUDIES[request.param]


@pytest.fixture(scope="module")
def results(study, tmp_path_factory) -> Path:
    return write_all(study, tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def written(study, results, tmp_path_factory) -> Path:
    return run(study, results, tmp_path_factory.mktemp("reports"))


@pytest.fixture
def changed(results, tmp_path):
    """A copy of the results that a test may change."""
    return Path(shutil.copytree(results, tmp_path / "changed"))


def run(study: Study, results: Path, reports: Path) -> Path:
    """Write the report, and return its folder."""
    write(gathered(study, results, write_kept(reports / "measured")), reports / study.study)
    return reports / study.study


def gathered(study: Study, results: Path, measured: Path) -> StudyResults:
    return StudyResults(
        results / study.study, study, References(ROOT / "data/reported", measured, ROOT / "workflow/captions.yaml")
    )


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_the_same_results_give_the_same_bytes_but_for_clocks_and_what_an_earlier_run_left_is_removed(
    study, changed, written, tmp_path
):
    """Other times touch no file but their own; that those, too, are the same for the same times is test_keep's."""
    for path in (changed / study.study / "timings").glob("*/*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": 123.0}))
    for path in (changed / study.study / "timings").glob("*/*.parquet"):
        frame = pd.read_parquet(path)
        frame.assign(seconds=2 * frame["seconds"]).to_parquet(path)
    for gone in ("tables/loss_of_a_model_that_is_gone.csv", "pages/a_puzzle_that_is_gone.md"):
        (tmp_path / study.study / gone).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / study.study / gone).write_text("")
    before, after = contents(written), contents(run(study, changed, tmp_path))
    differing = {name for name in before if before[name] != after[name]}
    assert before.keys() == after.keys()
    assert differing == {"timings.md", *(name for name in before if name.startswith("timings/"))}


def test_report_and_timings_show_every_figure_of_what_has_run_once(study, results, written):
    entries = Figures.of_study(gathered(study, results, written.parent / "measured")).entries
    assert len(entries) == len(catalogue(study, written.parent / "measured"))
    for text, of_time in ((whole_text(written), False), ((written / "timings.md").read_text(), True)):
        shown = re.findall(r"\]\((?:\.\./)?((?:figures|timings)/.+?)\.png\)", text)
        wanted = {entry.stem for entry in entries if entry.timed == of_time}
        wanted |= {entry.stem for entry in entries if entry.kind == "training_costs"}
        assert sorted(shown) == sorted(wanted)


def test_every_link_and_picture_leads_somewhere_from_the_page_that_it_stands_on(study, results, written):
    entries = Figures.of_study(gathered(study, results, written.parent / "measured")).entries
    declared, texts = {f"{entry.stem}.png" for entry in entries}, texts_of(written)
    for page, place, anchor in links_of(written):
        # Links to studies and to rows that were made up, too.
        others = re.fullmatch(r"\.\./\.\./(config/\w+\.yaml|data/measured/\w+(\.json|/\w+\.csv)?)", place)
        assert place in declared or others or (written / place).exists(), (page, place)
        assert not anchor or anchor in anchors_of(texts[place]), (page, anchor)


@pytest.mark.parametrize("study", ["tiny"], indirect=True)
def test_a_page_shows_no_kind_of_figure_that_its_puzzle_has_many_of(study, results, written):
    figures = Figures.of_study(gathered(study, results, written.parent / "measured"))
    entry = next(entry for entry in figures.entries if entry.kind == "training")
    few, many = (Figures([entry] * count, figures.captions).of(entry.puzzle)("training") for count in (MOST, MOST + 1))
    assert few.count("![") == MOST and many == ""


def test_a_page_is_short_unless_it_is_an_appendix_and_the_first_page_lists_them_all(written):
    texts = texts_of(written)
    lengths = {name: text.count("\n") for name, text in texts.items() if "/appendix_" not in name}
    assert len(lengths) > 1 and max(lengths.values()) <= LINES
    listed = set(re.findall(r"\]\((pages/.+?)\)", texts["report.md"].partition("## Pages")[2]))
    assert listed == texts.keys() - {"report.md"}


def test_the_first_screen_tells_up_to_five_findings_of_every_kind_of_puzzle(study, written):
    screen = texts_of(written)["report.md"].partition("## Key numbers")[0]
    found = re.findall(r"^- (.*\d.*)$", screen, flags=re.MULTILINE)
    assert len(study.puzzles) <= len(found) <= 5 and screen.count("\n") <= 40
    assert all(any(line.startswith(title(puzzle)) for line in found) for puzzle in study.puzzles)


@pytest.mark.parametrize("page", sorted(ROOT.glob("reports/published/*/report.md")), ids=lambda page: page.parent.name)
def test_each_report_in_git_tells_five_findings_and_offers_to_run_nothing_that_was_not_asked(page):
    screen = page.read_text(encoding="utf-8").partition("## Key numbers")[0]
    assert len(re.findall(r"^- .*\d", screen, flags=re.MULTILINE)) == 5
    assert not any("not run yet" in text for text in texts_of(page.parent).values())


def test_the_ends_of_a_grid_and_the_errors_over_a_training_are_those_of_its_tables():
    text = (ROOT / "reports" / "published" / "puzzle8" / "report.md").read_text(encoding="utf-8")
    kept = rows_of(ROOT / "data" / "measured" / "puzzle8")
    grid = kept.table("searches/residual/grid").query("heuristic == 'network' and set == 'scrambled'")
    most = grid[grid["optimal_percent"] == grid["optimal_percent"].max()]["nodes_expanded"].min()
    assert f"of the {len(grid)} pairs" in text and f": {amount(grid['nodes_expanded'].min())}, for" in text
    assert f"for {amount(most)} nodes." in text
    audit = kept.table("audits/residual/measures").query("scope == 'all'")
    errors = audit.set_index("iteration")["mean_absolute_error"]
    assert f"of {len(audit)} checkpoints of `residual`" in text
    last, least = (f"{value:.2f}" for value in (errors.loc[errors.index.max()], errors.min()))
    assert f"the last errs by {last} moves" in text and f"none by less than {least} (" in text


@pytest.mark.parametrize(
    ("text", "moved"),
    {
        "[a](tables/a.csv) ![b](figures/b.png)": "[a](../tables/a.csv) ![b](../figures/b.png)",
        "[a](pages/b.md#c)": "[a](b.md#c)",
        "[a](../../config/b.yaml)": "[a](../../../config/b.yaml)",
        "[a](#b) [c](https://d.e/f)": "[a](#b) [c](https://d.e/f)",
    }.items(),
)
def test_a_link_of_a_page_is_as_seen_from_its_folder(text, moved):
    assert linked(text, "pages") == moved


@pytest.mark.parametrize("name", ["pages", "timings.md"])
def test_every_row_of_a_table_has_the_columns_of_its_head_and_what_is_missing_is_a_dash(name, written):
    text = whole_text(written) if name == "pages" else (written / name).read_text()
    rows = re.findall(r"(?:^\|.*\|$\n?)+", text, flags=re.MULTILINE)
    assert rows
    for table in rows:
        assert len({line.count(" | ") for line in table.strip().splitlines()}) == 1
    assert not re.search(r"\b(nan|None|inf|NaN)\b", text)


def test_headings_stand_between_empty_lines_and_at_most_one_level_below_the_last(written):
    for text in (*texts_of(written).values(), (written / "timings.md").read_text()):
        lines = ["", *text.splitlines()]
        headings = [place for place, line in enumerate(lines) if line.startswith("#")]
        assert all(lines[place - 1] == lines[place + 1] == "" for place in headings)
        levels = [len(lines[place].split()[0]) for place in headings]
        assert levels[0] == 1 and 1 not in levels[1:]
        assert all(below <= level + 1 for level, below in zip(levels, levels[1:], strict=False))


@pytest.mark.parametrize("study", ["several"], indirect=True)
def test_a_study_of_several_puzzles_has_a_page_for_each_thing_it_asks_and_all_their_tables(study, written):
    pages, tables = texts_of(written), {path.stem for path in written.glob("tables/*.csv")}
    titles = {name: text.partition("\n")[0].removeprefix("# ") for name, text in pages.items()}
    assert titles["report.md"] == "Learned cost-to-go, reproduced: the study `several`"
    assert titles["pages/cube2.md"] == "2×2×2 cube" and titles["pages/hanoi_3.md"] == "Towers of Hanoi H(3, 3)"
    assert titles["pages/puzzle15.md"] == "15-puzzle, learned from nothing"
    assert titles["pages/puzzle15_local_vi.md"] == "The 15-puzzle by local value iteration"
    assert "## Beam search" in pages["pages/cube2.md"] and "## External" not in pages["pages/cube2.md"]
    assert {
        "audit",
        "beams",
        "external",
        "sizes",
        "solvers",
        "compared",
        "states_per_distance",
        "provenance",
        "grid",
    } <= tables
    assert set(pd.read_csv(written / "tables/beams.csv")["model"]) == {*study.about("cube2").models, *BOARDS.models}
    numbers = metrics_of(written)
    assert {*study.models, "local_vi"} <= set(numbers) and [*numbers["local_vi"]] == ["moves"]
    sources = set(pd.read_csv(written / "reported_vs_reproduced.csv", dtype={"section": str})["puzzle"].dropna())
    assert {"cube2", "hanoi_3", "puzzle15"} <= sources


# A study of puzzles whose states are all listed

listed = pytest.mark.parametrize("study", ["tiny"], indirect=True)


@listed
def test_a_changed_result_changes_its_number_in_summary_and_metrics(changed, tmp_path):
    path = changed / STUDY.study / "searches" / "DNN_reduced_0" / "grid.parquet"
    grid = pd.read_parquet(path)
    grid.loc[grid["set"] == "test", ["optimal_percent", "nodes_expanded"]] = 12.5, 345.25
    grid.to_parquet(path)
    folder = run(STUDY, changed, tmp_path)
    text = (folder / "report.md").read_text()
    summary = next(line for line in text.splitlines() if line.startswith("| `DNN_reduced_0`"))
    assert "12.50 [" in summary and "345.25" in summary
    metrics = metrics_of(folder)
    assert metrics["DNN_reduced_0"]["shortest"] == 12.5
    assert metrics["DNN_final_2x2x2_nr"]["shortest"] != 12.5


@listed
def test_kept_studies_are_in_the_report_of_a_study_that_names_them_alone(results, written, tmp_path):
    alone = STUDY.model_copy(update={"beside": []})
    write(gathered(alone, results, write_kept(tmp_path / "measured")), tmp_path / "alone")
    told = {
        name: "\n".join(texts_of(folder).values()) for name, folder in (("alone", tmp_path / "alone"), ("", written))
    }
    for words in ("Kept from longer studies", "`repeated`"):
        assert words in told[""] and words not in told["alone"]
    literature = [pd.read_csv(folder / "reported_vs_reproduced.csv") for folder in (tmp_path / "alone", written)]
    assert len(literature[0]) == len(literature[1]), "the literature's numbers stay"
    assert "beside: [thesis]" in told["alone"] and "beside: [thesis]" not in told[""]


def metrics_of(folder: Path) -> dict[str, dict[str, float]]:
    """The metrics of each model."""
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("metrics/*.json")}


@listed
def test_metrics_are_a_few_finite_numbers_of_every_model(written):
    metrics = metrics_of(written)
    assert set(metrics) == set(STUDY.models)
    for measures in metrics.values():
        assert set(measures) == {"shortest", "moves", "nodes", "error", "admissible", "consistent"}
        assert all(math.isfinite(value) for value in measures.values())


@listed
def test_the_table_of_each_search_has_the_network_and_both_baselines(written):
    for model in STUDY.models:
        grid = pd.read_csv(written / "tables" / f"grid_{model}.csv")
        assert set(grid["heuristic"]) == {"network", "exact", "zero"}


REPORTED = ROOT / "data/reported/thesis.csv"
OTHERS = ROOT / "data/reported/cube2/final_year_report.csv"


@listed
def test_every_number_of_the_literature_stands_beside_ours(written):
    reported = pd.concat([pd.read_csv(REPORTED), pd.read_csv(OTHERS)], ignore_index=True)
    beside = pd.read_csv(written / "reported_vs_reproduced.csv")
    assert len(beside) == len(reported) >= 250
    pd.testing.assert_series_equal(beside["reported"], reported["value"], check_names=False)
    assert set(beside["verdict"]) <= set(VERDICTS)
    assert beside["reason"].notna().all()
    decided = beside["verdict"].isin([REPRODUCED, BETTER, WORSE])
    assert decided.sum() > 50
    assert beside.loc[decided, ["reproduced", "results_file"]].notna().all(axis=None)
    assert beside.loc[beside["verdict"].isin([NOT_RUN, NOT_REACHED]), "reproduced"].isna().all()


@listed
def test_our_number_beside_the_literatures_is_the_one_of_the_results(written):
    beside = pd.read_csv(written / "reported_vs_reproduced.csv")
    row = beside[(beside["set"] == "grid") & (beside["model"] == "DNN_final_2x2x2_nr")]
    row = row[(row["quantity"] == "nodes_expanded") & (row["path_weight"] == 0.7) & (row["batch_size"] == 5)].iloc[0]
    ours = pd.read_csv(written / "tables" / "grid_DNN_final_2x2x2_nr.csv")
    ours = ours[(ours["heuristic"] == "network") & (ours["set"] == "grid")]
    ours = ours[(ours["path_weight"] == 0.7) & (ours["batch_size"] == 5)]
    assert row["reproduced"] == pytest.approx(ours["nodes_expanded"].item())


@listed
def test_times_are_compared_apart_and_only_there(written):
    beside = pd.read_csv(written / "reported_vs_reproduced.csv")
    assert beside.loc[beside["quantity"].isin(TIMES), "compact"].isna().all()
    apart = pd.read_csv(written / "timings" / "reported_vs_reproduced.csv")
    assert set(apart["quantity"]) <= set(TIMES) and set(TIMES) & set(THESIS) <= set(apart["quantity"])
    assert apart["compact"].notna().any()


@listed
def test_a_set_of_all_the_farthest_states_has_a_table_of_its_own(written):
    text = (written / "pages/cube2.md").read_text()
    (part,) = re.findall(r"From all 30 states that are 4 moves away, the farthest there are:\n\n(.*?)\n\n", text, re.S)
    names = [line.split("|")[1].strip() for line in part.splitlines()[2:]]
    assert names == ["`DNN_final_2x2x2_nr`", "`DNN_reduced_0`", "exact", "zero"]


@listed
def test_the_first_screen_counts_every_claim_once(written):
    beside = pd.read_csv(written / "reported_vs_reproduced.csv")
    text = (written / "report.md").read_text()
    part = text.partition("|  | ours from |")[2].partition("\n\n")[0]
    counts = [int(line.strip("| ").split(" | ")[2]) for line in part.splitlines()[2:]]
    found = claims(beside)
    assert sum(counts) == ((found["verdict"] != NOT_JUDGED) & (found["kind"] != "cost")).sum() < len(beside)
    assert found["numbers"].sum() == len(beside)


@listed
def test_every_slip_of_the_thesis_is_told(written):
    text = (written / "pages/appendix_differences.md").read_text()
    for erratum in pd.read_csv(REPORTED)["erratum"].dropna().unique():
        assert erratum in text


@listed
def test_the_learning_curve_weighs_distances_by_their_states(results):
    folder = results / STUDY.study
    curve = learning_curve(StudyResults(folder, STUDY), "hanoi_3_uniform")
    errors = pd.read_parquet(folder / "models/hanoi_3_uniform/errors.parquet")
    last = errors[errors["iteration"] == errors["iteration"].max()]
    states = np.bincount(np.load(folder / "tables/hanoi_3.npz")["distance"])[last["distance"]]
    expected = (last["mean_absolute_error"] * states).sum() / states.sum()
    assert curve["mean_absolute_error"].iloc[-1] == pytest.approx(expected)


@listed
def test_the_report_says_how_far_sets_overlap_and_which_puzzles_are_exempt(written):
    text = (written / "pages/appendix_instances.md").read_text()
    assert "Puzzles of fewer than 100,000 states are exempt" in text
    assert "states that a selection set holds too" in text


@listed
def test_a_selection_of_two_checkpoints_is_refused(changed, tmp_path):
    path = changed / STUDY.study / "searches" / "DNN_reduced_0" / "selection.parquet"
    selection = pd.read_parquet(path)
    pd.concat([selection, selection]).to_parquet(path)
    with pytest.raises(FileError, match="selects 2 checkpoints"):
        run(STUDY, changed, tmp_path)


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
