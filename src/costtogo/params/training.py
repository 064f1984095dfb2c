"""Parameters of a training: its network, where its states come from, what it does with them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from costtogo.params.base import Amount, Few, Kind, Later, Moves, Positive, Rate, Seed, Share, Width, maker, union_of

Channels = Annotated[tuple[Width, ...], Field(strict=False, min_length=1)]  # of each convolution
Layers = Annotated[list[Width], Field(min_length=1)]


class ArchitectureParams(Kind):
    """A network. outputs: the cost-to-go of the state, that of each of its children, or value and policy of the state.

    above: the network gives what is missing from this lower bound.
    """

    absent = {"channels": ()}
    outputs: Literal["state", "actions", "policy"] = "state"
    above: Later[Literal["", "manhattan", "dead_squares", "matching", "pairs"]] = ""


class BatchNormParams(ArchitectureParams):
    """A network that may normalise batches: before each ReLU, or after it and with no ReLU after a block's sum."""

    batch_norm: bool = True
    batch_norm_momentum: Share = 0.99
    batch_norm_epsilon: Amount = 1e-3
    norm_after_relu: Later[bool] = False

    def problems(self) -> Iterator[str]:
        if self.above and self.outputs != "state":
            yield "a network above a bound needs outputs: state"


class Residual(BatchNormParams):
    """A fully connected network with residual blocks.

    inputs: the letter of each cell; of a cube, the place of each piece and how it is turned, as DeepCube has it; or, of
    Sokoban, the planes of player, boxes, targets and walls, as DeepCubeA has them.
    """

    kind: Literal["residual"] = "residual"
    inputs: Later[Literal["cells", "pieces", "planes"]] = "cells"
    first_layers: Layers
    residual_blocks: int = Field(default=0, ge=0, le=1_000)
    layers_per_block: Few = 2


class Convolutional(BatchNormParams):
    """Convolutions over cells that lie in a square, then fully connected layers; kernel: cells, a side of a patch."""

    kind: Literal["convolutional"]
    channels: Later[Channels]
    kernel: Later[Few] = 2
    first_layers: list[Width] = []


class Automaton(ArchitectureParams):
    """A linear recurrent network of second order."""

    kind: Literal["automaton"]
    states: Few = 5
    outputs: Literal["state"] = "state"
    above: Literal[""] = ""


class Gru(ArchitectureParams):
    """A gated recurrent network."""

    kind: Literal["gru"]
    states: Few = 5
    outputs: Literal["state"] = "state"
    above: Literal[""] = ""


class Tuples(ArchitectureParams):
    """Sums over small groups of neighbouring cells of sliding tiles.

    block_reach, line_reach: rows or columns from which on a tile's way counts as just as far, in blocks of two by two
    cells and in three in a line.
    """

    kind: Literal["tuples"]
    block_reach: int = Field(default=2, ge=1, le=3)
    line_reach: int = Field(default=3, ge=1, le=6)
    outputs: Literal["state"] = "state"
    above: Literal[""] = ""


class Rows(ArchitectureParams):
    """A network that reads a board of Lights Out row by row, whose units have first_layers."""

    kind: Literal["rows"]
    first_layers: list[Width] = []
    outputs: Literal["actions"] = "actions"
    above: Literal[""] = ""


Architecture = union_of(ArchitectureParams.kinds(), "kind")
architecture_of = maker(Architecture)


class SamplerParams(Kind):
    """Where the states of an iteration come from. walk_max: K, moves.

    greedy_share: of DAVI: of the states, those on walks that follow the target network; greedy_moves: of such a walk on
    average, if it does not come to the goal before; greedy_random: of such moves, those that are random, so that two
    walks at one state part again.
    """


class WalkingSampler(SamplerParams):
    """States of which some may lie on greedy walks."""

    greedy_share: Later[Share] = 0
    greedy_moves: Later[Moves] = 50
    greedy_random: Later[Share] = 0.05


class DeepCubeSampler(WalkingSampler):
    """Walks of walk_max moves, kept whole."""

    kind: Literal["deepcube"]
    walk_max: Moves = 1


class DeepCubeASampler(WalkingSampler):
    """The ends of walks of 1 to walk_max moves."""

    kind: Literal["deepcubea"]
    walk_max: Moves = 1


class LevelSampler(WalkingSampler):
    """The ends of walks of 1 to walk_max steps back from the solved states of many levels.

    Of imitation, states on walks to solved states from such ends and from the starts of levels, by shortest ways with
    some random steps.

    levels: how many are generated, or a folder of text files of levels, of which those are left out whose walls and
    targets are for choosing or testing.  boxes: of a generated level.
    pulls: the chance that a walk pulls where it can.
    """

    kind: Literal["levels"]
    walk_max: Moves = 1
    levels: Later[Positive | str] = 10_000
    boxes: Later[Few] = 4
    pulls: Later[Share] = 0.5


