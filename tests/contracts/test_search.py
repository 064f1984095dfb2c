"""What both engines of BWAS owe: the same results as each other and the definition, and the optimum where promised."""

import heapq
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo.exact.graph import neighbour_table
from costtogo.heuristics.table import TableHeuristic, exact, zero
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.search import step_engine as in_step
from costtogo.search.bwas import Limits, solve
from costtogo.types import NO_STATE, SearchResult, UserError

FIELDS = ("cost", "nodes_expanded", "nodes_generated", "lower_bound")


def table_engine(puzzle, heuristic: TableHeuristic, starts, **setting) -> SearchResult:
    return solve(puzzle, heuristic, starts, **setting)


def step_engine(puzzle, heuristic: TableHeuristic, starts, **setting) -> SearchResult:
    """The same heuristic, not recognisable as a table."""
    return solve(puzzle, lambda states: heuristic(states), starts, **setting)


SEARCH_IN_GROUPS = """
import numpy as np
from costtogo.heuristics.table import zero
from costtogo.puzzles import make
from costtogo.search import step_engine as in_step
from costtogo.search.bwas import solve

puzzle = make("hanoi_4")
heuristic = zero(puzzle)
for count in (256, 257, 300, 506, 1000, 1025):
    starts = puzzle.unrank(np.arange(count) % 81)
    table = solve(puzzle, heuristic, starts, path_weight=1.0, batch_size=5)
    in_step = solve(puzzle, lambda states: heuristic(states), starts, path_weight=1.0, batch_size=5)
    np.testing.assert_array_equal(table.nodes_expanded, in_step.nodes_expanded)
"""

ENGINES = [table_engine, step_engine]


def noisy(puzzle, distance, seed: int, low: float, high: float) -> TableHeuristic:
    """The exact cost-to-go plus uniform noise, never negative, 0 at the goal."""
    noise = np.random.default_rng(seed).uniform(low, high, len(distance)).astype(np.float32)
    values = np.maximum(distance + noise, 0).astype(np.float32)
    values[distance == 0] = 0
    return TableHeuristic(puzzle, values)


def some_starts(puzzle, distance, count: int = 12, farthest: int = 8) -> np.ndarray:
    """Ranks of states at most so far away that every search is quick."""
    near = np.flatnonzero(distance <= farthest)
    return np.random.default_rng(count).choice(near, size=count)


def check_equal(one: SearchResult, other: SearchResult) -> None:
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)
        assert getattr(one, field).dtype == getattr(other, field).dtype
    for left, right in zip(one.solutions, other.solutions, strict=True):
        np.testing.assert_array_equal(left, right)
        assert left.dtype == right.dtype == np.int8


@pytest.mark.parametrize("until_proved", [False, True])
@pytest.mark.parametrize("limits", [Limits(), Limits(max_expansions=9), Limits(max_nodes=40)], ids=str)
@pytest.mark.parametrize(("path_weight", "batch_size"), [(0.0, 3), (0.4, 1), (0.7, 5), (1.0, 1), (1.0, 7), (1.2, 5)])
def test_both_engines_find_the_same(puzzle, distance, path_weight, batch_size, limits, until_proved):
    heuristic = noisy(puzzle, distance, 1, -2, 2)
    starts = puzzle.unrank(some_starts(puzzle, distance))
    setting = {
        "path_weight": path_weight,
        "batch_size": batch_size,
        "limits": limits,
        "until_proved": until_proved and puzzle.state_count < 1000,
    }
    results = [engine(puzzle, heuristic, starts, **setting) for engine in ENGINES]
    check_equal(*results)
    if limits == Limits():
        assert results[0].solved.all()


@given(
    seed=st.integers(0, 2**32 - 1),
    path_weight=st.floats(0, 2),
    batch_size=st.integers(1, 30),
    max_expansions=st.integers(0, 200),
    max_nodes=st.integers(1, 90),
    until_proved=st.booleans(),
    whole_numbers=st.booleans(),
)
def test_both_engines_find_the_same_whatever_the_setting(
    distances_of, seed, path_weight, batch_size, max_expansions, max_nodes, until_proved, whole_numbers
):
    """Whole numbers make many nodes equal in f, so that order decides."""
    puzzle = make("hanoi_4")
    heuristic = noisy(puzzle, distances_of("hanoi_4"), seed, -3, 3)
    if whole_numbers:
        heuristic = TableHeuristic(puzzle, np.round(heuristic.values))
        path_weight = round(path_weight)
    setting = {
        "path_weight": path_weight,
        "batch_size": batch_size,
        "limits": Limits(max_expansions, max_nodes),
        "until_proved": until_proved,
    }
    starts = puzzle.unrank(np.arange(0, 81, 5))
    check_equal(*(engine(puzzle, heuristic, starts, **setting) for engine in ENGINES))


