"""What every training has: its network, its optimiser, its progress, and how it is kept on disk."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import torch
from torch.nn import functional

from costtogo.engines import Engine, engine_on
from costtogo.heuristics.network import Network, NetworkHeuristic
from costtogo.parallel import backward, processes
from costtogo.params.training import ModelParams
from costtogo.puzzles.base import Puzzle
from costtogo.types import Heuristic, UserError

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Progress:
    """What one iteration did. Losses are mean squared errors in moves²; of presses, cross-entropies in nats a press.

    convergence_points: of DAVI; of another trainer the checkpoints so far.  effective_k: the longest walk.
    updated: whether this iteration ended in a convergence point or a checkpoint.
    """

    iteration: int
    convergence_points: int
    effective_k: int
    loss: float
    validation_loss: float
    updated: bool


class DivergedError(UserError):
    """A training whose loss is not finite."""


@dataclass
class Training:
    """Everything that an interrupted training needs to go on to the same end.

    name: what messages call it.  engine: that draws states and makes their targets, the host's if none is given.
    points: likewise, what an iteration that updates ends in.
    """

    puzzle: Puzzle
    params: ModelParams
    precision: str
    network: Network
    optimizer: torch.optim.Optimizer
    iteration: int = 0
    name: str = "The training"
    engine: Engine | None = None
    _captured: tuple | None = field(default=None, repr=False)
    points: ClassVar[str] = "checkpoints"

    def __post_init__(self):
        self.engine = self.engine or engine_on(self.puzzle, "cpu")

    @property
    def position(self) -> dict[str, Any]:
        """What a resume point keeps with the tensors."""
        return {"iteration": self.iteration}

    @property
    def heuristic(self) -> Heuristic:
        """The cost-to-go that a checkpoint made now would give, a function of states."""
        return NetworkHeuristic(self.puzzle, self.network, self.precision)

    @property
    def cost_to_go(self) -> Heuristic:
        """The network that was frozen last: here, as it is now."""
        return self.heuristic

    @property
    def device(self) -> torch.device:
        """Where the network computes."""
        return next(self.network.parameters()).device

    def to(self, device: str) -> "Training":
        """Compute on another device; called before the first iteration."""
        self.network.to(device)
        self.optimizer = optimizer_of(self.network, self.params)
        self.engine = engine_on(self.puzzle, device)
        return self

    def captured(self, act: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        """act(self, …), a step on batches, as the engine repeats it; the same until there is another optimiser.

        Processes that train together wait for each other within a step, so that theirs are not captured.
        """
        if self._captured is None or self._captured[0] is not self.optimizer:
            own = partial(act, self)
            self._captured = self.optimizer, own if processes() > 1 else self.engine.captured(own)
        return self._captured[1]

    def start_from(self, weights: Tensors) -> None:
        """Begin with the weights of another network of the same architecture; called before the first iteration."""
        self.network.load_state_dict(weights)

    def finite(self, loss: float, kind: str = "loss") -> float:
        """A loss of this iteration; DivergedError where it is NaN or infinite."""
        if math.isfinite(loss):
            return loss
        if self.params.optimizer == "lbfgs":
            setting, how = "lbfgs_steps", f"with {self.params.lbfgs_steps} steps of L-BFGS an iteration"
        else:
            setting, how = "learning_rate", f"at a learning rate of {self.optimizer.param_groups[0]['lr']:g}"
        raise DivergedError(
            f"{self.name}: the {kind} of iteration {self.iteration} is {loss}, {how}: "
            f"lower the model's {setting} and run again."
        )

    def tensors(self) -> Tensors:
        """What a resume point keeps, by name."""
        tensors = prefixed("network", self.network.state_dict())
        for index, state in self.optimizer.state_dict()["state"].items():
            tensors |= prefixed(f"optimizer.{index}", state)
        return tensors

    def restore(self, tensors: Tensors, description: dict[str, Any]) -> None:
        """Go back to where tensors() and the position were taken."""
        self.network.load_state_dict(part(tensors, "network"))
        state: dict[int, Tensors] = {}
        for name, tensor in part(tensors, "optimizer").items():
            index, _, field = name.partition(".")
            state.setdefault(int(index), {})[field] = tensor
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})
        self._captured = None
        self.iteration = description["iteration"]


def prefixed(prefix: str, tensors: Tensors) -> Tensors:
    """The tensors under names that begin with a prefix and a dot."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def part(tensors: Tensors, prefix: str) -> Tensors:
    """Those whose names begin with a prefix and a dot, without it."""
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def step(
    training: Training,
    inputs: torch.Tensor,
    error: Callable[..., torch.Tensor],
    *told: torch.Tensor,
) -> torch.Tensor:
    """One step of the optimiser on the mean error of a minibatch, which is returned as it was before the step.

    inputs: this process's part of the minibatch.  error: that of the network's outputs on it, by its reduction.
    told: what the network takes with the inputs while it learns.
    """
    training.optimizer.zero_grad(set_to_none=True)
    with torch.autocast(inputs.device.type, dtype=torch.bfloat16, enabled=training.precision == "bfloat16"):
        predicted = training.network(inputs, *told)
    loss = backward(partial(error, predicted), training.network.parameters())
    training.optimizer.step()
    return loss.detach()


