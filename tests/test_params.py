"""Parameters: what is written resolves as said, what is wrong is told in one sentence, slices change alone."""

import hashlib
import json
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from messages import is_one_sentence

from costtogo.literature.reported import read_reported
from costtogo.params.audits import ExhaustiveAudit, SampledAudit
from costtogo.params.base import TrainingName, derive_seed
from costtogo.params.loading import laid, load, overlay, parse, resolve
from costtogo.params.reading import read_yaml
from costtogo.params.searches import ExternalParams
from costtogo.params.slices import slices
from costtogo.params.study import Study
from costtogo.params.trainers import training_of
from costtogo.types import UserError
from costtogo.workflow.stages import stages_of

ROOT = Path(__file__).parent.parent
DEFAULT = ROOT / "params.yaml"
CONFIGS = sorted(path for path in (ROOT / "config").glob("*.yaml") if path.stem != "groups")


@pytest.fixture
def values() -> dict:
    """The default parameters as written, to be changed."""
    return yaml.safe_load(DEFAULT.read_text())


def at(values: dict, path: str):
    """The table at a dotted path; numbers are places of a list."""
    for part in path.split("."):
        values = values[int(part)] if part.isdigit() else values[part]
    return values


def message(values: dict) -> str:
    with pytest.raises(UserError) as told:
        parse(values)
    assert is_one_sentence(str(told.value)), str(told.value)
    return str(told.value)


def test_the_default_parameters_are_valid():
    assert load([DEFAULT]).study == "default"


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_a_file_of_config_is_a_study_by_itself_that_goes_by_its_name(config):
    study = load([config])
    assert study.study == config.stem != "default"
    assert "like" not in read_yaml(config) or load([CONFIGS[-1], config]) == study, "it stands for itself"


@pytest.mark.parametrize("config", [DEFAULT, *CONFIGS], ids=lambda path: path.stem)
def test_what_is_written_out_reads_as_the_same_again(config):
    study = load([config])
    for model in study.models.values():
        assert training_of(**json.loads(json.dumps(model.model_dump()))) == model
    assert Study(**json.loads(json.dumps(study.model_dump()))) == study


FLAT = {"trainer", "optimizer", "minibatch", "learning_rate", "lbfgs_steps", "epsilon", "polyak"}


def test_a_record_has_the_parameters_of_all_kinds_and_those_that_came_later_only_where_they_are_set():
    cube, targets = load([ROOT / "config/cube3.yaml"]).models, load([ROOT / "config/targets.yaml"]).models
    walks, base, forced = (
        model.model_dump() for model in (cube["walks"], targets["base_puzzle8_seed1"], targets["forced_update_seed1"])
    )
    for record in (walks, base, forced):
        assert record.keys() >= FLAT
        assert {"walk_max", "conv_point_offs", "stride", "disks"} <= record["sampler"].keys()
        assert {"first_layers", "residual_blocks", "states"} <= record["architecture"].keys()
        assert record.keys().isdisjoint(["unused", "learning_rate_factor", "starts_from"])
    assert not hasattr(cube["walks"], "epsilon") and walks["epsilon"] == 1
    assert forced["forced_update"] == 100 and "forced_update" not in base
    architecture = targets["convolutional_seed1"].model_dump()["architecture"]
    assert "channels" in architecture and "kernel" not in architecture


TABLE_4 = {  # the quantities of the final-year report's table 4 by our keys
    "states_per_iteration": "states_per_iteration",
    "minibatch": "training_batch_size",
    "iterations": "total_iterations",
    "learning_rate": "learning_rate",
    "learning_rate_factor": "learning_rate_decay",
    "check_every": "check_interval",
    "epsilon": "loss_threshold",
    "forced_update": "forced_update_iteration",
}


@pytest.mark.parametrize(
    ("puzzle", "config", "reported"),
    [
        ("cube2", "final_year_report", "cube2"),
        ("puzzle15", "puzzle15-final-year", "sliding"),
        ("puzzle24", "puzzle24-final-year", "sliding"),
    ],
)
def test_the_report_s_recipes_are_those_of_its_table_4(puzzle, config, reported):
    model = load([ROOT / "config" / f"{config}.yaml"]).models["Report_DNN"]
    rows = read_reported([ROOT / "data" / "reported" / reported / "final_year_report.csv"], puzzle)
    told = rows[rows["model"] == "Report_DNN"].drop_duplicates("quantity").set_index("quantity")["value"]
    assert {key: getattr(model, key) for key in TABLE_4} == {key: told[name] for key, name in TABLE_4.items()}
    assert (model.polyak, model.learning_rate_decay) == (0, 0)
    assert model.sampler.kind == "deepcubea" and model.sampler.walk_max == told["scramble_moves_max"]
    assert model.sampler.greedy_share == 0


