"""BWAS over a table: one compiled search after another, on ranks.

What a search knows of a state and what the table says of it lie side by side, so that one access to memory brings both;
those of a whole batch's children are asked for first and looked at afterwards. While they are, the children of the best
of them are on their way, for mostly it is expanded next; so are those of the next search's start. Open nodes lie in
buckets by f: only the bucket of least f is kept as a heap, and most nodes never come to stand in it.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from costtogo.exact.graph import graph_of
from costtogo.heuristics.table import TableHeuristic
from costtogo.puzzles.base import Puzzle, inverses
from costtogo.search.heap import grown, pop, push
from costtogo.search.pool import Rules
from costtogo.types import NO_ACTION, NO_STATE, Ranks, SearchResult

STATE = np.dtype([("search", np.int32), ("g", np.int32), ("h", np.float32), ("arrived_by", np.int8)], align=True)
ENTRY = np.dtype([("f", np.float64), ("state", np.int32), ("g", np.int32), ("next", np.int32)], align=True)
BUCKETS = 1024  # of f, from 0 to twice the largest cost-to-go; the last holds all beyond
NOTHING = -1  # no search, no entry
ROOM = 512  # for entries, at first


class Memory(NamedTuple):
    """What searches write on, one after the other. fs and orders are the heap, head and tail the buckets, which are
    empty between searches; the last four are what a batch needs.
    """

    entries: np.ndarray
    fs: np.ndarray
    orders: np.ndarray
    head: np.ndarray
    tail: np.ndarray
    batch: np.ndarray
    batch_g: np.ndarray
    children: np.ndarray
    costs_to_go: np.ndarray


class Progress(NamedTuple):
    """Where a search stands.

    size, linked: entries in the heap and in buckets, these from `nearest` to `farthest`.  pushed: entries made.  known:
    states reached.  cost: of the solution found.  bound: least g + h of states taken, not expanded.
    """

    size: int
    linked: int
    nearest: int
    farthest: int
    pushed: int
    known: int
    expanded: int
    generated: int
    cost: float
    bound: float


def solve_over_table(
    puzzle: Puzzle, heuristic: TableHeuristic, starts: Ranks, path_weight: np.ndarray, rules: Rules
) -> SearchResult:
    """bwas.solve for starts given as ranks, int64 [B], and their λ, float64 [B]."""
    states = np.empty(len(heuristic.values), dtype=STATE)
    states["search"], states["h"] = NOTHING, heuristic.values
    inverse = inverses(puzzle).astype(np.int8)
    goal = puzzle.rank(puzzle.goal[None])[0]
    per_move = BUCKETS / (2 * max(1.0, float(heuristic.values.max())))
    rows, lengths, actions = _search_all(graph_of(puzzle), inverse, states, goal, starts, path_weight, rules, per_move)
    ends = np.cumsum(lengths)
    solutions = [actions[first:end] for first, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)]
    cost, expanded, generated, bound, full = rows.T
    return SearchResult(
        cost, expanded.astype(np.int64), generated.astype(np.int64), bound, solutions, full > 0, np.zeros_like(full > 0)
    )


@njit(cache=True, nogil=True)
def _search_all(graph, inverse, states, goal, starts, path_weight, rules, per_move):
    """Rows (cost, expanded, generated, lower bound, out of memory) float64 [B, 5]; lengths int64 [B]; all solutions in
    a row, int8.
    """
    rows = np.empty((len(starts), 5))
    lengths = np.zeros(len(starts), dtype=np.int64)
    actions = np.empty(1024, dtype=np.int8)
    memory = _first_memory(rules.batch_size, graph.first.shape[1])
    used = 0
    for index in range(len(starts)):
        at = _begin(memory, states, index, starts[index])
        if index + 1 < len(starts):
            _ask_for(states, starts[index + 1])
            _ask_for_children(graph.first, graph.second, states, starts[index + 1])
        while True:
            full, at = _advance(memory, at, graph, states, goal, path_weight[index], rules, per_move, index)
            if not full:
                break
            memory = _with_more_room(memory)
        rows[index, 0], rows[index, 1], rows[index, 2] = at.cost, at.expanded, at.generated
        rows[index, 3] = min(at.cost, _close(memory, at, states))
        rows[index, 4] = at.known > rules.max_nodes
        if at.cost < np.inf:
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
def _first_memory(batch_size, actions):
    """Memory of the least room."""
    return Memory(
        np.empty(ROOM, dtype=ENTRY), np.empty(ROOM), np.empty(ROOM, dtype=np.int64),
        np.full(BUCKETS, NOTHING, dtype=np.int32), np.empty(BUCKETS, dtype=np.int32),
        np.empty(batch_size, dtype=np.int32), np.empty(batch_size, dtype=np.int32),
        np.empty((batch_size, actions), dtype=np.int32), np.empty((batch_size, actions), dtype=np.float32),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _with_more_room(memory):
    """The memory with room for twice as many entries."""
    entries, fs, orders, head, tail, batch, batch_g, children, costs_to_go = memory
    return Memory(grown(entries), grown(fs), grown(orders), head, tail, batch, batch_g, children, costs_to_go)


@njit(cache=True, inline="always")
def _child(graph, high, low, action):
    """Where an action leads from the state at two places of a graph, NO_STATE where it is not legal."""
    first, second = graph
    if first[high, action] == NO_STATE:
        return NO_STATE
    return first[high, action] * len(second) + second[low, action]


@intrinsic
def _ask_for(context, array, place):
    """Begin to fetch an element of an array from memory, without waiting for it."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        fetch = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
        )
        to_read, near, data_cache = (ir.Constant(number, value) for value in (0, 3, 1))
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(fetch, [address, to_read, near, data_cache])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@njit(cache=True, nogil=True)
def _ask_for_children(first, second, states, state):
    """Begin to fetch the children of a state."""
    high, low = divmod(state, len(second))
    for action in range(first.shape[1]):
        if first[high, action] != NO_STATE:
            _ask_for(states, first[high, action] * len(second) + second[low, action])


