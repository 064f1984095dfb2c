"""Trainings on examples, each with its own targets: one loop for all of them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import Self

import numpy as np
import torch

from costtogo.engines import Batch, Engine
from costtogo.heuristics.network import build
from costtogo.learning.training import Progress, Training, mean_of, optimizer_of, set_learning_rate, step
from costtogo.parallel import own
from costtogo.params.training import ModelParams
from costtogo.puzzles.base import Puzzle
from costtogo.types import States


@dataclass(frozen=True)
class Examples(ABC):
    """States, uint8 [N, D], with their targets: fields of N rows each, arrays or tensors."""

    states: States

    @property
    def columns(self) -> list[Batch]:
        """The fields in order."""
        return [getattr(self, field.name) for field in fields(self)]

    def on(self, engine: Engine) -> Self:
        """All of them where an engine computes."""
        return type(self)(*map(engine.given, self.columns))

    def told(self, device: torch.device) -> tuple[torch.Tensor, ...]:
        """What the network is given with the states while it learns."""
        return ()

    @abstractmethod
    def error(self, outputs: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
        """The loss of the network's outputs on these states; with the reduction none each error that it is made of."""


def begin(puzzle: Puzzle, params: ModelParams, precision: str) -> Training:
    """A training before its first iteration."""
    network = build(params.architecture, puzzle, params.seed)
    return Training(puzzle, params, precision, network, optimizer_of(network, params))


def train(
    training: Training,
    draw: Callable[[Puzzle, int, int, np.random.Generator], Examples],
    validate: Callable[[Training, Examples], float],
) -> Iterator[Progress]:
    """Run the iterations that are left, one Progress each; a checkpoint every check_every iterations and at the end.

    Every iteration draws from a generator of its own, seeded by the training's seed and the iteration's number. The
    validation loss is measured on examples of their own at each checkpoint, NaN between them. Raises DivergedError
    where a loss that was measured is not finite.
    """
    params, puzzle = training.params, training.puzzle
    walk_max = params.sampler.walk_max
    while training.iteration < params.iterations:
        training.iteration += 1
        generator = np.random.default_rng([params.seed, training.iteration])
        set_learning_rate(training)
        # Draw examples and take a pass over them.
        drawn = draw(puzzle, params.states_per_iteration, walk_max, generator)
        loss = training.finite(fit(training, drawn, generator))
        # Validate on examples of their own where a checkpoint is made.
        checkpoints, since = divmod(training.iteration, params.check_every)
        updated = since == 0 or training.iteration == params.iterations
        validation_loss = math.nan
        if updated:
            checkpoints += since > 0
            drawn = draw(puzzle, params.validation_states, walk_max, generator).on(training.engine)
            validation_loss = training.finite(validate(training, drawn), "validation loss")
        yield Progress(training.iteration, checkpoints, walk_max, loss, validation_loss, updated)


def fit(training: Training, drawn: Examples, generator: np.random.Generator) -> float:
    """One pass over the examples in shuffled minibatches; returns the mean loss over them."""
    order = training.engine.given(generator.permutation(len(drawn.states)))
    drawn = drawn.on(training.engine)
    training.network.train()
    take = training.captured(partial(step_on, type(drawn)))
    losses, sizes, size = [], [], training.params.minibatch
    for first in range(0, len(order), size):
        batch = order[first : first + size]
        # Each process takes its part of the minibatch; step sums their gradients.
        rows = batch[own(len(batch))]
        losses.append(take(*(column[rows] for column in drawn.columns)))
        sizes.append(len(batch))
    return mean_of(losses, sizes)


def step_on(kind: type[Examples], training: Training, *columns: Batch) -> torch.Tensor:
    """One step on a minibatch of examples, whose kind has these columns; returns its mean loss before."""
    part = kind(*columns)
    return step(training, training.network.encoded(part.states), part.error, *part.told(training.device))
