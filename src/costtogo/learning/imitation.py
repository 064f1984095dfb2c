"""Imitation: regression on exact distances, which no network of other trainers sees.

DeepCubeA's authors compare value iteration with it: what a network of the same size learns where the targets are right
from the first iteration on (Agostinelli et al. 2019, comparison to multi-step lookahead update strategies). The
distances of all states come from breadth-first search, so the puzzle is one whose states can be listed; or it is one of
levels, each of which is listed as the training comes to it.

A network with an output for each child learns the distances of all children of a state at once. One above a bound
learns the difference.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from costtogo.exact.bfs import distances
from costtogo.exact.graph import graph_of
from costtogo.heuristics.children import child_costs
from costtogo.heuristics.network import bound_of, build
from costtogo.heuristics.table import TableHeuristic, exact
from costtogo.learning import examples
from costtogo.learning.examples import Examples
from costtogo.learning.samplers import sample_states
from costtogo.learning.training import Progress, Training, optimizer_of, squared_error
from costtogo.params.training import ModelParams
from costtogo.puzzles import levels_of
from costtogo.puzzles.base import Puzzle, is_listed
from costtogo.types import CostToGo, Heuristic, States, UserError


@dataclass(frozen=True)
class Measured(Examples):
    """States uint8 [N, D], and their distances above the bound if there is one, float32 [N]; or the distances of their
    children, [N, A] and NaN where illegal."""

    distance: CostToGo

    def error(self, outputs: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
        """Squared error of the network's outputs, [N] or [N, A], in moves²."""
        return squared_error(outputs, torch.as_tensor(self.distance, device=outputs.device), reduction)


@dataclass
class ImitationTraining(Training):
    """A training by imitation. table: the distance of every state, None for levels; no resume point keeps it: begin
    computes it.  bound: that the network lies above, if any."""

    table: TableHeuristic | None = None
    bound: Heuristic | None = None

    def draw(self, puzzle: Puzzle, count: int, walk_max: int, generator: np.random.Generator) -> Measured:
        """States from the sampler, exactly count of them, with their distances."""
        sampler = self.params.sampler
        if self.table is None:
            states, distance = levels_of(puzzle).measured(sampler, count, walk_max, generator)
        else:
            states = sample_states(puzzle, sampler, count, walk_max, generator)
            distance = self.distances(states)
        return Measured(states, distance - self.bound(states) if self.bound else distance)

    def distances(self, states: States) -> CostToGo:
        """The distances of listed states: float32 [N] or, of their children, [N, A] and NaN where illegal."""
        if self.params.architecture.outputs == "state":
            return self.table(states)
        # An action that is not legal has no distance, and squared_error leaves out what is NaN.
        costs = child_costs(self.puzzle, states, self.table)
        return np.where(np.isinf(costs), np.float32(np.nan), costs)


def begin(puzzle: Puzzle, params: ModelParams, precision: str) -> ImitationTraining:
    """A training before its first iteration; UserError where the states of the puzzle cannot be listed."""
    if puzzle.one_goal and not is_listed(puzzle):
        raise UserError(
            f"The trainer imitation needs the distance of every state; {puzzle.name} has too many states to list."
        )
    network, bound = build(params.architecture, puzzle, params.seed), bound_of(params.architecture, puzzle)
    training = ImitationTraining(puzzle, params, precision, network, optimizer_of(network, params), bound=bound)
    if puzzle.one_goal:
        training.table = exact(puzzle, distances(graph_of(puzzle), int(puzzle.rank(puzzle.goal[None])[0])))
    return training


def train(training: ImitationTraining) -> Iterator[Progress]:
    """Run the iterations that are left, one Progress each."""
    return examples.train(training, training.draw, validate)


def validate(training: ImitationTraining, drawn: Measured) -> float:
    """Mean squared error of the network in inference mode, in moves²."""
    states, predicted = drawn.states, training.heuristic.predicted(drawn.states)
    return float(drawn.error(torch.as_tensor(predicted - training.bound(states) if training.bound else predicted)))
