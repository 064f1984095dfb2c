"""Local value iteration on sliding tiles: Bischoff, Nguyen-Tuong, Markert and Knoll, "Solving the 15-Puzzle Game Using
Local Value-Iteration".

A few tiles at a time are brought home, the others that are home staying where they are. Such a subproblem has few
states: the cells of its tiles and of the blank. Its value function is exact, and a policy that follows it is optimal
within the subproblem. Where the tiles cannot come home without moving a tile already there, that one joins them.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import SearchResult, States, UserError

UNREACHED = 255  # moves of a state from which the tiles cannot come home
MOST_STATES = 300_000_000  # of a subproblem, a byte each
OUTSIDE = -1  # of a cell that a subproblem keeps as it is
LOCAL_SIZES = {3: 4, 4: 5}  # by side, tiles a step in reading order; elsewhere 2 by bands

Order = Callable[[int], tuple[int, ...]]


class Digits(NamedTuple):
    """How the states of a subproblem are ranked, for kernels."""

    places: np.ndarray  # int64 [D], the digit of each cell, OUTSIDE of those that stay
    tiles: np.ndarray  # int64 [k], in the order of their digits
    base: int  # F


@dataclass(frozen=True)
class Subproblem:
    """Tiles to be brought home, and tiles at home that stay: G and R of the document.

    A state is ranked by digits, that of the blank first, then those of the tiles in their order; a digit is a cell's
    place among the cells that no fixed tile holds.
    """

    side: int
    tiles: tuple[int, ...]
    fixed: frozenset[int] = frozenset()

    @cached_property
    def cells(self) -> np.ndarray:
        """Cells of the board that may change, ascending, int64 [F]."""
        return np.array([cell for cell in range(self.side**2) if cell + 1 not in self.fixed])

    @cached_property
    def places(self) -> np.ndarray:
        """The digit of each cell of the board, OUTSIDE of those that stay: int64 [D]."""
        places = np.full(self.side**2, OUTSIDE)
        places[self.cells] = np.arange(len(self.cells))
        return places

    @cached_property
    def homes(self) -> np.ndarray:
        """The cell of each tile in the goal, int64 [k]."""
        return self.numbers - 1

    @cached_property
    def numbers(self) -> np.ndarray:
        """The tiles, int64 [k]."""
        return np.array(self.tiles)

    @property
    def digits(self) -> Digits:
        """How its states are ranked."""
        return Digits(self.places, self.numbers, len(self.cells))

    @property
    def ranks(self) -> int:
        """How many ranks there are, those of no state among them: F ** (k + 1)."""
        return (self.side**2 - len(self.fixed)) ** (len(self.tiles) + 1)

    @property
    def state_count(self) -> int:
        """Ways in which its tiles and the blank may lie: F (F - 1) … (F - k)."""
        return math.perm(self.side**2 - len(self.fixed), len(self.tiles) + 1)


def reading_order(side: int) -> tuple[int, ...]:
    """Row by row: 1, 2, …, side² - 1, the document's order."""
    return tuple(range(1, side * side))


def band_order(side: int) -> tuple[int, ...]:
    """Row by row, the last two rows column by column: no subproblem has many tiles, whatever the side."""
    tiles = list(range(1, side * (side - 2) + 1))
    for column in range(1, side + 1):
        tiles += [side * (side - 2) + column, side * (side - 1) + column]
    return tuple(tiles[:-1])


def distances(problem: Subproblem) -> np.ndarray:
    """The value function by backward search: moves until all tiles are home, by rank, uint8 [F ** (k + 1)].

    UNREACHED where they cannot come home, and at ranks of no state. A value function of the document is its image:
    V = γ ** moves / (1 - γ). Raises UserError where there are more ranks than MOST_STATES.
    """
    if problem.ranks > MOST_STATES:
        raise UserError(
            f"To bring {len(problem.tiles)} tiles home among {len(problem.cells)} cells at once has too many states to "
            "list; choose a smaller size, or the order by bands."
        )
    found = np.full(problem.ranks, UNREACHED, dtype=np.uint8)
    sources = SlidingTiles(problem.side).sources
    if not _search_backwards(found, problem.cells, problem.places, problem.homes, sources, problem.state_count):
        raise UserError(f"A subproblem of the board of side {problem.side} takes more than {UNREACHED - 1} moves.")
    return found


