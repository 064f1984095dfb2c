"""What dvc.yaml and studies/dvc.yaml declare."""

from pathlib import Path

import yaml
from workflow_runs import ROOT

from costtogo.workflow.graph import PARTS, names_of


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


def test_every_study_is_a_stage_of_dvc_with_what_it_writes():
    found = read(ROOT / "studies/dvc.yaml")["stages"]["study"]
    assert found["foreach"] == names_of(ROOT / "config")
    stage = found["do"]
    assert (stage["cmd"], stage["wdir"]) == ("snakemake --cores all -- ${item}", "..")
    assert {"config", "params.yaml"} < {*stage["deps"]} and not {"params", "metrics"} & {*stage}
    assert outputs(stage) == {f"{folder}/${{item}}": {"persist": True} for folder in ("results", "reports")}


def test_dvc_plots_the_curves_of_every_model():
    plots = [next(iter(plot)) for plot in read(ROOT / "dvc.yaml")["plots"]]
    models = read(ROOT / "params.yaml")["models"]
    kinds = ("loss", "learning_curve")
    assert sorted(plots) == sorted(f"reports/default/tables/{kind}_{m}.csv" for kind in kinds for m in models)