def test_a_group_that_outgrows_the_memory_begins_again_in_smaller_ones(distances_of, monkeypatch):
    monkeypatch.setattr(in_step, "NODES_IN_STEP", 100)
    run, groups = in_step.run, []
    monkeypatch.setattr(in_step, "run", lambda pool, *rest: groups.append(pool) or run(pool, *rest))
    puzzle = make("hanoi_4")
    heuristic, starts = noisy(puzzle, distances_of("hanoi_4"), 1, -2, 2), puzzle.unrank(np.arange(0, 81, 3))
    setting = {"path_weight": 0.7, "batch_size": 3, "limits": Limits(max_nodes=70)}
    check_equal(*(engine(puzzle, heuristic, starts, **setting) for engine in ENGINES))
    assert len(groups) > 4


def bwas_by_definition(neighbours, values, start, goal, path_weight, batch_size) -> tuple[int, int]:
    """Thesis 4.8 in plain Python: the length of the solution and the nodes expanded."""
    g, parent = {start: 0}, {start: None}
    heap, pushed, expanded = [(float(values[start]), 0, start, 0)], 1, 0
    while heap:
        batch = []
        while heap and len(batch) < batch_size:
            _, _, state, path = heapq.heappop(heap)
            if path > g[state]:
                continue
            if state == goal:
                return length_to(parent, goal), expanded
            batch.append(state)
        expanded += len(batch)
        for state in batch:
            for child in neighbours[state].tolist():
                if child == NO_STATE or g.get(child, np.inf) <= g[state] + 1:
                    continue
                g[child], parent[child] = g[state] + 1, state
                heapq.heappush(heap, (path_weight * g[child] + float(values[child]), pushed, child, g[child]))
                pushed += 1
    raise AssertionError("the goal was not reached")


def length_to(parent: dict, goal: int) -> int:
    length = 0
    while (goal := parent[goal]) is not None:
        length += 1
    return length


@given(
    seed=st.integers(0, 2**32 - 1),
    path_weight=st.sampled_from([0.0, 0.3, 0.7, 1.0, 1.2]),
    batch_size=st.integers(1, 12),
    name=st.sampled_from(["hanoi_5", "hanoi_3_4"]),
)
def test_the_engine_does_what_the_definition_says(distances_of, seed, path_weight, batch_size, name):
    puzzle, distance = make(name), distances_of(name)
    heuristic = noisy(puzzle, distance, seed, -3, 3)
    starts = np.random.default_rng(seed).integers(puzzle.state_count, size=5)
    found = solve(puzzle, heuristic, puzzle.unrank(starts), path_weight=path_weight, batch_size=batch_size)
    definition = [
        bwas_by_definition(neighbour_table(puzzle), heuristic.values, start, 0, path_weight, batch_size)
        for start in starts.tolist()
    ]
    assert list(zip(found.cost.tolist(), found.nodes_expanded.tolist(), strict=True)) == definition


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("name", "make_heuristic", "batch_size", "expanded"),
    [
        ("hanoi_4", "exact", 1, 15),
        ("hanoi_7", "exact", 1, 127),
        ("hanoi_4", "zero", 1, 75),
        ("hanoi_7", "zero", 1, 2101),
        ("hanoi_10", "exact", 7, 7101),
    ],
)
def test_nodes_expanded_from_the_start_of_hanoi_are_as_known(
    engine, name, make_heuristic, batch_size, expanded, distances_of
):
    puzzle, distance = make(name), distances_of(name)
    heuristic = exact(puzzle, distance) if make_heuristic == "exact" else zero(puzzle)
    found = engine(puzzle, heuristic, puzzle.start[None], path_weight=1.0, batch_size=batch_size)
    assert found.nodes_expanded.tolist() == [expanded]
    assert found.cost.tolist() == [2**puzzle.disks - 1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "setting",
    [
        {"path_weight": 1.0, "batch_size": 1},
        {"path_weight": 1.0, "batch_size": 6, "until_proved": True},
        {"path_weight": 0.3, "batch_size": 4, "until_proved": True},
    ],
    ids=str,
)
def test_an_admissible_heuristic_gives_the_table_distance(engine, setting, puzzle, distance):
    heuristic = noisy(puzzle, distance, 2, -2, 0)
    starts = some_starts(puzzle, distance, farthest=7)
    found = engine(puzzle, heuristic, puzzle.unrank(starts), **setting)
    np.testing.assert_array_equal(found.cost, distance[starts])
    np.testing.assert_array_equal(found.lower_bound, distance[starts])


def test_an_admissible_heuristic_needs_a_proof_where_the_path_weighs_little(distances_of):
    puzzle, distance = make("hanoi_5"), distances_of("hanoi_5")
    heuristic, starts = noisy(puzzle, distance, 5, -20, 0), puzzle.unrank(np.arange(puzzle.state_count))
    first, proved = (
        solve(puzzle, heuristic, starts, path_weight=0.1, batch_size=2, until_proved=proof) for proof in (False, True)
    )
    assert (first.cost > distance).any()
    np.testing.assert_array_equal(proved.cost, distance)
    assert (proved.nodes_expanded >= first.nodes_expanded).all()


