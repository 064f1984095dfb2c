"""Imitation: regression on exact distances, which no network of other trainers sees.

DeepCubeA's authors compare value iteration with it: what a network of the same size learns where the targets are right
from the first iteration on (Agostinelli et al. 2019, comparison to multi-step lookahead update strategies). The
distances of all states come from breadth-first search, so the puzzle is one whose states can be listed.

A network with an output for each child learns the distances of all children of a state at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from costtogo.exact.bfs import distances
from costtogo.exact.graph import graph_of
from costtogo.heuristics.children import child_costs
from costtogo.heuristics.network import build
from costtogo.heuristics.table import TableHeuristic, exact
from costtogo.learning import examples
from costtogo.learning.examples import Examples
from costtogo.learning.samplers import sample_states
from costtogo.learning.training import Progress, Training, optimizer_of, squared_error
from costtogo.params.training import ModelParams
from costtogo.puzzles.base import Puzzle, is_listed
from costtogo.types import CostToGo, States, UserError


@dataclass(frozen=True)
class Measured(Examples):
    """States uint8 [N, D], and their distances, float32 [N] or, of their children, [N, A] and NaN where illegal."""

    distance: CostToGo

    def error(self, outputs: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
        """Squared error of the network's outputs, [N] or [N, A], in moves²."""
        return squared_error(outputs, torch.as_tensor(self.distance, device=outputs.device), reduction)


@dataclass
class ImitationTraining(Training):
    """A training by imitation. table: the distance of every state, which no resume point keeps: begin computes it."""

    table: TableHeuristic | None = None

    def draw(self, puzzle: Puzzle, count: int, walk_max: int, generator: np.random.Generator) -> Measured:
        """States from the sampler, exactly count of them, with their distances."""
        states = sample_states(puzzle, self.params.sampler, count, walk_max, generator)
        return Measured(states, self.targets(states))

    def targets(self, states: States) -> CostToGo:
        """The distances that the network learns of states: float32 [N] or, by action, [N, A] and NaN where illegal."""
        if self.params.architecture.outputs == "state":
            return self.table(states)
        # An action that is not legal has no distance, and squared_error leaves out what is NaN.
        costs = child_costs(self.puzzle, states, self.table)
        return np.where(np.isinf(costs), np.float32(np.nan), costs)


def begin(puzzle: Puzzle, params: ModelParams, precision: str) -> ImitationTraining:
    """A training before its first iteration; UserError where the states of the puzzle cannot be listed."""
    if not is_listed(puzzle):
        raise UserError(
            f"The trainer imitation needs the distance of every state; {puzzle.name} has too many states to list."
        )
    network = build(params.architecture, puzzle, params.seed)
    table = exact(puzzle, distances(graph_of(puzzle), int(puzzle.rank(puzzle.goal[None])[0])))
    return ImitationTraining(puzzle, params, precision, network, optimizer_of(network, params), table=table)


def train(training: ImitationTraining) -> Iterator[Progress]:
    """Run the iterations that are left, one Progress each."""
    return examples.train(training, training.draw, validate)


def validate(training: ImitationTraining, drawn: Measured) -> float:
    """Mean squared error of the network in inference mode, in moves²."""
    return float(drawn.error(torch.as_tensor(training.heuristic.predicted(drawn.states))))
