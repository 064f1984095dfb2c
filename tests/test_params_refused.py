"""Parameters that make no sense are refused before anything runs, in one short sentence and within a second.

Also what a message shows of what the user gave.
"""

import os
import re
from contextlib import contextmanager
from copy import deepcopy
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo import memory
from costtogo.exact.partition import parse_partition
from costtogo.params.loading import laid, load, overlay, parse, refuse_other_name
from costtogo.params.reading import read_yaml
from costtogo.types import UserError, excerpt

ROOT = Path(__file__).parent.parent
CONFIG = ROOT / "config"
DEFAULT = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
INFINITE, NO_NUMBER, HUGE = float("inf"), float("nan"), 10**18
LONGEST_SENTENCE = 400


@contextmanager
def refused(pattern: str):
    """What stands in the block is refused by a sentence with a pattern in it."""
    with pytest.raises(UserError) as told:
        yield
    sentence = str(told.value)
    assert re.search(pattern, sentence) and is_one_sentence(sentence) and len(sentence) < LONGEST_SENTENCE, sentence


def listed(change: dict):
    """The default parameters, changed."""
    return parse(overlay(deepcopy(DEFAULT), change))


def with_table(*names: str) -> dict:
    return {"tables": [*DEFAULT["tables"], *names]}


def with_puzzle(name: str, like: str) -> dict:
    return {**with_table(name), "puzzles": {name: {"like": like}}}


def dnn_0(**change) -> dict:
    return {"models": {"DNN_0": change}}


def convolutional(**change) -> dict:
    """An architecture that no model has."""
    return {"architectures": {"net": {"kind": "convolutional", "channels": [8]} | change}}


def compact(**change) -> dict:
    """The architecture of DNN_0, changed."""
    return {"architectures": {"compact_DNN_0": change}}


def tower(**change) -> dict:
    """The sampler of hanoi_10_automaton, changed."""
    return {"models": {"hanoi_10_automaton": {"sampler": change}}}


def cube2(**change) -> dict:
    return {"puzzles": {"cube2": change}}


def sets(**change) -> dict:
    """The instance sets of cube2, changed."""
    return cube2(instances=change)


UNLISTED = {
    "cube": (with_table("cube3"), "^Parameter tables: cube3 cannot be listed, for its 43,252,003,274,489,856,000"),
    "tiles": (with_table("puzzle15"), "^Parameter tables: puzzle15 cannot be listed.*config/puzzle15.yaml"),
    "lights": (with_table("lights_out_7"), "^Parameter tables: lights_out_7 cannot be listed"),
    "searched": (with_puzzle("cube3", "cube2"), "^Parameter puzzles.cube3: cube3 cannot be listed"),
    "hanoi_20": (
        with_table("hanoi_20"),
        "^Parameter tables: an exact table of the 3,486,784,401 .* takes about 111 GiB",
    ),
    "hanoi_40": (with_table("hanoi_40"), "12,157,665,459,056,928,801 states .* takes about [0-9,]+ GiB .* machine has"),
    "hanoi_999": (with_table("hanoi_999"), r"10\^476 states .* takes about 10\^469 GiB"),
    "a million disks": (with_table("hanoi_1000000"), "'hanoi_1000000' is too large a puzzle"),
    "digits": (with_table("hanoi_" + 900 * "9"), "^Parameter tables.9: .*too large a puzzle"),
    "digits of lights": (with_table("lights_out_" + 900 * "9"), "too large a puzzle"),
}


@pytest.mark.parametrize("case", UNLISTED)
def test_a_puzzle_that_cannot_be_listed_is_refused(case, monkeypatch):
    change, pattern = UNLISTED[case]
    monkeypatch.setattr(memory, "machine_memory", lambda: 24 * 2**30)
    with refused(pattern):
        listed(change)


@pytest.mark.parametrize(
    ("change", "needed", "pattern"),
    [
        (with_table("hanoi_16"), 2, "^Parameter tables: .*hanoi_16 takes about 2 GiB .* this machine has 1 GiB"),
        (with_puzzle("hanoi_16", "hanoi_4"), 4, "^Parameter puzzles.hanoi_16: .* takes about 4 GiB .* has 3 GiB"),
    ],
    ids=["table", "audit"],
)
def test_a_puzzle_is_listed_where_the_machine_s_memory_holds_it(change, needed, pattern, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: (needed - 1) * 2**30)
    with refused(pattern):
        listed(change)
    monkeypatch.setattr(memory, "machine_memory", lambda: needed * 2**30)
    assert "hanoi_16" in listed(change).tables


def test_more_states_than_ranks_have_numbers_are_refused_whatever_the_memory(monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: 2**50)
    with refused("^Parameter tables: hanoi_20 has 3,486,784,401 states, more than the 2,147,483,647"):
        listed(with_table("hanoi_20"))


