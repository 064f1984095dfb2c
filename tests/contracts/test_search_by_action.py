"""What BWAS owes over a heuristic that tells the cost-to-go of each child: the definition, the optimum, its limits."""

import heapq
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo.exact.graph import neighbour_table
from costtogo.exact.nearby import FAR, nearby_table
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.table import TableHeuristic
from costtogo.learning.random_walk import draw_walks
from costtogo.progress import Clock
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.search import action_engine
from costtogo.search.bwas import Limits, solve
from costtogo.types import NO_STATE, UserError

CUBE = make("cube3")
FIELDS = ("cost", "nodes_expanded", "nodes_generated", "lower_bound", "out_of_memory")


class ByAction:
    """The exact distance of each child with an error that depends on its parent, too; never negative."""

    by_action = True

    def __init__(self, puzzle, distance, low: float, high: float, seed: int = 0):
        self.puzzle, self.asked = puzzle, 0
        neighbours = neighbour_table(puzzle)
        noise = np.random.default_rng(seed).uniform(low, high, neighbours.shape)
        values = np.maximum(distance[neighbours] + noise, 0)
        self.values = np.where(neighbours == NO_STATE, np.inf, values).astype(np.float32)

    def children(self, states):
        self.asked += len(states)
        return self.values[self.puzzle.rank(states)]


class Blind:
    """A heuristic that knows nothing of the 3×3×3."""

    by_action = True

    def children(self, states):
        return np.full((len(states), 12), 20, dtype=np.float32)


def by_definition(puzzle, values, start, goal, path_weight, batch_size) -> tuple[int, int]:
    """Batch Q* search in plain Python: the length of the solution and the nodes expanded."""
    neighbours, undo = neighbour_table(puzzle), [puzzle.inverse(a) for a in range(len(puzzle.actions))]
    best: dict[int, int] = {}
    heap, batch, nodes, expanded = [], [(start, 0, None)], 0, 0
    while batch:
        live = []
        for state, path, action in batch:
            if state in best and best[state] <= path:
                continue
            best[state] = path
            if state == goal:
                return path, expanded
            live.append((nodes, state, path, action))
            nodes += 1
        expanded += len(live)
        for node, state, path, arrived_by in live:
            for action, child in enumerate(neighbours[state].tolist()):
                if child != NO_STATE and (arrived_by is None or action != undo[arrived_by]):
                    f = path_weight * (path + 1) + float(values[state, action])
                    heapq.heappush(heap, (f, node, action, child, path + 1))
        taken = [heapq.heappop(heap) for _ in range(min(batch_size, len(heap)))]
        batch = [(child, path, action) for _, _, action, child, path in taken]
    raise AssertionError("the goal was not reached")


@given(
    seed=st.integers(0, 2**32 - 1),
    path_weight=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    batch_size=st.integers(1, 12),
    name=st.sampled_from(["hanoi_5", "hanoi_3_4"]),
)
def test_the_engine_does_what_the_definition_says(distances_of, seed, path_weight, batch_size, name):
    puzzle, distance = make(name), distances_of(name)
    heuristic = ByAction(puzzle, distance, -3, 3, seed)
    starts = np.random.default_rng(seed).integers(puzzle.state_count, size=5)
    found = solve(puzzle, heuristic, puzzle.unrank(starts), path_weight=path_weight, batch_size=batch_size)
    definition = [by_definition(puzzle, heuristic.values, s, 0, path_weight, batch_size) for s in starts.tolist()]
    assert list(zip(found.cost.tolist(), found.nodes_expanded.tolist(), strict=True)) == definition
    assert heuristic.asked == found.nodes_expanded.sum(), "one evaluation for each node expanded"


def some_starts(puzzle, distance, count: int = 12) -> np.ndarray:
    return np.random.default_rng(count).choice(np.flatnonzero(distance <= 7), size=count)


@pytest.mark.parametrize(
    "setting",
    [{"batch_size": 1}, {"batch_size": 6, "until_proved": True}],
    ids=str,
)
def test_an_admissible_heuristic_gives_the_table_distance(setting, puzzle, distance):
    starts = some_starts(puzzle, distance)
    heuristic = ByAction(puzzle, distance, -2, 0)
    found = solve(puzzle, heuristic, puzzle.unrank(starts), path_weight=1.0, **setting)
    np.testing.assert_array_equal(found.cost, distance[starts])
    assert (found.lower_bound <= distance[starts] + 1e-5).all() and (found.lower_bound > distance[starts] - 1).all()