class UniformSampler(WalkingSampler):
    """Every state equally likely; its K counts as 1."""

    fixed = {"walk_max": 1}
    walk_max: ClassVar[int] = 1
    kind: Literal["uniform"]


class AdaptiveKSampler(WalkingSampler):
    """Walks kept whole, whose length grows with the convergence points up to walk_max."""

    kind: Literal["adaptive_k"]
    walk_max: Moves = 1
    conv_point_offs: int = Field(default=1, ge=0, le=10**6)


class NonBacktrackingSampler(WalkingSampler):
    """Walks that never undo their last move.

    stride: of DAVI and imitation: from one state that is kept to the next; spacing: the k-th of n kept states lies
    after walk_max (k / n)^spacing moves.
    """

    kind: Literal["non_backtracking"]
    walk_max: Moves = 1
    stride: Moves = 10
    spacing: Later[float] = Field(default=1, ge=1, le=100)


class GrowingTowerSampler(SamplerParams):
    """Uniform over the states of a tower of Hanoi that grows.

    disks: at first; it grows below this mean squared Bellman residual, a share of the mean cost-to-go, or begins anew
    after patience iterations; hold: the disks that it has not reached yet may not move.
    """

    greedy_share: ClassVar[float] = 0
    kind: Literal["growing_tower"]
    disks: Few = 3
    residual: Amount = 2e-4
    patience: Positive = 100
    hold: bool = True


Sampler = union_of(SamplerParams.kinds(), "kind")
sampler_of = maker(Sampler)
# Those that draw alike in every iteration, whatever the network has learned:
STEADY = [DeepCubeSampler, DeepCubeASampler, UniformSampler, NonBacktrackingSampler, LevelSampler]
SteadySampler = union_of(STEADY, "kind")


class ModelParams(Kind):
    """A training: everything that decides its outcome.

    checkpoint_iterations: iterations from one checkpoint to the next, besides those by checkpoint_every;
    checkpoints_at: further iterations with one.
    starts_from: the model of the study whose last weights it begins with, in place of random ones.
    processes: that compute it together on one machine, each with the study's threads, or with a CUDA device of its own.
    loss: what the trainer's loss is, with its unit.
    """

    loss: ClassVar[str] = "mean squared error, moves²"

    written = ("recipe", "seeds")
    absent, fixed = {"epsilon": 1.0}, {"polyak": 0.0}
    puzzle: str
    seed: Seed
    precision: Literal["auto", "float32", "bfloat16"]
    architecture: Architecture
    sampler: Sampler
    iterations: Positive
    states_per_iteration: Positive
    validation_states: Positive
    check_every: Positive
    checkpoint_every: Positive
    checkpoint_iterations: Later[Positive | None] = None
    checkpoints_at: Later[list[Positive]] = []
    starts_from: Later[str | None] = None
    processes: Later[int] = Field(default=1, ge=1, le=64)

    def problems(self) -> Iterator[str]:
        if (self.trainer == "presses") != (self.architecture.kind == "rows"):
            yield "the trainer presses needs an architecture of kind rows, and no other trainer has it"
        if (self.trainer == "adi") != (self.architecture.outputs == "policy"):
            yield "the trainer adi needs an architecture with outputs: policy, and no other trainer has it"
        if self.sampler.kind == "growing_tower" and self.architecture.outputs == "actions":
            yield "the sampler growing_tower needs a network with outputs: state"
        if self.trainer != "davi" and self.sampler.greedy_share:
            yield "greedy_share is for the trainer davi"
        if self.trainer not in ("davi", "imitation") and self.architecture.above:
            yield "an architecture above a bound is for the trainers davi and imitation"
        if self.trainer == "imitation" and self.sampler.kind == "levels" and self.architecture.outputs != "state":
            yield "the trainer imitation with the sampler levels needs a network with outputs: state"


def level_files(params: ModelParams) -> list[Path]:
    """The text files of levels that a training reads: of a folder, in order of their names."""
    levels = getattr(params.sampler, "levels", None)
    return sorted(Path(levels).glob("*.txt")) if isinstance(levels, str) else []


class GradientParams(ModelParams):
    """A training by steps along gradients of minibatches. learning_rate_decay: share of the iterations over which the
    rate falls to zero; learning_rate_factor: what the rate is multiplied by after each iteration."""

    minibatch: Positive
    learning_rate: Rate
    learning_rate_decay: Share
    learning_rate_factor: Later[float] = Field(default=1, gt=0, le=1)


class AdamParams(GradientParams):
    """A training by Adam."""

    optimizer: Literal["adam"] = "adam"
    adam_beta_1: float = Field(ge=0, lt=1)
    adam_beta_2: float = Field(ge=0, lt=1)
    adam_epsilon: Amount
