"""BWAS over a table: one compiled search after another, on ranks.

What a search knows of a state and what the table says of it lie side by side, so that one access to memory brings both;
those of a whole batch's children are asked for first and looked at afterwards. Open nodes lie in buckets by f: only
the bucket of least f is kept as a heap, and most nodes never come to stand in it.
"""

import numpy as np
from numba import njit

from costtogo.exact.graph import graph_of
from costtogo.heuristics.table import TableHeuristic
from costtogo.puzzles.base import Puzzle, inverses
from costtogo.search.heap import grown, pop, push
from costtogo.types import NO_ACTION, NO_STATE, Ranks, SearchResult

STATE = np.dtype([("search", np.int32), ("g", np.int32), ("h", np.float32), ("arrived_by", np.int8)], align=True)
ENTRY = np.dtype([("f", np.float64), ("state", np.int32), ("g", np.int32), ("next", np.int32)], align=True)
BUCKETS = 1024  # of f, from 0 to twice the largest cost-to-go; the last holds all beyond
NOTHING = -1  # no search, no entry


def solve_over_table(
    puzzle: Puzzle, heuristic: TableHeuristic, starts: Ranks, path_weight, batch_size, limits, until_proved
) -> SearchResult:
    """bwas.solve for starts given as ranks, int64 [B], and their λ, float64 [B]."""
    states = np.zeros(len(heuristic.values), dtype=STATE)
    states["search"], states["h"] = NOTHING, heuristic.values
    inverse = inverses(puzzle).astype(np.int8)
    goal = puzzle.rank(puzzle.goal[None])[0]
    per_move = BUCKETS / (2 * max(1.0, float(heuristic.values.max())))
    caps = (limits.max_expansions, limits.max_nodes)
    rows, lengths, actions = _search_all(
        graph_of(puzzle), inverse, states, goal, starts, path_weight, batch_size, *caps, until_proved, per_move
    )
    solutions = np.split(actions, np.cumsum(lengths)[:-1]) if len(lengths) else []
    return SearchResult(rows[:, 0], rows[:, 1].astype(np.int64), rows[:, 2].astype(np.int64), rows[:, 3], solutions)


@njit(cache=True, inline="always")
def _child(graph, high, low, action):
    """Where an action leads from the state at two places of a graph, NO_STATE where it is not legal."""
    first, second = graph
    if first[high, action] == NO_STATE:
        return NO_STATE
    return first[high, action] * len(second) + second[low, action]


@njit(cache=True, nogil=True)
def _search_all(graph, inverse, states, goal, starts, path_weight, batch_size, max_expansions, max_nodes, until_proved,
                per_move):  # fmt: skip
    """Rows (cost, expanded, generated, lower bound) float64 [B, 4]; lengths int64 [B]; all solutions in a row, int8."""
    rows = np.empty((len(starts), 4))
    lengths = np.zeros(len(starts), dtype=np.int64)
    actions = np.empty(1024, dtype=np.int8)
    used = 0
    for index in range(len(starts)):
        rows[index] = _search(
            graph, states, goal, starts[index], path_weight[index], batch_size, max_expansions, max_nodes,
            until_proved, per_move, index,
        )  # fmt: skip
        if rows[index, 0] < np.inf:
            state, first = goal, used
            while state != starts[index]:
                if used == len(actions):
                    actions = grown(actions)
                actions[used] = states[state].arrived_by
                high, low = divmod(state, len(graph.second))
                state = _child(graph, high, low, inverse[actions[used]])
                used += 1
            actions[first:used] = actions[first:used][::-1].copy()
            lengths[index] = used - first
            rows[index, 0] = lengths[index]  # less than g where a node on the path was reached cheaper since
            rows[index, 3] = min(rows[index, 3], rows[index, 0])
    return rows, lengths, actions[:used]


