"""BWAS over a table: one compiled search after another, on ranks.

What a search knows of a state and what the table says of it lie side by side, so that one access to memory brings both;
those of a whole batch's children are asked for first and looked at afterwards. While they are, the children of the best
of them are on their way, for mostly it is expanded next; so are those of the next search's start. Open nodes lie in
buckets by f: only the bucket of least f is kept as a heap, and most nodes never enter it.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from costtogo.compiled import njit
from costtogo.exact.graph import Graph, graph_of
from costtogo.heuristics.table import TableHeuristic
from costtogo.puzzles.base import Puzzle, inverses
from costtogo.search.heap import grown, pop, push
from costtogo.search.pool import Rules
from costtogo.types import NO_ACTION, NO_STATE, Ranks, SearchResult

STATE = np.dtype([("search", np.int32), ("g", np.int32), ("h", np.float32), ("arrived_by", np.int8)], align=True)
ENTRY = np.dtype([("f", np.float64), ("state", np.int32), ("g", np.int32), ("next", np.int32)], align=True)
PROGRESS = np.dtype(  # the progress of a search
    [
        ("size", np.int64),  # entries in the heap
        ("linked", np.int64),  # entries in buckets,
        ("nearest", np.int64),  # which lie above this one
        ("farthest", np.int64),  # and up to this one
        ("pushed", np.int64),  # entries made
        ("known", np.int64),  # states reached
        ("expanded", np.int64),
        ("generated", np.int64),
        ("cost", np.float64),  # of the solution found
        ("bound", np.float64),  # the least g + h of states taken and not expanded
    ]
)
BUCKETS = 1024  # of f, from 0 to twice the largest cost-to-go; the last holds all beyond
NOTHING = -1  # no search, no entry
ROOM = 512  # for entries, at first


class Task(NamedTuple):
    """What all searches have in common."""

    graph: Graph
    inverse: np.ndarray  # int8 [A], of actions
    states: np.ndarray  # STATE [S], what the search that came by last knows of each; h is the table
    goal: int
    per_move: float  # buckets


class Memory(NamedTuple):
    """What searches write on, one after the other. Between searches the buckets are empty."""

    entries: np.ndarray  # ENTRY, of this search, in the order in which they were made
    fs: np.ndarray  # float64, the heap: f,
    orders: np.ndarray  # int64, and which entries
    head: np.ndarray  # int32 [BUCKETS], the first entry of each
    tail: np.ndarray  # int32 [BUCKETS], the last
    batch: np.ndarray  # int32 [N], states that are expanded together
    batch_g: np.ndarray  # int32 [N]
    children: np.ndarray  # int32 [N, A], NO_STATE where an action is not legal
    costs_to_go: np.ndarray  # float32 [N, A], of them
    progress: np.ndarray  # PROGRESS [1]


def solve_over_table(
    puzzle: Puzzle, heuristic: TableHeuristic, starts: Ranks, path_weight: np.ndarray, rules: Rules
) -> SearchResult:
    """bwas.solve for starts given as ranks, int64 [B], and their λ, float64 [B]."""
    states = np.empty(len(heuristic.values), dtype=STATE)
    states["search"], states["h"] = NOTHING, heuristic.values
    per_move = BUCKETS / (2 * max(1.0, float(heuristic.values.max())))
    goal = puzzle.rank(puzzle.goal[None])[0]
    task = Task(graph_of(puzzle), inverses(puzzle).astype(np.int8), states, goal, per_move)
    found, lengths, actions = _search_all(task, starts, path_weight, rules)
    ends = np.cumsum(lengths)
    solutions = [actions[first:end] for first, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)]
    columns = (found[name].copy() for name in ("cost", "expanded", "generated", "bound"))
    return SearchResult(*columns, solutions, found["known"] > rules.max_nodes, np.zeros(len(starts), dtype=bool))


@njit(cache=True, nogil=True)
def _search_all(task, starts, path_weight, rules):
    """PROGRESS [B], where each search ended; int64 [B], moves of its solution; all solutions in a row, int8."""
    found, lengths = np.empty(len(starts), dtype=PROGRESS), np.zeros(len(starts), dtype=np.int64)
    actions = np.empty(1024, dtype=np.int8)
    memory = _first_memory(rules.batch_size, task.graph.first.shape[1])
    used = 0
    for search in range(len(starts)):
        at = memory.progress[0]
        _begin(memory, at, task.states, search, starts[search])
        if search + 1 < len(starts):
            _ask_for(task.states, starts[search + 1])
            _ask_for_children(task.graph.first, task.graph.second, task.states, starts[search + 1])
        while not _advance(memory, at, task, path_weight[search], rules, search):
            memory = _with_more_room(memory)
        at.bound = min(at.cost, _close(memory, at, task.states))
        if at.cost < np.inf:
            while used + at.cost > len(actions):
                actions = grown(actions)
            lengths[search] = _read_path(task, starts[search], actions[used:])
            used += lengths[search]
            at.cost = lengths[search]  # less than g where a node on the path was reached cheaper since
            at.bound = min(at.bound, at.cost)
        found[search] = at
    return found, lengths, actions[:used]


@njit(cache=True, nogil=True)
def _read_path(task, start, actions):
    """Write the actions by which the goal was reached from the start; how many there are."""
    state, moves = task.goal, 0
    while state != start:
        actions[moves] = task.states[state].arrived_by
        high, low = divmod(state, len(task.graph.second))
        state = _child(task.graph, high, low, task.inverse[actions[moves]])
        moves += 1
    actions[:moves] = actions[:moves][::-1].copy()
    return moves


@njit(cache=True, nogil=True)
def _first_memory(batch_size, actions):
    """Memory of the least room."""
    return Memory(
        np.empty(ROOM, dtype=ENTRY), np.empty(ROOM), np.empty(ROOM, dtype=np.int64),
        np.full(BUCKETS, NOTHING, dtype=np.int32), np.empty(BUCKETS, dtype=np.int32),
        np.empty(batch_size, dtype=np.int32), np.empty(batch_size, dtype=np.int32),
        np.empty((batch_size, actions), dtype=np.int32), np.empty((batch_size, actions), dtype=np.float32),
        np.zeros(1, dtype=PROGRESS),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _with_more_room(memory):
    """The memory with room for twice as many entries."""
    entries, fs, orders, head, tail, batch, batch_g, children, costs_to_go, progress = memory
    return Memory(grown(entries), grown(fs), grown(orders), head, tail, batch, batch_g, children, costs_to_go, progress)


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
def _begin(memory, at, states, search, start):
    """Begin a search, which knows its start alone."""
    states[start].search, states[start].g, states[start].arrived_by = search, 0, NO_ACTION
    h = np.float64(states[start].h)
    memory.entries[0].f, memory.entries[0].state, memory.entries[0].g = h, start, 0
    push(memory.fs, memory.orders, 0, h, 0)
    at.size, at.pushed, at.known = 1, 1, 1
    at.linked, at.nearest, at.farthest, at.expanded, at.generated = 0, 0, 0, 0, 0
    at.cost, at.bound = np.inf, np.inf


@njit(cache=True, nogil=True)
def _advance(memory, at, task, path_weight, rules, search):
    """Go on until the search is over (True) or lacks room for entries (False).

    Keeps true: entries of buckets above `nearest` are linked, in their order, from head to tail; all others are in
    the heap. No array is bound anew in a loop: numba would count its references each time.
    """
    actions = task.graph.first.shape[1]
    while at.size + at.linked > 0:
        if at.pushed + min(len(memory.batch), at.size + at.linked) * actions > len(memory.entries):
            return False
        taken, solved = _select(memory, at, task.states, task.goal, rules.until_proved)
        if solved or at.expanded + taken > rules.max_expansions or at.known > rules.max_nodes:
            for row in range(taken):
                at.bound = min(at.bound, memory.batch_g[row] + np.float64(task.states[memory.batch[row]].h))
            return True
        _expand(memory, task.graph, task.states, taken)
        _enter(memory, at, task.states, task.per_move, path_weight, search, taken)
    return True


@njit(cache=True, nogil=True, forceinline=True)
def _select(memory, at, states, goal, until_proved):
    """Take a batch of live states of least f: how many, and whether the search is over with the goal."""
    entries, fs, orders, head, _, batch, batch_g, _, _, _ = memory
    taken, solved = 0, False
    size, linked, cost = at.size, at.linked, at.cost
    while taken < len(batch) and size + linked > 0 and not solved:
        # Where the heap is empty, the next bucket that is not becomes the heap.
        while size == 0:
            at.nearest += 1
            entry = head[at.nearest]
            while entry != NOTHING:
                push(fs, orders, size, entries[entry].f, entry)
                size, linked, entry = size + 1, linked - 1, entries[entry].next
            head[at.nearest] = NOTHING
        entry = pop(fs, orders, size)
        size -= 1
        state, path = entries[entry].state, entries[entry].g
        if path > states[state].g or path + np.float64(states[state].h) >= cost:
            continue
        if state == goal:
            cost, solved = np.float64(path), not until_proved
            continue
        batch[taken], batch_g[taken] = state, path
        taken += 1
    at.size, at.linked, at.cost = size, linked, cost
    return taken, solved


@njit(cache=True, nogil=True, forceinline=True)
def _expand(memory, graph, states, taken):
    """Find the children of a batch and what the table says of them; the best child's own are on their way then."""
    first, second = graph
    batch, children, costs_to_go = memory.batch, memory.children, memory.costs_to_go
    rows = np.int32(len(second))
    for row in range(taken):
        high, low = divmod(batch[row], rows)
        best, least = NO_STATE, np.float32(np.inf)
        for action in range(first.shape[1]):
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


