"""Cost-to-go of sliding tiles as a sum over small groups of neighbouring cells, whatever the size of the board.

A cell counts by how far its tile still has to go, up and down and to either side, far being as good as farther; the
blank and the wall around the board count as such. Each group, a block of two by two cells or three in a line, adds a
learned number to Manhattan distance; groups that are images of each other by the symmetries of a square share
theirs. So lines know linear conflicts. What is learned on one board holds on boards of any size. A move changes only a
few groups, and the cost-to-go of a child takes a fraction of a microsecond. (Sums over tuples of cells: Lucas 2008,
"Learning to play Othello with n-tuple systems", Australian Journal of Intelligent Information Processing 9(4).)
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import CostToGo, States

BLOCK, LINE = (2, 2), (1, 3)  # rows and columns of a group
AS_BLOCK, AS_LINE, LYING = range(3)  # how a cell is coded: for blocks, for lines, and for lines as if transposed
NEAR = 0, 21, 38, 55  # where the cells of each way of coding begin and end that groups near the blank have
NEAR_GROUPS = 12, 22  # how many blocks, and how many lines, have the blank's cell or a neighbour of it
PARTS = 256  # of a move, in which searches count what groups add
TOUCHED = 6  # groups of each way of coding, at most, that a move changes


class Groups(NamedTuple):
    """All groups on a board. Their codes in order are the digits of an entry; those of lines follow those of blocks.

    coding: int32 [3, D + 1, letters], the codes of each tile in each cell; the last cell is the wall.
    bases: int32 [2], how many codes there are for blocks, and for lines.
    blocks, lines: int32 [G, 4] and [G, 3], their cells, as places in the codes of a board, [3 (D + 1)].
    near: int32 [D, 55], the cells of all groups that some move changes, by the blank's cell, for each way of coding.
    near_blocks, near_lines: int32 [12, 4] and [22, 3], those groups, by places in `near`.
    touched: int32 [A, 3 · 6], those that an action changes, for each way of coding; the one after the last for none.
    powers: int32 [2, A, 3 · 6], what the codes of the blank's cell and of the cell of the tile that moves count there.
    rows: int32 [entries], the weight of each.
    """

    coding: np.ndarray
    bases: np.ndarray
    blocks: np.ndarray
    lines: np.ndarray
    near: np.ndarray
    near_blocks: np.ndarray
    near_lines: np.ndarray
    touched: np.ndarray
    powers: np.ndarray
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

    @cached_property
    def in_parts(self) -> np.ndarray:
        """The weight of each entry in parts of a move, int16 [entries]; none is as large as a hundred moves."""
        return np.clip(np.rint(PARTS * self.table), -(2**15), 2**15 - 1).astype(np.int16)

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
        *groups_near(puzzle, (coded(block_reach), coded(line_reach), coded(line_reach))),
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
    for row, column in product(range(1 - rows, side), range(1 - columns, side)):
        places = block_at(row, column, rows, columns)
        cells = [y * side + x if 0 <= min(y, x) and max(y, x) < side else wall for y, x in places]
        if min(cells) < wall:
            groups.append([coding * (wall + 1) + cell for cell in cells])
    return np.array(groups, dtype=np.int32)


def block_at(row: int, column: int, rows: int, columns: int) -> list[tuple[int, int]]:
    """Rows and columns of the cells of a block, the first of which is given."""
    return [(row + down, column + right) for down, right in product(range(rows), range(columns))]


def groups_near(puzzle: SlidingTiles, bases: tuple[int, int, int]) -> tuple[np.ndarray, ...]:
    """Groups.near to Groups.powers: which groups a move changes is the same wherever the blank is.

    bases: of each way of coding.
    """
    steps = [step_of(puzzle, action) for action in range(len(puzzle.actions))]
    kinds, groups = ((AS_BLOCK, BLOCK), (AS_LINE, LINE), (LYING, LINE[::-1])), []
    for coding, (rows, columns) in kinds:
        for row, column in product(range(-rows, 2), range(-columns, 2)):
            places = block_at(row, column, rows, columns)
            if {(0, 0), *steps} & set(places):
                groups.append([(coding, *place) for place in places])
    cells = sorted({cell for group in groups for cell in group})
    touched = np.full((len(steps), len(kinds), TOUCHED), len(groups), dtype=np.int32)
    powers = np.zeros((2, *touched.shape), dtype=np.int32)
    for action, coding in np.ndindex(len(steps), len(kinds)):
        ends = (coding, 0, 0), (coding, *steps[action])
        changed = [(at, group) for at, group in enumerate(groups) if set(ends) & set(group)]
        for slot, (at, group) in enumerate(changed):
            touched[action, coding, slot] = at
            for end, cell in enumerate(ends):
                if cell in group:
                    powers[end, action, coding, slot] = bases[coding] ** (len(group) - 1 - group.index(cell))
    numbers = np.array([[cells.index(cell) for cell in (*group, *group)][:4] for group in groups], dtype=np.int32)
    blocks = NEAR_GROUPS[0]
    return (
        near_cells(puzzle, cells),
        numbers[:blocks],
        numbers[blocks:, :3],
        *(each.reshape(*each.shape[:-2], -1) for each in (touched, powers)),
    )


def step_of(puzzle: SlidingTiles, action: int) -> tuple[int, int]:
    """Rows and columns from the blank to the tile that an action moves."""
    blank = puzzle.legal_at[:, action].argmax()
    (row, below), (column, beside) = np.divmod([blank, puzzle.sources[blank, action]], puzzle.side)
    return int(below - row), int(beside - column)


def near_cells(puzzle: SlidingTiles, cells: list[tuple[int, int, int]]) -> np.ndarray:
    """Groups.near.  cells: how each is coded, rows and columns from the blank."""
    _, down, right = np.array(cells).T
    rows, columns = np.divmod(np.arange(puzzle.cells)[:, None], puzzle.side)
    rows, columns = rows + down, columns + right
    inside = (np.minimum(rows, columns) >= 0) & (np.maximum(rows, columns) < puzzle.side)
    return np.where(inside, rows * puzzle.side + columns, puzzle.cells).astype(np.int32)


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


@njit(cache=True, nogil=True)
def near_blank(groups, table):
    """Three arrays for `look` to fill: codes of the cells near the blank, entries of the groups there, what those add.

    After the codes come the bases. The last entry is of no group; actions that change few groups use it.
    """
    codes = np.zeros(NEAR[3] + 2, dtype=np.int32)
    codes[-2:] = groups.bases
    entries = np.zeros(NEAR_GROUPS[0] + NEAR_GROUPS[1] + 1, dtype=np.int32)
    return codes, entries, np.full(len(entries), table[0] if len(table) else table.dtype.type(0), table.dtype)


@njit(cache=True, nogil=True, inline="always")
def look(board, blank, coding, near, near_blocks, near_lines, table, codes, entries, before):
    """Note the entries of the groups near the blank, and what they add. The last three arrays are near_blank's."""
    cells, block, line = board.shape[0], codes[len(codes) - 2], codes[len(codes) - 1]
    for kind in range(3):
        for place in range(NEAR[kind], NEAR[kind + 1]):
            cell = near[blank, place]
            codes[place] = coding[kind, cell, board[cell] if cell < cells else BLANK]
    for group in range(NEAR_GROUPS[0]):
        upper = codes[near_blocks[group, 0]] * block + codes[near_blocks[group, 1]]
        entry = (upper * block + codes[near_blocks[group, 2]]) * block + codes[near_blocks[group, 3]]
        entries[group], before[group] = entry, table[entry]
    for group in range(NEAR_GROUPS[1]):
        begin = codes[near_lines[group, 0]] * line + codes[near_lines[group, 1]]
        entry = block**4 + begin * line + codes[near_lines[group, 2]]
        entries[NEAR_GROUPS[0] + group], before[NEAR_GROUPS[0] + group] = entry, table[entry]


