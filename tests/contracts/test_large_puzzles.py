"""What a puzzle too large to list owes the rest of the code; then what is known of the 3×3×3 cube."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo.exact.nearby import FAR, hash_states, nearby_table
from costtogo.learning.random_walk import draw_walks, walk_states
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, is_goal, is_listed, move, solves
from costtogo.puzzles.cube import Cube2
from costtogo.puzzles.cube3 import all_symmetries, mirror
from costtogo.types import UserError

CUBE = make("cube3")
SUPERFLIP_FOUR_SPOT = "D' D' L R D' L R' D U' R' U' U' L' R' B F U' F' F' L' R U' U' F' U' U'"  # thesis, 5.9
PUBLISHED = pd.read_csv(Path(__file__).parents[1] / "data" / "published_layers.csv")

actions_of = st.lists(st.integers(0, 11), max_size=40)


def after(actions) -> np.ndarray:
    return apply(CUBE, CUBE.goal, actions)


def some_states(count: int = 200) -> np.ndarray:
    return draw_walks(CUBE, count, 20, np.random.default_rng(1)).states[:count]


def test_it_has_no_ranks_and_the_small_cube_has():
    assert not is_listed(CUBE) and is_listed(Cube2())


def test_the_number_of_states_follows_from_the_pieces():
    assert CUBE.state_count == 40320 * 3**7 * 479001600 * 2**11 // 2


def test_the_inverse_move_undoes_a_move_and_every_move_changes_the_state():
    states = some_states()
    children, legal = CUBE.expand(states)
    assert legal.all() and (CUBE.legal(states) == legal).all() and (children != states[:, None]).any(axis=2).all()
    for action in range(12):
        np.testing.assert_array_equal(CUBE.expand(children[:, action])[0][:, CUBE.inverse(action)], states)
        np.testing.assert_array_equal(move(CUBE, states, np.full(len(states), action)), children[:, action])


@pytest.mark.parametrize("name", ["cube2", "hanoi_4"])
def test_moving_is_expanding_and_picking(name):
    puzzle = make(name)
    states = puzzle.unrank(np.arange(50))
    children, legal = puzzle.expand(states)
    np.testing.assert_array_equal(puzzle.legal(states), legal)
    for action in range(len(puzzle.actions)):
        np.testing.assert_array_equal(move(puzzle, states, np.full(50, action)), children[:, action])


def test_four_quarter_turns_change_nothing_and_fewer_do():
    for action in range(12):
        assert [is_goal(CUBE, after([action] * times)[None])[0] for times in range(1, 5)] == [False] * 3 + [True]


@pytest.mark.parametrize(
    ("algorithm", "order"),
    [("R U", 105), ("R U R' U'", 6), ("R U2 D' B D'", 1260)],
)
def test_sequences_have_the_orders_that_are_known(algorithm, order):
    """1260, the order of R U2 D' B D', is the largest there is."""
    actions = CUBE.parse_moves(algorithm)
    state, times = after(actions), 1
    while not is_goal(CUBE, state[None])[0]:
        state, times = apply(CUBE, state, actions), times + 1
    assert times == order


def test_the_small_cube_is_the_corners_of_the_large_one():
    small = Cube2()
    corners = [9 * face + place for face in range(6) for place in (0, 2, 6, 8)]
    for text in ("R U B'", "B R' U U R B'", "U' B R"):
        whole = after(CUBE.parse_moves(text))
        np.testing.assert_array_equal(whole[corners], apply(small, small.goal, small.parse_moves(text)))


@given(actions=actions_of)
def test_a_state_is_read_back_from_its_text(actions):
    state = after(actions)
    np.testing.assert_array_equal(CUBE.parse_state(CUBE.format_state(state)), state)
    assert CUBE.draw(state).replace(" ", "").replace("\n", "").count("R") == 9


@given(actions=actions_of)
def test_moves_are_read_back_from_their_text_as_the_same_turning(actions):
    text = CUBE.format_moves(actions)
    np.testing.assert_array_equal(after(CUBE.parse_moves(text)), after(actions))
    assert CUBE.half_turn_length(actions) == len(text.split()) <= len(actions)


@pytest.mark.parametrize(
    ("given_moves", "written"),
    [("R R", "R2"), ("R L R", "R2 L"), ("R R'", ""), ("U U U", "U'"), ("R U R", "R U R"), ("U D' U2 D", "U'")],
)
def test_turns_of_one_axis_in_a_row_are_added_up(given_moves, written):
    assert CUBE.format_moves(CUBE.parse_moves(given_moves)) == written


def test_the_drawing_is_the_net():
    assert CUBE.draw(after(CUBE.parse_moves("R"))).splitlines()[:5] == [
        "    UUF",
        "    UUF",
        "    UUF",
        "LLL FFD RRR UBB",
        "LLL FFD RRR UBB",
    ]


@pytest.mark.parametrize("kind", [*range(48), "mirror"])
def test_a_symmetry_carries_sequences_to_sequences(kind):
    symmetry = mirror() if kind == "mirror" else all_symmetries()[kind]
    generator = np.random.default_rng(0)
    for _ in range(5):
        actions = generator.integers(12, size=25)
        np.testing.assert_array_equal(symmetry.apply(after(actions)[None])[0], after(symmetry.actions[actions]))


def test_there_are_48_symmetries_the_first_of_which_changes_nothing():
    assert len({tuple(symmetry.actions) for symmetry in all_symmetries()}) == 48
    np.testing.assert_array_equal(all_symmetries()[0].apply(some_states()), some_states())


@given(actions=actions_of)
def test_the_inverse_state_is_that_of_the_scramble_undone(actions):
    undone = [CUBE.inverse(action) for action in reversed(actions)]
    np.testing.assert_array_equal(CUBE.inverse_states(after(actions)[None])[0], after(undone))


SOLVED = CUBE.format_state(CUBE.goal)


def swapped(*places: int) -> str:
    """The solved cube with the stickers of places put round: the first shows what the last did."""
    letters = list(SOLVED)
    for place, source in zip(places, (places[-1], *places[:-1]), strict=True):
        letters[place] = SOLVED[source]
    return "".join(letters)


IMPOSSIBLE = {
    "length": (SOLVED[:-1], "53 were given"),
    "letter": ("X" + SOLVED[1:], "Unknown colour 'X'"),
    "count": ("U" + SOLVED[1:], "8 stickers are L, there must be 9"),
    "centre": (swapped(4, 13), "the centre of L (orange) is U"),
    "no such corner": (swapped(0, 35), "no corner has the colours at"),
    "no such edge": (swapped(1, 34), "no edge has the colours at"),
    "flipped edge": (swapped(16, 19), "a single edge is flipped"),
    "twisted corner": (swapped(17, 20, 36), "a single corner is twisted"),
}


@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_an_impossible_colouring_is_told_in_one_sentence_that_says_why(kind):
    text, reason = IMPOSSIBLE[kind]
    with pytest.raises(UserError) as told:
        CUBE.parse_state(text)
    assert reason in str(told.value) and is_one_sentence(str(told.value)), str(told.value)


@given(actions=actions_of)
def test_exchanging_two_edges_of_any_state_makes_it_impossible(actions):
    state = after(actions).copy()
    up_front, up_right = [16, 19], [14, 37]
    state[up_front + up_right] = state[up_right + up_front]
    with pytest.raises(UserError, match="two pieces are exchanged"):
        CUBE.parse_state(CUBE.format_state(state))


def test_an_unknown_move_is_told_in_one_sentence():
    with pytest.raises(UserError, match="Unknown move 'M'") as told:
        CUBE.parse_moves("R M")
    assert is_one_sentence(str(told.value))


# Exact distances around the goal


@pytest.fixture(scope="module")
def nearby():
    return nearby_table(CUBE, 5)


def test_the_layers_agree_with_the_published_counts(nearby):
    counts = PUBLISHED[PUBLISHED["puzzle"] == "cube3"].set_index("distance")["states"]
    assert nearby.layers.tolist() == counts[range(6)].tolist() and nearby.depth == 5


def test_distances_of_a_listed_puzzle_are_those_of_its_table(puzzle, distance):
    table = nearby_table(puzzle, 4)
    found = table(puzzle.unrank(np.arange(len(distance)))) if len(distance) < 10**5 else None
    if found is None:
        ranks = np.flatnonzero(distance <= 6)
        found, distance = table(puzzle.unrank(ranks)), distance[ranks]
    np.testing.assert_array_equal(found, np.where(distance <= 4, distance, FAR))


def test_the_whole_of_a_small_puzzle_is_found_and_no_layer_more():
    table = nearby_table(make("hanoi_3"), 50)
    assert table.layers.sum() == 27 and table.depth == 7


def test_paths_from_states_nearby_are_shortest_and_others_are_refused(nearby):
    walks = draw_walks(CUBE, 400, 8, np.random.default_rng(2)).states
    near = walks[nearby(walks) != FAR]
    paths = [nearby.path(state) for state in near]
    assert solves(CUBE, near, paths).all() and [len(path) for path in paths] == nearby(near).tolist()
    with pytest.raises(UserError, match="not within 5 moves"):
        nearby.path(walks[nearby(walks) == FAR][0])


def test_hashes_tell_states_apart_and_are_never_zero():
    states = np.unique(draw_walks(CUBE, 20000, 20, np.random.default_rng(3)).states, axis=0)
    hashes = hash_states(CUBE, states)
    assert len(np.unique(hashes)) == len(states) and hashes.all()


def test_every_prefix_of_the_farthest_state_within_the_table_is_as_far_as_it_is_long(nearby):
    moves = CUBE.parse_moves(SUPERFLIP_FOUR_SPOT)
    assert len(moves) == 26
    assert [int(nearby(after(moves[:count])[None])[0]) for count in range(6)] == list(range(6))


# Walks


@pytest.mark.parametrize("name", ["cube2", "cube3"])
def test_compiled_walks_equal_those_by_expansion(name):
    puzzle, draws = make(name), np.random.default_rng(4).random((30, 12))
    states, actions = walk_states(puzzle, draws)
    walks = draw_walks(puzzle, 30 * 11, 11, np.random.default_rng(4))
    np.testing.assert_array_equal(walks.states, states.reshape(-1, puzzle.cells))
    np.testing.assert_array_equal(walks.onward, actions[:, 1:].ravel())
    np.testing.assert_array_equal(walks.back, actions[:, :-1].ravel() ^ 1)


@pytest.mark.parametrize("name", ["cube3", "hanoi_4"])
def test_walks_never_undo_a_move_and_tell_where_they_came_from(name):
    puzzle = make(name)
    walks = draw_walks(puzzle, 200, 10, np.random.default_rng(5))
    assert walks.length.tolist() == list(range(1, 11)) * 20
    before = move(puzzle, walks.states, walks.back)
    np.testing.assert_array_equal(before.reshape(20, 10, -1)[:, 1:], walks.states.reshape(20, 10, -1)[:, :-1])
    assert is_goal(puzzle, before.reshape(20, 10, -1)[:, 0]).all()
    assert (walks.onward != walks.back).all() and puzzle.legal(walks.states)[np.arange(200), walks.onward].all()
