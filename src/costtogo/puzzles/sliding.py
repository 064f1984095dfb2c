"""Sliding tiles in a square of 3 × 3 to 7 × 7 cells: the 8-, 15-, 24-, 35- and 48-puzzle.

A state lists the tile in each cell, row by row; 0 is the blank, which is last in the goal. An action is the direction
in which a tile slides into the blank: U moves the tile below it.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.base import ListedPuzzle, Permuting, Puzzle, Symmetry, chosen, inverses
from costtogo.puzzles.permutations import is_odd, rank_permutations, unrank_permutations
from costtogo.types import NO_ACTION, Children, Legal, Ranks, States

ACTIONS = ("U", "D", "L", "R")
TILE_FROM = {"U": (1, 0), "D": (-1, 0), "L": (0, 1), "R": (0, -1)}  # rows and columns from the blank to the tile
BLANK = 0


@dataclass(frozen=True)
class SlidingTiles(Puzzle):
    """side × side cells: (side²)! / 2 states; four actions, three if the blank is at the edge, two in a corner."""

    family: ClassVar[str] = "sliding"
    side: int = field()
    actions: tuple[str, ...] = ACTIONS

    @property
    def name(self) -> str:
        """puzzle15 for a side of 4."""
        return f"puzzle{self.cells - 1}"

    @property
    def cells(self) -> int:
        """side²."""
        return self.side**2

    @property
    def letters(self) -> int:
        """The tiles and the blank."""
        return self.cells

    @property
    def state_count(self) -> int:
        """Half of all arrangements: see is_reachable."""
        return math.factorial(self.cells) // 2

    @cached_property
    def goal(self) -> States:
        """1, 2, …, side² - 1, 0, uint8 [D]."""
        return np.roll(np.arange(self.cells, dtype=np.uint8), -1)

    @cached_property
    def sources(self) -> np.ndarray:
        """The cell of the tile that each action moves, by the blank's cell; the blank's cell if none: int64 [D, A]."""
        row, column = np.divmod(np.arange(self.cells), self.side)
        sources = []
        for action in self.actions:
            down, right = TILE_FROM[action]
            inside = (0 <= row + down) & (row + down < self.side) & (0 <= column + right) & (column + right < self.side)
            sources.append(np.arange(self.cells) + np.where(inside, down * self.side + right, 0))
        return np.stack(sources, axis=1)

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The identity, and the reflection in the diagonal through the goal's blank."""
        cells, actions = np.arange(self.cells), np.arange(len(self.actions))
        transposed = cells.reshape(self.side, self.side).T.ravel()
        letters = np.concatenate([[BLANK], transposed[:-1] + 1]).astype(np.uint8)
        # Up and left are exchanged, and so are down and right.
        return Symmetry(cells, cells.astype(np.uint8), actions), Symmetry(transposed, letters, actions ^ 2)

    @cached_property
    def rule(self) -> Permuting:
        """An action exchanges the blank and a tile."""
        turns = np.tile(np.arange(self.cells), (self.cells, len(self.actions), 1))
        np.put_along_axis(turns, self.sources[:, :, None], np.arange(self.cells)[:, None, None], axis=2)
        turns[np.arange(self.cells), :, np.arange(self.cells)] = self.sources
        return Permuting(turns, marker=BLANK)

    def expand(self, states: States) -> tuple[Children, Legal]:
        """Slide a tile into the blank from every side: children uint8 [N, 4, D]."""
        return _children(states, self.sources), self.legal(states)

    def legal(self, states: States) -> Legal:
        """True if there is a tile to slide, bool [N, 4]."""
        return self.legal_at[_blanks(states)]

    @cached_property
    def legal_at(self) -> np.ndarray:
        """Which actions are legal, by the blank's cell, bool [D, A]."""
        return self.sources != np.arange(self.cells)[:, None]

    def move(self, states: States, actions: np.ndarray) -> States:
        """Each state after its action, uint8 [N, D]; an illegal action leaves the state unchanged."""
        return _moved(states, actions, self.sources)

    def walk(self, draws: np.ndarray) -> tuple[States, np.ndarray]:
        """Walks from the goal that never undo a move, in one compiled call, one walk after another."""
        path, actions = _walked(self.goal, self.sources, self.legal_at, inverses(self), draws)
        return path[:, :-1], actions

    def inverse(self, action: int) -> int:
        """U and D, L and R undo each other."""
        return action ^ 1

    def is_reachable(self, states: States) -> np.ndarray:
        """Which arrangements of the tiles can be reached from the goal by sliding, bool [N].

        Each move exchanges the blank with a tile, and takes the blank one cell nearer to its corner or farther away.
        """
        row, column = np.divmod(states.argmin(axis=1), self.side)
        tiles = np.where(states == BLANK, self.cells, states)  # so that the goal is in ascending order
        return is_odd(tiles) == ((row + column) % 2 == 1)

    def format_state(self, state: States) -> str:
        """The tiles row by row, 0 for the blank."""
        return " ".join(str(tile) for tile in state)

    def draw(self, state: States) -> str:
        """The tiles in rows, a dot for the blank."""
        width = len(str(self.cells - 1))
        cells = [("." if tile == BLANK else str(tile)).rjust(width) for tile in state]
        return "\n".join(" ".join(cells[first : first + self.side]) for first in range(0, self.cells, self.side))


