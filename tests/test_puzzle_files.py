"""Puzzles that JSON files describe: what a file may say, what is refused, ranks, studies, checkpoints, the command."""

import json
import math
import runpy
from concurrent.futures import ThreadPoolExecutor
from math import comb
from pathlib import Path

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo import cli
from costtogo.exact import hashing, nearby, orbit
from costtogo.exact.group_order import states_reached
from costtogo.exact.orbit import find_orbit
from costtogo.figures.states import two_states
from costtogo.files import write_arrays
from costtogo.heuristics import network as networks
from costtogo.params.loading import load
from costtogo.params.training import architecture_of
from costtogo.puzzles import files, make, named, names_of_files, noun, rules, title
from costtogo.puzzles.base import apply, is_listed, solves
from costtogo.puzzles.puzzle_files import read
from costtogo.solving import exact as solving_exact
from costtogo.types import NO_STATE, UserError
from costtogo.workflow.graph import Graph
from costtogo.workflow.stages import stages_of

ROOT = Path(__file__).parents[1]
RING = {"name": "ring", "goal": "abc", "written_as": "cycles", "moves": {"F": [[0, 1, 2]], "B": [[0, 2, 1]]}}
WITHOUT = object()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder for the files of puzzles."""
    monkeypatch.setenv("COSTTOGO_PUZZLES", str(tmp_path))
    return tmp_path


def write(folder: Path, **said) -> str:
    """Write the file of a puzzle, RING but for what is said; its name."""
    whole = {key: value for key, value in (RING | said).items() if value is not WITHOUT}
    (folder / f"{whole.get('name', 'ring')}.json").write_text(json.dumps(whole), encoding="utf-8")
    return whole.get("name", "ring")


def lrx(goal: str | list[str]) -> dict:
    """A row that is turned left or right, or whose first two are exchanged: each cell's letter comes from a cell."""
    size = len(goal)
    left, right = [*range(1, size), 0], [size - 1, *range(size - 1)]
    return {"goal": goal, "written_as": "from", "moves": {"L": left, "R": right, "X": [1, 0, *range(2, size)]}}


def test_the_files_of_the_project_are_what_their_script_makes():
    made = runpy.run_path(str(ROOT / "data" / "puzzles" / "generate.py"))["texts"]()
    there = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "data" / "puzzles").glob("*.json")}
    assert made == there


def test_a_cycle_brings_the_letter_of_each_cell_to_the_next(folder):
    puzzle = make(write(folder))
    assert puzzle.format_state(apply(puzzle, puzzle.goal, puzzle.parse_moves("F"))) == "cab"
    assert puzzle.state_count == 3 and puzzle.actions == ("F", "B") and puzzle.inverse(0) == 1


@pytest.mark.parametrize(
    ("kind", "moves"),
    [("to", {"F": [1, 2, 0], "B": [2, 0, 1]}), ("from", {"F": [2, 0, 1], "B": [1, 2, 0]})],
)
def test_images_and_cycles_describe_the_same_moves(kind, moves, folder):
    by_cycles = make(write(folder, name="by_cycles"))
    np.testing.assert_array_equal(make(write(folder, written_as=kind, moves=moves)).turns, by_cycles.turns)


def test_a_puzzle_has_the_words_of_its_file(folder):
    name = write(folder, title="The ring", noun="ring", source="made up")
    assert (title(name), noun(name)) == ("The ring", "ring")
    other = write(folder, name="other")
    assert (title(other), noun(other)) == ("other", "puzzle")
    assert names_of_files() == ["other", "ring"] and files("ring") == [folder / "ring.json"] and files("cube2") == []


def test_letters_of_several_signs_are_parted_by_spaces(folder):
    puzzle = make(write(folder, goal=["10", "9", "8"]))
    assert puzzle.format_state(puzzle.goal) == "10 9 8"
    np.testing.assert_array_equal(puzzle.parse_state(" 8 10  9"), [2, 0, 1])