@pytest.mark.parametrize(
    ("place", "key", "nearest"),
    [
        ("recipes.thesis", "minibach", "minibatch"),
        ("puzzles.cube2.searches.0", "path_wieght", "path_weight"),
        ("puzzles.cube2.instances.test", "walkmax", "walk_max"),
        ("puzzles.cube2.distributions", "walk", "walks"),
        ("puzzles.cube2.search", "max_expansion", "max_expansions"),
        ("puzzles.hanoi_4", "instance", "instances"),
        ("architectures.compact_reduced", "residual_block", "residual_blocks"),
        ("models.DNN_reduced_0", "recip", "recipe"),
        ("models.DNN_final_2x2x2_nr.sampler", "walk_maximum", "walk_max"),
    ],
)
def test_a_misspelt_key_is_told_with_its_nearest_name(values, place, key, nearest):
    at(values, place)[key] = 1
    assert f"'{key}'" in message(values) and f"did you mean '{nearest}'?" in message(values)


def test_a_misspelt_key_of_the_whole_file_is_told_with_its_nearest_name(values):
    values["thread"] = 1
    assert message(values) == "Parameter thread: there is no key 'thread'; did you mean 'threads'?"


@pytest.mark.parametrize(
    ("place", "key", "value", "told"),
    [
        ("puzzles.cube2.searches.0", "path_weight", [0.7, 2.5], "puzzles.cube2.searches.0.path_weight.1: it should be"),
        ("puzzles.cube2.searches.0", "solver", "baem", "searches.0.solver: there is no solver 'baem'; did you mean"),
        ("puzzles.cube2.instances.test", "kind", "deepcub", "instances.test.kind: there is no kind 'deepcub'; did you"),
        ("puzzles.cube2.search.headline", "path_weight", -0.1, "puzzles.cube2.search.headline.path_weight"),
        ("puzzles.cube2.search.headline", "batch_size", 0, "greater than or equal to 1 (given: 0)"),
        ("puzzles.cube2.search.headline", "set", "tset", "there is no instance set 'tset'; did you mean 'test'?"),
        ("models.DNN_reduced_0", "recipe", "compact_cub", "did you mean 'compact_cube'?"),
        ("models.DNN_reduced_0", "architecture", "DNN_1", "there is no 'DNN_1'; did you mean"),
        (
            "models.DNN_reduced_0",
            "puzzle",
            "cube_2",
            "Parameter models.DNN_reduced_0 wants puzzle 'cube_2'; did you mean 'cube2'?",
        ),
        ("models.DNN_reduced_0", "epsilon", 0, "greater than 0"),
        (
            "models.DNN_final_2x2x2_nr.sampler",
            "kind",
            "deepcub",
            "Parameter models.DNN_final_2x2x2_nr.sampler.kind: there is no kind 'deepcub'; did you mean 'deepcube'?",
        ),
        ("models.DNN_reduced_0", "trainer", "dav", "DNN_reduced_0.trainer: there is no trainer 'dav'; did you mean"),
        ("models.DNN_reduced_0", "optimizer", "sgd", "optimizer: there is no optimizer 'sgd'; there are adam, lbfgs."),
        ("models.DNN_reduced_0", "architecture", {"kind": 7}, "architecture.kind: there is no kind 7; there are"),
        ("models.DNN_reduced_0", "sampler", 7, "models.DNN_reduced_0.sampler must be a table of keys and values"),
        ("puzzles.cube2", "exact", "al", "puzzles.cube2.exact must say which states are listed: all, {around"),
        ("puzzles.hanoi_7", "like", "hanoi_5", "there is no 'hanoi_5'; did you mean 'hanoi_"),
    ],
)
def test_a_wrong_value_is_told_with_its_place(values, place, key, value, told):
    at(values, place)[key] = value
    assert told in message(values)


def test_a_path_weight_above_two_is_told_with_what_was_given(values):
    values["puzzles"]["cube2"]["search"]["selection"]["path_weight"] = 2.5
    assert message(values) == (
        "Parameter puzzles.cube2.search.selection.path_weight: it should be less than or equal to 2 (given: 2.5)."
    )


