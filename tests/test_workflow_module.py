"""What the Snakefile needs besides its one rule: sources and their digests, recipes, and what is finished."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from messages import is_one_sentence
from stage_recipes import write_recipe

from costtogo import recipes, sources, syntax
from costtogo.files import FileError, digest, read_json, write_json, write_text
from costtogo.params.loading import load
from costtogo.params.slices import slices
from costtogo.params.study import modules_of
from costtogo.puzzles import modules
from costtogo.recipes import Mark, Recipe
from costtogo.types import UserError
from costtogo.workflow import stages as stage_table
from costtogo.workflow.graph import Graph, names_of, read_by
from costtogo.workflow.stages import Stage, stages_of
from costtogo.workflow.state import State

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "costtogo"
LAYERS = [  # each imports from those above it alone; stages is the last that results run through
    {"types", "syntax", "collecting", "progress", "compiled"},
    {"files", "parallel"},
    {"puzzles", "external_files"},
    {"sources"},
    {"memory"},
    {"notation"},
    {"exact"},
    {"engines"},
    {"params", "contract"},
    {"recipes", "external", "cards"},
    {"heuristics"},
    {"learning", "search"},
    {"analysis"},
    {"tables"},
    {"literature"},
    {"figures"},
    {"report", "workflow"},
    {"tracking"},
    {"stages"},
    {"solve_options"},
    {"solving"},
    {"commands"},
    {"page"},
    {"cli"},
    {"__main__"},
]
LAYER = {name: place for place, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
SUPPORTED = "import sys; print(*sys.version_info[:2]) if sys.version_info >= (3, 11) else sys.exit(1)"


def pythons() -> dict[str, str]:
    """Every Python on the path, or beside those that pyenv shims, which the project supports, by its version."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    folders += [place for folder in folders for place in folder.parent.glob("versions/*/bin")]
    found = {}
    for path in sorted({path for folder in folders for path in folder.glob("python3.??")}):
        done = subprocess.run([path, "-c", SUPPORTED], capture_output=True, text=True)
        if done.returncode == 0:
            found.setdefault(done.stdout.strip().replace(" ", "."), str(path))
    return found


@pytest.fixture
def study():
    return load([ROOT / "params.yaml", ROOT / "config" / "smoke.yaml"])


def changed(study, **values):
    """The study with other values of one training."""
    model = study.models["DNN_reduced_0"].model_copy(update=values)
    return study.model_copy(update={"models": {**study.models, "DNN_reduced_0": model}})


def finish(stage: Stage, outputs: dict[str, bytes] | None = None) -> None:
    """Leave what a finished stage leaves, with data of its own."""
    recipe = stage.recipe.write(stage.folder, stage.name)
    recipes.begin(stage.folder, stage.name)
    for path in [*stage.results, *stage.documents, *stage.timings[1:]]:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes((outputs or {}).get(path, path.encode()))
    read = {path: digest(path) for need in stage.needs for path in need.results}
    written = {path: digest(path) for path in [*stage.results, *stage.documents]}
    write_json(stage.timings[0], {"seconds": 1})
    write_json(stage.card, {"parameters": stage.parameters, "inputs": read, "outputs": written})
    recipes.finish(recipe, stage.folder, Path(stage.card), [Path(path) for path in stage.timings])


@pytest.fixture
def finished(study, tmp_path, monkeypatch):
    """A folder where every stage of the study is finished."""
    monkeypatch.chdir(tmp_path)
    for folder in ("data", "workflow"):
        Path(folder).symlink_to(ROOT / folder)
    for stage in stages_of(study):
        finish(stage)
    return tmp_path


def reasons(study) -> dict[str, str]:
    """Why stages are to be made, by group and name; nothing of finished ones."""
    stages = stages_of(study)
    state = State(stages)
    return {f"{stage.group}/{stage.name}": reason for stage in stages if (reason := state.reason(stage))}


def listing(folder: Path) -> dict[str, tuple]:
    """Name, time and digest of every file below a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, digest(path)) for path in paths}


@pytest.mark.parametrize("name", ["smoke", "cube3", "puzzle15"])
def test_each_stage_has_its_slice_and_the_searches_do_not_depend_on_the_training(name):
    found = load([ROOT / "config" / f"{name}.yaml"])
    parts = slices(found)
    assert {f"{stage.group}/{stage.name}" for stage in stages_of(found) if stage.group != "figures"} == {*parts}
    assert all(("training" in part) == place.startswith("models/") for place, part in parts.items())


BELOW_ONE_MODEL = {f"{group}/DNN_reduced_0" for group in ("models", "audits", "searches")}
LAST = {"figures/cube2", "report/report"}  # figures of other models and puzzles stay


def test_nothing_is_to_be_made_of_a_finished_study_and_looking_changes_nothing(study, finished):
    before = listing(finished / "results") | listing(finished / "reports")
    assert reasons(study) == {} == reasons(study)
    assert listing(finished / "results") | listing(finished / "reports") == before


def test_a_changed_parameter_asks_for_what_depends_on_it_and_names_itself(study, finished):
    why = reasons(changed(study, iterations=7))
    assert set(why) == BELOW_ONE_MODEL | LAST
    assert why["models/DNN_reduced_0"] == "training.iterations 150 → 7"
    assert why["audits/DNN_reduced_0"] == "after smoke/models/DNN_reduced_0"
    assert why["report/report"] == "models.DNN_reduced_0.iterations 150 → 7"
    assert reasons(study) == {}, "and changed back it asks for nothing"


def test_what_is_below_a_stage_that_has_been_made_alone_names_it(study, finished):
    other = changed(study, iterations=7)
    model = next(stage for stage in stages_of(other) if (stage.group, stage.name) == ("models", "DNN_reduced_0"))
    finish(model, {path: b"trained otherwise" for path in model.results})
    why = reasons(other)
    assert why["audits/DNN_reduced_0"] == "after smoke/models/DNN_reduced_0"


def test_a_changed_number_within_a_list_is_named_by_its_place(study, finished):
    figure = next(stage for stage in stages_of(study) if (stage.group, stage.name) == ("figures", "cube2"))
    why = reasons(changed(study, epsilon=0.7))["figures/cube2"]
    assert "epsilon" in why and "→ 0.7" in why and figure.parameters != {}


def test_a_stage_that_begins_is_no_longer_finished_and_the_others_are(study, finished):
    recipes.begin(Path("results/smoke/audits"), "DNN_reduced_0")
    assert set(reasons(study)) == {"audits/DNN_reduced_0"}
    assert not Path("results/smoke/audits/DNN_reduced_0.json").exists()


def test_a_stage_made_for_other_parameters_does_not_count_for_these(study, finished):
    other = changed(study, iterations=7)
    finish(next(stage for stage in stages_of(other) if (stage.group, stage.name) == ("models", "DNN_reduced_0")))
    assert reasons(study)["models/DNN_reduced_0"] == "training.iterations 7 → 150"
    assert "models/DNN_reduced_0" not in reasons(other)


def test_changed_code_is_named(study, finished, monkeypatch):
    real = sources.code_of

    def mended(module, puzzles=()):
        code = real(module, puzzles)
        return code | {name: "another digest" for name in code if name == "learning/davi.py"}

    monkeypatch.setattr("costtogo.workflow.stages.code_of", mended)
    stage_table._code.cache_clear()
    why = reasons(study)
    assert {why[f"models/{name}"] for name in study.models} == {"code: learning/davi.py"}
    assert not any(name.startswith(("tables", "instances", "searches/baseline")) for name in why)
    stage_table._code.cache_clear()


KINDS_OF_DAMAGE = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:3]),
    "empty": lambda path: path.write_bytes(b""),
    "flipped": lambda path: path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:]),
    "bad text": lambda path: path.write_bytes(b"\xff\xfe\x00" + path.read_bytes()),
    "gone": lambda path: path.unlink(),
    "folder": lambda path: (path.unlink(), path.mkdir()),
}
FILES = {
    "data": ("tables/cube2", "results/smoke/tables/cube2.npz"),
    "card": ("models/DNN_reduced_0", "results/smoke/models/DNN_reduced_0.json"),
    "clock": ("models/DNN_reduced_0", "results/smoke/timings/models/DNN_reduced_0.json"),
    "table of seconds": ("searches/DNN_reduced_0", "results/smoke/timings/searches/DNN_reduced_0.parquet"),
    "document": ("report/report", "reports/smoke/report.md"),
    "mark": ("audits/DNN_reduced_0", None),
}


@pytest.mark.parametrize("damage", KINDS_OF_DAMAGE)
@pytest.mark.parametrize("kind", FILES)
def test_damage_is_seen_and_the_stage_is_made_again_under_another_mark(kind, damage, study, finished):
    name, place = FILES[kind]
    stage = next(stage for stage in stages_of(study) if f"{stage.group}/{stage.name}" == name)
    before = State([stage]).mark(stage)
    path = Path(place) if place else before
    KINDS_OF_DAMAGE[damage](path)
    if path.exists():
        later = Path(stage.card).stat().st_mtime_ns + 10**9
        os.utime(path, ns=(later, later))
    seen = listing(finished / "results")
    why = State(stages_of(study)).reason(stage)
    assert why and "\n" not in why
    assert listing(finished / "results") == seen
    after = State(stages_of(study)).mark(stage)
    assert not after.exists() and (after != before or damage in ("gone", "folder"))


def test_a_whole_file_that_is_younger_than_its_card_is_compared_once(study, finished, monkeypatch):
    table = Path("results/smoke/tables/cube2.npz")
    later = table.stat().st_mtime_ns + 10**9
    os.utime(table, ns=(later, later))
    state = State(stages_of(study))
    assert not any(state.reason(stage) for stage in state.stages.values())
    state.remember()
    monkeypatch.setattr("costtogo.workflow.state.digest", None)
    again = State(stages_of(study))
    assert again.reason(next(stage for stage in again.stages.values() if stage.name == "cube2")) == ""


def test_a_result_of_another_input_than_the_one_that_lies_there_is_made_again(study, finished):
    stage = next(stage for stage in stages_of(study) if stage.id == "smoke/models/DNN_reduced_0")
    finish(stage, {stage.results[0]: b"other bytes under the same key"})
    why = reasons(study)
    assert why["audits/DNN_reduced_0"] == f"{stage.results[0]} is another than the one it was made from"
    assert "models/DNN_reduced_0" not in why and "models/H4_DNN_reduced_0" not in why


def test_results_that_were_copied_elsewhere_are_finished_there_too(study, finished, tmp_path_factory, monkeypatch):
    copy = tmp_path_factory.mktemp("copy")
    for folder in ("results", "reports"):
        shutil.copytree(finished / folder, copy / folder, copy_function=shutil.copy)
    for folder in ("data", "workflow"):
        (copy / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(copy)
    assert reasons(study) == {}


def test_a_damaged_memory_of_what_was_compared_is_begun_anew(study, finished):
    path = Path(".snakemake/costtogo/compared.json")
    for content in (b"[]", b"{", b"\xff"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        assert reasons(study) == {}


def test_marks_are_told_from_other_files_and_names_may_have_dots():
    assert Mark.of(Path("a.b.0123456789ab.done")) == Mark(Path("a.b.0123456789ab.done"), "a.b", "0123456789ab", 1)
    assert Mark.of(Path("a.0123456789ab.3.done")).time == 3
    assert Mark.of(Path("a.done")) is None and Mark.of(Path("a.0123456789ab.json")) is None


def test_a_recipe_that_was_changed_is_refused_and_one_of_other_code_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parameters = {"study": "tiny", "puzzle": "hanoi_4"}
    path = write_recipe("tables", Path("results/tiny/tables/hanoi_4"), parameters)
    assert recipes.read_recipe(path).parameters == parameters
    whole = path.read_text()
    path.write_text(whole.replace("hanoi_4", "hanoi_5"))
    with pytest.raises(FileError, match="is damaged") as told:
        recipes.read_recipe(path)
    assert is_one_sentence(str(told.value))
    other = Recipe(parameters, {"stages/tables.py": "of another day"})
    with pytest.raises(UserError, match="code of tables hanoi_4 has changed since .*start snakemake again") as told:
        recipes.refuse_others(other, "costtogo.stages.tables", "tables hanoi_4")
    assert is_one_sentence(str(told.value))


def test_a_damaged_recipe_is_written_anew_by_the_next_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipe = Recipe({"puzzle": "hanoi_4"}, {})
    path = recipe.write(Path("results/tiny/tables"), "hanoi_4")
    for damage in KINDS_OF_DAMAGE.values():
        if path.is_dir():
            path.rmdir()
            recipe.write(Path("results/tiny/tables"), "hanoi_4")
        damage(path)
        if path.is_dir():
            continue
        recipe.write(Path("results/tiny/tables"), "hanoi_4")
        assert recipes.read_recipe(path) == recipe


def test_a_study_says_how_many_of_its_stages_are_finished(study, finished):
    stages = stages_of(study)
    report = stages[-1]
    plan = report.recipe.write(report.folder, report.name)
    assert recipes.progress({"COSTTOGO_PLAN": str(plan)}) == (
        f"; {len(stages) - 1} of {len(stages)} stages of smoke are finished"
    )
    recipes.begin(Path("results/smoke/audits"), "DNN_reduced_0")
    assert f"; {len(stages) - 2} of" in recipes.progress({"COSTTOGO_PLAN": str(plan)})
    assert recipes.progress({}) == ""


@pytest.mark.parametrize(
    "path", [ROOT / f"config/{name}.yaml" for name in names_of(ROOT / "config")], ids=lambda path: path.stem
)
def test_a_file_of_config_is_the_same_study_as_configfile_and_as_target(path):
    """Of others, those that are not like the default study, nothing of params.yaml may come along."""
    assert Graph([ROOT / "params.yaml", path], ROOT / "config", words=[]).study == load([path])


def test_a_file_elsewhere_is_laid_over_the_default_study(tmp_path):
    path = tmp_path / "other.yaml"
    path.write_text("study: other\nseed: 7\n")
    study = Graph([ROOT / "params.yaml", path], ROOT / "config", words=[]).study
    assert (study.study, study.seed, [*study.models]) == ("other", 7, [*load([ROOT / "params.yaml"]).models])


def test_all_recipes_of_a_study_are_there_once_one_stage_is_asked_for(tmp_path, monkeypatch):
    graph = Graph([ROOT / "params.yaml"], ROOT / "config", words=["smoke"])
    monkeypatch.chdir(tmp_path)
    smoke = [stage for stage in graph.stages if stage.study == "smoke"]
    recipe = graph.reads(smoke[0])[0]
    written = {str(path) for path in Path(".snakemake").rglob("*.json")}
    assert recipe in written and len(written) == len(smoke), "for Snakemake looks into a folder once"


def test_the_graph_has_every_study_and_each_target_once():
    graph = Graph([ROOT / "params.yaml"], ROOT / "config")
    names = [target.name for target in graph.targets]
    assert len(set(names)) == len(names)
    assert {"tables", "models", "report", "puzzle8", "puzzle15", "cube3-external", "sliding", "local_vi"} <= set(names)
    written = [path for stage in graph.stages for path in (graph.mark(stage), *stage.outputs, stage.benchmark)]
    assert len(set(written)) == len(written), "no two stages write the same file"
    position = {stage.id: place for place, stage in enumerate(graph.stages)}
    assert all(position[need.id] < position[stage.id] for stage in graph.stages for need in stage.needs)


def test_a_study_may_compare_with_its_own_network_and_with_another_only_if_a_study_makes_it():
    def compared(study: str):
        solvers = {"study": study, "model": "tiles", "pattern_database": "3-4-4-4", "boards": 1, "max_generated": 1}
        local_vi = {"boards": 1, "sizes": [1], "compared": {**solvers, "path_weight": 1, "batch_size": 1}}
        return load([ROOT / "config" / "puzzle15-smoke.yaml"], {"puzzles": {"puzzle15": {"local_vi": local_vi}}})

    own, other = compared("puzzle15-smoke"), compared("other")
    (stage,) = (stage for stage in stages_of(own) if stage.group == "compared")
    assert {need.id.partition("/")[2] for need in stage.needs} == {"models/tiles", "pattern_databases/3-4-4-4"}
    assert read_by(own) == [] and read_by(other) == ["other"]
    with pytest.raises(UserError, match="compares with other/models/tiles, which no study makes") as told:
        stages_of(other)
    assert is_one_sentence(str(told.value))


def test_a_device_that_is_not_there_is_told_before_a_stage_that_asks_for_it_runs(monkeypatch):
    graph = Graph([ROOT / "params.yaml"], ROOT / "config", words=["cube3-gpu"])
    rules = {stage.id: stage.rule for stage in graph.stages}
    over, others = rules["cube3-gpu/beams/walks"], [rules["cube3-gpu/tables/cube3"], rules["default/models/DNN_0"]]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    graph.refuse_absent_devices(others)
    with pytest.raises(UserError, match="torch finds no CUDA device") as told:
        graph.refuse_absent_devices([*others, over])
    assert is_one_sentence(str(told.value))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    graph.refuse_absent_devices([*others, over])


def names_of(module: str, *puzzles: str) -> set[str]:
    others = [other for puzzle in puzzles for other in modules(puzzle)]
    return {*sources.code_of(module, others)}


def test_the_sources_of_a_stage_are_all_it_runs_through_and_no_more():
    train = names_of("costtogo.stages.train", "cube2")
    assert {
        *("stages/train.py", "stages/stage_run.py", "learning/training.py", "learning/resume.py"),
        *(
            "heuristics/network.py",
            "puzzles/base.py",
            "puzzles/cube.py",
            "exact/graph.py",
            "files.py",
            "params/training.py",
        ),
    } <= train
    assert not {name for name in train if name.startswith(("tracking", "search", "analysis", "figures", "cli"))}
    assert {"search/table_engine.py", "search/step_engine.py"} <= names_of("costtogo.stages.search.exhaustive")
    assert "analysis/audit.py" in names_of("costtogo.stages.audit")
    assert not {name for name in names_of("costtogo.stages.tables") if name.startswith(("learning", "heuristics"))}


OF_TILES = {  # heuristics that other puzzles do not have, and what they are made of
    *("heuristics/manhattan.py", "heuristics/tile_sums.py", "heuristics/pattern_database.py"),
    *("exact/pattern_database.py", "exact/partition.py", "memory.py"),
    *("heuristics/tuples.py", "heuristics/tile_groups.py"),
}


def test_a_stage_runs_through_its_own_puzzle_and_another_puzzle_changes_nothing():
    grid = "costtogo.stages.search.grids"
    of = {name: names_of(grid, name) - names_of(grid) for name in ("puzzle15", "lights_out_7")}
    assert of == {
        "puzzle15": {"puzzles/sliding.py", "puzzles/permutations.py", *OF_TILES},
        "lights_out_7": {"puzzles/lights_out.py", "puzzles/gf2.py"},
    }
    assert "puzzles/__init__.py" not in names_of(grid), "a line more in the registry changes nothing either"


@pytest.mark.parametrize("trainer", ["davi", "imitation", "random_walk", "presses"])
def test_a_training_runs_through_its_own_trainer(trainer):
    own = modules_of({"puzzle": "cube2", "training": {"trainer": trainer}})
    files = sources.code_of("costtogo.stages.train", own)
    assert f"learning/{trainer}.py" in files and ("learning/davi.py" in files) == (trainer == "davi")


def test_only_a_stage_that_may_compute_elsewhere_runs_through_the_engine_of_other_devices():
    asked = {"puzzle": "cube2", "training": {"trainer": "random_walk"}}
    of = {
        device: sources.code_of("costtogo.stages.train", modules_of(asked | {"device": device}))
        for device in ("cpu", "auto", "cuda")
    }
    assert {device for device, code in of.items() if "engines/device.py" in code} == {"auto", "cuda"}
    assert all("engines/host.py" in code for code in of.values())


def test_a_stage_runs_through_every_module_of_a_package_that_it_collects():
    figures = {path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / "figures").glob("*.py")}
    assert figures <= names_of("costtogo.stages.figures")


def test_a_stage_that_searches_runs_through_its_own_solver_and_another_solver_changes_nothing():
    solvers = {"beam", "anytime", "greedy", "ida_star"}
    found = {
        name: {solver for solver in solvers if f"search/{solver}.py" in names_of(f"costtogo.stages.search.{name}")}
        for name in ("exhaustive", "grids", "beams", "optima", "external")
    }
    beams = {"beam", "anytime"}
    assert found == {"exhaustive": set(), "grids": set(), "beams": beams, "optima": set(), "external": beams}


@pytest.mark.parametrize(
    ("puzzle", "solver"),
    [("puzzle15", "search/ida_star.py"), ("lights_out_7", "exact/lights_out.py"), ("cube3", "exact/meeting.py")],
)
def test_what_finds_optima_runs_through_the_exact_solver_of_its_puzzle(puzzle, solver):
    asked = {"puzzle": puzzle, "optima": {}}
    assert solver in sources.code_of("costtogo.stages.search.optima", modules_of(asked))
    assert solver not in sources.code_of("costtogo.stages.search.grids", modules_of({"puzzle": puzzle}))
    guided = {"puzzle": "cube3", "optima": {"guide": "walks"}}
    assert "search/beam.py" in sources.code_of("costtogo.stages.search.optima", modules_of(guided))


@pytest.fixture
def copy_of_the_code(tmp_path, monkeypatch):
    """A copy of the package that digests are taken of."""
    copy = Path(shutil.copytree(PACKAGE, tmp_path / "costtogo", ignore=shutil.ignore_patterns("__pycache__", ".*")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sources, "ROOT", copy)

    def digests(*names: str) -> dict[str, dict]:
        for known in (sources._source, sources._closure, sources._file, sources._remembered):
            known.cache_clear()
        return {name: sources.code_of(f"costtogo.stages.{name}") for name in names}

    yield copy, digests
    digests()


def test_a_damaged_memory_of_what_was_parsed_is_written_anew(copy_of_the_code):
    _, digests = copy_of_the_code
    before = digests("train")
    write_text(sources.MEMORY, "{")
    assert digests("train") == before
    sources.remember()
    assert len(read_json(sources.MEMORY)) > 20


@pytest.mark.parametrize(
    ("file", "changes"),
    [("learning/resume.py", True), ("exact/graph.py", True), ("tracking/live.py", False), ("search/bwas.py", False)],
)
def test_the_code_of_a_stage_changes_with_its_sources_alone(file, changes, copy_of_the_code):
    copy, digests = copy_of_the_code
    before = digests("train")
    with (copy / file).open("a", encoding="utf-8") as source:
        source.write("CHANGED = 1\n")
    assert (digests("train") != before) == changes


def test_the_table_beside_a_module_is_part_of_its_code(copy_of_the_code):
    copy, digests = copy_of_the_code
    before, table = digests("report"), copy / "literature/quantities.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("0.05", "0.5"), encoding="utf-8")
    assert {name for name, code in digests("report")["report"].items() if code != before["report"].get(name)} == {
        "literature/quantities.csv"
    }


MENDED = {
    "a comment": lambda text: text + "# a comment\n",
    "empty lines": lambda text: text.replace("\n\n", "\n\n\n\n"),
    "a docstring": lambda text: '"""Another docstring."""' + text[text.index('"""', 3) + 3 :],
}


@pytest.mark.parametrize("mending", MENDED)
@pytest.mark.parametrize("file", ["params/training.py", "learning/davi.py"])
def test_comments_docstrings_and_formatting_are_no_code(file, mending, copy_of_the_code):
    copy, digests = copy_of_the_code
    before, text = digests("train", "tables"), (copy / file).read_text(encoding="utf-8")
    (copy / file).write_text(MENDED[mending](text), encoding="utf-8")
    assert (copy / file).read_text(encoding="utf-8") != text
    assert digests("train", "tables") == before


ALIKE = [
    ("x = 1  # one", "x=1"),
    ("f(a,\n  b)", "f(a, b)"),
    ("def f():\n    'what it does'\n    return 1", "def f():\n\n    return 1"),
    ("class A:\n    'what it is'\n    x = 1", "class A: x = 1"),
    ("x = 'a' 'b'", 'x = "ab"'),
    ("x = 1_000", "x = 1000"),
    ("x: int = 1  # type: ignore", "x: int = 1"),
]
DIFFERENT = [
    ("x = 1", "x = 2"),
    ("x = 1", "x = 1.0"),
    ("x = 1", "x = True"),
    ("x = '1'", "x = b'1'"),
    ("x = None", "x = 'None'"),
    ("f(a, b)", "f(b, a)"),
    ("x = f'{a}b'", "x = f'{b}a'"),
    ("x = f'{a!r}'", "x = f'{a}'"),
    ("x = 'a'", "x = f'a'"),
    ("def f(): 'what it does'\nx = 1", "def f(): 'what it does'\nx = 3"),
    ("def f(a=None): pass", "def f(a): pass"),
    ("def f(*, a=None): pass", "def f(*, a): pass"),
    ("x = {**a}", "x = {}"),
    ("if a:\n    b\nelse:\n    c", "if a:\n    b\nc"),
    ("import a", "import b"),
    ("x = y", "del x"),
    ("x = [1, 2]", "x = (1, 2)"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_texts_that_do_the_same_have_the_same_digest(one, other):
    assert syntax.digest(one) == syntax.digest(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_texts_that_do_other_things_have_other_digests(one, other):
    assert syntax.digest(one) != syntax.digest(other)


EVERY_MODULE = """
import hashlib, pathlib, sys, syntax
total = hashlib.sha256()
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    total.update(syntax.digest(path.read_text(encoding="utf-8")).encode())
print(total.hexdigest())
"""


def test_every_python_gives_the_same_digest_with_its_standard_library_alone(tmp_path):
    shutil.copy(PACKAGE / "syntax.py", tmp_path / "syntax.py")

    def told(command: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        command = [command, "-c", EVERY_MODULE, str(PACKAGE)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    digests = {version: told(path) for version, path in pythons().items()}
    assert len(digests) >= 1 and set(digests.values()) == {told(sys.executable)}, digests


def imports_of(path: Path) -> set[str]:
    """All modules that a file imports, functions' own imports too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


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


def test_an_external_file_in_a_folder_of_its_own_is_found_there_or_named_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSTTOGO_EXTERNAL", str(tmp_path / "outside"))
    (tmp_path / "outside" / "boxoban").mkdir(parents=True)
    graph = Graph([ROOT / "params.yaml"], ROOT / "config", words=["sokoban-external"])
    (external,) = [stage for stage in graph.stages if stage.group == "external" and stage.study == "sokoban"]
    name = "boxoban/test.txt"
    with pytest.raises(UserError, match=f"has no {name}"):
        graph.reads(external)
    (tmp_path / "outside" / name).touch()
    assert str(tmp_path / "outside" / name) in graph.reads(external)