NO_INTEGER, NO_FLOAT, NOT_FINITE = (
    f"it should be a {kind}" for kind in ("valid integer", "valid number", "finite number")
)
AT_MOST, AT_LEAST = "it should be less than or equal to [0-9]+ ", "it should be greater than or equal to "
NUMBERS = {
    "iterations": (dnn_0(iterations=HUGE), f"^Parameter models.DNN_0.iterations: {AT_MOST}"),
    "beyond 64 bits": (dnn_0(iterations=10**30), "^Parameter models.DNN_0.iterations: the number is too large"),
    "hexadecimal": (dnn_0(iterations=16**5000), "^Parameter models.DNN_0.iterations: the number is too large"),
    "a float as integer": (dnn_0(iterations=2022.0), f"models.DNN_0.iterations: {NO_INTEGER}"),
    "text as integer": (dnn_0(iterations="2022"), f"models.DNN_0.iterations: {NO_INTEGER}"),
    "yes as integer": (dnn_0(iterations=True), f"models.DNN_0.iterations: {NO_INTEGER}"),
    "yes as number": (dnn_0(learning_rate=True), f"models.DNN_0.learning_rate: {NO_FLOAT}"),
    "text as number": (dnn_0(learning_rate="0.5"), f"models.DNN_0.learning_rate: {NO_FLOAT}"),
    "no point": (dnn_0(learning_rate="1e-3"), r"learning_rate: .*\(given: '1e-3'\); .* write 1\.0e-3\.$"),
    "a number as yes": (tower(hold=1), "sampler.hold: it should be a valid boolean"),
    "seed": ({"seed": 2**32}, r"^Parameter seed: it should be less than 4294967296 \(given: 4294967296\)\.$"),
    "seed of a model": (dnn_0(seed=2**32), "models.DNN_0.seed: it should be less than 4294967296"),
    "threads": ({"threads": 10**6}, f"^Parameter threads: {AT_MOST}"),
    "seeds": (dnn_0(seeds=1_000_000), "models.DNN_0.seeds must be how many seeds, 1 to 1,000"),
    "one that no training uses": ({"recipes": {"spare": {"like": "davi", "epsilon": NO_NUMBER}}}, NOT_FINITE),
    "learning rate": (dnn_0(learning_rate=INFINITE), f"models.DNN_0.learning_rate: {NOT_FINITE}"),
    "no learning rate": (dnn_0(learning_rate=NO_NUMBER), f"models.DNN_0.learning_rate: {NOT_FINITE}"),
    "a large learning rate": (dnn_0(learning_rate=1e300), f"models.DNN_0.learning_rate: {AT_MOST}"),
    "ε": (dnn_0(epsilon=INFINITE), f"models.DNN_0.epsilon: {NOT_FINITE}"),
    "ε of Adam": (dnn_0(adam_epsilon=INFINITE), f"models.DNN_0.adam_epsilon: {NOT_FINITE}"),
    "β 1": (dnn_0(adam_beta_1=1), "models.DNN_0.adam_beta_1: it should be less than 1"),
    "β 2": (dnn_0(adam_beta_2=1.0), "models.DNN_0.adam_beta_2: it should be less than 1"),
    "a share": (dnn_0(learning_rate_decay=NO_NUMBER), f"models.DNN_0.learning_rate_decay: {NOT_FINITE}"),
    "ε of batch normalisation": (compact(batch_norm_epsilon=INFINITE), f"batch_norm_epsilon: {NOT_FINITE}"),
    "a first layer": (compact(first_layers=[10**7]), f"first_layers.0: {AT_MOST}"),
    "residual blocks": (compact(residual_blocks=10**7), f"residual_blocks: {AT_MOST}"),
    "a kernel": (convolutional(kernel=10**7), f"architectures.net.kernel: {AT_MOST}"),
    "a convolution of nothing": (convolutional(channels=[]), "channels: it should have at least 1 item"),
    "a walk": (dnn_0(sampler={"walk_max": 10**9}), f"models.DNN_0.sampler.walk_max: {AT_MOST}"),
    "spacing": (
        dnn_0(sampler={"kind": "non_backtracking", "spacing": INFINITE}),
        f"models.DNN_0.sampler.spacing: {NOT_FINITE}",
    ),
    "a residual": (tower(residual=INFINITE), f"sampler.residual: {NOT_FINITE}"),
    "disks": (tower(disks=99), "^Parameter models.hanoi_10_automaton: hanoi_10 has no 99 disks"),
    "states": (sets(test={"states": HUGE}), f"instances.test.states: {AT_MOST}"),
    "a walk of a set": (sets(test={"walk_max": 10**9}), f"instances.test.walk_max: {AT_MOST}"),
    "nearer than the goal": (sets(grid={"one_each_at": [-1]}), f"instances.grid.one_each_at.0: {AT_LEAST}0"),
    "farther than all": (sets(grid={"one_each_at": [10**9]}), f"instances.grid.one_each_at.0: {AT_MOST}"),
    "effective K": (cube2(distributions={"effective_k": [10**9]}), f"distributions.effective_k.0: {AT_MOST}"),
    "K": (cube2(distributions={"walk_max": [10**9]}), f"distributions.walk_max.0: {AT_MOST}"),
    "checkpoints": (cube2(audit={"checkpoints": HUGE}), f"audit.checkpoints: {AT_MOST}"),
    "nodes": (cube2(search={"max_nodes": HUGE}), f"search.max_nodes: {AT_MOST}"),
    "λ": (cube2(search={"headline": {"path_weight": NO_NUMBER}}), f"search.headline.path_weight: {NOT_FINITE}"),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_a_number_out_of_bounds_or_of_another_type_is_refused(case):
    change, pattern = NUMBERS[case]
    with refused(pattern):
        listed(change)


A_MODEL, A_SET, LETTERS = {"puzzle": "cube2", "recipe": "thesis"}, {"kind": "uniform"}, "needs a name of up to [0-9]+ "
NAMES = {
    "a set with a slash": (sets(**{"a/b": A_SET}), f"^Parameter puzzles.cube2.instances.a/b: 'a/b' {LETTERS}"),
    "a set without a name": (sets(**{"": A_SET}), f"'' {LETTERS}"),
    "a set over two lines": (sets(**{"a\nb": A_SET}), r"^Parameter puzzles.cube2.instances: the key 'a\\nb' must be"),
    "a set that is a number": (cube2(instances={7: A_SET}), "instances: the key 7 is no text; put it in quotes"),
    "a model with a slash": ({"models": {"a/b": A_MODEL}}, f"^Parameter models.a/b: 'a/b' {LETTERS}"),
    "a model of 300 letters": ({"models": {300 * "a": A_MODEL}}, "^Parameter models: the key 'aaa.* 100 letters"),
    "a model of 99 letters": ({"models": {99 * "a": A_MODEL}}, LETTERS),
    "a model as a file": ({"models": {"DNN_0.parquet": A_MODEL}}, f"'DNN_0.parquet' {LETTERS}"),
    "a model as a card": ({"models": {"a.json": A_MODEL}}, f"'a.json' {LETTERS}"),
    "a model with a line's end": ({"models": {"a\n": A_MODEL}}, "^Parameter models: the key"),
    "a model as another's seed": (
        {"models": {"DNN_0": {"seeds": 2}, "DNN_0_seed1": A_MODEL}},
        "^Parameter models.DNN_0_seed1: DNN_0 with its seeds has a training of this name; rename one.$",
    ),
    "a study of 900 letters": ({"study": 900 * "a"}, f"^Parameter study: .*{LETTERS}"),
    "a study of 5,000 letters": ({"study": 5000 * "a"}, "^Parameter study is a text of 5,000 letters"),
    "a study with a slash": ({"study": "a/b"}, f"^Parameter study: 'a/b' {LETTERS}"),
    "a study with a line's end": ({"study": "a\n"}, f"^Parameter study: .*{LETTERS}"),
    "a study that is a number": ({"study": 2022}, "^Parameter study: it should be a valid string"),
    "a key of 20,000 letters": ({20_000 * "a": 1}, "the key 'aaa.* 100 letters"),
    "a bound of tiles for a cube": (compact(above="manhattan"), "^Parameter models.DNN_0: there is no bound of cube2"),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_name_that_files_cannot_have_or_that_means_another_thing_is_refused(case):
    change, pattern = NAMES[case]
    with refused(pattern):
        listed(change)


def test_recipes_that_are_like_one_another_without_end_are_refused():
    recipes = {f"r{k}": {"like": f"r{k + 1}"} for k in range(2000)}
    with refused("^Parameter recipes.r[0-9]+.like: .* 20 generations"):
        listed({"recipes": recipes, **dnn_0(recipe="r0")})


@pytest.mark.parametrize("name", ["cube3", "puzzle15", "lights_out_7", "local_vi"])
def test_a_study_over_params_yaml_named_as_one_in_a_file_of_its_own_is_refused(name):
    with refused(f"^Parameter study: '{name}' is another study, that of config/{name}.yaml; choose another"):
        listed({"study": name})


@pytest.mark.parametrize("name", ["puzzle8", "quick", "thesis"])
def test_a_study_named_as_a_config_with_other_puzzles_or_models_is_refused(name, monkeypatch):
    with refused(f"^Parameter study: '{name}' is another study, that of config/{name}.yaml; choose another name.$"):
        listed({"study": name})
    assert load([CONFIG / f"{name}.yaml"], {"seed": 7}).study == name, "the study itself with another number"
    monkeypatch.chdir(CONFIG)
    assert listed({"study": name}).study == name, "of a folder without configs nothing is known"


def in_itself() -> dict:
    values: dict = {"seed": 1}
    values["models"] = values
    return values


def nested(depth: int) -> list:
    values: list = []
    for _ in range(depth):
        values = [values]
    return values


def aliases_of_aliases() -> dict:
    values: dict = {"a": 1}
    for _ in range(9):
        values = dict.fromkeys("abcdefghi", values)
    return values


ENDLESS = {
    "in itself": (in_itself(), "is nested more than 20 deep, or in itself"),
    "deep": (nested(2000), "is nested more than 20 deep"),
    "deep by aliases": ([nested(18), [[[[nested(18)]]]]], "is nested more than 20 deep"),
    "aliases of aliases": (aliases_of_aliases(), "stands for more than 100,000 values"),
}


@pytest.mark.parametrize("key", ["puzzles", "models", "recipes", "unknown", "study"])
@pytest.mark.parametrize("case", ENDLESS)
def test_values_without_end_are_refused_whoever_read_them(key, case):
    value, pattern = ENDLESS[case]
    with refused(f"^Parameter {key}.*{pattern}"):
        parse(DEFAULT | {key: value})


def chain(levels: int, line: str) -> str:
    """Lines with anchors a0, a1, …, each of which names the one before."""
    return "\n".join(["a0: &a0 {k: 1}", *(line.format(this=k, last=k - 1) for k in range(1, levels))])


NINE = ", ".join(9 * ["*a{last}"])
KEYS = ", ".join(f"k{n}: 1" for n in range(3000))
IN_LINE, DEEP, MANY = "is not valid YAML near line", "more than 20 deep", "more than 100,000 values"
TEXTS = {
    "a table in itself": ("models: &a {x: *a}", "models.*more than 20 deep, or in itself"),
    "a list in itself": ("tables: &a [*a]", "tables.*more than 20 deep, or in itself"),
    "2,000 lists": ("tables: " + 2000 * "[" + 2000 * "]", f"{IN_LINE} 1; tables and lists are {DEEP} there"),
    "100,000 brackets": (100_000 * "[", DEEP),
    "100,000 braces": (100_000 * "{", DEEP),
    "100,000 dashes": (100_000 * "- ", DEEP),
    "100,000 questions": (100_000 * "? ", DEEP),
    "22 dashes beside a long line": (22 * "- " + "\n" + 1000 * " " + "a", f"{IN_LINE} 1; .*{DEEP}"),
    "a short staircase": ("\n".join(k * " " + "a:" for k in range(22)), f"a.a.*{DEEP}"),
    "aliases in one another": (chain(1000, "a{this}: &a{this} [[*a{last}]]"), DEEP),
    "lists of aliases": (chain(10, "a{this}: &a{this} [" + NINE + "]"), MANY),
    "tables of aliases": (chain(10, "a{this}: &a{this} {{x: [" + NINE + "]}}"), f"{MANY}|{DEEP}"),
    "merges of merges": (chain(99, "a{this}: &a{this} {{<<: [" + NINE + "], k{this}: 1}}"), f"{IN_LINE} .*{MANY}"),
    "merges of many keys": (
        f"a: &a {{{KEYS}}}\n" + "\n".join(f"b{n}: {{<<: *a}}" for n in range(3000)),
        f"{IN_LINE} .*{MANY}",
    ),
    "merges in one another": (
        "all:\n  a0: &a0 {k: 1}\n"
        + "\n".join(f"  a{k}: &a{k} {{<<: *a{k - 1}}}" for k in range(1, 999))
        + "\nseed: {<<: *a998}",
        "merges too many tables into one another",
    ),
    "a day that is none": ("seed: 2022-99-99", f"{IN_LINE} 1; '2022-99-99' cannot be read"),
    "a moment that is none": ("x: 1\nseed: 2022-01-01T99:00:00", f"{IN_LINE} 2;"),
    "5,000 digits": ("x: 1\ny: 2\nseed: " + 5000 * "9", f"{IN_LINE} 3;"),
    "5,000 hexadecimal digits": ("seed: 0x" + 5000 * "f", "^Parameter seed: the number is too large"),
    "a day": ("study: 2022-01-01", r"^Parameter study: datetime.date\(2022, 1, 1\) is no text.* put text in quotes"),
    "a set": ("tables: !!set {cube2, hanoi_4}", "^Parameter tables: .* is no text, number, table or list"),
    "a tag without a value": ("seed: !!int ''", f"{IN_LINE} 1;"),
    "a wrong tag": ("seed: !!bool maybe", f"{IN_LINE} 1; 'maybe' cannot be read"),
    "a key twice": ("seed: 1\nthreads: 1\nseed: 2", f"{IN_LINE} 3; the key 'seed' is there twice.$"),
    "a key twice in a table": ("models:\n  a: {puzzle: x,\n      puzzle: y}", f"{IN_LINE} 3; the key 'puzzle' is"),
    "a key twice, once quoted": ("seed: 1\n'seed': 2", f"{IN_LINE} 2; the key 'seed' is there twice"),
    "a number as key": ("models: {2022: {}}", "^Parameter models: the key 2022 is no text; put it in quotes.$"),
    "a list as key": ("? [1]\n: 2", f"{IN_LINE} 1;"),
    "code": ("seed: !!python/object/apply:os.getcwd []", f"{IN_LINE} 1;"),
    "a large file": ("# " + 1_100_000 * "x" + "\nseed: 1", "has 1,100,010 bytes; .* up to 200,000"),
    "control characters": ("study: \0", "is not valid YAML"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_text_that_is_no_table_of_parameters_is_refused(case, tmp_path):
    text, pattern = TEXTS[case]
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    for paths in ([path], [ROOT / "params.yaml", path]):
        with refused(pattern):
            load(paths)


def test_what_is_no_regular_file_is_refused_and_of_an_empty_one_nothing_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with refused(f"^{path} is no regular file"):
            read_yaml(path)
    (tmp_path / "empty").touch()
    with refused("holds no parameters"):
        read_yaml(tmp_path / "empty")


def test_a_merged_key_may_be_written_anew_and_a_file_is_read_anew_where_it_has_changed(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: {<<: [*a, *a], y: 'λ'}", encoding="utf-8")
    read = read_yaml(path)
    assert read == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}, "c": {"x": 1, "y": "λ"}}
    read["a"]["x"] = 9
    assert read_yaml(path)["a"]["x"] == 1
    path.write_text("a: 2")
    assert read_yaml(path) == {"a": 2}


def like(folder: Path, other, change: dict):
    """A study in a file of a folder that is like one of config, changed."""
    (folder / "config").mkdir()
    (folder / "params.yaml").symlink_to(ROOT / "params.yaml")
    for path in CONFIG.glob("*.yaml"):
        (folder / "config" / path.name).symlink_to(path)
    path = folder / "config" / "mine.yaml"
    path.write_text(yaml.safe_dump({"like": other, "study": "mine"} | change), encoding="utf-8")
    return load([path])


def cube3(**change) -> dict:
    return {"puzzles": {"cube3": change}}


def puzzle15(**change) -> dict:
    return {"puzzles": {"puzzle15": change}}


def budget(**change) -> dict:
    """External instances of cube3 by BWAS, changed."""
    bwas = {"solver": "bwas", "states": 1, "seconds": 1, "path_weight": 1, "batch_size": 1}
    return cube3(external={"file": "cube3_qtm.csv", "budgets": [bwas | change]})


def walks(**change) -> dict:
    """The instance set scrambled of cube3, changed."""
    return cube3(instances={"scrambled": change})


def local_vi(**change) -> dict:
    return puzzle15(local_vi=change)


WALKS = {"kind": "walks", "states": 5, "length": [1, 5]}
BEAM = {"solver": "beam", "set": "scrambled", "widths": [5]}
GRID = {"solver": "bwas", "set": "scrambled", "path_weight": [1], "batch_size": [1]}
WALKS_OF_CUBE3 = {"puzzle": "cube3", "recipe": "random_walk"}
ROWS = {"kind": "rows", "first_layers": [8]}
OF_CUBE3, OF_15, OF_LOCAL = "puzzles.cube3", "puzzles.puzzle15", "puzzles.puzzle15.local_vi"
LIKE = {  # what the study is like, what it changes, and the sentence
    "moves of no cube": (
        "cube3",
        cube3(instances={"distance_26": {"moves": "abc"}}),
        f"^Parameter {OF_CUBE3}.instances.distance_26.moves: Unknown move",
    ),
    "no moves": ("cube3", cube3(instances={"distance_26": {"moves": ""}}), "distance_26.moves: there are no moves"),
    "moves into the wall": (
        "puzzle15",
        puzzle15(instances={"x": {"kind": "prefixes", "moves": "D U U"}}),
        "instances.x.moves: Move 3, U, is not legal there",
    ),
    "a length backwards": ("cube3", walks(length=[100, 5]), r"instances.scrambled: length .* not \[100, 5\]"),
    "a long length": ("cube3", walks(length=[1, 10**9]), f"scrambled.length.1: {AT_MOST}"),
    "no length": ("cube3", walks(length=[]), f"^Parameter {OF_CUBE3}.instances.scrambled.length.0 is missing"),
    "three lengths": ("cube3", walks(length=[1, 2, 3]), "scrambled.length: it should have at most 2 items"),
    "a length that is a number": ("cube3", walks(length=5), "scrambled.length: it should be a valid list"),
    "a set with a slash": ("cube3", cube3(instances={"a/b": WALKS}), f"instances.a/b: 'a/b' {LETTERS}"),
    "an unknown kind": (
        "cube3",
        cube3(instances={"x": {"kind": "walk"}}),
        f"^Parameter {OF_CUBE3}.instances.x.kind: there is no kind 'walk'; did you mean 'walks'",
    ),
    "no kind": ("cube3", cube3(instances={"x": {}}), f"^Parameter {OF_CUBE3}.instances.x.kind is missing"),
    "the key of another kind": (
        "cube3",
        walks(walk_max=5),
        "scrambled.walk_max: there is no key 'walk_max'; there are",
    ),
    "mirrored tiles": (
        "puzzle15",
        puzzle15(instances={"m": {"kind": "mirrored", "of": "test"}}),
        "m: puzzle15 has no mirror image",
    ),
    "mirrored twice": (
        "cube3",
        cube3(instances={"again": {"kind": "mirrored", "of": "mirrored"}}),
        "set 'again' mirrors 'mirrored', which is mirrored itself",
    ),
    "a deep table": ("cube3", cube3(exact={"around": 100}), f"^Parameter {OF_CUBE3}.exact.around: {AT_MOST}"),
    "a cube as a whole": (
        "cube3",
        cube3(only=["exact", "instances"], exact="all") | {"models": {"only": []}},
        "the kind walks|cannot be listed",
    ),
    "seconds": ("cube3", budget(seconds=INFINITE), f"^Parameter {OF_CUBE3}.external.budgets.0.seconds: {NOT_FINITE}"),
    "λ": ("cube3", budget(path_weight=NO_NUMBER), f"external.budgets.0.path_weight: {NOT_FINITE}"),
    "λ among others": ("cube3", budget(path_weight=[0.5, INFINITE]), f"budgets.0.path_weight.1: {NOT_FINITE}"),
    "λ of beams": (
        "cube3",
        cube3(external={"budgets": [{"solver": "beam", "states": 1, "seconds": 1, "path_weight": 1}]}),
        "budgets.0.path_weight: there is no key 'path_weight'; there are solver, states, seconds",
    ),
    "no budgets": ("cube3", cube3(external={"budgets": []}), "budgets: it should have at least 1 item"),
    "budgets that shrink": (
        "cube3",
        cube3(external={"budgets": [{"solver": "beam", "states": 1, "seconds": n} for n in (2, 1)]}),
        "external: the seconds of the budgets must grow",
    ),
    "such budgets on a set": (
        "cube3",
        cube3(
            searches=[
                {
                    "solver": "anytime",
                    "set": "scrambled",
                    "budgets": [{"solver": "beam", "states": 1, "seconds": n} for n in (2, 2)],
                }
            ]
        ),
        "the seconds of the budgets must grow",
    ),
    "shortening on a set": (
        "cube3",
        cube3(
            searches=[
                {
                    "solver": "anytime",
                    "set": "scrambled",
                    "budgets": [
                        {
                            "solver": "bwas",
                            "states": 1,
                            "seconds": 1,
                            "path_weight": 1,
                            "batch_size": 1,
                            "shortening": 0.5,
                        }
                    ],
                }
            ]
        ),
        "solutions of cube3 are not shortened",
    ),
    "shortening of a cube": ("cube3", budget(shortening=0.5), "solutions of cube3 are not shortened"),
    "a file elsewhere": ("cube3", cube3(external={"file": "../../etc/passwd"}), f"external.file: .*{LETTERS}"),
    "a puzzle that is none": ("cube3", {"puzzles": {"cube4": {}}}, "^Parameter puzzles.cube4: Unknown puzzle 'cube4'"),
    "a model elsewhere": (
        "cube3",
        {"models": {"walks": {"puzzle": "puzzle15"}}},
        "^Parameter models.walks wants puzzle 'puzzle15'",
    ),
    "a set over two lines": ("cube3", cube3(searches=[BEAM | {"set": "a\nb"}]), "there is no instance set 'a b'"),
    "a model with a slash": ("cube3", {"models": {"a/b": WALKS_OF_CUBE3}}, f"^Parameter models.a/b: 'a/b' {LETTERS}"),
    "a model as another's seed": (
        "cube3",
        {"models": {"walks": {"seeds": 2}, "walks_seed2": WALKS_OF_CUBE3}},
        "^Parameter models.walks_seed2: walks with its seeds has a training of this name",
    ),
    "a recipe that is not there": (
        "cube3",
        {"models": {"walks": {"recipe": "random_wlk"}}},
        "^Parameter models.walks.recipe: there is no 'random_wlk'; did you mean 'random_walk'",
    ),
    "a start that is not there": (
        "cube3",
        {"models": {"walks": {"starts_from": "walk"}}},
        "^Parameter models.walks.starts_from must name a model trained before it, not 'walk'",
    ),
    "a start from itself": ("cube3", {"models": {"walks": {"starts_from": "walks"}}}, "before it, not 'walks'"),
    "a start from another architecture": (
        "cube3",
        {"models": {"more": WALKS_OF_CUBE3 | {"starts_from": "walks", "architecture": {"first_layers": [8]}}}},
        "^Parameter models.more and walks, which it starts from, must be alike in architecture",
    ),
    "a start from another puzzle": (
        "packaged",
        {"models": {"hanoi_7": {"starts_from": "cube2"}}},
        "^Parameter models.hanoi_7 and cube2, which it starts from, must be of one puzzle, or of kind tuples",
    ),
    "tuples of a cube": (
        "cube3-final-year",
        {"architectures": {"by_state": {"only": [], "kind": "tuples"}}, "models": {"only": ["epsilon_0085"]}},
        "^Parameter models.epsilon_0085: a network of kind tuples is for sliding tiles, not for cube3",
    ),
    "a model as headline": ("cube3", cube3(headline="walk"), f"^Parameter {OF_CUBE3}.headline must name a model"),
    "a bound of tiles": (
        "cube3-final-year",
        {"architectures": {"by_state": {"above": "manhattan"}}, "models": {"only": ["epsilon_0085"]}},
        "^Parameter models.epsilon_0085: there is no bound of cube3",
    ),
    "rows of a cube": (
        "cube3",
        {
            "architectures": {"rows": ROWS},
            "models": {
                "walks": {"trainer": "presses", "sampler": {"kind": "deepcubea"}, "architecture": "rows"},
            },
        },
        "^Parameter models.walks: a network of kind rows is for Lights Out, not for cube3",
    ),
    "the sampler of another trainer": (
        "cube3",
        {"models": {"walks": {"sampler": {"kind": "deepcubea"}}}},
        r"^Parameter models.walks.sampler.kind: it should be 'non_backtracking' \(given: 'deepcubea'\)",
    ),
    "distances that are not listed": (
        "cube3",
        {"models": {"walks": {"trainer": "imitation"}}},
        "^Parameter models.walks: the trainer imitation needs puzzles.cube3 with exact: all",
    ),
    "a sampler of ranks": (
        "puzzle15",
        {"models": {"tiles": {"sampler": {"kind": "uniform"}}}},
        "^Parameter models.tiles: the sampler uniform needs states that can be listed, unlike puzzle15's",
    ),
    "a width": ("cube3", cube3(searches=[BEAM | {"widths": [HUGE]}]), f"{OF_CUBE3}.searches.0.widths.0: {AT_MOST}"),
    "images": ("cube3", cube3(searches=[BEAM | {"images": 10**6}]), f"{OF_CUBE3}.searches.0.images: {AT_MOST}"),
    "λ above two": ("cube3", cube3(searches=[GRID | {"path_weight": [3]}]), f"searches.0.path_weight.0: {AT_MOST}"),
    "the protocol of listed puzzles": ("cube3", cube3(search={}), f"^Parameter {OF_CUBE3}.search.selection is missing"),
    "a database as a heuristic": (
        "puzzle15",
        puzzle15(pattern_databases={"manhattan": "7-8"}),
        f"'manhattan' {LETTERS}",
    ),
    "a partition of digits": (
        "puzzle15",
        puzzle15(pattern_databases={"x": 900 * "9"}),
        "pattern_databases.x: .* no partition",
    ),
    "sizes of no partition": (
        "puzzle15",
        puzzle15(pattern_databases={"x": "7-7"}),
        f"^Parameter {OF_15}.pattern_databases.x: The sizes 7-7 do not add up",
    ),
    "a database with a slash": ("puzzle15", puzzle15(pattern_databases={"7/8": "7-8"}), f"'7/8' {LETTERS}"),
    "no database for optima": (
        "puzzle15",
        puzzle15(optima={"only": []}),
        f"^Parameter {OF_15}.optima.pattern_database must name one of pattern_databases, not 'None'",
    ),
    "the key of another solver": (
        "puzzle15",
        puzzle15(optima={"max_nodes": 3}),
        "optima.max_nodes: there is no key 'max_nodes'",
    ),
    "tiles of a cube": (
        "cube3",
        cube3(pattern_databases={"x": "7-8"}),
        f"^Parameter {OF_CUBE3}.pattern_databases.x: '7-8' is no pattern of cube3: write corners, or edges",
    ),
    "a table and patterns": (
        "cube3",
        cube3(pattern_databases={"x": "1 2"}, optima={"table": "small", "pattern_database": "x"}),
        "optima: IDA. goes by a pattern_database or by a table; leave one out",
    ),
    "a table of cosets for tiles": (
        "puzzle15",
        puzzle15(optima={"table": "small"}),
        f"^Parameter {OF_15}.optima.table is for cube3, not for puzzle15; leave it out",
    ),
    "a guide that is no model": (
        "cube3",
        cube3(optima={"table": "small", "guide": "wolks"}),
        "optima.guide must name a model, and there must be a table: not 'wolks'; did you mean 'walks'",
    ),
    "a guide without a table": ("cube3", cube3(optima={"guide": "walks"}), "optima.guide .* there must be a table"),
    "optima of a cube by tiles": (
        "cube3",
        cube3(optima={"pattern_database": "7-8"}),
        "optima.pattern_database must name one of pattern_databases, not '[^']*'; there are none",
    ),
    "optima of a set that is not there": (
        "cube3",
        cube3(optima={"sets": ["scrambld"]}),
        "there is no instance set 'scrambld'; did you mean 'scrambled'",
    ),
    "a baseline that is not there": ("puzzle15", puzzle15(baselines=["8-7"]), "there is no baseline '8-7'; there are"),
    "a baseline twice": ("puzzle15", puzzle15(baselines=["7-8", "7-8"]), "baselines are named once each"),
    "baselines without cells": (
        "puzzle15",
        puzzle15(searches=[BEAM]),
        "baselines are searched on the cells of searches, of which there are none",
    ),
    "a database that is not there": (
        "puzzle15",
        puzzle15(pattern_databases={"only": ["5-5-5"]}),
        f"^Parameter {OF_15}.optima.pattern_database must name one of pattern_databases, not '7-8'; there are 5-5-5.",
    ),
    "a model without instances": (
        "cube3",
        cube3(only=["exact", "audit"]),
        "puzzles.cube3 has a model, walks, and no instances to audit it on",
    ),
    "a file above": (
        "../cube3",
        {},
        "^Parameter like: in .*mine.yaml: there is no study '../cube3'; did you mean 'cube3'",
    ),
    "a file of the system": ("/etc/passwd", {}, "^Parameter like: .* there is no study '/etc/passwd'"),
    "a file that is not there": ("cube33", {}, "^Parameter like: .* there is no study 'cube33'; did you mean 'cube3'"),
    "itself": ("mine", {}, "^Parameter like: .* there is no study 'mine'"),
    "a number": (7, {}, "^Parameter like: .* there is no study 7"),
    "a list": ([7], {}, r"^Parameter like: .* there is no study \[7\]"),
    "boards": ("local_vi", local_vi(boards=10**30), f"^Parameter {OF_LOCAL}.boards: the number is too large"),
    "many boards": ("local_vi", local_vi(boards=HUGE), f"^Parameter {OF_LOCAL}.boards: {AT_MOST}"),
    "sizes that shrink": ("local_vi", local_vi(sizes=[1, 3, 2]), f"^Parameter {OF_LOCAL}: sizes must grow from 1"),
    "λ of solvers compared": (
        "local_vi",
        local_vi(compared={"path_weight": INFINITE}),
        f"^Parameter {OF_LOCAL}.compared.path_weight: {NOT_FINITE}",
    ),
    "a key that is a number": ("local_vi", local_vi(**{"larger": [{7: 1}]}), "the key 7 is no text; put it in quotes"),
    "an unknown key": (
        "local_vi",
        local_vi(bords=1),
        f"{OF_LOCAL}.bords: there is no key 'bords'; did you mean 'boards'",
    ),
}


@pytest.mark.parametrize("case", LIKE)
def test_a_study_in_a_file_of_its_own_that_makes_no_sense_is_refused(case, tmp_path):
    other, change, pattern = LIKE[case]
    with refused(pattern):
        like(tmp_path, other, change)


ODD = [7, -1.5, "x", "", True, INFINITE, [], {}, [[]], [7], {"x": {}}, {"kind": []}, {"kind": "uniform"}, {"like": []}]


def places(values, place: tuple = ()):
    """The places of all values in tables and lists."""
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from places(value, (*place, key))


@pytest.mark.parametrize("name", ["cube3", "lights_out_7", "local_vi"])
def test_an_odd_value_in_whatever_place_is_taken_or_refused_in_one_sentence(name):
    values, told = whole(CONFIG / f"{name}.yaml"), 0
    for number, place in enumerate(places(values)):
        changed = deepcopy(values)
        table = reduce(getitem, place[:-1], changed)
        table[place[-1]] = ODD[number % len(ODD)]
        try:
            parse(changed)
        except UserError as error:
            told += 1
            assert is_one_sentence(str(error)) and len(str(error)) < LONGEST_SENTENCE, (place, str(error))
    assert told > number / 2


def whole(path: Path) -> dict:
    """What a file says, laid over those that it is like."""
    values = read_yaml(path)
    other = values.pop("like", None)
    return values if other is None else laid(whole(CONFIG / f"{other}.yaml"), values)


def test_studies_that_are_like_one_another_without_end_are_refused(tmp_path):
    (tmp_path / "config").mkdir()
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / "config" / f"{name}.yaml").write_text(f"like: {other}\nstudy: {name}\n")
    with refused("^Parameter like: in .*two.yaml: there is no study 'one'"):
        load([tmp_path / "config" / "one.yaml"])


def test_a_study_goes_by_the_name_of_its_file(tmp_path):
    with refused("^Parameter study: 'cube3' must be 'mine', the name of its file"):
        refuse_other_name(like(tmp_path, "cube3", {"study": "cube3"}).study, tmp_path / "config" / "mine.yaml")


@pytest.mark.parametrize("text", [5000 * "9", "7-" + 5000 * "8", "1 2 | " + 5000 * "3"], ids=["one", "sizes", "tiles"])
def test_a_partition_of_thousands_of_digits_is_refused(text):
    with refused("is no partition"):
        parse_partition(4, text)


@given(st.text(max_size=200))
def test_an_excerpt_is_one_printable_line_of_60_letters_at_the_most(text):
    assert len(excerpt(text)) <= 60 and excerpt(text).isprintable()


@given(st.text(st.characters(exclude_categories=("C", "Z")), max_size=60))
def test_a_short_text_is_shown_whole(text):
    assert excerpt(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("R\n", r"R\n"), ("\x1b[m", r"\x1b[m"), ("\udcff", r"\udcff"), ("abcdefg", "abcdefg"), ("abcdefgh", "abcdef…")],
)
def test_what_cannot_be_printed_is_shown_as_escapes_and_what_is_long_is_cut_off(text, shown):
    assert excerpt(text, most=7) == shown
