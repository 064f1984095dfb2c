"""BWAS over any heuristic: many searches in step, one heuristic call for the new children of all of them.

States are kept in one pool of nodes found through a hash table, each search's open list as a skew heap
in one pool of entries, so that memory is shared and bounded. Searches do not see each other's nodes.
"""

import time
from collections import deque
from dataclasses import dataclass, fields, replace

import numpy as np
from numba import njit

from costtogo.exact.nearby import hash_numbers
from costtogo.puzzles.base import Puzzle
from costtogo.search.heap import before
from costtogo.types import NO_ACTION, Heuristic, SearchResult, States

NOTHING = -1  # no node, no entry, a free slot
SEARCHES_IN_STEP = 1024
NODES_IN_STEP = 20_000_000  # of a group of searches; each has at most about 140 bytes


@dataclass
class Nodes:
    """Every state that a search has reached."""

    state: np.ndarray  # uint8 [capacity, D]
    search: np.ndarray  # int32
    g: np.ndarray  # int32, moves from the start by the cheapest path known
    h: np.ndarray  # float64
    parent: np.ndarray  # int32
    action: np.ndarray  # int8


@dataclass
class Entries:
    """Nodes as they stand in open lists; left and right make the skew heaps."""

    f: np.ndarray  # float64
    node: np.ndarray  # int32
    g: np.ndarray  # int32, as it was when the entry was made: a cheaper path makes the entry stale
    left: np.ndarray  # int32
    right: np.ndarray  # int32


@dataclass
class Forest:
    """All searches of a group. cost stays inf and running true until a search ends."""

    puzzle: Puzzle
    nodes: Nodes
    entries: Entries
    numbers: np.ndarray  # uint64 [D], odd: the hash of a state is a sum of so many times its cells
    slots: np.ndarray  # int32, hash table over nodes
    roots: np.ndarray  # int32 [B], the top entry of each open list
    goal_node: np.ndarray  # int32 [B]
    cost: np.ndarray  # float64 [B]
    bound: np.ndarray  # float64 [B]
    expanded: np.ndarray  # int64 [B]
    generated: np.ndarray  # int64 [B]
    stored: np.ndarray  # int64 [B], nodes
    running: np.ndarray  # bool [B]
    node_count: int = 0
    entry_count: int = 0


