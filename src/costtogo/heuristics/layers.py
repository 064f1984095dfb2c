"""The shared parts of value networks: base class, matrix products, batch normalisation, layers in inference mode.

Which library multiplies depends on the processor: neither library that comes with torch is the fastest everywhere, and
training spends most of its time in products (benchmarks/README.md):

- float32: torch calls MKL, which on AMD processors with AVX-512 reaches less than half the speed of oneDNN. There,
  oneDNN computes products of FEW_ROWS rows or more (outruns_mkl), in training (Linear) and in inference mode
  (rectified).
- bfloat16: oneDNN, wherever the processor multiplies it natively (multiplies_bfloat16).
- The first layer of a frozen network has one-hot inputs: it sums rows of weights, unless a product is as fast
  (frozen_first).
- On other devices torch decides.

torch has no public call for oneDNN's product together with the next step in one pass; product and rectified_sum use the
call that torch.compile uses.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import lru_cache

import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from costtogo.heuristics.embedding_bag import index_of
from costtogo.heuristics.representation import VIEWS, View
from costtogo.parallel import Summed, processes
from costtogo.params.training import ArchitectureParams
from costtogo.puzzles.base import Puzzle
from costtogo.types import CostToGo, States

Layer = Callable[[torch.Tensor], torch.Tensor]

FEW_LETTERS = 8  # of a cell; up to here a product of one-hot values takes no longer than a sum of the rows they choose
FEW_LETTERS_ON_TILES = 32  # the same if the processor multiplies on tiles (AMX)
FEW_ROWS = 64  # of float32 values; MKL is faster with fewer rows


class Linear(nn.Linear):
    """A linear layer that multiplies float32 with oneDNN if by_onednn says so, also in training.

    Never while a network is exported: other programs do not know that product.
    """

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [..., inputs]."""
        if torch.compiler.is_exporting():
            return super().forward(values)
        computed = torch.bfloat16 if torch.is_autocast_enabled(values.device.type) else values.dtype
        if computed == torch.float32 and by_onednn(computed, values.device, rows_of(values)):
            return _Products.apply(values, self.weight, self.bias)
        return super().forward(values)


