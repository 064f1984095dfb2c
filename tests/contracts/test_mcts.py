"""Monte Carlo tree search: replayed, the same in step as alone, by the rules of DeepCube's slides."""

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo.heuristics.children import child_costs
from costtogo.heuristics.rewards import cost_to_go_of, value_of
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.search import mcts
from costtogo.search.bwas import Limits
from costtogo.search.pool import NOTHING
from costtogo.types import UserError

RULES = mcts.TreeRules(1.0, 1.0, 1, False, 10**6, 10**6)


class Guide:
    """The exact distance with an error of up to noise moves, and the policy that goes by it."""

    has_policy = True

    def __init__(self, puzzle, distance, noise=0.0, seed=0):
        self.puzzle, self.calls, self.states = puzzle, 0, 0
        self.values = distance + np.random.default_rng(seed).uniform(-noise, noise, size=len(distance))

    def __call__(self, states):
        return self.values[self.puzzle.rank(states)].astype(np.float32)

    def with_policy(self, states):
        self.calls, self.states = self.calls + 1, self.states + len(states)
        weights = np.exp(-child_costs(self.puzzle, states, self)).astype(np.float32)
        return weights / weights.sum(axis=1, keepdims=True), self(states)


def states_of(puzzle, distance, count, seed=1):
    return puzzle.unrank(np.random.default_rng(seed).integers(len(distance), size=count))


def test_exact_knowledge_goes_straight_to_the_goal(puzzle, distance):
    starts = states_of(puzzle, distance, 20)
    found, moves = mcts.solve(puzzle, Guide(puzzle, distance), starts), distance[puzzle.rank(starts)]
    np.testing.assert_array_equal(found.cost, moves)
    np.testing.assert_array_equal(found.nodes_expanded, moves)
    assert solves(puzzle, starts, found.solutions).all()
    np.testing.assert_array_equal(found.lower_bound, moves > 0)


@pytest.mark.parametrize("leaves", [1, 4])
def test_trees_in_step_grow_as_each_alone(puzzle, distance, leaves):
    starts, setting = (
        states_of(puzzle, distance, 6, seed=2),
        {"rules": mcts.TreeRules(leaves=leaves), "limits": Limits(max_expansions=300)},
    )
    together = mcts.solve(puzzle, Guide(puzzle, distance, noise=6), starts, **setting)
    for row in range(len(starts)):
        alone = mcts.solve(puzzle, Guide(puzzle, distance, noise=6), starts[[row]], **setting)
        for name in ("cost", "nodes_expanded", "nodes_generated"):
            assert getattr(alone, name)[0] == getattr(together, name)[row]
        np.testing.assert_array_equal(alone.solutions[0], together.solutions[row])


def test_expanded_nodes_are_evaluated_states_and_trees_share_calls(distances_of):
    puzzle, distance = make("puzzle8"), distances_of("puzzle8")
    guide = Guide(puzzle, distance, noise=6)
    found = mcts.solve(puzzle, guide, states_of(puzzle, distance, 10), limits=Limits(max_expansions=100))
    assert found.nodes_expanded.sum() == guide.states and guide.calls == found.nodes_expanded.max() <= 100


def grown(puzzle, heuristic, start, simulations, rules=RULES):
    """The tree of a start after so many simulations."""
    pool = mcts.TreePool(puzzle, start[None])
    for _ in range(simulations):
        leaves = pool.descend(rules)
        prior, cost = mcts.evaluate(puzzle, heuristic, pool.nodes.state[leaves])
        pool.grow(leaves, prior, value_of(cost), rules)
    return pool