def test_a_puzzle_of_which_all_is_asked_is_listed_whether_tables_names_it_or_not(values):
    values["tables"].remove("hanoi_7")
    assert "hanoi_7" in parse(values).listed and "tables/hanoi_7" in slices(parse(values))


def test_an_unknown_puzzle_is_told(values):
    values["tables"].append("cube4")
    assert "Unknown puzzle 'cube4'" in message(values)


def test_a_missing_key_is_told(values):
    del values["seed"]
    assert message(values).startswith("Parameter seed is missing")


@pytest.mark.parametrize(
    "change",
    [
        {"models": 3},
        {"models": {"DNN_reduced_0": 3}},
        {"models": {"DNN_reduced_0": {"recipe": ["thesis"]}}},
        {"puzzles": ["cube2"]},
        {"puzzles": {"cube2": 3}},
        {"puzzles": {"cube2": {"audit": 3}}},
        {"puzzles": {"cube2": {"searches": [3]}}},
        {"puzzles": {"cube2": {"instances": {"test": 3}}}},
        {"recipes": 3},
    ],
    ids=str,
)
def test_a_value_where_a_table_belongs_is_told_in_one_sentence(values, change):
    message(overlay(values, change))


def test_a_misspelt_key_of_a_recipe_is_told_before_the_missing_one(values):
    values["recipes"]["thesis"]["epsilom"] = values["recipes"]["thesis"].pop("epsilon")
    assert "there is no key 'epsilom'; did you mean 'epsilon'?" in message(values)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"recipes": {"unused": {"epsilom": 5}}}, "recipes.unused.epsilom"),
        ({"recipes": {"unused": {"lbfgs_steps": 5}}}, "recipes.unused.lbfgs_steps: the trainer davi does not look at"),
        ({"architectures": {"DNN_0": {"first_layer": [5]}}}, "did you mean 'first_layers'?"),
        ({"architectures": {"DNN_0": {"kernel": 3}}}, "architectures.DNN_0.kernel: the kind residual does not look at"),
        ({"models": {"baseline_cube2": {"puzzle": "cube2", "recipe": "thesis"}}}, "not baseline_"),
        ({"models": {"a/b": {"puzzle": "cube2", "recipe": "thesis"}}}, "'a/b' needs a name"),
    ],
    ids=["recipe", "recipe's kind", "architecture", "architecture's kind", "baseline", "slash"],
)
def test_what_no_model_uses_and_how_models_are_named_is_checked_too(values, change, named):
    assert named in message(overlay(values, change))


def test_a_misspelt_table_of_recipes_is_told_by_its_name(values):
    values["recipies"] = values.pop("recipes")
    assert "recipies" in message(values)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"study: [1\nseed: 2", "is not valid YAML near line 2"),
        (b"study: \x01", "is not valid YAML"),
        (b"- a\n- b\n", "holds no parameters"),
        (b"", "holds no parameters"),
        ("study: café".encode("latin-1"), "is not valid"),
    ],
)
def test_a_bad_file_is_told_in_one_sentence_with_its_path(tmp_path, content, told):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        load([DEFAULT, path])
    assert told in str(error.value) and str(path) in str(error.value) and is_one_sentence(str(error.value))


def test_a_file_that_is_not_there_is_told_in_one_sentence(tmp_path):
    with pytest.raises(UserError, match="No such file") as error:
        load([tmp_path / "none.yaml"])
    assert is_one_sentence(str(error.value))


def test_an_overlay_merges_tables_and_replaces_all_else():
    base = {"a": {"x": 1, "y": [1, 2]}, "b": 1}
    assert overlay(base, {"a": {"y": [3]}, "c": 2}) == {"a": {"x": 1, "y": [3]}, "b": 1, "c": 2}
    assert overlay(base, {"a": 5}) == {"a": 5, "b": 1}
    assert base == {"a": {"x": 1, "y": [1, 2]}, "b": 1}


def test_a_later_file_wins(tmp_path):
    for name, seed in (("one", 1), ("two", 2)):
        (tmp_path / f"{name}.yaml").write_text(f"seed: {seed}\n")
    assert load([DEFAULT, tmp_path / "one.yaml", tmp_path / "two.yaml"]).seed == 2


@pytest.mark.parametrize("place", ["models.DNN_0", "puzzles.cube2.headline", "tables.0", "seed"])
def test_an_empty_value_is_told(values, place):
    table, _, key = place.rpartition(".")
    (at(values, table) if table else values)[int(key) if key.isdigit() else key] = None
    assert message(values) == f"Parameter {place} has no value; give it one, or leave it out."