@dataclass
class Local:
    """Algorithm 2: tiles brought home in an order, some at a time, each step by an exact value function.

    size: how many tiles each step begins with.  preference: the actions in the order in which the policy takes them
    where several come nearer.  values: the value functions so far, by subproblem; each is made once.
    """

    puzzle: SlidingTiles
    size: int = 1
    order: Order = reading_order
    preference: tuple[int, ...] = (0, 1, 2, 3)
    values: dict[Subproblem, np.ndarray] = field(default_factory=dict, repr=False)
    _problems: dict[tuple[int, int], Subproblem] = field(default_factory=dict, repr=False)

    @cached_property
    def steps(self) -> list[tuple[int, ...]]:
        """The tiles that each step brings home, in the order: the last step may have fewer."""
        tiles = self.order(self.puzzle.side)
        return [tiles[first : first + self.size] for first in range(0, len(tiles), self.size)]

    def subproblem(self, step: int, more: int) -> Subproblem:
        """A step that may also move the last `more` of the tiles at home."""
        if (step, more) not in self._problems:
            tiles = self.order(self.puzzle.side)
            first, last = step * self.size - more, min((step + 1) * self.size, len(tiles))
            problem = Subproblem(self.puzzle.side, tiles[first:last], frozenset(tiles[:first]))
            self._problems[step, more] = problem
        return self._problems[step, more]

    def value_function(self, problem: Subproblem) -> np.ndarray:
        """Distances of a subproblem, kept from the first time on."""
        if problem not in self.values:
            self.values[problem] = distances(problem)
        return self.values[problem]

    def tried(
        self, step: int, rows: np.ndarray, ranks_in: Callable[[Subproblem, np.ndarray], np.ndarray]
    ) -> Iterator[tuple[Subproblem, np.ndarray, np.ndarray]]:
        """The rows that a step solves as it moves more and more of the tiles at home, with their subproblem and ranks.

        rows: int64 [N], each solvable.  ranks_in: the ranks of rows in a subproblem.
        """
        # Move as few of the tiles at home as will do: with each one more, there are many more states.
        for more in range(step * self.size + 1):
            if not len(rows):
                return
            problem = self.subproblem(step, more)
            ranks = ranks_in(problem, rows)
            able = self.value_function(problem)[ranks] != UNREACHED
            yield problem, rows[able], ranks[able]
            rows = rows[~able]
        if len(rows):
            raise AssertionError("A board that can be solved is solved once all its tiles may move.")

    def solve(self, starts: States) -> "LocalSolutions":
        """Solve every start, uint8 [B, D]; UserError where one of them cannot be solved at all."""
        if not self.puzzle.is_reachable(starts).all():
            raise UserError(f"Impossible board of {self.puzzle.name}: two tiles are exchanged.")
        boards, found = starts.copy(), LocalSolutions.empty(len(starts), len(self.steps))
        everyone = np.arange(len(starts))
        for step in range(len(self.steps)):
            for problem, rows, ranks in self.tried(
                step, everyone, lambda problem, rows: ranks_of(problem, boards[rows])
            ):
                found.sizes[rows, step] = len(problem.tiles)
                found.moves[rows, step] = self.value_function(problem)[ranks]
                self._follow(problem, found, boards, rows, ranks)
        found.lower_bound[:] = found.moves[:, 0]
        return found

    def _follow(
        self, problem: Subproblem, found: "LocalSolutions", boards: States, rows: np.ndarray, ranks: np.ndarray
    ) -> None:
        """Take the moves of a subproblem in the given rows of the boards, whose ranks are given."""
        values = self.value_function(problem)
        found.make_room(int((found.length[rows] + values[ranks]).max(initial=0)))
        moves = self.puzzle.sources, np.array(self.preference)
        _follow(values, ranks, boards, rows, found.actions, found.length, problem.digits, moves)


@dataclass
class LocalSolutions:
    """How starts were solved, step by step.

    actions: int8 [B, most], the moves of each, of which the first `length` count, int64 [B].
    sizes: uint8 [B, steps], tiles considered at once in each step.  moves: int64 [B, steps], of each step.
    lower_bound: int64 [B], moves of the first step, which fixes nothing.
    """

    actions: np.ndarray
    length: np.ndarray
    sizes: np.ndarray
    moves: np.ndarray
    lower_bound: np.ndarray

    @classmethod
    def empty(cls, starts: int, steps: int) -> "LocalSolutions":
        """Before the first step."""
        length, lower_bound = np.zeros((2, starts), dtype=np.int64)
        sizes, moves = np.zeros((starts, steps), dtype=np.uint8), np.zeros((starts, steps), dtype=np.int64)
        return cls(np.zeros((starts, 0), dtype=np.int8), length, sizes, moves, lower_bound)

    def make_room(self, moves: int) -> None:
        """Make room for solutions of that many moves."""
        if moves > self.actions.shape[1]:
            self.actions = np.pad(self.actions, ((0, 0), (0, moves - self.actions.shape[1])))

    def result(self) -> SearchResult:
        """As of any solver; no nodes are expanded, the value functions are looked up."""
        rows = zip(self.actions, self.length, self.lower_bound, strict=True)
        return SearchResult.from_rows((length, 0, 0, bound, actions[:length]) for actions, length, bound in rows)