@dataclass(frozen=True)
class ListedTiles(SlidingTiles, ListedPuzzle):
    """The 8-puzzle: 181,440 states, few enough to list."""

    side: int = 3

    def rank(self, states: States) -> Ranks:
        """The blank's cell, then the tiles in reading order: with an odd side, an even permutation."""
        tiles = states[states != BLANK].reshape(len(states), self.cells - 1)
        return states.argmin(axis=1) * self._orders + rank_permutations(tiles) // 2

    def unrank(self, ranks: Ranks) -> States:
        """The states of the given ranks, uint8 [N, 9]."""
        blank, order = np.divmod(np.asarray(ranks), self._orders)
        tiles = unrank_permutations(2 * order, self.cells - 1) + 1
        odd = is_odd(tiles)
        tiles[odd, -2:] = tiles[odd, :-3:-1]  # of two orders that differ only in their last two tiles, the even one
        states = np.zeros((len(blank), self.cells), dtype=np.uint8)
        states[np.arange(self.cells) != blank[:, None]] = tiles.ravel()
        return states

    @property
    def _orders(self) -> int:
        """The number of even permutations of the tiles."""
        return math.factorial(self.cells - 1) // 2


def tiles(count: int) -> SlidingTiles:
    """The puzzle with `count` tiles; the 8-puzzle is a ListedPuzzle."""
    return ListedTiles() if count == 8 else SlidingTiles(math.isqrt(count + 1))


@njit(cache=True, inline="always")
def _slide(state, source, blank, child):
    child[:] = state
    child[blank] = state[source]
    child[source] = BLANK


@njit(cache=True, inline="always")
def _blank(state):
    cell = 0
    while state[cell] != BLANK:
        cell += 1
    return cell


@njit(cache=True)
def _blanks(states):
    cells = np.empty(len(states), dtype=np.uint8)
    for row in range(len(states)):
        cells[row] = _blank(states[row])
    return cells


@njit(cache=True)
def _children(states, sources):
    children = np.empty((states.shape[0], sources.shape[1], states.shape[1]), dtype=np.uint8)
    for row in range(len(states)):
        blank = _blank(states[row])
        for action in range(sources.shape[1]):
            _slide(states[row], sources[blank, action], blank, children[row, action])
    return children


@njit(cache=True)
def _moved(states, actions, sources):
    children = np.empty_like(states)
    for row in range(len(states)):
        blank = _blank(states[row])
        _slide(states[row], sources[blank, actions[row]], blank, children[row])
    return children


@njit(cache=True)
def _walked(goal, sources, legal_at, undo, draws):
    """The states and actions of walks, as base.Puzzle.walk returns them."""
    walks, moves = draws.shape
    path, actions = np.empty((walks, moves, len(goal)), dtype=np.uint8), np.empty((walks, moves), dtype=np.int64)
    for walk in range(walks):
        board, blank, back = goal.copy(), _blank(goal), NO_ACTION
        for place in range(moves):
            taken = chosen(legal_at[blank], draws[walk, place], back)
            tile = sources[blank, taken]
            board[blank], board[tile], blank, back = board[tile], BLANK, tile, undo[taken]
            path[walk, place], actions[walk, place] = board, taken
    return path, actions
