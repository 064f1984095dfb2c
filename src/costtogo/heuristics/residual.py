"""The fully connected residual network of DeepCubeA.

Layers are named as in Agostinelli et al. 2019 (doi:10.1038/s42256-019-0070-z) and thesis 4.6: fully connected
layers, then residual blocks as wide as the last of them, batch normalisation before each ReLU, one output. With
norm_after_relu it follows each ReLU, and a block ends with the sum, as in the final-year report (4.2.4).
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import nn
from torch.nn import functional

from costtogo.heuristics.layers import (
    Layer,
    Linear,
    Network,
    fold,
    frozen_first,
    frozen_layer,
    norm_of,
    normalised,
    rectified_sum,
    squeezed,
)
from costtogo.params.training import ArchitectureParams
from costtogo.puzzles.base import Puzzle


class ResidualBlock(nn.Module):
    """Fully connected layers with a shortcut around them; the last ReLU follows the sum, or precedes it."""

    def __init__(self, width: int, architecture: ArchitectureParams):
        super().__init__()
        self.norm_after_relu = architecture.norm_after_relu
        self.layers = nn.ModuleList(Linear(width, width) for _ in range(architecture.layers_per_block))
        self.norms = nn.ModuleList(norm_of(architecture, width) for _ in range(architecture.layers_per_block))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, width]."""
        inside = values
        if self.norm_after_relu:
            for layer, norm in zip(self.layers, self.norms, strict=True):
                inside = normalised(layer(inside), norm, after_relu=True)
            return values + inside
        for index, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            inside = norm(layer(functional.relu(inside) if index else inside))
        return functional.relu(values + inside)


class ResidualNetwork(Network):
    """One-hot states [N, inputs] → cost-to-go [N], or that of each child [N, A] where the architecture says so."""

    def __init__(self, architecture: ArchitectureParams, puzzle: Puzzle):
        super().__init__(architecture)
        self.puzzle = puzzle
        widths = [puzzle.cells * puzzle.letters, *architecture.first_layers]
        self.first = nn.ModuleList(Linear(i, o) for i, o in zip(widths, widths[1:], strict=False))
        self.first_norms = nn.ModuleList(norm_of(architecture, width) for width in widths[1:])
        self.blocks = nn.ModuleList(
            ResidualBlock(widths[-1], architecture) for _ in range(architecture.residual_blocks)
        )
        self.output = nn.Linear(widths[-1], len(puzzle.actions) if architecture.outputs == "actions" else 1)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, inputs]; the output layer stays in float32 whatever the others compute in."""
        for layer, norm in zip(self.first, self.first_norms, strict=True):
            values = normalised(layer(values), norm, self.architecture.norm_after_relu)
        for block in self.blocks:
            values = block(values)
        with torch.autocast(values.device.type, enabled=False):
            return squeezed(self.output(values.float()))

    def frozen(self, dtype: torch.dtype) -> Callable[[torch.Tensor], torch.Tensor]:
        """The network in inference mode as a function of states, a tensor uint8 [N, D].

        Batch normalisation is folded into the weights; all layers but the last compute in the given type.
        """
        with torch.no_grad():
            after, (first, *others) = self.architecture.norm_after_relu, zip(self.first, self.first_norms, strict=True)
            freeze = partial(frozen_layer, dtype=dtype, after_relu=after)
            first = [frozen_first(*first, dtype, after, self.puzzle), *(freeze(*pair) for pair in others)]
            output = self.output.weight.detach().clone(), self.output.bias.detach().clone()
            pairs = [list(zip(block.layers, block.norms, strict=True)) for block in self.blocks]
            if after:
                blocks = [partial(_added, [freeze(*pair) for pair in block]) for block in pairs]
            else:
                inner = [[freeze(*pair) for pair in block[:-1]] for block in pairs]
                last = [fold(*block[-1], dtype) for block in pairs]
                blocks = [partial(_rectified_sum, *block) for block in zip(inner, last, strict=True)]
        return partial(_evaluate, [*first, *blocks], output)


def _evaluate(layers: list[Layer], output: tuple, values: torch.Tensor) -> torch.Tensor:
    for layer in layers:
        values = layer(values)
    return squeezed(functional.linear(values.float(), *output))


def _added(layers: list[Layer], values: torch.Tensor) -> torch.Tensor:
    """A residual block that ends with the sum."""
    inside = values
    for layer in layers:
        inside = layer(inside)
    return inside.add_(values)


def _rectified_sum(inner: list[Layer], last: tuple, values: torch.Tensor) -> torch.Tensor:
    """A residual block whose last ReLU follows the sum."""
    inside = values
    for layer in inner:
        inside = layer(inside)
    return rectified_sum(inside, values, *last)
