"""Finished results taken over to new code: by a record of the net, and not without."""

import shutil
import subprocess
from pathlib import Path

import pytest
from messages import is_one_sentence

from benchmarks import gpu
from costtogo import recipes
from costtogo.files import FileError, digest, read_json, write_json, write_text
from costtogo.params.study import Study
from costtogo.sources import digest_of
from costtogo.stages import tables
from costtogo.stages.stage_run import commit
from costtogo.tables.provenance import provenance
from costtogo.tables.results import StudyResults
from costtogo.types import UserError
from costtogo.workflow.graph import Graph
from costtogo.workflow.stages import Stage, stages_of
from costtogo.workflow.state import State
from tools import adopt

ROOT = Path(__file__).parents[1]
STUDY = Study(study="tiny", seed=1, threads=1, tables=["hanoi_3", "hanoi_4"], puzzles={}, models={})
COMMITS = {"before": "b" * 40, "after": "a" * 40}
OLD = "the digest of older code"


def listed() -> list[Stage]:
    """The stages that list the states."""
    return [stage for stage in stages_of(STUDY) if stage.group == "tables"]


@pytest.fixture
def older(tmp_path, monkeypatch):
    """Tables that older code has made: their cards name it, and their marks bear another key."""
    monkeypatch.chdir(tmp_path)
    for folder in ("data", "workflow"):
        Path(folder).symlink_to(ROOT / folder)
    for stage in listed():
        tables.run(stage.recipe.write(stage.folder, stage.name), Path(stage.results[0]))
        write_json(stage.card, read_json(stage.card) | {"code": OLD})
        mark = State([stage]).mark(stage)
        for path in mark.parent.glob(f"{stage.name}.*"):
            path.rename(path.with_name(f"{stage.name}.0123456789ab.done"))
    assert all(State(listed()).reason(stage) for stage in listed())
    return tmp_path


def record(**changes) -> Path:
    """A record of the net that holds for the tables, with changes."""
    now = digest_of(listed()[0].recipe.code)
    content = {
        "before": {"commit": COMMITS["before"], "dirty": False},
        "after": {"commit": COMMITS["after"], "dirty": False},
        "processor": adopt.processor(),
        "versions": adopt.versions(),
        "codes": {"table": [{"before": OLD, "after": each, "cards": []} for each in (now, "of another puzzle")]},
        "results_equal": True,
        "unexplained": 0,
    }
    write_json("record.json", content | changes)
    return Path("record.json")


def test_results_that_the_net_found_equal_are_taken_over_and_their_cards_say_so(older):
    before = {path: digest(path) for path in Path("results").rglob("*.npz")}
    assert adopt.run(stages_of(STUDY), record()) == 2
    assert not any(State(listed()).reason(stage) for stage in listed())
    assert {path: digest(path) for path in Path("results").rglob("*.npz")} == before
    for stage in listed():
        card = read_json(stage.card)
        assert card["code"] == digest_of(stage.recipe.code)
        (step,) = card["adopted"]
        assert step == {"from": OLD, "to": card["code"], "net": digest("record.json"), **COMMITS}
    assert adopt.run(stages_of(STUDY), record()) == 0, "what is finished is left alone"


def test_reports_mark_the_rows_of_adopted_stages(older):
    rows = provenance(StudyResults(Path("results/tiny")))
    assert "adopted" not in rows
    adopt.run(stages_of(STUDY), record())
    rows = provenance(StudyResults(Path("results/tiny")))
    assert set(rows["adopted"]) == {f"{'b' * 12}..{'a' * 12}"}


