"""Value networks: the fully connected residual network of DeepCubeA; checkpoints and evaluation of all networks.

Layers are named as in Agostinelli et al. 2019 (doi:10.1038/s42256-019-0070-z) and thesis 4.6: fully connected
layers, then residual blocks as wide as the last of them, batch normalisation before each ReLU, one output.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from costtogo.files import FileError, read_tensors, write_tensors
from costtogo.heuristics.automaton import AutomatonNetwork
from costtogo.heuristics.gru import GatedNetwork
from costtogo.params import ArchitectureParams
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle, is_goal
from costtogo.types import CostToGo, States, UserError

CHUNK = 4096  # states evaluated at a time: large enough for the matrix products, small enough for the cache


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


class ResidualBlock(nn.Module):
    """Fully connected layers with a shortcut around them; the last ReLU follows the sum."""

    def __init__(self, width: int, layers: int, norm):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.norms = nn.ModuleList(norm(width) for _ in range(layers))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, width]."""
        inside = values
        for index, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            inside = norm(layer(functional.relu(inside) if index else inside))
        return functional.relu(values + inside)


class ValueNetwork(nn.Module):
    """One-hot states [N, inputs] → cost-to-go [N], or that of each child [N, A] where the architecture says so."""

    def __init__(self, architecture: ArchitectureParams, inputs: int, actions: int):
        super().__init__()
        self.architecture = architecture
        widths = [inputs, *architecture.first_layers]
        norm = self._norm if architecture.batch_norm else lambda width: nn.Identity()
        self.first = nn.ModuleList(nn.Linear(i, o) for i, o in zip(widths, widths[1:], strict=False))
        self.first_norms = nn.ModuleList(norm(width) for width in widths[1:])
        self.blocks = nn.ModuleList(
            ResidualBlock(widths[-1], architecture.layers_per_block, norm) for _ in range(architecture.residual_blocks)
        )
        self.output = nn.Linear(widths[-1], actions if architecture.outputs == "actions" else 1)

    def _norm(self, width: int) -> BatchNorm:
        momentum = 1 - self.architecture.batch_norm_momentum  # torch weighs the new batch, Keras the old average
        return BatchNorm(width, eps=self.architecture.batch_norm_epsilon, momentum=momentum)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, inputs]; the output layer stays in float32 whatever the others compute in."""
        for layer, norm in zip(self.first, self.first_norms, strict=True):
            values = functional.relu(norm(layer(values)))
        for block in self.blocks:
            values = block(values)
        with torch.autocast(values.device.type, enabled=False):
            return _squeezed(self.output(values.float()))

    def initialise(self) -> None:
        """Glorot uniform weights and zero biases, as Keras begins, from torch's generator."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def frozen(self, dtype: torch.dtype) -> Callable[[torch.Tensor], torch.Tensor]:
        """The network in inference mode as a function of one-hot states of the given type.

        Batch normalisation is folded into the weights; all layers but the last compute in that type.
        """
        with torch.no_grad():
            pairs = zip(self.first, self.first_norms, strict=True)
            first = [_fold(layer, norm, dtype) for layer, norm in pairs]
            blocks = [
                [_fold(layer, norm, dtype) for layer, norm in zip(block.layers, block.norms, strict=True)]
                for block in self.blocks
            ]
            output = self.output.weight.detach().clone(), self.output.bias.detach().clone()
        return partial(_evaluate, first, blocks, output)

    @property
    def parameter_count(self) -> int:
        """Trainable parameters."""
        return sum(parameter.numel() for parameter in self.parameters())


