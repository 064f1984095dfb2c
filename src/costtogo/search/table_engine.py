"""BWAS over a table: one compiled search after another, on ranks.

A search keeps what it knows of a state as a node, found by a hash table that grows with the search: both stay near the
processor, and only the table of values is looked up in far memory, for all children of a batch at once. Open
nodes lie in buckets by f: only the bucket of least f is kept as a heap, and most nodes never come to stand in it.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from costtogo.exact.graph import graph_of
from costtogo.heuristics.table import TableHeuristic
from costtogo.puzzles.base import Puzzle
from costtogo.search.heap import grown, pop, push
from costtogo.types import NO_ACTION, NO_STATE, Ranks, SearchResult

NODE = np.dtype([("state", np.int32), ("g", np.int32), ("h", np.float32), ("parent", np.int32), ("action", np.int8)],
                align=True)  # fmt: skip
ENTRY = np.dtype([("f", np.float64), ("node", np.int32), ("g", np.int32), ("next", np.int32)], align=True)
SLOT = np.dtype([("stamp", np.int32), ("node", np.int32)], align=True)
BUCKETS = 1024  # of f, from 0 to twice the largest cost-to-go; the last holds all beyond
NOTHING = -1  # no node, no entry, no stamp
ROOM = 512  # for entries, of a search that begins


class Memory(NamedTuple):
    """What searches write on, one after the other. fs and orders are the heap, head and tail the buckets, which are
    empty between searches; the last four are what a batch needs.
    """

    nodes: np.ndarray
    slots: np.ndarray
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

    room: how many entries, hence nodes, it may make at present, a power of two; it uses twice as many slots, of which
    those are taken that bear its stamp.  size, linked: entries in the heap and in buckets, these from `nearest` to
    `farthest`.  cost: of the solution that `solved`, a node, tells.  bound: least g + h of nodes taken, not expanded.
    """

    room: int
    stamp: int
    size: int
    linked: int
    nearest: int
    farthest: int
    pushed: int
    known: int
    expanded: int
    generated: int
    solved: int
    cost: float
    bound: float


def solve_over_table(
    puzzle: Puzzle, heuristic: TableHeuristic, starts: Ranks, path_weight, batch_size, limits, until_proved
) -> SearchResult:
    """bwas.solve for starts given as ranks, int64 [B], and their λ, float64 [B]."""
    goal = puzzle.rank(puzzle.goal[None])[0]
    per_move = BUCKETS / (2 * max(1.0, float(heuristic.values.max())))
    caps = (limits.max_expansions, limits.max_nodes)
    rows, lengths, actions = _search_all(
        graph_of(puzzle), heuristic.values, goal, starts, path_weight, batch_size, *caps, until_proved, per_move
    )
    last = np.cumsum(lengths)
    solutions = [actions[slice(*ends)] for ends in zip((last - lengths).tolist(), last.tolist(), strict=True)]
    return SearchResult(rows[:, 0], rows[:, 1].astype(np.int64), rows[:, 2].astype(np.int64), rows[:, 3], solutions)


@njit(cache=True, nogil=True)
def _search_all(graph, values, goal, starts, path_weight, batch_size, max_expansions, max_nodes, until_proved,
                per_move):  # fmt: skip
    """Rows (cost, expanded, generated, lower bound) float64 [B, 4]; lengths int64 [B]; all solutions in a row, int8."""
    rows = np.empty((len(starts), 4))
    lengths = np.zeros(len(starts), dtype=np.int64)
    actions = np.empty(1024, dtype=np.int8)
    memory = _first_memory(batch_size, graph.first.shape[1])
    stamp = used = 0
    for index in range(len(starts)):
        at = _begin(memory, stamp, starts[index], values[starts[index]])
        while True:
            full, at = _advance(
                memory, at, graph, values, goal, path_weight[index], max_expansions, max_nodes, until_proved, per_move
            )
            if not full:
                break
            memory, at = _with_more_room(memory, at)
        stamp = at.stamp + 1
        rows[index, 0], rows[index, 1], rows[index, 2] = at.cost, at.expanded, at.generated
        rows[index, 3] = min(at.cost, _close(memory, at))
        if at.solved != NOTHING:
            nodes, node, first = memory.nodes, at.solved, used
            while nodes[node].parent != NOTHING:
                if used == len(actions):
                    actions = grown(actions)
                actions[used], node = nodes[node].action, nodes[node].parent
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
        np.empty(ROOM, dtype=NODE), _free_slots(2 * ROOM), np.empty(ROOM, dtype=ENTRY),
        np.empty(ROOM), np.empty(ROOM, dtype=np.int64),
        np.full(BUCKETS, NOTHING, dtype=np.int32), np.empty(BUCKETS, dtype=np.int32),
        np.empty(batch_size, dtype=np.int32), np.empty(batch_size, dtype=np.int32),
        np.empty((batch_size, actions), dtype=np.int32), np.empty((batch_size, actions), dtype=np.float32),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _free_slots(count):
    slots = np.empty(count, dtype=SLOT)
    for slot in range(count):
        slots[slot].stamp = NOTHING
    return slots


