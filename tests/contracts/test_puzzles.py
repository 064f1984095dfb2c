"""What every puzzle owes the rest of the code; then what is known of each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo import notation
from costtogo.exact.graph import neighbour_table, walk_ranks
from costtogo.puzzles import make
from costtogo.puzzles.base import ListedPuzzle, apply, random_walks, solves
from costtogo.puzzles.cube import FACES, Cube2, clockwise_turn
from costtogo.puzzles.hanoi import Hanoi
from costtogo.types import NO_STATE, UserError, excerpt

CUBE = Cube2()
SOLVED = "LLLLUUUUFFFFDDDDRRRRBBBB"
FIXED_STICKERS = [3, 10, 12]  # of the corner where D, L and F meet: lower right on L, lower left on F, upper left on D
UP_RIGHT_FRONT = [7, 16, 9]  # stickers of a corner, clockwise from the one on U or D
DOWN_BACK_LEFT = [14, 23, 2]


def ranks_of(puzzle) -> st.SearchStrategy:
    return st.lists(st.integers(0, puzzle.state_count - 1), min_size=1, max_size=20).map(np.array)


def some_states(data, puzzle):
    return puzzle.unrank(data.draw(ranks_of(puzzle)))


def random_moves(puzzle, length: int, seed: int) -> list[int]:
    """Legal moves from the goal."""
    generator, state, moves = np.random.default_rng(seed), puzzle.goal, []
    for _ in range(length):
        children, legal = puzzle.expand(state[None])
        moves.append(int(generator.choice(np.flatnonzero(legal[0]))))
        state = children[0, moves[-1]]
    return moves


def undone(puzzle, moves) -> list[int]:
    return [puzzle.inverse(move) for move in reversed(moves)]


@given(data=st.data())
def test_the_inverse_move_undoes_a_move(puzzle, data):
    states = some_states(data, puzzle)
    children, legal = puzzle.expand(states)
    for action in range(len(puzzle.actions)):
        moved = legal[:, action]
        back, allowed = puzzle.expand(children[moved, action])
        assert allowed[:, puzzle.inverse(action)].all()
        np.testing.assert_array_equal(back[:, puzzle.inverse(action)], states[moved])


@given(data=st.data())
def test_expanding_a_batch_equals_expanding_each_alone(puzzle, data):
    states = some_states(data, puzzle)
    before = states.copy()
    children, legal = puzzle.expand(states)
    assert children.dtype == np.uint8 and legal.dtype == np.bool_
    assert children.shape == (len(states), len(puzzle.actions), puzzle.cells)
    for row in range(len(states)):
        alone, allowed = puzzle.expand(states[row : row + 1])
        np.testing.assert_array_equal(alone[0], children[row])
        np.testing.assert_array_equal(allowed[0], legal[row])
    np.testing.assert_array_equal(states, before)


@given(data=st.data())
def test_an_illegal_child_equals_its_parent_and_a_legal_one_differs(puzzle, data):
    states = some_states(data, puzzle)
    children, legal = puzzle.expand(states)
    np.testing.assert_array_equal((children != states[:, None]).any(axis=2), legal)


@given(data=st.data())
def test_rank_and_unrank_are_inverse_to_each_other(puzzle, data):
    ranks = data.draw(ranks_of(puzzle))
    states = puzzle.unrank(ranks)
    assert states.shape == (len(ranks), puzzle.cells) and states.max() < puzzle.letters
    np.testing.assert_array_equal(puzzle.rank(states), ranks)
    reached = puzzle.expand(states)[0].reshape(-1, puzzle.cells)
    np.testing.assert_array_equal(puzzle.unrank(puzzle.rank(reached)), reached)


def test_the_neighbour_table_says_what_expanding_says(puzzle):
    ranks = np.random.default_rng(0).integers(puzzle.state_count, size=2000)
    children, legal = puzzle.expand(puzzle.unrank(ranks))
    reached = puzzle.rank(children.reshape(-1, puzzle.cells)).reshape(legal.shape)
    np.testing.assert_array_equal(puzzle.neighbours()[ranks], np.where(legal, reached, NO_STATE))


def test_the_neighbour_table_is_the_same_in_whatever_chunks():
    puzzle = Hanoi(4)
    np.testing.assert_array_equal(ListedPuzzle.neighbours(puzzle), puzzle.neighbours())


@given(data=st.data())
def test_a_state_is_read_back_from_its_text(puzzle, data):
    for state in some_states(data, puzzle):
        np.testing.assert_array_equal(puzzle.parse_state(puzzle.format_state(state)), state)


@given(data=st.data())
def test_moves_are_read_back_from_their_text(puzzle, data):
    """The same moves; of cubes half turns are one word, either way round, and turns that undo each other none."""
    moves = data.draw(st.lists(st.integers(0, len(puzzle.actions) - 1), max_size=30))
    again = puzzle.parse_moves(puzzle.format_moves(moves))
    if puzzle.half_turn_length is None:
        assert again == moves
    else:
        np.testing.assert_array_equal(apply(puzzle, puzzle.goal, again), apply(puzzle, puzzle.goal, moves))
        assert puzzle.half_turn_length(again) <= puzzle.half_turn_length(moves) <= len(moves)


def test_the_goal_alone_has_distance_zero(puzzle, distance):
    goal = puzzle.rank(puzzle.goal[None])
    np.testing.assert_array_equal(np.flatnonzero(distance == 0), goal)
    assert puzzle.is_goal(puzzle.unrank(goal)).all()
    assert not puzzle.is_goal(puzzle.unrank((goal + 1) % puzzle.state_count)).any()


def test_random_walks_equal_walks_over_ranks_for_equal_draws(puzzle):
    walks = random_walks(puzzle, 40, 15, np.random.default_rng(3))
    ranks = walk_ranks(puzzle, 40, 15, np.random.default_rng(3))
    np.testing.assert_array_equal(puzzle.rank(walks.reshape(-1, puzzle.cells)).reshape(40, 15), ranks)


def test_a_random_walk_steps_from_neighbour_to_neighbour_by_every_legal_move(puzzle):
    ranks = walk_ranks(puzzle, 300, 12, np.random.default_rng(4))
    before = np.column_stack([np.repeat(puzzle.rank(puzzle.goal[None]), len(ranks)), ranks[:, :-1]])
    taken = neighbour_table(puzzle)[before.ravel()] == ranks.reshape(-1, 1)
    assert taken.any(axis=1).all()
    assert taken.any(axis=0).all()


@given(length=st.integers(1, 25), seed=st.integers(0, 2**32 - 1))
def test_only_a_sequence_of_legal_moves_to_the_goal_solves(puzzle, length, seed):
    moves = random_moves(puzzle, length, seed)
    start = apply(puzzle, puzzle.goal, moves)[None]
    solution = undone(puzzle, moves)
    one_more = random_moves(puzzle, 1, seed)
    assert solves(puzzle, start, [solution]).all()
    assert not solves(puzzle, start, [solution[:-1]]).any()
    assert not solves(puzzle, start, [solution + one_more]).any()


def test_solutions_are_judged_each_by_its_own():
    puzzle = Hanoi(2)
    starts = np.array([[0, 0], [1, 0], [1, 0], [2, 0]], dtype=np.uint8)
    solutions = [[], puzzle.parse_moves("1>0"), [], puzzle.parse_moves("2>1 1>0")]
    assert solves(puzzle, starts, solutions).tolist() == [True, True, False, True]


def test_an_illegal_move_solves_nothing_though_it_changes_nothing():
    puzzle = Hanoi(2)
    start = np.array([[1, 0]], dtype=np.uint8)
    assert solves(puzzle, start, [puzzle.parse_moves("1>0")]).all()
    assert not solves(puzzle, start, [puzzle.parse_moves("2>0 1>0")]).any()


def test_every_state_has_a_drawing_of_its_own(puzzle):
    ranks = np.unique(np.random.default_rng(5).integers(puzzle.state_count, size=60))
    drawings = [puzzle.draw(state) for state in puzzle.unrank(ranks)]
    assert all(drawing.strip() for drawing in drawings)
    assert len(set(drawings)) == len(ranks)


def test_an_illegal_move_of_a_scramble_is_named_with_its_place():
    with pytest.raises(UserError, match=r"^Move 2, 1>2, is not legal there in hanoi_3\.$"):
        apply(Hanoi(3), Hanoi(3).goal, Hanoi(3).parse_moves("0>2 1>2"))


DIGITS = "9" * 5000  # more than Python makes a number of


@pytest.mark.parametrize(
    "name",
    ["cube4", "hanoi", "hanoi_", "hanoi_x", "HANOI_4", "", "hanoi_٣", "hanoi_1000", "cube2\n"]
    + [form + DIGITS for form in ("hanoi_", "hanoi_3_", "lights_out_", "puzzle", "x")],
)
def test_an_unknown_puzzle_is_told_in_one_sentence(name):
    with pytest.raises(UserError) as told:
        make(name)
    assert is_one_sentence(str(told.value)) and f"'{excerpt(name)}'" in str(told.value)


# The 2×2×2 cube


@pytest.mark.parametrize(("moves", "order"), [("R", 4), ("U'", 4), ("B2", 2), ("R U R' U'", 6)])
def test_a_sequence_of_turns_has_its_known_order(moves, order):
    state = CUBE.goal
    for times in range(1, order + 1):
        state = apply(CUBE, state, CUBE.parse_moves(moves))
        assert bool(CUBE.is_goal(state[None])[0]) == (times == order)


@pytest.mark.parametrize(
    ("move", "stickers"),
    [
        ("R", "LLLL UFUF FDFD DBDB RRRR UBUB"),
        ("U", "FFLL UUUU RRFF DDDD BBRR LLBB"),
        ("B", "ULUL RRUU FFFF DDLL RDRD BBBB"),
    ],
)
def test_a_clockwise_turn_carries_the_stickers_as_on_a_real_cube(move, stickers):
    turned = apply(CUBE, CUBE.goal, CUBE.parse_moves(move))
    assert CUBE.format_state(turned) == stickers.replace(" ", "")


def test_the_faces_come_in_the_order_l_u_f_d_r_b():
    assert FACES == "LUFDRB"
    assert CUBE.format_state(CUBE.goal) == SOLVED


@given(data=st.data())
def test_no_turn_moves_the_corner_of_d_l_and_f(data):
    states = some_states(data, CUBE)
    assert CUBE.format_state(states[0])[3] == "L"
    np.testing.assert_array_equal(states[:, FIXED_STICKERS], np.tile([0, 2, 3], (len(states), 1)))
    np.testing.assert_array_equal(
        CUBE.expand(states)[0][:, :, FIXED_STICKERS], np.tile([0, 2, 3], (len(states), len(CUBE.actions), 1))
    )


@pytest.mark.parametrize(("face", "opposite"), [("F", "B"), ("L", "R"), ("D", "U")])
def test_turning_a_face_is_turning_the_opposite_one_up_to_holding_the_cube(face, opposite):
    """The turn of one face followed by the turn back of the other turns the whole cube: every face stays plain."""
    held = CUBE.goal[clockwise_turn(2, face)][np.argsort(clockwise_turn(2, opposite))]
    assert (held.reshape(6, 4) == held.reshape(6, 4)[:, :1]).all()
    assert not (held == CUBE.goal).all()


def test_a_half_turn_is_two_quarter_turns():
    assert CUBE.parse_moves("R2 U2'") == CUBE.parse_moves("R R U U")


@pytest.mark.parametrize("move", ["X", "r", "R3", "R''", "2", "RU"])
def test_an_unknown_turn_is_told_in_one_sentence(move):
    with pytest.raises(UserError, match="Unknown move") as told:
        CUBE.parse_moves(f"U {move}")
    assert is_one_sentence(str(told.value)) and f"'{move}'" in str(told.value)


def recoloured(places: list[int], colours: str, text: str = SOLVED) -> str:
    letters = list(text)
    for place, colour in zip(places, colours, strict=True):
        letters[place] = colour
    return "".join(letters)


IMPOSSIBLE = {
    "wrong length": (SOLVED[:-1], "23 were given"),
    "unknown letter": (recoloured([5], "X"), "six colours, but 7 letters"),
    "wrong counts": (recoloured([0], "U"), "5 stickers are U, there must be 4"),
    "twisted corner": (recoloured(UP_RIGHT_FRONT, "RFU"), "a single corner is twisted"),
    "mirrored corner": (recoloured(UP_RIGHT_FRONT, "UFR"), "no corner has the colours at URF"),
    "missing corner": (
        recoloured(UP_RIGHT_FRONT + DOWN_BACK_LEFT, "UBR" + "DLF"),
        "is missing and another stands twice",
    ),
}


@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_an_impossible_colouring_is_told_in_one_sentence_that_says_why(kind):
    text, reason = IMPOSSIBLE[kind]
    with pytest.raises(UserError) as told:
        notation.read(CUBE, text, "state")
    assert reason in str(told.value) and is_one_sentence(str(told.value))


@given(rank=st.integers(0, CUBE.state_count - 1), shift=st.integers(1, 2))
def test_twisting_one_corner_of_any_state_makes_it_impossible(rank, shift):
    text = CUBE.format_state(CUBE.unrank(np.array([rank]))[0])
    corner = [text[place] for place in UP_RIGHT_FRONT]
    with pytest.raises(UserError, match="twisted"):
        notation.read(CUBE, recoloured(UP_RIGHT_FRONT, "".join(corner[shift:] + corner[:shift]), text), "state")


# The Towers of Hanoi


def recursive_solution(disks: int, source: int, target: int) -> list[str]:
    """The textbook: move all but the largest disk aside, move the largest, move the others onto it."""
    if disks == 0:
        return []
    spare = 3 - source - target
    around = recursive_solution(disks - 1, source, spare), recursive_solution(disks - 1, spare, target)
    return [*around[0], f"{source}>{target}", *around[1]]


def test_the_recursive_solution_is_told_to_be_for_three_pegs():
    with pytest.raises(UserError, match="three pegs") as told:
        Hanoi(3, 4).recursive_solution()
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize("disks", range(1, 9))
def test_the_recursive_solution_solves_and_is_optimal(disks, distances_of):
    puzzle = Hanoi(disks)
    moves = puzzle.recursive_solution()
    assert moves == puzzle.parse_moves(" ".join(recursive_solution(disks, 2, 0)))
    assert solves(puzzle, puzzle.start[None], [moves]).all()
    assert len(moves) == 2**disks - 1
    assert distances_of(puzzle.name)[puzzle.rank(puzzle.start[None])[0]] == len(moves)


@given(rank=st.integers(0, 3**5 - 1))
def test_only_the_top_disk_moves_and_never_onto_a_smaller_one(rank):
    puzzle = Hanoi(5)
    state = puzzle.unrank(np.array([rank]))[0]
    children, legal = puzzle.expand(state[None])
    for action, (source, target) in enumerate(puzzle.moves):
        towers = [[disk for disk in range(5) if state[disk] == peg] for peg in (source, target)]
        playable = bool(towers[0]) and (not towers[1] or towers[0][0] < towers[1][0])
        assert legal[0, action] == playable
        if playable:
            assert np.flatnonzero(children[0, action] != state).tolist() == [towers[0][0]]
            assert children[0, action, towers[0][0]] == target


@pytest.mark.parametrize(("small", "large"), [("hanoi_3", "hanoi_6"), ("hanoi_2_4", "hanoi_4_4")])
def test_disks_added_at_the_goal_leave_rank_and_distance_as_they_are(small, large, distances_of):
    few, many = make(small), make(large)
    ranks = np.arange(few.state_count)
    enlarged = np.pad(few.unrank(ranks), ((0, 0), (0, many.disks - few.disks)))
    np.testing.assert_array_equal(many.rank(enlarged), ranks)
    np.testing.assert_array_equal(distances_of(large)[: few.state_count], distances_of(small))


@pytest.mark.parametrize(("disks", "pegs"), [(0, 3), (-1, 3), (3, 2), (3, 10)])
def test_a_game_that_cannot_be_played_is_told_in_one_sentence(disks, pegs):
    with pytest.raises(UserError) as told:
        Hanoi(disks, pegs)
    assert is_one_sentence(str(told.value)) and f"H({disks}, {pegs})" in str(told.value)


@pytest.mark.parametrize("pegs", [3, 5, 9])
def test_every_number_of_pegs_allowed_can_be_written_and_read(pegs):
    puzzle = Hanoi(2, pegs)
    assert puzzle.format_state(puzzle.parse_state(f"0{pegs - 1}")) == f"0{pegs - 1}"
    assert make(puzzle.name) == puzzle


@pytest.mark.parametrize(
    ("text", "reason"), [("222", "3 were given"), ("22222", "5 were given"), ("2223", "'3'"), ("2x22", "'X'")]
)
def test_an_impossible_placing_of_disks_is_told_in_one_sentence(text, reason):
    with pytest.raises(UserError) as told:
        notation.read(Hanoi(4), text, "state")
    assert is_one_sentence(str(told.value)) and reason in str(told.value)


@pytest.mark.parametrize("move", ["2>2", "3>0", "20", "a:2>x", "0:"])
def test_an_unknown_move_of_a_disk_is_told_in_one_sentence(move):
    with pytest.raises(UserError) as told:
        Hanoi(4).parse_moves(f"2>0 {move}")
    assert is_one_sentence(str(told.value)) and f"'{move}'" in str(told.value)


def test_a_move_of_a_scramble_may_name_its_disk():
    named, plain = "0:0>2 1:0>1 2>1 0:1>0", "0>2 0>1 2>1 1>0"
    assert notation.read(Hanoi(4), named, "scramble").read_as == plain


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("9:0>2", "Move 1, '9:0>2', moves disk 0"),
        ("1:0>2", "Move 1, '1:0>2', moves disk 0"),
        ("0:0>2 0:0>1", "Move 2, '0:0>1', moves disk 1"),
        ("0>2 2>1 2:0>2 1:0>2", "Move 3, '2:0>2', moves disk 1"),
        ("0:0>2 0:1>2", "Move 2, '0:1>2', has no disk to move"),
    ],
)
def test_a_disk_that_is_not_there_or_not_on_top_is_not_moved(text, reason):
    with pytest.raises(UserError) as told:
        notation.read(Hanoi(4), text, "scramble")
    assert is_one_sentence(str(told.value)) and reason in str(told.value)
