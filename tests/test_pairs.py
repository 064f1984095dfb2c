"""The bound by pairs of boxes: never above the distance, never below the matching; it knows what blocks for good."""

import numpy as np
import pytest

from costtogo.exact.sokoban import list_level
from costtogo.heuristics import pairs
from costtogo.heuristics.larger import Larger
from costtogo.heuristics.matching import MatchingBound
from costtogo.heuristics.pairs import PairsBound
from costtogo.puzzles import find, levels_of, make
from costtogo.solving.exact import no_solution

PUZZLE = make("sokoban_8")
LEVELS = levels_of(PUZZLE).draw(6, 3, 5, "test")
BLOCKED = PUZZLE.parse_state("########|#.$$.--#|#------#|#-@$-.-#|#------#|########")  # the upper two, for good


@pytest.fixture(scope="module", params=range(len(LEVELS)))
def known(request):
    """All states of a level that may be reached from its start, solvable or not, and their steps."""
    table = list_level(PUZZLE, LEVELS[request.param])
    states = table.states_of(np.flatnonzero(table.reachable(LEVELS[request.param])))
    return states, table(states)


def test_it_is_admissible_consistent_and_no_less_than_the_matching(known):
    states, steps = known
    bound, matching = PairsBound(PUZZLE)(states), MatchingBound(PUZZLE)(states)
    assert bound.dtype == np.float32 and (bound <= steps).all() and (bound >= matching).all()
    assert (bound > matching).any() and ((bound == 0) == PUZZLE.is_goal(states)).all()
    children, legal = PUZZLE.expand(states)
    after = PairsBound(PUZZLE)(children[legal])
    before = np.broadcast_to(bound[:, None], legal.shape)[legal]
    assert (before <= 1 + after).all()


def test_it_finds_more_dead_ends_than_the_matching_and_no_others():
    found = np.zeros(3, dtype=int)
    for level in LEVELS:
        table = list_level(PUZZLE, level)
        states = table.states_of(np.flatnonzero(table.reachable(level)))
        dead, by_pairs = np.isinf(table(states)), np.isinf(PairsBound(PUZZLE)(states))
        assert not (by_pairs & ~dead).any()
        found += [np.isinf(MatchingBound(PUZZLE)(states)).sum(), by_pairs.sum(), dead.sum()]
    assert found[0] < found[1] <= found[2]


def test_states_of_several_levels_have_the_values_that_they_have_alone():
    states = np.concatenate([LEVELS[:3], LEVELS[:2], LEVELS[2:3]])
    together = PairsBound(PUZZLE)(states)
    np.testing.assert_array_equal(together, [PairsBound(PUZZLE)(state[None])[0] for state in states])
    assert len(PairsBound(PUZZLE)(states[:0])) == 0


def test_one_box_or_too_large_a_table_leaves_the_matching(monkeypatch):
    one = levels_of(PUZZLE).draw(3, 1, 5, "test")
    np.testing.assert_array_equal(PairsBound(PUZZLE)(one), MatchingBound(PUZZLE)(one))
    monkeypatch.setattr(pairs, "LARGEST", 10)
    states = np.repeat(LEVELS, 2, axis=0)
    np.testing.assert_array_equal(PairsBound(PUZZLE)(states), MatchingBound(PUZZLE)(states))


def test_tables_are_dropped_where_they_fill_their_room(monkeypatch):
    bound = PairsBound(PUZZLE)
    values = bound(LEVELS)
    monkeypatch.setattr(pairs, "KEPT", 1)
    small = PairsBound(PUZZLE)
    np.testing.assert_array_equal(small(LEVELS), values)
    assert len(small._kept) == 1 < len(bound._kept) == len(LEVELS)


def test_it_is_the_best_bound_of_sokoban_and_tells_which_levels_are_blocked():
    assert list(find("sokoban")[0].bounds) == ["dead_squares", "matching", "pairs"]
    assert np.isfinite(MatchingBound(PUZZLE)(BLOCKED[None])) and np.isinf(PairsBound(PUZZLE)(BLOCKED[None]))
    assert no_solution(PUZZLE, BLOCKED) == "There is no solution: two of the boxes block each other for good."
    assert no_solution(PUZZLE, LEVELS[0]) is None


@pytest.mark.parametrize("by_action", [False, True])
def test_the_larger_of_a_heuristic_and_a_bound_is_inf_where_either_is(known, by_action):
    class Constant:
        puzzle = PUZZLE

        def __call__(self, states):
            return np.full(len(states), 3, dtype=np.float32)

        def children(self, states):
            return np.where(PUZZLE.expand(states)[1], np.float32(3), np.float32(np.inf))

    Constant.by_action = by_action
    states, bound = known[0], MatchingBound(PUZZLE)
    larger = Larger(Constant(), bound)
    np.testing.assert_array_equal(larger(states), np.maximum(bound(states), 3))
    children, legal = PUZZLE.expand(states)
    expected = np.where(legal, np.maximum(bound(children.reshape(-1, PUZZLE.cells)).reshape(legal.shape), 3), np.inf)
    np.testing.assert_array_equal(larger.children(states), expected)
    assert larger.by_action == by_action and np.isinf(expected[legal]).any()
