"""Patterns of solutions: each triplet is counted as what it is, and an image of a solution is known as one."""

import math

import numpy as np
import pytest

from costtogo.analysis.solutions import mirrored_shares, triplet_shares
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, solves

CUBE = make("cube3")


@pytest.mark.parametrize(
    ("moves", "pattern"),
    [("R U R'", "conjugate"), ("R U R", "aba"), ("R R U", "aab"), ("R U U", "abb"), ("R U F", None), ("R R R", None)],
)
def test_a_triplet_is_counted_as_what_it_is(moves, pattern):
    shares = triplet_shares(CUBE, [CUBE.parse_moves(moves)])
    expected = {f"{name}_triplet_percent": 100.0 * (name == pattern) for name in ("conjugate", "aba", "aab", "abb")}
    assert shares == {"triplets": 1, **expected}


def test_triplets_overlap_and_do_not_reach_from_one_solution_into_the_next():
    shares = triplet_shares(CUBE, [CUBE.parse_moves("R U R' F R"), CUBE.parse_moves("R' U")])
    assert shares["triplets"] == 3
    assert shares["conjugate_triplet_percent"] == pytest.approx(200 / 3), "R U R' and R' F R"
    assert math.isnan(triplet_shares(CUBE, [[0, 2]])["aba_triplet_percent"])


def test_the_image_of_a_solution_solves_the_image_of_the_state_and_is_known_as_one():
    solution = CUBE.parse_moves("R U F' L2 D")
    state = apply(CUBE, CUBE.goal, [CUBE.inverse(action) for action in reversed(solution)])
    image = CUBE.mirror.actions[solution]
    assert solves(CUBE, CUBE.mirror.apply(state[None]), [image])[0]
    shares = mirrored_shares(CUBE, [solution], [image], CUBE.mirror)
    assert shares["symmetric_solution_percent"] == 100 and shares["asymmetric"] == 0
    assert math.isnan(shares["same_length_percent"])


def test_half_turns_have_no_direction_and_opposite_faces_no_order():
    shares = mirrored_shares(
        CUBE, [CUBE.parse_moves("U' U' L R D2")], [CUBE.parse_moves("U2 L' R' D' D'")], CUBE.mirror
    )
    assert shares["symmetric_solution_percent"] == 100
    other = mirrored_shares(CUBE, [CUBE.parse_moves("U L U")], [CUBE.parse_moves("U' R U'")], CUBE.mirror)
    assert other["symmetric_solution_percent"] == 0, "the image of L is R'"


def test_lengths_are_compared_of_the_other_pairs_alone():
    first = [[0, 4], [0], [0, 2]]
    second = [CUBE.mirror.actions[np.array([0, 4])].tolist(), [5], [7]]
    shares = mirrored_shares(CUBE, first, second, CUBE.mirror)
    assert shares["symmetric_solution_percent"] == pytest.approx(100 / 3)
    assert (shares["asymmetric"], shares["same_length_percent"]) == (2, 50)
