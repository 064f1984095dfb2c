"""Beam search: replayed, shortest where it can be told, bounded, and better the wider or the longer it searches."""

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo.exact.nearby import GoalAlone, nearby_table
from costtogo.heuristics.children import child_costs
from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.network import NetworkHeuristic, build
from costtogo.learning.instances import draw_walk_ends
from costtogo.learning.random_walk import draw_walks
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.search import bwas
from costtogo.search.anytime import (
    WIDTHS,
    Weighted,
    images,
    schedule,
    solve_images,
    solve_with_weights,
    solve_within,
)
from costtogo.search.beam import SLACK, BeamLimits, solve
from costtogo.types import SearchResult, UserError

CUBE = make("cube3")


class Informed:
    """The exact distance of each child of a listed puzzle, or of each state, with an error of up to noise moves."""

    def __init__(self, puzzle, distance, noise=0.0, by_action=True):
        self.puzzle, self.by_action = puzzle, by_action
        self.values = distance + np.random.default_rng(0).uniform(-noise, noise, size=len(distance))
        self.asked = 0

    def __call__(self, states):
        self.asked += len(states)
        return self.values[self.puzzle.rank(states)].astype(np.float32)

    def children(self, states):
        return child_costs(self.puzzle, states, self)


@pytest.fixture(scope="module")
def far():
    """States of the 3×3×3 at the ends of long walks."""
    return draw_walks(CUBE, 200, 50, np.random.default_rng(7)).states.reshape(4, 50, -1)[:, -1]


@pytest.fixture(scope="module")
def ignorant():
    """A network of the 3×3×3 that has learned nothing."""
    architecture = architecture_of(first_layers=[16], outputs="actions")
    return NetworkHeuristic(CUBE, build(architecture, CUBE, 0), "float32")


def test_exact_knowledge_gives_shortest_paths_however_narrow_the_beam(puzzle, distance):
    ranks = np.random.default_rng(1).integers(len(distance), size=20)
    for width in (1, 7):
        found = solve(puzzle, Informed(puzzle, distance), puzzle.unrank(ranks), width=width)
        assert solves(puzzle, puzzle.unrank(ranks), found.solutions).all()
        np.testing.assert_array_equal(found.cost, distance[ranks])
        assert (found.lower_bound <= found.cost).all()


def test_a_beam_as_wide_as_the_puzzle_is_breadth_first_search(distances_of):
    puzzle, distance = make("hanoi_4"), distances_of("hanoi_4")
    starts = puzzle.unrank(np.arange(81))
    found = solve(puzzle, Informed(puzzle, np.zeros(81)), starts, width=81)
    np.testing.assert_array_equal(found.cost, distance)


def test_a_heuristic_of_states_leads_the_same_way_as_of_children_and_is_asked_for_the_new_ones_alone(puzzle, distance):
    starts = puzzle.unrank(np.random.default_rng(4).integers(len(distance), size=8))
    of_states, of_children = (Informed(puzzle, distance, 3, by_action) for by_action in (False, True))
    found, wanted = (solve(puzzle, heuristic, starts, width=9) for heuristic in (of_states, of_children))
    np.testing.assert_array_equal(found.cost, wanted.cost)
    np.testing.assert_array_equal(found.nodes_generated, wanted.nodes_generated)
    for actions, others in zip(found.solutions, wanted.solutions, strict=True):
        np.testing.assert_array_equal(actions, others)
    assert of_states.asked < of_children.asked


def test_searches_do_not_see_each_other_and_are_the_same_every_time(puzzle, distance):
    ranks = np.random.default_rng(2).integers(len(distance), size=6)
    heuristic = Informed(puzzle, distance, noise=3)
    together = solve(puzzle, heuristic, puzzle.unrank(ranks), width=5)
    for row in range(len(ranks)):
        alone = solve(puzzle, heuristic, puzzle.unrank(ranks[row : row + 1]), width=5)
        assert alone.cost[0] == together.cost[row] and alone.nodes_expanded[0] == together.nodes_expanded[row]
        np.testing.assert_array_equal(alone.solutions[0], together.solutions[row])


