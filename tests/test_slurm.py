"""What stages ask of a cluster, the profile that submits them, and studies run on a Slurm that is started for real."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from slurm_cluster import cluster, missing, wait_for
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ResourceSettings
from workflow_runs import MODEL, ROOT, change, contents, copy_project, snakemake

from costtogo.workflow.graph import Graph
from costtogo.workflow.resources import resources_of

PLUGIN = importlib.util.find_spec("snakemake_executor_plugin_slurm") is not None
PROFILES = {name: ROOT / "profiles" / name / "config.yaml" for name in ("default", "slurm")}
# What a user types, and what a cluster without accounting needs besides.
UNACCOUNTED = ["--slurm-no-account", "--slurm-status-command", "squeue"]
ASKED_OFTEN = ["--slurm-init-seconds-before-status-checks", "5"]
SUBMITTED = ["snakemake", "--profile", "profiles/slurm", *UNACCOUNTED, *ASKED_OFTEN]
KEPT = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
MOST_PER_ATTEMPT = 0.5  # of the minutes that a stage asks for, of which kept studies may have taken so many


@pytest.fixture(scope="module")
def stages():
    """The stages of all studies by id."""
    return {stage.id: stage for stage in Graph([ROOT / "params.yaml"], ROOT / "config").stages}


def test_every_rule_asks_for_what_one_function_says_and_for_more_at_each_attempt(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["snakemake", "smoke"])
    monkeypatch.chdir(tmp_path)
    for folder in ("data", "workflow"):
        Path(folder).symlink_to(ROOT / folder)
    with SnakemakeApi() as api:
        loaded = api.workflow(resource_settings=ResourceSettings(cores=1), snakefile=ROOT / "Snakefile")._workflow
        made = {stage.id.replace("/", "_"): stage for stage in loaded.globals["GRAPH"].stages}
        rules = {rule.name: rule for rule in loaded.rules if not rule.norun}
    assert rules.keys() == made.keys() and any(name.startswith("smoke_models") for name in rules)
    for name, rule in rules.items():
        asked, given = resources_of(made[name]), rule.resources
        for attempt in (1, 3):
            found = {part: given[part].evaluate(None, attempt=attempt).value for part in ("mem_mb", "runtime")}
            assert found == {"mem_mb": attempt * asked.mem_mb, "runtime": attempt * asked.runtime}
        assert given["gpu"].evaluate(None).value == asked.gpu
        assert given["_cores"].value == made[name].threads


def test_kept_stages_took_at_most_half_the_minutes_that_they_ask_for(stages):
    compared = 0
    for path in sorted((ROOT / "data" / "measured").glob("*.json")):
        for place, kept in json.loads(path.read_text(encoding="utf-8")).items():
            stage = stages.get(f"{path.stem}/{place}")
            if stage is not None and "timing" in kept and kept.get("parameters") == stage.parameters:
                compared += 1
                seconds = kept["timing"]["seconds"]
                assert seconds <= MOST_PER_ATTEMPT * 60 * resources_of(stage).runtime, (stage.id, seconds)
    assert compared > 200


def test_a_budget_of_seconds_is_time_that_a_stage_has(stages):
    external = stages["cube3-gpu/external/walks"]
    seconds = sum(each["states"] * each["seconds"] for each in external.parameters["external"]["budgets"])
    assert seconds == 30_000 and resources_of(external).runtime == 2 * seconds / 60


def test_memory_follows_what_a_stage_holds(stages):
    def asked(place: str) -> int:
        return resources_of(stages[place]).mem_mb

    assert asked("smoke/report/report") == 2000
    assert asked("default/audits/DNN_0") > 2000 + 3_674_160 * 75 / 2**20, "75 bytes for each state of the 2×2×2 cube"
    assert asked("cube3-gpu/beams/walks") - asked("cube3/beams/walks") == pytest.approx(340_000_000 * 60 / 2**20, abs=1)
    assert asked("puzzle15/pattern_databases/7-8") > 5_000, "a table of 519 million entries and one of 58 million"
    assert asked("puzzle15/baselines/7-8") > asked("puzzle15/baselines/5-5-5") > asked("puzzle15/baselines/manhattan")
    assert asked("cube3-gpu/models/walks") > asked("cube3/models/walks")


def test_a_gpu_is_asked_for_where_networks_run_on_it(stages):
    wanted = {place for place, stage in stages.items() if resources_of(stage).gpu}
    groups = ("models", "audits", "searches", "beams", "anytime", "external")
    assert wanted == {f"cube3-gpu/{group}/walks" for group in groups}
    assert resources_of(stages["cube3-gpu/models/walks"]).gpu == 1


def test_the_profile_names_options_that_there_are_and_none_of_the_default_one():
    options = {name: yaml.safe_load(path.read_text(encoding="utf-8")) for name, path in PROFILES.items()}
    assert options["slurm"]["executor"] == "slurm" and not options["slurm"].keys() & options["default"].keys()
    shown = subprocess.run(["snakemake", "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"--([\w-]+)", shown))
    named = {name for name in options["slurm"] if PLUGIN or not name.startswith("slurm-")}
    assert named and named <= known


def test_a_job_makes_what_its_run_has_named_whatever_has_changed_since(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("data", "workflow"):
        Path(folder).symlink_to(ROOT / folder)
    files = [ROOT / "params.yaml", ROOT / "config" / "smoke.yaml"]
    run = Graph(files, ROOT / "config", words=[])
    run.begin()
    other, job = (Graph(files, ROOT / "config", {"seed": 7}, [], job=job) for job in (False, True))
    place = "smoke/instances/cube2"
    marks = [graph.mark(next(stage for stage in graph.stages if stage.id == place)) for graph in (run, other, job)]
    assert marks[0] == marks[2] != marks[1]
    changed = Graph(files[:1], ROOT / "config", {"seed": 7}, ["smoke"], targets=["smoke"])
    changed.begin()
    job = Graph(files[:1], ROOT / "config", {"seed": 7}, ["--target-jobs", "smoke_instances_cube2:"], job=True)
    assert (job.study, job.mark(job.stages[0])) == (changed.study, changed.mark(changed.stages[0]))
    assert changed.study.seed == 7


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A cluster of one node."""
    if reason := missing():
        pytest.skip(reason)
    with cluster(tmp_path_factory.mktemp("slurm")) as started:
        yield started


