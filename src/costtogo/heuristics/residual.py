"""The fully connected residual network of DeepCubeA.

Layers are named as in Agostinelli et al. 2019 (doi:10.1038/s42256-019-0070-z) and thesis 4.6: fully connected layers,
then residual blocks as wide as the last of them, batch normalisation before each ReLU, one output. With norm_after_relu
it follows each ReLU, and a block ends with the sum, as in the final-year report (4.2.4).
"""

import torch
from torch import nn
from torch.nn import functional

from costtogo.heuristics.layers import (
    Layer,
    Linear,
    Network,
    Output,
    fold,
    frozen_first,
    frozen_layer,
    norm_of,
    normalised,
    rectified_sum,
    through,
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

    def frozen(self, dtype: torch.dtype) -> Layer:
        """The block in inference mode, its batch normalisation folded into the weights."""
        *others, last = zip(self.layers, self.norms, strict=True)
        inner = [frozen_layer(*pair, dtype, self.norm_after_relu) for pair in others]
        if self.norm_after_relu:
            inner.append(frozen_layer(*last, dtype, after_relu=True))
            return lambda values: through(inner, values).add_(values)
        weight, bias = fold(*last, dtype)
        return lambda values: rectified_sum(through(inner, values), values, weight, bias)


class ResidualNetwork(Network):
    """One-hot states [N, inputs] → cost-to-go [N], or that of each child [N, A] if the architecture says so."""

    def __init__(self, architecture: ArchitectureParams, puzzle: Puzzle):
        super().__init__(architecture, puzzle)
        widths = [self.view.cells * self.view.letters, *architecture.first_layers]
        self.first = nn.ModuleList(Linear(i, o) for i, o in zip(widths, widths[1:], strict=False))
        self.first_norms = nn.ModuleList(norm_of(architecture, width) for width in widths[1:])
        self.blocks = nn.ModuleList(
            ResidualBlock(widths[-1], architecture) for _ in range(architecture.residual_blocks)
        )
        self.output = Output(widths[-1], architecture, puzzle)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, inputs]."""
        for layer, norm in zip(self.first, self.first_norms, strict=True):
            values = normalised(layer(values), norm, self.architecture.norm_after_relu)
        return self.output(through(self.blocks, values))

    def frozen(self, dtype: torch.dtype) -> Layer:
        """The network in inference mode as a function of states, a tensor uint8 [N, D].

        Batch normalisation is folded into the weights; all layers but the last compute in the given type.
        """
        after, (first, *others) = self.architecture.norm_after_relu, zip(self.first, self.first_norms, strict=True)
        with torch.no_grad():
            layers = [
                frozen_first(*first, dtype, after, self.view),
                *(frozen_layer(*pair, dtype, after) for pair in others),
                *(block.frozen(dtype) for block in self.blocks),
                self.output.frozen(),
            ]
        return lambda states: through(layers, states)