def solve(puzzle: SlidingTiles, local: Local, starts: States) -> SearchResult:
    """Local.solve in the form that all solvers have."""
    return local.solve(starts).result()


def local_search(puzzle: SlidingTiles) -> Callable[[States], SearchResult]:
    """The solver with the size of step that suits the side of the board."""
    size, order = (LOCAL_SIZES[puzzle.side], reading_order) if puzzle.side in LOCAL_SIZES else (2, band_order)
    return partial(solve, puzzle, Local(puzzle, size, order))


def ranks_of(problem: Subproblem, boards: States) -> np.ndarray:
    """The ranks of the states in which whole boards, uint8 [N, D], are; int64 [N]."""
    return _rank(boards, problem.digits)


@njit(cache=True)
def _rank(boards, digits):
    places, tiles, base = digits
    ranks = np.empty(len(boards), dtype=np.int64)
    where = np.empty(boards.shape[1], dtype=np.int64)
    for row in range(len(boards)):
        for cell in range(boards.shape[1]):
            where[boards[row, cell]] = places[cell]
        rank = where[BLANK]
        for tile in tiles:
            rank = rank * base + where[tile]
        ranks[row] = rank
    return ranks


@njit(cache=True)
def _search_backwards(found, cells, places, homes, sources, states):
    """Fill in the distances, first of all ranks whose tiles are home; false where one is too large for a byte."""
    base, tiles = len(cells), len(homes)
    weights = base ** np.arange(tiles, -1, -1)
    queue = np.empty(states, dtype=np.int64)
    digits = np.empty(tiles + 1, dtype=np.int64)
    tail = 0
    # The goals: the tiles are home, and the blank is on any other cell.
    for blank in range(base):
        rank, free = blank * weights[0], True
        for tile in range(tiles):
            rank += places[homes[tile]] * weights[tile + 1]
            free &= places[homes[tile]] != blank
        if free:
            found[rank], queue[tail] = 0, rank
            tail += 1
    head = 0
    while head < tail:
        # Take the nearest state whose neighbours have not been looked at.
        rank = queue[head]
        head += 1
        rest = rank
        for i in range(tiles, -1, -1):
            digits[i] = rest % base
            rest //= base
        blank = digits[0]
        for action in range(sources.shape[1]):
            source = places[sources[cells[blank], action]]
            if source == OUTSIDE or source == blank:
                continue
            # The blank moves; so does a tile of the subproblem, if it is one that the blank changes places with.
            child = rank + (source - blank) * weights[0]
            for tile in range(1, tiles + 1):
                if digits[tile] == source:
                    child += (blank - source) * weights[tile]
            # Moves can be undone: a state reached first is one move farther.
            if found[child] == UNREACHED:
                if found[rank] + 1 == UNREACHED:
                    return False
                found[child], queue[tail] = found[rank] + 1, child
                tail += 1
    return True


@njit(cache=True)
def _follow(values, ranks, boards, rows, actions, length, digits, moves):
    """Move until the tiles are home: each move the first, by preference, that comes nearer by the value function.

    moves: the cell that the blank goes to by cell and action, and the actions by preference.
    """
    (places, tiles, base), (sources, preference) = digits, moves
    # What a digit counts in a rank, by tile; 0 of a tile that is not of the subproblem.
    weight = np.zeros(boards.shape[1], dtype=np.int64)
    weight[BLANK] = base ** len(tiles)
    for i in range(len(tiles)):
        weight[tiles[i]] = base ** (len(tiles) - 1 - i)
    for i in range(len(rows)):
        rank, row = ranks[i], rows[i]
        board = boards[row]
        blank = 0
        while board[blank] != BLANK:
            blank += 1
        while values[rank] > 0:
            for action in preference:
                source = sources[blank, action]
                if source == blank or places[source] == OUTSIDE:
                    continue
                tile = board[source]
                step = places[source] - places[blank]
                child = rank + step * (weight[BLANK] - weight[tile])
                # The function is exact, so some move comes nearer by one.
                if values[child] == values[rank] - 1:
                    board[blank], board[source], blank = tile, BLANK, source
                    actions[row, length[row]] = action
                    length[row] += 1
                    rank = child
                    break
