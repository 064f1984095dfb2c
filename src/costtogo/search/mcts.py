"""Monte Carlo tree search guided by a policy: the solver of DeepCube (McAleer et al. 2018, arXiv:1805.07470).

A simulation goes down from the start by the action of greatest U + Q to a leaf, evaluates it, adds its children to the
tree, and takes its value back up. Many trees are searched in step: the leaves of all are evaluated in one call.

Values are those of DeepCube's rewards: 2 - cost-to-go (heuristics.rewards). What a tree remembers of
each action of a state that it has expanded:

P  the prior probability of the action, by the policy; equal for all where the heuristic has none.
W  the greatest value found below it. Before it is tried it is the value of the state itself, or 0 (from_zero).
N  how often it was taken.
L  the virtual loss: what a leaf that is not evaluated yet takes off each action that leads to it.

U = c P √ΣN / (1 + N) and Q = W - L. At a state left for the first time U is 0 everywhere, and of equal actions the one
of greatest prior is taken.

Where this differs from the slides: a search ends when the goal is among the children of a leaf, which the slides would
select and only then recognise, so that the last evaluations are saved. A state belongs to the first parent that reached
it, so that there are no cycles; an action that leads to another's child, or below which nothing is left to expand, is
closed. And the breadth-first search for the shortest path, after a solution has been found, goes through states that
the tree holds already; shortcuts join those that one move connects though the search did not make it, so that states up
to three moves apart are joined through leaves, but no further states are added.
"""

from typing import Literal, NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.heuristics.rewards import value_of
from costtogo.progress import Clock, report
from costtogo.puzzles.base import Puzzle
from costtogo.search.bwas import Limits
from costtogo.search.pool import NOTHING, Nodes, SearchPool, hash_in, slot_of_state
from costtogo.types import NO_ACTION, CostToGo, Heuristic, PolicyHeuristic, SearchResult, States, UserError

WAITING = -1  # the place of a leaf that is being evaluated
UNEXPANDED = 0  # the place of a node whose children are not in the tree
ACTION_BYTES = 20  # of a row of Memory
NODE_BYTES = 48  # without the state: search, parent, action, g, h, place, and slots of the hash table
MEMORY = 4 << 30  # bytes that the trees in step may fill together
TREES = 1024  # in step at most
EXPANDED_AT_ONCE = 1 << 14  # states whose children are looked for in a tree


class Memory(NamedTuple):
    """What trees remember of each action of the states they have expanded, a row a state."""

    child: np.ndarray  # int32 [E, A], the node it leads to; NOTHING where it is not legal or closed
    prior: np.ndarray  # float32 [E, A], P
    worth: np.ndarray  # float32 [E, A], W
    visits: np.ndarray  # int32 [E, A], N
    flights: np.ndarray  # int32 [E, A], leaves below it that are not evaluated yet


class Places(NamedTuple):
    """Where a node has its row of Memory."""

    place: np.ndarray  # int32 [capacity], row + 1, UNEXPANDED or WAITING


class Forest(NamedTuple):
    """The arrays of all trees, as kernels write on them."""

    nodes: Nodes
    slots: np.ndarray  # int32, a hash table: node + 1, or 0
    numbers: np.ndarray  # uint64 [D, letters], of hashes
    searches: np.ndarray  # SEARCH [B]
    place: np.ndarray  # int32 [capacity], where a node has its row of memory: see Places
    memory: Memory


class TreeRules(NamedTuple):
    """How trees grow and where they end.

    exploration: c.  virtual_loss: ν, in moves.  leaves: of a tree, evaluated at a time, as DeepCube's parallel workers
    do.  from_zero: True if the value of an untried action is 0.  max_expansions, max_nodes: see Limits.
    """

    exploration: float = 1.0
    virtual_loss: float = 1.0
    leaves: int = 1
    from_zero: bool = False
    max_expansions: int = 0
    max_nodes: int = 0


