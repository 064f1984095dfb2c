"""Where states come from: how many, from how long a walk, and by which draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo.exact.graph import neighbour_table
from costtogo.learning.samplers import effective_k, sample, sample_states, thinned_walks
from costtogo.params.training import sampler_of
from costtogo.puzzles import make
from costtogo.types import NO_STATE, UserError

KINDS = ("deepcube", "deepcubea", "uniform", "adaptive_k")


def draw(name: str, kind: str, count: int, walk_max: int, seed: int = 0) -> np.ndarray:
    return sample(make(name), kind, count, walk_max, np.random.default_rng(seed))


@given(walk_max=st.integers(1, 40), points=st.integers(0, 60), offset=st.integers(0, 5))
def test_adaptive_k_walks_one_further_after_each_convergence_point_up_to_k(walk_max, points, offset):
    sampler = sampler_of(kind="adaptive_k", walk_max=walk_max, conv_point_offs=offset)
    expected = points + 1 + offset
    assert effective_k(sampler, points) == (expected if expected < walk_max else walk_max)


@pytest.mark.parametrize("kind", ["deepcube", "deepcubea"])
def test_the_other_samplers_walk_as_far_at_every_convergence_point(kind):
    assert {effective_k(sampler_of(kind=kind, walk_max=20), points) for points in (0, 7, 100)} == {20}


@pytest.mark.parametrize("kind", KINDS)
@given(count=st.integers(1, 200), walk_max=st.integers(1, 30))
def test_there_are_as_many_states_as_asked_for_or_the_last_walk_whole(kind, count, walk_max):
    states = draw("hanoi_4", kind, count, walk_max)
    expected = -(-count // walk_max) * walk_max if kind in ("deepcube", "adaptive_k") else count
    assert states.shape == (expected,) and states.dtype == np.int64
    assert states.min() >= 0 and states.max() < 81


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_draws_the_same_states_and_another_seed_others(kind):
    np.testing.assert_array_equal(draw("cube2", kind, 50, 10, seed=1), draw("cube2", kind, 50, 10, seed=1))
    assert (draw("cube2", kind, 50, 10, seed=1) != draw("cube2", kind, 50, 10, seed=2)).any()


def test_deepcube_keeps_whole_walks_from_the_goal_of_length_k():
    puzzle, walk_max = make("cube2"), 9
    walks = draw("cube2", "deepcube", 45, walk_max).reshape(-1, walk_max)
    path = np.column_stack([np.repeat(puzzle.rank(puzzle.goal[None]), len(walks)), walks])
    neighbours = neighbour_table(puzzle)
    for before, after in zip(path.T, path.T[1:], strict=False):
        assert (neighbours[before] == after[:, None]).any(axis=1).all()


def test_after_k_quarter_turns_the_distance_is_as_odd_as_k(distances_of):
    """A quarter turn is an odd permutation of the corners, so walks alternate between odd and even distances."""
    walks = distances_of("cube2")[draw("cube2", "deepcube", 3000, 15).reshape(-1, 15)]
    np.testing.assert_array_equal(walks % 2, np.tile(np.arange(1, 16) % 2, (len(walks), 1)))
    assert (walks <= np.arange(1, 16)).all()


def chances_after(walk_max: int) -> np.ndarray:
    """The chance of each state of hanoi_3 after 1, 2 … walk_max uniformly random legal moves, float64 [K, S]."""
    neighbours = neighbour_table(make("hanoi_3"))
    step = np.zeros((27, 27))
    for state, row in enumerate(neighbours):
        legal = row[row != NO_STATE]
        step[state, legal] = 1 / len(legal)
    return np.array([np.linalg.matrix_power(step, moves)[0] for moves in range(1, walk_max + 1)])


@pytest.mark.parametrize("walk_max", [1, 2, 7])
def test_deepcubea_ends_walks_of_every_length_up_to_k_equally_often(walk_max):
    count = 20_000
    found = np.bincount(draw("hanoi_3", "deepcubea", count, walk_max), minlength=27)
    chances = chances_after(walk_max).mean(axis=0)
    assert (np.abs(found - count * chances) <= 5 * np.sqrt(count * chances * (1 - chances))).all()


def test_each_step_of_deepcube_is_a_uniformly_random_legal_move():
    walks = draw("hanoi_3", "deepcube", 35_000, 7).reshape(-1, 7)
    for moves, chances in enumerate(chances_after(7)):
        found = np.bincount(walks[:, moves], minlength=27)
        assert (np.abs(found - 5000 * chances) <= 5 * np.sqrt(5000 * chances * (1 - chances))).all()


def test_uniform_covers_every_state_about_equally_often():
    counts = np.bincount(draw("hanoi_3", "uniform", 27 * 200, 1), minlength=27)
    assert len(counts) == 27
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200)


@pytest.mark.parametrize(("spacing", "wanted"), [(1, [0, 10, 20, 30, 40]), (2, [0, 2, 8, 18, 32])])
def test_walks_keep_every_stride_th_state_or_with_a_spacing_those_whose_number_is_its_power(spacing, wanted):
    """Of 50 moves five states, from the same one of the first ten: as many moves later, or 50 (k / 5)² later."""
    puzzle = make("puzzle15")
    states = thinned_walks(puzzle, 300, 50, 10, spacing, np.random.default_rng(3)).reshape(60, 5, -1)
    generator = np.random.default_rng(3)
    path, _ = puzzle.walk(generator.random((60, 51)))
    first = generator.integers(10, size=60)
    later = np.rint(50 * ((first[:, None] + 10 * np.arange(5)) / 50) ** spacing).astype(int)
    assert (later[first == 0] == wanted).all() and (first == 0).any()
    np.testing.assert_array_equal(states, path[np.arange(60)[:, None], later])


def test_a_sampler_that_needs_ranks_is_told_in_one_sentence():
    with pytest.raises(UserError, match="can be listed") as told:
        sample_states(make("cube3"), sampler_of(kind="uniform"), 5, 1, np.random.default_rng(0))
    assert is_one_sentence(str(told.value))
