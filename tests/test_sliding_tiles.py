"""Sliding tiles: the rules by hand, which boards there are, and what they say of boards from outside."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo import external, notation
from costtogo import external_files as outside
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, random_walks
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.types import UserError

NAMES = ("puzzle8", "puzzle15", "puzzle24", "puzzle35", "puzzle48")
FIFTEEN = make("puzzle15")
names = st.sampled_from(NAMES)
seeds = st.integers(0, 2**32 - 1)


def some_board(name: str, seed: int) -> np.ndarray:
    return random_walks(make(name), 1, 60, np.random.default_rng(seed))[0, -1]


def slid_by_hand(board: list[list[int]], move: str) -> list[list[int]] | None:
    """The rules once more, on rows of tiles; None where no tile can go there."""
    side, board = len(board), [list(row) for row in board]
    row, column = next((r, c) for r in range(side) for c in range(side) if board[r][c] == 0)
    tile_row = {"U": row + 1, "D": row - 1}.get(move, row)
    tile_column = {"L": column + 1, "R": column - 1}.get(move, column)
    if tile_row not in range(side) or tile_column not in range(side):
        return None
    board[row][column], board[tile_row][tile_column] = board[tile_row][tile_column], 0
    return board


@given(name=names, seed=seeds)
def test_tiles_slide_as_by_hand(name, seed):
    puzzle, state = make(name), some_board(name, seed)
    children, legal = puzzle.expand(state[None])
    board = state.reshape(puzzle.side, -1).tolist()
    for action, move in enumerate(puzzle.actions):
        by_hand = slid_by_hand(board, move)
        assert legal[0, action] == (by_hand is not None)
        assert children[0, action].reshape(puzzle.side, -1).tolist() == (by_hand or board)


def test_the_goal_has_the_blank_last_and_the_sides_their_names():
    assert [make(name).side for name in NAMES] == [3, 4, 5, 6, 7]
    assert all(make(name).name == name and make(name).letters == make(name).cells for name in NAMES)
    assert FIFTEEN.goal.tolist() == [*range(1, 16), 0] and FIFTEEN.start is None
    assert FIFTEEN.state_count == 10_461_394_944_000


def test_a_move_is_the_direction_in_which_a_tile_slides():
    state = apply(FIFTEEN, FIFTEEN.goal, FIFTEEN.parse_moves("D R"))
    assert FIFTEEN.draw(state).splitlines() == [" 1  2  3  4", " 5  6  7  8", " 9 10  . 11", "13 14 15 12"]
    assert FIFTEEN.is_goal(apply(FIFTEEN, state, FIFTEEN.parse_moves("L U"))[None])[0]


@pytest.mark.parametrize("text", ["1 2 3 4 5 6 7 8 0", "1,2,3,4,5,6,7,8,0", "1, 2, 3\n4, 5, 6\n7, 8, 0\n"])
def test_a_board_may_be_written_with_spaces_commas_and_lines(text):
    np.testing.assert_array_equal(notation.read(make("puzzle8"), text, "state").state, make("puzzle8").goal)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 2 3 4 5 6 7 8", "has 9 cells, row by row with 0 for the blank, but 8 were given"),
        ("1 2 3 4 5 6 7 8 10", "Unknown tile '10'"),
        ("1 2 3 4 5 6 7 q 0", "Unknown tile 'q'"),
        ("1 2 3 4 5 6 7 7 0", "8 is missing and 7 is there more than once"),
        ("1 2 3 4 5 6 7 8 8", "the blank is missing and 8 is there more than once"),
        ("1 2 3 4 5 6 8 7 0", "two tiles are exchanged"),
    ],
)
def test_an_impossible_board_is_told_in_one_sentence_that_says_why(text, reason):
    with pytest.raises(UserError) as told:
        notation.read(make("puzzle8"), text, "state")
    assert reason in str(told.value) and is_one_sentence(str(told.value)), str(told.value)


@pytest.mark.parametrize("name", ["puzzle16", "puzzle", "puzzle99"])
def test_a_board_of_no_square_is_told_in_one_sentence(name):
    with pytest.raises(UserError, match="did you mean puzzle") as told:
        make(name)
    assert is_one_sentence(str(told.value))


def test_an_unknown_move_is_told_in_one_sentence():
    with pytest.raises(UserError, match="Unknown move 'X'") as told:
        FIFTEEN.parse_moves("U X")
    assert is_one_sentence(str(told.value))


@given(name=names, seed=seeds, data=st.data())
def test_exchanging_two_tiles_of_any_board_makes_it_impossible(name, seed, data):
    state = some_board(name, seed)
    tiles = st.sampled_from(np.flatnonzero(state).tolist())
    one, other = data.draw(st.lists(tiles, min_size=2, max_size=2, unique=True))
    state[[one, other]] = state[[other, one]]
    assert not make(name).is_reachable(state[None])[0]


def test_half_of_all_arrangements_are_reachable_and_they_are_those_listed():
    """That each listed state reaches the goal is known of its distances."""
    puzzle = make("puzzle8")
    arrangements = np.array(list(permutations(range(9))), dtype=np.uint8)
    reachable = arrangements[puzzle.is_reachable(arrangements)]
    assert len(reachable) == puzzle.state_count == 181_440
    np.testing.assert_array_equal(np.unique(puzzle.rank(reachable)), np.arange(puzzle.state_count))
    np.testing.assert_array_equal(puzzle.unrank(puzzle.rank(reachable)), reachable)


def test_a_reflected_board_is_as_far_away(distances_of):
    puzzle, distance = make("puzzle8"), distances_of("puzzle8")
    states = puzzle.unrank(np.arange(puzzle.state_count))
    reflected = puzzle.symmetries[1].apply(states)
    np.testing.assert_array_equal(distance[puzzle.rank(reflected)], distance)
    np.testing.assert_array_equal(puzzle.symmetries[1].apply(reflected), states)
    assert (reflected != states).any()


def external_boards(name: str) -> external.Instances:
    """The boards of a file such as puzzle15.csv; the test is left out where it is not there."""
    try:
        return external.load(make(name), outside.find(f"{name}.csv"))
    except UserError as error:
        pytest.skip(str(error))


def manhattan(puzzle: SlidingTiles, states: np.ndarray) -> np.ndarray:
    """Rows and columns between each tile and its place in the goal, summed by hand."""
    sums = np.zeros(len(states), dtype=int)
    for tile in range(1, puzzle.cells):
        row, column = np.divmod((states == tile).argmax(axis=1), puzzle.side)
        sums += np.abs(row - (tile - 1) // puzzle.side) + np.abs(column - (tile - 1) % puzzle.side)
    return sums


@pytest.mark.parametrize("name", ["puzzle15", "puzzle24"])
def test_boards_from_outside_are_as_far_away_as_parity_and_the_tiles_allow(name):
    found, puzzle = external_boards(name), make(name)
    least = manhattan(puzzle, found.states)
    row, column = np.divmod((found.states == 0).argmax(axis=1), puzzle.side)
    assert (found.optimal >= least).all(), "a move takes one tile one cell"
    assert ((found.optimal - row - column) % 2 == 0).all(), "a move takes the blank one cell"


@pytest.mark.parametrize("name", ["puzzle35", "puzzle48"])
def test_boards_from_outside_whose_optimum_nobody_knows_are_read(name):
    found = external_boards(name)
    assert make(name).is_reachable(found.states).all() and np.isnan(found.optimal).all()