@njit(cache=True, nogil=True)
def _begin(memory, states, index, start):
    """A search that knows its start alone: it bears the index of the search."""
    states[start].search, states[start].g, states[start].arrived_by = index, 0, NO_ACTION
    entries, h = memory.entries, np.float64(states[start].h)
    entries[0].f, entries[0].state, entries[0].g = h, start, 0
    push(memory.fs, memory.orders, 0, h, 0)
    return Progress(1, 0, 0, 0, 1, 1, 0, 0, np.inf, np.inf)


@njit(cache=True, nogil=True)
def _advance(memory, at, graph, states, goal, path_weight, rules, per_move, index):
    """Go on until the search is over or lacks room: whether it does, and where it stands.

    An entry's number tells its order. Entries of a bucket above `nearest` are linked, in their order, from its head to
    its tail; all others stand in the heap. No array is bound anew in here: numba would count its references each time.
    """
    entries, fs, orders, head, tail, batch, batch_g, children, costs_to_go = memory
    size, linked, nearest, farthest, pushed, known, expanded, generated, cost, bound = at
    first, second = graph.first, graph.second
    rows, actions = np.int32(len(second)), first.shape[1]
    full = finished = False
    while size + linked > 0 and not finished:
        if pushed + min(len(batch), size + linked) * actions > len(entries):
            full = True
            break
        taken = 0
        while taken < len(batch) and size + linked > 0:
            while size == 0:
                nearest += 1
                entry = head[nearest]
                while entry != NOTHING:
                    push(fs, orders, size, entries[entry].f, entry)
                    size, linked, entry = size + 1, linked - 1, entries[entry].next
                head[nearest] = NOTHING
            entry = pop(fs, orders, size)
            size -= 1
            state, path = entries[entry].state, entries[entry].g
            if path > states[state].g or path + np.float64(states[state].h) >= cost:
                continue
            if state == goal:
                cost = np.float64(path)
                if not rules.until_proved:
                    finished = True
                    break
                continue
            batch[taken], batch_g[taken] = state, path
            taken += 1
        if finished or expanded + taken > rules.max_expansions or known > rules.max_nodes:
            for row in range(taken):
                bound = min(bound, batch_g[row] + np.float64(states[batch[row]].h))
            break
        for row in range(taken):
            high, low = divmod(batch[row], rows)
            best, least = NO_STATE, np.float32(np.inf)
            for action in range(actions):
                child = first[high, action]
                if child != NO_STATE:
                    child = child * rows + second[low, action]
                    h = states[child].h
                    costs_to_go[row, action] = h
                    best = child if h < least else best
                    least = min(h, least)
                children[row, action] = child
            if best != NO_STATE:
                _ask_for_children(first, second, states, best)
        for row in range(taken):
            path = states[batch[row]].g + 1
            expanded += 1
            for action in range(actions):
                child = children[row, action]
                if child == NO_STATE:
                    continue
                generated += 1
                if states[child].search == index and states[child].g <= path:
                    continue
                known += states[child].search != index
                states[child].search, states[child].g, states[child].arrived_by = index, path, action
                f = path_weight * path + np.float64(costs_to_go[row, action])
                entries[pushed].f, entries[pushed].state, entries[pushed].g = f, child, path
                place = int(min(max(0.0, f * per_move), BUCKETS - 1.0))
                if place <= nearest:
                    push(fs, orders, size, f, pushed)
                    size += 1
                else:
                    entries[pushed].next = NOTHING
                    if head[place] == NOTHING:
                        head[place] = pushed
                    else:
                        entries[tail[place]].next = pushed
                    tail[place] = pushed
                    linked, farthest = linked + 1, max(farthest, place)
                pushed += 1
    return full, Progress(size, linked, nearest, farthest, pushed, known, expanded, generated, cost, bound)


@njit(cache=True, nogil=True)
def _close(memory, at, states):
    """The least g + h of nodes still open at the end of a search; its buckets are emptied."""
    entries, head, bound = memory.entries, memory.head, at.bound
    for place in range(at.size):
        bound = min(bound, _bound(states, entries, memory.orders[place]))
    for place in range(at.nearest + 1, at.farthest + 1):
        entry = head[place]
        while entry != NOTHING:
            bound, entry = min(bound, _bound(states, entries, entry)), entries[entry].next
        head[place] = NOTHING
    return bound


@njit(cache=True, inline="always")
def _bound(states, entries, entry):
    """g + h of an open node, inf where it has been reached by a cheaper path since."""
    state, g = entries[entry].state, entries[entry].g
    return g + np.float64(states[state].h) if g <= states[state].g else np.inf