@pytest.mark.parametrize("zeros", [1, 3, 5])
def test_where_letters_are_alike_states_are_colourings_and_a_move_that_changes_nothing_is_not_legal(zeros, folder):
    puzzle = make(write(folder, **lrx("0" * zeros + "1" * (8 - zeros))))
    assert is_listed(puzzle) and puzzle.state_count == comb(8, zeros)
    states = puzzle.unrank(np.arange(puzzle.state_count))
    children, legal = puzzle.expand(states)
    np.testing.assert_array_equal(legal[:, 2], states[:, 0] != states[:, 1])
    np.testing.assert_array_equal((children != states[:, None]).any(axis=2), legal)
    np.testing.assert_array_equal(puzzle.neighbours() == NO_STATE, ~legal)
    reached = puzzle.rank(children.reshape(-1, 8)).reshape(legal.shape)
    np.testing.assert_array_equal(puzzle.neighbours()[legal], reached[legal])


@pytest.mark.parametrize("room", [8, 100, 1 << 12])
def test_ranks_are_the_same_whatever_room_there_is_at_first(room, folder, monkeypatch):
    puzzle = make(write(folder, **lrx("0123456")))
    monkeypatch.setattr(orbit, "AT_FIRST", room)
    found = find_orbit(puzzle, 5040)
    np.testing.assert_array_equal(found.states, puzzle.orbit.states)
    np.testing.assert_array_equal(found.neighbours, puzzle.orbit.neighbours)
    assert find_orbit(puzzle, 5039) is None


def test_states_that_share_a_hash_are_told_apart(folder, monkeypatch):
    name = write(folder, **lrx("01234"))
    monkeypatch.setattr(orbit, "hash_numbers", lambda *size: np.ones(size, dtype=np.uint64) * hashing.ONE)
    puzzle = make(name)
    assert puzzle.state_count == 120 and len(np.unique(puzzle.orbit.states, axis=0)) == 120
    np.testing.assert_array_equal(puzzle.rank(puzzle.unrank(np.arange(120))), np.arange(120))


def test_the_number_of_states_is_counted_where_the_file_does_not_say(folder, monkeypatch):
    assert make(write(folder, **lrx("01234"))).state_count == 120
    monkeypatch.setattr(orbit, "MOST_STATES", 100)
    with pytest.raises(
        UserError, match="More than 100 states of many can be reached, too many to list: say in"
    ) as told:
        make(write(folder, name="many", **lrx("01234")))
    assert is_one_sentence(str(told.value))
    large = make(write(folder, name="large", states=120, **lrx("01234")))
    assert not is_listed(large) and large.state_count == 120


@pytest.mark.parametrize(("said", "found"), [(119, "more than 119"), (121, "120")])
def test_a_wrong_number_of_states_is_told_as_soon_as_states_are_listed(said, found, folder):
    puzzle = make(write(folder, states=said, **lrx("01234")))
    with pytest.raises(UserError, match=f"says that {said} states can be reached, but {found} can") as told:
        puzzle.rank(puzzle.goal[None])
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ab", "has 3 cells, but 2 letters were given"),
        ("abx", "Unknown letter 'x': ring has the letters a b c"),
        ("aab", "2 cells have a, there must be 1"),
        ("acb", "no moves of ring make 'acb'"),
    ],
)
def test_an_impossible_state_is_told_in_one_sentence(text, reason, folder):
    puzzle = make(write(folder))
    with pytest.raises(UserError) as told:
        puzzle.parse_state(text)
    assert reason in str(told.value) and is_one_sentence(str(told.value))


def test_an_unknown_move_is_told_with_those_there_are(folder):
    with pytest.raises(UserError, match="^Unknown move 'F2': ring has the moves F, B.$"):
        make(write(folder)).parse_moves("F F2")


