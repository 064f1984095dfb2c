"""States that a search would come by: walks that follow the frozen cost-to-go, a share of each iteration's states.

Value iteration on random walks alone leaves a network with false goals far from any walk, towards which every search
goes. Walks that take the child of least cost-to-go go there too, and their targets fill them up. They cost nothing:
the values of their children are those of the targets.
"""

import numpy as np

from costtogo.engines import Batch, engine_of
from costtogo.params.training import SamplerParams
from costtogo.puzzles.base import Puzzle


def go_on(
    puzzle: Puzzle,
    sampler: SamplerParams,
    states: Batch,
    costs: Batch,
    generator: np.random.Generator,
    ceiling: float = np.inf,
) -> Batch:
    """Where the greedy walks of the next iteration are, uint8 [W, D], W at most greedy_share · N.

    states: uint8 [N, D], those of this iteration, the walks' first; as many walks begin at the states that follow as
    make up the share.  costs: float32 [N, A], the cost-to-go of each child, inf where illegal.  A walk ends at the
    goal, where the cost comes to the ceiling, a dead end, and else with probability 1 / greedy_moves at each move;
    greedy_random of the moves are random.
    """
    # The walks' own states come first, then as many new ones as are needed: both have the costs of this iteration.
    engine, walks = engine_of(puzzle, states), round(sampler.greedy_share * len(states))
    random = engine.pick(engine.xp.isfinite(costs[:walks]), generator.random(walks))
    at_random = engine.given(generator.random(walks) < sampler.greedy_random)
    actions = engine.xp.where(at_random, random, engine.xp.argmin(costs[:walks], 1))
    # Some walks end at each move, so that new ones begin where states are drawn.
    reached = engine.move(states[:walks], actions)
    goes_on = engine.given(generator.random(walks) * sampler.greedy_moves >= 1)
    goes_on &= costs[engine.given(np.arange(walks)), actions] < ceiling
    return reached[goes_on & ~engine.is_goal(reached)]
