"""Autodidactic iteration (ADI): McAleer et al. 2018, arXiv:1805.07470; the slides' Algorithm 1.

One network has two outputs, value and policy. For each state of random walks from the goal, the network as it is now
evaluates all children x_a, and one step of policy improvement gives the targets of the state:

y_v = max over actions of R(x_a) + v(x_a), and y_p = the action for which it is greatest,

with R = 1 and v = 0 at the goal and R = -1 elsewhere. Errors are weighted by 1 / D, where D is how many moves the walk
took to the state, so that states near the goal, whose targets are right sooner, count for more; without the weights
the training is prone to diverge. The goal itself, where nothing is to be chosen, does not count.

The network is its own target, so that an error may feed on itself. Bounded targets cannot run away: a state that D
moves led to is at most D moves from the goal, and one that is not the goal at least 1. That is not in the slides.

In moves: cost-to-go is 2 - v, and y_v that of the Bellman equation (davi.bellman_targets).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch.nn import functional

from costtogo.engines import Batch
from costtogo.heuristics.children import child_costs
from costtogo.heuristics.rewards import value_of
from costtogo.learning import examples
from costtogo.learning.davi import bellman_targets
from costtogo.learning.examples import Examples
from costtogo.learning.samplers import sample_states
from costtogo.learning.training import Progress, Training, reduced
from costtogo.puzzles.base import Puzzle

begin = examples.begin


@dataclass(frozen=True)
class Improved(Examples):
    """States uint8 [N, D], and what the network should say of each.

    value: float32 [N], y_v.  action: int64 [N], y_p.  legal: bool [N, A].
    weight: float32 [N], 0 at the goal, 1 on average.
    """

    value: Batch
    action: Batch
    legal: Batch
    weight: Batch

    def error(self, outputs: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
        """Weighted squared error of the value and cross-entropy of the policy, of outputs [N, 1 + A]."""
        value, action, legal, weight = (
            torch.as_tensor(part, device=outputs.device) for part in (self.value, self.action, self.legal, self.weight)
        )
        of_value = (outputs[:, 0] - value).square()
        logits = outputs[:, 1:].masked_fill(~legal, -torch.inf)
        return reduced(weight * (of_value + functional.cross_entropy(logits, action, reduction="none")), reduction)


def train(training: Training) -> Iterator[Progress]:
    """Run the iterations that are left, one Progress each."""
    return examples.train(training, partial(draw, training), validate)


def draw(training: Training, puzzle: Puzzle, count: int, walk_max: int, generator: np.random.Generator) -> Improved:
    """The states of walks of walk_max moves, count in all, with their targets by the network as it is now.

    sample_states returns one walk after another, each from its first move on, so D follows from a row's place.
    """
    engine, params = training.engine, training.params
    states = sample_states(puzzle, params.sampler, count, walk_max, generator, engine)
    # One step of policy improvement, by the network as it is now.
    costs = child_costs(puzzle, states, training.heuristic)
    scrambles = 1 + np.arange(count) % walk_max
    # Nothing is to be chosen at the goal, so it does not count.
    weight = engine.given(1 / scrambles if params.weighted else np.ones(count))
    weight = engine.xp.where(engine.is_goal(states), 0.0, weight)
    targets = bellman_targets(puzzle, states, costs)
    if params.bounded:
        targets = engine.xp.minimum(targets.clip(1), engine.given(scrambles.astype(np.float32)))
    return Improved(
        states,
        value_of(targets),
        engine.xp.argmin(costs, 1),
        engine.legal(states),
        engine.xp.asarray(weight / weight.mean(), dtype=engine.xp.float32),
    )


def validate(training: Training, drawn: Improved) -> float:
    """The loss of the network in inference mode."""
    return float(drawn.error(torch.as_tensor(training.heuristic.predicted(drawn.states))))
