"""Cost-to-go of sliding tiles as a sum over small groups of neighbouring cells, whatever the size of the board.

A cell counts by how far its tile still has to go, up and down and to either side, far being as good as farther; the
blank and the wall around the board count as such. Each group, a block of two by two cells or three in a line, adds a
learned number to Manhattan distance; groups that are images of each other by the symmetries of a square share
theirs. So lines know linear conflicts. What is learned on one board holds on boards of any size. A move changes only a
few groups, and the cost-to-go of a child takes a fraction of a microsecond. (Sums over tuples of cells: Lucas 2008,
"Learning to play Othello with n-tuple systems", Australian Journal of Intelligent Information Processing 9(4).)
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import CostToGo, States

BLOCK, LINE = (2, 2), (1, 3)  # rows and columns of a group
CHANGED = 6, 10  # blocks and lines, at most, that a move changes
AS_BLOCK, AS_LINE, LYING = range(3)  # how a cell is coded: for blocks, for lines, and for lines as if transposed


class Groups(NamedTuple):
    """All groups on a board. Their codes in order are the digits of an entry; those of lines follow those of blocks.

    coding: int32 [3, D + 1, letters], the codes of each tile in each cell; the last cell is the wall.
    bases: int32 [2], how many codes there are for blocks, and for lines.
    blocks, lines: int32 [G, 4] and [G, 3], their cells, as places in the codes of a board, [3 (D + 1)].
    changed: int32 [D, A, 6 · 4 + 10 · 3], the cells of the blocks and then of the lines that a move changes, by the
    blank's cell and the action; -1 after the last.
    rows: int32 [entries], the weight of each.
    """

    coding: np.ndarray
    bases: np.ndarray
    blocks: np.ndarray
    lines: np.ndarray
    changed: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True)
class TupleValues:
    """What a network of this kind says with the weights of one moment, by compiled code.

    table: float32 [entries], the weight of each.  manhattan: int32 [D, letters].  reaches: of blocks and of lines.
    """

    puzzle: SlidingTiles
    groups: Groups
    table: np.ndarray
    manhattan: np.ndarray
    reaches: tuple[int, int]

    def of(self, states: States) -> CostToGo:
        """The cost-to-go of states, uint8 [N, D], at least Manhattan distance: float32 [N]."""
        found = np.empty(len(states), dtype=np.float32)
        _evaluate(states, self.manhattan, self.groups, self.table, found)
        return found

    def __call__(self, states: States) -> CostToGo:
        """The cost-to-go of all children of states, uint8 [N, D]: float32 [N, A], inf where an action is not legal."""
        found = np.full((len(states), len(self.puzzle.actions)), np.inf, dtype=np.float32)
        _evaluate_children(states, self.puzzle.sources, self.manhattan, self.groups, self.table, found)
        return found

    def toward(self, goal: States) -> Groups:
        """The groups where tiles have to go to where they are on another board, uint8 [D]."""
        return self.groups._replace(coding=coding_of(self.puzzle, goal, *self.reaches))


def displacements(puzzle: SlidingTiles, goal: States) -> np.ndarray:
    """Rows and columns that each tile in each cell has to go to its cell on a board, int64 [2, D, letters]; 0 for the
    blank."""
    wanted, here = np.array(np.divmod(np.argsort(goal), puzzle.side)), np.arange(puzzle.cells)
    moves = wanted[:, None, :] - np.array(np.divmod(here, puzzle.side))[:, :, None]
    moves[:, :, BLANK] = 0
    return moves


@lru_cache(maxsize=8)
def groups_of(puzzle: SlidingTiles, block_reach: int, line_reach: int) -> Groups:
    """All groups of a board of which a cell lies on it; lines lie or stand."""
    blocks = placed(puzzle.side, BLOCK, AS_BLOCK)
    lines = np.concatenate([placed(puzzle.side, LINE, AS_LINE), placed(puzzle.side, LINE[::-1], LYING)])
    of_blocks, of_lines = rows_of(BLOCK, block_reach), rows_of(LINE, line_reach)
    return Groups(
        coding_of(puzzle, puzzle.goal, block_reach, line_reach),
        np.array([coded(block_reach), coded(line_reach)], dtype=np.int32),
        blocks,
        lines,
        np.concatenate([cells_changed(puzzle, *some) for some in zip((blocks, lines), CHANGED, strict=True)], axis=2),
        np.concatenate([of_blocks, of_lines + of_blocks.max() + 1]),
    )


def coded(reach: int) -> int:
    """How many codes there are: of displacements, of the blank and of the wall, the last."""
    return (2 * reach + 1) ** 2 + 2


def coding_of(puzzle: SlidingTiles, goal: States, block_reach: int, line_reach: int) -> np.ndarray:
    """Groups.coding for a board to be reached; rows or columns from the reach on count as just as far."""
    codes, ways = [], displacements(puzzle, goal)
    for reach, moves in ((block_reach, ways), (line_reach, ways), (line_reach, ways[::-1])):
        down, right = np.clip(moves, -reach, reach) + reach
        numbers = np.pad((2 * reach + 1) * down + right, ((0, 1), (0, 0)), constant_values=coded(reach) - 1)
        numbers[:-1, BLANK] = coded(reach) - 2
        codes.append(numbers)
    return np.array(codes, dtype=np.int32)


def placed(side: int, size: tuple[int, int], coding: int) -> np.ndarray:
    """The cells of each group of a size, as places in the codes of a board, int32 [G, n]."""
    (rows, columns), wall, groups = size, side * side, []
    for row, column in product(range(-1, side + 2 - rows), range(-1, side + 2 - columns)):
        places = [(row + down, column + right) for down, right in product(range(rows), range(columns))]
        cells = [y * side + x if 0 <= min(y, x) and max(y, x) < side else wall for y, x in places]
        if min(cells) < wall:
            groups.append([coding * (wall + 1) + cell for cell in cells])
    return np.array(groups, dtype=np.int32)


def cells_changed(puzzle: SlidingTiles, groups: np.ndarray, most: int) -> np.ndarray:
    """The cells of those groups that each move changes, int32 [D, A, most · n]; -1 after the last."""
    within = groups % (puzzle.cells + 1)
    touched = (within[None] == np.arange(puzzle.cells)[:, None, None]).any(2)  # [D, G]
    either = (touched[:, None] | touched[puzzle.sources]) & puzzle.legal_at[..., None]  # [D, A, G]
    cells = np.full((*either.shape[:2], most, groups.shape[1]), -1, dtype=np.int32)
    for blank, action in np.argwhere(puzzle.legal_at):
        changed = groups[either[blank, action]]
        cells[blank, action, : len(changed)] = changed
    return cells.reshape(*either.shape[:2], -1)


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
def with_codes(groups):
    """Room for the codes of a board, int32 [3 (D + 1) + 2], of which those of the wall are set; then the bases."""
    size = groups.coding.shape[1]
    codes = np.zeros(len(groups.coding) * size + 2, dtype=np.int32)
    for kind in range(len(groups.coding)):
        codes[(kind + 1) * size - 1] = groups.coding[kind, size - 1, 0]
    codes[-2:] = groups.bases
    return codes


@njit(cache=True, nogil=True, inline="always")
def encode(board, coding, codes):
    """Write the codes of a board."""
    for cell in range(len(board)):
        _code(cell, board[cell], coding, codes)


@njit(cache=True, nogil=True, inline="always")
def _code(cell, tile, coding, codes):
    """Write the codes of a tile in a cell."""
    for kind in range(len(coding)):
        codes[kind * coding.shape[1] + cell] = coding[kind, cell, tile]


@njit(cache=True, nogil=True, inline="always")
def change(blank, action, source, tile, coding, cells, table, codes):
    """What the groups add after a move, less what they add before it.

    cells: Groups.changed.  codes: of the board, and so they stay.
    """
    before = _of_move(blank, action, cells, table, codes)
    _code(blank, tile, coding, codes)
    _code(source, BLANK, coding, codes)
    after = _of_move(blank, action, cells, table, codes)
    _code(blank, BLANK, coding, codes)
    _code(source, tile, coding, codes)
    return after - before


@njit(cache=True, nogil=True, inline="always")
def _of_move(blank, action, cells, table, codes):
    """What the groups add that a move changes."""
    total, base, longer = np.float32(0), codes[len(codes) - 2], codes[len(codes) - 1]
    for at in range(0, 4 * CHANGED[0], 4):
        if cells[blank, action, at] < 0:
            break
        upper = codes[cells[blank, action, at]] * base + codes[cells[blank, action, at + 1]]
        lower = codes[cells[blank, action, at + 2]] * base + codes[cells[blank, action, at + 3]]
        total += table[upper * base * base + lower]
    for at in range(4 * CHANGED[0], 4 * CHANGED[0] + 3 * CHANGED[1], 3):
        if cells[blank, action, at] < 0:
            break
        begin = codes[cells[blank, action, at]] * longer + codes[cells[blank, action, at + 1]]
        total += table[base**4 + begin * longer + codes[cells[blank, action, at + 2]]]
    return total


@njit(cache=True, nogil=True)
def whole(board, groups, table, codes):
    """What all groups add; writes the codes of the board."""
    encode(board, groups.coding, codes)
    total, base, longer = np.float32(0), groups.bases[0], groups.bases[1]
    blocks, lines = groups.blocks, groups.lines
    for at in range(len(blocks)):
        upper = codes[blocks[at, 0]] * base + codes[blocks[at, 1]]
        total += table[upper * base * base + codes[blocks[at, 2]] * base + codes[blocks[at, 3]]]
    for at in range(len(lines)):
        begin = codes[lines[at, 0]] * longer + codes[lines[at, 1]]
        total += table[base**4 + begin * longer + codes[lines[at, 2]]]
    return total


@njit(cache=True, nogil=True)
def _evaluate(states, manhattan, groups, table, found):
    """Write the cost-to-go of states, at least Manhattan distance."""
    codes = with_codes(groups)
    for row in range(len(states)):
        distance = 0
        for cell in range(states.shape[1]):
            distance += manhattan[cell, states[row, cell]]
        found[row] = distance + max(whole(states[row], groups, table, codes), np.float32(0))


@njit(cache=True, nogil=True)
def _evaluate_children(states, sources, manhattan, groups, table, found):
    """Write the cost-to-go of the children of states where an action is legal, 0 at the goal."""
    codes, coding, cells = with_codes(groups), groups.coding, groups.changed
    for row in range(len(states)):
        distance, blank = 0, 0
        for cell in range(states.shape[1]):
            distance += manhattan[cell, states[row, cell]]
            blank = cell if states[row, cell] == BLANK else blank
        more = whole(states[row], groups, table, codes)
        for action in range(sources.shape[1]):
            source = sources[blank, action]
            if source == blank:
                continue
            tile = states[row, source]
            nearer = distance + manhattan[blank, tile] - manhattan[source, tile]
            added = more + change(blank, action, source, tile, coding, cells, table, codes)
            found[row, action] = 0 if nearer == 0 else nearer + max(added, np.float32(0))
