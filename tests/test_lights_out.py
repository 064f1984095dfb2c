"""Lights Out: the rules by hand, which boards can be solved, and solutions of fewest presses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo import external, notation
from costtogo import external_files as outside
from costtogo.exact.lights_out import FewestPresses
from costtogo.exact.nearby import FAR, nearby_table
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.puzzles.gf2 import eliminate
from costtogo.types import UserError

QUIET = {2: 0, 3: 0, 4: 4, 5: 2, 6: 0, 7: 0, 8: 0, 9: 8}  # dimension of the presses that change nothing: OEIS A159257
FEWEST_FROM_ALL_ON = {2: 4, 3: 5, 4: 4, 5: 15, 6: 28, 7: 33, 8: 40, 9: 25}  # OEIS A075464
SEVEN = make("lights_out_7")


def board(side: int):
    return make(f"lights_out_{side}")


def boards_of(side: int, count: int, seed: int = 0) -> np.ndarray:
    """What many random presses make of the goal."""
    presses = np.random.default_rng(seed).integers(2, size=(count, side * side))
    return (presses @ board(side).presses % 2).astype(np.uint8)


def all_boards(side: int) -> np.ndarray:
    """All settings of the lights, solvable or not."""
    return (np.arange(1 << side * side)[:, None] >> np.arange(side * side) & 1).astype(np.uint8)


@given(side=st.integers(2, 9), seed=st.integers(0, 2**32 - 1))
def test_a_press_switches_a_light_and_those_beside_above_and_below(side, seed):
    puzzle, state = board(side), boards_of(side, 1, seed)[0]
    children, legal = puzzle.expand(state[None])
    assert legal.all() and len(children[0]) == len(puzzle.actions)
    for cell, child in enumerate(children[0]):
        row, column = divmod(cell, side)
        around = {(row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}
        switched = {divmod(place, side) for place in np.flatnonzero(child != state).tolist()}
        assert switched == {(r, c) for r, c in around if 0 <= r < side and 0 <= c < side}
        assert puzzle.actions[cell] == f"r{row + 1}c{column + 1}"


def test_a_board_is_read_from_lights_with_and_without_spaces_and_drawn():
    puzzle = board(3)
    state = puzzle.parse_state("1 1 0 1 0 0 0 0 1")
    np.testing.assert_array_equal(puzzle.parse_state("110 100 001"), state)
    np.testing.assert_array_equal(notation.read(puzzle, "1,1,0\n1,0,0\n0,0,1", "state").state, state)
    assert puzzle.format_state(state) == "110 100 001"
    assert puzzle.draw(state).splitlines() == ["# # .", "# . .", ". . #"]


@pytest.mark.parametrize(
    ("side", "text", "reason"),
    [
        (3, "110 100 00", "has 9 lights, row by row, but 8 were given"),
        (3, "110 100 002", "Unknown light '2'"),
        (5, "10000 00000 00000 00000 00000", "no presses switch these lights off; of 4 boards of lights_out_5 one"),
        (4, "1000 0000 0000 0000", "of 16 boards of lights_out_4 one can be solved"),
    ],
)
def test_an_impossible_board_is_told_in_one_sentence_that_says_why(side, text, reason):
    with pytest.raises(UserError) as told:
        notation.read(board(side), text, "state")
    assert reason in str(told.value) and is_one_sentence(str(told.value)), str(told.value)


@pytest.mark.parametrize("move", ["r0c1", "r8c1", "r1c8", "1,1", "c1r1", "r1"])
def test_an_unknown_press_is_told_in_one_sentence(move):
    with pytest.raises(UserError, match="Unknown move") as told:
        notation.read(SEVEN, f"r1c1 {move}", "scramble")
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize("name", ["lights_out_1", "lights_out_10", "lights_out_0"])
def test_a_side_that_is_not_offered_is_told_in_one_sentence(name):
    with pytest.raises(UserError, match="2 to 9 lights") as told:
        make(name)
    assert is_one_sentence(str(told.value))


@given(rows=st.integers(1, 8), columns=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_elimination_reduces_a_matrix(rows, columns, seed):
    matrix = np.random.default_rng(seed).integers(2, size=(rows, columns)).astype(np.uint8)
    pivots, transform = eliminate(matrix)
    reduced, rank = transform @ matrix % 2, len(pivots)
    np.testing.assert_array_equal(reduced[:, pivots], np.eye(rows, dtype=np.uint8)[:, :rank])
    assert not reduced[rank:].any() and all(row[: pivots[i]].sum() == 0 for i, row in enumerate(reduced[:rank]))
    assert len(eliminate(transform)[0]) == rows, "the transform can be undone"


@pytest.mark.parametrize("side", QUIET)
def test_quiet_presses_change_nothing_and_are_as_many_as_published(side):
    puzzle = board(side)
    assert len(puzzle.quiet) == len(eliminate(puzzle.quiet)[0]) == QUIET[side]
    assert not (puzzle.quiet @ puzzle.presses % 2).any()
    assert puzzle.state_count == 2 ** (side * side - QUIET[side])


@pytest.mark.parametrize("side", FEWEST_FROM_ALL_ON)
def test_all_lights_on_take_as_many_presses_as_published(side):
    state = np.ones((1, side * side), dtype=np.uint8)
    assert FewestPresses(board(side))(state).tolist() == [FEWEST_FROM_ALL_ON[side]]


@pytest.mark.parametrize("side", [2, 3, 4])
def test_every_board_is_as_far_away_as_breadth_first_search_says_or_has_no_solution(side):
    puzzle, every = board(side), all_boards(side)
    distance = nearby_table(puzzle, side * side)(every)
    np.testing.assert_array_equal(puzzle.is_reachable(every), distance != FAR)
    solvable = every[distance != FAR]
    assert len(solvable) == puzzle.state_count
    found = FewestPresses(puzzle)(solvable)
    np.testing.assert_array_equal(found, distance[distance != FAR])
    assert found.dtype == np.float32


@pytest.mark.parametrize(("side", "depth"), [(5, 4), (7, 3)])
def test_boards_around_the_goal_are_as_far_away_as_breadth_first_search_says(side, depth):
    puzzle, exact = board(side), FewestPresses(board(side))
    table, presses = nearby_table(puzzle, depth), np.zeros((3000, side * side), dtype=np.uint8)
    chosen = np.random.default_rng(1).integers(side * side, size=(3000, depth + 2))
    np.put_along_axis(presses, chosen, 1, axis=1)
    states = (presses @ puzzle.presses % 2).astype(np.uint8)
    distance, found = table(states), exact(states)
    np.testing.assert_array_equal(found[distance != FAR], distance[distance != FAR])
    assert (found[distance == FAR] > depth).all() and (found <= presses.sum(axis=1)).all()


@pytest.mark.parametrize("side", QUIET)
def test_a_solution_switches_all_lights_off_and_no_quiet_presses_make_it_shorter(side):
    puzzle, exact, states = board(side), FewestPresses(board(side)), boards_of(side, 300)
    solutions = exact.solutions(states)
    assert solves(puzzle, states, solutions).all()
    np.testing.assert_array_equal([len(moves) for moves in solutions], exact(states))
    presses = exact.presses(states)
    for mask in range(1, 1 << len(puzzle.quiet)):
        quiet = (mask >> np.arange(len(puzzle.quiet)) & 1) @ puzzle.quiet % 2
        assert ((presses ^ quiet).sum(axis=1) >= presses.sum(axis=1)).all()


def test_a_board_without_a_solution_is_told_in_one_sentence():
    states = np.zeros((3, 25), dtype=np.uint8)
    states[1, 0] = 1
    with pytest.raises(UserError, match="Board 1 of lights_out_5 has no solution") as told:
        FewestPresses(board(5))(states)
    assert is_one_sentence(str(told.value))


def test_boards_from_outside_are_solved():
    try:
        found = external.load(SEVEN, outside.find("lightsout7.csv"))
    except UserError as error:
        pytest.skip(str(error))
    assert solves(SEVEN, found.states, FewestPresses(SEVEN).solutions(found.states)).all()
