"""Deep approximate value iteration (DAVI): Agostinelli et al. 2019, Algorithm 1; thesis 3.3, 4.7 and 5.4.

Two networks of one architecture: the target network gives J_k, the trained one approaches
J_{k+1}(s) = min over actions of 1 + J_k(child), with 0 at the goal. When its validation loss, looked at every
check_every iterations on states drawn anew, falls below epsilon, its weights become the target's: a
convergence point.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn import functional

from costtogo.heuristics.network import NetworkHeuristic, ValueNetwork, build, encode
from costtogo.heuristics.table import Remembered
from costtogo.learning.samplers import effective_k, sample
from costtogo.params import ModelParams
from costtogo.puzzles.base import Puzzle, is_goal
from costtogo.types import CostToGo, Heuristic, Ranks, States


@dataclass(frozen=True)
class Progress:
    """What one iteration did. Losses are mean squared errors in moves²."""

    iteration: int
    convergence_points: int
    effective_k: int
    loss: float
    validation_loss: float
    updated: bool


@dataclass
class Training:
    """All that an interrupted training needs to go on to the same end."""

    puzzle: Puzzle
    params: ModelParams
    precision: str
    network: ValueNetwork
    target: ValueNetwork
    optimizer: torch.optim.Optimizer
    iteration: int = 0
    convergence_points: int = 0
    _frozen: Remembered | None = field(default=None, repr=False)

    @property
    def cost_to_go(self) -> Remembered:
        """J_k: the target network, frozen at the last convergence point, evaluated once for each state."""
        if self._frozen is None:
            self._frozen = Remembered(self.puzzle, NetworkHeuristic(self.puzzle, self.target, self.precision))
        return self._frozen

    def update_target(self) -> None:
        """A convergence point: J_{k+1} becomes J_k."""
        self.target.load_state_dict(self.network.state_dict())
        self.convergence_points += 1
        self._frozen = None


def begin(puzzle: Puzzle, params: ModelParams, precision: str) -> Training:
    """A training before its first iteration."""
    network = build(params.architecture, puzzle, params.seed)
    target = build(params.architecture, puzzle, params.seed)
    betas = (params.adam_beta_1, params.adam_beta_2)
    optimizer = torch.optim.Adam(
        network.parameters(), lr=params.learning_rate, betas=betas, eps=params.adam_epsilon, fused=True
    )
    return Training(puzzle, params, precision, network, target, optimizer)


def train(training: Training) -> Iterator[Progress]:
    """Run the iterations that are left, one Progress each.

    Every iteration draws from a generator of its own, seeded by the training's seed and the iteration's number.
    """
    params = training.params
    while training.iteration < params.iterations:
        training.iteration += 1
        generator = np.random.default_rng([params.seed, training.iteration])
        walk_max = effective_k(params.sampler, training.convergence_points)
        set_learning_rate(training)
        loss = fit(training, draw(training, params.states_per_iteration, walk_max, generator), generator)
        validation_loss = validate(training, draw(training, params.validation_states, walk_max, generator))
        updated = training.iteration % params.check_every == 0 and validation_loss < params.epsilon
        if updated:
            training.update_target()
        yield Progress(training.iteration, training.convergence_points, walk_max, loss, validation_loss, updated)


def set_learning_rate(training: Training) -> None:
    """Constant, then falling linearly to zero over the last iterations where learning_rate_decay asks for it."""
    params = training.params
    left = (params.iterations - training.iteration + 1) / params.iterations
    share = min(1.0, left / params.learning_rate_decay) if params.learning_rate_decay else 1.0
    for group in training.optimizer.param_groups:
        group["lr"] = params.learning_rate * share


def draw(training: Training, count: int, walk_max: int, generator: np.random.Generator) -> Ranks:
    """Ranks of exactly count states from the sampler, int64 [count]."""
    return sample(training.puzzle, training.params.sampler.kind, count, walk_max, generator)[:count]


def bellman_targets(puzzle: Puzzle, states: States, cost_to_go: Heuristic) -> CostToGo:
    """min over legal actions of 1 + cost-to-go of the child, 0 at the goal: float32 [N]."""
    children, legal = puzzle.expand(states)
    values = cost_to_go(children.reshape(-1, puzzle.cells)).reshape(legal.shape)
    targets = 1 + np.where(legal, values, np.inf).min(axis=1)
    targets[is_goal(puzzle, states)] = 0.0
    return targets.astype(np.float32)


def fit(training: Training, ranks: Ranks, generator: np.random.Generator) -> float:
    """One pass over the states in shuffled minibatches; returns the mean loss over them."""
    order = generator.permutation(len(ranks))
    states = training.puzzle.unrank(ranks[order])
    targets = torch.from_numpy(bellman_targets(training.puzzle, states, training.cost_to_go))
    training.network.train()
    total, size = 0.0, training.params.minibatch
    for first in range(0, len(states), size):
        inputs = encode(training.puzzle, states[first : first + size])
        total += step(training, inputs, targets[first : first + size]) * len(inputs)
    return total / len(states)


def step(training: Training, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """One step of Adam on the mean squared error, which is returned as it was before the step."""
    training.optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=training.precision == "bfloat16"):
        predicted = training.network(inputs)
    loss = functional.mse_loss(predicted, targets)
    loss.backward()
    training.optimizer.step()
    return loss.item()


def validate(training: Training, ranks: Ranks) -> float:
    """Mean squared error of the trained network, in inference mode, against the targets of fresh states."""
    states = training.puzzle.unrank(ranks)
    targets = bellman_targets(training.puzzle, states, training.cost_to_go)
    trained = NetworkHeuristic(training.puzzle, training.network, training.precision)
    return float(np.mean((trained.outputs(states) - targets) ** 2, dtype=np.float64))