def test_only_keeps_what_it_names_and_what_it_names_may_be_changed():
    base = {"a": {"x": 1, "y": {"z": 2, "w": 3}}, "b": 1}
    assert overlay(base, {"only": ["a"]}) == {"a": base["a"]}
    assert overlay(base, {"a": {"only": ["y"], "y": {"only": [], "v": 4}}}) == {"a": {"y": {"v": 4}}, "b": 1}
    assert overlay(base, {"a": {"only": ["x"], "y": 5}}) == {"a": {"x": 1, "y": 5}, "b": 1}
    assert base == {"a": {"x": 1, "y": {"z": 2, "w": 3}}, "b": 1}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"puzzles": {"only": ["cube_2"]}}, "puzzles.only: there is no 'cube_2' to keep; did you mean 'cube2'?"),
        ({"puzzles": {"cube2": {"instances": {"only": ["tset"]}}}}, "puzzles.cube2.instances.only: there is no 'tset'"),
        ({"puzzles": {"only": 7, "hanoi_5": {"like": "cube2"}}}, "puzzles.only must be a list of names, not 7."),
        ({"puzzles": {"only": [], "hanoi_5": {"like": ["cube2"]}}}, "puzzles.hanoi_5.like: there is no ['cube2']"),
        ({"models": {"only": [["DNN_0"]]}}, "models.only must be a list of names"),
    ],
)
def test_a_wrong_only_is_told(values, change, told):
    with pytest.raises(UserError) as error:
        parse(laid(values, change))
    assert told in str(error.value) and is_one_sentence(str(error.value))


def test_what_is_like_an_entry_that_only_leaves_out_has_its_values_all_the_same(values):
    study = parse(
        laid(values, {"models": {"only": []}, "puzzles": {"only": ["hanoi_7"], "hanoi_11": {"like": "hanoi_10"}}})
    )
    whole = parse(values)
    assert study.puzzles == {"hanoi_7": whole.puzzles["hanoi_7"], "hanoi_11": whole.puzzles["hanoi_10"]}
    change = {"models": {"only": []}, "puzzles": {"only": ["hanoi_4", "hanoi_7"], "hanoi_4": {"max_nodes": 7}}}
    assert parse(laid(values, change)).puzzles["hanoi_7"].max_nodes == 7, "of what is kept it has the changes"


def test_like_inherits_through_every_generation_and_the_nearest_wins():
    values = {
        "puzzles": {},
        "recipes": {
            "first": {"epsilon": 1, "iterations": 1, "sampler": {"x": 1, "y": 1}},
            "second": {"like": "first", "iterations": 2, "sampler": {"y": 2}},
            "third": {"like": "second", "check_every": 3},
        },
        "models": {"model": {"recipe": "third", "check_every": 4, "seed": 0}},
    }
    expected = {"epsilon": 1, "iterations": 2, "sampler": {"x": 1, "y": 2}, "check_every": 4, "seed": 0}
    assert resolve(deepcopy(values))["models"]["model"] == expected


def test_entries_that_are_like_each_other_are_told(values):
    values["puzzles"]["hanoi_4"] = {"like": "hanoi_7"}
    assert "there is no 'hanoi_" in message(values)
    values["recipes"] |= {"one": {"like": "other"}, "other": {"like": "one"}}
    assert ".like: there is no '" in message(values)


def test_a_puzzle_like_another_has_its_values(values):
    study = parse(values)
    assert study.puzzles["hanoi_7"].search == study.puzzles["hanoi_4"].search


def test_parsing_leaves_the_values_as_they_were(values):
    before = deepcopy(values)
    parse(values)
    assert values == before


def test_a_derived_seed_is_the_hash_of_its_purpose():
    """Results in the world depend on it: it must never change."""
    assert derive_seed(2022, "audits", "DNN_reduced_0") == int.from_bytes(
        hashlib.sha256(b"2022/audits/DNN_reduced_0").digest()[:4], "little"
    )


def test_trainings_of_one_puzzle_share_a_seed_and_every_other_purpose_has_its_own(values):
    study = parse(values)
    by_puzzle = {
        puzzle: {model.seed for model in study.models.values() if model.puzzle == puzzle} for puzzle in study.puzzles
    }
    assert all(len(seeds) == 1 for seeds in by_puzzle.values())
    seeds = [*(seed for seeds in by_puzzle.values() for seed in seeds)]
    seeds += [part["seed"] for name, part in slices(study).items() if "seed" in part and name != REPORT]
    assert len(seeds) == 4 + 4 + 13 and len(set(seeds)) == len(seeds)


