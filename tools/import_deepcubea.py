"""Import a test set of DeepCubeA, a pickle in its repository, as a CSV of external instances.

In a clone: python -m tools.import_deepcubea data_0.pkl

The pickle is a dictionary of lists: states; if the authors solved them, also solutions, and the num_nodes_generated and
times of their optimal solver. A state is an object of one of their classes; a stand-in takes its attributes:

- Cube3State, colors (54 numbers): for each place the sticker that is there. Faces come in the order U D L R B F, the
  places of a face from its lower left corner upwards, then column by column (net: U above F, D below it, L F R B in a
  row). A move is (face, 1 clockwise or -1 back).
- NPuzzleState, tiles: row by row, 0 the blank. A move is the letter of the direction of the tile that slides into the
  blank.
- LOState, tiles: row by row, 1 for a light that is on. A move is the number of the pressed cell.
- SokobanState, agent (row and column), and walls, boxes and goals (True for each cell that has one). A move is a
number:
  up, down, left, right.

The classes follow their published code; the original files were not at hand when this was written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isqrt
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
import typer

from costtogo import cli
from costtogo.external import OPTIMUM
from costtogo.external_files import folder
from costtogo.files import write_csv
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, solves
from costtogo.puzzles.cube import FACES
from costtogo.puzzles.sokoban import BOX, PLAYER, TARGET, WALL
from costtogo.types import States, UserError
from tools.pickles import Array, read_pickle

FACE_ORDER = "UDLRBF"
SIDE = 3
STICKERS = 6 * SIDE * SIDE
TURNS = [1, -1]  # clockwise, and back, written with a prime
FARTHEST = 26  # quarter turns: no cube is farther from the goal
LONGEST = 1_000  # moves of a solution of another puzzle that are read
SIDES = range(3, 8)  # of boards that are read
SOLVED = (4, 5)  # sides of sliding tiles with shortest solutions in these files
LARGEST = 2**63  # for the whole numbers in a column of a CSV
MEASURES = {"num_nodes_generated": "optimal_solver_nodes", "times": "optimal_solver_seconds"}


class Original:
    """A stand-in for a class of the originals' states: the attributes that define the state, and none of its code."""

    attributes: ClassVar[tuple[str, ...]]
    values: tuple[np.ndarray | None, ...] = ()

    def __setstate__(self, state: Any) -> None:
        """Take the attributes of the original, with or without slots; None for one that is missing or no array."""
        parts = state if isinstance(state, tuple) else (state,)
        found = {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
        arrays = [found.get(name) for name in self.attributes]
        self.values = tuple(array.values if isinstance(array, Array) else None for array in arrays)

    @property
    def shapes(self) -> tuple[tuple[int, ...] | None, ...]:
        """The shape of each attribute's array."""
        return tuple(None if value is None else value.shape for value in self.values)


class CubeState(Original):
    """The stand-in for environments.cube3.Cube3State."""

    attributes = ("colors",)


class BoardState(Original):
    """The stand-in for environments.n_puzzle.NPuzzleState."""

    attributes = ("tiles",)


class LightsState(Original):
    """The stand-in for environments.lights_out.LOState."""

    attributes = ("tiles",)


class SokobanState(Original):
    """The stand-in for environments.sokoban.SokobanState."""

    attributes = ("agent", "walls", "boxes", "goals")


CLASSES: dict[str, type[Original]] = {
    "environments.cube3.Cube3State": CubeState,
    "environments.n_puzzle.NPuzzleState": BoardState,
    "environments.lights_out.LOState": LightsState,
    "environments.sokoban.SokobanState": SokobanState,
}


@dataclass(frozen=True)
class TestSet:
    """The kind of the states in a file.

    arrays: for each attribute of a state, its shape and an upper bound of its numbers.
    file: the name of the CSV.  column: its column with the states, or with scrambles that lead to them.
    optimum: the column for the lengths of solutions, if these are shortest, else empty.
    states: from an array int64 [N, …] of each attribute to ours.  action: from a move of theirs; ValueError if unknown.
    """

    puzzle: Puzzle
    arrays: list[tuple[tuple[int, ...], int]]
    file: str
    column: str
    optimum: str
    longest: int
    states: Callable[..., States]
    action: Callable[[Any], int]


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def run(
    pickled: Annotated[Path, typer.Argument(help="One of DeepCubeA's data/<puzzle>/test/data_0.pkl.")],
    out: Annotated[
        Path | None,
        typer.Option(help="CSV to write; in the folder of external instances, under the puzzle's name, if left out."),
    ] = None,
):
    """Make external instances of a test set of DeepCubeA, a pickle: it is read as data, and nothing in it is run.

    Cubes, sliding tiles, Lights Out and Sokoban, by the format of its published code; each solution is replayed.
    """
    content = read_pickle(pickled, CLASSES)
    states = _field(content, "states", pickled)
    kind = kind_of(states, pickled)
    starts = read_states(states, kind, pickled)
    frame = pd.DataFrame({kind.column: [kind.puzzle.format_state(start) for start in starts]})
    if "solutions" in content or kind.column == "scramble":
        solutions = replayed(_field(content, "solutions", pickled), starts, kind, pickled)
        if kind.column == "scramble":  # the originals have none: the inverse of its solution leads to a state
            frame["scramble"] = [_scramble(kind.puzzle, solution) for solution in solutions]
        if kind.optimum:
            measures = {
                column: _measure(content, name, pickled) for name, column in MEASURES.items() if name in content
            }
            frame = frame.assign(**{kind.optimum: list(map(len, solutions)), **measures})
    target = out or folder() / kind.file
    write_csv(target, frame)
    print(f"{len(frame)} states of {kind.puzzle.name}, every solution replayed, written to {target}")


def kind_of(states: list, path: Path) -> TestSet:
    """The kind of all states, from the first one; UserError if none of our puzzles has such states."""
    first = states[0] if states else None
    shape = (isinstance(first, Original) and first.shapes and first.shapes[-1]) or ()
    if isinstance(first, SokobanState) and len(shape) == 2:
        puzzle = make("sokoban_{}_{}".format(*shape))
        where = {"file": f"{puzzle.name}.csv", "column": "state", "optimum": "", "longest": LONGEST}
        theirs = {"states": partial(_levels, puzzle, path), "action": range(len(puzzle.actions)).index}
        return TestSet(puzzle, [((2,), max(shape)), *[(shape, 2)] * 3], **where, **theirs)
    if isinstance(first, CubeState):
        puzzle, places = make("cube3"), sticker_places()
        where = {"file": "cube3_qtm.csv", "column": "scramble", "optimum": OPTIMUM, "longest": FARTHEST}
        theirs = {"states": partial(_stickers, places=places), "action": partial(_turn, puzzle)}
        return TestSet(puzzle, [((STICKERS,), STICKERS)], **where, **theirs)
    side = isqrt(shape[0]) if len(shape) == 1 and not isinstance(first, SokobanState) else 0
    if side not in SIDES or side * side != shape[0]:
        raise UserError(f"{path} is not a test set of DeepCubeA: its states are no known cubes, boards or levels.")
    if isinstance(first, BoardState):
        puzzle = make(f"puzzle{side * side - 1}")
        where = {"file": f"{puzzle.name}.csv", "column": "tiles", "optimum": "optimal_moves" if side in SOLVED else ""}
        theirs = {"states": _as_they_are, "action": puzzle.actions.index}
        return TestSet(puzzle, [(shape, side * side)], **where, **theirs, longest=LONGEST)
    puzzle = make(f"lights_out_{side}")
    where = {"file": f"lightsout{side}.csv", "column": "lights", "optimum": "", "longest": LONGEST}
    theirs = {"states": _as_they_are, "action": range(side * side).index}
    return TestSet(puzzle, [(shape, puzzle.letters)], **where, **theirs)


def read_states(states: list, kind: TestSet, path: Path) -> States:
    """The states of the originals as ours, uint8 [N, D]; UserError if one is not valid."""
    first, shapes = states[0], tuple(shape for shape, _ in kind.arrays)
    if any(not isinstance(state, type(first)) or state.shapes != shapes for state in states):
        sizes = ", ".join(" × ".join(map(str, shape)) for shape in shapes)
        raise UserError(f"{path}: its states are not all arrays of {sizes} numbers.")
    arrays = [np.stack(values) for values in zip(*(state.values for state in states), strict=True)]
    for numbers, (shape, below) in zip(arrays, kind.arrays, strict=True):
        if ((numbers != numbers.astype(np.int64)) | (numbers < 0) | (numbers >= below)).any():
            raise UserError(f"{path}: its states are not all of numbers from 0 to {below - 1}.")
        if shape == (below,) and (np.sort(numbers, axis=1) != np.arange(below)).any():
            raise UserError(f"{path}: its states do not all have each of the numbers below {below} once.")
    found = kind.states(*(numbers.astype(np.int64) for numbers in arrays))
    for row in np.flatnonzero(~kind.puzzle.is_reachable(found)) if kind.column == "tiles" else ():
        raise UserError(f"{path}: state {row} is a board that sliding cannot make of the goal.")
    return found


def _as_they_are(numbers: np.ndarray) -> States:
    return numbers.astype(np.uint8)


def _levels(
    puzzle: Puzzle, path: Path, agents: np.ndarray, walls: np.ndarray, boxes: np.ndarray, goals: np.ndarray
) -> States:
    """Levels of Sokoban from the originals' cells [N, rows, columns] and players [N, 2], uint8 [N, D]."""
    for row in np.flatnonzero((agents >= walls.shape[1:]).any(axis=1)):
        raise UserError(f"{path}: state {row}: the player is not on the board.")
    players = np.zeros_like(walls)
    players[np.arange(len(players)), *agents.T] = 1
    boards = np.where(walls, WALL, goals * TARGET + boxes * BOX + players * PLAYER)
    states = []
    for row, board in enumerate(boards):
        try:
            if (walls + boxes + players)[row].max() > 1:
                raise UserError("A wall, a box and the player are not all on cells of their own.")
            states.append(puzzle.parse_state(puzzle.format_state(board.ravel())))
        except UserError as error:
            raise UserError(f"{path}: state {row}: {error}") from error
    return np.stack(states)


def _stickers(colors: np.ndarray, places: np.ndarray) -> States:
    """Cubes from the originals' sticker numbers, uint8 [N, 54]; places: our sticker for each of theirs."""
    found = np.empty(colors.shape, dtype=np.uint8)
    found[:, places] = places[colors] // (SIDE * SIDE)
    return found


def sticker_places() -> np.ndarray:
    """Our sticker for each sticker of the originals, int64 [54]."""
    face, column, height = np.unravel_index(np.arange(STICKERS), (len(FACE_ORDER), SIDE, SIDE))
    ours = np.array([FACES.index(letter) for letter in FACE_ORDER])[face]
    return np.ravel_multi_index((ours, SIDE - 1 - height, column), (len(FACES), SIDE, SIDE))


def replayed(solutions: list, starts: States, kind: TestSet, path: Path) -> list[list[int]]:
    """The actions of each state's solution; UserError if a solution does not solve its state."""
    if len(starts) != len(solutions):
        raise UserError(f"{path} has {len(starts)} states and {len(solutions)} solutions.")
    actions = [_actions(kind, solution, path, row) for row, solution in enumerate(solutions)]
    for row in np.flatnonzero(~solves(kind.puzzle, starts, actions)):
        raise UserError(f"{path}: solution {row} does not solve its state; nothing was written.")
    return actions


def _actions(kind: TestSet, solution: Any, path: Path, row: int) -> list[int]:
    """The actions of a solution, a list of the originals' moves; UserError for an unknown move or too many."""
    try:
        if not isinstance(solution, list) or len(solution) > kind.longest:
            raise ValueError
        return [kind.action(move) for move in solution]
    except (TypeError, ValueError) as error:
        raise UserError(f"{path}: solution {row} is not a list of at most {kind.longest} moves.") from error


def _turn(puzzle: Puzzle, move: Any) -> int:
    face, turn = move
    return puzzle.actions.index(face + "'" * TURNS.index(turn))


def _scramble(puzzle: Puzzle, solution: list[int]) -> str:
    return " ".join(puzzle.actions[puzzle.inverse(action)] for action in reversed(solution))


def _field(content: Any, name: str, path: Path) -> list:
    """A list of the pickled dictionary."""
    found = content.get(name) if isinstance(content, dict) else None
    if not isinstance(found, list):
        raise UserError(f"{path} is not a test set of DeepCubeA: it has no list of {name}.")
    return found


def _measure(content: dict, name: str, path: Path) -> list:
    """A list of the pickled dictionary, with a number for each state."""
    found = _field(content, name, path)
    if len(found) != len(content["states"]) or not all(_is_number(value) for value in found):
        raise UserError(f"{path}: its {name} are not a number for each of {len(content['states'])} states.")
    return found


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and not abs(value) >= LARGEST


def main() -> None:
    """Run the command as costtogo runs its commands: a user's mistake is one sentence and exit code 1."""
    cli.main(app)


if __name__ == "__main__":
    main()
