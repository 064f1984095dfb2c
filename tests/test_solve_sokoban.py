"""Levels of Sokoban solved by hand and from files, by the command."""

import json

import pandas as pd
import pytest
from messages import is_one_sentence

from costtogo import cli, solving
from costtogo.learning.level_generator import generate
from costtogo.puzzles import make
from costtogo.types import UserError

LEVEL = "#######\n#@ $ .#\n#     #\n#######\n"
PUZZLE = make("sokoban")


def solve(*words: str) -> None:
    cli.app(["solve", *words], standalone_mode=False)


def test_a_level_from_a_file_is_solved_and_its_pushes_are_counted(tmp_path, capsys):
    file = tmp_path / "level.txt"
    file.write_text(LEVEL, encoding="utf-8")
    solve("--puzzle", "sokoban", "--level", str(file), "--solver", "exact")
    told = capsys.readouterr().out
    assert (
        "solution        R R R" in told and "length          3 moves" in told and "pushes          2 of these" in told
    )
    assert "optimum         3 moves (proved)" in told and "##@ $ .###" in told


def test_a_level_too_large_to_list_is_solved_by_a_star_or_ends_with_a_bound(tmp_path, capsys):
    row = "# $ .  #" + " $  . #" * 3
    rows = [f"#@{' ' * (len(row) - 3)}#", *[row] * 3]
    (tmp_path / "large.txt").write_text("\n".join(["#" * len(row), *rows, "#" * len(row)]), encoding="utf-8")
    with pytest.raises(UserError, match="every solution has [0-9]+ moves or more") as told:
        solve(
            "--puzzle", "sokoban_8_32", "--level", str(tmp_path / "large.txt"), "--solver", "exact", "--seconds", "0.2"
        )
    assert is_one_sentence(str(told.value))


def test_many_levels_of_a_file_become_rows_with_length_solved_and_seconds(tmp_path, capsys):
    levels = generate(PUZZLE, 3, 2, 1)
    text = "\n".join(f"; level {number}\n{PUZZLE.draw(level)}\n" for number, level in enumerate(levels))
    (tmp_path / "levels.txt").write_text(text, encoding="utf-8")
    out = tmp_path / "out.csv"
    solve("--puzzle", "sokoban", "--instances", str(tmp_path / "levels.txt"), "--out", str(out), "--solver", "exact")
    assert "3 of 3 solved" in capsys.readouterr().out
    found = pd.read_csv(out)
    assert found["level"].tolist() == ["level 0", "level 1", "level 2"]
    assert {"length", "solved", "seconds"} <= set(found) and found["solved"].all()
    assert found["length"].tolist() == [len(PUZZLE.parse_moves(text)) for text in found["solution"]]


MISTAKES = {
    "no such file": (["--level", "{folder}/none.txt"], "Cannot read"),
    "two levels": (["--level", "{folder}/two.txt"], "has 2 levels"),
    "no level": (["--level", "{folder}/open.txt"], "line 1: The border of the level is open"),
    "a scramble": (["--scramble", "U U"], "no one goal"),
    "a level and a state": (["--level", "{folder}/two.txt", "--state", "##"], "Give one of"),
    "a level of a cube": (["--puzzle", "cube2", "--level", "{folder}/two.txt"], "There are no levels of cube2"),
    "no solution": (["--state", "#####|#@ .#|#$  #|#####"], "There is no solution"),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_is_told_in_one_sentence(tmp_path, kind):
    (tmp_path / "two.txt").write_text(f"{LEVEL}\n{LEVEL}", encoding="utf-8")
    (tmp_path / "open.txt").write_text("#####\n#@$.\n#####\n", encoding="utf-8")
    words, told = MISTAKES[kind]
    words = [word.format(folder=tmp_path) for word in words]
    with pytest.raises(UserError) as error:
        solve(*([] if "--puzzle" in words else ["--puzzle", "sokoban"]), *words, "--solver", "exact")
    assert told in str(error.value) and is_one_sentence(str(error.value)), str(error.value)


def large_level(rooms: int) -> str:
    """A level of rooms side by side, each with a box to be pushed to the right."""
    rows = ["#" * (8 * rooms + 1), "#@" + " " * (8 * rooms - 2) + "#"]
    return "\n".join([*rows, *["# $  . #" * rooms + "#"], "#" * (8 * rooms + 1)])


WITHOUT_NETWORK = {
    "auto": (),
    "bwas": ("--heuristic", "matching", "--solver", "bwas"),
    "rising": ("--heuristic", "matching", "--solver", "rising", "--seconds", "3"),
}


@pytest.mark.parametrize("words", WITHOUT_NETWORK.values(), ids=WITHOUT_NETWORK)
def test_a_level_larger_than_the_board_of_the_network_is_solved_without_one(words, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("costtogo.heuristics.network.load", None)
    (tmp_path / "large.txt").write_text(large_level(5), encoding="utf-8")
    solve("--puzzle", "sokoban", "--level", str(tmp_path / "large.txt"), "--json", *words)
    told = json.loads(capsys.readouterr().out)
    assert told["puzzle"] == "sokoban_4_41" and told["network"] is None and told["pushes"] >= 15
    solve("--puzzle", "sokoban", "--state", large_level(2).replace("\n", "|"), "--json")
    assert json.loads(capsys.readouterr().out)["proved"]


def test_levels_of_several_sizes_are_rows_of_one_table(tmp_path, capsys):
    (tmp_path / "all.txt").write_text(f"{LEVEL}\n; wide\n{large_level(2)}", encoding="utf-8")
    solve("--puzzle", "sokoban", "--instances", str(tmp_path / "all.txt"), "--out", str(tmp_path / "out.csv"))
    found = pd.read_csv(tmp_path / "out.csv")
    assert found["solved"].all() and found["solver"].tolist() == ["exact", "exact"]


def test_a_large_level_ends_within_its_seconds_and_its_memory(tmp_path):
    state, board = large_level(7), make("sokoban_4_57")
    start = board.parse_state(state)
    for limit, ended in ({"seconds": 0.5}, "seconds"), ({"max_nodes": 2000, "seconds": 20.0}, "memory"):
        found = solving.solve_without_network(board, start, solver="bwas", heuristic="zero", **limit)
        assert not found.solved and found.ended == ended and found.seconds < 2 and found.lower_bound > 0