def played(puzzle, heuristic, start, steps, rules):
    """The same by the slides' rules in plain Python: dictionaries by the text of a state, rules.leaves leaves a step.

    Returns what the tree remembers of each expanded state, their texts in order, and the goal's path if it was found.
    """
    tree, known, order, goals = {}, {puzzle.format_state(start)}, [], []
    text = puzzle.format_state
    for _ in range(steps):
        waiting = []
        for _ in range(rules.leaves):
            state, path = start, []
            while text(state) in tree:
                memory = tree[text(state)]
                scale = rules.exploration * np.sqrt(sum(memory["N"].values()))
                scores = {
                    a: scale * memory["P"][a] / (1 + memory["N"][a])
                    + memory["W"][a]
                    - rules.virtual_loss * memory["L"][a]
                    for a in memory["open"]
                }
                action = max(scores, key=lambda a: (scores[a], memory["P"][a], -a))
                path.append((memory, action))
                state = puzzle.move(state[None], np.array([action]))[0]
            if any(text(state) == text(other) for other, _ in waiting):
                break
            for memory, action in path:
                memory["L"][action] += 1
            waiting.append((state, path))
        for state, path in waiting:
            prior, cost = mcts.evaluate(puzzle, heuristic, state[None])
            value = np.float32(2 - cost[0])
            children, legal = puzzle.expand(state[None])
            memory = {"open": [], "P": {}, "N": {}, "W": {}, "L": {}}
            for action in np.flatnonzero(legal[0]).tolist():
                if text(children[0, action]) not in known:
                    known.add(text(children[0, action]))
                    memory["open"].append(action)
                    memory["P"][action], memory["N"][action], memory["L"][action] = prior[0, action], 0, 0
                    memory["W"][action] = np.float32(0) if rules.from_zero else value
                    if puzzle.is_goal(children[:, action])[0]:
                        goals.append(len(path) + 1)
            tree[text(state)] = memory
            order.append(text(state))
            for above, action in path:
                above["N"][action], above["L"][action] = above["N"][action] + 1, above["L"][action] - 1
                above["W"][action] = max(above["W"][action], value)
            for (above, action), below in zip(path[::-1], [memory, *(m for m, _ in path[::-1])], strict=False):
                if not below["open"]:
                    above["open"].remove(action)
    return tree, order, goals


@pytest.mark.parametrize("exploration", [0.3, 3.0])
@pytest.mark.parametrize(("leaves", "virtual_loss"), [(1, 1.0), (4, 0.0), (4, 1.0), (4, 5.0)])
@pytest.mark.parametrize("from_zero", [False, True])
def test_a_tree_grows_by_the_rules_of_the_slides(exploration, leaves, virtual_loss, from_zero, distances_of):
    puzzle, distance = make("puzzle8"), distances_of("puzzle8")
    start, heuristic = puzzle.unrank(np.array([distance.argmax()]))[0], Guide(puzzle, distance, noise=5)
    settings = {"leaves": leaves, "virtual_loss": virtual_loss, "from_zero": from_zero}
    rules = RULES._replace(exploration=exploration, **settings)
    pool = grown(puzzle, heuristic, start, 60, rules)
    tree, order, goals = played(puzzle, heuristic, start, 60, rules)
    expanded = np.flatnonzero(pool.places.place[: pool.count] > 0)
    expanded = expanded[np.argsort(pool.places.place[expanded])]
    if goals:  # the tree ended at the goal, the twin went on
        order = order[: len(expanded)]
    assert [puzzle.format_state(state) for state in pool.nodes.state[expanded]] == order
    for node in expanded if not goals else ():
        row, memory = pool.places.place[node] - 1, tree[puzzle.format_state(pool.nodes.state[node])]
        assert np.flatnonzero(pool.memory.child[row] != NOTHING).tolist() == memory["open"]
        for action in memory["N"]:
            assert pool.memory.visits[row, action] == memory["N"][action]
            assert pool.memory.worth[row, action] == memory["W"][action]
    assert not pool.memory.flights[: pool.expanded].any()


def test_of_two_goals_in_one_batch_the_nearer_counts():
    """Two leaves of one batch that both lead to the goal, the first by more moves."""
    puzzle = make("hanoi_3")

    class Twice(type(puzzle)):
        """Every state but the start and its children is a goal."""

        def is_goal(self, states):
            near = np.concatenate([puzzle.start[None], puzzle.expand(puzzle.start[None])[0][0]])
            return ~(states[:, None] == near[None]).all(axis=2).any(axis=1)

    pool = mcts.TreePool(Twice(3), puzzle.start[None])
    rules = RULES._replace(leaves=2, virtual_loss=100.0)
    for _ in range(2):
        leaves = pool.descend(rules)
        pool.grow(leaves, *uniform(puzzle, pool.nodes.state[leaves]), rules)
    assert len(leaves) == 2 and pool.searches["cost"][0] == 2
    goal = pool.searches["goal_node"][0]
    assert pool.nodes.parent[goal] == leaves[0], "of equally near ones the first"


def uniform(puzzle, states):
    """The same prior for all legal actions, and values of nothing."""
    prior, cost = mcts.evaluate(puzzle, lambda states: np.full(len(states), 2, dtype=np.float32), states)
    return prior, value_of(cost)


def test_without_a_policy_legal_actions_are_equally_probable():
    puzzle = make("puzzle8")
    prior, _ = mcts.evaluate(puzzle, lambda states: np.zeros(len(states)), puzzle.goal[None])
    np.testing.assert_array_equal(prior > 0, puzzle.legal(puzzle.goal[None]))
    assert prior.sum() == 1 and prior.max() == 0.5