REFUSED = {
    "no name": ({"name": WITHOUT}, "the key 'name' is missing"),
    "no goal": ({"goal": WITHOUT}, "the key 'goal' is missing"),
    "unknown key": ({"colour": "red"}, "there is no key 'colour'"),
    "a name beside that of the file": ({"title": ["ring"]}, "title must be up to 60 letters"),
    "a title of Markdown": ({"title": "a|b"}, "title must be up to 60 letters of plain text, not 'a|b'"),
    "a goal of a number": ({"goal": 5}, "the goal must be a text"),
    "a goal too short": ({"goal": "ab"}, "the move 'F' is no list of cycles: each is a list of cells, from 0 to 1"),
    "a goal too long": (
        {"goal": "abcd", "written_as": "to", "moves": {"F": [1, 2, 0]}},
        "each of the cells 0 to 3 once",
    ),
    "a goal of one letter": ({"goal": "aaa"}, "at least 2 different letters"),
    "a letter with a space": ({"goal": ["a", "b c", "d"]}, "without spaces"),
    "a huge goal": ({"goal": "ab" * 600}, "2 to 1000 cells, not 1,200"),
    "no kind": ({"written_as": "images"}, "one of cycles, to, from, not 'images'"),
    "moves in a list": ({"moves": [[0, 1, 2]]}, "moves must be a table"),
    "no moves": ({"moves": {}}, "moves must be a table of 1 to 120 names"),
    "too many moves": ({"moves": {str(n): [] for n in range(121)}}, "moves must be a table of 1 to 120 names"),
    "a name with a space": ({"moves": {"F F": [[0, 1]]}}, "the move 'F F' needs a name"),
    "a long name": ({"moves": {"F" * 21: [[0, 1]]}}, "needs a name of up to 20 letters"),
    "a cell that is none": ({"moves": {"F": [[0, 3]]}}, "each is a list of cells, from 0 to 2"),
    "a cell that is true": ({"moves": {"F": [[False, True]]}}, "each is a list of cells, from 0 to 2"),
    "cells that are no list": ({"moves": {"F": [0, 1]}}, "is no list of cycles"),
    "a cell twice": ({"moves": {"F": [[0, 1], [1, 2]]}}, "a cell stands in its cycles twice"),
    "images that are too few": (
        {"written_as": "to", "moves": {"F": [1, 0]}},
        "must list each of the cells 0 to 2 once",
    ),
    "images twice": ({"written_as": "from", "moves": {"F": [1, 1, 0]}}, "must list each of the cells 0 to 2 once"),
    "a move of nothing": ({"moves": {"F": []}}, "the move 'F' moves nothing"),
    "moves that are alike": ({"moves": {"F": [[0, 1]], "G": [[1, 0]]}}, "'F' and 'G' are the same"),
    "no inverse": ({"moves": {"F": [[0, 1, 2]]}}, "no move undoes 'F'; add its inverse"),
    "states of a text": ({"states": "3"}, "states must be how many"),
    "states of a truth": ({"states": True}, "states must be how many"),
    "states without end": ({"states": 10**300}, "states must be how many"),
    "shapes of two cells": ({"shapes": [[[0, 0], [1, 0], [0, 1]]] * 2}, "a list of 3 shapes"),
    "shapes of two corners": ({"shapes": [[[0, 0], [1, 0]]] * 3}, "3 to 40 corners"),
    "shapes beyond all": ({"shapes": [[[0, 0], [1e9, 0], [0, 1]]] * 3}, "numbers up to 1,000"),
    "a colour of no letter": ({"colours": {"x": "#000000"}}, "there is no letter 'x'"),
    "a colour by name": ({"colours": {"a": "red"}}, "must be as #2457C5, not 'red'"),
    "a source of numbers": ({"source": 1}, "source must be a text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_puzzle_is_refused_in_one_sentence_that_names_the_file(case, folder):
    said, reason = REFUSED[case]
    with pytest.raises(UserError) as told:
        make(write(folder, **said))
    sentence = str(told.value)
    assert reason in sentence and "ring.json" in sentence and is_one_sentence(sentence)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not valid JSON"),
        (b'{"name": "ring",', "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        (b"[" * 100_000, "is not valid JSON"),
        (b"[]", "it must be a table"),
        (json.dumps(RING).encode().replace(b'"goal"', b'"name": "ring", "goal"'), "the key 'name' is there twice"),
        (json.dumps(RING | {"states": 3}).encode().replace(b": 3}", b": NaN}"), "NaN is no number"),
        (json.dumps(RING | {"name": "gnir"}).encode(), "its name must be that of the file, 'ring'"),
        (b" " * 1_000_001, "has 1,000,001 bytes"),
    ],
)
def test_a_file_that_is_none_of_a_puzzle_is_refused_in_one_sentence(content, reason, folder):
    (folder / "ring.json").write_bytes(content)
    with pytest.raises(UserError) as told:
        make("ring")
    assert reason in str(told.value) and is_one_sentence(str(told.value))


def test_a_file_does_not_take_the_name_of_another_puzzle(folder):
    write(folder, name="cube2")
    assert make("cube2").cells == 24
    with pytest.raises(UserError, match="cube2 is another puzzle; give yours another name") as told:
        Graph([ROOT / "params.yaml"], ROOT / "config", words=[])
    assert is_one_sentence(str(told.value))


def test_a_changed_file_is_another_puzzle(folder):
    before = make(write(folder))
    assert make("ring") is before
    after = make(write(folder, goal="abb"))
    assert after is not before and after.state_count == 3 and after.letters == 2


def test_the_unknown_puzzle_nearest_to_a_file_is_named(folder):
    with pytest.raises(UserError, match="did you mean ring") as told:
        make(write(folder) + "g")
    assert is_one_sentence(str(told.value))


def test_a_picture_has_the_shapes_and_the_colours_of_the_file(folder):
    triangle = [[0, 0], [1, 0], [0, 1]]
    name = write(folder, shapes=[[[x + place, y] for x, y in triangle] for place in range(3)], colours={"a": "#FF0000"})
    puzzle = make(name)
    (axes,) = two_states(puzzle, {"goal": puzzle.goal}).axes
    assert len(axes.patches) == 3 and axes.patches[0].get_facecolor() == (1, 0, 0, 1)
    assert [text.get_text() for text in axes.texts] == ["a", "b", "c"]
    assert puzzle.draw(puzzle.goal) == "a b c"


def test_a_drawing_is_no_wider_than_the_cells_are_many_wherever_they_lie(folder):
    corners = [[[0, 0], [0.03, 0], [0, 0.03]], [[999, 0], [1000, 0], [999, 1]], [[-1000, 9], [-999, 9], [-1000, 8]]]
    puzzle = make(write(folder, shapes=corners))
    assert puzzle.draw(puzzle.goal) == "c\n    b\n  a"
    same = make(write(folder, name="same", shapes=[[[0, 0], [1, 0], [0, 1]]] * 3))
    assert same.draw(same.goal) == "a b c", "cells in one place stand side by side"


# Studies


def stage_of(name: str, study: str):
    return next(
        stage for stage in Graph([ROOT / "params.yaml"], ROOT / "config", words=[study]).stages if stage.id == name
    )


def test_a_file_is_a_study_at_once_and_among_what_its_stages_read(folder):
    name = write(folder, **lrx("01234"))
    graph = Graph([ROOT / "params.yaml"], ROOT / "config", words=[name])
    own = [stage for stage in graph.stages if stage.study == name]
    assert name in [target.name for target in graph.targets]
    assert {"tables", "instances", "models", "audits", "searches", "report"} <= {stage.group for stage in own}
    assert all(str(folder / "ring.json") in stage.files for stage in own)
    others = [stage for stage in graph.stages if stage.study != name]
    assert others and not any(str(folder / "ring.json") in stage.files for stage in others)
    before = {stage.id: stage.recipe.key for stage in own}
    stages_of.__globals__["_digest"].cache_clear()
    write(folder, **lrx("01243"))
    after = Graph([ROOT / "params.yaml"], ROOT / "config", words=[name]).stages
    changed = {stage.id: stage.recipe.key for stage in after if stage.study == name}
    assert set(before) == set(changed) and not set(before.values()) & set(changed.values())


def test_a_file_too_large_to_list_has_a_study_around_the_goal(folder):
    name = write(folder, states=10**30, **lrx("0123456789abcdefghijklmnop"))
    stages = [
        stage for stage in Graph([ROOT / "params.yaml"], ROOT / "config", words=[name]).stages if stage.study == name
    ]
    assert {"audit_samples", "search.beams"} <= {stage.module for stage in stages}


INSTEAD = {
    "of what is not there": ("{skewb: ring}", "there is no puzzle 'skewb'"),
    "by itself": ("{pyraminx: pyraminx}", "'pyraminx' would be there twice"),
    "in a list": ("[pyraminx]", "must be a table of names"),
    "by a number": ("{pyraminx: 3}", "must be a table of names"),
}


@pytest.mark.parametrize("case", INSTEAD)
def test_another_puzzle_instead_of_none_is_refused_in_one_sentence(case, tmp_path):
    config = tmp_path / "config"
    config.mkdir()
    (config / "pyraminx.yaml").write_text((ROOT / "config/pyraminx.yaml").read_text(encoding="utf-8"))
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text(encoding="utf-8"))
    text, reason = INSTEAD[case]
    (config / "own.yaml").write_text(f"like: pyraminx\nstudy: own\ninstead: {text}\n")
    with pytest.raises(UserError) as told:
        load([config / "own.yaml"])
    assert reason in str(told.value) and "own.yaml" in str(told.value) and is_one_sentence(str(told.value))


def test_instead_is_for_a_study_like_another_alone(tmp_path):
    (tmp_path / "own.yaml").write_text("study: own\ninstead: {pyraminx: skewb}\n")
    with pytest.raises(UserError, match="instead"):
        load([tmp_path / "own.yaml"])


# Checkpoints


def test_a_checkpoint_knows_the_rules_it_was_trained_on(folder):
    puzzle = make(write(folder))
    network = networks.build(architecture_of(first_layers=[8], residual_blocks=0), puzzle, seed=0)
    path = folder / "last.safetensors"
    networks.save(path, network, {"puzzle": "ring", "precision": "float32", "iteration": 0})
    write(folder, title="Another title")
    assert networks.load(path).puzzle.name == "ring"
    write(folder, goal="acb")
    with pytest.raises(
        UserError, match="was trained on another ring: its file has other moves or another goal"
    ) as told:
        networks.load(path)
    assert is_one_sentence(str(told.value)) and rules("cube2") is None


# The command


def run(*words: str) -> None:
    cli.app([*words], standalone_mode=False)


def test_a_file_anywhere_is_solved_exactly_by_its_path(tmp_path, capsys):
    write(tmp_path, name="row", **lrx("01234"))
    run("solve", "--puzzle", str(tmp_path / "row.json"), "--scramble", "L L X", "--solver", "exact")
    told = capsys.readouterr().out
    puzzle, moves = make("row"), told.partition("solution")[2].splitlines()[0].strip()
    start = apply(puzzle, puzzle.goal, puzzle.parse_moves("L L X"))
    assert solves(puzzle, start[None], [puzzle.parse_moves(moves)]).all() and "length          3 moves" in told


def test_a_path_leads_to_its_file_whatever_folder_one_works_in_later_and_hides_no_other(folder, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(elsewhere, name="moved", goal="abcd")
    monkeypatch.chdir(elsewhere)
    assert named("moved.json") == "moved"
    monkeypatch.chdir(tmp_path)
    assert files("moved") == [elsewhere / "moved.json"]
    (elsewhere / "moved.json").unlink()
    write(folder, name="moved")
    assert files("moved") == [folder / "moved.json"]


def test_a_table_of_all_states_is_no_end_of_an_exact_search(tmp_path, monkeypatch, capsys):
    write(tmp_path, name="tabled", **lrx("0123456"))
    monkeypatch.chdir(tmp_path)
    write_arrays("results/tabled/tables/tabled.npz", distance=np.zeros(5040, dtype=np.uint8))
    run("solve", "--puzzle", "tabled.json", "--scramble", "L X L X L X", "--solver", "exact")
    assert "length          6 moves" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "reason"), [("none.json", "there is no such file"), ("cube2.json", "another puzzle")])