REFUSED = {
    "files beside the commit": ({"after": {"commit": COMMITS["after"], "dirty": True}}, "differ from their commit"),
    "another processor": ({"processor": "an abacus"}, "was made on an abacus"),
    "another library": ({"versions": {"numpy": "0.1"}}, "made with another numpy"),
    "results that differ": ({"results_equal": False}, "names results that differ"),
    "a difference unexplained": ({"unexplained": 1}, "names results that differ"),
    "no record": ({"codes": None}, "is no record of the net"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_record_that_does_not_hold_is_refused_and_nothing_is_changed(case, older):
    changes, sentence = REFUSED[case]
    before = {path: digest(path) for path in Path("results").rglob("*") if path.is_file()}
    with pytest.raises(UserError, match=sentence) as told:
        adopt.run(stages_of(STUDY), record(**changes))
    assert is_one_sentence(str(told.value))
    assert {path: digest(path) for path in Path("results").rglob("*") if path.is_file()} == before


def test_code_that_the_net_has_not_compared_is_not_taken_over(older, capsys):
    assert adopt.run(stages_of(STUDY), record(codes={"table": []})) == 0
    assert "tiny/tables/hanoi_3 (the net has not compared its code with today's)" in capsys.readouterr().err
    assert all(State(listed()).reason(stage) for stage in listed())


def test_results_of_other_parameters_or_damaged_ones_are_not_taken_over(older, capsys):
    first, second = listed()
    write_json(first.card, read_json(first.card) | {"parameters": {"study": "tiny", "puzzle": "hanoi_5"}})
    Path(second.results[0]).write_bytes(b"cut")
    assert adopt.run(stages_of(STUDY), record()) == 0
    told = capsys.readouterr().err
    assert "its parameters have changed" in told and "is not what it wrote" in told


def test_a_stage_that_comes_out_otherwise_when_made_again_stops_everything(older):
    for stage in listed():
        Path(stage.results[0]).write_bytes(b"bytes that today's code does not make")
        outputs = {stage.results[0]: digest(stage.results[0])}
        write_json(stage.card, read_json(stage.card) | {"outputs": outputs})
    with pytest.raises(UserError, match="made again, has another results/tiny/tables/.*nothing was taken over") as told:
        adopt.run(stages_of(STUDY), record())
    assert is_one_sentence(str(told.value))
    assert all(State(listed()).reason(stage) for stage in listed()) and not list(older.glob(".adopt-*"))


def test_what_a_machine_with_a_gpu_made_is_taken_as_if_it_had_been_made_here(tmp_path, monkeypatch):
    for name in ("config", "data", "params.yaml"):
        (tmp_path / name).symlink_to(Path(name).resolve())
    monkeypatch.setenv("PYTHONPATH", str(Path("src").resolve()))
    monkeypatch.chdir(tmp_path)
    # There: a training, its audit and its searches, each by its own command.
    assert gpu.main(["--tiny", "--device", "cpu", "--part", "exact", "--minutes", "30"]) == 0
    (packed,) = Path("results/gpu").glob("*.tar")
    # Here: only what it reads is made; a study of other parameters takes nothing.
    for group in ("models", "audits", "searches"):
        for folder in (Path("results/thesis"), Path("results/thesis/done"), Path("results/thesis/timings")):
            shutil.rmtree(folder / group)
    files = [Path("params.yaml"), Path("config/thesis.yaml")]
    with pytest.raises(UserError) as error:
        adopt.bring(Graph(files, Path("config")).stages, packed)
    assert is_one_sentence(str(error.value)) and "other parameters" in str(error.value)
    stages = Graph(files, Path("config"), gpu.FEW | {"device": "cpu"}).stages
    assert adopt.bring(stages, packed) == 3
    taken = [stage for stage in stages if stage.id.endswith("/H4_DNN_reduced_0_seed1") and stage.study == "thesis"]
    assert [State(stages).reason(stage) for stage in taken] == ["", "", ""]
    brought = read_json(taken[0].card)["brought"]
    assert brought["torch"] and brought["device"]
    # A file that is cut off costs one sentence.
    packed.write_bytes(packed.read_bytes()[:3000])
    with pytest.raises(UserError) as error:
        adopt.bring(stages, packed)
    assert is_one_sentence(str(error.value))


def test_a_tree_differs_by_what_people_change_and_not_by_what_a_run_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert commit() == ""
    written = ("reports/default/report.md", "dvc.lock", "studies/dvc.lock")
    for name in (*written, "params.yaml"):
        write_text(name, "before")
    for command in (["init"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-m", "t"]):
        subprocess.run(["git", *command], check=True, capture_output=True)
    head = commit()
    assert len(head) == 40
    for name in written:
        write_text(name, "after")
    assert commit() == head
    write_text("params.yaml", "after")
    assert commit() == f"{head}+"


def test_results_that_cannot_be_replaced_are_told_in_one_sentence(tmp_path):
    (tmp_path / "tables" / "hanoi_4.json").mkdir(parents=True)  # which cannot be removed as a file, by root neither
    with pytest.raises(FileError, match="Cannot replace .*hanoi_4.json: ") as told:
        recipes.begin(tmp_path / "tables", "hanoi_4")
    assert is_one_sentence(str(told.value))
