"""Sokoban solved exactly: distances are those of plain breadth-first search; the matching bound never exceeds them."""

from collections import deque
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence
from scipy.optimize import linear_sum_assignment

from costtogo.exact import sokoban as exact
from costtogo.exact.sokoban import UNREACHED, by_level, list_level, solve
from costtogo.heuristics import matching
from costtogo.heuristics.matching import DeadSquaresBound, MatchingBound, pushes_alone
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, solves
from costtogo.puzzles.sokoban import BOX, FLOOR, PLAYER, TARGET, WALL, is_box, is_player
from costtogo.search import bwas
from costtogo.search.bwas import Limits
from costtogo.search.step_engine import StepPool
from costtogo.types import UserError

SEVEN, EIGHT = make("sokoban_7"), make("sokoban_8")
LEVELS = [
    SEVEN.parse_state(text)
    for text in (
        "#######|#@----#|#-$---#|#---#-#|#-##--#|#----.#|#######",
        "#######|#-.---#|#-#$#-#|#-@-#-#|#-$---#|#--.--#|#######",
        "#######|##---##|#-$-$-#|#.-@-.#|##---##|#######",
        "#######|#-.---#|#--#$-#|#-$@--#|#---.-#|#######",
    )
]
PASSAGE = SEVEN.parse_state("#######|#.-$@-#|#######")


def test_walks_to_the_goal_are_shortest_but_for_their_random_steps():
    table, generator = list_level(SEVEN, LEVELS[1]), np.random.default_rng(0)
    starts = np.repeat(table.ranks(LEVELS[1][None]), 20)
    steps = int(table.distance[starts[0]])
    random = generator.random((20, 2 * steps, 2))
    straight = table.distance[table.walks(starts, random, np.zeros(20))].reshape(20, steps + 1)
    assert (straight == np.arange(steps, -1, -1)).all()
    ranks = table.walks(starts, random, np.full(20, 0.7))
    assert len(ranks) > 20 * (steps + 1) and (table.distance[ranks] != UNREACHED).all()
    states = table.states_of(ranks)
    children, legal = SEVEN.expand(states[:-1])
    follows = (legal & (children == states[1:, None]).all(axis=2)).any(axis=1)
    assert (follows | (ranks[1:] == starts[0])).all()


def random_level(puzzle, boxes: int, seed: int) -> np.ndarray:
    """A level with walls, targets and boxes anywhere; it may have no solution. uint8 [D]."""
    generator = np.random.default_rng(seed)
    board = np.full((puzzle.rows, puzzle.columns), WALL, dtype=np.uint8)
    board[1:-1, 1:-1] = np.where(generator.random((puzzle.rows - 2, puzzle.columns - 2)) < 0.25, WALL, FLOOR)
    free = generator.permutation(np.flatnonzero(board.ravel() == FLOOR))
    state = board.ravel()
    state[generator.permutation(free)[:boxes]] = TARGET
    state[free[:boxes]] += BOX
    state[free[boxes]] += PLAYER
    return state


def plain_steps(puzzle, start) -> dict[bytes, int]:
    """Steps from a start to all that it leads to, by breadth-first search over states one by one."""
    steps, queue = {start.tobytes(): 0}, deque([start])
    while queue:
        state = queue.popleft()
        children, legal = puzzle.expand(state[None])
        for child in children[0][legal[0]]:
            if child.tobytes() not in steps:
                steps[child.tobytes()] = steps[state.tobytes()] + 1
                queue.append(child)
    return steps


def plain_distances(puzzle, start) -> tuple[np.ndarray, np.ndarray]:
    """All states that a start leads to and the fewest steps of each to a solved one, shortened till all fit."""
    states = np.array([np.frombuffer(key, dtype=np.uint8) for key in plain_steps(puzzle, start)])
    number = {state.tobytes(): row for row, state in enumerate(states)}
    children, legal = puzzle.expand(states)
    to = np.array([[number[child.tobytes()] for child in row] for row in children])
    distance = np.where(puzzle.is_goal(states), 0, np.inf)
    while True:
        shorter = np.minimum(distance, 1 + np.where(legal, distance[to], np.inf).min(axis=1))
        if np.array_equal(shorter, distance):
            return states, distance
        distance = shorter


