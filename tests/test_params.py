"""Parameters: what is written resolves as said, what is wrong is told in one sentence, slices change alone."""

import hashlib
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from messages import is_one_sentence

from costtogo.analysis.literature import read_reported
from costtogo.params.base import derive_seed, variant_of
from costtogo.params.loading import is_large, is_local_vi, load, overlay, parse, resolve
from costtogo.params.loading import load as load_large
from costtogo.params.loading import load as load_local_vi
from costtogo.params.slices import slices
from costtogo.params.training import architecture_of
from costtogo.types import UserError

ROOT = Path(__file__).parent.parent
DEFAULT = ROOT / "params.yaml"
CONFIGS = sorted((ROOT / "config").glob("*.yaml"))


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
def test_every_configuration_makes_a_study_of_its_own(config):
    if is_local_vi(config):
        assert load_local_vi(config).study == config.stem
        return
    study = load_large(config) if is_large(config) else load([DEFAULT, config])
    assert study.study == config.stem != "default"
    assert study.models


def test_keys_that_came_later_are_written_out_only_where_they_are_set():
    study, ours = load([DEFAULT]), load([DEFAULT, ROOT / "config" / "targets.yaml"])
    trainings = [each.slices()[f"models/{name}"]["training"] for each in (study, ours) for name in each.models]
    for key in ("learning_rate_factor", "forced_update", "checkpoint_iterations"):
        assert not any(key in training for training in trainings[: len(study.models)])
    base, forced = (ours.slices()[f"models/{name}_seed1"]["training"] for name in ("base_puzzle8", "forced_update"))
    assert forced["forced_update"] == 100 and "forced_update" not in base
    architecture = ours.models["convolutional_seed1"].architecture
    assert architecture_of(**architecture.model_dump()) == architecture
    assert "channels" in architecture.model_dump() and "kernel" not in architecture.model_dump()


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
    path = ROOT / "config" / f"{config}.yaml"
    model = (load_large(path) if is_large(path) else load([DEFAULT, path])).models["Report_DNN"]
    rows = read_reported([ROOT / "data" / "reported" / reported / "final_year_report.csv"], puzzle)
    told = rows[rows["model"] == "Report_DNN"].drop_duplicates("quantity").set_index("quantity")["value"]
    assert {key: getattr(model, key) for key in TABLE_4} == {key: told[name] for key, name in TABLE_4.items()}
    assert (model.polyak, model.learning_rate_decay) == (0, 0)
    assert model.sampler.kind == "deepcubea" and model.sampler.walk_max == told["scramble_moves_max"]


@pytest.mark.parametrize(
    ("place", "key", "nearest"),
    [
        ("recipes.thesis", "minibach", "minibatch"),
        ("puzzles.cube2.search.grids.0", "path_wieghts", "path_weights"),
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
        ("puzzles.cube2.search.grids.0", "path_weights", [0.7, 1.5], "puzzles.cube2.search.grids.0.path_weights.1"),
        ("puzzles.cube2.search.headline", "path_weight", -0.1, "puzzles.cube2.search.headline.path_weight"),
        ("puzzles.cube2.search.headline", "batch_size", 0, "greater than or equal to 1 (given: 0)"),
        ("puzzles.cube2.search.headline", "set", "tset", "there is no instance set 'tset'; did you mean 'test'?"),
        ("models.DNN_reduced_0", "recipe", "compact_cub", "did you mean 'compact_cube'?"),
        ("models.DNN_reduced_0", "architecture", "DNN_1", "there is no 'DNN_1'; did you mean"),
        (
            "models.DNN_reduced_0",
            "puzzle",
            "cube_2",
            "model DNN_reduced_0 wants puzzle 'cube_2'; did you mean 'cube2'?",
        ),
        ("models.DNN_reduced_0", "epsilon", 0, "greater than 0"),
        (
            "models.DNN_final_2x2x2_nr.sampler",
            "kind",
            "deepcub",
            "'deepcube', 'deepcubea', 'uniform', 'adaptive_k', 'non_backtracking' or 'growing_tower'",
        ),
        ("puzzles.hanoi_7", "like", "hanoi_5", "there is no 'hanoi_5'; did you mean 'hanoi_"),
    ],
)
def test_a_wrong_value_is_told_with_its_place(values, place, key, value, told):
    at(values, place)[key] = value
    assert told in message(values)


