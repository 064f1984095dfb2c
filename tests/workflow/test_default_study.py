"""The workflow as its users run it, on a copy of the project whose default study takes seconds."""

import json
import re
import shutil
from pathlib import Path

import pytest
from workflow_runs import MODEL, OTHER, change, commit, contents, copy_project, jobs, run, snakemake, trained_iterations


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project whose study is complete, recorded by DVC and committed. Tests leave it as it was."""
    folder = copy_project(tmp_path_factory.mktemp("project"))
    snakemake(folder)
    assert not jobs(run(folder, "dvc", "repro"))
    commit(folder)
    return folder


def test_a_complete_study_leaves_nothing_to_do(project):
    assert "Nothing to be done" in snakemake(project)
    assert "didn't change" in run(project, "dvc", "repro")


def test_the_same_study_from_nothing_gives_the_same_bytes(project, tmp_path):
    again = copy_project(tmp_path)
    snakemake(again)
    first, second = contents(project), contents(again)
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_a_changed_parameter_reruns_only_what_depends_on_it(project):
    change(project, MODEL, iterations=30)
    would = jobs(snakemake(project, "--dry-run"))
    assert any(MODEL in job for job in would)
    assert not any(OTHER in job or "distance from" in job or "instance sets" in job for job in would)
    run(project, "dvc", "repro")
    assert trained_iterations(project, MODEL) == 30
    assert "Nothing to be done" in snakemake(project, "--dry-run")
    assert "metrics.json" in run(project, "dvc", "metrics", "diff")
    assert f"models.{MODEL}.iterations" in run(project, "dvc", "params", "diff")
    run(project, "git", "reset", "--hard", "--quiet")
    run(project, "dvc", "checkout")
    assert trained_iterations(project, MODEL) == 40
    assert "Nothing to be done" in snakemake(project, "--dry-run")
    change(project, MODEL, iterations=30)
    assert jobs(snakemake(project, "--dry-run")) == would
    change(project, MODEL, iterations=40)
    assert "Nothing to be done" in snakemake(project, "--dry-run")


def test_a_temporary_experiment_follows_its_parameter_and_redoes_nothing_else(project):
    if run(project, "git", "status", "--porcelain"):
        commit(project)
    output = run(project, "dvc", "exp", "run", "--temp", "--name", "shorter", "-S", f"models.{MODEL}.iterations=20")
    assert any(MODEL in job for job in jobs(output))
    assert not any(OTHER in job or "distance from" in job for job in jobs(output))
    refs = run(project, "git", "for-each-ref", "--format=%(refname)", "refs/exps").split()
    ref = next(ref for ref in refs if ref.endswith("/shorter"))
    shown = json.loads(run(project, "git", "show", f"{ref}:reports/default/metrics.json"))
    assert shown[MODEL]["selected_iteration"] <= 20
    assert trained_iterations(project, MODEL) == 40


def test_a_changed_parameter_is_noticed_after_touch_and_without_memory(project, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    shutil.rmtree(copy / ".snakemake")
    snakemake(copy, "--touch")
    assert "Nothing to be done" in snakemake(copy, "--dry-run")
    change(copy, OTHER, iterations=30)
    assert any(OTHER in job for job in jobs(snakemake(copy, "--dry-run")))
    shutil.rmtree(copy / ".snakemake")
    assert any(OTHER in job for job in jobs(snakemake(copy, "--dry-run")))


def test_another_study_touches_no_file_of_this_one(project):
    before = contents(project)
    overlay_file = project / "other.yaml"
    overlay_file.write_text("study: other\nmodels: {H4_DNN_reduced_0: null}\n")
    snakemake(project, "tables", "--configfile", "other.yaml")
    overlay_file.unlink()
    after = contents(project)
    assert {name: after[name] for name in before} == before
    assert any(name.startswith("results/other/tables") for name in after)
    shutil.rmtree(project / "results/other")


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        (MODEL, {"iteratons": 3}, r"did you mean 'iterations'\?"),
        (MODEL, {"puzzle": "hanoi_5"}, r"did you mean 'hanoi_4'\?"),
        (MODEL, {"learning_rate": -1}, r"models.hanoi_4_uniform.learning_rate"),
    ],
)
def test_a_wrong_parameter_is_one_sentence_and_stops_everything(project, name, values, sentence):
    saved = (project / "params.yaml").read_text()
    change(project, name, **values)
    output = snakemake(project, fails=True)
    (project / "params.yaml").write_text(saved)
    assert re.search(sentence, output), output
    assert "Traceback" not in output


def test_a_key_that_is_there_twice_is_one_sentence_though_snakemake_takes_the_last(project):
    saved = (project / "params.yaml").read_text()
    (project / "params.yaml").write_text(f"{saved}seed: 7\n")
    output = snakemake(project, fails=True)
    (project / "params.yaml").write_text(saved)
    assert re.search(r"params.yaml is not valid YAML near line \d+; the key 'seed' is there twice\.", output), output
    assert "Traceback" not in output


def test_a_truncated_result_is_told_before_a_job_begins_and_the_next_run_recovers(project):
    table = project / "results/default/tables/hanoi_4.npz"
    whole, others = table.read_bytes(), contents(project)
    table.write_bytes(whole[:40])
    output = snakemake(project, fails=True)
    assert len(re.findall(r"hanoi_4.npz is not what its stage wrote.*the next run makes it again", output)) == 1
    assert "Traceback" not in output and not jobs(output)
    Path(f"{table}.damaged").unlink()
    left = {path: content for path, content in others.items() if not path.startswith("results/default/tables/hanoi_4.")}
    assert contents(project) == left
    assert len(jobs(snakemake(project, "tables"))) == 1
    assert contents(project) == others
    assert "Nothing to be done" in snakemake(project)


def test_a_write_limit_is_one_sentence_and_the_next_run_recovers(project):
    table = project / "results/default/tables/hanoi_4.npz"
    whole = table.read_bytes()
    command = (
        "costtogo table --params results/default/params/tables/hanoi_4.json --out results/default/tables/hanoi_4.npz"
    )
    output = run(project, "bash", "-c", f"ulimit -f 0; {command}", fails=True)
    assert re.search(r"^costtogo: Cannot write .*File too large", output, flags=re.MULTILINE)
    assert "Traceback" not in output
    assert table.read_bytes() == whole
    assert not list(table.parent.glob(".*"))