def plain_bound(puzzle, state) -> float:
    """MatchingBound of one state: walks from cell to cell, lone boxes one by one, scipy's matching."""
    targets = np.flatnonzero(state % 2 == 1)

    def matched(boxes: frozenset, player: int) -> float:
        costs = np.array([[lone_pushes(puzzle, state, box, player, target) for target in targets] for box in boxes])
        try:
            rows, columns = linear_sum_assignment(costs)
        except ValueError:  # no perfect matching
            return np.inf
        return costs[rows, columns].sum()

    boxes, player = frozenset(np.flatnonzero(is_box(state)).tolist()), int(np.flatnonzero(is_player(state))[0])
    before = matched(boxes, player)
    if before in (0, np.inf):
        return before
    walk, queue, best = {player: 0}, deque([player]), np.inf
    while queue:
        here = queue.popleft()
        for step in puzzle.steps.tolist():
            there, beyond = here + step, here + 2 * step
            if there in boxes and beyond not in boxes and state[beyond] != WALL:
                best = min(best, walk[here] + 1 + matched(boxes - {there} | {beyond}, there))
            if there not in boxes and state[there] != WALL and there not in walk:
                walk[there] = walk[here] + 1
                queue.append(there)
    return best


def lone_pushes(puzzle, state, box: int, player: int, target: int) -> float:
    """Pushes that take the only box of a level from a cell to a target; walks cost nothing."""
    least, queue = {(box, player): 0}, deque([(box, player)])
    while queue:
        box, player = queue.popleft()
        if box == target:
            return least[box, player]
        for step in puzzle.steps.tolist():
            pushed = player + step == box
            after = (box + step if pushed else box, player + step)
            cost = least[box, player] + pushed
            if WALL in (state[after[0]], state[after[1]]) or least.get(after, np.inf) <= cost:
                continue
            least[after] = cost
            queue.append(after) if pushed else queue.appendleft(after)
    return np.inf


def some(table, count: int, seed: int = 0, live: bool = True) -> np.ndarray:
    """States of a table, live or of any distance, uint8 [count, D]."""
    cells = len(table.level.floor.cell)
    sets, players = np.divmod(np.arange(len(table.distance)), cells)
    real = (table.level.boxes[sets] != players[:, None]).all(axis=1)
    ranks = np.flatnonzero((table.distance != UNREACHED) if live else real)
    return table.states_of(np.random.default_rng(seed).choice(ranks, size=min(count, len(ranks)), replace=False))


@pytest.fixture(scope="module")
def tables():
    """Tables of the small levels, and last of one of 8 × 8 with three boxes, 15,080 of whose states can be solved."""
    return [*(list_level(SEVEN, level) for level in LEVELS), list_level(EIGHT, random_level(EIGHT, 3, seed=15))]


@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_distances_are_those_of_plain_breadth_first_search(level):
    states, distance = plain_distances(SEVEN, LEVELS[level])
    table = list_level(SEVEN, LEVELS[level])
    np.testing.assert_array_equal(table(states), distance)
    assert np.isfinite(distance[0]) and np.isinf(distance).any()


@given(seed=st.integers(0, 2**32 - 1), boxes=st.integers(0, 2))
def test_distances_of_random_levels_are_those_of_plain_breadth_first_search(seed, boxes):
    puzzle = make("sokoban_6_5")
    level = random_level(puzzle, boxes, seed)
    states, distance = plain_distances(puzzle, level)
    np.testing.assert_array_equal(list_level(puzzle, level)(states), distance)


def test_every_distance_is_one_more_than_the_least_of_the_children(tables):
    for table in tables:
        states = some(table, 3000, live=False)
        children, legal = table.puzzle.expand(states)
        after = table(children.reshape(-1, table.puzzle.cells)).reshape(legal.shape)
        equation = 1 + np.where(legal, after, np.inf).min(axis=1)
        np.testing.assert_array_equal(table(states), np.where(table.puzzle.is_goal(states), 0, equation))


def test_layers_count_the_live_states_and_ranks_are_read_back(tables):
    for table in tables:
        ranks = np.flatnonzero(table.distance != UNREACHED)
        np.testing.assert_array_equal(table.layers, np.bincount(table.distance[ranks]))
        assert table.live == len(ranks)
        np.testing.assert_array_equal(table.ranks(table.states_of(ranks)), ranks)
        states = table.states_of(ranks)
        assert len(np.unique(states, axis=0)) == len(ranks) and len(by_level(states)) == 1
        assert (table.puzzle.is_goal(states) == (table.distance[ranks] == 0)).all()


