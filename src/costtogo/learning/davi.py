"""Deep approximate value iteration (DAVI): Agostinelli et al. 2019, Algorithm 1; thesis 3.3, 4.7 and 5.4.

Two networks of one architecture: the target network gives J_k, the trained one approaches
J_{k+1}(s) = min over actions of 1 + J_k(child), with 0 at the goal. When its validation loss, looked at every
check_every iterations on states drawn anew, falls below epsilon, its weights become the target's: a
convergence point; forced_update makes one whatever the loss (final-year report, 4.2.2). With polyak the target follows
at every iteration instead, by so much of the difference; by all of it, there is no target network but for a lag.

A network with an output for each child approaches J_{k+1} of all children of a state at once: the target network is
evaluated on the children, as often as for the one value of the state.

A network above a lower bound learns what is missing from it, so that J_0 is near that bound already: value iteration
from a consistent bound rises to the optimum as from 0, from nearer by.

With greedy_share, so many of the states of an iteration lie on walks that follow J_k instead: greedy_walks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch.nn import functional

from costtogo.heuristics.children import child_costs
from costtogo.heuristics.network import Network, NetworkHeuristic, bound_of, build, encode, of_architecture
from costtogo.heuristics.table import Remembered
from costtogo.learning.greedy_walks import go_on
from costtogo.learning.samplers import effective_k, sample_states
from costtogo.learning.training import (
    Progress,
    Tensors,
    Training,
    optimizer_of,
    part,
    prefixed,
    set_learning_rate,
    step,
)
from costtogo.params.training import ModelParams
from costtogo.puzzles.base import Puzzle, is_listed
from costtogo.types import CostToGo, Heuristic, States


@dataclass
class DaviTraining(Training):
    """A training by DAVI."""

    target: Network | None = None
    walks: States | None = None  # the states that greedy walks are at, uint8 [W, D], where greedy_share asks for them
    convergence_points: int = 0
    disks: int = 0  # of a growing tower
    grown_at: int = 0  # the iteration at which it grew last, or began anew
    settled: bool = False  # the whole tower satisfies the Bellman equation nearly: the target stays
    bound: Heuristic | None = None  # that the network lies above
    _frozen: Heuristic | None = field(default=None, repr=False)

    position: ClassVar[tuple[str, ...]] = ("iteration", "convergence_points", "disks", "grown_at", "settled")

    @property
    def walk_max(self) -> int:
        """The longest walk at this point of the training, or the disks of a growing tower."""
        if self.params.sampler.kind == "growing_tower":
            return self.disks
        return effective_k(self.params.sampler, self.convergence_points)

    def to(self, device: str) -> "DaviTraining":
        """Compute on another device, the target network, too."""
        self.target.to(device)
        return super().to(device)

    def start_from(self, weights: Tensors) -> None:
        """Begin with the weights of another network, which is J_0, too."""
        super().start_from(weights)
        self.target.load_state_dict(weights)

    def child_costs(self, states: States) -> CostToGo:
        """J_k of each child, float32 [N, A], inf where illegal.

        The disks that a growing tower has not reached do not move.
        """
        sampler = self.params.sampler
        disks = self.disks if sampler.kind == "growing_tower" and sampler.hold else None
        return child_costs(self.puzzle, states, self.cost_to_go, disks)

    def targets(self, states: States, costs: CostToGo | None = None) -> CostToGo:
        """What J_{k+1} should be, float32 [N] or, by action, [N, A] and NaN where illegal; costs: child_costs."""
        costs = self.child_costs(states) if costs is None else costs
        if self.params.architecture.outputs == "actions":
            return np.where(np.isinf(costs), np.float32(np.nan), costs)
        return bellman_targets(self.puzzle, states, costs)

    @property
    def overdue(self) -> bool:
        """Whether a tower that is not whole has not grown for patience iterations."""
        sampler = self.params.sampler
        growing = sampler.kind == "growing_tower" and self.disks < self.puzzle.cells
        return growing and self.iteration - self.grown_at > sampler.patience

    @property
    def cost_to_go(self) -> Heuristic:
        """J_k: the target network, frozen at the last convergence point; of a listed puzzle once for each state."""
        if self._frozen is None:
            frozen = NetworkHeuristic(self.puzzle, self.target, self.precision)
            self._frozen = Remembered(self.puzzle, frozen) if is_listed(self.puzzle) else frozen
        return self._frozen

    def update_target(self) -> None:
        """A convergence point: J_{k+1} becomes J_k."""
        self.target.load_state_dict(self.network.state_dict())
        self.convergence_points += 1
        self.forget()

    def follow(self, share: float) -> None:
        """Move the target's weights and averages by a share of their difference to the network's (Polyak averaging)."""
        pairs = zip(self.target.state_dict().values(), self.network.state_dict().values(), strict=True)
        for value, wanted in pairs:
            if value.is_floating_point():
                value.lerp_(wanted, share)
        self.forget()

    def forget(self) -> None:
        """Take the target network as it is now for J_k."""
        self._frozen = None

    def tensors(self) -> Tensors:
        """Network and optimiser, the target network, what of J_k is remembered, and where greedy walks are."""
        tensors = super().tensors() | prefixed("target", self.target.state_dict())
        if is_listed(self.puzzle):
            tensors["remembered"] = torch.from_numpy(self.cost_to_go.values)
        if self.walks is not None:
            tensors["walks"] = torch.from_numpy(self.walks)
        return tensors

    def restore(self, tensors: Tensors, description: dict[str, Any]) -> None:
        """Go back to where tensors() and the position were taken."""
        super().restore(tensors, description)
        self.target.load_state_dict(part(tensors, "target"))
        self.forget()
        if is_listed(self.puzzle):
            self.cost_to_go.values[:] = tensors["remembered"].numpy()
        if self.walks is not None:
            self.walks = tensors["walks"].numpy()


def begin(puzzle: Puzzle, params: ModelParams, precision: str) -> DaviTraining:
    """A training before its first iteration."""
    network = build(params.architecture, puzzle, params.seed)
    target = first_target(network, puzzle)
    disks = min(params.sampler.disks, puzzle.cells) if params.sampler.kind == "growing_tower" else 0
    walks = np.empty((0, puzzle.cells), dtype=np.uint8) if params.sampler.greedy_share else None
    optimizer = optimizer_of(network, params)
    return DaviTraining(
        puzzle,
        params,
        precision,
        network,
        optimizer,
        target=target,
        walks=walks,
        disks=disks,
        bound=bound_of(params.architecture, puzzle),
    )


def first_target(network: Network, puzzle: Puzzle) -> Network:
    """J_0: of a network its own first weights, as in the literature; of an automaton 0 everywhere."""
    target = of_architecture(network.architecture, puzzle)
    if network.architecture.kind != "automaton":
        target.load_state_dict(network.state_dict())
    return target


def train(training: DaviTraining) -> Iterator[Progress]:
    """Run the iterations that are left, one Progress each.

    Every iteration draws from a generator of its own, seeded by the training's seed and the iteration's number. The
    validation loss is measured where it is looked at, and at the end; NaN between. Raises DivergedError where a loss
    that was measured is not finite.
    """
    params = training.params
    while training.iteration < params.iterations:
        training.iteration += 1
        if training.overdue:
            begin_anew(training)
        generator = np.random.default_rng([params.seed, training.iteration])
        walk_max = training.walk_max
        set_learning_rate(training)
        loss = training.finite(fit(training, draw_with_walks(training, walk_max, generator), generator))
        looked, forced = training.iteration % params.check_every == 0, training.iteration == params.forced_update
        validation, validation_loss = None, np.nan
        if looked or forced or training.iteration == params.iterations:
            validation = draw(training, params.validation_states, walk_max, generator)
            validation_loss = training.finite(validate(training, validation), "validation loss")
        if params.polyak:
            training.follow(params.polyak)
        updated = looked and not training.settled and (params.polyak > 0 or validation_loss < params.epsilon)
        updated |= forced
        if updated and params.polyak:
            training.convergence_points += 1
        elif updated:
            training.update_target()
            if params.sampler.kind == "growing_tower":
                grow(training, validation)
        yield Progress(training.iteration, training.convergence_points, walk_max, loss, validation_loss, updated)


def grow(training: DaviTraining, states: States) -> None:
    """Let a tower grow by a disk once the new target nearly satisfies the Bellman equation by itself.

    Nearly: its mean squared residual on the given states is below residual times their mean
    cost-to-go.  A whole tower is settled then.
    """
    sampler, whole = training.params.sampler, training.disks == training.puzzle.cells
    mean = float(training.cost_to_go(states).mean())
    if validate(training, states) < sampler.residual * mean:
        training.settled = whole
        training.disks, training.grown_at = training.disks + (not whole), training.iteration


def begin_anew(training: DaviTraining) -> None:
    """Go back to the smallest tower, with other first weights: this one has not grown for patience iterations."""
    params = training.params
    training.network = build(params.architecture, training.puzzle, params.seed + training.iteration)
    training.target = first_target(training.network, training.puzzle)
    training.optimizer = optimizer_of(training.network, params)
    training.forget()
    training.disks, training.grown_at = min(params.sampler.disks, training.puzzle.cells), training.iteration


def draw(training: DaviTraining, count: int, walk_max: int, generator: np.random.Generator) -> States:
    """Exactly count states from the sampler, uint8 [count, D]."""
    return sample_states(training.puzzle, training.params.sampler, count, walk_max, generator)


def draw_with_walks(training: DaviTraining, walk_max: int, generator: np.random.Generator) -> States:
    """The states of an iteration, uint8 [states_per_iteration, D]: first those of greedy walks."""
    count = training.params.states_per_iteration
    if training.walks is None:
        return draw(training, count, walk_max, generator)
    return np.concatenate([training.walks, draw(training, count - len(training.walks), walk_max, generator)])


def bellman_targets(puzzle: Puzzle, states: States, costs: CostToGo) -> CostToGo:
    """The least over legal actions of 1 + cost-to-go of the child, 0 at the goal: float32 [N]; costs: child_costs."""
    targets = 1 + costs.min(axis=1)
    targets[puzzle.is_goal(states)] = 0.0
    return targets


def squared_error(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean squared error in moves², of outputs by action [N, A] where the target is known, else of all [N]."""
    if outputs.ndim == 2:
        known = ~targets.isnan()
        outputs, targets = outputs[known], targets[known]
    return functional.mse_loss(outputs, targets)


