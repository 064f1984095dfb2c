"""The two-phase solver: a program of its own that reads cubes as it should, whose failures are told in a sentence."""

import shutil
import stat
import sys
from pathlib import Path

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo.puzzles import make
from costtogo.puzzles.base import apply, random_walks, solves
from costtogo.search import two_phase
from costtogo.types import UserError

CUBE = make("cube3")
INSTALLED = Path(sys.executable).with_name(two_phase.PROGRAM).exists() or shutil.which(two_phase.PROGRAM)


def program(monkeypatch, folder: Path, text: str) -> None:
    """A program of the solver's name that is found before any other."""
    path = folder / two_phase.PROGRAM
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(two_phase.sys, "executable", str(folder / "python"))


def test_cubes_are_read_face_by_face_in_the_order_of_the_program():
    assert two_phase.facelets(CUBE.goal) == "".join(face * 9 for face in "URFDLB")
    turned = apply(CUBE, CUBE.goal, CUBE.parse_moves("R"))
    rows = [two_phase.facelets(turned)[9 * face : 9 * face + 9] for face in range(6)]
    assert rows == ["UUFUUFUUF", "R" * 9, "FFDFFDFFD", "DDBDDBDDB", "L" * 9, "UBBUBBUBB"]


def test_half_turns_count_as_two_and_a_solved_cube_takes_no_moves(monkeypatch, tmp_path):
    program(monkeypatch, tmp_path, 'print("R2 U\' ")')
    starts = np.array([apply(CUBE, CUBE.goal, CUBE.parse_moves("U R2")), CUBE.goal])
    found = two_phase.solve(CUBE, starts)
    assert found.cost.tolist() == [3, 0] and solves(CUBE, starts, found.solutions).all()
    assert found.lower_bound.tolist() == [1, 0]


def test_a_search_that_takes_too_long_is_stopped(monkeypatch, tmp_path):
    program(monkeypatch, tmp_path, "import time\ntime.sleep(60)")
    found = two_phase.solve(CUBE, random_walks(CUBE, 1, 3, np.random.default_rng(0))[:, -1], seconds=0.2)
    assert not found.solved.any() and found.ended.tolist() == ["seconds"]


@pytest.mark.parametrize("text", ["import sys\nsys.exit('ValueError: no such cube')", "print('Q9')"])
def test_what_the_program_cannot_do_is_one_sentence(monkeypatch, tmp_path, text):
    program(monkeypatch, tmp_path, text)
    with pytest.raises(UserError) as error:
        two_phase.solve(CUBE, random_walks(CUBE, 1, 3, np.random.default_rng(0))[:, -1])
    assert is_one_sentence(str(error.value))


def test_a_program_that_is_not_there_is_one_sentence_that_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(two_phase.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(UserError, match="pip install kociemba") as error:
        two_phase.solve(CUBE, CUBE.goal[None])
    assert is_one_sentence(str(error.value))


@pytest.mark.skipif(not INSTALLED, reason="the program kociemba is not installed")
def test_the_real_program_solves_scrambled_cubes():
    starts = random_walks(CUBE, 5, 100, np.random.default_rng(0))[:, -1]
    found = two_phase.solve(CUBE, starts)
    assert solves(CUBE, starts, found.solutions).all() and (found.cost < 45).all()