def test_a_proof_leaves_out_what_cannot_lead_to_a_cheaper_solution(distances_of):
    puzzle, distance = make("cube2"), distances_of("cube2")
    starts = puzzle.unrank(np.flatnonzero(distance == 7)[:5])
    heuristic = ByAction(puzzle, distance, -1, 0)
    found = solve(puzzle, heuristic, starts, path_weight=0.5, batch_size=3, until_proved=True)
    assert (found.cost == 7).all() and (found.nodes_expanded < 1000).all(), "of 11,913 within six moves"


@pytest.mark.parametrize("path_weight", [0.0, 0.6, 1.0])
def test_every_solution_replays_to_the_goal_in_as_many_moves_as_it_costs(path_weight, puzzle, distance):
    starts = some_starts(puzzle, distance, 20)
    heuristic = ByAction(puzzle, distance, -2, 4)
    found = solve(puzzle, heuristic, puzzle.unrank(starts), path_weight=path_weight, batch_size=3)
    assert found.solved.all() and solves(puzzle, puzzle.unrank(starts), found.solutions).all()
    assert [len(moves) for moves in found.solutions] == found.cost.tolist() and (found.cost >= distance[starts]).all()


@given(seed=st.integers(0, 2**32 - 1), max_expansions=st.integers(0, 120), until_proved=st.booleans())
def test_the_lower_bound_less_the_largest_overestimate_is_never_above_the_optimum(
    distances_of, seed, max_expansions, until_proved
):
    puzzle, distance = make("hanoi_4"), distances_of("hanoi_4")
    heuristic = ByAction(puzzle, distance, -4, 3, seed)
    setting = {"path_weight": 0.8, "batch_size": 3, "limits": Limits(max_expansions), "until_proved": until_proved}
    found = solve(puzzle, heuristic, puzzle.unrank(np.arange(81)), **setting)
    assert (found.lower_bound - 3 <= distance + 1e-5).all() and (found.lower_bound <= found.cost).all()


def test_searches_in_step_with_a_path_weight_each_equal_each_alone(monkeypatch, puzzle, distance):
    starts = puzzle.unrank(some_starts(puzzle, distance, 6))
    weights = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    heuristic = ByAction(puzzle, distance, -2, 2)
    limits = Limits(max_nodes=3000)
    together = solve(puzzle, heuristic, starts, path_weight=weights, batch_size=4, limits=limits)
    monkeypatch.setattr(action_engine, "MEMORY", 1)
    grouped = solve(puzzle, heuristic, starts, path_weight=weights, batch_size=4, limits=limits)
    for row, weight in enumerate(weights):
        alone = solve(puzzle, heuristic, starts[[row]], path_weight=weight, batch_size=4, limits=limits)
        for found in (together, grouped):
            assert [getattr(alone, f)[0] for f in FIELDS] == [getattr(found, f)[row] for f in FIELDS]
            np.testing.assert_array_equal(alone.solutions[0], found.solutions[row])


@pytest.mark.parametrize("table", [True, False], ids=["table engine", "step engine"])
def test_every_engine_takes_a_path_weight_for_each_search(table, puzzle, distance):
    heuristic = TableHeuristic(puzzle, np.maximum(distance - 0.3 * (distance % 3), 0).astype(np.float32))
    asked = heuristic if table else lambda states: heuristic(states)
    starts, weights = puzzle.unrank(some_starts(puzzle, distance, 3)), np.array([0.1, 0.5, 0.9])
    together = solve(puzzle, asked, starts, path_weight=weights, batch_size=2)
    each = [solve(puzzle, asked, starts[[row]], path_weight=weights[row], batch_size=2) for row in range(3)]
    assert together.nodes_expanded.tolist() == [int(found.nodes_expanded[0]) for found in each]


def test_a_search_that_reaches_its_cap_is_unsolved_and_says_why():
    far = draw_walks(CUBE, 100, 50, np.random.default_rng(7)).states[[49]]
    setting = {"path_weight": 1.0, "batch_size": 10}
    found = solve(CUBE, Blind(), far, **setting, limits=Limits(max_nodes=1000))
    assert found.ended == ["memory"] and not found.solved[0] and len(found.solutions[0]) == 0
    assert 60 < found.nodes_expanded[0] <= 1000 / 10 + 10, "a node and ten open ones are kept for each expansion"
    found = solve(CUBE, Blind(), far, **setting, limits=Limits(max_expansions=95))
    assert found.ended == ["expansions"] and 85 < found.nodes_expanded[0] <= 95
    near = CUBE.expand(CUBE.goal[None])[0][0, :1]
    assert solve(CUBE, Blind(), near, **setting).ended == ["solved"]


def test_the_step_engine_tells_of_its_memory_too(distances_of):
    puzzle = make("hanoi_7")
    found = solve(
        puzzle, lambda states: np.zeros(len(states), dtype=np.float32), puzzle.start[None], path_weight=1.0,
        batch_size=3, limits=Limits(max_nodes=100),
    )  # fmt: skip
    assert found.ended == ["memory"]


