"""Sokoban: a player pushes boxes onto targets, between walls; no push can undo a push.

A state is a whole level, row by row: each cell is a wall, a floor or a target; a floor or target may hold a box or the
player. So a search compares, and a network sees, also the walls and targets, which no move changes. Each state has its
own goal: no box off a target. An action is a step of the player, which pushes a box that is in its way. The length of a
solution counts steps; pushes are the steps that move a box.

A step back may pull a box that is in front of the player. Each of the four actions may have led here with a push or
without, so there are eight steps back: the first four are without.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import dedent
from typing import ClassVar

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.base import Pushing, Puzzle, StepsBack
from costtogo.types import NO_ACTION, Children, Legal, States, UserError, excerpt

FLOOR, TARGET, BOX, BOX_ON_TARGET, PLAYER, PLAYER_ON_TARGET, WALL = range(7)
SYMBOLS = " .$*@+#"  # by letter; in a text - and _ are also floor
PLANES = np.array(  # by letter: player, box, target, wall
    [[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], dtype=np.uint8
)
ACTIONS = ("U", "D", "L", "R")
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))  # rows and columns
SIDES = range(4, 65)  # of a board, border included
EXAMPLE = 4  # boxes of the example, where there is room


@dataclass(frozen=True)
class Sokoban(Puzzle):
    """Levels of rows × columns cells with any number of boxes; the border is walls. Walls fill up smaller levels."""

    family: ClassVar[str] = "sokoban"
    one_goal: ClassVar[bool] = False
    rows: int = 10
    columns: int = 10
    letters: int = 7
    actions: tuple[str, ...] = ACTIONS
    planes: ClassVar[np.ndarray] = PLANES

    def __post_init__(self):
        if self.rows not in SIDES or self.columns not in SIDES:
            raise UserError(f"There is no {self.name}: a board has {SIDES[0]} to {SIDES[-1]} rows and columns.")

    @property
    def name(self) -> str:
        """sokoban of 10 × 10 cells, sokoban_8 of 8 × 8, sokoban_7_9 of 7 rows and 9 columns."""
        if self.rows != self.columns:
            return f"sokoban_{self.rows}_{self.columns}"
        return "sokoban" if self.rows == 10 else f"sokoban_{self.rows}"

    @property
    def cells(self) -> int:
        """rows · columns."""
        return self.rows * self.columns

    @property
    def side(self) -> int:
        """Cells in a row of a square board, else 0."""
        return self.rows if self.rows == self.columns else 0

    @property
    def state_count(self) -> int:
        """The number of states that could be written down, an upper bound: the number of levels is unknown."""
        return self.letters**self.cells

    @cached_property
    def steps(self) -> np.ndarray:
        """How much each action adds to the player's cell, int64 [A]."""
        return np.array([down * self.columns + right for down, right in STEPS])

    @cached_property
    def goal(self) -> States:
        """An example: a room of up to 4 × 6 cells with up to four boxes on targets in a row, uint8 [D]."""
        board = np.full((self.rows, self.columns), WALL, dtype=np.uint8)
        room = board[1 : min(self.rows - 1, 5), 1 : min(self.columns - 1, 7)]
        room[:] = FLOOR
        room[(len(room) - 1) // 2, :EXAMPLE] = BOX_ON_TARGET
        room[-1, -1] = PLAYER
        return board.ravel()

    @cached_property
    def rule(self) -> Pushing:
        """A step of the player, which may push a box."""
        return Pushing(self.steps, BOX, PLAYER)

    def expand(self, states: States) -> tuple[Children, Legal]:
        """Step in all four directions: children uint8 [N, 4, D]."""
        return _children(states, self.steps)

    def legal(self, states: States) -> Legal:
        """Which ways the player can go, bool [N, 4]."""
        return _legal(states, self.steps)

    def move(self, states: States, actions: np.ndarray) -> States:
        """Each state after its step, uint8 [N, D]."""
        return _moved(states, actions, self.steps)

    def inverse(self, action: int) -> int:
        """NO_ACTION: a push cannot be undone."""
        return NO_ACTION

    @cached_property
    def steps_back(self) -> StepsBack:
        """Steps back without a pull, each undone by the opposite one, then those with a pull, which none undoes."""
        opposite = np.array([1, 0, 3, 2])
        return StepsBack(np.tile(np.arange(4), 2), np.concatenate([opposite, np.full(4, NO_ACTION)]))

    def reverse(self, states: States) -> tuple[Children, Legal]:
        """Step back without a pull, then with one: uint8 [N, 8, D]."""
        return _parents(states, self.steps)

    def reverse_legal(self, states: States) -> Legal:
        """Which steps can have led here, bool [N, 8]."""
        return _reverse_legal(states, self.steps)

    def step_back(self, states: States, steps: np.ndarray) -> States:
        """Each state after its step back, uint8 [N, D]; an illegal step leaves the state unchanged."""
        return _stepped_back(states, steps, self.steps)

    def is_goal(self, states: States) -> np.ndarray:
        """Which states have no box off a target, bool [N]."""
        return _solved(states)

    def is_push(self, state: States, actions: Sequence[int]) -> np.ndarray:
        """Which actions of a sequence from a state, uint8 [D], push a box, bool [moves]."""
        pushes = np.zeros(len(actions), dtype=bool)
        for place, action in enumerate(actions):
            there = state[np.flatnonzero(is_player(state))[0] + self.steps[action]]
            pushes[place] = there in (BOX, BOX_ON_TARGET)
            state = self.move(state[None], np.array([action]))[0]
        return pushes

    def parse_state(self, text: str) -> States:
        """A level in the customary text: # wall, @ player, $ box, . target, * and + a box or the player on one.

        Rows are lines, or are separated by |. A level smaller than the board is placed in its middle. Floor that the
        player could not reach even without boxes becomes walls, and so do boxes on targets there.
        """
        lines = [line.rstrip() for line in dedent(text.replace("|", "\n")).splitlines()]
        level = self._level([line for line in lines if line])
        _refuse_impossible(level)
        inside = _reach(np.pad(level, 1))
        if np.concatenate([inside[0], inside[-1], inside[:, 0], inside[:, -1]]).any():
            raise UserError("The border of the level is open: the player could walk out of it; close it with walls, #.")
        outside = ~inside[1:-1, 1:-1]
        if (outside & ~np.isin(level, (FLOOR, WALL, BOX_ON_TARGET))).any():
            raise UserError("A box or target stands where the player could never come, between walls: leave it out.")
        level = np.where(outside, WALL, level)
        height, width = level.shape
        top, left = (self.rows - height) // 2, (self.columns - width) // 2
        board = np.full((self.rows, self.columns), WALL, dtype=np.uint8)
        board[top : top + height, left : left + width] = level
        return board.ravel()

    def _level(self, lines: list[str]) -> np.ndarray:
        """The cells of the lines of a level, uint8 [height, width]; UserError if the lines make no level."""
        height, width = len(lines), max(map(len, lines), default=0)
        if height > self.rows or width > self.columns:
            larger = f"sokoban_{max(height, SIDES[0])}_{max(width, SIDES[0])} has room"
            fits = max(height, width) in SIDES or max(height, width) < SIDES[0]
            raise UserError(
                f"The level has {height} × {width} cells, more than the {self.rows} × {self.columns} of {self.name}: "
                f"{larger if fits else f'no board has more than {SIDES[-1]} rows or columns'}."
            )
        letters = {symbol: letter for letter, symbol in enumerate(SYMBOLS)} | {"-": FLOOR, "_": FLOOR}
        for row, line in enumerate(lines):
            if unknown := [symbol for symbol in line if symbol not in letters]:
                raise UserError(
                    f"Unknown symbol '{excerpt(unknown[0])}' in row {row + 1} of the level: there are # wall, "
                    "@ player, $ box, . target, * box on a target, + player on a target, and a blank."
                )
        cells = [letters[symbol] for line in lines for symbol in line.ljust(width)]
        return np.array(cells, dtype=np.uint8).reshape(height, width)

    def format_state(self, state: States) -> str:
        """The rows, separated by |, with - for floor."""
        return "|".join(line.replace(" ", "-") for line in self.draw(state).split("\n"))

    def draw(self, state: States) -> str:
        """The level in the customary text."""
        symbols = np.array(list(SYMBOLS))
        return "\n".join("".join(row) for row in symbols[state.reshape(self.rows, self.columns)])


def sokoban(*sides: int) -> Sokoban:
    """The puzzle on a board of 10 × 10, side × side, or rows × columns cells."""
    return Sokoban(*(sides * 2)[:2])


def is_player(cells: np.ndarray) -> np.ndarray:
    """Which cells the player is on, bool."""
    return (cells | 1) == PLAYER_ON_TARGET


def is_box(cells: np.ndarray) -> np.ndarray:
    """Which cells a box is on, bool."""
    return (cells | 1) == BOX_ON_TARGET


def _refuse_impossible(level: np.ndarray) -> None:
    """UserError if cells, uint8, are no level: wrong numbers of players, boxes or targets."""
    players, boxes = int(is_player(level).sum()), int(is_box(level).sum())
    targets = int(np.isin(level, (TARGET, BOX_ON_TARGET, PLAYER_ON_TARGET)).sum())
    if players != 1:
        raise UserError(f"A level has one player, @ or +, but this one has {players or 'none'}.")
    if boxes != targets:
        raise UserError(f"A level has as many boxes as targets, but this one has {boxes} and {targets}.")
    if not boxes:
        raise UserError("A level has a box, $ or *, but this one has none.")


def _reach(board: np.ndarray) -> np.ndarray:
    """The cells that the player could reach if there were no boxes, bool [rows, columns]."""
    reached, free = is_player(board), board != WALL
    while True:
        wider = reached.copy()
        wider[1:] |= reached[:-1]
        wider[:-1] |= reached[1:]
        wider[:, 1:] |= reached[:, :-1]
        wider[:, :-1] |= reached[:, 1:]
        wider &= free
        if (wider == reached).all():
            return reached
        reached = wider


@njit(cache=True, inline="always")
def _free(letter):
    """True if the cell has no wall, box or player."""
    return letter <= TARGET


@njit(cache=True, inline="always")
def _boxed(letter):
    return letter == BOX or letter == BOX_ON_TARGET


@njit(cache=True, inline="always")
def player_of(state):
    """The cell of the player."""
    cell = 0
    while state[cell] != PLAYER and state[cell] != PLAYER_ON_TARGET:
        cell += 1
    return cell


@njit(cache=True, inline="always")
def _allowed(state, player, step):
    there = state[player + step]
    return _free(there) or (_boxed(there) and _free(state[player + 2 * step]))


@njit(cache=True, inline="always")
def _step(state, player, step):
    """Make a legal step, in place. A letter is the code of the object on a cell, plus 1 on a target."""
    if _boxed(state[player + step]):
        state[player + step] -= BOX
        state[player + 2 * step] += BOX
    state[player] -= PLAYER
    state[player + step] += PLAYER


@njit(cache=True, inline="always")
def back_allowed(state, player, step, pulled):
    """True if a step can have led here; with `pulled`, if that step pushed the box now in front of the player."""
    return _free(state[player - step]) and (not pulled or _boxed(state[player + step]))


@njit(cache=True, inline="always")
def back(state, player, step, pulled):
    """Take a step back, in place."""
    state[player] -= PLAYER
    state[player - step] += PLAYER
    if pulled:
        state[player + step] -= BOX
        state[player] += BOX


@njit(cache=True)
def _children(states, steps):
    children = np.empty((states.shape[0], len(steps), states.shape[1]), dtype=np.uint8)
    legal = np.empty((states.shape[0], len(steps)), dtype=np.bool_)
    for row in range(len(states)):
        player = player_of(states[row])
        for action in range(len(steps)):
            children[row, action] = states[row]
            legal[row, action] = _allowed(states[row], player, steps[action])
            if legal[row, action]:
                _step(children[row, action], player, steps[action])
    return children, legal


@njit(cache=True)
def _legal(states, steps):
    legal = np.empty((states.shape[0], len(steps)), dtype=np.bool_)
    for row in range(len(states)):
        player = player_of(states[row])
        for action in range(len(steps)):
            legal[row, action] = _allowed(states[row], player, steps[action])
    return legal


@njit(cache=True)
def _moved(states, actions, steps):
    moved = states.copy()
    for row in range(len(states)):
        player = player_of(states[row])
        if _allowed(states[row], player, steps[actions[row]]):
            _step(moved[row], player, steps[actions[row]])
    return moved


@njit(cache=True)
def _parents(states, steps):
    actions = len(steps)
    parents = np.empty((states.shape[0], 2 * actions, states.shape[1]), dtype=np.uint8)
    legal = np.empty((states.shape[0], 2 * actions), dtype=np.bool_)
    for row in range(len(states)):
        player = player_of(states[row])
        for choice in range(2 * actions):
            step, pulled = steps[choice % actions], choice >= actions
            parents[row, choice] = states[row]
            legal[row, choice] = back_allowed(states[row], player, step, pulled)
            if legal[row, choice]:
                back(parents[row, choice], player, step, pulled)
    return parents, legal


@njit(cache=True)
def _reverse_legal(states, steps):
    actions = len(steps)
    legal = np.empty((states.shape[0], 2 * actions), dtype=np.bool_)
    for row in range(len(states)):
        player = player_of(states[row])
        for choice in range(2 * actions):
            legal[row, choice] = back_allowed(states[row], player, steps[choice % actions], choice >= actions)
    return legal


@njit(cache=True)
def _stepped_back(states, choices, steps):
    parents = states.copy()
    for row in range(len(states)):
        choice, player = choices[row], player_of(states[row])
        step, pulled = steps[choice % len(steps)], choice >= len(steps)
        if choice != NO_ACTION and back_allowed(states[row], player, step, pulled):
            back(parents[row], player, step, pulled)
    return parents


@njit(cache=True)
def _solved(states):
    solved = np.ones(len(states), dtype=np.bool_)
    for row in range(len(states)):
        for cell in range(states.shape[1]):
            if states[row, cell] == BOX:
                solved[row] = False
                break
    return solved
