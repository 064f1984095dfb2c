"""The mean of a heuristic over several images of a state, all as far from the goal as the state."""

import numpy as np

from costtogo.heuristics.children import child_costs
from costtogo.puzzles.base import Puzzle
from costtogo.types import ActionHeuristic, CostToGo, States, UserError


class AveragedHeuristic:
    """A heuristic averaged over the first `count` symmetric images of each state, the state itself being the first.

    With `inverses`, also over the inverses of these images. A heuristic by action has no inverses, since a child of the
    inverse is not the inverse of a child.

    Every image costs one evaluation. UserError if the puzzle has fewer images.
    """

    def __init__(self, puzzle: Puzzle, heuristic: ActionHeuristic, count: int, inverses: bool = False):
        self.puzzle, self.heuristic = puzzle, heuristic
        self.by_action = getattr(heuristic, "by_action", False)
        self.symmetries = puzzle.symmetries[:count]
        self.inverses = inverses
        if len(self.symmetries) < count:
            raise UserError(f"{puzzle.name} has {len(self.symmetries)} symmetries; average over as many at most.")
        if inverses and (self.by_action or puzzle.inverse_states is None):
            raise UserError(f"Inverse states of {puzzle.name} can be averaged over with one value for each state only.")

    def __call__(self, states: States) -> CostToGo:
        """Cost-to-go in moves, float32 [N]."""
        images = [symmetry.apply(states) for symmetry in self.symmetries]
        if self.inverses:
            images += [self.puzzle.inverse_states(image) for image in images]
        return np.mean([self.heuristic(image) for image in images], axis=0, dtype=np.float32)

    def children(self, states: States) -> np.ndarray:
        """Cost-to-go of each child, float32 [N, A]; inf if the action is not legal."""
        if not self.by_action:
            return child_costs(self.puzzle, states, self)
        values = [self.heuristic.children(image.apply(states))[:, image.actions] for image in self.symmetries]
        return np.mean(values, axis=0, dtype=np.float32)