def test_a_model_with_seeds_is_so_many_trainings_of_which_the_first_has_the_usual_seed(values):
    again = dict(values["models"]["DNN_0"]) | {"seeds": 3}
    study = parse(overlay(values, {"models": {"wide": again}}))
    repeated = {name: model for name, model in study.models.items() if TrainingName.of(name)[0] == "wide"}
    assert [TrainingName.of(name) for name in repeated] == [("wide", 1), ("wide", 2), ("wide", 3)]
    assert len({model.seed for model in repeated.values()}) == 3
    first, second, _ = repeated.values()
    assert first == study.models["DNN_0"] and second == first.model_copy(update={"seed": second.seed})
    assert TrainingName.of("DNN_0") == ("DNN_0", 0) and TrainingName.of("net_seedling") == ("net_seedling", 0)


@pytest.mark.parametrize("change", [{"seeds": 0}, {"seeds": True}, {"seeds": "five"}, {"seeds": 2, "seed": 1}])
def test_wrong_seeds_are_told(values, change):
    with pytest.raises(UserError, match="models.DNN_0.seeds") as told:
        parse(overlay(values, {"models": {"DNN_0": change}}))
    assert is_one_sentence(str(told.value))


def test_a_search_from_every_state_names_a_model_of_its_puzzle(values):
    with pytest.raises(UserError, match="no model 'DNN_O'; did you mean 'DNN_0'"):
        parse(overlay(values, {"puzzles": {"cube2": {"search": {"all_starts": ["DNN_O"]}}}}))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"models": {"DNN_0": {"sampler": {"kind": "growing_tower"}}}},
            "models.DNN_0: cube2 has no disks for the sampler",
        ),
        ({"models": {"DNN_0": {"architecture": "automaton"}}}, "goal of zeros alone, which cube2 has not"),
        (
            {"models": {"H4_DNN_reduced_0": {"architecture": {"first_layers": [4], "inputs": "pieces"}}}},
            "hanoi_4 has no pieces whose places a network could see",
        ),
        ({"puzzles": {"cube2": {"instances": {"far": {"kind": "start"}}}}}, "far: cube2 has no customary start"),
        ({"puzzles": {"hanoi_4": {"instances": {"start": {"disks": 9}}}}}, "start: hanoi_4 has no 9 disks"),
        ({"puzzles": {"cube2": {"local_vi": {"boards": 1, "sizes": [1]}}}}, "local_vi: cube2 has no tiles to slide"),
        ({"puzzles": {"cube2": {"pattern_databases": {"a": "2-2"}}}}, "pattern_databases: there are none of cube2"),
        ({"puzzles": {"cube2": {"optima": {"sets": ["tests"]}}}}, "no instance set 'tests'; did you mean 'test'"),
        ({"puzzles": {"cube2": {"baselines": ["manhattan"]}}}, "there is no baseline 'manhattan'; there are none"),
    ],
)
def test_what_a_puzzle_cannot_do_is_told_before_anything_runs(values, change, told):
    with pytest.raises(UserError, match=told) as error:
        parse(overlay(values, change))
    assert is_one_sentence(str(error.value))


UNSEEN = {  # what a kind does not look at, where it is given, and who does not
    "a model": ({"models": {"DNN_0": {"lbfgs_steps": 9}}}, "models.DNN_0.lbfgs_steps: the trainer davi"),
    "a model by L-BFGS": (
        {"models": {"DNN_0": {"optimizer": "lbfgs", "minibatch": 9}}},
        "models.DNN_0.minibatch: the trainer davi with lbfgs",
    ),
    "a recipe": (
        {"recipes": {"automaton_hanoi": {"minibatch": 9}}},
        "recipes.automaton_hanoi.minibatch: the trainer davi with lbfgs",
    ),
    "the sampler of a recipe": (
        {"recipes": {"uniform_hanoi": {"sampler": {"walk_max": 9}}}},
        "recipes.uniform_hanoi.sampler.walk_max: the kind uniform",
    ),
    "the sampler of a model": (
        {"models": {"hanoi_4_uniform": {"sampler": {"conv_point_offs": 1}}}},
        "models.hanoi_4_uniform.sampler.conv_point_offs: the kind uniform",
    ),
    "the default of another kind": (
        {"models": {"DNN_0": {"sampler": {"stride": 10}}}},
        "models.DNN_0.sampler.stride: the kind deepcube",
    ),
    "an architecture": (
        {"architectures": {"automaton": {"first_layers": [9]}}},
        "architectures.automaton.first_layers: the kind automaton",
    ),
    "an architecture in place": (
        {"models": {"DNN_0": {"architecture": {"first_layers": [9], "kernel": 3}}}},
        "models.DNN_0.architecture.kernel: the kind residual",
    ),
}


