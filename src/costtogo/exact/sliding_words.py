"""Words of moves that a search of sliding tiles need not try, for another word leads to the same board (Taylor and Korf
1993, Pruning duplicate nodes in depth-first search, AAAI).

A word is forbidden if an earlier one, shorter or as long and before it in the order of letters, moves the same tiles to
the same cells and keeps the blank within the rectangle that the forbidden one needs: it can be made wherever that can.
Of all shortest solutions of a board the first in that order has no forbidden word in it, else the other word in its
place would make an earlier one. So a search that leaves all of them out still finds a shortest solution.
"""

from collections import deque
from functools import lru_cache

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.sliding import ACTIONS, TILE_FROM
from costtogo.types import NO_STATE

BITS = 2  # of a letter in a word; the last letter is lowest, so that words of one length are in order as numbers
STEPS = np.array([TILE_FROM[action] for action in ACTIONS])  # rows and columns that the blank goes: int64 [A, 2]


@lru_cache(maxsize=4)
def automaton(longest: int) -> np.ndarray:
    """What reads moves one by one and knows whether a forbidden word of up to so many has ended, int32 [states, A].

    The next state by state and action, NO_STATE where a forbidden word ends; the first state is that of no moves. A
    move and its undoing are a forbidden word of two: no word does the same.
    """
    return _reader(forbidden_words(longest))


def forbidden_words(longest: int) -> list[np.ndarray]:
    """The forbidden words of 0, 1, … longest moves that have no shorter one in them: int64, packed, ascending."""
    marks = _marks(longest)
    forbidden, kept = [np.zeros(0, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    ends = [_ends(kept[0], 0, marks, STEPS)]
    for length in range(1, longest + 1):
        words = (kept[-1][:, None] << BITS | np.arange(len(STEPS))).ravel()
        for shorter, known in enumerate(forbidden):
            words = words[~np.isin(words & (1 << BITS * shorter) - 1, known)]
        ends.append(_ends(words, length, marks, STEPS))
        alike = range(length % 2, length + 1, 2)  # a move changes the parity
        hashes, extents = (np.concatenate([ends[of][part] for of in alike]) for part in (0, 1))
        sizes = np.repeat(list(alike), [len(ends[of][0]) for of in alike])
        order = np.argsort(hashes, kind="stable")
        later = _later(order, hashes, extents, np.concatenate([*(kept[of] for of in alike[:-1]), words]), sizes, STEPS)
        dead = later[len(later) - len(words) :]
        forbidden.append(words[dead])
        kept.append(words[~dead])
        ends[length] = tuple(part[~dead] for part in ends[length])
    return forbidden


def _marks(longest: int) -> np.ndarray:
    """A random number for each tile in each cell of a board as large as words go, blank in its middle: uint64 [D, D].

    What a word does to the board is hashed to the sum of the marks of its tiles.
    """
    cells = (2 * longest + 1) ** 2
    return np.random.default_rng(0).integers(0, 2**64, (cells, cells), dtype=np.uint64)


@njit(cache=True)
def _ends(words, length, marks, steps):
    """What words of so many moves do to the board, hashed, uint64 [N], and how far the blank goes, int8 [N, 4]."""
    hashes, extents = np.empty(len(words), dtype=np.uint64), np.empty((len(words), 4), dtype=np.int8)
    board, trail = np.arange(len(marks)), np.empty(length + 1, dtype=np.int64)
    for row in range(len(words)):
        hashes[row] = _play(board, words[row], trail, marks, steps, extents[row])
        _unplay(board, trail)
    return hashes, extents


@njit(cache=True)
def _play(board, word, trail, marks, steps, extent):
    """Make the moves of a word with the blank in the middle; the change of the hash.

    Writes the cells of the blank, int64 [moves + 1], and how far it goes.
    """
    side = int(np.sqrt(len(board)))
    length, row, column = len(trail) - 1, 0, 0
    hashed = np.uint64(0)
    trail[0], extent[:] = len(board) // 2, 0
    for place in range(length):
        action = word >> BITS * (length - 1 - place) & 3
        row, column = row + steps[action, 0], column + steps[action, 1]
        blank, cell = trail[place], trail[0] + row * side + column
        hashed += marks[blank, board[cell]] - marks[cell, board[cell]]
        board[blank], board[cell], trail[place + 1] = board[cell], board[blank], cell
        extent[0], extent[1] = max(extent[0], -row), max(extent[1], row)
        extent[2], extent[3] = max(extent[2], -column), max(extent[3], column)
    return hashed


@njit(cache=True)
def _unplay(board, trail):
    """Undo moves, last to first, by the cells of the blank."""
    for place in range(len(trail) - 1, 0, -1):
        cell, blank = trail[place - 1], trail[place]
        board[blank], board[cell] = board[cell], board[blank]


@njit(cache=True)
def _later(order, hashes, extents, words, sizes, steps):
    """Which words an earlier one of the same hash forbids, bool [N]; what both do is compared, for hashes may lie."""
    later = np.zeros(len(words), dtype=np.bool_)
    cells = (2 * sizes.max() + 1) ** 2
    marks = np.zeros((cells, cells), dtype=np.uint64)
    board, other, extent = np.arange(cells), np.arange(cells), np.empty(4, dtype=np.int8)
    trail, other_trail = np.empty((2, sizes.max() + 1), dtype=np.int64)
    first = 0
    for place in range(1, len(order)):
        if hashes[order[place]] != hashes[order[first]]:
            first = place
        word = order[place]
        way = trail[: sizes[word] + 1]
        for before in order[first:place]:
            if (extents[before] > extents[word]).any():
                continue
            other_way = other_trail[: sizes[before] + 1]
            _play(board, words[word], way, marks, steps, extent)
            _play(other, words[before], other_way, marks, steps, extent)
            later[word] |= (board == other).all()
            _unplay(board, way)
            _unplay(other, other_way)
    return later


def _reader(forbidden: list[np.ndarray]) -> np.ndarray:
    """The automaton that finds the first of many words in a text (Aho and Corasick 1975, doi:10.1145/360825.360855)."""
    actions = range(len(STEPS))
    onward, ends = [[NO_STATE] * len(STEPS)], []
    for length, words in enumerate(forbidden):
        for word in words.tolist():
            state = 0
            for place in reversed(range(length)):
                action = word >> BITS * place & 3
                if onward[state][action] == NO_STATE:
                    onward[state][action] = len(onward)
                    onward.append([NO_STATE] * len(STEPS))
                state = onward[state][action]
            ends.append(state)
    shorter = [0] * len(onward)  # the state of the longest end of the text that leads elsewhere
    waiting = deque([0])
    while waiting:
        state = waiting.popleft()
        for action in actions:
            longer, otherwise = onward[state][action], onward[shorter[state]][action] if state else 0
            if longer == NO_STATE:
                onward[state][action] = otherwise
            else:
                shorter[longer] = otherwise
                waiting.append(longer)
    table = np.array(onward, dtype=np.int32)
    numbers = np.full(len(table), NO_STATE, dtype=np.int32)
    alive = np.setdiff1d(np.arange(len(table)), ends)
    numbers[alive] = np.arange(len(alive))
    return numbers[table[alive]]