@njit(cache=True, nogil=True)
def _with_more_room(memory, at):
    """Twice the room for a search, its nodes entered in the larger hash table under a new stamp."""
    nodes, slots, entries, fs, orders, head, tail, batch, batch_g, children, costs_to_go = memory
    room, stamp = 2 * at.room, at.stamp + 1
    if room > len(nodes):
        nodes, slots, entries = grown(nodes), _free_slots(2 * room), grown(entries)
        fs, orders = grown(fs), grown(orders)
    for node in range(at.known):
        slot = _slot(nodes, slots, stamp, 2 * room - 1, nodes[node].state)
        slots[slot].stamp, slots[slot].node = stamp, node
    return Memory(nodes, slots, entries, fs, orders, head, tail, batch, batch_g, children, costs_to_go), Progress(
        room, stamp, at.size, at.linked, at.nearest, at.farthest, at.pushed, at.known, at.expanded, at.generated,
        at.solved, at.cost, at.bound,
    )  # fmt: skip


@njit(cache=True, inline="always")
def _slot(nodes, slots, stamp, mask, state):
    """The slot of a state's node, or the free one where it would stand, among mask + 1 slots."""
    slot = (np.int64(state) * 0x9E3779B1 >> 16) & mask
    while slots[slot].stamp == stamp and nodes[slots[slot].node].state != state:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _begin(memory, stamp, start, h):
    """A search whose one node is its start."""
    nodes, slots, entries = memory.nodes, memory.slots, memory.entries
    nodes[0].state, nodes[0].g, nodes[0].h, nodes[0].parent, nodes[0].action = start, 0, h, NOTHING, NO_ACTION
    slot = _slot(nodes, slots, stamp, 2 * ROOM - 1, start)
    slots[slot].stamp, slots[slot].node = stamp, 0
    entries[0].f, entries[0].node, entries[0].g = h, 0, 0
    push(memory.fs, memory.orders, 0, np.float64(h), 0)
    return Progress(ROOM, stamp, 1, 0, 0, 0, 1, 1, 0, 0, NOTHING, np.inf, np.inf)


@njit(cache=True, nogil=True)
def _advance(memory, at, graph, values, goal, path_weight, max_expansions, max_nodes, until_proved, per_move):
    """Go on until the search is over or lacks room: whether it does, and where it stands.

    An entry's number tells its order. Entries of a bucket above `nearest` are linked, in their order, from its head to
    its tail; all others stand in the heap. No array is bound anew in here: numba would count its references each time.
    """
    nodes, slots, entries, fs, orders, head, tail, batch, batch_g, children, costs_to_go = memory
    room, stamp, size, linked, nearest, farthest, pushed, known, expanded, generated, solved, cost, bound = at
    first, second = graph.first, graph.second
    mask, rows, actions = 2 * room - 1, np.int32(len(second)), first.shape[1]
    full = finished = False
    while size + linked > 0 and not finished:
        if pushed + min(len(batch), size + linked) * actions > room:
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
            node, path = entries[entry].node, entries[entry].g
            if path > nodes[node].g or path + np.float64(nodes[node].h) >= cost:
                continue
            if nodes[node].state == goal:
                cost, solved = np.float64(path), node
                if not until_proved:
                    finished = True
                    break
                continue
            batch[taken], batch_g[taken] = node, path
            taken += 1
        if finished or expanded + taken > max_expansions or known > max_nodes:
            for row in range(taken):
                bound = min(bound, batch_g[row] + np.float64(nodes[batch[row]].h))
            break
        for row in range(taken):
            high, low = divmod(nodes[batch[row]].state, rows)
            for action in range(actions):
                child = first[high, action]
                if child != NO_STATE:
                    child = child * rows + second[low, action]
                    costs_to_go[row, action] = values[child]
                children[row, action] = child
        for row in range(taken):
            parent = batch[row]
            path = nodes[parent].g + 1
            expanded += 1
            for action in range(actions):
                child = children[row, action]
                if child == NO_STATE:
                    continue
                generated += 1
                slot = _slot(nodes, slots, stamp, mask, child)
                if slots[slot].stamp == stamp:
                    node = slots[slot].node
                    if nodes[node].g <= path:
                        continue
                else:
                    node = known
                    known += 1
                    nodes[node].state, nodes[node].h = child, costs_to_go[row, action]
                    slots[slot].stamp, slots[slot].node = stamp, node
                nodes[node].g, nodes[node].parent, nodes[node].action = path, parent, action
                f = path_weight * path + np.float64(costs_to_go[row, action])
                entries[pushed].f, entries[pushed].node, entries[pushed].g = f, node, path
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
    return full, Progress(
        room, stamp, size, linked, nearest, farthest, pushed, known, expanded, generated, solved, cost, bound
    )


@njit(cache=True, nogil=True)
def _close(memory, at):
    """The least g + h of nodes still open at the end of a search; its buckets are emptied."""
    nodes, entries, head, bound = memory.nodes, memory.entries, memory.head, at.bound
    for place in range(at.size):
        bound = min(bound, _bound(nodes, entries, memory.orders[place]))
    for place in range(at.nearest + 1, at.farthest + 1):
        entry = head[place]
        while entry != NOTHING:
            bound, entry = min(bound, _bound(nodes, entries, entry)), entries[entry].next
        head[place] = NOTHING
    return bound


@njit(cache=True, inline="always")
def _bound(nodes, entries, entry):
    """g + h of an open node, inf where it has been reached by a cheaper path since."""
    node, g = entries[entry].node, entries[entry].g
    return g + np.float64(nodes[node].h) if g <= nodes[node].g else np.inf