@pytest.mark.parametrize("case", UNSEEN)
def test_what_a_kind_does_not_look_at_is_refused_where_it_is_given(values, case):
    change, told = UNSEEN[case]
    assert message(overlay(values, change)) == f"Parameter {told} does not look at it; leave it out."


def test_what_a_kind_does_not_look_at_is_kept_in_the_record_where_it_is_inherited(values):
    training = parse(values).models["hanoi_10_automaton"]
    assert (training.optimizer, training.sampler.kind) == ("lbfgs", "growing_tower")
    assert not hasattr(training, "minibatch") and not hasattr(training.sampler, "walk_max")
    record = training.model_dump()
    assert (record["minibatch"], record["learning_rate"], record["sampler"]["walk_max"]) == (32, 2.0e-4, 1024)
    with pytest.raises(UserError, match="minibatch: it should be a valid integer"):
        parse(overlay(values, {"recipes": {"thesis": {"minibatch": "all"}}}))


SMALL = {"study": "mine", "seed": 1, "threads": 1}
WALKS = {"far": {"kind": "walks", "states": 3, "length": [1, 9]}}
BEAM = {"solver": "beam", "set": "far", "widths": [7, 8], "images": 2}
GRID = {"solver": "bwas", "set": "far", "path_weight": [0, 1], "batch_size": [1, 2, 3]}


def of(puzzle: str, **asked) -> dict:
    """A study of one puzzle without models."""
    return SMALL | {"puzzles": {puzzle: asked}}


def test_the_kind_of_an_audit_follows_from_what_is_listed(values):
    assert isinstance(parse(values).puzzles["cube2"].audit, ExhaustiveAudit)
    assert isinstance(load([ROOT / "config/cube3.yaml"]).puzzles["cube3"].audit, SampledAudit)
    assert parse(of("cube2", exact={"around": 3})).puzzles["cube2"].audit == SampledAudit()
    audit = values["puzzles"]["cube2"]["audit"]
    for change, told in (
        ({"audit": audit | {"kind": "samples"}}, "audit.kind: it follows from exact; leave it out"),
        ({"audit": audit}, "cube2.exact must say which states are listed: all, {around: moves} or {levels: 100}"),
        ({"exact": "all", "audit": audit}, "needs both audit and search, or neither"),
        ({"exact": {"around": 3}, "audit": audit}, "audit.checkpoints: there is no key 'checkpoints'; did you mean"),
        (
            {
                "exact": {"around": 3},
                "search": values["puzzles"]["cube2"]["search"],
                "instances": WALKS | {"selection": WALKS["far"], "test": WALKS["far"]},
            },
            "search is for a puzzle whose states are all listed",
        ),
        ({"instances": WALKS}, "say which states are listed: exact: all, {around: moves} or {levels: 100}"),
        (
            {"exact": {"around": 3}, "instances": {"u": {"kind": "uniform"}}},
            "the kind uniform of set u needs all states",
        ),
        (
            {"exact": {"around": 3}, "instances": WALKS, "searches": [GRID | {"every_checkpoint": True}]},
            "every_checkpoint is",
        ),
    ):
        change = {"exact": "all"} | change if "kind" in change.get("audit", {}) else change
        assert told in message(of("cube2", **change)), change


def test_searches_are_grids_and_beams():
    asked = parse(of("cube3", exact={"around": 3}, instances=WALKS, searches=[BEAM, GRID])).puzzles["cube3"]
    (beam,), (grid,) = asked.beams, asked.grids
    assert (beam.widths, beam.images, beam.average) == ([7, 8], 2, 1)
    cells = [(cell.path_weight, cell.batch_size) for cell in grid.cells]
    assert cells == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)] and {cell.set for cell in grid.cells} == {"far"}
    for search, told in (
        (BEAM | {"batch_size": [1]}, "searches.0.batch_size: there is no key 'batch_size'; there are"),
        (GRID | {"widths": [1]}, "searches.0.widths: there is no key 'widths'; there are"),
        (GRID | {"set": "fra"}, "there is no instance set 'fra'; did you mean 'far'?"),
        (BEAM | {"widths": [7, 7]}, "Beam search with set far, width 7 is there twice"),
        ({"set": "far"}, "searches.0.solver is missing"),
    ):
        assert told in message(of("cube3", exact={"around": 3}, instances=WALKS, searches=[search]))