class TreePool(SearchPool):
    """Trees that hold their starts alone. places: a row a node.  memory: a row an expanded node, `expanded` in all."""

    def __init__(self, puzzle: Puzzle, starts: States):
        super().__init__(puzzle, len(starts), 16 * len(starts))
        room, actions = 4 * len(starts), len(puzzle.actions)
        self.places, self.expanded = Places(np.zeros(len(self.nodes.g), dtype=np.int32)), 0
        kinds = (np.int32, np.float32, np.float32, np.int32, np.int32)
        self.memory = Memory(*(np.zeros((room, actions), dtype=kind) for kind in kinds))
        self.count = len(starts)
        self.nodes.state[: self.count], self.nodes.search[: self.count] = starts, np.arange(self.count)
        self.nodes.parent[: self.count], self.nodes.action[: self.count] = NOTHING, NO_ACTION
        self.searches["stored"], self.searches["bound"] = 1, 1
        self.rehash()
        solved = puzzle.is_goal(starts)
        self.searches["cost"][solved], self.searches["goal_node"][solved] = 0, np.flatnonzero(solved)
        self.searches["running"], self.searches["bound"][solved] = ~solved, 0

    @property
    def forest(self) -> Forest:
        """The arrays as they are now: those that grow are made anew."""
        return Forest(self.nodes, self.slots, self.numbers, self.searches, self.places.place, self.memory)

    def descend(self, rules: TreeRules) -> np.ndarray:
        """The next leaves of all running trees, int32 [K]: up to rules.leaves of each, tree by tree."""
        return _descend(self.forest, rules)

    def grow(self, leaves: np.ndarray, prior: np.ndarray, value: np.ndarray, rules: TreeRules) -> None:
        """Add the children of leaves, int32 [K], to their trees and take the leaves' values up to the starts.

        prior: float32 [K, A].  value: float32 [K]. A tree ends where the goal is among the children.
        """
        children, legal = self.puzzle.expand(self.nodes.state[leaves])
        self.reserve(children.shape[0] * children.shape[1])
        if len(self.places.place) < len(self.nodes.g):
            self.widen("places", len(self.nodes.g))
        if len(self.memory.child) < self.expanded + len(leaves):
            self.widen("memory", self.expanded + len(leaves))
        goal = self.puzzle.is_goal(children.reshape(-1, self.puzzle.cells)).reshape(legal.shape)
        evaluated = Evaluated(leaves, children, legal, goal, prior.astype(np.float32), value.astype(np.float32))
        self.count = _grow(self.forest, self.count, self.expanded, evaluated, rules)
        self.expanded += len(leaves)

    def nodes_of(self) -> list[np.ndarray]:
        """The nodes of each tree, ascending: int64."""
        search = self.nodes.search[: self.count]
        order = np.argsort(search, kind="stable")
        return np.split(order, np.searchsorted(search[order], np.arange(1, len(self.searches))))

    def shorten(self, search: int, mine: np.ndarray, shortcuts: bool) -> list[int]:
        """The shortest path from the start to the goal through the nodes, mine, of a tree that has found it: actions.

        Along the moves of the states that are expanded; with shortcuts along those of all.
        """
        left = mine if shortcuts else mine[self.places.place[mine] > UNEXPANDED]
        leads = np.full((len(mine), len(self.puzzle.actions)), NOTHING, dtype=np.int32)
        for first in range(0, len(left), EXPANDED_AT_ONCE):
            part = left[first : first + EXPANDED_AT_ONCE]
            children, legal = self.puzzle.expand(self.nodes.state[part])
            found = _look_up(self.forest, children, legal, search)
            leads[np.searchsorted(mine, part)] = np.where(found == NOTHING, NOTHING, np.searchsorted(mine, found))
        goal = np.searchsorted(mine, self.searches["goal_node"][search])
        return _breadth_first(leads, goal).tolist()


class Evaluated(NamedTuple):
    """Leaves, their children, and what the heuristic says of them."""

    leaf: np.ndarray  # int32 [K]
    children: np.ndarray  # uint8 [K, A, D]
    legal: np.ndarray  # bool [K, A]
    goal: np.ndarray  # bool [K, A]
    prior: np.ndarray  # float32 [K, A]
    value: np.ndarray  # float32 [K]


def solve(
    puzzle: Puzzle,
    heuristic: Heuristic | PolicyHeuristic,
    starts: States,
    *,
    rules: TreeRules = TreeRules(),
    shortening: Literal["shortcuts", "tree", "none"] = "shortcuts",
    limits: Limits = Limits(),
) -> SearchResult:
    """Grow a tree from each start until the goal is among the children of a leaf.

    starts: uint8 [B, D].  heuristic: uint8 [N, D] -> float32 [N], in moves; of one whose has_policy is true,
    with_policy(states) gives that and the probabilities of the actions, float32 [N, A].
    rules: how trees grow; their limits are those of `limits`.  shortening: how a path is made shorter after the search:
    in the tree, with shortcuts through leaves, or not at all.
    limits: nodes_expanded are evaluated states, max_nodes states of a tree.
    lower_bound is a fact: 1, or 0 at the goal.
    Raises UserError unless exploration and virtual_loss >= 0, finite, and leaves >= 1.
    """
    c, loss, leaves, from_zero = rules[:4]
    if not (0 <= c < np.inf and 0 <= loss < np.inf):
        raise UserError(f"c and ν must be finite and 0 or more, not exploration {c}, loss {loss}.")
    if leaves < 1:
        raise UserError(f"A tree needs 1 or more leaves at a time, not {leaves}.")
    ends = int(limits.max_expansions), int(limits.max_nodes)
    rules = TreeRules(float(c), float(loss), int(leaves), bool(from_zero), *ends)
    clock, together, rows = Clock.of(limits.seconds), trees_in_step(puzzle, rules), []
    for first in range(0, len(starts), together):
        # Grow as many trees at a time as the memory has room for.
        pool = TreePool(puzzle, np.ascontiguousarray(starts[first : first + together]))
        run(pool, heuristic, rules, clock)
        # A tree finds the goal by a long way; a search in it finds a shorter one.
        for search, nodes in enumerate(pool.nodes_of()):
            row = pool.row(search)
            if shortening != "none" and 0 < row[0] < np.inf:
                path = pool.shorten(search, nodes, shortening == "shortcuts")
                row = len(path), *row[1:4], path, *row[5:]
            rows.append(row)
    return SearchResult.from_rows(rows)