def solve_in_step(
    puzzle: Puzzle, heuristic: Heuristic, starts: States, path_weight, batch_size, limits, until_proved
) -> SearchResult:
    """bwas.solve for starts uint8 [B, D] and their λ, float64 [B].

    A group that outgrows the memory is begun again in smaller groups.
    """
    rows: list[tuple | None] = [None] * len(starts)
    deadline = time.monotonic() + limits.seconds
    groups = deque(np.array_split(np.arange(len(starts)), -(-len(starts) // SEARCHES_IN_STEP) or 1))
    while groups:
        group = groups.popleft()
        forest = plant(puzzle, heuristic, starts[group])
        late = grow(forest, heuristic, path_weight[group], batch_size, limits, until_proved, deadline)
        for place, index in enumerate(group):
            if not forest.running[place]:
                rows[index] = (*read_row(forest, place), forest.stored[place] > limits.max_nodes, late[place])
        left = group[forest.running]
        if len(left):
            groups.extend(np.array_split(left, min(len(left), 4)))
    columns = list(zip(*rows, strict=True)) or [()] * 7
    kinds = (np.float64, np.int64, np.int64, np.float64)
    arrays = [np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=False)]
    return SearchResult(*arrays, list(columns[4]), *(np.array(column, dtype=bool) for column in columns[5:]))


def plant(puzzle: Puzzle, heuristic: Heuristic, starts: States) -> Forest:
    """A forest of searches, each with its start as the only open node; f of a start is its h."""
    count = len(starts)
    capacity = max(1024, 4 * count)
    nodes = Nodes(
        np.zeros((capacity, puzzle.cells), dtype=np.uint8),
        np.zeros(capacity, dtype=np.int32),
        np.zeros(capacity, dtype=np.int32),
        np.zeros(capacity),
        np.zeros(capacity, dtype=np.int32),
        np.zeros(capacity, dtype=np.int8),
    )
    entries = Entries(np.zeros(capacity), *(np.zeros(capacity, dtype=np.int32) for _ in range(4)))
    whole = [np.zeros(count, dtype=np.int64) for _ in range(2)]
    forest = Forest(
        puzzle, nodes, entries, hash_numbers(puzzle.cells, 1)[:, 0] | np.uint64(1), _empty_slots(capacity),
        np.full(count, NOTHING, dtype=np.int32), np.full(count, NOTHING, dtype=np.int32),
        np.full(count, np.inf), np.full(count, np.inf), *whole, np.ones(count, dtype=np.int64),
        np.ones(count, dtype=bool),
    )  # fmt: skip
    for index, start in enumerate(starts):
        nodes.state[index], nodes.search[index] = start, index
        nodes.parent[index], nodes.action[index] = NOTHING, NO_ACTION
    forest.node_count = count
    _rehash(nodes.state, nodes.search, count, forest.numbers, forest.slots)
    nodes.h[:count] = heuristic(starts)
    push(forest, np.arange(count), nodes.g[:count], nodes.h[:count].copy())
    return forest


def grow(forest: Forest, heuristic: Heuristic, path_weight, batch_size, limits, until_proved, deadline: float):
    """Run the searches in step until all have ended or their nodes together outgrow the memory allowed.

    deadline: of time.monotonic; the searches that run then expand no more.  Returns which these are, bool [B].
    """
    alone, late = len(forest.running) == 1, np.zeros(len(forest.running), dtype=bool)
    room = max(limits.max_nodes, NODES_IN_STEP)
    while forest.running.any() and (alone or forest.node_count <= room):
        if not late.any() and time.monotonic() >= deadline:
            late, limits = forest.running.copy(), replace(limits, max_expansions=0)
        parents = pop(forest, batch_size, limits, until_proved)
        if not len(parents):
            continue
        children, legal = forest.puzzle.expand(forest.nodes.state[parents])
        first = forest.node_count
        reached, path = insert(forest, parents, children, legal)
        forest.nodes.h[first : forest.node_count] = heuristic(forest.nodes.state[first : forest.node_count])
        push(forest, reached, path, path_weight[forest.nodes.search[reached]] * path + forest.nodes.h[reached])
    return late


def pop(forest: Forest, batch_size, limits, until_proved) -> np.ndarray:
    """Take up to batch_size live nodes from every running search; a search that pops its goal ends. int32 [M]."""
    n, e, f = forest.nodes, forest.entries, forest
    goals = forest.puzzle.goal[None]
    return _pop(
        n.state, n.g, n.h, e.f, e.node, e.g, e.left, e.right, f.roots, f.goal_node, f.cost, f.bound, f.expanded,
        f.stored, f.running, goals, batch_size, limits.max_expansions, limits.max_nodes, until_proved,
    )  # fmt: skip


def insert(forest: Forest, parents, children, legal) -> tuple[np.ndarray, np.ndarray]:
    """Enter the children: the nodes reached first or by a cheaper path, in order, and g at that moment."""
    reserve(forest, int(legal.sum()))
    n, f = forest.nodes, forest
    reached, path, forest.node_count = _insert(
        n.state, n.search, n.g, n.parent, n.action, f.numbers, f.slots, f.node_count, f.generated, f.stored,
        parents, children.reshape(-1, children.shape[-1]), legal,
    )  # fmt: skip
    return reached, path


def push(forest: Forest, nodes, path, f) -> None:
    """Put nodes into the open lists of their searches, in the order given."""
    e = forest.entries
    forest.entry_count = _push(
        e.f, e.node, e.g, e.left, e.right, forest.roots, forest.nodes.search, forest.entry_count,
        np.asarray(nodes, dtype=np.int32), np.asarray(path, dtype=np.int32), f,
    )  # fmt: skip


def reserve(forest: Forest, more: int) -> None:
    """Make room for more nodes and as many entries, doubling."""
    for pool, needed in (
        (forest.nodes, forest.node_count + more),
        (forest.entries, forest.entry_count + more),
    ):
        for part in fields(pool):
            array = getattr(pool, part.name)
            if len(array) < needed:
                larger = np.zeros((max(needed, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
                larger[: len(array)] = array
                setattr(pool, part.name, larger)
    if len(forest.slots) < 2 * (forest.node_count + more):
        forest.slots = _empty_slots(forest.node_count + more)
        _rehash(forest.nodes.state, forest.nodes.search, forest.node_count, forest.numbers, forest.slots)


def _empty_slots(nodes: int) -> np.ndarray:
    """A hash table with room for so many nodes: at least four slots a node, a power of two, as the mask needs."""
    return np.full(1 << (4 * nodes - 1).bit_length(), NOTHING, dtype=np.int32)


def read_row(forest: Forest, search: int) -> tuple:
    """What a search that has ended found: cost, expanded, generated, lower bound, actions int8.

    The path may be shorter than the goal's g where a node on it was reached cheaper since.
    """
    actions = []
    node = forest.goal_node[search]
    while node != NOTHING and forest.nodes.parent[node] != NOTHING:
        actions.append(forest.nodes.action[node])
        node = forest.nodes.parent[node]
    cost = len(actions) if forest.goal_node[search] != NOTHING else np.inf
    counts = forest.expanded[search], forest.generated[search]
    return cost, *counts, min(forest.bound[search], cost), np.array(actions[::-1], dtype=np.int8)


@njit(cache=True, inline="always")
def _same(states, row, others, other):
    different = np.uint8(0)
    for cell in range(states.shape[1]):  # all cells, so that many are compared at a time
        different |= states[row, cell] ^ others[other, cell]
    return different == 0


@njit(cache=True, inline="always")
def _hash(states, row, search, numbers):
    mixed = np.uint64(search) * np.uint64(0x9E3779B97F4A7C15)
    for cell in range(states.shape[1]):
        mixed += np.uint64(states[row, cell]) * numbers[cell]
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ mixed >> np.uint64(32)


@njit(cache=True, inline="always")
def _slot(states, searches, slots, hashed, others, row, search):
    """The slot where a row of others, as a state of a search, stands or would stand."""
    mask = np.uint64(len(slots) - 1)
    slot = hashed & mask
    while slots[slot] != NOTHING:
        node = slots[slot]
        if searches[node] == search and _same(states, node, others, row):
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(cache=True)
def _rehash(states, searches, count, numbers, slots):
    """Enter nodes, each different from the others, in empty slots."""
    mask = np.uint64(len(slots) - 1)
    for node in range(count):
        slot = _hash(states, node, searches[node], numbers) & mask
        while slots[slot] != NOTHING:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = node


@njit(cache=True)
def _merge(f, left, right, one, other):
    """Merge two skew heaps; entries are numbered in the order they were pushed, which breaks ties."""
    top, last = NOTHING, NOTHING
    while one != NOTHING and other != NOTHING:
        if before(f[other], other, f[one], one):
            one, other = other, one
        following = right[one]
        right[one] = left[one]
        if last == NOTHING:
            top = one
        else:
            left[last] = one
        last = one
        one = following
    rest = one if one != NOTHING else other
    if last == NOTHING:
        return rest
    left[last] = rest
    return top


@njit(cache=True)
def _push(f, entry_node, entry_g, left, right, roots, searches, count, nodes, path, new_f):
    for row in range(len(nodes)):
        f[count], entry_node[count], entry_g[count] = new_f[row], nodes[row], path[row]
        left[count], right[count] = NOTHING, NOTHING
        search = searches[nodes[row]]
        roots[search] = _merge(f, left, right, roots[search], np.int32(count))
        count += 1
    return count


@njit(cache=True)
def _pop(states, g, h, f, entry_node, entry_g, left, right, roots, goal_node, cost, bound, expanded, stored, running,
         goals, batch_size, max_expansions, max_nodes, until_proved):  # fmt: skip
    batch = np.empty(batch_size * running.sum(), dtype=np.int32)
    used = 0
    for search in range(len(roots)):
        if not running[search]:
            continue
        first = used
        while used - first < batch_size and roots[search] != NOTHING:
            entry = roots[search]
            roots[search] = _merge(f, left, right, left[entry], right[entry])
            node = entry_node[entry]
            if entry_g[entry] > g[node] or entry_g[entry] + h[node] >= cost[search]:
                continue
            if _same(states, node, goals, 0):
                cost[search], goal_node[search] = g[node], node
                if not until_proved:
                    running[search] = False
                    break
                continue
            batch[used] = node
            used += 1
        taken = used - first
        if taken == 0 or expanded[search] + taken > max_expansions or stored[search] > max_nodes:
            running[search] = False
        if running[search]:
            expanded[search] += taken
        else:
            bound[search] = _least_open(g, h, entry_node, entry_g, left, right, roots[search])
            for row in range(first, used):
                bound[search] = min(bound[search], g[batch[row]] + h[batch[row]])
            used = first
    return batch[:used]


@njit(cache=True)
def _least_open(g, h, entry_node, entry_g, left, right, root):
    """The least g + h of the live entries of an open list."""
    least = np.inf
    stack = [root]
    while len(stack) > 0:
        entry = stack.pop()
        if entry == NOTHING:
            continue
        node = entry_node[entry]
        if entry_g[entry] <= g[node]:
            least = min(least, g[node] + h[node])
        stack.append(left[entry])
        stack.append(right[entry])
    return least


@njit(cache=True)
def _insert(states, searches, g, parents_of, actions_of, numbers, slots, count, generated, stored, parents, children,
            legal):  # fmt: skip
    """children: uint8 [M · A, D].  Their hashes are told first, then what stands where each would, so that many
    accesses to far memory go on at a time.
    """
    actions, mask = legal.shape[1], np.uint64(len(slots) - 1)
    hashes, known = np.empty(legal.size, dtype=np.uint64), np.full(legal.size, NOTHING, dtype=np.int32)
    for child in range(legal.size):
        row, action = divmod(child, actions)
        if legal[row, action]:
            hashes[child] = _hash(children, child, searches[parents[row]], numbers)
            known[child] = slots[hashes[child] & mask]
    for child in range(legal.size):
        node = known[child]
        if node != NOTHING and (
            searches[node] != searches[parents[child // actions]] or not _same(states, node, children, child)
        ):
            known[child] = NOTHING
    reached = np.empty(legal.size, dtype=np.int32)
    path = np.empty(legal.size, dtype=np.int32)
    used = 0
    for row in range(len(parents)):
        parent = parents[row]
        search = searches[parent]
        for action in range(actions):
            if not legal[row, action]:
                continue
            generated[search] += 1
            child = row * actions + action
            node = known[child]
            if node == NOTHING:
                slot = _slot(states, searches, slots, hashes[child], children, child, search)
                node = slots[slot]
            if node == NOTHING:
                node = count
                slots[slot] = node
                for cell in range(states.shape[1]):
                    states[node, cell] = children[child, cell]
                searches[node] = search
                stored[search] += 1
                count += 1
            elif g[node] <= g[parent] + 1:
                continue
            g[node] = g[parent] + 1
            parents_of[node], actions_of[node] = parent, action
            reached[used], path[used] = node, g[node]
            used += 1
    return reached[:used], path[:used], count
