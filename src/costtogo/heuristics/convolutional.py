"""A convolutional value network for square boards, as in the final-year report for the 15-puzzle.

Its 4.2.4: convolutions with kernels of 2 × 2 cells and strides of 1, the first with a padding of one cell, the others
with none, then fully connected layers. Each letter is a channel. A convolution is computed as a linear layer over the
patches of the board, in one matrix product.
"""

from functools import partial

import torch
from torch import nn
from torch.nn import functional

from costtogo.heuristics.layers import (
    Layer,
    Linear,
    Network,
    Output,
    frozen_layer,
    norm_of,
    normalised,
    one_hot,
    through,
)
from costtogo.params.training import ArchitectureParams
from costtogo.puzzles.base import Puzzle
from costtogo.types import UserError

PADDING = 1  # cells around the board, for the first convolution


class ConvolutionalNetwork(Network):
    """One-hot states [N, D · letters] → cost-to-go [N], or that of each child [N, A] if the architecture says so."""

    def __init__(self, architecture: ArchitectureParams, puzzle: Puzzle):
        super().__init__(architecture, puzzle)
        if not puzzle.side:
            raise UserError(f"A convolutional network needs cells that lie in a square; those of {puzzle.name} do not.")
        self.side, self.kernel = puzzle.side, architecture.kernel
        channels, count = [puzzle.letters, *architecture.channels], len(architecture.channels)
        left = self.side + 2 * PADDING - count * (self.kernel - 1)  # cells in a row after the last convolution
        if left < 1:
            patch = f"{self.kernel} × {self.kernel} cells"
            raise UserError(f"{count} convolutions of {patch} leave nothing of the board of {puzzle.name}.")
        patches = [self.kernel**2 * width for width in channels[:-1]]
        widths = [left**2 * channels[-1], *architecture.first_layers]
        pairs = [*zip(patches, channels[1:], strict=True), *zip(widths, widths[1:], strict=False)]
        self.layers = nn.ModuleList(Linear(i, o) for i, o in pairs)
        self.norms = nn.ModuleList(norm_of(architecture, o) for _, o in pairs)
        self.output = Output(widths[-1], architecture, puzzle)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, D · letters]."""
        pairs = zip(self.layers, self.norms, strict=True)
        return self._through([*(partial(self._layer, *pair) for pair in pairs), self.output], values)

    def _layer(self, layer: nn.Linear, norm: nn.Module, values: torch.Tensor) -> torch.Tensor:
        """A layer in training; values: [..., width], normalised over all but the last axis."""
        made = layer(values)
        return normalised(made.flatten(0, -2), norm, self.architecture.norm_after_relu).view(made.shape)

    def _through(self, layers: list[Layer], values: torch.Tensor) -> torch.Tensor:
        """One-hot states through the convolutions and the other layers: the output of the last one."""
        board = values.view(-1, self.side, self.side, self.letters)
        board = functional.pad(board, (0, 0, PADDING, PADDING, PADDING, PADDING))
        count = len(self.architecture.channels)
        for layer in layers[:count]:
            board = layer(patches_of(board, self.kernel))
        return through(layers[count:], board.flatten(1))

    def frozen(self, dtype: torch.dtype) -> Layer:
        """The network in inference mode as a function of states, a tensor uint8 [N, D].

        All layers but the last compute in the given type.
        """
        pairs, after = zip(self.layers, self.norms, strict=True), self.architecture.norm_after_relu
        with torch.no_grad():
            layers = [*(frozen_layer(*pair, dtype, after) for pair in pairs), self.output.frozen()]
        return lambda states: self._through(layers, one_hot(states, self.letters, dtype))


def patches_of(board: torch.Tensor, kernel: int) -> torch.Tensor:
    """The cells of each patch of kernel × kernel cells: [N, R, R, C] -> [N, R - kernel + 1, same, kernel² · C]."""
    left = board.shape[1] - kernel + 1
    parts = [board[:, row : row + left, column : column + left] for row in range(kernel) for column in range(kernel)]
    return torch.cat(parts, dim=3)
