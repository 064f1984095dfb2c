"""What is kept of a study in git: its report is written again from it to the byte, and no other report changes."""

import re
import shutil
import subprocess
from pathlib import Path

import kept_studies
import numpy as np
import pandas as pd
import pytest
import synthetic_large
import synthetic_local_vi
from messages import is_one_sentence
from report_pages import links_of, tables_of, texts_of
from synthetic_study import study_of, whole, write_kept, write_results

from costtogo.cards import KEYED, made_by, short_key
from costtogo.commands import publish
from costtogo.commands.variants import in_one_table
from costtogo.files import FileError, read_json, write_frame, write_json
from costtogo.report.pages import pictures_of
from costtogo.report.write import write
from costtogo.tables.extracts import FOR_OTHERS, LOSS_ROWS, of_curve, of_instances, of_table
from costtogo.tables.kept import MEASURED, REPORT, REPORTED, TABLES, cards_kept, kept_for_others, tables_kept
from costtogo.tables.results import References, StudyResults
from costtogo.tables.rows import KeptRows, rows_of
from costtogo.types import UserError

PUBLISHED = Path("reports/published")
KEPT = [path.stem for path in sorted(MEASURED.glob("*.json")) if REPORT in cards_kept(path)]


def made_up(name: str, folder: Path):
    """A made-up study of a kind, with its results below a folder."""
    if name == "listed":
        study = study_of((3,), name="listed")
        write_results(study, folder)
        return study
    synthetic = synthetic_local_vi if name == "local_vi" else synthetic_large
    asked = synthetic.study_of() if name == "local_vi" else synthetic.study_of(name)
    synthetic.write_results(asked, folder)
    return whole(asked)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}


@pytest.fixture(scope="module", params=["listed", "cube3", "puzzle15", "local_vi"])
def study(request, tmp_path_factory):
    """A study, a folder with its results, its report and what is kept of it, and what its report was written from."""
    folder = tmp_path_factory.mktemp("project")
    study, references = made_up(request.param, folder / "results"), References(measured=write_kept(folder / "measured"))
    results = folder / "results" / study.study
    own = StudyResults(results, study, references)
    write(own, folder / "reports")
    publish.keep_with_report(StudyResults(results, study, references), {"study": study.study}, folder / "measured")
    return study, folder, own


def test_a_report_is_written_again_to_the_byte_from_what_was_kept(study, tmp_path):
    study, folder, own = study
    write(StudyResults(folder / "measured" / study.study, study, own.references, is_kept=True), tmp_path)
    assert contents(tmp_path) == contents(folder / "reports")


def test_a_study_kept_with_its_report_is_in_no_other_report(study):
    study, folder, own = study
    assert (folder / "measured" / f"{study.study}.json").exists()
    assert [path.stem for path in kept_for_others(own.references.measured)] == ["long", "repeated"]


def test_to_keep_a_study_again_gives_the_same_and_leaves_nothing_behind(study):
    study, folder, own = study
    before = contents(folder / "measured" / study.study)
    gone = folder / "measured" / study.study / "gone.csv"
    gone.write_text("")
    again = StudyResults(folder / "results" / study.study, study, own.references)
    publish.keep_with_report(again, {}, folder / "measured")
    assert contents(folder / "measured" / study.study) == before


def test_kept_tables_hold_what_the_report_saw_of_them(study):
    study, folder, own = study
    kept = StudyResults(folder / "measured" / study.study, study, own.references, is_kept=True)
    assert own.tables_read
    for address, frame in own.tables_read.items():
        pd.testing.assert_frame_equal(kept.frame(address), frame.reset_index(drop=True), check_dtype=bool(len(frame)))


@pytest.mark.parametrize("study", KEPT)
def test_each_report_in_git_is_what_was_kept_of_its_study(study, tmp_path):
    published = PUBLISHED / study
    target = tmp_path / "published" / study
    shutil.copytree(published / "figures", target / "figures")
    (target / "figures" / "gone.png").write_bytes(b"")
    publish.write_published(study, tmp_path, MEASURED)
    assert contents(target) == contents(published)


