"""Monte Carlo tree search over a network with a policy: results/<study>/trees/<model>/."""

from functools import partial

import numpy as np

from costtogo.heuristics.network import NetworkHeuristic
from costtogo.heuristics.rewards import cost_to_go_of
from costtogo.params.searches import TreeParams
from costtogo.search import mcts
from costtogo.search.bwas import Limits
from costtogo.search.replayed import warm_up
from costtogo.stages.search.cells import Given, Searches, stage_of
from costtogo.types import CostToGo, States


def searches(given: Given, asked: TreeParams) -> Searches:
    """One for each exploration constant."""
    rules = mcts.TreeRules(virtual_loss=asked.virtual_loss, leaves=asked.leaves, from_zero=asked.untried == "zero")
    solve = partial(mcts.solve, given.puzzle, heuristic_of(asked, given.heuristic), shortening=asked.shortening)
    limits = Limits(max_expansions=asked.max_expansions, max_nodes=given.max_nodes)
    for name, *setting in asked.settings:
        cell = dict(zip(asked.cell[1:], setting, strict=True))
        search = partial(solve, rules=rules._replace(exploration=cell["exploration"]))
        warm_up(given.puzzle, partial(search, limits=Limits(max_expansions=100)))
        yield given.sets[name], cell, partial(search, limits=limits)


run = stage_of(TreeParams, searches)


def heuristic_of(trees: TreeParams, network: NetworkHeuristic):
    """What the trees go by: of the network its policy and its values, or one of both alone."""
    if trees.values == "constant":
        return ConstantValues(network) if trees.prior == "policy" else no_knowledge
    return network if trees.prior == "policy" else network.__call__  # a function of states, which has no policy


def no_knowledge(states: States) -> CostToGo:
    """The cost-to-go whose value is 0, everywhere, float32 [N]."""
    return cost_to_go_of(np.zeros(len(states), dtype=np.float32))


class ConstantValues:
    """The policy of a network, and the same cost-to-go everywhere."""

    has_policy = True

    def __init__(self, network: NetworkHeuristic):
        self.network = network

    def with_policy(self, states: States) -> tuple[np.ndarray, CostToGo]:
        """The probability of each action, float32 [N, A], and no_knowledge, float32 [N]."""
        return self.network.with_policy(states)[0], no_knowledge(states)
