"""What is asked for on the command line: it is done, or refused in one sentence before anything runs."""

import shutil
from pathlib import Path

import pytest
from messages import is_one_sentence
from workflow_runs import ROOT, run

from costtogo.params.loading import load
from costtogo.tables.kept import kept_for_others
from costtogo.types import UserError
from costtogo.workflow.graph import PARTS, RESERVED, Graph

BASE = ROOT / "params.yaml"
KEPT = [path.stem for path in kept_for_others(ROOT / "data" / "measured")]


def graph(*targets: str, changes: dict | None = None, files: tuple = (), folder: Path = ROOT / "config") -> Graph:
    """What Snakemake runs for targets, with --config and --configfile."""
    return Graph([BASE, *files], folder, changes, words=[*targets, *map(str, files)], targets=targets)


def refused(*targets: str, **options) -> str:
    with pytest.raises(UserError) as told:
        graph(*targets, **options)
    assert is_one_sentence(str(told.value)), told.value
    return str(told.value)


@pytest.fixture()
def folder(tmp_path) -> Path:
    """A copy of config/, beside a params.yaml."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copy(BASE, tmp_path / "params.yaml")
    return tmp_path / "config"


@pytest.mark.parametrize(
    "target", ["quick", "quick_models_quick", "results/quick/models/quick.json", "reports/quick/report.md"]
)
def test_a_change_is_of_the_study_that_is_asked_for(target):
    found = graph(target, changes={"seed": 3})
    assert found.study == load([ROOT / "config" / "quick.yaml"], {"seed": 3})
    assert {stage.parameters["seed"] for stage in found.stages if stage.group == "report"} == {3}


@pytest.mark.parametrize("targets", [(), ("all",), ("default",), ("tables", "report"), ("default_models_DNN_0",)])
def test_a_change_is_of_the_default_study_where_no_other_is_asked_for(targets):
    assert graph(*targets, changes={"seed": 3}).study == load([BASE], {"seed": 3})


def test_a_change_is_of_the_one_study_of_a_group_and_of_the_study_of_a_file():
    assert graph("lights_out", changes={"seed": 3}).study.study == "lights_out_7"
    quick = (ROOT / "config" / "quick.yaml",)
    for targets in ((), ("models",), ("quick",), ("quick", "tables")):
        assert graph(*targets, changes={"seed": 3}, files=quick).study == load(quick, {"seed": 3})
    assert graph("tables", "puzzle8", files=quick).study == load(quick), "without a change, others may come along"


@pytest.mark.parametrize(
    "targets", [("quick", "puzzle8"), ("tables", "quick"), ("sliding",), ("quick", "default_models_DNN_0")]
)
def test_a_change_of_several_studies_is_refused(targets):
    assert "--config changes one study at a time" in refused(*targets, changes={"seed": 3})


def test_a_file_of_another_study_than_those_asked_for_is_refused(tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text("study: other\nseed: 7\n")
    for changes in (None, {"seed": 3}):
        told = refused("quick", files=(other,), changes=changes)
        assert told.startswith("--configfile is for the study other, and the targets are of quick")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sed": 3}, "did you mean 'seed'"),
        ({"seed": "x"}, "given: 'x'"),
        ({"models": 3}, "must be a table"),
        ({"study": "foo"}, "must be 'quick', the name of its file"),
        ({"models": {"quick": {"iteratons": 3}}}, "did you mean 'iterations'"),
    ],
)
def test_a_wrong_change_of_a_study_is_refused(changes, words):
    assert words in refused("quick", changes=changes)


@pytest.mark.parametrize(("target", "nearest"), [("quickk", "quick"), ("defaultt", "default"), ("tabels", "tables")])
def test_a_target_that_is_not_there_names_the_nearest(target, nearest):
    assert refused(target) == f"There is no target '{target}'; did you mean '{nearest}'?"


@pytest.mark.parametrize("name", [*RESERVED, "sliding"])
def test_a_study_called_like_another_target_is_refused_where_it_is_named_and_stops_no_other(folder, name):
    shutil.copy(folder / "quick.yaml", folder / f"{name}.yaml")
    told = f"config/{name}.yaml: no study can be called {name}"
    assert refused(name, folder=folder).startswith(told)
    assert refused(files=(folder / f"{name}.yaml",), folder=folder).startswith(told)
    for targets in (("quick",), ()):
        names = [target.name for target in graph(*targets, folder=folder).targets]
        assert len(set(names)) == len(names) and {*PARTS, "quick"} <= {*names}


def test_a_study_called_like_a_rule_is_refused(folder):
    (folder / "quick_models_quick.yaml").write_text("study: quick_models_quick\nlike: smoke\n")
    assert refused("quick", folder=folder).startswith("config/quick_models_quick.yaml: no study can be called")


def test_twins_are_told_apart_by_their_files(folder):
    shutil.copy(folder / "quick.yaml", folder / "twin.yaml")
    assert "'quick' must be 'twin', the name of its file" in refused("twin", folder=folder)
    assert graph("quick", folder=folder).study.study == "default"


def test_snakemake_ends_with_the_sentence():
    for arguments, words in (
        (("quick", "--config", "sed=3"), "did you mean 'seed'?"),
        (("quick", "puzzle8", "--config", "seed=3"), "--config changes one study at a time"),
        (("quikc",), "There is no target 'quikc'; did you mean 'quick'?"),
    ):
        told = run(ROOT, "snakemake", "--cores", "1", "--dry-run", *arguments, fails=True)
        assert words in told and "Traceback" not in told


# What stands beside a study's own results


def kept_figures(study: str, folder: Path) -> list[str]:
    stages = [stage for stage in graph(study, folder=folder).stages if stage.study == study]
    return [stage.name for stage in stages if stage.group == "figures" and stage.name in KEPT]


def own_study(folder: Path, like: str, text: str = "") -> str:
    (folder / "mine.yaml").write_text(f"like: {like}\nstudy: mine\n{text}")
    return "mine"


@pytest.mark.parametrize("like", ["default", "quick", "puzzle8", "deepcube"])
def test_a_study_of_one_s_own_shows_its_own_results_alone(folder, like):
    name = own_study(folder, like)
    assert kept_figures(name, folder) == []
    (report,) = (stage for stage in graph(name, folder=folder).stages if stage.id == "mine/report/report")
    assert not [path for path in report.files if "measured" in path]
    assert [path for path in report.files if "reported" in path], "the literature's numbers stay"


def test_a_study_shows_the_kept_results_that_its_file_names(folder):
    name = own_study(folder, "quick", "beside: [thesis, lookahead]\n")
    assert sorted(kept_figures(name, folder)) == ["lookahead", "thesis"]
    (report,) = (stage for stage in graph(name, folder=folder).stages if stage.id == "mine/report/report")
    assert {path.split("/")[2] for path in report.files if "measured" in path} == {
        *("lookahead", "lookahead.json", "thesis", "thesis.json")
    }
    assert {*kept_figures("default", ROOT / "config")} == {*KEPT} - {"targets", "several_seeds"}


def test_a_file_laid_over_the_default_study_shows_its_own_results_alone(tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text("study: other\n")
    assert graph(files=(other,)).study.beside == [] != graph().study.beside
    other.write_text("seed: 7\n")
    assert graph(files=(other,)).study.beside == graph().study.beside


@pytest.mark.parametrize(
    ("named", "words"), [("[lookahaed]", "did you mean 'lookahead'"), ("[puzzle8]", "is kept for other reports")]
)
def test_a_study_that_was_not_kept_cannot_stand_beside_another(folder, named, words):
    told = refused(own_study(folder, "quick", f"beside: {named}\n"), folder=folder)
    assert told.startswith("Parameter beside: no study") and words in told
