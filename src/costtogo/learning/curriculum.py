"""Which states a training sees at each point of it: walks of K moves, or the states of a tower that grows.

A tower of Hanoi with its larger disks at the goal is a tower of fewer disks. So a training begins with the smallest
ones, and adds one whenever the target network satisfies the Bellman equation on those it has.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from costtogo.engines import Batch, Engine, engine_of
from costtogo.learning.samplers import effective_k, sample_states
from costtogo.params.training import SamplerParams
from costtogo.puzzles.base import Puzzle


@dataclass
class Curriculum:
    """States of walks, of K moves from the first iteration on or, of adaptive-K, longer with each convergence point.

    settled: the target network is to stay as it is.
    """

    puzzle: Puzzle
    sampler: SamplerParams
    settled: bool = False

    def longest(self, convergence_points: int) -> int:
        """K, the longest walk at this point of the training, or the disks of a tower."""
        return effective_k(self.sampler, convergence_points)

    def draw(self, count: int, longest: int, generator: np.random.Generator, engine: Engine | None = None) -> Batch:
        """Exactly count states, uint8 [count, D], of the host if no engine is given."""
        return sample_states(self.puzzle, self.sampler, count, longest, generator, engine)

    def within(self, children: Batch) -> Batch | bool:
        """Which children, uint8 [N, A, D], count among the states of this point, bool [N, A]: here all, True."""
        return True

    def overdue(self, iteration: int) -> bool:
        """Whether the training has come no further for so long that it should begin anew."""
        return False

    def begin_anew(self, iteration: int) -> None:
        """Go back to the first states."""

    def advance(self, iteration: int, residual: Callable[[], tuple[float, float]]) -> None:
        """See more states after a convergence point, if the target network is good enough on those seen so far.

        residual: the mean squared residual of its Bellman equation, and its mean cost-to-go.
        """

    @property
    def position(self) -> dict[str, Any]:
        """What a resume point keeps of it."""
        return {}


@dataclass
class GrowingTower(Curriculum):
    """Every state equally likely whose larger disks are all at the goal.

    disks: that are not held there.  grown_at: the iteration at which it grew last, or began anew.
    """

    disks: int = 0
    grown_at: int = 0

    def __post_init__(self):
        self.disks = self.disks or min(self.sampler.disks, self.puzzle.disks)

    def longest(self, convergence_points: int) -> int:
        """The disks."""
        return self.disks

    def within(self, children: Batch) -> Batch | bool:
        """Children in which no larger disk has moved, where those are held."""
        if not self.sampler.hold:
            return super().within(children)
        goal = engine_of(self.puzzle, children).given(self.puzzle.goal)
        return (children[..., self.disks :] == goal[self.disks :]).all(2)

    def overdue(self, iteration: int) -> bool:
        """Whether a tower that is not whole has not grown for patience iterations."""
        return self.disks < self.puzzle.disks and iteration - self.grown_at > self.sampler.patience

    def begin_anew(self, iteration: int) -> None:
        """The smallest tower again."""
        self.disks, self.grown_at = min(self.sampler.disks, self.puzzle.disks), iteration

    def advance(self, iteration: int, residual: Callable[[], tuple[float, float]]) -> None:
        """One disk more; a whole tower is settled."""
        squared, mean = residual()
        if squared < self.sampler.residual * mean:
            self.settled = self.disks == self.puzzle.disks
            self.disks, self.grown_at = self.disks + (not self.settled), iteration

    @property
    def position(self) -> dict[str, Any]:
        """The disks, since when, and whether that is all."""
        return {"disks": self.disks, "grown_at": self.grown_at, "settled": self.settled}


def curriculum_of(puzzle: Puzzle, sampler: SamplerParams) -> Curriculum:
    """That of a sampler, at its beginning."""
    return (GrowingTower if sampler.kind == "growing_tower" else Curriculum)(puzzle, sampler)