def mean_of(losses: list[torch.Tensor], sizes: list[int]) -> float:
    """The mean of the losses of minibatches of some sizes, read from their device all at once."""
    total = 0.0
    for loss, size in zip(torch.stack(losses).tolist(), sizes, strict=True):
        total += loss * size
    return total / sum(sizes)


def squared_error(outputs: torch.Tensor, targets: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
    """Squared error in moves², of outputs by action [N, A] where the target is no NaN, else of all [N].

    reduction: as torch has it, mean, or none for each error by itself.
    """
    if outputs.ndim == 2:
        known = ~targets.isnan()
        if reduction == "mean" and outputs.device.type != "cpu":
            return mean_square(outputs - targets, known)
        outputs, targets = outputs[known], targets[known]
    return functional.mse_loss(outputs, targets, reduction=reduction)


def mean_square(errors: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
    """The mean of the squares of those that count: to pick them out, their device would have to be waited for."""
    return errors.where(counted, 0).square().sum() / counted.sum()


def reduced(errors: torch.Tensor, reduction: str) -> torch.Tensor:
    """Errors as they are, for the reduction none, or their mean."""
    return errors.mean() if reduction == "mean" else errors


def optimizer_of(network: Network, params: ModelParams) -> torch.optim.Optimizer:
    """Adam or RMSprop before its first step; of L-BFGS what it would keep from step to step, and that is nothing.

    On a GPU, a step that is repeated reads the learning rate and counts its steps there.
    """
    if params.optimizer == "lbfgs":
        return torch.optim.LBFGS(network.parameters())
    first = next(network.parameters())
    rate = torch.tensor(params.learning_rate, device=first.device) if first.is_cuda else params.learning_rate
    options = {"lr": rate, "capturable": first.is_cuda}
    if params.optimizer == "rmsprop":
        return torch.optim.RMSprop(network.parameters(), alpha=params.rmsprop_smoothing, **options)
    betas, eps = (params.adam_beta_1, params.adam_beta_2), params.adam_epsilon
    return torch.optim.Adam(network.parameters(), betas=betas, eps=eps, fused=True, **options)


def set_learning_rate(training: Training) -> None:
    """Constant, then falling linearly to zero over the last iterations where learning_rate_decay asks for it; and
    falling by learning_rate_factor from each iteration to the next. L-BFGS finds its own."""
    params = training.params
    if params.optimizer == "lbfgs":
        return
    left = (params.iterations - training.iteration + 1) / params.iterations
    share = min(1.0, left / params.learning_rate_decay) if params.learning_rate_decay else 1.0
    share *= params.learning_rate_factor ** (training.iteration - 1)
    for group in training.optimizer.param_groups:
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(params.learning_rate * share)
        else:
            group["lr"] = params.learning_rate * share