def test_a_path_weight_above_one_is_told_with_what_was_given(values):
    values["puzzles"]["cube2"]["search"]["selection"]["path_weight"] = 1.5
    assert message(values) == (
        "Parameter puzzles.cube2.search.selection.path_weight: it should be less than or equal to 1 (given: 1.5)."
    )


def test_a_puzzle_without_its_exact_table_is_told(values):
    values["tables"].remove("hanoi_7")
    assert "puzzle hanoi_7 needs its exact table; add it to tables" in message(values)


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
        ({"architectures": {"DNN_0": {"first_layer": [5]}}}, "did you mean 'first_layers'?"),
        ({"models": {"baseline_cube2": {"puzzle": "cube2", "recipe": "thesis"}}}, "not baseline_"),
        ({"models": {"a/b": {"puzzle": "cube2", "recipe": "thesis"}}}, "'a/b' needs a name"),
    ],
    ids=["recipe", "architecture", "baseline", "slash"],
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


def test_null_in_an_overlay_takes_an_entry_away(values):
    study = parse(overlay(values, {"models": {"DNN_reduced_0": None}}))
    assert set(values["models"]) - set(study.models) == {"DNN_reduced_0"}


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
    repeated = {name: model for name, model in study.models.items() if variant_of(name)[0] == "wide"}
    assert [variant_of(name) for name in repeated] == [("wide", 1), ("wide", 2), ("wide", 3)]
    assert len({model.seed for model in repeated.values()}) == 3
    first, second, _ = repeated.values()
    assert first == study.models["DNN_0"] and second == first.model_copy(update={"seed": second.seed})
    assert variant_of("DNN_0") == ("DNN_0", 0) and variant_of("net_seedling") == ("net_seedling", 0)


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
        ({"models": {"DNN_0": {"sampler": {"kind": "growing_tower"}}}}, "cube2 has no disks for the sampler"),
        ({"models": {"DNN_0": {"architecture": "automaton"}}}, "goal of zeros alone, which cube2 has not"),
        ({"puzzles": {"cube2": {"instances": {"test": {"kind": "start"}}}}}, "test: cube2 has no customary start"),
        ({"puzzles": {"hanoi_4": {"instances": {"start": {"disks": 9}}}}}, "start: hanoi_4 has no 9 disks"),
    ],
)
def test_what_a_puzzle_cannot_do_is_told_before_anything_runs(values, change, told):
    with pytest.raises(UserError, match=told) as error:
        parse(overlay(values, change))
    assert is_one_sentence(str(error.value))


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


CHANGED_BY_COMPACT_NETWORKS = {"architecture", "minibatch", "learning_rate", "learning_rate_decay", "iterations"}


@pytest.mark.parametrize("name", CUBE)
def test_the_compact_recipes_change_width_depth_minibatch_learning_rate_and_iterations_alone(name):
    compact = load([ROOT / "params.yaml"]).models[name].model_dump()
    exact = load([ROOT / "params.yaml", ROOT / "config/thesis.yaml"]).models[name].model_dump()
    assert {key for key in exact if exact[key] != compact[key]} <= CHANGED_BY_COMPACT_NETWORKS
    sizes = {"first_layers", "residual_blocks", "layers_per_block"}
    kinds = [
        {key: model["architecture"][key] for key in model["architecture"].keys() - sizes} for model in (exact, compact)
    ]
    assert kinds[0] == kinds[1]
