"""The workflow as its users run it, on a copy of the project whose default study takes seconds."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from workflow_runs import (
    MODEL,
    OTHER,
    change,
    commit,
    contents,
    copy_project,
    environment,
    jobs,
    run,
    snakemake,
    trained_iterations,
)


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


def test_a_finished_study_becomes_one_file_with_its_figures_for_a_supplement(project, tmp_path):
    snakemake(project, "--report", str(tmp_path / "supplement.zip"))
    names = zipfile.ZipFile(tmp_path / "supplement.zip").namelist()
    figures = {path.name for path in (project / "reports/default/figures").glob("*.png")}
    assert figures and figures <= {Path(name).name for name in names}
    assert any(name.endswith("report.html") for name in names)


def begun(folder: Path, *arguments: str) -> subprocess.Popen:
    """Snakemake, as the head of a process group of its own, once it trains MODEL."""
    process = subprocess.Popen(
        ["snakemake", *arguments],
        cwd=folder,
        env=environment(),
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    training = folder / f"results/default/resume/{MODEL}/checkpoints"
    while not training.exists() and process.poll() is None:
        time.sleep(0.05)
    assert process.poll() is None, "it is training"
    return process


def test_a_study_killed_and_begun_again_loses_nothing_finished_and_ends_in_the_same_bytes(project, tmp_path):
    again = copy_project(tmp_path)
    change(again, MODEL, iterations=4000)
    process = begun(again, "--cores", "2", "models")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    table = again / "results/default/tables/hanoi_4.npz"
    kept = table.stat().st_mtime_ns
    change(again, MODEL, iterations=40)
    run(again, "snakemake", "--unlock")
    done = jobs(snakemake(again))
    assert table.stat().st_mtime_ns == kept and f"Training {MODEL}." in done
    assert "Listing all states by their distance from the goal of hanoi_4." not in done
    first, second = contents(project), contents(again)
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def rows_of(table: str) -> list[list[str]]:
    """The cells of a table of DVC."""
    return [line.split() for line in table.splitlines() if line.startswith(("Path", "reports/"))]


def test_a_changed_parameter_reruns_only_what_depends_on_it(project):
    change(project, MODEL, iterations=30)
    told = snakemake(project, "--dry-run")
    assert "    because: training.iterations 40 → 30\n" in told and len(told.splitlines()) <= 48
    would = jobs(told)
    assert any(MODEL in job for job in would)
    assert not any(OTHER in job or "distance from" in job or "instance sets" in job for job in would)
    run(project, "dvc", "repro")
    assert trained_iterations(project, MODEL) == 30
    assert "Nothing to be done" in snakemake(project, "--dry-run")
    assert f"metrics/{MODEL}.json" in run(project, "dvc", "metrics", "diff")
    assert set(map(len, rows_of(run(project, "dvc", "metrics", "show")))) == {7}, "a row a model, a few numbers"
    assert f"models.{MODEL}.iterations" in run(project, "dvc", "params", "diff")
    run(project, "git", "reset", "--hard", "--quiet")
    run(project, "dvc", "checkout", "--allow-missing")
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
    shown = run(project, "dvc", "exp", "diff", "HEAD", ref.rpartition("/")[2])
    assert f"reports/default/metrics/{MODEL}.json" in shown and f"models.{MODEL}.iterations" in shown
    table = run(project, "dvc", "exp", "show", "--no-pager", "--csv", "--only-changed", "--drop", "results")
    assert f"reports/default/metrics/{MODEL}.json" in table and OTHER not in table
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
    overlay_file.write_text("study: other\nmodels: {only: [hanoi_4_uniform]}\n")
    snakemake(project, "tables", "--configfile", "other.yaml")
    overlay_file.unlink()
    after = contents(project)
    assert {name: after[name] for name in before} == before
    assert any(name.startswith("results/other/tables") for name in after)
    shutil.rmtree(project / "results/other")


def test_a_wrong_parameter_is_one_sentence_and_stops_everything(project):
    saved = (project / "params.yaml").read_text()
    change(project, MODEL, iteratons=3)
    output = snakemake(project, fails=True)
    (project / "params.yaml").write_text(saved)
    assert "did you mean 'iterations'?" in output and not jobs(output), output
    assert "Traceback" not in output


def test_a_key_that_is_there_twice_is_one_sentence_though_snakemake_takes_the_last(project):
    saved = (project / "params.yaml").read_text()
    (project / "params.yaml").write_text(f"{saved}seed: 7\n")
    output = snakemake(project, fails=True)
    (project / "params.yaml").write_text(saved)
    assert re.search(r"params.yaml is not valid YAML near line \d+; the key 'seed' is there twice\.", output), output
    assert "Traceback" not in output


def test_a_write_limit_is_one_sentence_and_the_next_run_recovers(project):
    table = project / "results/default/tables/hanoi_4.npz"
    whole = table.read_bytes()
    mark = next((project / "results/default/done/tables").glob("hanoi_4.*.done"))
    recipe = f".snakemake/costtogo/recipes/default/tables/{mark.stem}.json"
    command = f"costtogo stage tables --params {recipe} --out results/default/tables/hanoi_4.npz"
    compiled = {"PYTHONPATH": str(project / "src")}  # no room for compiled code either, which is there
    output = run(project, "bash", "-c", f"ulimit -f 0; {command}", fails=True, **compiled)
    assert re.search(r"^costtogo: Cannot write .*File too large", output, flags=re.MULTILINE)
    assert "Traceback" not in output
    assert table.read_bytes() == whole
    assert not list(table.parent.glob(".*"))
    assert len(jobs(snakemake(project))) == 1 and table.read_bytes() == whole


def listing(folder: Path) -> dict[str, tuple]:
    """Name, time and content of every file of the results, the reports and Snakemake's own memory."""
    tops = [folder / name for name in ("results", "reports", ".snakemake/metadata")]
    paths = [path for top in tops for path in top.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


def test_a_dry_run_is_dry_whatever_it_is_asked(project):
    before = listing(project)
    assert jobs(snakemake(project, "--dry-run", "all", "puzzle15", "cube3"))
    assert jobs(snakemake(project, "--dry-run", "--config", "seed=7"))
    assert jobs(snakemake(project, "--dry-run", "puzzle15-smoke", "--config", "seed=7"))
    snakemake(project, "--list-rules")
    assert listing(project) == before


def test_a_second_run_with_another_seed_changes_nothing_of_one_that_is_running(project, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(project, copy, symlinks=True)
    change(copy, MODEL, iterations=500)
    wanted = json.loads((project / f"results/default/audits/{MODEL}.json").read_text())["parameters"]["seed"]
    running = begun(copy, "--cores", "1", "audits")
    os.killpg(running.pid, signal.SIGSTOP)  # so that it is running still, however long the others take
    snakemake(copy, "--dry-run", "--config", "seed=7")
    assert "LockException" in snakemake(copy, "--config", "seed=7", fails=True)
    os.killpg(running.pid, signal.SIGCONT)
    assert running.wait(timeout=900) == 0
    assert json.loads((copy / f"results/default/audits/{MODEL}.json").read_text())["parameters"]["seed"] == wanted
    assert trained_iterations(copy, MODEL) == 500
    assert "Nothing to be done" in snakemake(copy, "--dry-run", "audits")


def test_what_is_deleted_cut_off_or_damaged_is_made_again_as_it_was_and_nothing_else(project):
    others = contents(project)
    (project / "reports/default/figures/training_hanoi_4.png").unlink()
    for name in (
        "reports/default/report.md",
        "reports/default/tables/audit.csv",
        "reports/default/timings.md",
        f"results/default/timings/models/{MODEL}.json",
        "results/default/tables/hanoi_4.npz",
        "results/default/figures/thesis.json",
    ):
        path = project / name
        path.write_bytes(path.read_bytes()[:20])
    output = snakemake(project)
    assert "hanoi_4.npz is not what its stage wrote (cut off or changed since)" in output and "Traceback" not in output
    assert jobs(output) == {
        "Listing all states by their distance from the goal of hanoi_4.",
        f"Training {MODEL}.",
        "Drawing the figures of hanoi_4.",
        "Drawing the figures of thesis.",
        "Writing the report of default.",
    }
    assert contents(project) == others
    curve = f"results/default/models/{MODEL}/curve.parquet"
    (project / curve).unlink()
    output = snakemake(project, curve)
    assert jobs(output) == {f"Training {MODEL}."} and f"because: {curve} is gone" in output
    assert "Nothing to be done" in snakemake(project)
    assert contents(project) == others


def test_snakemakes_own_report_has_the_figures(project):
    snakemake(project, "--report", "report.html")
    page = (project / "report.html").read_text(encoding="utf-8")
    (project / "report.html").unlink()
    assert "training_hanoi_4.png" in page and "figures/training_hanoi_4" in page


def test_a_bit_that_flips_on_the_disk_without_a_trace_enters_no_report(project):
    others = contents(project)
    grid = project / f"results/default/searches/{MODEL}/grid.parquet"
    status, content = grid.stat(), bytearray(grid.read_bytes())
    content[len(content) // 2] ^= 1
    grid.write_bytes(content)
    os.utime(grid, ns=(status.st_atime_ns, status.st_mtime_ns))
    (project / "reports/default/report.md").unlink()
    output = snakemake(project, fails=True)
    assert (
        len(re.findall(r"^costtogo: .*grid.parquet is not what its stage wrote .*makes it again\.$", output, re.M)) >= 1
    )
    assert "Traceback" not in output
    Path(f"{grid}.damaged").unlink()
    snakemake(project)
    assert contents(project) == others
