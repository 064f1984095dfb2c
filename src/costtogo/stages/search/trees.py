"""Monte Carlo tree search over a network with a policy: results/<study>/trees/<model>/."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from costtogo.heuristics.network import NetworkHeuristic
from costtogo.heuristics.rewards import cost_to_go_of
from costtogo.params.searches import TreeParams
from costtogo.search import mcts
from costtogo.search.bwas import Limits
from costtogo.search.replayed import warm_up
from costtogo.stages.search.over_network import stage_of
from costtogo.stages.search.running import run_searches
from costtogo.stages.stage_run import StageRun
from costtogo.types import CostToGo, States


def search_set(
    stage: StageRun, network: NetworkHeuristic, trees: TreeParams, instances, starts: States
) -> Iterator[pd.DataFrame]:
    """The rows of one setting after another."""
    puzzle, max_nodes = stage.puzzle, stage.parameters["max_nodes"]
    heuristic = heuristic_of(trees, network)
    for exploration in trees.exploration:
        search = partial(
            mcts.solve,
            puzzle,
            heuristic,
            exploration=exploration,
            virtual_loss=trees.virtual_loss,
            leaves=trees.leaves,
            from_zero=trees.untried == "zero",
            breadth_first=trees.shortening != "none",
            shortcuts=trees.shortening == "shortcuts",
        )
        warm_up(puzzle, partial(search, limits=Limits(max_expansions=100)))
        search = partial(search, limits=Limits(max_expansions=trees.max_expansions, max_nodes=max_nodes))
        cell = {name: getattr(trees, name) for name in TreeParams.cell if name not in ("set", "exploration")}
        yield run_searches(puzzle, search, instances, starts, exploration=exploration, **cell)


run = stage_of(TreeParams, search_set, by_table=False)  # a search ends at the goal alone


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
