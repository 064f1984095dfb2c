"""What the Snakefile relies on: slices, dates after a restore, sources of a stage; and imports that run one way."""

import ast
import base64
import hashlib
import os
import shutil
from pathlib import Path

import pytest
from messages import is_one_sentence

from costtogo import sources, workflow
from costtogo.files import FileError, read_json, write_json
from costtogo.params import load, puzzles_of, slices
from costtogo.sources import code_digest
from costtogo.workflow import STAGES, settle, write_slices

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "costtogo"
NO_MEMORY = Path("no memory")
LAYERS = [  # a module may import its own package and those before its line
    {"types"},
    {"files"},
    {"pickles"},
    {"puzzles"},
    {"sources"},
    {"memory", "params_yaml"},
    {"params"},
    {"exact", "external"},
    {"params_large", "params_local_vi"},
    {"heuristics", "workflow"},
    {"learning", "search"},
    {"analysis"},
    {"figures"},
    {"tracking"},
    {"stages"},
    {"cli"},
]
LAYER = {name: place for place, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.fixture
def study():
    return load([ROOT / "params.yaml", ROOT / "config" / "smoke.yaml"])


def modification_times(folder: Path) -> dict[str, float]:
    return {str(path.relative_to(folder)): path.stat().st_mtime for path in folder.rglob("*") if path.is_file()}


def age(folder: Path, moment: float) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (moment, moment))


def test_only_slices_whose_content_changes_are_written(study, tmp_path):
    write_slices(study, tmp_path)
    age(tmp_path, 1000)
    write_slices(study, tmp_path)
    assert set(modification_times(tmp_path).values()) == {1000}
    walk = study.models["DNN_reduced_0"].model_copy(update={"iterations": 7})
    write_slices(study.model_copy(update={"models": {**study.models, "DNN_reduced_0": walk}}), tmp_path)
    written = {name for name, moment in modification_times(tmp_path).items() if moment > 1000}
    assert written == {"params/models/DNN_reduced_0.json", "params/report/report.json"}


def test_slices_of_stages_that_are_gone_are_removed(study, tmp_path):
    write_slices(study, tmp_path)
    before = set(modification_times(tmp_path))
    assert before == {f"params/{name}.json" for name in slices(study)}
    models = {name: model for name, model in study.models.items() if name != "DNN_reduced_0"}
    write_slices(study.model_copy(update={"models": models}), tmp_path)
    gone = {f"params/{group}/DNN_reduced_0.json" for group in ("models", "audits", "searches")}
    assert set(modification_times(tmp_path)) == before - gone


@pytest.fixture
def restored(study, tmp_path):
    """Results of a finished study as a restore leaves them: complete, dated in no order."""
    results = tmp_path / "results"
    write_slices(study, results)
    for name, parameters in slices(study).items():
        group, stem = name.split("/")
        card = {
            "parameters": parameters,
            "code": code_digest(f"costtogo.stages.{STAGES[group]}", puzzles_of(parameters)),
        }
        write_json(results / group / f"{stem}.json", card)
        write_json(results / "timings" / group / f"{stem}.json", {})
        (results / group / f"{stem}.npz").write_bytes(b"")
        (results / group / stem / "deeper").mkdir(parents=True)
        (results / group / stem / "deeper" / "data.parquet").write_bytes(b"")
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "report.md").write_text("")
    for place, path in enumerate(sorted(results.rglob("*.*"), reverse=True)):
        os.utime(path, (2000 + place, 2000 + place))
    return results


def times_of(results: Path, name: str) -> set[float]:
    """Modification times of all that a stage wrote."""
    group, stem = name.split("/")
    paths = [*(results / group).glob(f"{stem}.*"), *(results / group / stem).rglob("*.*")]
    return {path.stat().st_mtime for path in [*paths, results / "timings" / group / f"{stem}.json"]}


def test_restored_results_are_dated_in_the_order_of_the_stages(study, restored):
    before = {path: path.read_bytes() for path in restored.rglob("*.json")}
    assert settle(study, restored, restored.parent / "reports", NO_MEMORY)
    newest = max(path.stat().st_mtime for path in (restored / "params").rglob("*.json"))
    for group in STAGES:
        times = set().union(*(times_of(restored, name) for name in slices(study) if name.startswith(group)))
        assert newest < min(times), group
        newest = max(times)
    assert (restored.parent / "reports" / "report.md").stat().st_mtime == newest
    assert before == {path: path.read_bytes() for path in restored.rglob("*.json")}


