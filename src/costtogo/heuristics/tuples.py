"""Cost-to-go of sliding tiles as a sum over small groups of neighbouring cells, whatever the size of the board.

A cell counts by how far its tile still has to go, up and down and to either side, far being as good as farther; the
blank and the wall around the board count as such. Each group, a block of two by two cells, a pair or three in a line,
adds a learned number to Manhattan distance; groups that are images of each other by the symmetries of a square share
theirs. So pairs know linear conflicts, and what is learned on one board holds on another, of any size. A move changes
a few groups: the cost-to-go of children takes a fraction of a microsecond. (Sums over tuples of cells: Lucas 2008,
"Learning to play Othello with n-tuple systems", Australian Journal of Intelligent Information Processing 9(4).)
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from costtogo.compiled import njit
from costtogo.heuristics.layers import Layer, Network
from costtogo.params.training import ArchitectureParams
from costtogo.puzzles.base import Puzzle
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import CostToGo, States, UserError

SHAPES = ((2, 2), (1, 2), (1, 3))  # rows and columns of a group: a block, a pair, three in a line
AS_BLOCK, AS_LINE, LYING = range(3)  # how a cell is coded: for blocks, for lines, and for lines as if transposed


class Groups(NamedTuple):
    """All groups on a board. A group's entry is entry[g] + the sum of powers[g] times the codes of its cells.

    codes: int32 [3, D + 1, letters], of each tile in each cell; the last cell is the wall, whatever the tile.
    cells: int32 [G, 4], places in the codes of a board, [3 (D + 1)].  powers: int32 [G, 4], 0 where a group is smaller.
    rows: int32 [entries], the weight of each entry.
    by_move: int32 [D, A, K], groups that a move changes, by the blank's cell and the action; -1 for none.
    """

    codes: np.ndarray
    cells: np.ndarray
    powers: np.ndarray
    entry: np.ndarray
    rows: np.ndarray
    by_move: np.ndarray


class TupleNetwork(Network):
    """The weight of each group, and Manhattan distance: int32 [N, G + 1] → cost-to-go [N]."""

    def __init__(self, architecture: ArchitectureParams, puzzle: Puzzle):
        super().__init__(architecture, puzzle)
        if not isinstance(puzzle, SlidingTiles):
            raise UserError(f"A network of kind tuples is for sliding tiles, not for {puzzle.name}.")
        self.puzzle, self.manhattan = puzzle, np.abs(displacements(puzzle)).sum(0).astype(np.int32)
        self.groups = groups_of(puzzle, architecture.block_reach, architecture.line_reach)
        self.weight = nn.Parameter(torch.zeros(int(self.groups.rows.max()) + 1, 1))

    def initialise(self) -> None:
        """All weights 0: the network begins as Manhattan distance."""

    def encoded(self, states: States | torch.Tensor) -> torch.Tensor:
        """The input of the network for states, uint8 [N, D]: the weight of each group, then Manhattan distance."""
        given = partial(torch.as_tensor, device=self.weight.device)
        states, cells = given(states).long(), given(np.arange(self.cells))
        own, wall = given(self.groups.codes[:, :-1])[:, cells, states], given(self.groups.codes[:, -1:, 0])
        codes = torch.cat([own, wall[:, None].expand(-1, len(states), -1)], 2).movedim(0, 1).flatten(1)
        digits, powers = codes[:, given(self.groups.cells).long()], given(self.groups.powers)
        entries = (digits * powers).sum(2) + given(self.groups.entry)
        distance = given(self.manhattan)[cells, states].sum(1, keepdim=True)
        return torch.cat([given(self.groups.rows)[entries], distance.int()], 1)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: int32 [N, G + 1], as encoded."""
        groups = functional.embedding_bag(values[:, :-1].contiguous(), self.weight, mode="sum")
        return groups[:, 0] + values[:, -1]

    def outputs(self, states: torch.Tensor) -> torch.Tensor:
        """The cost-to-go of states, a tensor uint8 [N, D], at least Manhattan distance: float32 [N]."""
        values = self.encoded(states)
        return torch.maximum(self(values), values[:, -1].float())

    def frozen(self, dtype: torch.dtype) -> Layer:
        """outputs with the weights of now; on a processor by compiled code."""
        if self.weight.device.type != "cpu":
            return super().frozen(dtype)
        table = self._table()

        def evaluate(states: torch.Tensor) -> torch.Tensor:
            found = np.empty(len(states), dtype=np.float32)
            _evaluate(states.numpy(), self.manhattan, self.groups, table, found)
            return torch.from_numpy(found)

        return evaluate

    def frozen_children(self) -> Callable[[States], CostToGo] | None:
        """The same of all children of states, uint8 [N, D]: float32 [N, A], inf where an action is not legal."""
        if self.weight.device.type != "cpu":
            return None
        table, sources = self._table(), self.puzzle.sources.astype(np.int64)

        def evaluate(states: States) -> CostToGo:
            found = np.full((len(states), sources.shape[1]), np.inf, dtype=np.float32)
            _evaluate_children(states, sources, self.manhattan, self.groups, table, found)
            return found

        return evaluate

    def _table(self) -> np.ndarray:
        """The weight of each entry as it is now, float32."""
        return self.weight.detach().numpy()[self.groups.rows, 0].astype(np.float32)


