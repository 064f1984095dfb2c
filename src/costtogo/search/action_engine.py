"""BWAS over a heuristic that gives the cost-to-go of each child: batch Q* search, many searches in step.

An open entry is a child that is still to be made: its parent, the action, and what the parent's evaluation said of it
(Agostinelli et al. 2021, "A* Search Without Expansions", arXiv:2102.04518). One evaluation serves all children of a
node, and states are made, kept and compared only when they are about to be expanded. Entries that lead to one state
are found then: of a batch of N entries those are dropped whose state was reached before at no greater cost.
"""

from typing import Any, NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.engines import Engine
from costtogo.progress import Clock
from costtogo.puzzles.base import Puzzle, inverses
from costtogo.search.heap import pop as pop_first
from costtogo.search.heap import push as push_entry
from costtogo.search.pool import NOTHING, Nodes, Rules, SearchPool, hash_in, slot_of_state
from costtogo.types import NO_ACTION, ActionHeuristic, CostToGo, SearchResult, States, UserError

ENTRY_BYTES = 12
NODE_BYTES = 33  # without the state: search, parent, action, g, h, and slots of the hash table
MEMORY = 4 << 30  # bytes that the searches in step may fill together
ENTRIES = np.iinfo(np.int32).max  # an entry is a node and an action in one number


class Open(NamedTuple):
    """The binary heap of each search. An entry is parent · A + action; of equal f the lesser goes first."""

    f: np.ndarray  # float64 [B, entries]
    entry: np.ndarray  # int32 [B, entries]
    count: np.ndarray  # int64 [B]


class Batch(NamedTuple):
    """Entries taken from the open lists, those of one search after those of another, and the states they lead to."""

    search: np.ndarray  # int32 [M]
    entry: np.ndarray  # int32 [M], NOTHING at a start
    h: np.ndarray  # float32 [M]
    states: Any  # a batch of the engine; for kernels their keys


class Where(NamedTuple):
    """Where the states of entries are looked for and nodes are made: the arrays of a pool, as kernels write on them."""

    nodes: Nodes
    slots: np.ndarray  # int32, a hash table: node + 1, or 0
    numbers: np.ndarray  # uint64 [D, letters], of hashes
    searches: np.ndarray  # SEARCH [B]
    open: Open