def test_a_path_that_leads_to_no_puzzle_is_told_in_one_sentence(name, reason, tmp_path):
    write(tmp_path, name="cube2")
    with pytest.raises(UserError, match=reason) as told:
        run("solve", "--puzzle", str(tmp_path / name), "--scramble", "L", "--solver", "exact")
    assert is_one_sentence(str(told.value))


GAP = """# made for this test
M_M_L:=(1,2,3);
M_X:=(1,2)(3)(4,5);
Gen:=[
M_M_L,M_X
];
ip:=[[1],[4,5]];
"""


def test_a_gap_file_of_cayleypy_becomes_a_puzzle(folder, capsys):
    (folder / "Made Up.gap").write_text(GAP)
    run("import-puzzle", str(folder / "Made Up.gap"))
    assert "made_up: 5 cells, 3 moves, 6 states; written to" in capsys.readouterr().out
    puzzle = make("made_up")
    assert puzzle.actions == ("L", "X", "L'") and title("made_up") == "made_up"
    # as in CayleyPy, the cycle (1,2,3) brings the letter of cell 2 to cell 1
    assert puzzle.format_state(apply(puzzle, puzzle.goal, [0])) == "12033" and puzzle.state_count == 6
    with pytest.raises(UserError, match="there is a puzzle made_up already; name another with --out"):
        run("import-puzzle", str(folder / "Made Up.gap"))