def displacements(puzzle: SlidingTiles) -> np.ndarray:
    """Rows and columns that each tile in each cell has to go, int64 [2, D, letters]; 0 for the blank."""
    wanted, here = np.array(np.divmod(np.argsort(puzzle.goal), puzzle.side)), np.arange(puzzle.cells)
    moves = wanted[:, None, :] - np.array(np.divmod(here, puzzle.side))[:, :, None]
    moves[:, :, BLANK] = 0
    return moves


def groups_of(puzzle: SlidingTiles, block_reach: int, line_reach: int) -> Groups:
    """All groups of a board of which a cell lies on it; those in a line upright, too."""
    cells, powers, entry, rows, weights = [], [], [], [], 0
    for size in SHAPES:
        reach = block_reach if size == SHAPES[0] else line_reach
        of_entries, count = rows_of(size, reach), size[0] * size[1]
        groups = [*placed(puzzle.side, size, AS_BLOCK if size == SHAPES[0] else AS_LINE)]
        groups += placed(puzzle.side, size[::-1], LYING) if size != SHAPES[0] else []
        none = np.zeros((len(groups), 4 - count), dtype=np.int32)
        cells.append(np.hstack([groups, none]))
        powers.append(np.hstack([np.tile(coded(reach) ** np.arange(count)[::-1], (len(groups), 1)), none]))
        entry.append(np.full(len(groups), sum(map(len, rows))))
        rows.append(of_entries + weights)
        weights += int(of_entries.max()) + 1
    arrays = [np.concatenate(parts).astype(np.int32) for parts in (cells, powers, entry, rows)]
    return Groups(codes_of(puzzle, block_reach, line_reach), *arrays, changed_by(puzzle, *arrays[:2]))


def coded(reach: int) -> int:
    """How many codes there are: of displacements, of the blank and of the wall, the last."""
    return (2 * reach + 1) ** 2 + 2


def codes_of(puzzle: SlidingTiles, block_reach: int, line_reach: int) -> np.ndarray:
    """Groups.codes; rows or columns from the reach on count as just as far."""
    codes, ways = [], displacements(puzzle)
    for reach, moves in ((block_reach, ways), (line_reach, ways), (line_reach, ways[::-1])):
        down, right = np.clip(moves, -reach, reach) + reach
        numbers = np.pad((2 * reach + 1) * down + right, ((0, 1), (0, 0)), constant_values=coded(reach) - 1)
        numbers[:-1, BLANK] = coded(reach) - 2
        codes.append(numbers)
    return np.array(codes, dtype=np.int32)


def placed(side: int, size: tuple[int, int], coding: int) -> list[list[int]]:
    """The cells of each group of a size, as places in the codes of a board."""
    (rows, columns), wall, groups = size, side * side, []
    for row, column in product(range(-1, side + 2 - rows), range(-1, side + 2 - columns)):
        places = [(row + down, column + right) for down, right in product(range(rows), range(columns))]
        cells = [y * side + x if 0 <= min(y, x) and max(y, x) < side else wall for y, x in places]
        if min(cells) < wall:
            groups.append([coding * (wall + 1) + cell for cell in cells])
    return groups