@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_what_a_start_leads_to_is_what_plain_search_finds_and_its_dead_states_never_reach_the_goal(level):
    table, steps = list_level(SEVEN, LEVELS[level]), plain_steps(SEVEN, LEVELS[level])
    reachable = table.reachable(LEVELS[level])
    states = table.states_of(np.flatnonzero(reachable))
    assert {state.tobytes() for state in states} == set(steps)
    dead = table.states_of(np.flatnonzero(reachable & (table.distance == UNREACHED)))
    assert len(dead) and np.isinf(table(dead)).all()
    for state in dead[:: max(1, len(dead) // 5)]:
        assert not SEVEN.is_goal(table.states_of(np.flatnonzero(table.reachable(state)))).any()


def test_a_path_is_a_shortest_solution(tables):
    for table in tables:
        states = some(table, 50)
        paths = [table.path(state) for state in states]
        assert solves(table.puzzle, states, paths).all()
        np.testing.assert_array_equal([len(path) for path in paths], table(states))


def test_levels_are_solved_each_by_its_own_table(tables):
    starts = np.concatenate([some(table, 4, live=False) for table in tables if table.puzzle is SEVEN])
    starts = np.random.default_rng(0).permutation(np.concatenate([starts, LEVELS]))
    found = solve(SEVEN, starts)
    alone = np.array([list_level(SEVEN, start)(start[None])[0] for start in starts])
    np.testing.assert_array_equal(found.cost, alone)
    np.testing.assert_array_equal(found.lower_bound, alone)
    assert (found.solved == solves(SEVEN, starts, found.solutions)).all() and 0 < found.solved.sum() < len(starts)
    assert (found.nodes_generated >= found.nodes_expanded).all() and len(solve(SEVEN, starts[:0]).cost) == 0


def test_boxes_and_targets_need_not_be_as_many():
    more_targets, more_boxes = (PASSAGE + np.uint8(1) * (np.arange(49) == 23), PASSAGE.copy())
    more_boxes[np.flatnonzero(PASSAGE == TARGET)] = FLOOR
    np.testing.assert_array_equal(list_level(SEVEN, PASSAGE)(PASSAGE[None]), 2)
    np.testing.assert_array_equal(MatchingBound(SEVEN)(PASSAGE[None]), 2)
    for level in (more_targets, more_boxes):
        states, distance = plain_distances(SEVEN, level)
        np.testing.assert_array_equal(list_level(SEVEN, level)(states), distance)
        assert (MatchingBound(SEVEN)(states) <= distance).all()
    assert np.isinf(distance).all() and np.isinf(MatchingBound(SEVEN)(states)).all()


def test_what_cannot_be_listed_looked_up_or_solved_is_told_in_one_sentence(monkeypatch):
    table = list_level(SEVEN, PASSAGE)
    dead = apply(SEVEN, SEVEN.parse_state("#######|#-$@.-#|#######"), [2])
    on_a_box = (
        table.ranks(PASSAGE[None])
        + table.level.floor.number[PASSAGE == BOX]
        - table.level.floor.number[PASSAGE == PLAYER]
    )
    refused = [
        lambda: list_level(make("sokoban_16"), random_level(make("sokoban_16"), 8, 0)),
        lambda: list_level(SEVEN, LEVELS[1], largest=1000),
        lambda: table(np.array(LEVELS)),
        lambda: table.states_of(on_a_box),
        lambda: list_level(SEVEN, dead).path(dead),
    ]
    for call in refused:
        with pytest.raises(UserError) as error:
            call()
        assert is_one_sentence(str(error.value))
    monkeypatch.setattr(exact, "FARTHEST", 5)
    with pytest.raises(UserError) as error:
        list_level(SEVEN, LEVELS[0])
    assert is_one_sentence(str(error.value))


@given(st.data())
def test_a_table_knows_its_own_states_alone(data):
    table = list_level(SEVEN, PASSAGE)
    state, cell = PASSAGE.copy(), data.draw(st.integers(0, 48))
    state[cell] = data.draw(st.integers(0, 6))
    boxes, players = is_box(state).sum(), is_player(state).sum()
    if players > 1:
        return
    if boxes == players == 1 and (exact.bare(state) == exact.bare(PASSAGE)).all():
        np.testing.assert_array_equal(table.states_of(table.ranks(state[None])), state[None])
    else:
        with pytest.raises(UserError):
            table.ranks(state[None])


def test_the_bound_is_that_of_plain_search_and_scipy(tables):
    for table in tables:
        states = some(table, 25, live=False)
        np.testing.assert_array_equal(
            MatchingBound(table.puzzle)(states), [plain_bound(table.puzzle, s) for s in states]
        )


@given(
    seed=st.integers(0, 2**32 - 1),
    boxes=st.integers(1, 7),
    spare=st.integers(0, 3),
    share=st.sampled_from([0.0, 0.3, 0.7]),
)
def test_a_least_matching_is_scipys(seed, boxes, spare, share):
    generator, targets = np.random.default_rng(seed), boxes + spare
    cost = generator.integers(0, 30, size=(boxes, targets))
    cost[generator.random(cost.shape) < share] = matching.NO_PUSHES
    found = matching._least_matching(cost, boxes, matching._empty_matching(targets))
    rows, columns = linear_sum_assignment(cost)
    assert found == min(cost[rows, columns].sum(), matching.NO_PUSHES)


@given(seed=st.integers(0, 2**32 - 1), boxes=st.integers(1, 2))
def test_the_bound_is_admissible_and_consistent(seed, boxes):
    level = random_level(SEVEN, boxes, seed)
    table, bound = list_level(SEVEN, level), MatchingBound(SEVEN)
    check_bound(table, bound, some(table, 5000, live=False))


def test_the_bound_is_admissible_and_consistent_on_larger_levels(tables):
    for table in tables:
        check_bound(table, MatchingBound(table.puzzle), some(table, 20_000))
        check_bound(table, MatchingBound(table.puzzle), some(table, 20_000, live=False))


def check_bound(table, bound, states) -> None:
    before, solved = bound(states), table.puzzle.is_goal(states)
    children, legal = table.puzzle.expand(states)
    after = bound(children.reshape(-1, table.puzzle.cells)).reshape(legal.shape)
    assert before.dtype == np.float32 and (before <= table(states)).all()
    assert (before[:, None] <= 1 + after)[legal].all()
    np.testing.assert_array_equal(before == 0, solved)


def test_a_batch_of_many_levels_is_bounded_as_each_state_alone(monkeypatch, tables):
    states = np.concatenate([some(table, 30, live=False) for table in tables if table.puzzle is SEVEN])
    states = np.random.default_rng(1).permutation(states)
    alone = np.concatenate([MatchingBound(SEVEN)(state[None]) for state in states])
    np.testing.assert_array_equal(MatchingBound(SEVEN)(states), alone)
    monkeypatch.setattr(matching, "KEPT", 10_000)  # a level or two
    np.testing.assert_array_equal(MatchingBound(SEVEN)(states), alone)
    assert len(MatchingBound(SEVEN)(states[:0])) == 0


def test_a_box_on_a_dead_square_is_dead_and_the_bound_finds_more(tables):
    more = 0
    for table in tables:
        states = some(table, 5000, live=False)
        dead, bound = np.isinf(DeadSquaresBound(table.puzzle)(states)), MatchingBound(table.puzzle)(states)
        assert dead.any() and np.isinf(bound[dead]).all() and np.isinf(table(states[np.isinf(bound)])).all()
        more += (np.isinf(bound) & ~dead).sum()
    assert more


def test_dead_squares_are_the_cells_from_which_no_lone_box_comes_to_a_target():
    level = LEVELS[1]
    free, targets = np.flatnonzero(level != WALL).tolist(), np.flatnonzero(level % 2 == 1)
    squares = np.zeros(SEVEN.cells, dtype=bool)
    for box in free:
        places = product([player for player in free if player != box], targets)
        squares[box] = all(np.isinf(lone_pushes(SEVEN, level, box, player, target)) for player, target in places)
    np.testing.assert_array_equal(DeadSquaresBound(SEVEN).squares(level[None])[0], squares)
    assert squares.any() and DeadSquaresBound(SEVEN).squares(np.array(LEVELS)).shape == (len(LEVELS), SEVEN.cells)


def test_sides_part_the_floor_around_a_box():
    sides = pushes_alone(SEVEN, PASSAGE).side  # five cells in a row
    assert sides.tolist() == [[4, 0, 0, 0, 0], [0, 4, 1, 1, 1], [0, 0, 4, 1, 1], [0, 0, 0, 4, 1], [0, 0, 0, 0, 4]]


def test_a_star_with_the_bound_finds_the_optimum_and_expands_no_dead_state(tables):
    for table in tables:
        starts, bound = some(table, 12, seed=2), MatchingBound(table.puzzle)
        found = bwas.solve(table.puzzle, bound, starts, path_weight=1, batch_size=1)
        np.testing.assert_array_equal(found.cost, table(starts))
        np.testing.assert_array_equal(found.lower_bound, table(starts))
        assert solves(table.puzzle, starts, found.solutions).all()


def test_a_dead_start_is_given_up(tables):
    """At once where the bound is infinite; else when nothing is open any more. Neither meets a limit."""
    states, bound = some(tables[-1], 20_000, live=False), MatchingBound(EIGHT)
    dead, infinite = np.isinf(tables[-1](states)), np.isinf(bound(states))
    starts = np.concatenate([states[infinite][:5], states[dead & ~infinite][:5]])
    found = bwas.solve(EIGHT, bound, starts, path_weight=1, batch_size=1, limits=Limits(max_expansions=100_000))
    assert len(starts) == 10 and not found.solved.any() and np.isinf(found.lower_bound).all()
    assert (found.nodes_expanded[:5] == 0).all() and found.nodes_expanded[5:].min() > 0
    assert found.nodes_expanded.max() < 100_000


def test_a_search_keeps_no_state_open_that_its_heuristic_gives_up():
    starts = np.array(LEVELS)
    pool = StepPool(SEVEN, lambda states: np.array([3, np.inf, 1, np.inf], dtype=np.float32), starts)
    assert pool.entry_count == 2 and pool.roots.tolist() == [0, -1, 1, -1]
