"""The workflow as its users run it, on a copy of the project whose default study takes seconds."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml

from costtogo.params import Study, overlay, parse, without_nulls
from costtogo.params_large import is_large
from costtogo.params_large import load as load_large
from costtogo.params_local_vi import is_local_vi
from costtogo.params_local_vi import load as load_local_vi
from costtogo.workflow import STAGES

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
MODEL = "hanoi_4_uniform"
OTHER = "H4_DNN_reduced_0"


def run(folder: Path, *command: str, fails: bool = False, **variables: str) -> str:
    """The output of a command in the project; it must succeed, or fail where it should."""
    paths = os.pathsep.join([str(BIN), os.environ["PATH"]])
    environment = {**os.environ, "PATH": paths, "COSTTOGO_TRACKING": "off", **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def snakemake(folder: Path, *arguments: str, **options) -> str:
    return run(folder, "snakemake", "--cores", "2", *arguments, **options)


def commit(folder: Path) -> None:
    run(folder, "git", "add", "--all")
    run(folder, "git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "--message", "x")


def change(folder: Path, name: str, **values) -> None:
    """Change parameters of a model in the copy's params.yaml."""
    path = folder / "params.yaml"
    params = yaml.safe_load(path.read_text())
    params["models"][name] |= values
    path.write_text(yaml.safe_dump(params, sort_keys=False))


def jobs(output: str) -> set[str]:
    """The messages of the jobs that Snakemake ran or would run, without those of its targets."""
    return {line for line in re.findall(r"^Job \d+: (.*)$", output, flags=re.MULTILINE) if "complete" not in line}


def trained_iterations(folder: Path, name: str) -> int:
    return json.loads((folder / f"results/default/models/{name}.json").read_text())["metrics"]["iterations"]


def contents(folder: Path) -> dict[str, bytes]:
    """Every result and report file but timings."""
    paths = [path for top in ("results", "reports") for path in (folder / top).rglob("*") if path.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths if "timings" not in str(p)}