def test_wider_beams_find_shorter_solutions_on_the_whole(distances_of):
    puzzle, distance = make("cube2"), distances_of("cube2")
    starts = puzzle.unrank(np.random.default_rng(3).integers(len(distance), size=40))
    heuristic = Informed(puzzle, distance, noise=4)
    costs = [solve(puzzle, heuristic, starts, width=width).cost.mean() for width in (3, 30, 300)]
    assert costs[0] > costs[1] > costs[2] >= distance[puzzle.rank(starts)].mean()


def test_the_exact_distances_around_the_goal_shorten_the_search_and_not_the_solution(distances_of):
    puzzle, distance = make("cube2"), distances_of("cube2")
    starts, nearby = puzzle.unrank(np.flatnonzero(distance >= 11)[::40_000]), nearby_table(puzzle, 5)
    results = []
    for table in (None, nearby):
        heuristic = Informed(puzzle, distance)
        results.append((solve(puzzle, heuristic, starts, width=10, nearby=table), heuristic.asked))
    (whole, asked), (helped, asked_less) = results
    np.testing.assert_array_equal(whole.cost, helped.cost)
    assert solves(puzzle, starts, helped.solutions).all() and asked_less < asked
    assert (helped.lower_bound == 6).all()


@pytest.mark.parametrize(("too_far", "before", "levels"), [(0, 6, 1 + SLACK), (SLACK, 6, 1), (SLACK + 1, 5, 0)])
def test_the_children_of_states_that_seem_near_the_table_are_looked_up(distances_of, too_far, before, levels):
    puzzle, distance = make("cube2"), distances_of("cube2")
    starts = puzzle.unrank(np.flatnonzero(distance >= 11)[::40_000])
    heuristic = Informed(puzzle, distance + too_far)
    found = solve(puzzle, heuristic, starts, width=1, nearby=nearby_table(puzzle, 5))
    np.testing.assert_array_equal(found.cost, distance[puzzle.rank(starts)])
    np.testing.assert_array_equal(found.nodes_expanded, found.cost - before)
    looked_up = found.nodes_generated - len(puzzle.actions) * found.nodes_expanded
    np.testing.assert_array_equal(looked_up, len(puzzle.actions) * levels)


def test_a_start_within_the_table_is_solved_without_searching(ignorant):
    nearby = nearby_table(CUBE, 4)
    starts = draw_walks(CUBE, 80, 4, np.random.default_rng(8)).states
    found = solve(CUBE, ignorant, starts, width=10, nearby=nearby)
    np.testing.assert_array_equal(found.cost, nearby(starts))
    np.testing.assert_array_equal(found.lower_bound, found.cost)
    assert solves(CUBE, starts, found.solutions).all() and not found.nodes_expanded.any()


