"""The rules of Sokoban: pushes and pulls, its text, what is no level, what its networks see."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo.heuristics.network import NetworkHeuristic, build
from costtogo.heuristics.representation import Planes
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, random_walks, solves
from costtogo.puzzles.sokoban import is_box, is_player
from costtogo.types import NO_ACTION, UserError

PUZZLE, SMALL = make("sokoban"), make("sokoban_4_5")
PUSHED = """
#####
#@$.#
#####
"""


def drawn(state) -> str:
    return PUZZLE.draw(state)


def level(*rows: str):
    return PUZZLE.parse_state("\n".join(rows))


def test_a_step_pushes_the_box_in_its_way_onto_the_target():
    state = PUZZLE.parse_state(PUSHED)
    after = apply(PUZZLE, state, PUZZLE.parse_moves("R"))
    assert " @*" in drawn(after).replace("#", "").replace("\n", "") and PUZZLE.is_goal(after[None])[0]
    assert not PUZZLE.is_goal(state[None])[0] and PUZZLE.is_push(state, [3]).tolist() == [True]


@pytest.mark.parametrize(
    ("rows", "legal"),
    [
        (("#####", "#@$##", "#.###", "#####"), "D"),  # a wall behind the box
        (("######", "#@$$.#", "#.####", "######"), "D"),  # a box behind the box
        (("#####", "#.@$#", "#####"), "L"),
        (("#####", "#+$ #", "#####"), "R"),
    ],
)
def test_a_box_moves_only_onto_a_free_cell(rows, legal):
    state = level(*rows)
    allowed = PUZZLE.legal(state[None])[0]
    assert "".join(np.array(PUZZLE.actions)[allowed]) == legal


def test_steps_and_pushes_are_told_apart():
    state = level("#######", "#@ $ .#", "#     #", "#######")
    moves = PUZZLE.parse_moves("R R R D U L L")
    assert PUZZLE.is_push(state, moves).tolist() == [False, True, True, False, False, False, False]
    assert solves(PUZZLE, state[None], [moves[:3]]).all()


walks = {"seed": st.integers(0, 2**32 - 1), "length": st.integers(1, 60)}


@given(**walks)
def test_pushing_after_pulling_restores(seed, length):
    """Every step back of a walk from a solved state, played forth again in reverse, leads to that solved state."""
    draws = np.random.default_rng(seed).random((1, length + 1))
    states, steps = PUZZLE.walk(draws)
    forth = [int(PUZZLE.steps_back.action[step]) for step in steps[0, :length][::-1]]
    np.testing.assert_array_equal(apply(PUZZLE, states[0, -1], forth), PUZZLE.goal)
    pulled = steps[0, :length] >= len(PUZZLE.actions)
    np.testing.assert_array_equal(PUZZLE.is_push(states[0, -1], forth), pulled[::-1])


@given(**walks)
def test_walls_targets_and_the_number_of_boxes_never_change(seed, length):
    states = random_walks(PUZZLE, 1, length, np.random.default_rng(seed))[0]
    children, _ = PUZZLE.expand(states)
    planes = PUZZLE.planes[children.reshape(-1, PUZZLE.cells)]
    goal = PUZZLE.planes[PUZZLE.goal]
    assert (planes[:, :, 2:] == goal[:, 2:]).all()
    assert (planes[:, :, :2].sum(axis=1) == goal[:, :2].sum(axis=0)).all()


def test_every_step_forth_is_a_step_back_of_the_state_it_leads_to():
    states = random_walks(SMALL, 30, 20, np.random.default_rng(5)).reshape(-1, SMALL.cells)
    children, legal = SMALL.expand(states)
    for row, action in np.argwhere(legal):
        parents, allowed = SMALL.reverse(children[row, action][None])
        ways = [b for b in np.flatnonzero(allowed[0]) if SMALL.steps_back.action[b] == action]
        assert any((parents[0, way] == states[row]).all() for way in ways)


def test_a_player_shut_in_by_boxes_came_from_nowhere_and_stays_where_he_is():
    shut = level("####", "#@$#", "#$ #", "#..#", "####")
    assert not PUZZLE.reverse_legal(shut[None]).any()
    for step in (NO_ACTION, 0, 7):
        np.testing.assert_array_equal(PUZZLE.step_back(shut[None], np.array([step]))[0], shut)


def test_no_action_has_an_inverse_and_each_state_its_own_goal():
    assert [PUZZLE.inverse(action) for action in range(4)] == [NO_ACTION] * 4
    assert not PUZZLE.has_inverses and not PUZZLE.one_goal
    states = np.array([level("#####", "#@ *#", "#####"), level("#####", "#+$ #", "#####"), PUZZLE.goal])
    assert PUZZLE.is_goal(states).tolist() == [True, False, True]


def test_a_smaller_level_stands_in_the_middle_between_walls_whatever_is_outside():
    state = level("  ####", "###..#", "#@$$ #", "#    #", "######")
    rows = drawn(state).split("\n")
    assert rows[:2] == ["#" * 10] * 2 and rows[3] == "#####..###" and rows[4] == "###@$$ ###"
    np.testing.assert_array_equal(PUZZLE.parse_state(PUZZLE.format_state(state)), state)
    assert "\n" not in PUZZLE.format_state(state) and " " not in PUZZLE.format_state(state)


NO_LEVELS = {
    "player": ("#####\n# $.#\n#####", "this one has none"),
    "players": ("######\n#@@$.#\n######", "this one has 2"),
    "boxes": ("######\n#@$$.#\n######", "this one has 2 and 1"),
    "box": ("####\n#@ #\n####", "this one has none"),
    "nothing": ("", "one player"),
    "out of reach": ("#######\n#@$.#$#\n#####.#\n#######", "where the player could never come"),
    "open": ("#####\n#@$. \n#####", "The border of the level is open"),
    "open below": ("#####\n#@$.#\n## ##", "The border of the level is open"),
    "symbol": ("#####\n#@$x#\n#####", "'x' in row 2"),
    "width": ("#" * 11 + "\n#@$.######\n" + "#" * 11, "sokoban_4_11"),
    "height": ("#####\n" * 12, "12 × 5 cells"),
    "any board": ("#####\n" * 65, "no board has more than 64"),
}


@pytest.mark.parametrize("kind", NO_LEVELS)
def test_what_is_no_level_is_told_in_one_sentence(kind):
    text, reason = NO_LEVELS[kind]
    with pytest.raises(UserError) as told:
        PUZZLE.parse_state(text)
    assert reason in str(told.value) and is_one_sentence(str(told.value)), str(told.value)


@pytest.mark.parametrize("name", ["sokoban_3", "sokoban_65", "sokoban_10_3", "sokoban_0"])
def test_a_board_without_room_is_refused(name):
    with pytest.raises(UserError, match="4 to 64 rows and columns") as told:
        make(name)
    assert is_one_sentence(str(told.value))


def test_the_planes_show_player_boxes_targets_and_walls():
    state = level("#####", "#+$ #", "# *$#", "#.  #", "#####")
    seen = Planes(PUZZLE).of(torch.from_numpy(state[None])).numpy().reshape(100, 4)
    np.testing.assert_array_equal(seen[:, 0], is_player(state))
    np.testing.assert_array_equal(seen[:, 1], is_box(state))
    assert seen.sum(axis=0).tolist() == [1, 3, 3, 100 - 9]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_frozen_and_trained_networks_see_the_same_planes(precision):
    architecture = architecture_of(first_layers=[24, 12], residual_blocks=1, inputs="planes")
    network = build(architecture, PUZZLE, seed=3).eval()
    states = random_walks(PUZZLE, 70, 9, np.random.default_rng(4))[:, -1]
    with torch.no_grad():
        wanted = network(network.encoded(states)).numpy()
    assert network.first[0].in_features == 800
    found = NetworkHeuristic(PUZZLE, network, precision).outputs(states)
    np.testing.assert_allclose(found, wanted, atol=1e-4 if precision == "float32" else 0.05)


def test_a_puzzle_without_planes_is_told_in_one_sentence():
    with pytest.raises(UserError, match="no planes") as told:
        Planes(make("puzzle8"))
    assert is_one_sentence(str(told.value))
