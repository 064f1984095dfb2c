"""What the layers of the value networks share: batch normalisation, and layers in inference mode."""

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import nn
from torch.nn import functional

from costtogo.params import ArchitectureParams

Layer = Callable[[torch.Tensor], torch.Tensor]

FEW_LETTERS = 32  # of a cell, with which a product of one-hot values takes no longer than to sum the rows they choose


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation as Keras does it: the running variance follows the biased variance of a batch."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, width]."""
        if not self.training:
            return super().forward(values)
        if len(values) == 1:  # its own mean and a variance of 0, which torch refuses
            with torch.no_grad():
                self.running_mean = torch.lerp(self.running_mean, values[0].float(), self.momentum)
                self.running_var = self.running_var * (1 - self.momentum)
            return (values - values) * self.weight + self.bias
        before = self.running_var * (1 - self.momentum)
        normalised = super().forward(values)
        with torch.no_grad():
            self.running_var = self.running_var - (self.running_var - before) / len(values)
        return normalised

    def scale_and_shift(self) -> tuple[torch.Tensor, torch.Tensor]:
        """What it does in inference mode: values · scale + shift."""
        scale = self.weight / torch.sqrt(self.running_var + self.eps)
        return scale, self.bias - self.running_mean * scale


def norm_of(architecture: ArchitectureParams, width: int) -> nn.Module:
    """The batch normalisation of an architecture, or nothing where it has none."""
    if not architecture.batch_norm:
        return nn.Identity()
    momentum = 1 - architecture.batch_norm_momentum  # torch weighs the new batch, Keras the old average
    return BatchNorm(width, eps=architecture.batch_norm_epsilon, momentum=momentum)


def glorot(network: nn.Module) -> None:
    """Glorot uniform weights and zero biases, as Keras begins, from torch's generator."""
    for module in network.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)


def parameter_count(network: nn.Module) -> int:
    """Trainable parameters."""
    return sum(parameter.numel() for parameter in network.parameters())


def normalised(values: torch.Tensor, norm: nn.Module, after_relu: bool) -> torch.Tensor:
    """Batch normalisation and ReLU, in this order or, after_relu, the other way round; values: [N, width]."""
    return norm(functional.relu(values)) if after_relu else functional.relu(norm(values))


def fold(layer: nn.Linear, norm: nn.Module, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias of a linear layer with the batch normalisation that follows it, copies in the given type."""
    weight, bias = layer.weight, layer.bias
    if isinstance(norm, BatchNorm):
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        weight, bias = weight * scale[:, None], (bias - norm.running_mean) * scale + norm.bias
    return weight.to(dtype, copy=True), bias.to(dtype, copy=True)


def frozen_layer(layer: nn.Linear, norm: nn.Module, dtype: torch.dtype, after_relu: bool) -> Layer:
    """A linear layer, its batch normalisation and its ReLU in inference mode: a function of values [..., width]."""
    if not after_relu or not isinstance(norm, BatchNorm):
        weight, bias = fold(layer, norm, dtype)
        return lambda values: rectified(values, weight, bias)
    weight, bias = fold(layer, nn.Identity(), dtype)
    scale, shift = (part.to(dtype, copy=True) for part in norm.scale_and_shift())
    return lambda values: torch.addcmul(shift, rectified(values, weight, bias), scale)


def frozen_first(layer: nn.Linear, norm: nn.Module, dtype: torch.dtype, after_relu: bool, letters: int) -> Layer:
    """As frozen_layer, but of states uint8 [N, D]: their one-hot values choose rows of the weights to be summed.

    Where oneDNN multiplies bfloat16 on tiles, the product of one-hot values of few letters is quicker than the sums.
    """
    if in_one_pass(layer.weight, dtype) and letters <= FEW_LETTERS:
        following = frozen_layer(layer, norm, dtype, after_relu)
        return lambda states: following(one_hot(states, letters, dtype))
    weight, bias = fold(layer, nn.Identity() if after_relu else norm, dtype)
    rows = weight.T.contiguous()
    first = torch.arange(0, len(rows), letters, dtype=torch.int32, device=rows.device)
    scale, shift = None, None
    if after_relu and isinstance(norm, BatchNorm):
        scale, shift = (part.to(dtype, copy=True) for part in norm.scale_and_shift())

    def evaluate(states: torch.Tensor) -> torch.Tensor:
        values = functional.embedding_bag(first + states, rows, mode="sum").add_(bias).relu_()
        return values if scale is None else torch.addcmul(shift, values, scale)

    return evaluate


def one_hot(states: torch.Tensor, letters: int, dtype: torch.dtype) -> torch.Tensor:
    """One-hot encoding of states uint8 [N, D], in their order: [N, D · letters]."""
    rows = torch.eye(letters, dtype=dtype, device=states.device)
    return rows.index_select(0, states.reshape(-1).int()).view(len(states), -1)


def in_one_pass(values: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether oneDNN multiplies such values in bfloat16, and does what follows a product in the same pass."""
    return dtype == torch.bfloat16 and values.device.type == "cpu" and multiplies_bfloat16()


@lru_cache(maxsize=1)
def multiplies_bfloat16() -> bool:
    """Whether oneDNN multiplies bfloat16 on this processor; without AVX-512 it refuses."""
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def rectified(values: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """ReLU of a linear layer. In bfloat16 oneDNN does both in one pass, to the same bits, half as fast again."""
    if in_one_pass(values, values.dtype):
        return torch.ops.mkldnn._linear_pointwise.default(values, weight, bias, "relu", [], "")
    return functional.linear(values, weight, bias).relu_()


def rectified_sum(values: torch.Tensor, other: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """ReLU of the sum of a linear layer of values and of other, all [N, width]."""
    if in_one_pass(values, values.dtype):
        return torch.ops.mkldnn._linear_pointwise.binary(values, other, weight, bias, "add").relu_()
    return functional.linear(values, weight, bias).add_(other).relu_()


def squeezed(outputs: torch.Tensor) -> torch.Tensor:
    """[N, 1] -> [N]; [N, A] stays."""
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs
