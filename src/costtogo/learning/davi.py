"""Deep approximate value iteration (DAVI): Agostinelli et al. 2019, Algorithm 1; thesis 3.3, 4.7 and 5.4.

Two networks of one architecture: the target network gives J_k, the trained one approaches
J_{k+1}(s) = min over actions of 1 + J_k(child), with 0 at the goal. When its validation loss, looked at every
check_every iterations on states drawn anew, falls below epsilon, its weights become the target's: a
convergence point; forced_update makes one whatever the loss (final-year report, 4.2.2). With polyak the target follows
at every iteration instead, by that share of the difference; a share of 1 leaves no target network but for a lag.

A network with an output for each child approaches J_{k+1} of all children of a state at once: the target network is
evaluated on the children, as often as for the one value of the state.

With lookahead 2 the targets look two moves ahead: the J_k of a child is replaced by its Bellman backup, from the
children of the child, the state itself among them (the depth-2 search of DeepCubeA's comparison of update strategies).

A network above a lower bound learns the difference to it, so that J_0 is near that bound already: value iteration from
a consistent bound rises to the optimum as from 0, and has less far to go.

greedy_share is the share of an iteration's states that come from walks that follow J_k instead: greedy_walks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch

from costtogo.engines import Batch, engine_of
from costtogo.heuristics.children import child_costs
from costtogo.heuristics.network import Network, NetworkHeuristic, bound_of, build, of_architecture
from costtogo.heuristics.table import Remembered
from costtogo.learning.curriculum import Curriculum, curriculum_of
from costtogo.learning.greedy_walks import go_on
from costtogo.learning.training import (
    Progress,
    Tensors,
    Training,
    mean_of,
    optimizer_of,
    part,
    prefixed,
    set_learning_rate,
    squared_error,
    step,
)
from costtogo.parallel import backward, own
from costtogo.params.training import ModelParams
from costtogo.puzzles.base import Puzzle, is_listed
from costtogo.types import Heuristic


@dataclass
class DaviTraining(Training):
    """A training by DAVI."""

    points: ClassVar[str] = "convergence points"
    target: Network | None = None
    walks: Batch | None = None  # the states that greedy walks are at, uint8 [W, D], where greedy_share asks for them
    curriculum: Curriculum | None = None
    convergence_points: int = 0
    bound: Heuristic | None = None  # that the network lies above
    _frozen: Heuristic | None = field(default=None, repr=False)

    @property
    def position(self) -> dict[str, Any]:
        """The progress of the training and of its curriculum."""
        return super().position | {"convergence_points": self.convergence_points} | self.curriculum.position

    def to(self, device: str) -> "DaviTraining":
        """Compute on another device, the target network, too."""
        self.target.to(device)
        return super().to(device)

    def start_from(self, weights: Tensors) -> None:
        """Begin with the weights of another network, which is J_0, too."""
        super().start_from(weights)
        self.target.load_state_dict(weights)

    def child_costs(self, states: Batch) -> Batch:
        """What targets have of each child, J_k or, two moves ahead, its backup: float32 [N, A].

        inf where illegal or no part of the curriculum yet.
        """
        of_child = self.cost_to_go if self.params.lookahead == 1 else self.backed_up
        return child_costs(
            self.puzzle, states, lambda children: of_child(children).clip(max=self.ceiling), self.curriculum.within
        )

    @property
    def ceiling(self) -> float:
        """Moves, more than which no target says; inf where none is asked for."""
        return self.params.ceiling or np.inf

    def backed_up(self, states: Batch) -> Batch:
        """The Bellman backup of J_k: the least over the children of 1 + J_k, 0 at the goal, float32 [N]."""
        costs = child_costs(self.puzzle, states, self.cost_to_go, self.curriculum.within)
        return bellman_targets(self.puzzle, states, costs)

    def targets(self, states: Batch, costs: Batch | None = None) -> Batch:
        """What J_{k+1} should be, float32 [N] or, by action, [N, A] and NaN where illegal; costs: child_costs."""
        costs = self.child_costs(states) if costs is None else costs
        if self.params.architecture.outputs == "actions":
            return self.engine.xp.where(self.engine.xp.isinf(costs), np.nan, costs)
        return bellman_targets(self.puzzle, states, costs)

    @property
    def remembers(self) -> bool:
        """Whether J_k is kept for each state of a listed puzzle: the host evaluates a state once."""
        return is_listed(self.puzzle) and self.engine.xp is np

    @property
    def cost_to_go(self) -> Heuristic:
        """J_k: the target network, frozen at the last convergence point."""
        if self._frozen is None:
            frozen = NetworkHeuristic(self.puzzle, self.target, self.precision)
            self._frozen = Remembered(self.puzzle, frozen) if self.remembers else frozen
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
        if self.remembers:
            tensors["remembered"] = torch.from_numpy(self.cost_to_go.values)
        if self.walks is not None:
            tensors["walks"] = torch.as_tensor(self.walks)
        return tensors

    def restore(self, tensors: Tensors, description: dict[str, Any]) -> None:
        """Go back to where tensors() and the position were taken."""
        super().restore(tensors, description)
        self.convergence_points = description["convergence_points"]
        for name in self.curriculum.position:
            setattr(self.curriculum, name, description[name])
        self.target.load_state_dict(part(tensors, "target"))
        self.forget()
        if self.remembers:
            self.cost_to_go.values[:] = tensors["remembered"].numpy()
        if self.walks is not None:
            self.walks = self.engine.given(tensors["walks"].numpy())


def begin(puzzle: Puzzle, params: ModelParams, precision: str) -> DaviTraining:
    """A training before its first iteration."""
    network = build(params.architecture, puzzle, params.seed)
    return DaviTraining(
        puzzle,
        params,
        precision,
        network,
        optimizer_of(network, params),
        target=first_target(network, puzzle),
        walks=np.empty((0, puzzle.cells), dtype=np.uint8) if params.sampler.greedy_share else None,
        curriculum=curriculum_of(puzzle, params.sampler),
        bound=bound_of(params.architecture, puzzle),
    )


def begin_anew(training: DaviTraining) -> None:
    """Go back to the beginning of the curriculum, with other first weights."""
    params = training.params
    device = training.device
    training.network = build(params.architecture, training.puzzle, params.seed + training.iteration).to(device)
    training.target = first_target(training.network, training.puzzle).to(device)
    training.optimizer = optimizer_of(training.network, params)
    training.forget()
    training.curriculum.begin_anew(training.iteration)


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
    params, curriculum = training.params, training.curriculum
    while training.iteration < params.iterations:
        training.iteration += 1
        # A tower that has not grown for its patience begins anew, from other weights.
        if curriculum.overdue(training.iteration):
            begin_anew(training)
        # Each iteration has a generator of its own, so that a resumed training draws the same.
        generator = np.random.default_rng([params.seed, training.iteration])
        longest = curriculum.longest(training.convergence_points)
        set_learning_rate(training)
        # Draw states and take a step towards J_{k+1} of each.
        drawn = draw(training, longest, generator)
        loss = training.finite(fit(training, drawn, generator))
        # How near it is, on other states.
        looked, forced = training.iteration % params.check_every == 0, training.iteration == params.forced_update
        validation, validation_loss = None, np.nan
        if looked or forced or training.iteration == params.iterations:
            validation = curriculum.draw(params.validation_states, longest, generator, training.engine)
            validation_loss = training.finite(validate(training, validation), "validation loss")
        # The target follows, or, near enough, J_{k+1} becomes J_k.
        if params.polyak:
            training.follow(params.polyak)
        near = params.polyak > 0 or validation_loss < params.epsilon
        updated = forced or (looked and near and not curriculum.settled)
        if updated and params.polyak:
            training.convergence_points += 1
        elif updated:
            training.update_target()
            curriculum.advance(training.iteration, partial(bellman_residual, training, validation))
        yield Progress(training.iteration, training.convergence_points, longest, loss, validation_loss, updated)


def draw(training: DaviTraining, longest: int, generator: np.random.Generator) -> Batch:
    """The states of an iteration, uint8 [states_per_iteration, D]: first those of greedy walks."""
    engine, walks = training.engine, () if training.walks is None else training.walks
    drawn = training.curriculum.draw(training.params.states_per_iteration - len(walks), longest, generator, engine)
    return engine.xp.concatenate([engine.given(walks), drawn]) if len(walks) else drawn


def bellman_targets(puzzle: Puzzle, states: Batch, costs: Batch) -> Batch:
    """The least over legal actions of 1 + cost-to-go of the child, 0 at the goal: float32 [N]; costs: child_costs."""
    engine = engine_of(puzzle, states)
    targets = 1 + engine.xp.amin(costs, 1)
    targets[engine.is_goal(states)] = 0.0
    return targets


def fit(training: DaviTraining, drawn: Batch, generator: np.random.Generator) -> float:
    """One pass over the states in shuffled minibatches; returns the mean loss over them."""
    # Targets are computed once, in the order drawn, and shuffled with their states.
    engine, costs = training.engine, training.child_costs(drawn)
    order = engine.given(generator.permutation(len(drawn)))
    states, targets = drawn[order], training.targets(drawn, costs)[order]
    # A network above a bound learns the difference.
    if training.bound is not None:
        targets -= engine.given(training.bound(engine.fetched(states)))
    targets = torch.as_tensor(targets, device=training.device)
    # Greedy walks go on by the same costs, at no further evaluation.
    if training.walks is not None:
        training.walks = go_on(training.puzzle, training.params.sampler, drawn, costs, generator, training.ceiling)
    training.network.train()
    if training.params.optimizer == "lbfgs":
        part = own(len(states))
        return fit_whole(training, training.network.encoded(states[part]), targets[part])
    losses, sizes, size = [], [], training.params.minibatch
    for first in range(0, len(states), size):
        batch, wanted = states[first : first + size], targets[first : first + size]
        # Each process takes its part of the minibatch; step sums their gradients.
        part = own(len(batch))
        losses.append(training.captured(step_towards)(batch[part], wanted[part]))
        sizes.append(len(batch))
    return mean_of(losses, sizes)


def step_towards(training: DaviTraining, states: Batch, targets: torch.Tensor) -> torch.Tensor:
    """One step on a minibatch; returns its mean squared error before."""
    return step(training, training.network.encoded(states), partial(squared_error, targets=targets))


def fit_whole(training: DaviTraining, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """Some steps of L-BFGS on all states at once, from no memory of former ones; returns the mean loss before them.

    inputs, targets: this process's part.
    """
    options = {"line_search_fn": "strong_wolfe", "tolerance_grad": 0.0, "tolerance_change": 0.0, "history_size": 20}
    optimizer = torch.optim.LBFGS(training.network.parameters(), max_iter=training.params.lbfgs_steps, **options)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        error = partial(squared_error, training.network(inputs), targets)
        return backward(error, training.network.parameters())

    return optimizer.step(loss).item()


def validate(training: DaviTraining, states: Batch) -> float:
    """Mean squared error of the trained network, in inference mode, against the targets of fresh states."""
    found = training.targets(states), training.heuristic.predicted(states)
    targets, predicted = map(training.engine.fetched, found)
    known = ~np.isnan(targets)
    return float(np.mean((predicted[known] - targets[known]) ** 2, dtype=np.float64))


def bellman_residual(training: DaviTraining, states: Batch) -> tuple[float, float]:
    """The mean squared residual of the Bellman equation of a new target network on states, and its mean cost-to-go."""
    mean = float(training.cost_to_go(states).mean())
    return validate(training, states), mean
