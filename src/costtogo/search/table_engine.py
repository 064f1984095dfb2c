"""BWAS over a table: one compiled search after another, on ranks."""

import numpy as np
from numba import njit

from costtogo.exact.graph import neighbour_table
from costtogo.heuristics.table import TableHeuristic
from costtogo.puzzles.base import Puzzle, inverses
from costtogo.search.heap import grown, pop, push
from costtogo.types import NO_ACTION, NO_STATE, Ranks, SearchResult


def solve_over_table(
    puzzle: Puzzle, heuristic: TableHeuristic, starts: Ranks, path_weight, batch_size, limits, until_proved
) -> SearchResult:
    """bwas.solve for starts given as ranks, int64 [B], and their λ, float64 [B]."""
    neighbours = neighbour_table(puzzle)
    inverse = inverses(puzzle).astype(np.int8)
    goal = puzzle.rank(puzzle.goal[None])[0]
    caps = (limits.max_expansions, limits.max_nodes)
    rows, lengths, actions = _search_all(
        neighbours, inverse, heuristic.values, goal, starts, path_weight, batch_size, *caps, until_proved
    )
    solutions = np.split(actions, np.cumsum(lengths)[:-1]) if len(lengths) else []
    return SearchResult(rows[:, 0], rows[:, 1].astype(np.int64), rows[:, 2].astype(np.int64), rows[:, 3], solutions)


@njit(cache=True)
def _search_all(
    neighbours,
    inverse,
    values,
    goal,
    starts,
    path_weight,
    batch_size,
    max_expansions,
    max_nodes,
    until_proved,
):
    """Rows (cost, expanded, generated, lower bound) float64 [B, 4]; lengths int64 [B]; all solutions in a row, int8."""
    states = len(neighbours)
    g = np.empty(states, dtype=np.int32)
    arrived_by = np.empty(states, dtype=np.int8)
    stamp = np.full(states, -1, dtype=np.int32)
    rows = np.empty((len(starts), 4))
    lengths = np.zeros(len(starts), dtype=np.int64)
    actions = np.empty(1024, dtype=np.int8)
    used = 0
    for index in range(len(starts)):
        rows[index] = _search(
            neighbours,
            values,
            goal,
            starts[index],
            path_weight[index],
            batch_size,
            max_expansions,
            max_nodes,
            until_proved,
            g,
            arrived_by,
            stamp,
            index,
        )
        if rows[index, 0] < np.inf:
            state, first = goal, used
            while state != starts[index]:
                if used == len(actions):
                    actions = grown(actions)
                actions[used] = arrived_by[state]
                state = neighbours[state, inverse[arrived_by[state]]]
                used += 1
            actions[first:used] = actions[first:used][::-1].copy()
            lengths[index] = used - first
            rows[index, 0] = lengths[index]  # less than g where a node on the path was reached cheaper since
            rows[index, 3] = min(rows[index, 3], rows[index, 0])
    return rows, lengths, actions[:used]


@njit(cache=True)
def _search(
    neighbours,
    values,
    goal,
    start,
    path_weight,
    batch_size,
    max_expansions,
    max_nodes,
    until_proved,
    g,
    arrived_by,
    stamp,
    index,
):
    """One search. g, arrived_by and stamp are shared between searches: a state is known to this one by its stamp."""
    fs, orders = np.empty(256), np.empty(256, dtype=np.int64)
    entry_state, entry_g = np.empty(256, dtype=np.int32), np.empty(256, dtype=np.int32)
    batch, batch_g = np.empty(batch_size, dtype=np.int32), np.empty(batch_size, dtype=np.int32)
    stamp[start], g[start], arrived_by[start] = index, 0, NO_ACTION
    entry_state[0], entry_g[0] = start, 0
    push(fs, orders, 0, np.float64(values[start]), 0)
    size, pushed, nodes, expanded, generated = 1, 1, 1, 0, 0
    cost, bound, finished = np.inf, np.inf, False
    while size > 0 and not finished:
        taken = 0
        while taken < batch_size and size > 0:
            entry = pop(fs, orders, size)
            size -= 1
            state, path = entry_state[entry], entry_g[entry]
            if path > g[state] or path + np.float64(values[state]) >= cost:
                continue
            if state == goal:
                cost = path
                if not until_proved:
                    finished = True
                    break
                continue
            batch[taken], batch_g[taken] = state, path
            taken += 1
        if finished or expanded + taken > max_expansions or nodes > max_nodes:
            for row in range(taken):
                bound = min(bound, batch_g[row] + np.float64(values[batch[row]]))
            break
        for row in range(taken):
            path = g[batch[row]] + 1
            expanded += 1
            for action in range(neighbours.shape[1]):
                child = neighbours[batch[row], action]
                if child == NO_STATE:
                    continue
                generated += 1
                if stamp[child] == index and g[child] <= path:
                    continue
                nodes += stamp[child] != index
                stamp[child], g[child], arrived_by[child] = index, path, action
                if pushed == len(entry_state):
                    entry_state, entry_g = grown(entry_state), grown(entry_g)
                if size == len(fs):
                    fs, orders = grown(fs), grown(orders)
                entry_state[pushed], entry_g[pushed] = child, path
                push(fs, orders, size, path_weight * path + np.float64(values[child]), pushed)
                size += 1
                pushed += 1
    for place in range(size):
        state, path = entry_state[orders[place]], entry_g[orders[place]]
        if path <= g[state]:
            bound = min(bound, path + np.float64(values[state]))
    return cost, np.float64(expanded), np.float64(generated), min(bound, cost)
