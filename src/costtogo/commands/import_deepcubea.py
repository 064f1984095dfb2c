"""Import the test set of DeepCubeA's cube, a pickle in its repository, as a CSV of external instances.

The pickle is a dictionary of lists: states, objects of Cube3State whose colors (54 numbers) tell for each place which
sticker is there; solutions, each a list of moves (face, 1 clockwise or -1 back); num_nodes_generated and times, what
the authors' optimal solver took. Faces come in the order U D L R B F. The places of a face are counted from its lower
left corner upwards, then column by column (net: U above F, D below it, L F R B in a row).
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from costtogo.external import OPTIMUM
from costtogo.files import write_csv
from costtogo.pickles import Array, read_pickle
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.puzzles.cube import FACES
from costtogo.types import States, UserError

FACE_ORDER = "UDLRBF"
SIDE = 3
STICKERS = 6 * SIDE * SIDE
TURNS = [1, -1]  # clockwise, and back, which has a prime
FARTHEST = 26  # quarter turns: no cube is farther from the goal
LARGEST = 2**63  # of the whole numbers that a column of a CSV holds
MEASURES = {"num_nodes_generated": "optimal_solver_nodes", "times": "optimal_solver_seconds"}


class CubeState:
    """Stands for the originals' class of states: its attributes, and none of its code."""

    colors = None

    def __setstate__(self, state: tuple) -> None:
        """Take what the original had in its slots; the first part of the state is what it had beside them."""
        self.colors = state[1].get("colors")


def run(pickled: Path, out: Path) -> None:
    """Write the scrambles and optimal lengths of a pickle as CSV; every optimal solution is replayed first.

    The originals tell no scrambles: the inverse of its solution leads to a state.
    """
    content = read_pickle(pickled, {"environments.cube3.Cube3State": CubeState})
    states, solutions = _field(content, "states", pickled), _field(content, "solutions", pickled)
    if len(states) != len(solutions):
        raise UserError(f"{pickled} has {len(states)} states and {len(solutions)} solutions.")
    puzzle = make("cube3")
    starts = read_states(states, pickled)
    actions = [_actions(puzzle, solution, pickled, row) for row, solution in enumerate(solutions)]
    for row in np.flatnonzero(~solves(puzzle, starts, actions)):
        raise UserError(f"{pickled}: solution {row} does not solve its state; nothing was written.")
    scrambles = [[puzzle.inverse(action) for action in reversed(solution)] for solution in actions]
    frame = pd.DataFrame(
        {
            "scramble": [" ".join(puzzle.actions[action] for action in scramble) for scramble in scrambles],
            OPTIMUM: [len(solution) for solution in actions],
            **{column: _measure(content, name, pickled) for name, column in MEASURES.items() if name in content},
        }
    )
    write_csv(out, frame)
    print(f"{len(frame)} cubes, every optimal solution replayed, written to {out}")


def read_states(states: list, path: Path) -> States:
    """The states of the originals in the order of our stickers, uint8 [N, 54]; UserError for what is none."""
    colors = [state.colors if isinstance(state, CubeState) else None for state in states]
    shapes = {value.values.shape if isinstance(value, Array) else None for value in colors}
    if shapes != {(STICKERS,)}:
        raise UserError(f"{path}: its states are not all arrays of {STICKERS} stickers.")
    stickers = np.stack([value.values for value in colors])
    if (np.sort(stickers, axis=1) != np.arange(STICKERS)).any():
        raise UserError(f"{path}: its states do not all have each of the {STICKERS} stickers once.")
    places = sticker_places()
    found = np.empty((len(states), STICKERS), dtype=np.uint8)
    found[:, places] = places[stickers.astype(np.int64)] // (SIDE * SIDE)
    return found


def sticker_places() -> np.ndarray:
    """Which of our stickers each of the originals' is, int64 [54]."""
    face, column, height = np.unravel_index(np.arange(STICKERS), (len(FACE_ORDER), SIDE, SIDE))
    ours = np.array([FACES.index(letter) for letter in FACE_ORDER])[face]
    return np.ravel_multi_index((ours, SIDE - 1 - height, column), (len(FACES), SIDE, SIDE))


def _field(content: Any, name: str, path: Path) -> list:
    """A list of the pickled dictionary."""
    found = content.get(name) if isinstance(content, dict) else None
    if not isinstance(found, list):
        raise UserError(f"{path} is not a test set of DeepCubeA: it has no list of {name}.")
    return found


def _measure(content: dict, name: str, path: Path) -> list:
    """A list of the pickled dictionary with a number for each state."""
    found = _field(content, name, path)
    if len(found) != len(content["states"]) or not all(_is_number(value) for value in found):
        raise UserError(f"{path}: its {name} are not a number for each of {len(content['states'])} states.")
    return found


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and not abs(value) >= LARGEST


def _actions(puzzle, solution: Any, path: Path, row: int) -> list[int]:
    """The actions of a solution, a list of (face, 1 or -1); UserError for one that is none, or longer than any."""
    try:
        if len(solution) > FARTHEST:
            raise ValueError
        return [puzzle.actions.index(face + "'" * TURNS.index(turn)) for face, turn in solution]
    except (TypeError, ValueError) as error:
        raise UserError(f"{path}: solution {row} is not a list of at most {FARTHEST} moves (face, 1 or -1).") from error
