"""Audit of a heuristic on some states of a puzzle that is too large to list: each is looked at with its children."""

from dataclasses import dataclass

import numpy as np

from costtogo.analysis.audit import Findings
from costtogo.exact.nearby import NearbyTable
from costtogo.puzzles.base import Puzzle
from costtogo.types import Children, CostToGo, Heuristic, States


@dataclass(frozen=True)
class Neighbourhoods:
    """Some states and their children, with the cost-to-go of all of them.

    values: float32 [N].  children: uint8 [N, A, D].  child_values: float32 [N, A], inf where the action is not legal.
    """

    values: CostToGo
    children: Children
    child_values: np.ndarray

    @property
    def consistent(self) -> np.ndarray:
        """The cost-to-go is at most one more than that of every child, as float32 can tell: bool [N]."""
        return (self.values[:, None] <= self.child_values + np.float32(1.0)).all(axis=1)

    @property
    def best_children(self) -> States:
        """The child of least cost-to-go of each state, the first of them: uint8 [N, D]."""
        return self.children[np.arange(len(self.values)), self.child_values.argmin(axis=1)]


def look_around(puzzle: Puzzle, heuristic: Heuristic, states: States) -> Neighbourhoods:
    """Evaluate a heuristic on states, uint8 [N, D], and on all of their children."""
    children, legal = puzzle.expand(states)
    values = heuristic(children.reshape(-1, puzzle.cells)).reshape(legal.shape)
    return Neighbourhoods(heuristic(states), children, np.where(legal, values, np.float32(np.inf)))


def audit_near_goal(table: NearbyTable, heuristic: Heuristic, states: States, distance: np.ndarray) -> Findings:
    """Audit a heuristic on states within the table of exact distances: uint8 [N, D], distance int64 [N]."""
    found = look_around(table.puzzle, heuristic, states)
    error = found.values - distance.astype(np.float32)
    descending = (distance == 0) | (table(found.best_children) < distance)
    return Findings(distance, error, found.consistent, descending)