def fit(training: DaviTraining, drawn: States, generator: np.random.Generator) -> float:
    """One pass over the states in shuffled minibatches; returns the mean loss over them."""
    costs = training.child_costs(drawn)
    order = generator.permutation(len(drawn))
    states, targets = drawn[order], training.targets(drawn, costs)[order]
    if training.bound is not None:
        targets -= training.bound(states)
    targets = torch.from_numpy(targets).to(training.device)
    if training.walks is not None:
        training.walks = go_on(training.puzzle, training.params.sampler, drawn, costs, generator)
    training.network.train()
    if training.params.optimizer == "lbfgs":
        return fit_whole(training, encode(training.puzzle, states, device=training.device), targets)
    total, size = 0.0, training.params.minibatch
    for first in range(0, len(states), size):
        inputs = encode(training.puzzle, states[first : first + size], device=training.device)
        wanted = targets[first : first + size]
        total += step(training, inputs, partial(squared_error, targets=wanted)) * len(inputs)
    return total / len(states)


def fit_whole(training: DaviTraining, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """Some steps of L-BFGS on all states at once, from no memory of former ones; returns the mean loss before them."""
    options = {"line_search_fn": "strong_wolfe", "tolerance_grad": 0.0, "tolerance_change": 0.0, "history_size": 20}
    optimizer = torch.optim.LBFGS(training.network.parameters(), max_iter=training.params.lbfgs_steps, **options)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        error = squared_error(training.network(inputs), targets)
        error.backward()
        return error

    return optimizer.step(loss).item()


def validate(training: DaviTraining, states: States) -> float:
    """Mean squared error of the trained network, in inference mode, against the targets of fresh states."""
    targets, predicted = training.targets(states), training.heuristic.predicted(states)
    known = ~np.isnan(targets)
    return float(np.mean((predicted[known] - targets[known]) ** 2, dtype=np.float64))
