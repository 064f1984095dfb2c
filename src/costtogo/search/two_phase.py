"""Kociemba's two-phase solver of the 3×3×3 cube, called as a program of its own.

It is the package `kociemba` of the Python index, under the GPL: it is called as a process for each cube, and neither
imported nor part of this project. It ends with the first solution of at most 24 face turns, which takes it milliseconds
after it has read its tables; seconds of a search here are those of the whole process.

It counts a half turn as one move; its solutions are counted here in quarter turns, as all others are.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from costtogo.puzzles.base import Puzzle
from costtogo.puzzles.cube import FACES
from costtogo.types import SearchResult, States, UserError

PROGRAM = "kociemba"
READ_AS = "URFDLB"  # the order of the faces in what the program reads, each row by row as in ours


def solve(puzzle: Puzzle, starts: States, *, seconds: float = 10.0) -> SearchResult:
    """The solutions of starts, uint8 [B, D], one after another.

    seconds: after which the program is stopped and a cube counts as unsolved. The program does not count nodes: 0.
    Raises UserError where the program is not installed or does not do what it should.
    """
    program = find()
    return SearchResult.from_rows(_solve_one(puzzle, program, start, seconds) for start in starts)


def find() -> str:
    """The program, from Python's own folder or the path; UserError where there is none."""
    beside = Path(sys.executable).with_name(PROGRAM)
    if found := shutil.which(str(beside)) or shutil.which(PROGRAM):
        return found
    raise UserError(
        f"The two-phase solver is not installed: pip install {PROGRAM}, whose licence is the GPL, puts the program "
        f"{PROGRAM} where it is found."
    )


def facelets(state: States) -> str:
    """A cube, uint8 [54], as the program reads it."""
    faces = np.array(list(FACES))[state].reshape(len(FACES), -1)
    return "".join("".join(faces[FACES.index(face)]) for face in READ_AS)


def _solve_one(puzzle: Puzzle, program: str, start: States, seconds: float) -> tuple:
    """One row of a SearchResult. A solved cube needs no moves; the program would print some that undo each other."""
    if puzzle.is_goal(start[None])[0]:
        return 0, 0, 0, 0, []
    try:
        ran = subprocess.run([program, facelets(start)], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return np.inf, 0, 0, 1, [], False, True
    except OSError as error:
        raise UserError(f"The two-phase solver {program} cannot be started: {error.strerror}.") from error
    # The program writes why it refuses a cube as its last line.
    if ran.returncode:
        told = (ran.stderr or ran.stdout).strip().splitlines() or [f"exit code {ran.returncode}"]
        raise UserError(f"The two-phase solver {program} refuses a cube: {told[-1]}.")
    moves = puzzle.parse_moves(ran.stdout)
    return len(moves), 0, 0, 1, moves