def test_a_network_that_diverged_is_told_in_one_sentence():
    puzzle = make("hanoi_3")
    with pytest.raises(UserError) as told:
        mcts.solve(puzzle, lambda states: np.full(len(states), np.nan, dtype=np.float32), puzzle.start[None])
    assert is_one_sentence(str(told.value))


def test_a_leaf_that_waits_turns_others_away_by_the_virtual_loss(distances_of):
    puzzle, distance = make("puzzle8"), distances_of("puzzle8")
    start = puzzle.unrank(np.array([distance.argmax()]))[0]
    pool = grown(puzzle, Guide(puzzle, distance), start, 3)
    chosen = {}
    for loss in (0.0, 100.0):
        rules = RULES._replace(leaves=3, virtual_loss=loss, exploration=0.0)
        leaves = pool.descend(rules)
        chosen[loss] = len(leaves)
        assert len(set(leaves.tolist())) == len(leaves)
        flights = pool.memory.flights[: pool.expanded]
        root = pool.places.place[0] - 1
        assert flights[root].sum() == len(leaves)
        pool.places.place[leaves] = 0
        flights[:] = 0
    assert chosen[0.0] == 1 < chosen[100.0]


def test_what_is_not_shortened_may_be_longer_and_shortcuts_may_be_shorter_still(distances_of):
    puzzle, distance = make("puzzle8"), distances_of("puzzle8")
    starts, guide = states_of(puzzle, distance, 12), Guide(puzzle, distance, noise=8)
    rules = mcts.TreeRules(exploration=20.0)
    found = [mcts.solve(puzzle, guide, starts, rules=rules, shortening=how) for how in ("none", "tree", "shortcuts")]
    for result in found:
        assert solves(puzzle, starts, result.solutions).all()
        assert (result.cost == [len(actions) for actions in result.solutions]).all()
    raw, searched, cut = (result.cost for result in found)
    assert (raw >= searched).all() and (searched >= cut).all()
    assert raw.sum() > searched.sum() > cut.sum() >= distance[puzzle.rank(starts)].sum()


def test_without_knowledge_every_state_of_a_small_puzzle_is_solved():
    puzzle = make("hanoi_4")
    starts = puzzle.unrank(np.arange(81))
    found = mcts.solve(puzzle, lambda states: np.zeros(len(states), dtype=np.float32), starts)
    assert found.solved.all() and solves(puzzle, starts, found.solutions).all()


def test_a_tree_with_nothing_left_to_expand_ends_unsolved(monkeypatch):
    puzzle = make("hanoi_3")
    monkeypatch.setattr(type(puzzle), "is_goal", lambda self, states: np.zeros(len(states), dtype=bool))
    found = mcts.solve(puzzle, lambda states: np.zeros(len(states), dtype=np.float32), puzzle.start[None])
    assert not found.solved[0] and found.nodes_expanded[0] == 27


@pytest.mark.parametrize(
    ("limits", "ended"),
    [
        (Limits(max_expansions=7), "expansions"),
        (Limits(max_nodes=20), "memory"),
        (Limits(seconds=0), "seconds"),
    ],
)
def test_a_tree_at_its_limit_ends_as_unsolved(limits, ended, distances_of):
    puzzle, distance = make("cube2"), distances_of("cube2")
    start = puzzle.unrank(np.array([distance.argmax()]))
    found = mcts.solve(puzzle, Guide(puzzle, 0 * distance), start, limits=limits, rules=mcts.TreeRules(leaves=3))
    assert found.ended[0] == ended and not found.solutions[0].size
    assert found.nodes_expanded[0] <= limits.max_expansions


@pytest.mark.parametrize("setting", [{"exploration": -1}, {"virtual_loss": np.inf}, {"leaves": 0}])
def test_a_setting_that_makes_no_sense_is_told_in_one_sentence(setting):
    puzzle = make("hanoi_3")
    with pytest.raises(UserError) as told:
        mcts.solve(puzzle, len, puzzle.start[None], rules=mcts.TreeRules(**setting))
    assert is_one_sentence(str(told.value))


def test_value_and_cost_to_go_are_two_together():
    np.testing.assert_array_equal(value_of(np.array([1, 2, 5])), [1, 0, -3])
    np.testing.assert_array_equal(cost_to_go_of(value_of(np.arange(1, 9))), np.arange(1, 9))