LIMITS = {
    "moves": BeamLimits(max_moves=3),
    "memory": BeamLimits(max_nodes=2000),
    "seconds": BeamLimits(seconds=0),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_search_at_its_limit_ends_as_unsolved(limit, ignorant, far):
    found = solve(CUBE, ignorant, far, width=1000, limits=LIMITS[limit])
    assert not found.solved.any() and [len(actions) for actions in found.solutions] == [0] * len(far)
    assert (found.nodes_expanded <= 4 * 1000).all()


def test_no_starts_give_no_rows(ignorant, far):
    assert solve(CUBE, ignorant, far[:0], width=3).solutions == []


def test_a_width_of_nothing_is_told_in_one_sentence(ignorant, far):
    with pytest.raises(UserError, match="width") as told:
        solve(CUBE, ignorant, far, width=0)
    assert is_one_sentence(str(told.value))


def test_a_solution_of_any_image_is_one_of_the_state():
    nearby = nearby_table(CUBE, 4)
    states = draw_walks(CUBE, 40, 4, np.random.default_rng(10)).states
    every = images(CUBE)
    assert len(every) == 96 and len({tuple(image.of(states[3])[0]) for image in every}) > 48
    np.testing.assert_array_equal(every[0].of(states[0])[0], states[0])
    for image in every:
        paths = [image.back(np.array(nearby.path(image.of(state)[0]), dtype=np.int8)) for state in states]
        assert solves(CUBE, states, paths).all()


def test_a_puzzle_without_symmetries_has_itself_alone_for_an_image():
    puzzle = make("hanoi_4")
    (alone,) = images(puzzle)
    np.testing.assert_array_equal(alone.of(puzzle.start)[0], puzzle.start)
    assert alone.back(np.array([1, 2], dtype=np.int8)).tolist() == [1, 2]


@pytest.mark.parametrize("count", [1, 96])
def test_widths_grow_and_images_of_one_width_differ(count):
    planned = [pair for pair, _ in zip(schedule(count), range(120), strict=False)]
    widths = [width for width, _ in planned]
    assert widths == sorted(widths) and widths[-1] > WIDTHS[-1][0]
    for width in set(widths):
        numbers = [number for other, number in planned if other == width]
        assert len(set(numbers)) == len(numbers) and max(numbers) < count


def test_of_some_images_the_shortest_solution_is_taken_and_it_solves_the_state_itself():
    class Misled:
        """Stickers out of place, by which a narrow beam from the state finds nothing, and one from its inverse does."""

        by_action = True

        def children(self, states):
            return (CUBE.expand(states)[0] != CUBE.goal).sum(axis=2).astype(np.float32)

    nearby, start = nearby_table(CUBE, 4), draw_walks(CUBE, 7, 7, np.random.default_rng(0)).states[-1]
    alone = [solve(CUBE, Misled(), image.of(start), width=20, nearby=nearby).cost[0] for image in images(CUBE)[:6]]
    assert alone[0] == np.inf and min(alone) == 7
    found = solve_images(CUBE, Misled(), start[None], width=20, count=6, nearby=nearby)
    assert found.cost[0] == min(alone) and solves(CUBE, start[None], found.solutions)[0]


def test_an_anytime_search_ends_at_once_where_the_solution_is_known_to_be_optimal(ignorant):
    nearby = nearby_table(CUBE, 4)
    start = draw_walks(CUBE, 4, 4, np.random.default_rng(9)).states[-1]
    found = solve_within(CUBE, ignorant, start, seconds=1000, nearby=nearby)
    assert found.cost[0] == nearby(start[None])[0] and solves(CUBE, start[None], found.solutions)[0]


def test_an_anytime_search_gives_the_shortest_of_its_solutions_each_of_another_image(distances_of, monkeypatch):
    """By a clock that moves half a second at each look, so that some searches are begun, each of which is replayed."""
    calls = []

    def searched(puzzle, heuristic, starts, *, width, nearby, limits):
        found = solve(puzzle, heuristic, starts, width=width, nearby=nearby, limits=BeamLimits())
        assert solves(puzzle, starts, found.solutions)[0]
        calls.append((width, found.cost[0]))
        return found

    class Clock:
        now = 0.0

        def monotonic(self):
            Clock.now += 0.5
            return Clock.now

    class Descending:
        """Knows how many stickers are out of place, which leads near the goal from a few moves away."""

        by_action = True

        def children(self, states):
            return (CUBE.expand(states)[0] != CUBE.goal).sum(axis=2).astype(np.float32)

    monkeypatch.setattr("costtogo.search.beam.solve", searched)
    monkeypatch.setattr("costtogo.search.anytime.time", Clock())
    start = draw_walks(CUBE, 7, 7, np.random.default_rng(11)).states[-1]
    nearby = nearby_table(CUBE, 3)
    found = solve_within(CUBE, Descending(), start, seconds=6, nearby=nearby)
    assert len(calls) > 1 and found.cost[0] == min(cost for _, cost in calls)
    assert solves(CUBE, start[None], found.solutions)[0]


@pytest.mark.parametrize(("name", "most"), [("lights_out_7", 49_000), ("lights_out_7", 490), ("cube3", 60_000)])
def test_no_beam_of_an_anytime_search_is_so_wide_that_a_step_holds_more_nodes_than_it_may(name, most, monkeypatch):
    puzzle, widths, now = make(name), [], iter(range(1000))

    def searched(puzzle, heuristic, starts, *, width, nearby, limits):
        widths.append(width)
        return SearchResult.from_rows([(np.inf, 1, 1, 0.0, [], False, True)])

    monkeypatch.setattr("costtogo.search.beam.solve", searched)
    monkeypatch.setattr("costtogo.search.anytime.time.monotonic", lambda: next(now) / 1000)
    goal = GoalAlone(puzzle)
    assert not solve_within(puzzle, None, puzzle.goal, seconds=0.5, nearby=goal, max_nodes=most).solved[0]
    assert max(widths) == most // max(30, len(puzzle.actions)) and widths.count(max(widths)) <= len(images(puzzle))


def test_bwas_from_several_images_gives_the_shortest_solution_as_one_of_the_state_itself(monkeypatch):
    puzzle = make("puzzle8")
    heuristic, one, two, shorter = Manhattan(puzzle), Weighted([0], 1), Weighted([0], 1, count=2), set()
    for start in draw_walk_ends(puzzle, 20, (40, 60), np.random.default_rng(2)):
        starts = [image.of(start)[0] for image in images(puzzle)]
        alone = [solve_with_weights(puzzle, heuristic, each, one, seconds=1000).cost[0] for each in starts]
        found = solve_with_weights(puzzle, heuristic, start, two, seconds=1000)
        assert found.cost[0] == min(alone) and solves(puzzle, start[None], found.solutions)[0]
        shorter.add(int(np.sign(alone[1] - alone[0])))
    assert shorter == {-1, 0, 1}
    given, search = [], bwas.solve
    monkeypatch.setattr(
        bwas, "solve", lambda *args, **named: given.append(named["limits"].seconds) or search(*args, **named)
    )
    solve_with_weights(puzzle, heuristic, start, two, seconds=1000)
    assert 499 < given[0] <= 500 and 990 < given[1] <= 1000


def test_bwas_with_several_weights_gives_the_shortest_solution_and_counts_the_work_of_all(distances_of, monkeypatch):
    puzzle, weights = make("hanoi_5"), (0.0, 0.5, 1.0)
    heuristic = Overestimating(puzzle, distances_of("hanoi_5"))
    alone = [solve_with_weights(puzzle, heuristic, puzzle.start, Weighted([w], 1), seconds=1000) for w in weights]
    together = solve_with_weights(puzzle, heuristic, puzzle.start, Weighted(weights, 1), seconds=1000)
    costs = [found.cost[0] for found in alone]
    assert together.cost[0] == min(costs) < costs[0]
    assert together.nodes_expanded[0] == sum(found.nodes_expanded[0] for found in alone)
    assert solves(puzzle, puzzle.start[None], together.solutions)[0]
    search, searched = bwas.solve, []
    monkeypatch.setattr(
        bwas, "solve", lambda *args, **named: searched.append(named["path_weight"]) or search(*args, **named)
    )
    late = solve_with_weights(puzzle, heuristic, puzzle.start, Weighted(weights, 1), seconds=0)
    assert not late.solved[0] and searched == [0.0], "the time is up before the second"


class Overestimating:
    """Up to three times the distance, at random."""

    def __init__(self, puzzle, distance):
        self.puzzle, self.values = puzzle, distance * np.random.default_rng(0).uniform(1, 3, size=len(distance))

    def __call__(self, states):
        return self.values[self.puzzle.rank(states)].astype(np.float32)