def test_what_is_asked_of_a_puzzle_is_free_of_how_many_states_it_has():
    """A puzzle that can be listed may have what the large ones have, and need not be listed whole."""
    eight, cube = load([ROOT / "config/puzzle8.yaml"]), load([ROOT / "config/smoke.yaml"])
    change = {"pattern_databases": {"halves": "4-4"}, "optima": {"pattern_database": "halves"}}
    change |= {"baselines": ["halves", "manhattan"], "searches": [GRID | {"set": "uniform"}, BEAM | {"set": "uniform"}]}
    more = load([ROOT / "config/puzzle8.yaml"], {"puzzles": {"puzzle8": change}})
    new = {
        "pattern_databases/halves",
        "optima/puzzle8",
        "baselines/halves",
        "baselines/manhattan",
        "footprints/puzzle8",
    }
    assert slices(more).keys() - slices(eight).keys() == new | {f"beams/{name}" for name in eight.models}
    beams = load([ROOT / "config/smoke.yaml"], {"puzzles": {"cube2": {"searches": [BEAM | {"set": "test"}]}}})
    own = [name for name, model in cube.models.items() if model.puzzle == "cube2"]
    assert slices(beams).keys() - slices(cube).keys() == {f"beams/{name}" for name in own}
    audited = {name: value for name, value in slices(beams).items() if name.startswith("audits/")}
    assert audited == {name: value for name, value in slices(cube).items() if name.startswith("audits/")}
    around = parse(of("cube2", exact={"around": 5}, instances=WALKS, searches=[GRID, BEAM]))
    assert around.listed == [] and slices(around)["tables/cube2"]["depth"] == 5


def test_a_training_may_start_from_another_and_is_else_the_same():
    more = {"puzzle": "cube3", "recipe": "random_walk", "starts_from": "walks"}
    parts = slices(load([ROOT / "config/cube3.yaml"], {"models": {"more": more}}))
    assert parts["models/more"]["starts_from"] == "walks" and "starts_from" not in parts["models/walks"]
    assert parts["models/more"]["training"] == parts["models/walks"]["training"]


def test_the_trainers_beside_one_another_differ_in_what_is_compared_alone():
    models = load([ROOT / "config/cube3-trainers.yaml"]).models.values()
    assert {model.trainer for model in models} == {"davi", "random_walk"}
    assert len({(*model.architecture.first_layers, model.architecture.residual_blocks) for model in models}) == 1
    assert len({model.seed for model in models}) == 3 and len({model.learning_rate for model in models}) == 1


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ({"solver": "beam", "seconds": 5}, "beams for 5 s each"),
        (
            {"seconds": 20, "path_weight": [0.9, 1], "batch_size": 1000, "shortening": 0.4},
            "BWAS, λ = 0.9, 1, N = 1,000, at most 20 s each, 40 % of them to shorten solutions",
        ),
        (
            {"seconds": 1, "path_weight": 1, "batch_size": 200, "widening": True},
            "BWAS, λ = 1, N = 200 and upwards, at most 1 s each",
        ),
        (
            {"seconds": 1, "path_weight": 1, "batch_size": 200, "images": 2},
            "BWAS, λ = 1, N = 200, from 2 images, at most 1 s each",
        ),
    ],
)
def test_a_budget_is_told_in_words(budget, told):
    (found,) = ExternalParams(file="a.csv", budgets=[{"solver": "bwas", "states": 3} | budget]).budgets
    assert found.searched == told


def changed_slices(values: dict, change: dict) -> set[str]:
    """The slices that a change of the parameters touches."""
    before, after = slices(parse(values)), slices(parse(overlay(values, change)))
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


REPORT = "report/report"
CUBE = [
    *("DNN_0", "DNN_noBatchNorm", "DNN_reduced_0", "DNN_reduced_0_noBatchNorm"),
    *("DNN_final_2x2x2", "DNN_final_2x2x2_nr", "DNN_final_2x2x2_nrr"),
]
HANOI = [
    *("H4_DNN_reduced_0", "H7_DNN_0", "H10_DNN_reduced_0"),
    *("hanoi_4_uniform", "hanoi_7_uniform", "hanoi_10_automaton"),
]


