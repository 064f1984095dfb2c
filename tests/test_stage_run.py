"""What every stage notes of its run."""

import subprocess

import pytest
from messages import is_one_sentence

from costtogo import recipes
from costtogo.files import FileError, write_text
from costtogo.stages.stage_run import commit


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