def copy_project(target: Path) -> Path:
    """The files that git would take, with tiny parameters, in a repository of their own."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    for name in listed.stdout.splitlines():
        if not name.startswith("reports/") and name != "dvc.lock" and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    tiny = yaml.safe_load((ROOT / "tests/workflow/tiny.yaml").read_text())
    (target / "params.yaml").write_text(yaml.safe_dump(without_nulls(overlay(params, tiny)), sort_keys=False))
    run(target, "git", "init", "--quiet", ".")
    run(target, "git", "config", "user.name", "t")
    run(target, "git", "config", "user.email", "t@localhost")
    commit(target)
    return target


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


def test_a_killed_job_runs_again_and_loses_no_finished_result(tmp_path):
    folder = copy_project(tmp_path)
    change(folder, MODEL, iterations=4000)
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "COSTTOGO_TRACKING": "off"}
    command = ["snakemake", "--cores", "2", "models"]
    process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, stderr=subprocess.DEVNULL)
    training = folder / f"results/default/resume/{MODEL}/checkpoints"
    deadline = time.monotonic() + 120
    while not training.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    table = folder / "results/default/tables/hanoi_4.npz"
    kept = table.stat().st_mtime_ns
    change(folder, MODEL, iterations=40)
    run(folder, "snakemake", "--unlock")
    output = snakemake(folder, "models")
    assert table.stat().st_mtime_ns == kept
    assert trained_iterations(folder, MODEL) == 40
    assert not any(job.startswith("Listing all states") for job in jobs(output))


def test_the_study_of_a_large_puzzle_is_a_target_of_its_own_and_its_network_solves(project, tmp_path):
    assert not any("cube3" in job for job in jobs(snakemake(project, "--dry-run", "--forceall")))
    done = jobs(snakemake(project, "cube3-smoke"))
    assert {"Training walks of cube3-smoke.", "Beam search over walks of cube3-smoke."} <= done
    assert "Writing the report of cube3-smoke." in done
    assert "Nothing to be done" in snakemake(project, "cube3-smoke")
    assert "Nothing to be done" in snakemake(project)
    grid = pd.read_parquet(project / "results/cube3-smoke/beams/walks/grid.parquet").set_index("set")
    assert grid.loc["distance_26", ["instances", "known", "solved_percent"]].tolist() == [7, 7, 100]
    model = "results/cube3-smoke/models/walks"
    told = run(project, "costtogo", "solve", "--model", model, "--scramble", "R U2 F'", "--seconds", "1")
    assert "solution        F U2 R'" in told and "4 quarter turns" in told and "3 moves with half turns" in told
    told = snakemake(project, "cube3-smoke-external", fails=True, COSTTOGO_EXTERNAL="nowhere")
    assert "There is no folder nowhere of external instances: set COSTTOGO_EXTERNAL" in told and not jobs(told)
    (tmp_path / "cube3_qtm.csv").write_text("scramble,optimal_moves_qtm\nR U',2\nF2,2\n")
    done = snakemake(project, "cube3-smoke-external", COSTTOGO_EXTERNAL=str(tmp_path))
    assert "External instances of cube3-smoke, solved over walks." in jobs(done)
    assert pd.read_parquet(project / "results/cube3-smoke/external/walks/summary.parquet")["optimal_percent"][0] == 100
    redone = jobs(snakemake(project, "cube3-smoke"))
    assert redone == {"Drawing the figures of cube3-smoke.", "Writing the report of cube3-smoke."}
    assert (project / "reports/cube3-smoke/figures/external_excess_walks.png").exists()
    for folder in ("results", "reports"):
        shutil.rmtree(project / folder / "cube3-smoke")


def test_the_study_of_a_board_runs_through_and_the_targets_of_several_studies_hold_each(project, tmp_path):
    would = jobs(snakemake(project, "--dry-run", "sliding", "sliding-large", "lights_out"))
    trainings = {f"Training tiles of puzzle{tiles}." for tiles in (15, 24, 35, 48)} | {
        "Training connected of lights_out_7.",
        "Training rows of lights_out_7.",
    }
    trainings |= {"Training residual.", "Training convolutional."}  # of the 8-puzzle, which is listed
    assert trainings == {job for job in would if job.startswith("Training")}
    done = jobs(snakemake(project, "puzzle15-smoke"))
    built = "Building the pattern database 3-4-4-4 of puzzle15-smoke."
    exact = "Solving the instance sets of puzzle15-smoke exactly."
    assert {
        built,
        exact,
        "BWAS, λ × N, over 3-4-4-4 of puzzle15-smoke.",
        "Writing the report of puzzle15-smoke.",
    } <= done
    optima = pd.read_parquet(project / "results/puzzle15-smoke/optima/puzzle15.parquet")
    searches = pd.read_parquet(project / "results/puzzle15-smoke/searches/tiles/searches.parquet")
    known = searches.merge(optima, on=["set", "instance"], suffixes=("", "_exact"))
    assert known["distance"].equals(known["distance_exact"]) and known["distance"].notna().any()
    assert "Nothing to be done" in snakemake(project, "puzzle15-smoke")
    goal = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0"
    (tmp_path / "puzzle15.csv").write_text(f"tiles,optimal_moves\n{goal},0\n{goal.replace('15 0', '0 15')},1\n")
    snakemake(project, "puzzle15-smoke-external", COSTTOGO_EXTERNAL=str(tmp_path))
    summary = pd.read_parquet(project / "results/puzzle15-smoke/external/tiles/summary.parquet")
    assert summary[["first", "optimal_percent"]].to_numpy().tolist() == [[2, 100], [2, 100]]
    model = "results/puzzle15-smoke/models/tiles"
    told = run(project, "costtogo", "solve", "--model", model, "--state", "1 2 3 4 5 6 7 8 9 10 11 12 13 0 14 15")
    assert "solution        L L" in told and "2 moves" in told
    for folder in ("results", "reports"):
        shutil.rmtree(project / folder / "puzzle15-smoke")


def test_dvc_has_a_stage_for_each_target_and_an_output_for_each_result():
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    targets = set(re.findall(r"^rule (\w+):", "".join(p.read_text() for p in ROOT.glob("workflow/rules/*.smk")), re.M))
    assert set(stages) == set(STAGES) <= targets
    for name, stage in stages.items():
        assert stage["cmd"] == f"snakemake --cores all -- {name}"
        outs = [next(iter(out)) for out in [*stage["outs"], *stage.get("metrics", [])]]
        assert {f"results/default/{name}", f"results/default/params/{name}", f"results/default/timings/{name}"} <= {
            *outs
        }
        assert all(next(iter(out.values()))["persist"] for out in [*stage["outs"], *stage.get("metrics", [])])


def test_every_parameter_is_watched_by_dvc():
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    assert set(stages["report"]["params"]) == set(params)


def test_the_studies_are_valid_and_apart():
    names = []
    for path in [None, *sorted((ROOT / "config").glob("*.yaml"))]:
        if path and (is_large(path) or is_local_vi(path)):
            names.append((load_large if is_large(path) else load_local_vi)(path).study)
            continue
        values = yaml.safe_load((ROOT / "params.yaml").read_text())
        study = parse(overlay(values, yaml.safe_load(path.read_text()) if path else {}))
        assert isinstance(study, Study)
        names.append(study.study)
    assert len(set(names)) == len(names)


def test_dvc_plots_the_curves_of_every_model():
    plots = [next(iter(plot)) for plot in yaml.safe_load((ROOT / "dvc.yaml").read_text())["plots"]]
    models = yaml.safe_load((ROOT / "params.yaml").read_text())["models"]
    kinds = ("loss", "learning_curve")
    assert sorted(plots) == sorted(f"reports/default/tables/{kind}_{m}.csv" for kind in kinds for m in models)
