"""Manhattan distance and linear conflicts: by definition, never above the distance, one move at a time."""

from itertools import combinations, permutations

import numpy as np
import pytest

from costtogo.heuristics.manhattan import Manhattan, conflicts_of_lines
from costtogo.learning.random_walk import draw_walks
from costtogo.puzzles import make

EIGHT = make("puzzle8")


def manhattan_by_definition(puzzle, boards) -> np.ndarray:
    tiles = np.arange(puzzle.cells - 1)
    row, column = np.divmod(np.argsort(boards, axis=1)[:, 1:], puzzle.side)
    return (abs(row - tiles // puzzle.side) + abs(column - tiles % puzzle.side)).sum(axis=1)


def conflicts_by_definition(order) -> int:
    """Two moves for each tile that must leave a line so that the others are in order; 0 is none of its tiles."""
    own = [place for place in order if place]
    for kept in range(len(own), -1, -1):
        if any(list(some) == sorted(some) for some in combinations(own, kept)):
            return 2 * (len(own) - kept)
    raise AssertionError("no tiles are always in order")


@pytest.mark.parametrize("name", ["puzzle8", "puzzle15", "puzzle24", "puzzle35", "puzzle48"])
def test_it_is_the_sum_of_rows_and_columns_to_go(name):
    puzzle = make(name)
    boards = draw_walks(puzzle, 300, 300, np.random.default_rng(1)).states
    np.testing.assert_array_equal(Manhattan(puzzle)(boards), manhattan_by_definition(puzzle, boards))


@pytest.mark.parametrize("side", [3, 4])
def test_conflicts_of_a_line_are_the_fewest_tiles_that_must_leave_it(side):
    moves = conflicts_of_lines(side)
    powers = (side + 1) ** np.arange(side)
    for tiles in range(side + 1):
        for some in combinations(range(1, side + 1), tiles):
            for order in set(permutations([*some, *[0] * (side - tiles)])):
                assert moves[np.dot(order, powers)] == conflicts_by_definition(order), order


@pytest.mark.parametrize(
    ("board", "moves"),
    [
        ("2 1 3 4 5 6 8 7 0", 4),  # two pairs, in two rows
        ("3 2 1 4 5 6 7 0 8", 4),  # of three tiles in reverse order two must leave
        ("7 2 3 4 5 6 1 0 8", 4),  # the same in a column
        ("4 5 6 1 2 3 7 0 8", 6),  # columns: 4 above 1, 5 above 2, 6 above 3
        ("2 3 4 5 6 7 8 1 0", 0),
    ],
)
def test_conflicts_add_to_the_manhattan_distance_in_rows_and_in_columns(board, moves):
    state = np.array([board.split()], dtype=np.uint8)
    assert Manhattan(EIGHT, linear_conflicts=True)(state)[0] - Manhattan(EIGHT)(state)[0] == moves


@pytest.mark.parametrize("linear_conflicts", [False, True])
def test_it_is_admissible_and_consistent_on_all_boards_of_the_8_puzzle(linear_conflicts, distances_of):
    boards, distance = EIGHT.unrank(np.arange(EIGHT.state_count)), distances_of("puzzle8")
    heuristic = Manhattan(EIGHT, linear_conflicts)
    values = heuristic(boards)
    assert values.dtype == np.float32 and (values <= distance).all() and ((distance - values) % 2 == 0).all()
    np.testing.assert_array_equal(values == 0, distance == 0)
    children = heuristic.children(boards)
    _, legal = EIGHT.expand(boards)
    np.testing.assert_array_equal(np.isfinite(children), legal)
    assert (abs(children - values[:, None])[legal] == 1).all()
    assert linear_conflicts == (values > manhattan_by_definition(EIGHT, boards)).any()
