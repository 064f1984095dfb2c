"""BWAS over a heuristic that tells the cost-to-go of each child: batch Q* search, many searches in step.

An open entry is a child that is still to be made: its parent, the action, and what the parent's evaluation said of it
(Agostinelli et al. 2021, "A* Search Without Expansions", arXiv:2102.04518). One evaluation serves all children of a
node, and states are made, kept and told apart only when they are about to be expanded. Entries that lead to one state
are found out there: of a batch of N entries those are dropped whose state was reached before at no greater cost.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numba import njit

from costtogo.exact.nearby import hash_states
from costtogo.puzzles.base import Puzzle, inverses
from costtogo.search.heap import pop as pop_first
from costtogo.search.heap import push as push_entry
from costtogo.types import NO_ACTION, ActionHeuristic, SearchResult, States, UserError

NOTHING = -1  # no node, no entry
ENTRY_BYTES = 12
NODE_BYTES = 25  # beside the state: parent, action, g, and slots of the hash table
MEMORY = 4 << 30  # bytes that the searches in step may fill together


@dataclass
class Nodes:
    """What each search has expanded, a row a search; growing keeps those of running searches alone."""

    state: np.ndarray  # uint8 [B, nodes, D]
    g: np.ndarray  # int32 [B, nodes], moves from the start
    parent: np.ndarray  # int32 [B, nodes]
    action: np.ndarray  # int8 [B, nodes]
    slots: np.ndarray  # int32 [B, slots], hash table: node + 1, the cheapest of its state, or 0
    count: np.ndarray  # int64 [B]


@dataclass
class Open:
    """The binary heap of each search. An entry is parent · A + action; of equal f the lesser goes first."""

    f: np.ndarray  # float64 [B, entries]
    entry: np.ndarray  # int32 [B, entries]
    count: np.ndarray  # int64 [B]


@dataclass
class Searches:
    """All searches of a group. cost stays inf until a search finds the goal."""

    puzzle: Puzzle
    nodes: Nodes
    open: Open
    goal_node: np.ndarray  # int32 [B]
    cost: np.ndarray  # float64 [B]
    bound: np.ndarray  # float64 [B]
    expanded: np.ndarray  # int64 [B]
    generated: np.ndarray  # int64 [B]
    running: np.ndarray  # bool [B]
    out_of_memory: np.ndarray  # bool [B]


@dataclass
class Batch:
    """Entries taken from the open lists, those of one search after those of another, and the states they lead to."""

    search: np.ndarray  # int32 [M]
    entry: np.ndarray  # int32 [M], NOTHING at a start
    h: np.ndarray  # float64 [M]
    states: States


def solve_by_action(
    puzzle: Puzzle, heuristic: ActionHeuristic, starts: States, path_weight, batch_size, limits, until_proved
) -> SearchResult:
    """bwas.solve for starts uint8 [B, D] and their λ, float64 [B]: as many in step as the memory has room for."""
    if limits.max_nodes > (largest := np.iinfo(np.int32).max // len(puzzle.actions)):
        raise UserError(f"A search of {puzzle.name} may keep at most {largest:,} nodes, not {limits.max_nodes:,}.")
    together, deadline = searches_in_step(puzzle, limits.max_nodes), time.monotonic() + limits.seconds
    rows: list[tuple] = []
    for group in np.array_split(np.arange(len(starts)), max(1, -(-len(starts) // together))):
        options = (path_weight[group], batch_size, limits, until_proved, deadline)
        found = dict(grow(puzzle, heuristic, starts[group], *options))
        rows += [found[place] for place in range(len(group))]
    cost, expanded, generated, bound, solutions, *ends = list(zip(*rows, strict=True)) or [()] * 7
    return SearchResult(
        np.array(cost, dtype=np.float64), np.array(expanded, dtype=np.int64), np.array(generated, dtype=np.int64),
        np.array(bound, dtype=np.float64), list(solutions), *(np.array(end, dtype=bool) for end in ends),
    )  # fmt: skip


def searches_in_step(puzzle: Puzzle, max_nodes: int) -> int:
    """How many searches fit in MEMORY if each keeps max_nodes, one expanded for A - 2 open; at least one."""
    open_nodes = max(1, len(puzzle.actions) - 2)
    bytes_of_node = (NODE_BYTES + puzzle.cells + ENTRY_BYTES * open_nodes) / (1 + open_nodes)
    return max(1, int(MEMORY / (max_nodes * bytes_of_node)))


def grow(
    puzzle: Puzzle, heuristic, starts: States, path_weight, batch_size, limits, until_proved, deadline: float
) -> Iterator[tuple[int, tuple]]:
    """Run searches in step until all have ended; the number of each and its row, as they end.

    deadline: of time.monotonic; a search that runs then expands no more.
    """
    searches = plant(puzzle, len(starts))
    batch = Batch(
        np.arange(len(starts), dtype=np.int32),
        np.full(len(starts), NOTHING, dtype=np.int32),
        np.zeros(len(starts)),
        starts,
    )
    late = False
    while searches.running.any():
        if not late and time.monotonic() >= deadline:
            late, limits = True, replace(limits, max_expansions=0)
        before = searches.running.copy()
        kept, nodes = enter(searches, batch, batch_size, limits, path_weight, until_proved)
        for place in np.flatnonzero(before & ~searches.running):
            yield int(place), (*read_row(searches, place), late)
        push(searches, batch.search[kept], nodes, heuristic.children(batch.states[kept]), path_weight)
        batch = pop(searches, batch_size, path_weight)


def plant(puzzle: Puzzle, count: int) -> Searches:
    """Searches that have seen nothing yet."""
    room = 256
    nodes = Nodes(
        np.zeros((count, room, puzzle.cells), dtype=np.uint8), np.zeros((count, room), dtype=np.int32),
        np.zeros((count, room), dtype=np.int32), np.zeros((count, room), dtype=np.int8),
        np.zeros((count, 2 * room), dtype=np.int32), np.zeros(count, dtype=np.int64),
    )  # fmt: skip
    heaps = Open(np.zeros((count, room)), np.zeros((count, room), dtype=np.int32), np.zeros(count, dtype=np.int64))
    infinite, nought = (lambda: np.full(count, np.inf)), (lambda: np.zeros(count, dtype=np.int64))
    return Searches(
        puzzle, nodes, heaps, np.full(count, NOTHING, dtype=np.int32), infinite(), infinite(), nought(), nought(),
        np.ones(count, dtype=bool), np.zeros(count, dtype=bool),
    )  # fmt: skip


def pop(searches: Searches, batch_size: int, path_weight) -> Batch:
    """Take up to batch_size entries of least f from every running search and make the states they lead to."""
    s, puzzle = searches, searches.puzzle
    actions = len(puzzle.actions)
    search, entry, h = _pop(
        s.open.f, s.open.entry, s.open.count, s.nodes.g, s.cost, s.running, actions, batch_size, path_weight
    )
    parent, action = np.divmod(entry, actions)
    return Batch(search, entry, h, puzzle.move(s.nodes.state[search, parent], action))


def enter(searches: Searches, batch: Batch, batch_size: int, limits, path_weight, until_proved: bool):
    """Make nodes of the states reached first or at less cost, and end the searches that found the goal or their limits.

    Returns the rows of the batch that are to be expanded, int64 [K], and their nodes, int32 [K].
    """
    make_room_for_nodes(searches, batch_size)
    s, n, before = searches, searches.nodes, searches.running.copy()
    kept, nodes = _enter(
        n.state, n.g, n.parent, n.action, n.slots, n.count, s.open.count, s.goal_node, s.cost, s.expanded, s.running,
        s.out_of_memory, batch.states, hash_states(s.puzzle, batch.states), batch.search, batch.entry,
        s.puzzle.goal, len(s.puzzle.actions), limits.max_expansions, limits.max_nodes, until_proved,
    )  # fmt: skip
    _bound(
        s.open.f, s.open.entry, s.open.count, n.g, s.bound, before & ~s.running, batch.search, batch.entry, batch.h,
        len(s.puzzle.actions), path_weight,
    )  # fmt: skip
    return kept, nodes


def push(searches: Searches, search, nodes, values, path_weight) -> None:
    """Enter the children of new nodes into the open lists by their values, float32 [K, A]; the way back is left out."""
    s, puzzle = searches, searches.puzzle
    inverse = inverses(puzzle).astype(np.int8)
    make_room_for_entries(searches, np.bincount(search, minlength=len(s.running)).max(initial=0) * len(inverse))
    _push(
        s.open.f, s.open.entry, s.open.count, s.nodes.g, s.nodes.action, s.generated, search, nodes, values, inverse,
        path_weight,
    )  # fmt: skip


def make_room_for_nodes(searches: Searches, more: int) -> None:
    """Room for more nodes in every running search, doubling."""
    n = searches.nodes
    needed = int(n.count[searches.running].max(initial=0)) + more
    if needed <= n.g.shape[1]:
        return
    room = max(needed, 2 * n.g.shape[1])
    n.state, n.g, n.parent, n.action = (
        larger(array, room, n.count, searches.running) for array in (n.state, n.g, n.parent, n.action)
    )
    n.slots = np.zeros((len(n.count), 1 << (2 * room - 1).bit_length()), dtype=np.int32)
    for place in np.flatnonzero(searches.running):
        states = n.state[place, : n.count[place]]
        _rehash(states, n.slots[place], hash_states(searches.puzzle, states))


def make_room_for_entries(searches: Searches, more: int) -> None:
    """Room for more entries in every running search, doubling."""
    heaps = searches.open
    needed = int(heaps.count[searches.running].max(initial=0)) + more
    if needed > heaps.f.shape[1]:
        room = max(needed, 2 * heaps.f.shape[1])
        heaps.f, heaps.entry = (larger(array, room, heaps.count, searches.running) for array in (heaps.f, heaps.entry))


def larger(array: np.ndarray, room: int, counts: np.ndarray, running: np.ndarray) -> np.ndarray:
    """An array [B, …] with room in each row, holding what running searches have in theirs."""
    made = np.empty((len(array), room, *array.shape[2:]), dtype=array.dtype)
    for place in np.flatnonzero(running):
        made[place, : counts[place]] = array[place, : counts[place]]
    return made


def read_row(searches: Searches, search: int) -> tuple:
    """What a search that has ended found: cost, expanded, generated, lower bound, actions int8, out of memory."""
    actions, nodes = [], searches.nodes
    node = searches.goal_node[search]
    while node != NOTHING and nodes.parent[search, node] != NOTHING:
        actions.append(nodes.action[search, node])
        node = nodes.parent[search, node]
    cost = searches.cost[search]
    counts = searches.expanded[search], searches.generated[search]
    solution = np.array(actions[::-1], dtype=np.int8)
    return cost, *counts, min(searches.bound[search], cost), solution, searches.out_of_memory[search]


@njit(cache=True)
def _same(one, other):
    for cell in range(len(one)):
        if one[cell] != other[cell]:
            return False
    return True


@njit(cache=True)
def _slot(states, slots, state, hashed):
    """The slot where a state stands or would stand."""
    mask = np.uint64(len(slots) - 1)
    slot = hashed & mask
    while slots[slot] != 0 and not _same(states[slots[slot] - 1], state):
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(cache=True)
def _rehash(states, slots, hashes):
    for node in range(len(states)):
        slots[_slot(states, slots, states[node], hashes[node])] = node + 1


@njit(cache=True)
def _pop(f, entries, counts, g, cost, running, actions, batch_size, path_weight):
    most = 0
    for search in range(len(counts)):
        if running[search]:
            most += min(batch_size, counts[search])
    taken_from, taken, h = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32), np.empty(most)
    used = 0
    for search in range(len(counts)):
        if not running[search]:
            continue
        fs, heap, size, last = f[search], entries[search], counts[search], used + batch_size
        while size > 0 and used < last:
            least = fs[0]
            entry = pop_first(fs, heap, size)
            size -= 1
            path = g[search, entry // actions] + 1
            rest = np.float64(np.float32(least - path_weight[search] * path))
            if path + rest >= cost[search]:
                continue
            taken_from[used], taken[used], h[used] = search, entry, rest
            used += 1
        counts[search] = size
    return taken_from[:used], taken[:used], h[:used]


@njit(cache=True)
def _enter(states, g, parents, arrived_by, slots, counts, opened, goal_node, cost, expanded, running, out_of_memory,
           new_states, hashes, search_of, entries, goal, actions, max_expansions, max_nodes, until_proved):  # fmt: skip
    kept, nodes = np.empty(len(search_of), dtype=np.int64), np.empty(len(search_of), dtype=np.int32)
    used, row = 0, 0
    for search in range(len(running)):
        if not running[search]:
            continue
        first, stored = used, counts[search] + opened[search]
        own_states, own_slots = states[search], slots[search]
        while row < len(search_of) and search_of[row] == search:
            entry = entries[row]
            parent = entry // actions
            path = g[search, parent] + 1 if entry >= 0 else 0
            slot = _slot(own_states, own_slots, new_states[row], hashes[row])
            known = own_slots[slot] - 1
            if running[search] and (known < 0 or path < g[search, known]) and path < cost[search]:
                node = counts[search]
                counts[search] += 1
                own_slots[slot] = node + 1
                own_states[node], g[search, node] = new_states[row], path
                parents[search, node] = parent if entry >= 0 else NOTHING
                arrived_by[search, node] = entry % actions if entry >= 0 else NO_ACTION
                if _same(new_states[row], goal):
                    cost[search], goal_node[search] = path, node
                    running[search] = until_proved
                else:
                    kept[used], nodes[used] = row, node
                    used += 1
            row += 1
        taken = used - first
        if running[search]:
            out_of_memory[search] = stored > max_nodes
            exhausted = taken == 0 and opened[search] == 0
            if exhausted or expanded[search] + taken > max_expansions or stored > max_nodes:
                running[search] = False
        if running[search]:
            expanded[search] += taken
        else:
            used = first
    return kept[:used], nodes[:used]


@njit(cache=True)
def _bound(f, entries, counts, g, bound, ended, search_of, batch, batch_h, actions, path_weight):
    """The least g + h of the open entries of searches that have ended, those of the batch among them."""
    for search in np.flatnonzero(ended):
        least = np.inf
        for place in range(counts[search]):
            path = g[search, entries[search, place] // actions] + 1
            least = min(least, path + np.float64(np.float32(f[search, place] - path_weight[search] * path)))
        for row in np.flatnonzero(search_of == search):
            path = g[search, batch[row] // actions] + 1 if batch[row] >= 0 else 0
            least = min(least, path + batch_h[row])
        bound[search] = least


@njit(cache=True)
def _push(f, entries, counts, g, arrived_by, generated, search_of, nodes, values, inverse, path_weight):
    actions = values.shape[1]
    for row in range(len(nodes)):
        search, node = search_of[row], nodes[row]
        fs, heap, size, path = f[search], entries[search], counts[search], g[search, node] + 1
        back = inverse[arrived_by[search, node]] if arrived_by[search, node] != NO_ACTION else NO_ACTION
        for action in range(actions):
            if np.isinf(values[row, action]):
                continue
            generated[search] += 1
            if action != back:
                entry = np.int32(node * actions + action)
                push_entry(fs, heap, size, path_weight[search] * path + np.float64(values[row, action]), entry)
                size += 1
        counts[search] = size