def trees_in_step(puzzle: Puzzle, rules: TreeRules) -> int:
    """How many trees fit in MEMORY if each grows to its limit; at least one, at most TREES."""
    actions = len(puzzle.actions)
    nodes = min(rules.max_nodes, 1 + actions * rules.max_expansions)
    whole = nodes * (puzzle.cells + NODE_BYTES) + min(nodes, rules.max_expansions) * actions * ACTION_BYTES
    return max(1, min(TREES, MEMORY // whole))


def run(pool: TreePool, heuristic: Heuristic | PolicyHeuristic, rules: TreeRules, clock: Clock) -> None:
    """Run simulations of all trees in step until each has ended or the time is up."""
    while pool.searches["running"].any():
        report(pool.work)
        if clock.is_up:
            pool.searches["out_of_time"] |= pool.searches["running"]
            break
        # Simulate: down to the leaves, evaluated all in one call, and back up.
        leaves = pool.descend(rules)
        if len(leaves):
            prior, cost_to_go = evaluate(pool.puzzle, heuristic, pool.nodes.state[leaves])
            if not (np.isfinite(cost_to_go).all() and np.isfinite(prior).all()):
                raise UserError("The network's values are not finite: its training has diverged; choose another model.")
            pool.grow(leaves, prior, value_of(cost_to_go), rules)


def evaluate(puzzle: Puzzle, heuristic: Heuristic | PolicyHeuristic, states: States) -> tuple[np.ndarray, CostToGo]:
    """The prior of each action, float32 [N, A], the same for all legal ones where the heuristic has no policy; and the
    cost-to-go, float32 [N]."""
    if getattr(heuristic, "has_policy", False):
        return heuristic.with_policy(states)
    legal = puzzle.legal(states)
    return (legal / legal.sum(axis=1, keepdims=True)).astype(np.float32), heuristic(states)


@njit(cache=True)
def _descend(forest, rules):
    """Leaves of the running trees, int32 [K], each WAITING from now on; ends trees that are at their limits.

    Keeps true: flights of an action are the waiting leaves below it.
    """
    place, memory = forest.place, forest.memory
    found = np.empty(len(forest.searches) * rules.leaves, dtype=np.int32)
    used = 0
    for search in range(len(forest.searches)):
        its = forest.searches[search]
        if not its.running:
            continue
        # End the tree at its limits; the expansions that it has left bound its leaves.
        its.out_of_memory = its.stored > rules.max_nodes
        if its.out_of_memory or its.expanded >= rules.max_expansions:
            its.running = False
            continue
        for _ in range(min(rules.leaves, rules.max_expansions - its.expanded)):
            # Go down by the tree policy to a state that is not expanded.
            node = search
            while place[node] > UNEXPANDED:
                row = place[node] - 1
                action = _best(memory, row, rules)
                memory.flights[row, action] += 1
                node = memory.child[row, action]
            # Two simulations may not wait for one leaf: take the second back, and let the tree wait.
            if place[node] == WAITING:
                _climb(forest, node, 0.0, False)
                break
            place[node] = WAITING
            found[used] = node
            used += 1
    return found[:used]


@njit(cache=True, inline="always")
def _best(memory, row, rules):
    """The open action of greatest U + Q of an expanded state; of equal ones that of the greatest prior."""
    actions = memory.child.shape[1]
    # U grows with the visits of the state, so that each action is tried again in time.
    total = 0
    for action in range(actions):
        total += memory.visits[row, action]
    scale = rules.exploration * np.sqrt(total)
    best, best_score, best_prior = NO_ACTION, -np.inf, -np.inf
    for action in range(actions):
        if memory.child[row, action] == NOTHING:
            continue
        prior = memory.prior[row, action]
        upper = scale * prior / (1 + memory.visits[row, action])
        score = upper + memory.worth[row, action] - rules.virtual_loss * memory.flights[row, action]
        if score > best_score or (score == best_score and prior > best_prior):
            best, best_score, best_prior = action, score, prior
    return best


@njit(cache=True, inline="always")
def _climb(forest, node, value, count):
    """Take a simulation back from its leaf up to the start: its flights and, to be counted, its visits and value."""
    nodes, memory = forest.nodes, forest.memory
    while nodes.parent[node] != NOTHING:
        action, node = nodes.action[node], nodes.parent[node]
        row = forest.place[node] - 1
        memory.flights[row, action] -= 1
        if count:
            memory.visits[row, action] += 1
            memory.worth[row, action] = max(memory.worth[row, action], value)


@njit(cache=True)
def _grow(forest, count, expanded, evaluated, rules):
    """Expand leaves with what the heuristic said of them; returns how many nodes there are.

    expanded: rows of memory so far.
    Keeps true: a state is one node of its tree; an expanded node that is not closed has an open action.
    """
    nodes, slots, numbers, searches, place, memory = forest
    for k in range(len(evaluated.leaf)):
        leaf, row = evaluated.leaf[k], expanded + k
        search = nodes.search[leaf]
        its = searches[search]
        its.expanded += 1
        place[leaf] = row + 1
        opened = False
        for action in range(evaluated.legal.shape[1]):
            # Remember the action as not tried and, until it leads to a new node, as closed.
            memory.child[row, action] = NOTHING
            memory.prior[row, action] = evaluated.prior[k, action]
            memory.worth[row, action] = 0.0 if rules.from_zero else evaluated.value[k]
            memory.visits[row, action] = memory.flights[row, action] = 0
            if not evaluated.legal[k, action]:
                continue
            its.generated += 1
            # Make a node of a state that the tree does not have yet; else it belongs to the parent that came first.
            others = evaluated.children[k]
            hashed = hash_in(others, action, search, numbers)
            slot = slot_of_state(nodes.state, nodes.search, slots, hashed, others, action, search)
            if slots[slot] != 0:
                continue
            node, count = count, count + 1
            its.stored += 1
            slots[slot] = node + 1
            nodes.state[node] = others[action]
            nodes.search[node], nodes.g[node], place[node] = search, nodes.g[leaf] + 1, UNEXPANDED
            nodes.parent[node], nodes.action[node] = leaf, action
            memory.child[row, action] = node
            opened = True
            # The tree ends with its nearest goal.
            if evaluated.goal[k, action] and nodes.g[node] < its.cost:
                its.cost, its.goal_node, its.running = nodes.g[node], node, False
        # Take the value up.
        _climb(forest, leaf, evaluated.value[k], True)
        # Close what nothing is left below.
        if not opened:
            _close(forest, its, leaf)
    return count


@njit(cache=True, inline="always")
def _close(forest, its, node):
    """Close the action that leads to a node without open actions, and so on upwards; at the start the tree ends."""
    nodes, memory = forest.nodes, forest.memory
    while True:
        if nodes.parent[node] == NOTHING:
            its.running = False
            return
        action, node = nodes.action[node], nodes.parent[node]
        row = forest.place[node] - 1
        memory.child[row, action] = NOTHING
        for other in range(memory.child.shape[1]):
            if memory.child[row, other] != NOTHING:
                return


@njit(cache=True)
def _look_up(forest, children, legal, search):
    """The node of a tree that each legal child, uint8 [N, A, D], is, or NOTHING: int32 [N, A]."""
    nodes, slots, numbers, _, _, _ = forest
    found = np.full(legal.shape, NOTHING, dtype=np.int32)
    for row in range(legal.shape[0]):
        for action in range(legal.shape[1]):
            if legal[row, action]:
                others = children[row]
                hashed = hash_in(others, action, search, numbers)
                slot = slot_of_state(nodes.state, nodes.search, slots, hashed, others, action, search)
                found[row, action] = slots[slot] - 1
    return found


@njit(cache=True)
def _breadth_first(leads, goal):
    """A shortest path from row 0 to a row by where each action leads from each, int32 [N, A]: actions, int64."""
    came, by = np.full(len(leads), NOTHING), np.full(len(leads), NO_ACTION)
    queue, ready, taken = np.zeros(len(leads), dtype=np.int64), 1, 0
    came[0] = 0
    # Take rows in the order in which they were reached, nearest first, until the goal is.
    while came[goal] == NOTHING:
        row = queue[taken]
        taken += 1
        for action in range(leads.shape[1]):
            reached = leads[row, action]
            if reached != NOTHING and came[reached] == NOTHING:
                came[reached], by[reached] = row, action
                queue[ready] = reached
                ready += 1
    # Read the path back from the goal.
    path = np.empty(len(leads), dtype=np.int64)
    length, row = 0, goal
    while row != 0:
        path[length] = by[row]
        row, length = came[row], length + 1
    return path[:length][::-1].copy()