class ActionPool(SearchPool):
    """Searches whose open entries are actions of nodes."""

    def __init__(self, puzzle: Puzzle, searches: int, engine: Engine | None = None):
        room = 256
        super().__init__(puzzle, searches, room, engine)
        heaps = np.zeros((searches, room)), np.zeros((searches, room), dtype=np.int32)
        self.open = Open(*heaps, np.zeros(searches, dtype=np.int64))
        self.inverse = inverses(puzzle).astype(np.int8)

    def pop(self, rules: Rules, path_weight: np.ndarray) -> Batch:
        """Take up to batch_size entries of least f from every running search and make the states they lead to."""
        actions = len(self.inverse)
        search, entry, h = _pop(self.open, self.nodes.g, self.searches, actions, rules.batch_size, path_weight)
        parent, action = np.divmod(entry, actions)
        return Batch(search, entry, h, self.engine.move(self.states(parent), self.engine.given(action)))

    def enter(self, batch: Batch, rules: Rules, path_weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Make nodes of the states reached first or at less cost; end searches that found the goal or their limits.

        Returns the rows of the batch that are to be expanded, int64 [K], and their nodes, int32 [K].
        """
        self.reserve(len(batch.search))
        where = Where(self.nodes, self.slots, self.numbers, self.searches, self.open)
        solved, actions = self.engine.fetched(self.engine.is_goal(batch.states)), len(self.inverse)
        seen = batch._replace(states=self.keys(batch.states))
        kept, nodes, self.count = _enter(where, self.count, seen, solved, actions, rules, path_weight)
        self.keep(nodes, batch.states[self.engine.given(kept)])
        return kept, nodes

    def push(self, search: np.ndarray, nodes: np.ndarray, values: np.ndarray, path_weight: np.ndarray) -> None:
        """Enter the children of new nodes of searches, [K], into the open lists by their values, float32 [K, A].

        The way back to the parent is left out.
        """
        self.make_room(np.bincount(search).max(initial=0) * len(self.inverse))
        _push(self.open, self.nodes, self.searches, search, nodes, values, self.inverse, path_weight)

    def make_room(self, more: int) -> None:
        """Room for more entries in every running search, doubling; what others have in theirs is dropped."""
        (f, entry, count), running = self.open, self.searches["running"]
        needed = int(count[running].max(initial=0)) + more
        if needed > f.shape[1]:
            room = max(needed, 2 * f.shape[1])
            self.open = Open(*(_larger(array, room, count, running) for array in (f, entry)), count)


def solve_by_action(
    puzzle: Puzzle, heuristic: ActionHeuristic, starts: States, path_weight: CostToGo, rules: Rules, seconds: float
) -> SearchResult:
    """bwas.solve for starts uint8 [B, D] and their λ, float64 [B]: as many in step as the memory has room for."""
    if rules.max_nodes > (largest := ENTRIES // len(puzzle.actions)):
        raise UserError(f"A search of {puzzle.name} may keep at most {largest:,} nodes, not {rules.max_nodes:,}.")
    together, clock = searches_in_step(puzzle, rules.max_nodes), Clock.of(seconds)
    rows: list[tuple] = []
    for group in np.array_split(np.arange(len(starts)), max(1, -(-len(starts) // together))):
        pool = ActionPool(puzzle, len(group), getattr(heuristic, "engine", None))
        run(pool, heuristic, starts[group], path_weight[group], rules, clock)
        rows += [pool.row(place) for place in range(len(group))]
    return SearchResult.from_rows(rows)


def searches_in_step(puzzle: Puzzle, max_nodes: int) -> int:
    """How many searches fit in MEMORY if each keeps max_nodes, one expanded for A - 2 open; at least one."""
    actions = len(puzzle.actions)
    open_nodes = max(1, actions - 2)
    bytes_of_node = (NODE_BYTES + puzzle.cells + ENTRY_BYTES * open_nodes) / (1 + open_nodes)
    return max(1, min(int(MEMORY / (max_nodes * bytes_of_node)), ENTRIES // (actions * max_nodes)))


def run(
    pool: ActionPool, heuristic: ActionHeuristic, starts: States, path_weight: np.ndarray, rules: Rules, clock: Clock
) -> None:
    """Run searches in step until all have ended; those that run when the time is up expand no more."""
    no_parent = np.full(len(starts), NOTHING, dtype=np.int32)
    no_cost = np.zeros(len(starts), dtype=np.float32)
    engine = pool.engine
    batch = Batch(np.arange(len(starts), dtype=np.int32), no_parent, no_cost, engine.given(starts))
    # The first batch has the starts. A node is expanded when it is entered: one evaluation serves all its children,
    # which are made only when their entries are popped.
    allowed = pool.in_time(rules, clock)
    while pool.searches["running"].any():
        rows, nodes = pool.enter(batch, allowed, path_weight)
        values = engine.fetched(heuristic.children(batch.states[engine.given(rows)]))
        pool.push(batch.search[rows], nodes, values, path_weight)
        allowed = pool.in_time(rules, clock)
        batch = pool.pop(allowed, path_weight)


def _larger(array: np.ndarray, room: int, counts: np.ndarray, running: np.ndarray) -> np.ndarray:
    """An array [B, …] with room in each row, holding what running searches have in theirs."""
    made = np.empty((len(array), room), dtype=array.dtype)
    for place in np.flatnonzero(running):
        made[place, : counts[place]] = array[place, : counts[place]]
    return made


@njit(cache=True, inline="always")
def _rest(f, path_weight, path):
    """The cost-to-go that an entry of this f had when it was made."""
    return np.float32(f - path_weight * path)


@njit(cache=True)
def _pop(opened, g, searches, actions, batch_size, path_weight):
    """Take entries from the running searches: whose they are, the entries, and their cost-to-go, [M] each.

    Entries that cannot lead to a cheaper goal are dropped.
    """
    counts = opened.count
    most = np.minimum(batch_size, counts[searches["running"]]).sum()
    taken_from, taken = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    h = np.empty(most, dtype=np.float32)
    used = 0
    for search in range(len(counts)):
        if not searches[search].running:
            continue
        # Take the entries of least f but those that cannot lead to a cheaper goal.
        fs, heap, size, last = opened.f[search], opened.entry[search], counts[search], used + batch_size
        while size > 0 and used < last:
            least = fs[0]
            entry = pop_first(fs, heap, size)
            size -= 1
            path = g[entry // actions] + 1
            rest = _rest(least, path_weight[search], path)
            if path + np.float64(rest) >= searches[search].cost:
                continue
            taken_from[used], taken[used], h[used] = search, entry, rest
            used += 1
        counts[search] = size
    return taken_from[:used], taken[:used], h[:used]


@njit(cache=True)
def _enter(where, count, batch, solved, actions, rules, path_weight):
    """Make nodes of the entries of a batch whose states are new in their search or reached at less cost.

    Returns the rows of the batch that are to be expanded, int64 [K], their nodes, int32 [K], and how many nodes there
    are. Keeps true: a slot names the cheapest node of its state in its search; dearer ones stay where they are, as
    parents of open entries; a search that has ended has its bound, and none of its rows are expanded.
    """
    kept, made = np.empty(len(batch.entry), dtype=np.int64), np.empty(len(batch.entry), dtype=np.int32)
    used, row = 0, 0
    for search in range(len(where.searches)):
        its = where.searches[search]
        if not its.running:
            continue
        first, first_row, kept_open = used, row, its.stored + where.open.count[search]
        while row < len(batch.entry) and batch.search[row] == search:
            path = _moves_to(where.nodes.g, batch.entry[row], actions)
            slot = _find(where, batch.states, row, search)
            known = where.slots[slot] - 1
            # Make a node of the state, unless one is as cheap, the goal is, or the search has just ended.
            if its.running and (known < 0 or path < where.nodes.g[known]) and path < its.cost:
                _make(where, batch, row, slot, count, path, actions)
                its.stored += 1
                if solved[row]:
                    its.cost, its.goal_node = path, count
                    its.running = rules.until_proved
                else:
                    kept[used], made[used] = row, count
                    used += 1
                count += 1
            row += 1
        # End the search where nothing is left or a limit is reached.
        taken = used - first
        if its.running:
            its.out_of_memory = kept_open > rules.max_nodes
            exhausted = taken == 0 and where.open.count[search] == 0
            its.running = not (exhausted or its.expanded + taken > rules.max_expansions or its.out_of_memory)
        if its.running:
            its.expanded += taken
        else:
            # None of its rows are expanded, so that they are as open as its entries.
            its.bound = _least_open(where, batch, search, first_row, row, actions, path_weight[search])
            used = first
    return kept[:used], made[:used], count


@njit(cache=True, inline="always")
def _moves_to(g, entry, actions):
    """The moves from the start to the state of an entry by its parent; 0 of a start, which has none."""
    return g[entry // actions] + 1 if entry >= 0 else 0


@njit(cache=True, inline="always")
def _find(where, states, row, search):
    """The slot of the node that the state of a row has in a search, or the slot where it would go."""
    hashed = hash_in(states, row, search, where.numbers)
    return slot_of_state(where.nodes.state, where.nodes.search, where.slots, hashed, states, row, search)


@njit(cache=True, inline="always")
def _make(where, batch, row, slot, node, path, actions):
    """Make a node of a row, which takes the slot of its state; the dearer node that had it is found no more."""
    nodes, entry = where.nodes, batch.entry[row]
    known = where.slots[slot] - 1
    if known >= 0:
        nodes.search[known] = NOTHING
    where.slots[slot] = node + 1
    for cell in range(nodes.state.shape[1]):
        nodes.state[node, cell] = batch.states[row, cell]
    nodes.search[node], nodes.g[node], nodes.h[node] = batch.search[row], path, batch.h[row]
    nodes.parent[node] = entry // actions if entry >= 0 else NOTHING
    nodes.action[node] = entry % actions if entry >= 0 else NO_ACTION


@njit(cache=True)
def _least_open(where, batch, search, first, last, actions, path_weight):
    """The least g + h of what a search has open: its entries, and its rows of the batch from first to last."""
    least, g = np.inf, where.nodes.g
    fs, entries = where.open.f[search], where.open.entry[search]
    for place in range(where.open.count[search]):
        path = g[entries[place] // actions] + 1
        least = min(least, path + np.float64(_rest(fs[place], path_weight, path)))
    for row in range(first, last):
        least = min(least, _moves_to(g, batch.entry[row], actions) + np.float64(batch.h[row]))
    return least


@njit(cache=True)
def _push(opened, nodes, searches, search_of, new, values, inverse, path_weight):
    """Enter the children of new nodes, int32 [K], that are legal and don't lead back, by their values [K, A]."""
    g, action_of, counts = nodes.g, nodes.action, opened.count
    actions = values.shape[1]
    for row in range(len(new)):
        node, search = new[row], search_of[row]
        fs, heap, size, path = opened.f[search], opened.entry[search], counts[search], g[node] + 1
        back = inverse[action_of[node]] if action_of[node] != NO_ACTION else NO_ACTION
        for action in range(actions):
            # An action that is not legal, or from which no goal can be reached, has no entry.
            if np.isinf(values[row, action]):
                continue
            searches[search].generated += 1
            if action != back:
                entry = np.int32(node * actions + action)
                push_entry(fs, heap, size, path_weight[search] * path + np.float64(values[row, action]), entry)
                size += 1
        counts[search] = size