def test_the_whole_report_has_every_figure_and_table_again(tmp_path):
    shutil.copytree(PUBLISHED / "puzzle8", tmp_path / "published" / "puzzle8")
    publish.write_whole("puzzle8", tmp_path, MEASURED)
    folder = tmp_path / "again" / "puzzle8"
    places = {place.removeprefix("../../../") for _, place, _ in links_of(folder)}  # of the project's own files, too
    assert all((folder / place).exists() or Path(place).exists() for place in places)
    assert len(pictures_of(folder)) > len(pictures_of(PUBLISHED / "puzzle8")) and any((folder / "tables").iterdir())


@pytest.mark.parametrize("study", KEPT)
def test_pages_of_a_report_in_git_are_short_and_every_link_and_picture_is_there(study):
    folder = PUBLISHED / study
    assert all((folder / place).exists() for _, place, _ in links_of(folder))
    assert pictures_of(folder) == {f"figures/{path.name}" for path in (folder / "figures").iterdir()}
    told = {name: re.sub("\n\n[*]From .*", "", text) for name, text in texts_of(folder).items()}  # but for sources
    lengths = [text.count("\n") for name, text in told.items() if "/appendix_" not in name]
    assert len(lengths) > 1 and max(lengths) <= 250


def test_a_report_is_not_written_without_a_table_that_it_was_kept_with(tmp_path):
    shutil.copytree(MEASURED, tmp_path / "measured")
    own = References(measured=tmp_path / "measured")
    lost = tmp_path / "measured" / "puzzle8" / "searches.csv"
    rows = lost.read_text()
    for content, said in {
        rows[: rows.rindex("\n", 0, -1) + 1]: "is damaged",
        "": "searches.csv",
        None: "is missing",
    }.items():
        lost.write_text(content) if content is not None else lost.unlink()
        with pytest.raises(FileError, match=f"{said}") as told:
            write(StudyResults.to_write_again("puzzle8", own), tmp_path / "report")
        assert is_one_sentence(str(told.value)) and lost.name in str(told.value)
    (tmp_path / "measured" / "puzzle8.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(FileError, match="puzzle8.json is damaged"):
        StudyResults.to_write_again("puzzle8", own)


def test_a_study_that_was_not_kept_with_its_report_is_told(tmp_path):
    for name in ("long", "none"):
        with pytest.raises(UserError, match=f"no report of the study {name}") as told:
            StudyResults.to_write_again(name, References(measured=write_kept(tmp_path)))
        assert is_one_sentence(str(told.value))


def test_another_study_is_asked_for_what_is_kept_of_it_and_for_nothing_else(tmp_path):
    addresses = {}
    for kind in (*FOR_OTHERS, "models/errors", "instances/distributions"):
        group, table = kind.split("/")
        addresses[f"timings/{table}/net" if group == "timings" else f"{group}/net/{table}"] = kind
    tables = dict.fromkeys(addresses, pd.DataFrame({"x": [1]}))
    kept = StudyResults.of_kept(kept_studies.keep(tmp_path, "long", {}, tables))
    for address, kind in addresses.items():
        assert (kept.find_frame(address) is not None) == (kind in FOR_OTHERS)


def test_what_is_published_is_of_a_clean_clone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="no clone") as told:
        publish.refuse_changes()
    assert is_one_sentence(str(told.value))
    subprocess.run(["git", "init", "--quiet"], check=True)
    publish.refuse_changes()
    Path("a b").write_text("")
    with pytest.raises(UserError, match="Commit or stash .*a b") as told:
        publish.refuse_changes()
    assert is_one_sentence(str(told.value))


def test_a_stage_that_ran_with_changes_is_not_published(tmp_path):
    results = tmp_path / "results" / "tiny"
    write_json(results / "models" / "net.json", {"stage": "train"})
    write_json(results / "timings" / "models" / "net.json", {"commit": "0123+"})
    with pytest.raises(UserError, match="models/net ran with uncommitted changes") as told:
        publish.keep(results, tmp_path / "measured")
    assert is_one_sentence(str(told.value)) and not (tmp_path / "measured").exists()