@pytest.mark.parametrize(
    ("change", "touched"),
    [
        ({}, set()),
        ({"models": {"DNN_reduced_0": {"iterations": 7}}}, {"models/DNN_reduced_0", REPORT}),
        ({"recipes": {"compact_cube": {"validation_states": 7}}}, {REPORT, *(f"models/{name}" for name in CUBE)}),
        ({"puzzles": {"cube2": {"instances": {"test": {"walk_max": 29}}}}}, {"instances/cube2", REPORT}),
        (
            {"puzzles": {"cube2": {"audit": {"walks": 3}}}},
            {REPORT, *(f"audits/{name}" for name in CUBE)},
        ),
        (
            {"puzzles": {"cube2": {"search": {"max_nodes": 3}}}},
            {REPORT, "searches/baseline_cube2", *(f"searches/{name}" for name in CUBE)},
        ),
        ({"tables": ["cube2", "hanoi_4", "hanoi_7", "hanoi_10"]}, {f"tables/hanoi_{n}" for n in (3, 5, 6, 8, 9)}),
    ],
    ids=["nothing", "model", "recipe", "instances", "audit", "search", "tables"],
)
def test_a_change_touches_the_slices_of_the_stages_it_concerns_alone(values, change, touched):
    assert changed_slices(values, change) - {REPORT} == touched - {REPORT}
    assert (REPORT in changed_slices(values, change)) == bool(change)


def test_the_number_of_threads_touches_what_computes_with_them(values):
    touched = changed_slices(values, {"threads": 2})
    expected = {f"{group}/{name}" for group in ("models", "audits", "searches") for name in CUBE + HANOI}
    assert touched == expected | {f"searches/baseline_{name}" for name in values["puzzles"]} | {REPORT}


def test_the_device_touches_every_stage_over_a_network(values):
    touched = changed_slices(values, {"device": "cuda"})
    over = {f"{group}/{name}" for group in ("models", "audits", "searches") for name in CUBE + HANOI}
    assert touched == over | {f"searches/baseline_{name}" for name in values["puzzles"]} | {REPORT}
    study, place = load([ROOT / "config/local_vi.yaml"]), "compared/puzzle15"
    on_cuda = study.model_copy(update={"device": "cuda"})
    assert slices(on_cuda)[place] == slices(study)[place] | {"device": "cuda"}


def test_the_number_of_processes_touches_the_training_where_it_is_set(values):
    change = {"models": {"DNN_reduced_0": {"processes": 3}}}
    assert changed_slices(values, {"models": {"DNN_reduced_0": {"processes": 1}}}) == set()
    assert changed_slices(values, change) == {"models/DNN_reduced_0", REPORT}
    threads = {stage.name: stage.threads for stage in stages_of(parse(laid(values, change))) if stage.group == "models"}
    assert threads["DNN_reduced_0"] == 3 * values["threads"] and threads["DNN_0"] == values["threads"]


CHANGED_BY_COMPACT_NETWORKS = {"architecture", "minibatch", "learning_rate", "learning_rate_decay", "iterations"}


@pytest.mark.parametrize("name", CUBE)
def test_the_compact_recipes_change_width_depth_minibatch_learning_rate_and_iterations_alone(name):
    compact = load([ROOT / "params.yaml"]).models[name].model_dump()
    models = load([ROOT / "config/thesis.yaml"]).models
    exact = (models.get(name) or models[f"{name}_seed1"]).model_dump()
    assert {key for key in exact if exact[key] != compact[key]} <= CHANGED_BY_COMPACT_NETWORKS
    sizes = {"first_layers", "residual_blocks", "layers_per_block"}
    kinds = [
        {key: model["architecture"][key] for key in model["architecture"].keys() - sizes} for model in (exact, compact)
    ]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("path", sorted((ROOT / "config").glob("*.yaml")), ids=lambda path: path.stem)
def test_what_searches_external_instances_is_shown_on_our_own(path):
    """A setting of external instances is chosen on the study's own, so each study shows what it does there."""
    study = load([path]) if path.stem != "groups" else None
    for puzzle, asked in (study.puzzles if study else {}).items():
        own = [budget for search in asked.by_group.get("anytime", []) for budget in search.budgets]
        assert not asked.external or own == asked.external.budgets, puzzle


def test_the_exact_recipes_have_the_networks_of_the_thesis():
    study = load(["config/thesis.yaml"])
    named = {name: study.architectures[name] for name in study.models if name in study.architectures}
    others = {name: study.architectures["DNN_0" if "DNN_0" in name else "DNN_reduced_0"] for name in study.models}
    assert {name: model.architecture for name, model in study.models.items()} == others | named
    assert study.architectures["DNN_reduced_0"].first_layers == [3000, 800]