def jobs_of(slurm) -> list[dict[str, str]]:
    """What the cluster has written down of each job that has ended."""
    lines = (slurm.folder / "jobs.txt").read_text(encoding="utf-8").splitlines()
    return [dict(part.split("=", 1) for part in line.split() if "=" in part) for line in lines]


def test_the_smoke_study_is_the_same_to_the_byte(slurm, tmp_path):
    here, there = (copy_project(tmp_path / name) for name in ("here", "there"))
    for folder in (here, there):
        shutil.copy2(ROOT / "params.yaml", folder / "params.yaml")  # not the tiny one
    snakemake(here, "smoke")
    output = slurm.run(there, *SUBMITTED, "--", "smoke")
    first, second = contents(here), contents(there)
    assert first.keys() == second.keys() and len(first) > 100
    assert [name for name in first if first[name] != second[name]] == []
    names = re.findall(r"submitted with SLURM jobid (\d+) \(log: \S+/rule_(smoke_\w+)", output)
    ended = {job["JobId"]: job for job in jobs_of(slurm)}
    graph = Graph([there / "params.yaml"], there / "config", words=["smoke"])
    asked = {stage.id.replace("/", "_"): resources_of(stage) for stage in graph.stages if stage.study == "smoke"}
    assert asked.keys() == {name for _, name in names}
    for number, name in names:
        assert ended[number]["JobState"] == "COMPLETED"
        assert ended[number]["TimeLimit"] == str(asked[name].runtime)
        assert f"mem={asked[name].mem_mb}M" in ended[number]["Tres"] and "cpu=1" in ended[number]["Tres"]


def stop(slurm, number: str) -> None:
    """Let a job stand still, so that its time runs out and nothing else happens."""
    pids = re.findall(r"^(\d+)", slurm.run(slurm.folder, "scontrol", "listpids", number), flags=re.MULTILINE)
    slurm.run(slurm.folder, "kill", "-STOP", *pids)


ENDS = {
    "CANCELLED": lambda slurm, number: slurm.run(slurm.folder, "scancel", number),
    "TIMEOUT": stop,
}


@pytest.mark.parametrize("state", ENDS)
def test_a_training_that_is_ended_goes_on_from_its_resume_point(slurm, tmp_path, state):
    here, there = (copy_project(tmp_path / name) for name in ("here", "there"))
    for folder in (here, there):
        change(folder, MODEL, iterations=2000, check_every=500)
        saved_often(folder / "src/costtogo/stages/train.py")
    rule = f"default_models_{MODEL}"
    snakemake(here, rule)
    process = slurm.begin(there, *SUBMITTED, "--set-resources", f"{rule}:runtime=2 * attempt - 1", "--", rule, **KEPT)
    point = there / f"results/default/resume/{MODEL}/resume.safetensors"
    wait_for(lambda: point.exists() or process.poll() is not None, seconds=600)
    assert process.poll() is None, process.communicate()[0]
    number = slurm.run(there, "squeue", "--noheader", "--format=%i", "--states=RUNNING").split()[0]
    ENDS[state](slurm, number)
    output, _ = process.communicate(timeout=900)
    assert process.returncode == 0, output
    ended = {job["JobId"]: job["JobState"] for job in jobs_of(slurm)}
    told = [ended[each] for each in re.findall(r"SLURM jobid (\d+)", output)]
    assert ended[number] == state and told[-1] == "COMPLETED"
    clock = json.loads((there / f"results/default/timings/models/{MODEL}.json").read_text(encoding="utf-8"))
    assert clock["earlier_seconds"] > 0
    first, second = ({n: c for n, c in contents(folder).items() if "/models/" in n} for folder in (here, there))
    assert first == second and len(first) > 3


def saved_often(path: Path) -> None:
    """Let the training of a copy of the project write its resume point every second."""
    text = path.read_text(encoding="utf-8")
    often = re.sub(r"^RESUME_SECONDS = \d+$", "RESUME_SECONDS = 1", text, flags=re.MULTILINE)
    assert often != text
    path.write_text(often, encoding="utf-8")