@pytest.mark.parametrize("change", [{"code": "of another day"}, {"parameters": {"puzzle": "cube2"}}], ids=str)
def test_restored_results_of_other_code_or_parameters_are_dated_long_ago(change, study, restored):
    name = "models/DNN_reduced_0"
    parameters = slices(study)[name]
    card = {"parameters": parameters, "code": code_digest("costtogo.stages.train", puzzles_of(parameters))}
    write_json(restored / f"{name}.json", card | change)
    settle(study, restored, restored.parent / "reports", NO_MEMORY)
    assert times_of(restored, name) == {workflow.LONG_AGO}
    others = [other for other in slices(study) if other != name]
    assert all(workflow.LONG_AGO not in times_of(restored, other) for other in others)


def test_results_of_a_stage_that_the_study_no_longer_has_are_dated_long_ago(study, restored):
    models = {name: model for name, model in study.models.items() if name != "DNN_reduced_0"}
    settle(study.model_copy(update={"models": models}), restored, restored.parent / "reports", NO_MEMORY)
    assert times_of(restored, "models/DNN_reduced_0") == {workflow.LONG_AGO}


def remember(memory: Path, *paths: Path) -> Path:
    """A memory of Snakemake with a record of each path."""
    memory.mkdir(exist_ok=True)
    for path in paths:
        (memory / base64.urlsafe_b64encode(str(path).encode()).decode()).write_text("{}")
    return memory


def test_nothing_is_dated_where_snakemake_remembers_what_is_there(study, restored, tmp_path):
    settle(study, restored, tmp_path / "reports", NO_MEMORY)
    before = modification_times(restored)
    assert not settle(study, restored, tmp_path / "reports", remember(tmp_path / "memory", restored / "x"))
    assert modification_times(restored) == before
    assert not settle(study, tmp_path / "nothing", tmp_path / "reports", NO_MEMORY)


def test_results_restored_under_the_eyes_of_snakemake_are_dated_too(study, restored, tmp_path):
    settle(study, restored, tmp_path / "reports", NO_MEMORY)
    card = restored / "audits/DNN_reduced_0.json"
    os.utime(card, (1000, 1000))
    assert settle(study, restored, tmp_path / "reports", remember(tmp_path / "memory", card))
    assert card.stat().st_mtime > (restored / "params/audits/DNN_reduced_0.json").stat().st_mtime
    assert any((tmp_path / "memory").iterdir())


def test_results_of_other_parameters_are_forgotten(study, restored, tmp_path):
    """Snakemake may remember a run with today's parameters in a place where older results were restored since."""
    settle(study, restored, tmp_path / "reports", NO_MEMORY)
    name = "models/DNN_reduced_0"
    write_json(restored / f"{name}.json", {"parameters": {}, "code": code_digest("costtogo.stages.train")})
    others = [restored / "models/DNN_final_2x2x2_nr.json"]
    memory = remember(tmp_path / "memory", *others, restored / f"{name}.json", restored / f"{name}.npz")
    assert not settle(study, restored, tmp_path / "reports", memory)
    assert {path.name for path in memory.iterdir()} == {
        path.name for path in remember(tmp_path / "m", *others).iterdir()
    }
    assert times_of(restored, name) == {workflow.LONG_AGO}


def test_a_result_of_inputs_that_have_changed_is_dated_long_ago(study, restored, tmp_path):
    table = str(restored / "tables/cube2.npz")
    for name, changes in (
        ("tables/cube2", {"outputs": {table: "now"}}),
        ("audits/DNN_reduced_0", {"inputs": {table: "before"}}),
    ):
        path = restored / f"{name}.json"
        write_json(path, read_json(path) | changes)
    settle(study, restored, tmp_path / "reports", NO_MEMORY)
    assert times_of(restored, "audits/DNN_reduced_0") == {workflow.LONG_AGO}
    assert workflow.LONG_AGO not in times_of(restored, "audits/DNN_final_2x2x2_nr")


def finished_table(restored: Path, content: bytes) -> Path:
    """A table and its card, which names the content that the stage wrote; the file is younger than the card."""
    table, card = restored / "tables/cube2.npz", restored / "tables/cube2.json"
    write_json(card, read_json(card) | {"outputs": {str(table): hashlib.sha256(b"whole").hexdigest()}})
    table.write_bytes(content)
    moment = card.stat().st_mtime + 10
    os.utime(table, (moment, moment))
    return table


def test_a_result_that_was_cut_off_is_set_aside_and_its_stage_runs_again(study, restored, tmp_path):
    table = finished_table(restored, b"who")
    with pytest.raises(FileError, match="is not what its stage wrote") as told:
        settle(study, restored, tmp_path / "reports", NO_MEMORY)
    assert is_one_sentence(str(told.value))
    assert Path(f"{table}.damaged").read_bytes() == b"who"
    assert not table.exists() and not table.with_suffix(".json").exists()