def test_the_arguments_of_a_graph_of_cayleypy_become_a_puzzle(folder):
    graph = {"generators": [[1, 2, 3, 0], [1, 0, 2, 3]], "generator_names": ["L", "X"], "name": "lx-4"}
    (folder / "graph.json").write_text(json.dumps(graph | {"central_state": [0, 0, 1, 1]}))
    run("import-puzzle", str(folder / "graph.json"), "--out", str(folder / "lx.json"))
    puzzle = make("lx")
    assert puzzle.actions == ("L", "X", "L'") and puzzle.state_count == 6 and read(folder / "lx.json").states == 6
    assert puzzle.format_state(apply(puzzle, puzzle.goal, [0])) == "0110"


def test_an_inverse_that_is_added_takes_the_name_of_no_other_move(folder):
    graph = {"generators": [[1, 2, 3, 0], [1, 0, 2, 3]], "generator_names": ["L", "L'"]}
    (folder / "graph.json").write_text(json.dumps(graph))
    run("import-puzzle", str(folder / "graph.json"), "--out", str(folder / "lx.json"))
    assert make("lx").actions == ("L", "L'", "L''")


BAD_GRAPHS = {
    "list.json": ("[1]", "a graph has the keys"),
    "key.json": ('{"generators": [[1, 0]], "matrices": []}', "not matrices"),
    "none.json": ("{}", "generators must be lists"),
    "twice.json": ('{"generators": [[1, 1]]}', "is no permutation of 2 cells"),
    "names.json": ('{"generators": [[1, 0]], "generator_names": ["a", "b"]}', "must be 1 different names"),
    "short.json": ('{"generators": [[1, 0]], "central_state": [0, 1, 2]}', "is no permutation of 3 cells"),
    "alike.json": ('{"generators": [[1, 0], [1, 0]]}', "are the same"),
    "broken.json": ("{", "damaged"),
    "line.gap": ("M_A:=(1,2);\nRead(secret);", "line 2, is none of a puzzle's GAP file: 'Read(secret);'"),
    "zero.gap": ("M_A:=(0,1);", "a list of cells from 1"),
    "space.gap": ("M_A:=(1 2,3);", "a list of cells from 1, not (1 2,3)"),
    "same.gap": ("M_A:=(1,2);\nM_A:=(2,3);", "line 2: there are two generators A"),
    "twice.gap": ("M_A:=(1,2)(2,3);", "stands in the cycles of A twice"),
    "huge.gap": ("M_A:=(1,999999);", "999,999 cells"),
    "empty.gap": ("", "0 cells"),
    "puzzle_info.csv": ('puzzle_type,allowed_moves\na,"' + "x" * 200_000, "damaged"),
    "ip.gap": ("M_A:=(1,2);\nip:=[[3]];", "ip names cell 3"),
    "ip2.gap": ("M_A:=(1,2);\nip:=[3];", "ip must be a list of lists"),
}