class _Products(torch.autograd.Function):
    """The three products of a linear layer with oneDNN: its output and both gradients."""

    @staticmethod
    def forward(context, values, weight, bias):
        context.save_for_backward(values, weight)
        return product(values, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(context, gradient):
        values, weight = context.saved_tensors
        of_values = product(gradient, weight.T) if context.needs_input_grad[0] else None
        gradient, values = gradient.flatten(0, -2), values.flatten(0, -2)
        return of_values, product(gradient.T, values.T), gradient.sum(0)


def product(
    values: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, then: str = "none"
) -> torch.Tensor:
    """values · weightᵀ + bias with oneDNN, and the function `then` of it, all in one pass."""
    return torch.ops.mkldnn._linear_pointwise.default(values, weight, bias, then, [], "")


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation as in Keras: the running variance follows the biased variance of a batch.

    If several processes train together, the batch is that of all of them.
    """

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, width]."""
        if not self.training:
            return super().forward(values)
        if processes() > 1:
            return self._of_all_processes(values)
        if len(values) == 1:  # its own mean and a variance of 0, which torch refuses
            with torch.no_grad():
                self.running_mean.lerp_(values[0].float(), self.momentum)
                self.running_var.mul_(1 - self.momentum)
            return (values - values) * self.weight + self.bias
        before = self.running_var * (1 - self.momentum)
        normalised = super().forward(values)
        # In place, for steps that a device repeats. By .data: autograd has noted the average, but does not read it.
        self.running_var.data.sub_((self.running_var - before) / len(values))
        return normalised

    def _of_all_processes(self, values: torch.Tensor) -> torch.Tensor:
        """The rows of this process, normalised by mean and variance over all processes; torch's version needs CUDA."""
        given = values.float()
        whole = Summed.apply(torch.cat([given.sum(0), given.new_tensor([len(given)])]))
        mean, count = whole[:-1] / whole[-1], whole[-1]
        centred = given - mean
        variance = Summed.apply(centred.square().sum(0)) / count
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean = torch.lerp(self.running_mean, mean, self.momentum)
            self.running_var = torch.lerp(self.running_var, variance, self.momentum)
        return (centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias).to(values.dtype)

    def scale_and_shift(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Its effect in inference mode: values · scale + shift."""
        scale = self.weight / torch.sqrt(self.running_var + self.eps)
        return scale, self.bias - self.running_mean * scale


class Network(nn.Module):
    """One-hot states [N, D · letters] → cost-to-go [N], or that of each child [N, A] if the architecture says so."""

    def __init__(self, architecture: ArchitectureParams, puzzle: Puzzle):
        super().__init__()
        self.architecture, self.cells, self.letters = architecture, puzzle.cells, puzzle.letters
        self.view = VIEWS[getattr(architecture, "inputs", "cells")](puzzle)

    def encoded(self, states: States | torch.Tensor) -> torch.Tensor:
        """The input of the network for states, uint8 [N, D]: one-hot, made on its device from one byte per cell."""
        given = torch.as_tensor(states, device=next(self.parameters()).device)
        return one_hot(self.view.of(given), self.view.letters, torch.float32)

    def initialise(self) -> None:
        """Set the initial weights from torch's generator: Glorot uniform and zero biases, as Keras does."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def outputs(self, states: torch.Tensor) -> torch.Tensor:
        """What a search gets from the network for states, a tensor uint8 [N, D]: float32 [N], [N, A] or [N, 1 + A]."""
        return self(one_hot(self.view.of(states), self.view.letters, torch.float32))

    def frozen(self, dtype: torch.dtype) -> Layer:
        """The network in inference mode as a function of states, a tensor uint8 [N, D], computed in the given type.

        This base class computes in the type of the weights instead.
        """
        return deepcopy(self).eval().outputs

    def frozen_children(self) -> Callable[[States], CostToGo] | None:
        """What evaluates all children of states, uint8 [N, D], sooner than frozen would; None if nothing does."""
        return None

    @property
    def parameter_count(self) -> int:
        """The number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.parameters())


class Output(nn.Linear):
    """The last layer, in float32 even if the others compute in another type: [N, width] -> [N], or [N, A] by action.

    With a policy [N, 1 + A]: the value, then the logits of the actions.
    """

    def __init__(self, width: int, architecture: ArchitectureParams, puzzle: Puzzle):
        actions = len(puzzle.actions)
        super().__init__(width, {"state": 1, "actions": actions, "policy": 1 + actions}[architecture.outputs])

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, width]."""
        with torch.autocast(values.device.type, enabled=False):
            return squeezed(super().forward(values.float()))

    def frozen(self) -> Layer:
        """The layer as it is now: later changes of its weights do not change the result."""
        weight, bias = self.weight.detach().clone(), self.bias.detach().clone()
        return lambda values: squeezed(functional.linear(values.float(), weight, bias))


def squeezed(outputs: torch.Tensor) -> torch.Tensor:
    """[N, 1] -> [N]; wider outputs are unchanged."""
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs


def through(layers: Iterable[Layer], values: torch.Tensor) -> torch.Tensor:
    """Values after one layer after another."""
    for layer in layers:
        values = layer(values)
    return values


def norm_of(architecture: ArchitectureParams, width: int) -> nn.Module:
    """The batch normalisation of an architecture, or the identity if it has none."""
    if not architecture.batch_norm:
        return nn.Identity()
    momentum = 1 - architecture.batch_norm_momentum  # torch weighs the new batch, Keras the old average
    return BatchNorm(width, eps=architecture.batch_norm_epsilon, momentum=momentum)


def normalised(values: torch.Tensor, norm: nn.Module, after_relu: bool) -> torch.Tensor:
    """Batch normalisation and ReLU, in this order or, with after_relu, in reverse; values: [N, width]."""
    return norm(functional.relu(values)) if after_relu else functional.relu(norm(values))


def fold(layer: nn.Linear, norm: nn.Module, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias of a linear layer, copies in the given type, with the batch normalisation after it folded in."""
    weight, bias = layer.weight, layer.bias
    if isinstance(norm, BatchNorm):
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        weight, bias = weight * scale[:, None], (bias - norm.running_mean) * scale + norm.bias
    return weight.to(dtype, copy=True), bias.to(dtype, copy=True)


def frozen_layer(layer: nn.Linear, norm: nn.Module, dtype: torch.dtype, after_relu: bool) -> Layer:
    """A linear layer, its batch normalisation and its ReLU in inference mode: a function of values [..., width]."""
    weight, bias = fold(layer, nn.Identity() if after_relu else norm, dtype)
    following = frozen_norm(norm if after_relu else nn.Identity(), dtype)
    return lambda values: following(rectified(values, weight, bias))


def frozen_norm(norm: nn.Module, dtype: torch.dtype) -> Layer:
    """Batch normalisation, or the identity, in inference mode."""
    if not isinstance(norm, BatchNorm):
        return lambda values: values
    scale, shift = (part.to(dtype, copy=True) for part in norm.scale_and_shift())
    return lambda values: torch.addcmul(shift, values, scale)


def frozen_first(layer: nn.Linear, norm: nn.Module, dtype: torch.dtype, after_relu: bool, view: View) -> Layer:
    """As frozen_layer, but of states uint8 [N, D]: they choose the rows of weights, or of their sums, to add up.

    view: the network's view of states.

    If oneDNN multiplies bfloat16, the product of one-hot values with few letters is faster than the sums.
    """
    few = FEW_LETTERS_ON_TILES if torch.cpu._is_amx_tile_supported() else FEW_LETTERS
    device = layer.weight.device
    if dtype == torch.bfloat16 and by_onednn(dtype, device, FEW_ROWS) and view.letters <= few:
        following = frozen_layer(layer, norm, dtype, after_relu)
        return lambda states: following(one_hot(view.of(states), view.letters, dtype))
    weight, bias = fold(layer, nn.Identity() if after_relu else norm, torch.float32)
    rows = weight.T.contiguous()
    if view.pieces:
        index = index_of(view.puzzle, device)
        rows, always = index.summed(rows)
        chosen, bias = index.chosen, bias + always
    else:
        first = torch.arange(0, len(rows), view.letters, dtype=torch.int32, device=device)
        chosen = lambda states: first + view.of(states)  # noqa: E731
    rows, bias = rows.to(dtype), bias.to(dtype)
    following = frozen_norm(norm if after_relu else nn.Identity(), dtype)
    return lambda states: following(functional.embedding_bag(chosen(states), rows, mode="sum").add_(bias).relu_())


def one_hot(states: torch.Tensor, letters: int, dtype: torch.dtype) -> torch.Tensor:
    """One-hot encoding of states uint8 [N, D], in order: [N, D · letters]."""
    rows = torch.eye(letters, dtype=dtype, device=states.device)
    return rows.index_select(0, states.reshape(-1).int()).view(states.shape[0], states.shape[1] * letters)


def by_onednn(dtype: torch.dtype, device: torch.device, rows: int) -> bool:
    """True if oneDNN multiplies `rows` rows of the given type, together with the next step in one pass.

    bfloat16 wherever it can, many rows of float32 where it is faster than MKL.
    """
    if device.type != "cpu":
        return False
    if dtype == torch.bfloat16:
        return multiplies_bfloat16()
    return dtype == torch.float32 and rows >= FEW_ROWS and outruns_mkl()


@lru_cache(maxsize=1)
def multiplies_bfloat16() -> bool:
    """True if oneDNN multiplies bfloat16 on this processor; without AVX-512 it refuses."""
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


@lru_cache(maxsize=1)
def outruns_mkl() -> bool:
    """True if oneDNN multiplies float32 faster than MKL: on AMD processors with AVX-512, twice as fast."""
    processor = torch.cpu.get_capabilities()
    made_by_amd = "AMD" in processor.get("cpu_name", "")
    return made_by_amd and processor.get("avx512_f", False) and torch.backends.mkldnn.is_available()


def rectified(values: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """ReLU of a linear layer."""
    if by_onednn(values.dtype, values.device, rows_of(values)):
        return product(values, weight, bias, "relu")
    return functional.linear(values, weight, bias).relu_()


def rectified_sum(values: torch.Tensor, other: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """ReLU of the sum of `other` and a linear layer of values, both [N, width]."""
    if by_onednn(values.dtype, values.device, rows_of(values)):
        return torch.ops.mkldnn._linear_pointwise.binary(values, other, weight, bias, "add").relu_()
    return functional.linear(values, weight, bias).add_(other).relu_()


def rows_of(values: torch.Tensor) -> int:
    """The number of rows of a product with values [..., width]."""
    return values.shape[:-1].numel()
