"""Which lights to press, learned from random presses: of Lights Out, where no two sets of presses do the same.

A board is made by random presses, each cell counting as pressed where it was an odd number of times: the only solution,
and so the shortest. The network learns the set by cross-entropy, each row by the true presses of later rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from costtogo.learning import examples
from costtogo.learning.examples import Examples
from costtogo.learning.training import Progress, Training
from costtogo.params.training import ModelParams
from costtogo.puzzles.base import Puzzle
from costtogo.types import UserError


@dataclass(frozen=True)
class Pressed(Examples):
    """Boards uint8 [N, D], and the presses that solve them, float32 [N, A], 1 where a light is pressed."""

    presses: np.ndarray

    def told(self, device: torch.device) -> tuple[torch.Tensor, ...]:
        """What the network is given with the states while it learns: the presses."""
        return (torch.as_tensor(self.presses, device=device),)

    def error(self, outputs: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
        """Cross-entropy of log odds [N, A], nats a press."""
        told = self.told(outputs.device)
        return functional.binary_cross_entropy_with_logits(outputs, *told, reduction=reduction)


def begin(puzzle: Puzzle, params: ModelParams, precision: str) -> Training:
    """A training before its first iteration."""
    if len(puzzle.quiet):
        raise UserError(
            f"On {puzzle.name} several sets of presses do the same, so what was pressed need not be the shortest "
            "solution: the trainer presses is for a board where none do, such as lights_out_7."
        )
    return examples.begin(puzzle, params, precision)


def train(training: Training) -> Iterator[Progress]:
    """Run the iterations that are left, one Progress each."""
    return examples.train(training, draw, validate)


def draw(puzzle: Puzzle, count: int, walk_max: int, generator: np.random.Generator) -> Pressed:
    """Boards after 1 to walk_max random presses, each number as likely."""
    # Rows have walk_max presses, of which the first ones are made; two of the same light undo each other.
    made = np.arange(walk_max) < generator.integers(1, walk_max + 1, size=count)[:, None]
    pressed = np.zeros((count, len(puzzle.actions)), dtype=np.uint8)
    rows = np.broadcast_to(np.arange(count)[:, None], made.shape)
    np.bitwise_xor.at(pressed, (rows[made], generator.integers(len(puzzle.actions), size=made.shape)[made]), 1)
    states = (pressed.astype(np.float32) @ puzzle.presses % 2).astype(np.uint8)
    return Pressed(states, pressed.astype(np.float32))


@torch.inference_mode()
def validate(training: Training, drawn: Pressed) -> float:
    """Cross-entropy of the network in inference mode, which goes by its own presses, in nats a press."""
    inputs = training.network.encoded(drawn.states)
    return float(drawn.error(training.network.eval()(inputs)))