def changed_by(puzzle: SlidingTiles, cells: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """Groups.by_move."""
    within = np.where(powers > 0, cells % (puzzle.cells + 1), puzzle.cells)
    touched = (within[None] == np.arange(puzzle.cells)[:, None, None]).any(2)  # [D, G]
    either = touched[:, None] | touched[puzzle.sources]  # [D, A, G]
    either &= (puzzle.sources != np.arange(puzzle.cells)[:, None])[..., None]
    order = np.argsort(~either, axis=2, kind="stable")[..., : either.sum(2).max()]
    return np.where(np.take_along_axis(either, order, 2), order, -1).astype(np.int32)


def rows_of(size: tuple[int, int], reach: int) -> np.ndarray:
    """The weight of each entry of a group, one for all its images: int32 [codes ** cells]."""
    span, base, count = 2 * reach + 1, coded(reach), size[0] * size[1]
    digits = np.stack(np.unravel_index(np.arange(base**count), (base,) * count), -1).reshape(-1, *size)
    powers = base ** np.arange(count)[::-1]
    least = np.arange(base**count)
    for transposed, *flips in product((False, True) if size[0] == size[1] else (False,), (1, -1), (1, -1)):
        # The codes of the image, then its cells.
        moves = np.stack(np.divmod(np.arange(span * span), span)) - reach
        moves = moves[::-1] if transposed else moves
        moves = np.array(flips)[:, None] * moves + reach
        image = np.append(moves[0] * span + moves[1], [base - 2, base - 1])[digits]
        image = image.transpose(0, 2, 1) if transposed else image
        image = image[:, :: flips[0], :: flips[1]].reshape(-1, count)
        least = np.minimum(least, (image * powers).sum(1))
    return np.unique(least, return_inverse=True)[1].astype(np.int32)


@njit(cache=True, nogil=True)
def _code(board, cell, groups, codes):
    """Write the codes of the tile in a cell."""
    for coding in range(len(groups.codes)):
        codes[coding * (len(board) + 1) + cell] = groups.codes[coding, cell, board[cell]]


@njit(cache=True, nogil=True)
def _of_group(group, groups, table, codes):
    """What a group adds."""
    entry = groups.entry[group]
    for place in range(groups.cells.shape[1]):
        entry += groups.powers[group, place] * codes[groups.cells[group, place]]
    return table[entry]


@njit(cache=True, nogil=True)
def _whole(board, groups, table, codes):
    """What all groups add; writes the codes of the board."""
    for cell in range(len(board)):
        _code(board, cell, groups, codes)
    total = np.float32(0)
    for group in range(len(groups.cells)):
        total += _of_group(group, groups, table, codes)
    return total


@njit(cache=True, nogil=True)
def _changed(blank, action, groups, table, codes):
    """What the groups add that a move changes."""
    total = np.float32(0)
    for place in range(groups.by_move.shape[2]):
        group = groups.by_move[blank, action, place]
        if group < 0:
            break
        total += _of_group(group, groups, table, codes)
    return total


@njit(cache=True, nogil=True)
def _walls(cells, groups):
    """The codes of a board of which only those of the wall are set, int32 [3 (D + 1)]."""
    codes = np.zeros(len(groups.codes) * (cells + 1), dtype=np.int32)
    for coding in range(len(groups.codes)):
        codes[coding * (cells + 1) + cells] = groups.codes[coding, cells, 0]
    return codes


@njit(cache=True, nogil=True)
def _evaluate(states, manhattan, groups, table, found):
    """Write the cost-to-go of states, at least Manhattan distance."""
    codes = _walls(states.shape[1], groups)
    for row in range(len(states)):
        distance = 0
        for cell in range(states.shape[1]):
            distance += manhattan[cell, states[row, cell]]
        found[row] = distance + max(_whole(states[row], groups, table, codes), np.float32(0))


@njit(cache=True, nogil=True)
def _evaluate_children(states, sources, manhattan, groups, table, found):
    """Write the cost-to-go of the children of states where an action is legal, 0 at the goal."""
    codes = _walls(states.shape[1], groups)
    for row in range(len(states)):
        board, distance, blank = states[row].copy(), 0, 0
        for cell in range(len(board)):
            distance += manhattan[cell, board[cell]]
            blank = cell if board[cell] == 0 else blank
        more = _whole(board, groups, table, codes)
        for action in range(sources.shape[1]):
            source = sources[blank, action]
            if source == blank:
                continue
            tile, change = board[source], np.float32(0)
            nearer = distance + manhattan[blank, tile] - manhattan[source, tile]
            # What the groups add after the move in place of what they added before it; then the move is undone.
            for sign in (-1, 1):
                change += sign * _changed(blank, action, groups, table, codes)
                board[blank], board[source] = (tile, 0) if sign < 0 else (0, tile)
                _code(board, blank, groups, codes)
                _code(board, source, groups, codes)
            found[row, action] = 0 if nearer == 0 else nearer + max(more + change, np.float32(0))
