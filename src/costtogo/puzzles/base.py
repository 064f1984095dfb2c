"""The interface of every puzzle, and the functions that all puzzles share.

A state is a row of small integers, one per cell; every function takes a batch [N, D] and returns one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeGuard

import numpy as np

from costtogo.compiled import njit
from costtogo.types import NO_ACTION, NO_STATE, Children, Legal, Neighbours, Ranks, States, UserError, excerpt

MOST_MOVES = 100_000  # in a text; H(16, 3) is solved in 65,535
SHOWN = 8  # names of moves in a message
CHUNK = 1 << 16  # states whose children are made at once
FEW = 10_000  # cells that Python itself handles, within milliseconds, before it loads compiled code


class StepsBack(NamedTuple):
    """The B ways to step back from a state to a state that an action leads from.

    action: int64 [B], the action that leads forward again.  undone_by: int64 [B], the step back that undoes this one,
    NO_ACTION if none does.
    """

    action: np.ndarray
    undone_by: np.ndarray


class Permuting(NamedTuple):
    """Every action permutes the cells.

    turns: where each cell's value comes from, int64 [M, A, D]: with a marker, a letter that one cell has, by the cell
    of the marker (M = D), else always the same (M = 1). An action that moves no cell is not legal.
    changing: an action that leaves the state as it is, as it only exchanges equal letters, is not legal either.
    """

    turns: np.ndarray
    marker: int | None = None
    changing: bool = False


class Adding(NamedTuple):
    """Every action adds to the cells modulo 2, and all are legal.  presses: uint8 [A, D]."""

    presses: np.ndarray


class Pushing(NamedTuple):
    """A player steps from cell to cell and pushes one box at a time: see puzzles.sokoban.

    A letter is the code of what is on a cell, plus 1 on a target: nothing 0, box, player, and wall above them.
    steps: how much each action adds to the player's cell, int64 [A].
    """

    steps: np.ndarray
    box: int
    player: int


class Ranked(NamedTuple):
    """Of a ListedPuzzle whose ranks are numbers with the letters for digits; its moves are its table of neighbours.

    weights: of each cell in a rank, int64 [D].
    """

    weights: np.ndarray


Rule = Permuting | Adding | Pushing | Ranked


class Puzzle(ABC):
    """Rules of a puzzle with unit step costs.

    family: the key of its kind in puzzles.FAMILIES, "hanoi" for hanoi_7.  name: the name in params.yaml.
    cells: D.  letters: number of values a cell can have, 0 … letters - 1.  actions: a name for each action, length A.
    state_count: S, the number of states reachable from the goal.

    Every puzzle has an attribute for each ability below; a puzzle without the ability keeps the default here. Code that
    needs an ability checks the attribute, never the class or the name of the puzzle:

    start: the customary start, uint8 [D].
    symmetries: a tuple of Symmetry; the first is the identity.  mirror: the symmetry that the literature calls so.
    inverse_states: maps states, uint8 [N, D], to the states their reversed and inverted scrambles give, uint8 [N, D].
    half_turn_length: the number of moves in a sequence of actions if a half turn counts as one.
    turns: where each cell's value comes from under each action, int64 [A, D], if every action permutes the cells.
    pieces: cube.Pieces, whose cells always move together; cells of no piece never change.
    presses: what each action adds modulo 2, uint8 [A, D].  quiet: sets of presses that change nothing, uint8 [Q, A].
    side: cells in a row of a square board.  disks: the number of disks of a tower, one cell each.
    planes: the planes in which each letter shows, uint8 [letters, P], 1 where it does.
    rule: the moves as data, from which other devices compute (costtogo.engines); without them the processor computes.
    is_push: from a state, uint8 [D], and actions, returns which of these push something, bool [moves].

    Most puzzles have inverses and one goal; these attributes say so:

    has_inverses: True if every action is undone by another. An action that none undoes has NO_ACTION as its inverse.
    Walks from the goal, and training on them, use steps back (reverse, steps_back): with inverses, these are the
    actions themselves. Breadth-first search from the goal and search over tables need inverses.
    one_goal: True if all states share one goal. Otherwise is_goal says for each state whether it is solved, and `goal`
    is an example, from which walks begin if no other is given.
    Not every action need be legal: legal says which are.
    """

    family: str
    name: str
    cells: int
    letters: int
    actions: tuple[str, ...]
    state_count: int
    one_goal: bool = True

    start: States | None = None
    symmetries: "tuple[Symmetry, ...]" = ()
    mirror: "Symmetry | None" = None
    inverse_states: Callable[[States], States] | None = None
    half_turn_length: Callable[[Sequence[int]], int] | None = None
    turns: np.ndarray | None = None
    pieces: tuple = ()
    presses: np.ndarray | None = None
    quiet: np.ndarray | tuple = ()
    side: int = 0
    disks: int = 0
    planes: np.ndarray | None = None
    rule: Rule | None = None
    is_push: Callable[[States, Sequence[int]], np.ndarray] | None = None

    @property
    @abstractmethod
    def goal(self) -> States:
        """The goal, uint8 [D]."""

    @abstractmethod
    def expand(self, states: States) -> tuple[Children, Legal]:
        """Apply every action: children uint8 [N, A, D] and legal bool [N, A]; an illegal child equals its parent."""

    @abstractmethod
    def inverse(self, action: int) -> int:
        """The action that undoes the given one."""

    def parse_moves(self, text: str) -> list[int]:
        """Actions from the text that format_moves writes: notation reads what people write.

        UserError for an unknown move, or more than MOST_MOVES.
        """
        numbers, moves = {name: action for action, name in enumerate(self.actions)}, text.split()
        if len(moves) > MOST_MOVES:
            raise UserError(f"A scramble has at most {MOST_MOVES:,} moves, but {len(moves):,} were given.")
        if unknown := next((move for move in moves if move not in numbers), None):
            known = ", ".join(self.actions[:SHOWN]) + (" …" if len(numbers) > SHOWN else "")
            raise UserError(f"Unknown move '{excerpt(unknown)}': {self.name} has the moves {known}.")
        return [numbers[move] for move in moves]

    @property
    def symbols(self) -> tuple[str, ...]:
        """How each letter is written in the text of a state, length letters."""
        return tuple(map(str, range(self.letters)))

    @cached_property
    def _is_plain(self) -> bool:
        """True if every letter is a single character, so that no spaces need separate them."""
        return max(map(len, self.symbols)) == 1

    def parse_state(self, text: str) -> States:
        """A state, uint8 [D], from the text that format_state writes: notation reads what people write.

        UserError for another number of letters or an unknown one; that moves can make the state is not checked.
        """
        return np.array(self._letters_in(text, self.cells), dtype=np.uint8)

    def _letters_in(self, text: str, cells: int) -> list[int]:
        """The letter of each of some cells, as an index into symbols."""
        letters = list("".join(text.split())) if self._is_plain else text.split()
        if len(letters) != cells:
            raise UserError(f"{self.name} has {cells} cells, but {len(letters)} letters were given.")
        numbers = {symbol: letter for letter, symbol in enumerate(self.symbols)}
        if unknown := next((letter for letter in letters if letter not in numbers), None):
            known = excerpt(" ".join(self.symbols))
            raise UserError(f"Unknown letter '{excerpt(unknown)}': {self.name} has the letters {known}.")
        return [numbers[letter] for letter in letters]

    def format_state(self, state: States) -> str:
        """The one-line text of a state, read back by parse_state: the letter of each cell."""
        return ("" if self._is_plain else " ").join(self.symbols[letter] for letter in state)

    @abstractmethod
    def draw(self, state: States) -> str:
        """A drawing of a state in plain text."""

    def format_moves(self, actions) -> str:
        """The customary notation of a sequence of actions: their names."""
        return " ".join(self.actions[action] for action in actions)

    def legal(self, states: States) -> Legal:
        """Which actions are legal, bool [N, A], as expand returns them with the children. By default all are."""
        return np.ones((len(states), len(self.actions)), dtype=bool)

    @property
    def has_inverses(self) -> bool:
        """True if every action is undone by another."""
        return bool((inverses(self) != NO_ACTION).all())

    def is_goal(self, states: States) -> np.ndarray:
        """Which states are solved, bool [N]."""
        return _equal(states, self.goal)

    def move(self, states: States, actions: np.ndarray) -> States:
        """Each state after its action, uint8 [N, D]; an illegal action leaves the state unchanged.

        Overridden where this is possible without making all children.
        """
        return self.expand(states)[0][np.arange(len(states)), actions]

    @cached_property
    def steps_back(self) -> StepsBack:
        """The possible steps back; with inverses one for each action: that action itself."""
        undo = inverses(self)
        return StepsBack(undo, undo)

    def reverse(self, states: States) -> tuple[Children, Legal]:
        """Take every step back: the states one move before, uint8 [N, B, D], and legal, bool [N, B].

        steps_back.action leads from each of them to the given state. If a step is not legal, its state is the given
        one.
        """
        return self.expand(states)

    def reverse_legal(self, states: States) -> Legal:
        """Which steps back are legal, bool [N, B]."""
        return self.legal(states)

    def step_back(self, states: States, steps: np.ndarray) -> States:
        """Each state after its step back, uint8 [N, D]; steps: int64 [N], where NO_ACTION leaves a state unchanged."""
        stepped = self.move(states, np.maximum(steps, 0))
        stays = steps == NO_ACTION
        return np.where(stays[:, None], states, stepped) if stays.any() else stepped

    def walk(self, draws: np.ndarray) -> tuple[States, np.ndarray]:
        """Walks back from the goal that never undo a step, by uniform draws in [0, 1) [walks, length + 1].

        Returns the states uint8 [walks, length, D] and the steps int64 [walks, length + 1]; the last step leads on from
        the last state. A walk undoes its last step if no other step is legal; if none is, it stays and the step is
        NO_ACTION. By default all walks take each step together.
        """
        path, steps = _walks(self, draws, self.steps_back.undone_by)
        return path[:, :-1], steps


class ListedPuzzle(Puzzle):
    """A puzzle small enough to list: its states have ranks 0 … S - 1."""

    @abstractmethod
    def rank(self, states: States) -> Ranks:
        """A dense index 0 … S - 1 of each state, int64 [N]."""

    @abstractmethod
    def unrank(self, ranks: Ranks) -> States:
        """The states of the given ranks, uint8 [N, D]."""

    def neighbours(self) -> Neighbours:
        """The rank that each action leads to from each rank, int32 [S, A], NO_STATE if the action is not legal."""
        table = np.full((self.state_count, len(self.actions)), NO_STATE, dtype=np.int32)
        for first in range(0, self.state_count, CHUNK):
            ranks = np.arange(first, min(first + CHUNK, self.state_count))
            children, legal = self.expand(self.unrank(ranks))
            reached = self.rank(children.reshape(-1, self.cells)).reshape(legal.shape)
            table[ranks] = np.where(legal, reached, NO_STATE)
        return table

    def factors(self) -> tuple[Neighbours, Neighbours] | None:
        """The two tables of an exact.graph.Graph if two parts of the puzzle move independently, else None."""
        return None


@dataclass(frozen=True)
class Symmetry:
    """A rearrangement of cells and letters that keeps the goal and maps actions to actions.

    The image of a state: image[:, i] = letters[state[:, cells[i]]].  Action a becomes actions[a].
    """

    cells: np.ndarray  # int64 [D]
    letters: np.ndarray  # uint8 [letters]
    actions: np.ndarray  # int64 [A]

    def apply(self, states: States) -> States:
        """The images of states, uint8 [N, D]."""
        return self.letters[states[:, self.cells]]


def is_listed(puzzle: Puzzle) -> TypeGuard[ListedPuzzle]:
    """True if the states of a puzzle have ranks."""
    return isinstance(puzzle, ListedPuzzle)


def inverses(puzzle: Puzzle) -> np.ndarray:
    """The inverse of each action, int64 [A]."""
    return np.array([puzzle.inverse(action) for action in range(len(puzzle.actions))])


@njit(by_python=FEW, cache=True)
def permuted(states, turns, actions):
    """Puzzle.move if actions permute the cells and are always legal; turns: where each value comes from, [A, D]."""
    turned = np.empty_like(states)
    for row in range(states.shape[0]):
        turn = turns[actions[row]]
        for cell in range(states.shape[1]):
            turned[row, cell] = states[row, turn[cell]]
    return turned


def apply(puzzle: Puzzle, state: States, actions) -> States:
    """The state, uint8 [D], after a sequence of actions; UserError at the first illegal one."""
    for position, action in enumerate(actions):
        if not puzzle.legal(state[None])[0, action]:
            raise UserError(f"Move {position + 1}, {puzzle.actions[action]}, is not legal there in {puzzle.name}.")
        state = puzzle.move(state[None], np.array([action]))[0]
    return state


def solves(puzzle: Puzzle, starts: States, solutions) -> np.ndarray:
    """Replay each solution from its start: does it reach the goal by legal moves only? bool [B]."""
    states = starts.copy()
    valid = np.ones(len(starts), dtype=bool)
    lengths = np.array([len(solution) for solution in solutions], dtype=np.int64)
    for step in range(lengths.max(initial=0)):
        running = np.flatnonzero(lengths > step)
        actions = np.array([solutions[row][step] for row in running])
        valid[running] &= puzzle.legal(states[running])[np.arange(len(running)), actions]
        states[running] = puzzle.move(states[running], actions)
    return valid & puzzle.is_goal(states)


def random_walks(puzzle: Puzzle, walks: int, length: int, generator: np.random.Generator) -> States:
    """Walks back from the goal by uniformly random legal steps: the states after each, uint8 [walks, length, D]."""
    return _walks(puzzle, generator.random((length, walks)).T, np.full(len(puzzle.steps_back.action), NO_ACTION))[0]


def _walks(puzzle: Puzzle, draws: np.ndarray, undone_by: np.ndarray) -> tuple[States, np.ndarray]:
    """Walks back from the goal by draws [walks, steps]; undone_by: int64 [B]. A walk undoes its last step only at need.

    Returns the states after each step, uint8 [walks, steps, D], and the steps, int64 [walks, steps].
    """
    walks, moves = draws.shape
    path, steps = np.empty((walks, moves, puzzle.cells), dtype=np.uint8), np.empty((walks, moves), dtype=np.int64)
    states, back = np.repeat(puzzle.goal[None], walks, axis=0), np.full(walks, NO_ACTION)
    for place, draw in enumerate(draws.T):
        taken = pick_legal(puzzle.reverse_legal(states), draw, back)
        states = puzzle.step_back(states, taken)
        back = np.where(taken == NO_ACTION, NO_ACTION, undone_by[taken])
        path[:, place], steps[:, place] = states, taken
    return path, steps


@njit(by_python=FEW, cache=True)
def _equal(states, state):
    """Which rows equal the state, bool [N]."""
    equal = np.empty(len(states), dtype=np.bool_)
    for row in range(len(states)):
        cell = 0
        while cell < len(state) and states[row, cell] == state[cell]:
            cell += 1
        equal[row] = cell == len(state)
    return equal


def pick_legal(legal: Legal, draw: np.ndarray, back: np.ndarray | None = None) -> np.ndarray:
    """The legal action that a uniform draw in [0, 1) chooses in each row, int64 [N].

    back: an action in each row, int64 [N], taken only if no other is legal.
    """
    return _pick(legal, draw, np.full(len(legal), NO_ACTION) if back is None else back)


@njit(by_python=FEW, cache=True)
def _pick(legal, draw, back):
    actions = np.empty(len(legal), dtype=np.int64)
    for row in range(len(legal)):
        actions[row] = chosen(legal[row], draw[row], back[row])
    return actions


@njit(by_python=FEW, cache=True, inline="always")
def chosen(legal, draw, back):
    """The legal action that a draw in [0, 1) chooses; legal: bool [A]; back is chosen only if no other is legal."""
    free = 0
    for action in range(len(legal)):
        free += legal[action] and action != back
    order = int(draw * free)
    for action in range(len(legal)):
        if legal[action] and action != back:
            if order == 0:
                return action
            order -= 1
    return back