def test_a_report_is_not_published_without_its_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "refuse_changes", lambda: None)
    results, measured, reports = (tmp_path / name for name in ("results", "measured", "reports"))
    write_json(results / "tiny" / f"{REPORT}.json", {"stage": "report"})
    with pytest.raises(UserError, match="figures of this run are not in .*tiny: bring it with") as told:
        publish.run("tiny", results, measured, reports)
    assert is_one_sentence(str(told.value)) and not measured.exists()


def test_what_was_kept_before_of_other_stages_stays(tmp_path):
    card = {name: {"of": name} for name in ("parameters", "inputs", "outputs", "code", "versions", "metrics")}
    networks = {"outputs": card["outputs"] | {"results/long/models/net/checkpoints/000010.safetensors": "abc"}}
    results, measured = tmp_path / "results" / "long", tmp_path / "kept"
    write_json(results / "models/net.json", card | networks)
    write_json(results / "timings/models/net.json", {"seconds": 5.0})
    curve = pd.DataFrame({"iteration": [1, 2, 3], "updated": [False, True, False], "loss": [3.0, 2.0, 0.123456789]})
    write_frame(results / "models/net/curve.parquet", curve)
    tables = {"models/older/curve": curve.head(1), "models/net/curve": curve.head(1)}
    kept_studies.keep(
        measured, "long", {"models/older": {"metrics": {}}, "models/net": {"metrics": {"old": 1}}}, tables
    )
    publish.keep(results, measured)
    kept = cards_kept(measured / "long.json")
    assert kept == {"models/older": {"metrics": {}}, "models/net": card | {"timing": {"seconds": 5.0}}}
    rows = rows_of(measured / "long")
    assert rows.text("models/net/curve").to_csv(index=False) == (
        "iteration,updated,loss\n1,False,3\n2,True,2\n3,False,0.123457\n"
    )
    assert rows.table("models/older/curve")["iteration"].tolist() == [1]


def test_a_study_without_a_finished_stage_is_refused(tmp_path):
    with pytest.raises(UserError, match="no finished stage") as told:
        publish.keep(tmp_path / "results" / "tiny", tmp_path / "measured")
    assert is_one_sentence(str(told.value))


def test_losses_are_spread_evenly_and_every_convergence_point_is_among_them():
    curve = pd.DataFrame({"iteration": range(1, 5001), "loss": 1.0})
    curve["validation_loss"] = curve["loss"].where(curve["iteration"] % 2 == 0)
    curve["updated"] = curve["iteration"] % 700 == 1
    seen = of_curve(curve)
    assert seen["shown"].sum() == LOSS_ROWS and seen.loc[seen["shown"], "validation_loss"].notna().all()
    assert set(curve.loc[curve["updated"], "iteration"]) <= set(seen["iteration"])
    assert of_curve(curve.assign(validation_loss=float("nan")))["shown"].sum() == 0


def test_states_that_a_selection_set_holds_too_are_counted_once():
    rows = [("select", "selection", 7, 1), ("test", "test", 7, 1), ("test", "test", 7, 1), ("test", "test", 8, 2)]
    cells = of_instances(pd.DataFrame(rows, columns=["set", "role", "rank", "distance"]))
    test = cells[cells["set"] == "test"].set_index("distance")
    assert test["instances"].to_dict() == {1: 2, 2: 1} and test["shared"].to_dict() == {1: 1, 2: 0}


def test_a_table_of_the_states_around_the_goal_is_told_by_its_layers():
    places = np.array([0, 0, 2, 0, 1, 1, 2, 2], dtype=np.uint8)  # of a hash table, most of it empty
    around = of_table({"distance": places, "layers": np.array([1, 2, 3])})
    assert around["states"].tolist() == [1, 2, 3] and of_table({"distance": places})["states"].tolist() == [3, 2, 3]


def test_the_card_of_a_stage_and_what_is_said_of_a_table_are_a_line_each(tmp_path):
    path = write_kept(tmp_path) / "long.json"
    whole, cards = read_json(path), cards_kept(path)
    assert {*whole} - {*cards} == {TABLES} and list(whole[TABLES]) == ["models/net/curve"]
    assert len(path.read_text().splitlines()) == len(cards) + len(whole[TABLES]) + 4


