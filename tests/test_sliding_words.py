"""Words of moves that need not be tried: none is needed for a shortest way, and those left out are known ones."""

from itertools import product

import numpy as np
import pytest

from costtogo.exact.sliding_words import automaton, forbidden_words
from costtogo.puzzles import make
from costtogo.puzzles.sliding import ACTIONS
from costtogo.types import NO_STATE


def boards_with_the_blank_anywhere(side: int) -> np.ndarray:
    """Boards of different tiles, one for each cell of the blank: uint8 [D, D]."""
    others = np.arange(1, side * side)
    return np.array([np.insert(others, cell, 0) for cell in range(side * side)], dtype=np.uint8)


def layers(puzzle, start, depth: int) -> list[set[bytes]]:
    """The boards at each distance from a start, by breadth-first search."""
    found, known = [{start.tobytes()}], {start.tobytes()}
    for _ in range(depth):
        states = np.array([np.frombuffer(state, dtype=np.uint8) for state in found[-1]])
        children, legal = puzzle.expand(states)
        found.append({child.tobytes() for child in children[legal]} - known)
        known |= found[-1]
    return found


def kept(puzzle, start, depth: int, longest: int) -> list[np.ndarray]:
    """The boards at the end of all words of each length without a forbidden word in them, one for each word."""
    onward = automaton(longest)
    states, read, found = start[None], np.zeros(1, dtype=np.int64), [start[None]]
    for _ in range(depth):
        rows, actions = np.nonzero(puzzle.legal(states) & (onward[read] != NO_STATE))
        states, read = puzzle.move(states[rows], actions), onward[read[rows], actions]
        found.append(states)
    return found


def texts(words: np.ndarray, length: int) -> set[str]:
    """The words in letters."""
    return {"".join(ACTIONS[word >> 2 * place & 3] for place in reversed(range(length))) for word in words.tolist()}


@pytest.mark.parametrize(("side", "depth"), [(3, 14), (4, 14), (5, 13)])
def test_each_board_is_reached_in_as_few_moves_as_there_are_without_a_forbidden_word(side, depth):
    puzzle = make(f"puzzle{side * side - 1}")
    middle_and_rim = [row * side + column for row, column in product((0, side // 2, side - 1), repeat=2)]
    for start in boards_with_the_blank_anywhere(side)[middle_and_rim]:
        reached = kept(puzzle, start, depth, 12)
        for layer, states in zip(layers(puzzle, start, depth), reached, strict=True):
            assert layer <= {state.tobytes() for state in states}


def test_hardly_a_board_is_reached_twice():
    puzzle = make("puzzle24")
    start = boards_with_the_blank_anywhere(5)[12]
    distinct, reached = layers(puzzle, start, 12), kept(puzzle, start, 12, 12)
    assert len(reached[6]) == len(distinct[6])
    assert len(reached[12]) < 1.02 * len(distinct[12])
    assert len(kept(puzzle, start, 12, 2)[12]) > 1.15 * len(distinct[12]), "as many as without what undoes a move"


def test_the_shortest_forbidden_words_undo_a_move_or_go_once_and_a_half_round_a_square():
    found = forbidden_words(7)
    assert [len(words) for words in found] == [0, 0, 4, 0, 0, 0, 4, 0]
    assert texts(found[2], 2) == {"UD", "DU", "LR", "RL"}
    assert texts(found[6], 6) == {"LURDLU", "LDRULD", "RULDRU", "RDLURD"}, "the other way round begins with U or D"
