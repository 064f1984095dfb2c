"""Parameters of audits: on every state, or on samples where states are too many; of local value iteration."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from costtogo.params.base import Few, Moves, Nodes, Params, Positive
from costtogo.types import LARGEST_PATH_WEIGHT

PathWeight = Annotated[float, Field(ge=0, le=LARGEST_PATH_WEIGHT)]


class ExhaustiveAudit(Params):
    """The checkpoints that are audited, the last `checkpoints` and those at some points or iterations, and the sample.

    Each on every state, and on a sample drawn by the literature's protocol: `walks` walks of walk_max moves.
    """

    kind: Literal["every_state"] = "every_state"
    checkpoints: int = Field(ge=0, le=10**6)
    points: list[Positive] = []
    iterations: list[Positive] = []
    walks: Positive
    walk_max: Moves


class ProgressParams(Params):
    """BWAS from the instances of a set with some checkpoints spread over the training, the last among them."""

    set: str
    checkpoints: Few = 8
    path_weight: PathWeight = 1  # λ
    batch_size: Positive = 1000  # N
    max_nodes: Nodes = 1_000_000


class SampledAudit(Params):
    """What is asked of every network of a puzzle of which only the states around the goal are listed.

    consistency: states of walks of up to walk_max moves, every state on the way counting (thesis 5.9), at so many
    checkpoints spread over the training, the last among them.
    nearby: states at each distance of the exact table, all where there are fewer.
    scrambled: states at the end of walks of each length from 1 to depths, for the cost-to-go by scramble depth.
    greedy: states at the end of walks of each length of greedy_depths, for what greedy search solves within
    greedy_moves, at every checkpoint.
    progress: what BWAS finds as the training goes on.
    """

    kind: Literal["samples"] = "samples"
    consistency_states: Positive = 30_000
    consistency_checkpoints: Few = 6
    walk_max: Moves = 30
    nearby_states: Positive = 5_000
    scrambled_states: Positive = 1_000
    depths: Moves = 30
    greedy_states: Positive = 200
    greedy_depths: list[Moves] = Field(default=[5, 10, 15, 20, 25, 30], min_length=1)
    greedy_moves: Moves = 40
    progress: ProgressParams | None = None


class LargerBoards(Params):
    """Random boards of a side that are solved row by row, the last two rows column by column.

    exact: whether all boards are followed, too.
    """

    side: int = Field(ge=3, le=15)
    boards: Positive
    exact: bool = True


class ComparedSolvers(Params):
    """The same random boards by all solvers.

    study: whose network model and pattern database are searched with.
    max_generated: nodes of a search by IDA* with Manhattan distance and linear conflicts, which ends there.
    path_weight and batch_size: λ and N of the search over the network.
    """

    study: str
    model: str
    pattern_database: str
    boards: Positive
    max_generated: Nodes
    path_weight: PathWeight
    batch_size: Positive


class LocalVi(Params):
    """Local value iteration on random boards; sizes: how many tiles each step of Algorithm 2 begins with."""

    boards: Positive
    sizes: list[Positive] = Field(min_length=1)
    larger: list[LargerBoards] = []
    compared: ComparedSolvers | None = None

    def problems(self) -> Iterator[str]:
        if self.sizes != sorted(set(self.sizes)) or self.sizes[0] != 1 or self.sizes[-1] > 6:
            yield "sizes must grow from 1, which the document's theorems are about, to 6 at most"