def nothing_known(states):
    return np.zeros(len(states), dtype=np.float32)


class Ticking:
    """A clock that goes on by 50 ms at each look."""

    now = 0.0

    def monotonic(self) -> float:
        self.now += 0.05
        return self.now


@pytest.mark.parametrize("heuristic", [Blind(), nothing_known], ids=["by action", "in step"])
def test_a_search_whose_seconds_are_up_is_unsolved_and_says_why_and_a_solution_in_hand_stays(heuristic, monkeypatch):
    monkeypatch.setattr("costtogo.progress.time", Ticking())
    starts = np.concatenate([CUBE.goal[None], draw_walks(CUBE, 100, 50, np.random.default_rng(7)).states[[49, 48]]])
    setting = {"path_weight": 1.0, "batch_size": 10}
    found = solve(CUBE, heuristic, starts, **setting, limits=Limits(seconds=0))
    assert found.ended.tolist() == ["solved", "seconds", "seconds"]
    assert found.nodes_expanded.tolist() == [0, 0, 0] and found.cost[0] == 0 and np.isinf(found.cost[1:]).all()
    found = solve(CUBE, heuristic, starts[1:], **setting, limits=Limits(seconds=0.2))
    assert found.ended.tolist() == ["seconds"] * 2 and (found.nodes_expanded > 0).all()
    found = solve(CUBE, heuristic, starts[1:], **setting, limits=Limits(max_nodes=1000, seconds=600))
    assert found.ended.tolist() == ["memory"] * 2


def test_a_step_is_as_large_as_should_end_in_time_and_after_a_slow_one_the_search_goes_on(monkeypatch):
    now = SimpleNamespace(monotonic=lambda: now.at, at=0.0)
    monkeypatch.setattr("costtogo.progress.time", now)
    clock = Clock.of(5)
    assert clock.room(0) == np.inf  # no rate is known
    now.at = 1.0
    assert clock.room(100) == pytest.approx(200)  # 10 ms each, of 4 s, of which half may be planned
    now.at = 4.0
    assert clock.room(101) == 1  # 3 s for one: no step should end in time, but the search has 1 s
    now.at = 4.1
    assert clock.room(111) == pytest.approx(45)
    now.at = 5.0
    assert clock.room(111) == 0 and clock.is_up


def test_no_more_searches_go_in_step_than_fit_in_the_memory():
    few, many = (action_engine.searches_in_step(CUBE, nodes) for nodes in (10_000_000, 100_000))
    assert 1 <= few < many and action_engine.searches_in_step(CUBE, 10**12) == 1
    assert few * 10_000_000 * action_engine.ENTRY_BYTES <= action_engine.MEMORY


def test_more_nodes_than_can_be_numbered_are_refused_in_one_sentence():
    with pytest.raises(UserError, match="at most 178,956,970 nodes") as told:
        solve(CUBE, Blind(), CUBE.goal[None], path_weight=1.0, batch_size=1, limits=Limits(max_nodes=10**9))
    assert is_one_sentence(str(told.value))


# Exact distances around the goal in a heuristic


def test_the_table_speaks_where_it_knows_and_the_other_heuristic_elsewhere(puzzle, distance):
    table = nearby_table(puzzle, 3)
    other = ByAction(puzzle, distance, 0.25, 0.75)
    both, ranks = NearbyHeuristic(other, table), np.flatnonzero(distance <= 6)[:3000]
    neighbours = neighbour_table(puzzle)[ranks]
    legal, exact = neighbours != NO_STATE, distance[neighbours]
    values = both.children(puzzle.unrank(ranks))
    np.testing.assert_array_equal(values[legal & (exact <= 3)], exact[legal & (exact <= 3)])
    np.testing.assert_array_equal(values[exact > 3], other.values[ranks][exact > 3])
    assert np.isinf(values[~legal]).all() and values.dtype == np.float32 and both.by_action
    one_value = NearbyHeuristic(lambda states: np.full(len(states), 9.5, dtype=np.float32), table)
    np.testing.assert_array_equal(
        one_value(puzzle.unrank(ranks)), np.where(distance[ranks] <= 3, distance[ranks], np.float32(9.5))
    )
    assert not one_value.by_action


def test_a_search_within_the_table_walks_straight_to_the_goal():
    table = nearby_table(CUBE, 5)
    walks = draw_walks(CUBE, 400, 8, np.random.default_rng(2)).states
    near = walks[table(walks) != FAR]
    found = solve(CUBE, NearbyHeuristic(Blind(), table), near, path_weight=0.0, batch_size=1)
    np.testing.assert_array_equal(found.cost, table(near))
    np.testing.assert_array_equal(found.nodes_expanded, table(near))
