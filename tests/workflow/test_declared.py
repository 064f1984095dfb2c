"""What dvc.yaml and config/ declare."""

import yaml
from workflow_runs import ROOT

from costtogo.params.loading import is_large, is_local_vi, overlay, parse
from costtogo.params.loading import load as load_large
from costtogo.params.loading import load as load_local_vi
from costtogo.params.study import Study
from costtogo.workflow.graph import PARTS


def test_dvc_has_a_stage_for_each_target_and_an_output_for_each_result():
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    assert set(stages) == {*PARTS, "report"} - {"figures"}
    for name, stage in stages.items():
        assert stage["cmd"] == f"snakemake --cores all -- {name}"
        outs = [next(iter(out)) for out in [*stage["outs"], *stage.get("metrics", [])]]
        groups = (name, "figures") if name == "report" else (name,)
        folders = ("", "done/", "timings/")
        assert {f"results/default/{folder}{group}" for folder in folders for group in groups} <= {*outs}
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