@njit(cache=True, nogil=True)
def _search(graph, states, goal, start, path_weight, batch_size, max_expansions, max_nodes, until_proved, per_move,
            index):  # fmt: skip
    """One search. states: [S] of STATE, shared between searches: this one knows a state if it bears its index.

    An entry's number tells its order. Entries of a bucket above `nearest` are linked, in their order, from its head to
    its tail; all others stand in the heap fs, orders.
    """
    entries, pushed = np.empty(256, dtype=ENTRY), 0
    fs, orders, size, nearest, linked = np.empty(64), np.empty(64, dtype=np.int64), 0, 0, 0
    head, tail = np.full(BUCKETS, NOTHING, dtype=np.int32), np.empty(BUCKETS, dtype=np.int32)
    actions = graph.first.shape[1]
    batch, batch_g = np.empty(batch_size, dtype=np.int32), np.empty(batch_size, dtype=np.int32)
    children, values = (
        np.empty((batch_size, actions), dtype=np.int32),
        np.empty((batch_size, actions), dtype=np.float32),
    )
    known = states[start]
    known.search, known.g, known.arrived_by = index, 0, NO_ACTION
    entries[0].f, entries[0].state, entries[0].g = known.h, start, 0
    push(fs, orders, 0, np.float64(known.h), 0)
    size, pushed, nodes, expanded, generated = 1, 1, 1, 0, 0
    cost, bound, finished = np.inf, np.inf, False
    while size + linked > 0 and not finished:
        taken = 0
        while taken < batch_size and size + linked > 0:
            while size == 0:
                nearest += 1
                entry = head[nearest]
                while entry != NOTHING:
                    if size == len(fs):
                        fs, orders = grown(fs), grown(orders)
                    push(fs, orders, size, entries[entry].f, entry)
                    size, linked, entry = size + 1, linked - 1, entries[entry].next
                head[nearest] = NOTHING
            entry = pop(fs, orders, size)
            size -= 1
            state, path = entries[entry].state, entries[entry].g
            if path > states[state].g or path + np.float64(states[state].h) >= cost:
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
                bound = min(bound, batch_g[row] + np.float64(states[batch[row]].h))
            break
        for row in range(taken):
            high, low = divmod(batch[row], np.int32(len(graph.second)))
            for action in range(actions):
                child = _child(graph, high, low, action)
                children[row, action] = child
                if child != NO_STATE:
                    values[row, action] = states[child].h
        for row in range(taken):
            path = states[batch[row]].g + 1
            expanded += 1
            for action in range(actions):
                child = children[row, action]
                if child == NO_STATE:
                    continue
                generated += 1
                known = states[child]
                if known.search == index and known.g <= path:
                    continue
                nodes += known.search != index
                known.search, known.g, known.arrived_by = index, path, action
                if pushed == len(entries):
                    entries = grown(entries)
                f = path_weight * path + np.float64(values[row, action])
                entries[pushed].f, entries[pushed].state, entries[pushed].g = f, child, path
                bucket = min(max(0.0, f * per_move), BUCKETS - 1.0)
                place = int(bucket)
                if place <= nearest:
                    if size == len(fs):
                        fs, orders = grown(fs), grown(orders)
                    push(fs, orders, size, f, pushed)
                    size += 1
                else:
                    entries[pushed].next = NOTHING
                    if head[place] == NOTHING:
                        head[place] = pushed
                    else:
                        entries[tail[place]].next = pushed
                    tail[place] = pushed
                    linked += 1
                pushed += 1
    for place in range(size):
        bound = min(bound, _bound(states, entries[orders[place]]))
    for place in range(nearest + 1, BUCKETS):
        entry = head[place]
        while entry != NOTHING:
            bound, entry = min(bound, _bound(states, entries[entry])), entries[entry].next
    return cost, np.float64(expanded), np.float64(generated), min(bound, cost)


@njit(cache=True, inline="always")
def _bound(states, entry):
    """g + h of an open node, inf where it has been reached by a cheaper path since."""
    known = states[entry.state]
    return entry.g + np.float64(known.h) if entry.g <= known.g else np.inf
