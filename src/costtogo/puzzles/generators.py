"""A permutation puzzle given by its generators in a file: see puzzle_files.

A state lists the letter in each cell; a move permutes the cells. Letters are numbered in the order in which they appear
in the goal. Numbers of more letters than a byte has are written with two digits, in a cell of the state each: all first
digits, then all second ones.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.base import Permuting, Puzzle, permuted
from costtogo.puzzles.puzzle_files import MOST_LETTERS, PuzzleFile
from costtogo.types import Children, Legal, States, UserError

IN_A_ROW = 12  # cells of a picture without shapes


class Generators(Puzzle):
    """A puzzle whose moves permute its cells.

    shapes: the corners of each cell in a picture, float64 [k, 2] each.  colours: by letter, for letters that have one.
    """

    family: ClassVar[str] = "file"

    def __init__(self, file: PuzzleFile):
        self.file = file
        self.name, self.actions = file.name, file.moves
        self.turns, self.letters = np.array(file.turns, dtype=np.int64), len(file.alphabet)
        if self.letters > MOST_LETTERS:
            self.letters = math.isqrt(self.letters - 1) + 1  # digits
            self.turns = np.concatenate([self.turns, self.turns + len(file.goal)], axis=1)
        self.cells = self.turns.shape[1]
        self.rule = Permuting(self.turns[None], changing=True)
        self.colours = file.colours
        numbers = {turn: number for number, turn in enumerate(map(tuple, self.turns.tolist()))}
        self._inverses = [numbers[tuple(np.argsort(turn).tolist())] for turn in self.turns]
        self._goal = self._written(file.goal)

    @property
    def goal(self) -> States:
        """The goal, uint8 [D]."""
        return self._goal

    @property
    def state_count(self) -> int:
        """The number of reachable states, as the file says; if it is unknown, all arrangements of the letters."""
        if isinstance(self.file.states, int):
            return self.file.states
        counts = np.bincount(self.file.goal).tolist()
        return math.factorial(len(self.file.goal)) // math.prod(map(math.factorial, counts))

    def _written(self, letters: Sequence[int]) -> States:
        """The state with these letters, uint8 [D]."""
        if self.cells == len(self.file.goal):
            return np.array(letters, dtype=np.uint8)
        return np.concatenate(np.divmod(letters, self.letters)).astype(np.uint8)

    def letters_of(self, state: States) -> list[int]:
        """The letter in each cell of the file, as an index into its alphabet."""
        if self.cells == len(self.file.goal):
            return state.tolist()
        first, second = state.astype(np.int64).reshape(2, -1)
        return (first * self.letters + second).tolist()

    @cached_property
    def shapes(self) -> tuple[np.ndarray, ...]:
        """The shapes in the file; if it has none, squares in rows."""
        if self.file.shapes:
            return tuple(np.array(shape) for shape in self.file.shapes)
        square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float64)
        return tuple(square + [cell % IN_A_ROW, -(cell // IN_A_ROW)] for cell in range(len(self.file.goal)))

    def expand(self, states: States) -> tuple[Children, Legal]:
        """Make every move: children uint8 [N, A, D]. A move is legal if it changes something."""
        return states[:, self.turns], self.legal(states)

    def legal(self, states: States) -> Legal:
        """Which moves change something, bool [N, A]: a move that only exchanges equal letters does not."""
        return _changes(states, self.turns)

    def move(self, states: States, actions: np.ndarray) -> States:
        """Each state after its move, uint8 [N, D]."""
        return permuted(states, self.turns, actions)

    def inverse(self, action: int) -> int:
        """The move with the inverse permutation."""
        return self._inverses[action]

    @property
    def symbols(self) -> tuple[str, ...]:
        """The letters of the file."""
        return self.file.alphabet

    def parse_state(self, text: str) -> States:
        """The letter of each cell; UserError if there are more or fewer of one than in the goal."""
        letters = self._letters_in(text, len(self.file.goal))
        counts, wanted = (np.bincount(each, minlength=len(self.symbols)) for each in (letters, self.file.goal))
        for letter in np.flatnonzero(counts != wanted):
            named = self.symbols[letter]
            raise UserError(f"Impossible state: {counts[letter]} cells have {named}, there must be {wanted[letter]}.")
        return self._written(letters)

    def format_state(self, state: States) -> str:
        """The letter of each cell."""
        return ("" if self._is_plain else " ").join(self.symbols[letter] for letter in self.letters_of(state))

    def draw(self, state: States) -> str:
        """The letters, placed like the cells in the picture."""
        rows, width = self._grid, max(map(len, self.file.alphabet)) + 1
        lines, letters = [""] * len(rows), self.letters_of(state)
        for number, row in enumerate(rows):
            for column, cell in row:
                lines[number] = lines[number].ljust(column * width) + self.file.alphabet[letters[cell]]
        return "\n".join(lines)

    @cached_property
    def _grid(self) -> list[list[tuple[int, int]]]:
        """Rows of a drawing from above: for each cell its column and its number."""
        centres = np.array([shape.mean(axis=0) for shape in self.shapes]).round(3)
        rows = [np.flatnonzero(centres[:, 1] == y) for y in np.unique(centres[:, 1])[::-1]]
        rows = [row[np.argsort(centres[row, 0], kind="stable")] for row in rows]
        columns = np.unique(centres[:, 0], return_inverse=True)[1].ravel()
        return [_apart([(int(columns[cell]), int(cell)) for cell in row]) for row in rows]


def _apart(row: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Columns and cells, sorted, with no two in one column."""
    placed: list[tuple[int, int]] = []
    for column, cell in row:
        placed.append((max(column, placed[-1][0] + 1) if placed else column, cell))
    return placed


@njit(cache=True)
def _changes(states, turns):
    """Which moves change each state, bool [N, A]."""
    changes = np.zeros((states.shape[0], turns.shape[0]), dtype=np.bool_)
    for row in range(states.shape[0]):
        for action in range(turns.shape[0]):
            turn = turns[action]
            for cell in range(states.shape[1]):
                if states[row, turn[cell]] != states[row, cell]:
                    changes[row, action] = True
                    break
    return changes