def test_seeds_of_a_document_s_own_recipe_are_kept_with_their_tables_and_others_in_one(tmp_path):
    named = publish.models_of_document("thesis", REPORTED)
    assert "H4_DNN_reduced_0" in named and not publish.models_of_document("several_seeds", REPORTED)
    for model in ("H4_DNN_reduced_0_seed2", "DNN_0", "base_cube2_seed2"):
        write_json(tmp_path / "seeds" / "models" / f"{model}.json", {})
    assert in_one_table(StudyResults(tmp_path / "seeds"), named) == {"base_cube2_seed2"}


def test_no_place_of_a_machine_is_kept():
    card = {"inputs": {"/home/me/boards/puzzle15.csv": "a", "results/x/models/net/checkpoints.parquet": "b"}}
    kept = publish._few(card, "inputs")["inputs"]
    assert kept == {"$COSTTOGO_EXTERNAL/puzzle15.csv": "a", "results/x/models/net/checkpoints.parquet": "b"}
    texts = [path.read_text(encoding="utf-8") for path in MEASURED.glob("*.json")]
    assert len(texts) > 4 and not any(re.search(r'"/\w+/', text) for text in texts)


@pytest.mark.parametrize("study", KEPT)
def test_every_row_of_the_key_numbers_names_the_run_of_a_stage_that_is_kept(study):
    report = (PUBLISHED / study / "report.md").read_text(encoding="utf-8")
    kept = cards_kept(MEASURED / f"{study}.json").values()
    keys = {short_key(card) for card in kept if KEYED <= card.keys()}
    tables = re.findall(r"^\|.*\| run \|\n\| :--.*\n((?:\|.*\n)+)", report, re.M)
    named = [row.rstrip(" |`").rpartition("`")[2] for rows in tables for row in rows.splitlines()]
    assert named and set(named) <= keys


def of_kind(name: str) -> re.Pattern:
    """The addresses that a source means.  "searches/<model>/grid" means "searches/residual/grid"."""
    return re.compile(re.sub("<.*?>", "[^/]+", name))


@pytest.mark.parametrize("study", KEPT)
def test_every_table_names_stages_that_are_kept_and_the_page_that_has_their_rows_and_commands(study):
    told, kept = tables_kept(MEASURED / f"{study}.json"), cards_kept(MEASURED / f"{study}.json")
    sources = (PUBLISHED / study / "pages" / "appendix_provenance.md").read_text(encoding="utf-8")
    tables = [table for place, table in tables_of(PUBLISHED / study) if not place.startswith("pages/appendix_")]
    without = [table.rows.partition("\n")[0] for table in tables if not table.source]
    assert tables and all("| claims |" in head or "| document |" in head for head in without)  # of the literature's
    own = [table.source for table in tables if table.source.startswith("*From `")]
    for name in {name for source in own for name in re.findall("`([^`]+)`", source)}:
        left = {*told, *kept} if name.count("/") < 2 else told
        stages = {"/".join(address.split("/")[:2]) for address in left if of_kind(name).fullmatch(address)}
        assert stages, name
        assert all(f"| `{stage}` |" in sources and made_by(study, stage) in sources for stage in stages)


@pytest.mark.parametrize("kind", ["audits/<model>/measures", "searches/<model>/grid", "searches/<model>/by_distance"])
def test_a_table_changes_with_the_rows_that_it_names_and_with_no_others(kind, tmp_path, monkeypatch):
    read = KeptRows.table

    def other(rows: KeptRows, address: str) -> pd.DataFrame:
        frame = read(rows, address)
        own = rows.folder.name == "puzzle8" and of_kind(kind).fullmatch(address)
        measured = frame.select_dtypes("float").columns.drop("path_weight", errors="ignore") if own else []
        return frame.assign(**{name: frame[name] * 0.9 for name in measured})

    monkeypatch.setattr(KeptRows, "table", other)
    write(StudyResults.to_write_again("puzzle8"), tmp_path, short=True, deeper=True)
    before, after = ([table for _, table in tables_of(folder)] for folder in (PUBLISHED / "puzzle8", tmp_path))
    pairs = list(zip(before, after, strict=True))
    named = [kind in table.source or kind.replace("<model>", "baseline_") in table.source for table in before]
    assert any(named) and [left.rows != right.rows for left, right in pairs] == named