def _fold(layer: nn.Linear, norm: nn.Module, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    weight, bias = layer.weight, layer.bias
    if isinstance(norm, BatchNorm):
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        weight, bias = weight * scale[:, None], (bias - norm.running_mean) * scale + norm.bias
    return weight.to(dtype, copy=True), bias.to(dtype, copy=True)


def _evaluate(first: list, blocks: list, output: tuple, values: torch.Tensor) -> torch.Tensor:
    for layer in first:
        values = _rectified(values, *layer)
    for *inner, last in blocks:
        inside = values
        for layer in inner:
            inside = _rectified(inside, *layer)
        values = functional.linear(inside, *last).add_(values).relu_()
    return _squeezed(functional.linear(values.float(), *output))


def _rectified(values: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """ReLU of a linear layer. In bfloat16 oneDNN does both in one pass, to the same bits, half as fast again."""
    if values.dtype == torch.bfloat16 and values.device.type == "cpu" and torch.backends.mkldnn.is_available():
        return torch.ops.mkldnn._linear_pointwise(values, weight, bias, "relu", [], "")
    return functional.linear(values, weight, bias).relu_()


def _squeezed(outputs: torch.Tensor) -> torch.Tensor:
    """[N, 1] -> [N]; [N, A] stays."""
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs


Network: TypeAlias = ValueNetwork | AutomatonNetwork | GatedNetwork


def of_architecture(architecture: ArchitectureParams, puzzle: Puzzle) -> Network:
    """A network whose weights are still to be set."""
    if architecture.kind == "automaton":
        return AutomatonNetwork(architecture, puzzle)
    if architecture.kind == "gru":
        return GatedNetwork(architecture, puzzle)
    return ValueNetwork(architecture, puzzle.cells * puzzle.letters, len(puzzle.actions))


def build(architecture: ArchitectureParams, puzzle: Puzzle, seed: int) -> Network:
    """A fresh network with its first weights."""
    torch.manual_seed(seed)
    network = of_architecture(architecture, puzzle)
    network.initialise()
    return network


def native_precision(precision: str) -> str:
    """Resolve "auto": bfloat16 where the processor multiplies it natively, else float32."""
    if precision != "auto":
        return precision
    return "bfloat16" if torch.cpu._is_avx512_bf16_supported() else "float32"


def present(device: str) -> str:
    """The device, cpu or cuda, if torch can use it; UserError where it cannot."""
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError(
            "The study asks for device: cuda, but torch finds no CUDA device; say device: cpu, or install a CUDA build."
        )
    return device


def encode(
    puzzle: Puzzle, states: States, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> torch.Tensor:
    """One-hot encoding of a batch, [N, D · letters], made on the device from one byte a cell."""
    rows = torch.eye(puzzle.letters, dtype=dtype, device=device)
    index = torch.from_numpy(np.ascontiguousarray(states).reshape(-1)).to(device).int()
    return rows.index_select(0, index).view(len(states), -1)


class NetworkHeuristic:
    """A frozen network as a heuristic: uint8 [N, D] → float32 [N], 0 at the goal.

    by_action: whether the network tells the cost-to-go of each child; children() is cheap then, and the cost-to-go
    of a state is 1 + the least of its children.
    """

    def __init__(self, puzzle: Puzzle, network: Network, precision: str):
        self.puzzle = puzzle
        self.precision = precision
        self.by_action = network.architecture.outputs == "actions"
        self.dtype = getattr(torch, precision)
        self.device = next(network.parameters()).device
        self.evaluate = network.frozen(self.dtype)

    def __call__(self, states: States) -> CostToGo:
        """Cost-to-go in moves, 0 at the goal, float32 [N]."""
        values = self.outputs(states)
        values[is_goal(self.puzzle, states)] = 0.0
        return values

    def outputs(self, states: States) -> CostToGo:
        """What the network itself says, at the goal too, float32 [N]."""
        return 1 + self.children(states).min(axis=1) if self.by_action else self._evaluated(states)

    def predicted(self, states: States) -> np.ndarray:
        """What the network is trained on: outputs float32 [N] or, by action, children [N, A]."""
        return self.children(states) if self.by_action else self.outputs(states)

    def children(self, states: States) -> np.ndarray:
        """Cost-to-go of each child, float32 [N, A]; inf where the action is not legal."""
        legal = self.puzzle.legal(states)
        if self.by_action:
            values = self._evaluated(states)
        else:
            children, _ = self.puzzle.expand(states)
            values = self(children.reshape(-1, self.puzzle.cells)).reshape(legal.shape)
        return values if legal.all() else np.where(legal, values, np.float32(np.inf))

    @torch.inference_mode()
    def _evaluated(self, states: States) -> np.ndarray:
        """The network's outputs, float32 [N] or [N, A]."""
        shape = (len(states), len(self.puzzle.actions)) if self.by_action else (len(states),)
        values = np.empty(shape, dtype=np.float32)
        for first in range(0, len(states), CHUNK):
            part = states[first : first + CHUNK]
            inputs = encode(self.puzzle, part, self.dtype, self.device)
            values[first : first + CHUNK] = self.evaluate(inputs).cpu().numpy()
        return values


def save(path: Path | str, network: Network, description: dict) -> None:
    """Write a checkpoint that describes itself; description holds at least puzzle, precision and iteration."""
    whole = {**description, "architecture": network.architecture.model_dump(), "kind": "value network"}
    write_tensors(path, network.state_dict(), whole)


def load_network(path: Path | str) -> tuple[Puzzle, Network, dict]:
    """Read a checkpoint: its puzzle, its network in inference mode, its description."""
    tensors, description = read_tensors(path)
    try:
        puzzle = make(description["puzzle"])
        architecture = ArchitectureParams(**description["architecture"])
        network = of_architecture(architecture, puzzle)
        network.load_state_dict(tensors)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise FileError(
            f"{path} is not a checkpoint of a value network; give a file from models/*/checkpoints."
        ) from error
    return puzzle, network.eval(), description


def load(path: Path | str, precision: str | None = None, device: str = "cpu") -> NetworkHeuristic:
    """A checkpoint as a heuristic, in the precision it was trained in unless another is given."""
    puzzle, network, description = load_network(path)
    network.to(present(device))
    return NetworkHeuristic(puzzle, network, native_precision(precision or description.get("precision", "float32")))