@njit(cache=True, nogil=True, forceinline=True)
def _enter(memory, at, states, per_move, path_weight, search, taken):
    """Make entries of the children that are new or were reached by a longer path."""
    entries, fs, orders, head, tail, batch, _, children, costs_to_go, _ = memory
    size, linked, entry, nearest = at.size, at.linked, at.pushed, at.nearest
    known, generated, farthest = at.known, at.generated, at.farthest
    for row in range(taken):
        path = states[batch[row]].g + 1
        for action in range(children.shape[1]):
            child = children[row, action]
            if child == NO_STATE:
                continue
            generated += 1
            if states[child].search == search and states[child].g <= path:
                continue
            known += states[child].search != search
            states[child].search, states[child].g, states[child].arrived_by = search, path, action
            # Into the heap if its bucket is there already, else to the end of its bucket.
            f = path_weight * path + np.float64(costs_to_go[row, action])
            entries[entry].f, entries[entry].state, entries[entry].g = f, child, path
            place = int(min(max(0.0, f * per_move), BUCKETS - 1.0))
            if place <= nearest:
                push(fs, orders, size, f, entry)
                size += 1
            else:
                entries[entry].next = NOTHING
                if head[place] == NOTHING:
                    head[place] = entry
                else:
                    entries[tail[place]].next = entry
                tail[place] = entry
                linked += 1
                farthest = max(farthest, place)
            entry += 1
    at.size, at.linked, at.pushed = size, linked, entry
    at.known, at.generated, at.farthest = known, generated, farthest
    at.expanded += taken


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
