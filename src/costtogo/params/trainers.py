"""The kinds of trainer; costtogo.learning has a module of the name of each."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from costtogo.params.base import Amount, Positive, Share, maker, union_of
from costtogo.params.training import (
    AdamParams,
    DeepCubeASampler,
    DeepCubeSampler,
    GradientParams,
    ModelParams,
    NonBacktrackingSampler,
    SteadySampler,
)


class Davi(AdamParams):
    """Deep approximate value iteration by Adam.

    epsilon: moves², the validation loss below which the target is updated; polyak: by how much the target follows at
    each iteration, in place of that; forced_update: the iteration that ends in a convergence point whatever the loss;
    lookahead: how many moves ahead the targets look.  ceiling: moves, more than which no target says, for puzzles where
    a state may be a dead end, whose distance is infinite.
    """

    trainer: Literal["davi"] = "davi"
    epsilon: Amount
    polyak: Share = 0
    forced_update: Positive | None = None
    lookahead: int = Field(default=1, ge=1, le=2)
    ceiling: Amount | None = None


class DaviLbfgs(ModelParams):
    """The same by L-BFGS, on all states of an iteration at once; lbfgs_steps: of each iteration."""

    trainer: Literal["davi"] = "davi"
    optimizer: Literal["lbfgs"]
    lbfgs_steps: Positive = 60
    epsilon: Amount
    polyak: Share = 0
    forced_update: Positive | None = None
    lookahead: int = Field(default=1, ge=1, le=2)
    ceiling: Amount | None = None


class RandomWalk(AdamParams):
    """Regression on the length of walks that never undo their last move."""

    fixed = {"polyak": 0.0}
    trainer: Literal["random_walk"]
    sampler: NonBacktrackingSampler


class Adi(GradientParams):
    """Autodidactic iteration by RMSprop.

    weighted: whether a state counts 1 / D, where D is how many moves led to it; else all count the same.
    bounded: whether targets stay between 1 and D moves, which bound the distance of every state but the goal.
    rmsprop_smoothing: the share of the running mean of squared gradients that each step keeps.
    """

    later = ("weighted", "bounded", "rmsprop_smoothing")
    loss: ClassVar[str] = "squared error, moves², and cross-entropy, nats"
    fixed = {"polyak": 0.0}
    trainer: Literal["adi"]
    optimizer: Literal["rmsprop"] = "rmsprop"
    sampler: DeepCubeSampler
    weighted: bool = True
    bounded: bool = False
    rmsprop_smoothing: float = Field(default=0.99, ge=0, lt=1)


class Presses(AdamParams):
    """Supervised by the presses that made a board of Lights Out."""

    loss: ClassVar[str] = "cross-entropy, nats a press"
    fixed = {"polyak": 0.0}
    trainer: Literal["presses"]
    sampler: DeepCubeASampler


class Imitation(AdamParams):
    """Regression on exact distances, of a puzzle whose states are all listed."""

    fixed = {"polyak": 0.0}
    trainer: Literal["imitation"]
    sampler: SteadySampler


Model = union_of(ModelParams.kinds(), "trainer", "optimizer")
training_of = maker(Model)


def loss_of(record: dict[str, Any]) -> tuple[float | None, str]:
    """The loss that calls for a convergence point, None of a trainer that has none, and what the loss is: of a record
    of a training, or of the part of one that names its trainer."""
    kind = ModelParams.of(record)
    return record["epsilon"] if "epsilon" in kind.model_fields else None, kind.loss
