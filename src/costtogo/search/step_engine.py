"""BWAS over any heuristic: many searches in step, one heuristic call for the new children of all of them.

The nodes are those of a pool (search.pool); the open list of each search is a skew heap in one pool of entries.
"""

from collections import deque
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.engines import Batch, Engine
from costtogo.exact.hashing import first_slot
from costtogo.progress import Clock
from costtogo.puzzles.base import Puzzle
from costtogo.search.heap import NOTHING, merged
from costtogo.search.pool import Rules, SearchPool, hash_in, same, slot_of_state
from costtogo.types import NO_ACTION, CostToGo, Heuristic, SearchResult, States

SEARCHES_IN_STEP = 1024
NODES_IN_STEP = 20_000_000  # of a group of searches; each has at most about 140 bytes


class Entries(NamedTuple):
    """Entries of the open lists."""

    f: np.ndarray  # float64
    node: np.ndarray  # int32
    g: np.ndarray  # int32, as it was when the entry was made: a cheaper path makes the entry stale
    left: np.ndarray  # int32, the entries below it in its heap
    right: np.ndarray  # int32


class StepPool(SearchPool):
    """Searches, each with its start as the only open node; f of a start is its h.

    entries: the first `entry_count` rows.  roots: int32 [B], the top entry of each open list.
    """

    def __init__(self, puzzle: Puzzle, heuristic: Heuristic, starts: States, engine: Engine | None = None):
        count, capacity = len(starts), max(1024, 4 * len(starts))
        super().__init__(puzzle, count, capacity, engine)
        self.entries = Entries(np.zeros(capacity), *(np.zeros(capacity, dtype=np.int32) for _ in range(4)))
        self.entry_count = 0
        self.roots = np.full(count, NOTHING, dtype=np.int32)
        nodes, rows = self.nodes, np.arange(count, dtype=np.int32)
        given = self.engine.given(starts)
        nodes.state[:count], nodes.search[:count] = self.keys(given), rows
        self.keep(rows, given)
        self.evaluate(slice(count), given, heuristic)
        nodes.parent[:count], nodes.action[:count] = NOTHING, NO_ACTION
        self.searches["stored"], self.count = 1, count
        self.rehash()
        self.push(rows, nodes.g[:count], nodes.h[:count].astype(np.float64))

    def reserve(self, more: int) -> None:
        """Make room for more nodes and as many entries, doubling; slots last, for they are the largest."""
        if len(self.entries.f) < self.entry_count + more:
            self.widen("entries", self.entry_count + more)
        super().reserve(more)

    def pop(self, rules: Rules) -> np.ndarray:
        """Take up to batch_size live nodes from every running search; a search that pops its goal ends. int32 [M]."""
        return _pop(self.nodes, self.searches, self.entries, self.roots, rules)

    def insert(self, parents: np.ndarray, heuristic: Heuristic) -> tuple[np.ndarray, np.ndarray]:
        """Enter the children of nodes: those reached first or by a cheaper path, in order, and g at that moment."""
        children, legal = self.engine.expand(self.states(parents))
        children, legal = children.reshape(-1, self.puzzle.cells), self.engine.fetched(legal)
        self.reserve(int(legal.sum()))
        first, keys = self.count, self.keys(children)
        *reached, self.count = _insert(
            self.nodes, self.slots, self.numbers, self.searches, self.count, parents, keys, legal
        )
        made = slice(first, self.count)
        if self.store is None:
            new = self.nodes.state[made]
        else:  # their rows among the children, by parent and action
            row_of = np.empty(first, dtype=np.int64)
            row_of[parents] = np.arange(len(parents))
            rows = row_of[self.nodes.parent[made]] * legal.shape[1] + self.nodes.action[made]
            new = children[self.engine.given(rows)]
            self.keep(np.arange(first, self.count), new)
        self.evaluate(made, new, heuristic)
        return tuple(reached)

    def evaluate(self, made: slice, states: Batch, heuristic: Heuristic) -> None:
        """Enter the cost-to-go of new nodes, and which are goals."""
        fetched = self.engine.fetched
        self.nodes.h[made], self.nodes.solved[made] = fetched(heuristic(states)), fetched(self.engine.is_goal(states))

    def push(self, nodes: np.ndarray, path: np.ndarray, f: np.ndarray) -> None:
        """Put nodes, int32 [M], into the open lists of their searches, in the order given."""
        self.entry_count = _push(self.entries, self.roots, self.nodes.search, self.entry_count, nodes, path, f)