@pytest.mark.parametrize("name", BAD_GRAPHS)
def test_what_is_no_graph_is_told_in_one_sentence_and_nothing_is_written(name, folder):
    text, reason = BAD_GRAPHS[name]
    (folder / name).write_text(text)
    with pytest.raises(UserError) as told:
        run("import-puzzle", str(folder / name), "--out", str(folder / "out.json"))
    assert reason in str(told.value) and is_one_sentence(str(told.value)) and not (folder / "out.json").exists()


def test_a_puzzle_of_more_letters_than_a_byte_has_is_solved_and_drawn(folder, capsys):
    """Each letter is written with two digits; moves are those of lists of letters."""
    size = 1000
    moves = {"L": [*range(1, size), 0], "R": [size - 1, *range(size - 1)], "X": [1, 0, *range(2, size)]}
    graph = {"generators": [*moves.values()], "generator_names": [*moves], "central_state": [*range(size)]}
    (folder / "graph.json").write_text(json.dumps(graph))
    run("import-puzzle", str(folder / "graph.json"), "--out", str(folder / "thousand.json"))
    assert "thousand: 1000 cells, 3 moves, an unknown number of states" in capsys.readouterr().out
    puzzle, letters = make("thousand"), [str(letter) for letter in range(size)]
    assert puzzle.state_count == math.factorial(size) and puzzle.letters == 32
    for name in "LLXRXRRLX":
        letters = [letters[cell] for cell in moves[name]]
    state = apply(puzzle, puzzle.goal, puzzle.parse_moves("L L X R X R R L X"))
    assert puzzle.format_state(state).split() == letters and (puzzle.parse_state(" ".join(letters)) == state).all()
    assert puzzle.draw(state).split() == letters
    with pytest.raises(UserError, match="2 cells have 1, there must be 1"):
        puzzle.parse_state(" ".join(["1", *letters[1:]]))
    run("solve", "--puzzle", "thousand", "--scramble", "L X R X L", "--solver", "exact", "--json")
    solution = puzzle.parse_moves(json.loads(capsys.readouterr().out)["solution"])
    scrambled = apply(puzzle, puzzle.goal, puzzle.parse_moves("L X R X L"))
    assert len(solution) == 5 and puzzle.is_goal(apply(puzzle, scrambled, solution)[None])[0]