@pytest.mark.parametrize("engine", ENGINES)
@given(
    seed=st.integers(0, 2**32 - 1),
    path_weight=st.floats(0, 2),
    batch_size=st.integers(1, 9),
    max_expansions=st.integers(0, 120),
    until_proved=st.booleans(),
)
def test_the_lower_bound_less_the_largest_overestimate_is_never_above_the_optimum(
    engine, distances_of, seed, path_weight, batch_size, max_expansions, until_proved
):
    puzzle, distance = make("hanoi_4"), distances_of("hanoi_4")
    heuristic = noisy(puzzle, distance, seed, -4, 3)
    overestimate = max(0.0, float((heuristic.values - distance).max()))
    found = engine(
        puzzle,
        heuristic,
        puzzle.unrank(np.arange(81)),
        path_weight=path_weight,
        batch_size=batch_size,
        limits=Limits(max_expansions=max_expansions),
        until_proved=until_proved,
    )
    assert (found.lower_bound - overestimate <= distance + 1e-5).all()
    assert (found.lower_bound <= found.cost).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("path_weight", [0.0, 0.6, 1.0, 1.2])
def test_every_solution_replays_to_the_goal_in_as_many_moves_as_it_costs(engine, path_weight, puzzle, distance):
    heuristic = noisy(puzzle, distance, 3, -2, 4)
    starts = some_starts(puzzle, distance, count=20)
    found = engine(puzzle, heuristic, puzzle.unrank(starts), path_weight=path_weight, batch_size=3)
    assert solves(puzzle, puzzle.unrank(starts), found.solutions).all()
    assert [len(moves) for moves in found.solutions] == found.cost.tolist()
    assert (found.cost >= distance[starts]).all()
    assert (found.nodes_generated >= found.nodes_expanded).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_batch_of_searches_equals_each_alone(engine, puzzle, distance):
    heuristic = noisy(puzzle, distance, 4, -2, 2)
    starts = puzzle.unrank(some_starts(puzzle, distance, count=5))
    together = engine(puzzle, heuristic, starts, path_weight=0.7, batch_size=4)
    for row in range(len(starts)):
        alone = engine(puzzle, heuristic, starts[row : row + 1], path_weight=0.7, batch_size=4)
        assert [getattr(alone, field)[0] for field in FIELDS] == [getattr(together, field)[row] for field in FIELDS]
        np.testing.assert_array_equal(alone.solutions[0], together.solutions[row])


def test_any_number_of_searches_in_step_comes_to_an_end():
    """A hash table with slots that are never reached would be searched for ever: a process of its own can be ended."""
    subprocess.run([sys.executable, "-c", SEARCH_IN_GROUPS], check=True, timeout=600)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_that_reaches_its_cap_is_unsolved_and_stays_below_it(engine, distances_of):
    puzzle = make("hanoi_7")
    expanded = Limits(max_expansions=100)
    found = engine(puzzle, zero(puzzle), puzzle.start[None], path_weight=1.0, batch_size=3, limits=expanded)
    assert not found.solved[0] and found.cost[0] == np.inf and len(found.solutions[0]) == 0
    assert 97 < found.nodes_expanded[0] <= 100
    stored = Limits(max_nodes=100)
    found = engine(puzzle, zero(puzzle), puzzle.start[None], path_weight=1.0, batch_size=3, limits=stored)
    assert not found.solved[0] and found.nodes_expanded[0] < 100
    assert 0 < found.lower_bound[0] <= 127


@pytest.mark.parametrize("engine", ENGINES)
def test_a_solved_start_costs_nothing(engine, puzzle, distance):
    found = engine(puzzle, exact(puzzle, distance), puzzle.goal[None], path_weight=0.7, batch_size=5)
    assert [getattr(found, field)[0] for field in FIELDS] == [0, 0, 0, 0]
    assert found.solved.all() and len(found.solutions[0]) == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_no_starts_give_no_rows(engine, puzzle):
    found = engine(puzzle, zero(puzzle), puzzle.goal[None][:0], path_weight=0.7, batch_size=5)
    assert all(getattr(found, field).shape == (0,) for field in FIELDS)
    assert found.solutions == [] and found.solved.shape == (0,)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("path_weight", "batch_size", "named"),
    [(2.5, 5, "λ must lie between 0 and 2, not at 2.5"), (-0.1, 5, "-0.1"), (np.nan, 5, "nan"), (0.7, 0, "N must")],
)
def test_an_impossible_setting_is_told_in_one_sentence(engine, path_weight, batch_size, named):
    puzzle = make("hanoi_3")
    with pytest.raises(UserError) as told:
        engine(puzzle, zero(puzzle), puzzle.start[None], path_weight=path_weight, batch_size=batch_size)
    assert named in str(told.value) and is_one_sentence(str(told.value))