def solve_in_step(
    puzzle: Puzzle, heuristic: Heuristic, starts: States, path_weight: CostToGo, rules: Rules, seconds: float
) -> SearchResult:
    """bwas.solve for starts uint8 [B, D] and their λ, float64 [B].

    A group that outgrows the memory is begun again in smaller groups.
    """
    rows: list[tuple] = [()] * len(starts)
    clock = Clock.of(seconds)
    groups = deque(np.array_split(np.arange(len(starts)), -(-len(starts) // SEARCHES_IN_STEP) or 1))
    while groups:
        group = groups.popleft()
        pool = StepPool(puzzle, heuristic, starts[group], getattr(heuristic, "engine", None))
        run(pool, heuristic, path_weight[group], rules, clock)
        # Searches that still run have outgrown the memory together: they begin again with fewer others.
        running = pool.searches["running"]
        for place in np.flatnonzero(~running):
            rows[group[place]] = pool.row(place)
        if running.any():
            left = group[running]
            groups.extend(np.array_split(left, min(len(left), 4)))
    return SearchResult.from_rows(rows)


def run(pool: StepPool, heuristic: Heuristic, path_weight: np.ndarray, rules: Rules, clock: Clock) -> None:
    """Run the searches in step until all have ended or their nodes together outgrow the memory allowed.

    Those that run when the time is up expand no more.
    """
    running, room = pool.searches["running"], max(rules.max_nodes, NODES_IN_STEP)
    while running.any() and (len(running) == 1 or pool.count <= room):
        # Pop a batch from each search, evaluate all new children in one call, and push what was reached.
        parents = pool.pop(pool.in_time(rules, clock))
        if len(parents):
            reached, path = pool.insert(parents, heuristic)
            pool.push(reached, path, path_weight[pool.nodes.search[reached]] * path + pool.nodes.h[reached])
    _close(pool.nodes, pool.searches, pool.entries, pool.entry_count)


@njit(cache=True)
def _push(entries, roots, searches, count, nodes, path, new_f):
    """Enter nodes into the heaps of their searches, but those of infinite f; how many entries there are now.

    Keeps true: each root leads to all entries of its search, and no entry leaves its heap before the one above it.
    """
    f, node, g, left, right = entries
    for row in range(len(nodes)):
        if new_f[row] == np.inf:
            continue  # no goal can be reached from there
        f[count], node[count], g[count] = new_f[row], nodes[row], path[row]
        left[count], right[count] = NOTHING, NOTHING
        search = searches[nodes[row]]
        roots[search] = merged(f, left, right, roots[search], np.int32(count))
        count += 1
    return count


@njit(cache=True)
def _pop(nodes, searches, entries, roots, rules):
    """Take nodes from the running searches, those of one after those of another, int32 [M], and end searches.

    Keeps true: none of the nodes of a search that has ended are taken; its bound has what it gave back, _close adds the
    rest.
    """
    g, h, solved = nodes.g, nodes.h, nodes.solved
    f, node_of, entry_g, left, right = entries
    batch = np.empty(rules.batch_size * searches["running"].sum(), dtype=np.int32)
    used = 0
    for search in range(len(searches)):
        its = searches[search]
        if not its.running:
            continue
        # Take the entries of least f but those that are stale or cannot lead to a cheaper goal.
        first = used
        while used - first < rules.batch_size and roots[search] != NOTHING:
            entry = roots[search]
            roots[search] = merged(f, left, right, left[entry], right[entry])
            node, path = node_of[entry], entry_g[entry]
            node_of[entry] = NOTHING
            if path > g[node] or path + np.float64(h[node]) >= its.cost:
                continue
            if solved[node]:
                its.cost, its.goal_node = g[node], node
                if not rules.until_proved:
                    its.running = False
                    break
                continue
            batch[used] = node
            used += 1
        # End the search where nothing is left or a limit is reached.
        taken = used - first
        its.out_of_memory = its.stored > rules.max_nodes
        if taken == 0 or its.expanded + taken > rules.max_expansions or its.out_of_memory:
            its.running = False
        if its.running:
            its.expanded += taken
            continue
        # Give back what was taken: it is as open as what is still in the heap.
        for row in range(first, used):
            its.bound = min(its.bound, g[batch[row]] + np.float64(h[batch[row]]))
        used = first
    return batch[:used]


@njit(cache=True)
def _close(nodes, searches, entries, count):
    """Take the live entries that are still in an open list into the bounds of their searches."""
    g, h, search_of = nodes.g, nodes.h, nodes.search
    for entry in range(count):
        node = entries.node[entry]
        if node != NOTHING and entries.g[entry] <= g[node]:
            its = searches[search_of[node]]
            its.bound = min(its.bound, g[node] + np.float64(h[node]))


@njit(cache=True)
def _insert(nodes, slots, numbers, searches, count, parents, children, legal):
    """Enter the legal children, uint8 [M · A, D], of parents, int32 [M].

    Returns the nodes reached first or by a cheaper path, int32 [K], their g, int32 [K], and how many nodes there are.
    Keeps true: a state has one node in each search, which its slot names. Children are hashed first, and their slots
    are read, so that many accesses to far memory go on at a time.
    """
    state, search_of, g, parent_of, action_of = nodes.state, nodes.search, nodes.g, nodes.parent, nodes.action
    actions = legal.shape[1]
    hashes, known = np.empty(legal.size, dtype=np.uint64), np.full(legal.size, NOTHING, dtype=np.int32)
    searched_by = np.repeat(search_of[parents], actions)  # of each child
    # Hash the children.
    for child in range(legal.size):
        hashes[child] = hash_in(children, child, searched_by[child], numbers)
    # Read their first slots.
    for row in range(len(parents)):
        for action in range(actions):
            if legal[row, action]:
                child = row * actions + action
                known[child] = slots[first_slot(hashes[child], slots)] - 1
    # Keep the nodes found there that are the children.
    for child in range(legal.size):
        node = known[child]
        if node != NOTHING and (search_of[node] != searched_by[child] or not same(state, node, children, child)):
            known[child] = NOTHING
    reached, path = np.empty(legal.size, dtype=np.int32), np.empty(legal.size, dtype=np.int32)
    used = 0
    for row in range(len(parents)):
        parent = parents[row]
        search = search_of[parent]
        for action in range(actions):
            if not legal[row, action]:
                continue
            searches[search].generated += 1
            child = row * actions + action
            node = known[child]
            # Look for the others in the slots that follow; one may have come in since.
            if node == NOTHING:
                slot = slot_of_state(state, search_of, slots, hashes[child], children, child, search)
                node = slots[slot] - 1
            # Make a node of a new state, or go on where the known path is as cheap.
            if node == NOTHING:
                node = count
                slots[slot] = node + 1
                for cell in range(state.shape[1]):
                    state[node, cell] = children[child, cell]
                search_of[node] = search
                searches[search].stored += 1
                count += 1
            elif g[node] <= g[parent] + 1:
                continue
            g[node] = g[parent] + 1
            parent_of[node], action_of[node] = parent, action
            reached[used], path[used] = node, g[node]
            used += 1
    return reached[:used], path[:used], count