def test_a_card_that_was_cut_off_is_set_aside_and_the_next_run_goes_on(study, restored, tmp_path):
    card = restored / "models/DNN_reduced_0.json"
    card.write_bytes(card.read_bytes()[:20])
    with pytest.raises(FileError, match="is not what its stage wrote") as told:
        settle(study, restored, tmp_path / "reports", NO_MEMORY)
    assert is_one_sentence(str(told.value)) and not card.exists()
    assert settle(study, restored, tmp_path / "reports", NO_MEMORY)


def test_a_stage_whose_file_is_gone_runs_again(study, restored, tmp_path):
    finished_table(restored, b"whole").unlink()
    settle(study, restored, tmp_path / "reports", NO_MEMORY)
    assert not (restored / "tables/cube2.json").exists() and (restored / "tables/hanoi_4.json").exists()


def test_a_whole_result_that_is_younger_than_its_card_stays(study, restored, tmp_path):
    table = finished_table(restored, b"whole")
    settle(study, restored, tmp_path / "reports", NO_MEMORY)
    assert table.exists() and table.with_suffix(".json").exists()


def names_of(module: str, *puzzles: str) -> set[str]:
    return {path.relative_to(PACKAGE).as_posix() for path in sources.sources(module, puzzles)}


def test_the_sources_of_a_stage_are_all_it_runs_through_and_no_more():
    train = names_of("costtogo.stages.train", "cube2")
    assert {
        *("stages/train.py", "stages/frame.py", "learning/davi.py", "learning/samplers.py", "learning/resume.py"),
        *("heuristics/network.py", "puzzles/base.py", "puzzles/cube.py", "exact/graph.py", "files.py", "params.py"),
    } <= train
    assert not {name for name in train if name.startswith(("tracking", "search", "analysis", "figures", "cli"))}
    assert {"search/table_engine.py", "search/step_engine.py"} <= names_of("costtogo.stages.search")
    assert "analysis/audit.py" in names_of("costtogo.stages.audit")
    assert not {name for name in names_of("costtogo.stages.tables") if name.startswith(("learning", "heuristics"))}


BOUND_OF_TILES = ("heuristics/manhattan.py", "heuristics/tile_sums.py", "exact/pattern_database.py")


def test_a_stage_runs_through_its_own_puzzle_and_another_puzzle_changes_nothing():
    grid = "costtogo.stages.grid"
    of = {name: names_of(grid, name) - names_of(grid) for name in ("puzzle15", "lights_out_7")}
    assert of == {
        "puzzle15": {"puzzles/sliding.py", *BOUND_OF_TILES},
        "lights_out_7": {"puzzles/lights_out.py", "puzzles/gf2.py"},
    }
    assert "puzzles/__init__.py" not in names_of(grid), "a line more in the registry changes nothing either"


@pytest.mark.parametrize(
    ("file", "changes"),
    [("learning/davi.py", True), ("exact/graph.py", True), ("tracking/live.py", False), ("search/bwas.py", False)],
)
def test_the_code_of_a_stage_changes_with_its_sources_alone(file, changes, tmp_path, monkeypatch):
    copy = Path(shutil.copytree(PACKAGE, tmp_path / "costtogo", ignore=shutil.ignore_patterns("__pycache__", ".*")))
    monkeypatch.setattr(sources, "ROOT", copy)
    before = code_digest("costtogo.stages.train")
    with (copy / file).open("a") as source:
        source.write("# changed\n")
    assert (code_digest("costtogo.stages.train") != before) == changes


def imports_of(path: Path) -> set[str]:
    """All modules that a file imports, functions' own imports too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_the_pattern_of_imports_finds_those_that_python_does(path):
    def files(names) -> set[Path]:
        return {sources._file(PACKAGE, name) for name in names if name.split(".")[0] == "costtogo"} - {None}

    parsed = imports_of(path)
    assert files(sources._imports(path)) == files(parsed | {name.rpartition(".")[0] for name in parsed})


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_run_one_way(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for name in imports_of(path):
        first, *rest = name.split(".")
        if first == "costtogo":
            other = rest[0]
            assert other == own or LAYER[other] < LAYER[own], f"{own} imports {name}"
            assert other != "tracking" or own in ("tracking", "stages", "cli"), f"{own} imports {name}"
        assert first != "mlflow" or own == "tracking", f"{own} imports {name}"
