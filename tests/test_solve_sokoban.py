"""Levels of Sokoban solved by hand and from files, by the command."""

import pandas as pd
import pytest
from messages import is_one_sentence

from costtogo import cli
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
