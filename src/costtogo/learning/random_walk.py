"""Random-walk regression: the network learns how long the walks are that lead from the goal to a state.

Walks from the goal never undo their last move. The mean length of the walks through a state is not its distance,
but it orders states much as the distance does, and it needs no target network: every state of a walk is an example
(Chervov et al. 2025, "A machine learning approach that beats large Rubik's cubes", arXiv:2502.13266).

A network with one output a state learns the length k. One with an output for each child learns two of them from each
state of a walk: the child that the walk came from, k - 1, and the child that it goes on to, k + 1.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch.nn import functional

from costtogo.engines import Batch, Engine, engine_on
from costtogo.learning import examples
from costtogo.learning.examples import Examples
from costtogo.learning.training import Progress, Training, reduced
from costtogo.puzzles.base import Puzzle

begin = examples.begin


@dataclass(frozen=True)
class Walks(Examples):
    """States of walks from the goal, one row a state.

    states: uint8 [N, D].  length: float32 [N], moves of the walk so far.
    actions: int64 [N, 2], the action that undoes the last step back, and the one that the walk goes on with; of a
    puzzle without inverses, where the walk goes on with no action, only the first: [N, 1].
    """

    length: Batch
    actions: Batch

    def error(self, outputs: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
        """Squared error against the lengths of the walks, in moves²; outputs [N] or [N, A]."""
        length, actions = (torch.as_tensor(each, device=outputs.device) for each in (self.length, self.actions))
        if outputs.ndim == 1:
            return functional.mse_loss(outputs, length, reduction=reduction)
        # A walk gives two of a state's outputs: the child it came from is a move nearer, the one it goes to, farther.
        ahead = 2 * torch.arange(actions.shape[1], device=outputs.device) - 1
        errors = (outputs.gather(1, actions) - length[:, None] - ahead).T.flatten()
        return reduced(errors.square(), reduction)


def train(training: Training) -> Iterator[Progress]:
    """Run the iterations that are left, one Progress each."""
    return examples.train(training, partial(draw_walks, engine=training.engine), validate)


def validate(training: Training, walks: Walks) -> float:
    """Mean squared error of the network in inference mode, in moves²."""
    return float(walks.error(torch.as_tensor(training.heuristic.predicted(walks.states))))


def draw_walks(
    puzzle: Puzzle, count: int, length: int, generator: np.random.Generator, engine: Engine | None = None
) -> Walks:
    """Whole walks of `length` moves, at least `count` states in all, with the targets of each state.

    engine: that of the host if left out.
    """
    engine = engine or engine_on(puzzle, "cpu")
    draws = generator.random((math.ceil(count / length), length + 1))
    states, steps = engine.walk(draws)
    actions = [engine.given(puzzle.steps_back.action)[steps[:, :-1]], steps[:, 1:]]
    known = actions if puzzle.has_inverses else actions[:1]
    return Walks(
        states.reshape(-1, puzzle.cells),
        engine.given(np.tile(np.arange(1, length + 1, dtype=np.float32), len(draws))),
        engine.xp.stack([each.reshape(-1) for each in known], 1),
    )
