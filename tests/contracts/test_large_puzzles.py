"""What any puzzle owes the rest of the code, one too large to list above all; then what is known of the 3×3×3 cube."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_puzzles import ABILITIES, LARGE
from messages import is_one_sentence

from costtogo import notation
from costtogo.exact.hashing import hash_children, hash_states
from costtogo.exact.nearby import FAR, nearby_table
from costtogo.learning.random_walk import draw_walks
from costtogo.puzzles import make
from costtogo.puzzles.base import MOST_MOVES, Puzzle, apply, inverses, is_listed, pick_legal, solves
from costtogo.puzzles.cube import Cube2
from costtogo.types import NO_ACTION, UserError

CUBE = make("cube3")
SUPERFLIP_FOUR_SPOT = "D' D' L R D' L R' D U' R' U' U' L' R' B F U' F' F' L' R U' U' F' U' U'"  # thesis, 5.9
PUBLISHED = pd.read_csv(Path(__file__).parents[1] / "data" / "published_layers.csv")

actions_of = st.lists(st.integers(0, 11), max_size=40)


@pytest.fixture(scope="module", params=LARGE)
def large(request):
    return make(request.param)


@pytest.fixture(scope="module", params=ABILITIES)
def any_puzzle(request):
    return make(request.param)


def after(actions) -> np.ndarray:
    return apply(CUBE, CUBE.goal, actions)


def some_states(puzzle=CUBE, count: int = 200) -> np.ndarray:
    return draw_walks(puzzle, count, 40, np.random.default_rng(1)).states[:count]


def legal_moves(puzzle, seed: int, length: int) -> list[int]:
    """Moves from the goal, legal one after another."""
    generator, state, moves = np.random.default_rng(seed), puzzle.goal, []
    for _ in range(length):
        moves.append(int(pick_legal(puzzle.legal(state[None]), generator.random(1))[0]))
        state = apply(puzzle, state, moves[-1:])
    return moves


sequences = {"seed": st.integers(0, 2**32 - 1), "length": st.integers(0, 60)}


def test_a_text_of_very_many_moves_is_refused_and_one_of_many_is_read(any_puzzle):
    assert any_puzzle.parse_moves(f"{any_puzzle.actions[0]} " * MOST_MOVES) == [0] * MOST_MOVES
    with pytest.raises(UserError, match="at most 100,000 moves, but 3,000,000 were given") as told:
        any_puzzle.parse_moves(f"{any_puzzle.actions[0]} " * 30 * MOST_MOVES)
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize("given", ["z" * 100_000, "\x1b[31mR", "R\x00", "R\udcff"])
def test_a_message_is_short_and_printable_whatever_was_given(any_puzzle, given):
    for parse in (any_puzzle.parse_moves, any_puzzle.parse_state):
        for text in (given, " ".join([given] * any_puzzle.cells)):
            with pytest.raises(UserError) as told:
                parse(text)
            assert is_one_sentence(str(told.value)) and str(told.value).isprintable() and len(str(told.value)) < 200


def test_the_number_of_states_follows_from_the_pieces():
    assert CUBE.state_count == 40320 * 3**7 * 479001600 * 2**11 // 2


def test_legal_moves_alone_change_the_state_and_the_inverse_move_where_there_is_one_undoes_them(large):
    states = some_states(large)
    children, legal = large.expand(states)
    assert children.dtype == np.uint8 and children.shape == (len(states), len(large.actions), large.cells)
    np.testing.assert_array_equal((children != states[:, None]).any(axis=2), legal)
    assert large.has_inverses == (NO_ACTION not in inverses(large))
    for action in range(len(large.actions) if large.has_inverses else 0):
        moved = legal[:, action]
        back, allowed = large.expand(children[moved, action])
        assert allowed[:, large.inverse(action)].all()
        np.testing.assert_array_equal(back[:, large.inverse(action)], states[moved])


def test_after_a_step_back_its_action_leads_forth_again_and_what_undoes_it_leads_back(any_puzzle):
    puzzle = any_puzzle
    states, (action, undone_by) = some_states(puzzle), puzzle.steps_back
    parents, legal = puzzle.reverse(states)
    assert parents.dtype == np.uint8 and parents.shape == (len(states), len(action), puzzle.cells)
    np.testing.assert_array_equal((parents != states[:, None]).any(axis=2), legal)
    np.testing.assert_array_equal(puzzle.reverse_legal(states), legal)
    for step in range(len(action)):
        rows = np.flatnonzero(legal[:, step])
        before = puzzle.step_back(states[rows], np.full(len(rows), step))
        np.testing.assert_array_equal(before, parents[rows, step])
        assert puzzle.legal(before)[:, action[step]].all()
        np.testing.assert_array_equal(puzzle.move(before, np.full(len(rows), action[step])), states[rows])
        if undone_by[step] != NO_ACTION:
            assert puzzle.reverse_legal(before)[:, undone_by[step]].all()
            again = puzzle.step_back(before, np.full(len(rows), undone_by[step]))
            np.testing.assert_array_equal(again, states[rows])


def test_moving_is_expanding_and_picking(any_puzzle):
    states = some_states(any_puzzle)
    before, (children, legal) = states.copy(), any_puzzle.expand(states)
    np.testing.assert_array_equal(any_puzzle.legal(states), legal)
    for action in range(len(any_puzzle.actions)):
        moved = any_puzzle.move(states, np.full(len(states), action))
        np.testing.assert_array_equal(moved, children[:, action])
    each = np.random.default_rng(0).integers(len(any_puzzle.actions), size=len(states))
    np.testing.assert_array_equal(any_puzzle.move(states, each), children[np.arange(len(states)), each])
    np.testing.assert_array_equal(states, before)


def test_of_no_states_there_is_nothing(any_puzzle):
    none = some_states(any_puzzle)[:0]
    children, legal = any_puzzle.expand(none)
    assert children.shape == (0, len(any_puzzle.actions), any_puzzle.cells) and legal.shape == children.shape[:2]
    assert any_puzzle.move(none, np.zeros(0, dtype=np.int64)).shape == none.shape
    assert hash_children(any_puzzle, none).shape == legal.shape
    if is_listed(any_puzzle):
        assert any_puzzle.unrank(any_puzzle.rank(none)).shape == none.shape


def test_the_hashes_of_children_are_those_of_the_states(any_puzzle):
    states = some_states(any_puzzle)
    children, _ = any_puzzle.expand(states)
    of_states = hash_states(any_puzzle, children.reshape(-1, any_puzzle.cells)).reshape(children.shape[:2])
    np.testing.assert_array_equal(hash_children(any_puzzle, states), of_states)


@given(**sequences)
def test_text_of_a_state_and_of_moves_is_read_back(large, seed, length):
    moves = legal_moves(large, seed, length)
    state = apply(large, large.goal, moves)
    np.testing.assert_array_equal(large.parse_state(large.format_state(state)), state)
    again = large.parse_moves(large.format_moves(moves))
    np.testing.assert_array_equal(apply(large, large.goal, again), state)


def test_every_state_has_a_drawing_of_its_own(large):
    states = np.unique(some_states(large), axis=0)
    drawings = {large.draw(state) for state in states}
    assert len(drawings) == len(states) and all(drawing.strip() for drawing in drawings)


def test_four_quarter_turns_change_nothing_and_fewer_do():
    for action in range(12):
        assert [CUBE.is_goal(after([action] * times)[None])[0] for times in range(1, 5)] == [False] * 3 + [True]


@pytest.mark.parametrize(
    ("algorithm", "order"),
    [("R U", 105), ("R U R' U'", 6), ("R U2 D' B D'", 1260)],
)
def test_sequences_have_the_orders_that_are_known(algorithm, order):
    """1260, the order of R U2 D' B D', is the largest there is."""
    actions = CUBE.parse_moves(algorithm)
    state, times = after(actions), 1
    while not CUBE.is_goal(state[None])[0]:
        state, times = apply(CUBE, state, actions), times + 1
    assert times == order


def test_the_small_cube_is_the_corners_of_the_large_one():
    small = Cube2()
    corners = [9 * face + place for face in range(6) for place in (0, 2, 6, 8)]
    for text in ("R U B'", "B R' U U R B'", "U' B R"):
        whole = after(CUBE.parse_moves(text))
        np.testing.assert_array_equal(whole[corners], apply(small, small.goal, small.parse_moves(text)))


@pytest.mark.parametrize(
    ("given_moves", "written", "half_turns"),
    [
        ("", "", 0),
        ("R", "R", 1),
        ("R R", "R2", 1),
        ("R' R'", "R2", 1),
        ("R R'", "", 0),
        ("U U U", "U'", 1),
        ("B B B B", "", 0),
        ("R U R", "R U R", 3),
        ("F2 R2 F2", "F2 R2 F2", 3),
        ("R L R", "R2 L", 2),
        ("L R L'", "R", 1),
        ("U D' U2 D", "U'", 1),
        ("R L R' U U L", "L U2 L", 3),
    ],
)
def test_turns_of_one_axis_in_a_row_are_added_up_and_counted_as_one_move_of_a_face(given_moves, written, half_turns):
    moves = CUBE.parse_moves(given_moves)
    assert CUBE.format_moves(moves) == written and CUBE.half_turn_length(moves) == half_turns


def test_the_drawing_is_the_net():
    assert CUBE.draw(after(CUBE.parse_moves("R"))).splitlines()[:5] == [
        "    UUF",
        "    UUF",
        "    UUF",
        "LLL FFD RRR UBB",
        "LLL FFD RRR UBB",
    ]


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
    "letter": ("X" + SOLVED[1:], "six colours, but 7 letters"),
    "count": ("U" + SOLVED[1:], "10 stickers are U, there must be 9"),
    "centres exchanged": (swapped(4, 13), "no corner has the colours at"),
    "no such corner": (swapped(0, 35), "no corner has the colours at"),
    "no such edge": (swapped(1, 34), "no edge has the colours at"),
    "flipped edge": (swapped(16, 19), "a single edge is flipped"),
    "twisted corner": (swapped(17, 20, 36), "a single corner is twisted"),
}


@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_an_impossible_colouring_is_told_in_one_sentence_that_says_why(kind):
    text, reason = IMPOSSIBLE[kind]
    with pytest.raises(UserError) as told:
        notation.read(CUBE, text, "state")
    assert reason in str(told.value) and is_one_sentence(str(told.value)), str(told.value)


@given(actions=actions_of)
def test_exchanging_two_edges_of_any_state_makes_it_impossible(actions):
    state = after(actions).copy()
    up_front, up_right = [16, 19], [14, 37]
    state[up_front + up_right] = state[up_right + up_front]
    with pytest.raises(UserError, match="two pieces are exchanged"):
        notation.read(CUBE, CUBE.format_state(state), "state")


def test_an_unknown_move_is_told_in_one_sentence():
    with pytest.raises(UserError, match="Unknown move 'M'") as told:
        CUBE.parse_moves("R M")
    assert is_one_sentence(str(told.value))


# Exact distances around the goal


@pytest.fixture(scope="module")
def nearby():
    return nearby_table(CUBE, 5)


@pytest.mark.parametrize(("name", "depth"), [("cube3", 5), ("puzzle15", 16), ("puzzle24", 14)])
def test_the_layers_agree_with_the_published_counts(name, depth):
    counts = PUBLISHED[PUBLISHED["puzzle"] == name].set_index("distance")["states"]
    assert nearby_table(make(name), depth).layers.tolist() == counts[range(depth + 1)].tolist()


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


@pytest.mark.parametrize(("name", "depth"), [("cube3", 4), ("puzzle15", 6), ("lights_out_7", 3)])
def test_paths_from_states_nearby_are_shortest_and_others_are_refused(name, depth):
    puzzle = make(name)
    nearby, walks = nearby_table(puzzle, depth), draw_walks(puzzle, 400, depth + 3, np.random.default_rng(2)).states
    near = walks[nearby(walks) != FAR]
    paths = [nearby.path(state) for state in near]
    assert solves(puzzle, near, paths).all() and [len(path) for path in paths] == nearby(near).tolist()
    with pytest.raises(UserError, match=f"not within {depth} moves"):
        nearby.path(walks[nearby(walks) == FAR][0])


def test_hashes_tell_states_apart_and_are_never_zero(large):
    states = np.unique(draw_walks(large, 20000, 20, np.random.default_rng(3)).states, axis=0)
    hashes = hash_states(large, states)
    assert len(np.unique(hashes)) == len(states) and hashes.all()


def test_every_prefix_of_the_farthest_state_within_the_table_is_as_far_as_it_is_long(nearby):
    moves = CUBE.parse_moves(SUPERFLIP_FOUR_SPOT)
    assert len(moves) == 26
    assert [int(nearby(after(moves[:count])[None])[0]) for count in range(6)] == list(range(6))


# Walks


def walk_by_expansion(puzzle, draws) -> tuple[np.ndarray, list[int]]:
    """One walk back from the goal that chooses among the legal steps but the one that undoes, all parents made."""
    state, path, steps, undone_by = puzzle.goal, [], [], puzzle.steps_back.undone_by
    for draw in draws:
        parents, legal = puzzle.reverse(state[None])
        allowed = [step for step in np.flatnonzero(legal[0]) if not steps or step != undone_by[steps[-1]]]
        steps.append(int(allowed[int(draw * len(allowed))]) if allowed else undone_by[steps[-1]])
        state = parents[0, steps[-1]]
        path.append(state)
    return np.array(path[:-1]), steps


def test_walks_equal_those_by_expansion(any_puzzle):
    draws = np.random.default_rng(4).random((30, 12))
    states, actions = any_puzzle.walk(draws)
    for row, draw in enumerate(draws):
        path, moves = walk_by_expansion(any_puzzle, draw)
        np.testing.assert_array_equal(states[row], path)
        assert actions[row].tolist() == moves
    for walked, stepped in zip((states, actions), Puzzle.walk(any_puzzle, draws), strict=True):
        np.testing.assert_array_equal(walked, stepped)
    walks = draw_walks(any_puzzle, 30 * 11, 11, np.random.default_rng(4))
    np.testing.assert_array_equal(walks.states, states.reshape(-1, any_puzzle.cells))
    assert walks.actions.shape == (330, 2 if any_puzzle.has_inverses else 1)
    np.testing.assert_array_equal(walks.actions[:, 0], any_puzzle.steps_back.action[actions[:, :-1]].ravel())
    if any_puzzle.has_inverses:
        np.testing.assert_array_equal(walks.actions[:, 1], actions[:, 1:].ravel())


def test_walks_never_undo_a_move_and_tell_where_they_came_from(any_puzzle):
    puzzle = any_puzzle
    walks = draw_walks(puzzle, 200, 10, np.random.default_rng(5))
    assert walks.length.tolist() == list(range(1, 11)) * 20
    back, *onward = walks.actions.T
    before = puzzle.move(walks.states, back)
    np.testing.assert_array_equal(before.reshape(20, 10, -1)[:, 1:], walks.states.reshape(20, 10, -1)[:, :-1])
    assert puzzle.is_goal(before.reshape(20, 10, -1)[:, 0]).all()
    assert len(onward) == puzzle.has_inverses
    assert all((each != back).all() and puzzle.legal(walks.states)[np.arange(200), each].all() for each in onward)