@njit(cache=True, nogil=True, inline="always")
def change(blank, action, source, tile, coding, touched, powers, table, entries, before):
    """What the groups add after a move, less what they add before it, by a look at the board before."""
    total = before[0] - before[0]  # zero, of the kind that the table's differences are
    for kind in range(3):
        here = coding[kind, blank, tile] - coding[kind, blank, BLANK]
        there = coding[kind, source, BLANK] - coding[kind, source, tile]
        for at in range(TOUCHED * kind, TOUCHED * (kind + 1)):
            group = touched[action, at]
            entry = entries[group] + here * powers[0, action, at] + there * powers[1, action, at]
            total += table[entry] - before[group]
    return total


@njit(cache=True, nogil=True)
def whole(board, groups, table, codes):
    """What all groups add; writes the codes of the board."""
    for kind in range(len(groups.coding)):
        for cell in range(len(board)):
            codes[kind * groups.coding.shape[1] + cell] = groups.coding[kind, cell, board[cell]]
    total, base, longer = table[0] - table[0], groups.bases[0], groups.bases[1]
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
    codes, coding = with_codes(groups), groups.coding
    near, near_blocks, near_lines, touched, powers = (
        groups.near,
        groups.near_blocks,
        groups.near_lines,
        groups.touched,
        groups.powers,
    )
    close, entries, before = near_blank(groups, table)
    for row in range(len(states)):
        distance, blank = 0, 0
        for cell in range(states.shape[1]):
            distance += manhattan[cell, states[row, cell]]
            blank = cell if states[row, cell] == BLANK else blank
        more = whole(states[row], groups, table, codes)
        look(states[row], blank, coding, near, near_blocks, near_lines, table, close, entries, before)
        for action in range(sources.shape[1]):
            source = sources[blank, action]
            if source == blank:
                continue
            tile = states[row, source]
            nearer = distance + manhattan[blank, tile] - manhattan[source, tile]
            added = more + change(blank, action, source, tile, coding, touched, powers, table, entries, before)
            found[row, action] = 0 if nearer == 0 else nearer + max(added, np.float32(0))
