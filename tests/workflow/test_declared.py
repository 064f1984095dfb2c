"""What dvc.yaml and studies/*/dvc.yaml declare."""

from pathlib import Path

import pytest
import yaml
from workflow_runs import ROOT

from costtogo.workflow.graph import PARTS, names_of

STUDIES = names_of(ROOT / "config")


def read(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def outputs(stage: dict) -> dict[str, dict]:
    """The options of each output of a stage, by its path."""
    return {path: each[path] for each in [*stage["outs"], *stage.get("metrics", [])] for path in each}


def test_dvc_has_a_stage_for_each_target_and_an_output_for_each_result():
    stages = read(ROOT / "dvc.yaml")["stages"]
    assert set(stages) == {*PARTS, "report"} - {"figures"}
    for name, stage in stages.items():
        assert stage["cmd"] == f"snakemake --cores all -- {name}"
        groups = (name, "figures") if name == "report" else (name,)
        folders = ("", "done/", "timings/")
        found = outputs(stage)
        assert {f"results/default/{folder}{group}" for folder in folders for group in groups} <= {*found}
        assert all(options["persist"] for options in found.values())


def test_every_parameter_is_watched_by_dvc():
    stages = read(ROOT / "dvc.yaml")["stages"]
    assert set(stages["report"]["params"]) == set(read(ROOT / "params.yaml"))


def files_of(study: str) -> list[str]:
    """The files that a study's parameters come from, its own the last."""
    other = read(ROOT / "config" / f"{study}.yaml").get("like")
    older = [] if other is None else ["params.yaml"] if other == "default" else files_of(other)
    return [*older, f"config/{study}.yaml"]


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_is_a_stage_of_dvc_in_a_file_of_its_own(study):
    (name, stage), *more = read(ROOT / "studies" / study / "dvc.yaml")["stages"].items()
    assert (name, more) == (study, [])
    assert (stage["cmd"], stage["wdir"]) == (f"snakemake --cores all -- {study}", "../..")
    assert [path for each in stage["params"] for path in each] == files_of(study)
    found = outputs(stage)
    assert all(options["persist"] for options in found.values())
    default = outputs(read(ROOT / "dvc.yaml")["stages"]["report"])
    reported = {path.replace("default", study): each for path, each in default.items() if path.startswith("reports/")}
    assert found == {f"results/{study}": {"persist": True}} | reported


def test_dvc_plots_the_curves_of_every_model():
    plots = [next(iter(plot)) for plot in read(ROOT / "dvc.yaml")["plots"]]
    models = read(ROOT / "params.yaml")["models"]
    kinds = ("loss", "learning_curve")
    assert sorted(plots) == sorted(f"reports/default/tables/{kind}_{m}.csv" for kind in kinds for m in models)