def test_a_large_puzzle_has_a_small_table_and_batches_of_children_that_fit(folder, monkeypatch):
    large = make(write(folder, **{"name": "large", "states": "unknown", **lrx([str(n) for n in range(1000)])}))
    assert [len(each) for each in nearby.children_of(large, np.repeat(large.goal[None], 20_000, axis=0))][0] < 50_001
    monkeypatch.setattr(solving_exact, "NEARBY_WORK", 3 * large.cells * 100)
    assert solving_exact._small_table(large).layers.sum() < 100


KPUZZLE = {  # the corners of the 2×2×2 by two turns, as cubing.js writes them
    "name": "two-turns",
    "orbits": [{"orbitName": "CORNERS", "numPieces": 4, "numOrientations": 3}],
    "moves": {
        "A": {"CORNERS": {"permutation": [1, 2, 0, 3], "orientationDelta": [1, 2, 0, 0]}},
        "B": {"CORNERS": {"permutation": [0, 2, 3, 1], "orientationDelta": [0, 1, 1, 1]}},
    },
}


def test_a_kpuzzle_of_cubing_js_and_a_table_of_kaggle_become_puzzles(folder):
    (folder / "k.json").write_text(json.dumps(KPUZZLE))
    run("import-puzzle", str(folder / "k.json"), "--out", str(folder / "turns.json"))
    puzzle = make("turns")
    states = read(folder / "turns.json").states
    assert puzzle.cells == 12 and puzzle.actions == ("A", "B", "A'", "B'") and states == puzzle.state_count
    assert len(find_orbit(puzzle, 10_000).states) == states, "counted one by one, and by the order of the group"
    moves = {"f": [1, 2, 0, 3], "g": [0, 2, 3, 1]}
    (folder / "puzzle_info.csv").write_text(f'puzzle_type,allowed_moves\nturn_4,"{moves}"\n')
    run("import-puzzle", str(folder / "puzzle_info.csv"), "--out", str(folder / "four.json"))
    assert make("four").state_count == 12


def test_a_count_that_takes_too_long_or_is_hidden_stays_unknown(folder):
    turn, swap = [*range(1, 30), 0], [1, 0, *range(2, 30)]
    assert states_reached([turn, swap], range(30)) == math.factorial(30)
    assert states_reached([turn, swap], [0] * 10 + [*range(1, 21)]) == math.factorial(30) // math.factorial(10)
    assert states_reached([turn], range(30)) == 30 and states_reached([turn, swap] * 9, [0] * 29 + [1]) == 30
    pairs, exchange = [*range(2, 30), 0, 1], [2, 3, 0, 1, *range(4, 30)]
    assert states_reached([pairs, exchange, swap], range(30), seconds=1e-6) == "unknown"
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(states_reached, [pairs, exchange, swap], range(30), 1e-6).result() == "unknown"
        assert pool.submit(states_reached, [turn, swap], range(30)).result() == math.factorial(30)
    assert states_reached([pairs, exchange, swap], range(30)) == 2**15 * math.factorial(15)
    graph = {"generators": [pairs, exchange, swap], "central_state": [0] * 10 + [*range(1, 21)]}
    assert states_reached(graph["generators"], graph["central_state"]) == "unknown"
    (folder / "graph.json").write_text(json.dumps(graph))
    run("import-puzzle", str(folder / "graph.json"), "--out", str(folder / "hidden.json"))
    assert make("hidden").state_count == math.factorial(30) // math.factorial(10)
