"""The kinds of trainer; costtogo.learning has a module of the name of each."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from costtogo.files import flatten
from costtogo.params.base import Amount, Later, Positive, Share, maker, union_of
from costtogo.params.training import (
    AdamParams,
    ArchitectureParams,
    DeepCubeASampler,
    DeepCubeSampler,
    GradientParams,
    ModelParams,
    NonBacktrackingSampler,
    SamplerParams,
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
    forced_update: Later[Positive | None] = None
    lookahead: Later[int] = Field(default=1, ge=1, le=2)
    ceiling: Later[Amount | None] = None


class DaviLbfgs(ModelParams):
    """The same by L-BFGS, on all states of an iteration at once; lbfgs_steps: of each iteration."""

    trainer: Literal["davi"] = "davi"
    optimizer: Literal["lbfgs"]
    lbfgs_steps: Positive = 60
    epsilon: Amount
    polyak: Share = 0
    forced_update: Later[Positive | None] = None
    lookahead: Later[int] = Field(default=1, ge=1, le=2)
    ceiling: Later[Amount | None] = None


class RandomWalk(AdamParams):
    """Regression on the length of walks that never undo their last move."""

    trainer: Literal["random_walk"]
    sampler: NonBacktrackingSampler


class Adi(GradientParams):
    """Autodidactic iteration by RMSprop.

    weighted: whether a state counts 1 / D, where D is how many moves led to it; else all count the same.
    bounded: whether targets stay between 1 and D moves, which bound the distance of every state but the goal.
    rmsprop_smoothing: the share of the running mean of squared gradients that each step keeps.
    """

    loss: ClassVar[str] = "squared error, moves², and cross-entropy, nats"
    trainer: Literal["adi"]
    optimizer: Literal["rmsprop"] = "rmsprop"
    sampler: DeepCubeSampler
    weighted: Later[bool] = True
    bounded: Later[bool] = False
    rmsprop_smoothing: Later[float] = Field(default=0.99, ge=0, lt=1)


class Presses(AdamParams):
    """Supervised by the presses that made a board of Lights Out."""

    loss: ClassVar[str] = "cross-entropy, nats a press"
    trainer: Literal["presses"]
    sampler: DeepCubeASampler


class Imitation(AdamParams):
    """Regression on exact distances, of a puzzle whose states are all listed or of levels, each of which is."""

    trainer: Literal["imitation"]
    sampler: SteadySampler


Model = union_of(ModelParams.kinds(), "trainer", "optimizer")
training_of = maker(Model)


def loss_of(record: dict[str, Any]) -> tuple[float | None, str]:
    """The loss that calls for a convergence point, None of a trainer that has none, and what the loss is: of a record
    of a training, or of the part of one that names its trainer."""
    kind = ModelParams.of(record)
    return record["epsilon"] if "epsilon" in kind.model_fields else None, kind.loss


def used_parameters(training: dict[str, Any]) -> dict[str, Any]:
    """The parameters in a record of a training that have an effect, by dotted key: those that its trainer, its sampler
    and its network look at."""
    kinds = {"": ModelParams, "sampler": SamplerParams, "architecture": ArchitectureParams}
    idle = {"epsilon"} if training.get("polyak") else set()
    for place, kind in kinds.items():
        own = kind.of(training.get(place, {}) if place else training)
        idle |= {f"{place}.{name}".removeprefix(".") for name in (own.idle() if own else ())}
    if training.get("architecture", {}).get("kind") in ("automaton", "gru"):
        idle.add("architecture.outputs")  # they have one output alone
    return {key: value for key, value in flatten(training).items() if key not in idle}
