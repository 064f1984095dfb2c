"""A network of kind tuples: cost-to-go of sliding tiles by a learned number for each small group of cells.

What the groups are, and the compiled code that searches go by: tile_groups.
"""

from functools import partial

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from costtogo.heuristics.layers import Layer, Network
from costtogo.heuristics.tile_groups import TupleValues, displacements, groups_of
from costtogo.params.training import ArchitectureParams
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.types import States


class TupleNetwork(Network):
    """The weight of each group, and Manhattan distance: int32 [N, G + 1] → cost-to-go [N]."""

    def __init__(self, architecture: ArchitectureParams, puzzle: SlidingTiles):
        super().__init__(architecture, puzzle)
        self.puzzle, self.manhattan = puzzle, np.abs(displacements(puzzle, puzzle.goal)).sum(0).astype(np.int32)
        self.reaches = architecture.block_reach, architecture.line_reach
        self.groups = groups_of(puzzle, *self.reaches)
        self.weight = nn.Parameter(torch.zeros(int(self.groups.rows.max()) + 1, 1))

    def initialise(self) -> None:
        """All weights 0: the network begins as Manhattan distance."""

    def encoded(self, states: States | torch.Tensor) -> torch.Tensor:
        """The input of the network for states, uint8 [N, D]: the weight of each group, then Manhattan distance."""
        given = partial(torch.as_tensor, device=self.weight.device)
        states, cells = given(states).long(), given(np.arange(self.cells))
        own, wall = given(self.groups.coding[:, :-1])[:, cells, states], given(self.groups.coding[:, -1:, 0])
        codes = torch.cat([own, wall[:, None].expand(-1, len(states), -1)], 2).movedim(0, 1).flatten(1)
        entries, first = [], 0
        for cells_of, base in zip((self.groups.blocks, self.groups.lines), self.groups.bases.tolist(), strict=True):
            powers = given(base ** np.arange(cells_of.shape[1])[::-1].copy())
            entries.append((codes[:, given(cells_of).long()] * powers).sum(2) + first)
            first += base ** cells_of.shape[1]
        distance = given(self.manhattan)[cells, states].sum(1, keepdim=True)
        return torch.cat([given(self.groups.rows)[torch.cat(entries, 1)], distance.int()], 1)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: int32 [N, G + 1], as encoded."""
        groups = functional.embedding_bag(values[:, :-1].contiguous(), self.weight, mode="sum")
        return groups[:, 0] + values[:, -1]

    def outputs(self, states: torch.Tensor) -> torch.Tensor:
        """The cost-to-go of states, a tensor uint8 [N, D], at least Manhattan distance: float32 [N]."""
        values = self.encoded(states)
        return torch.maximum(self(values), values[:, -1].float())

    def frozen(self, dtype: torch.dtype) -> Layer:
        """outputs with the weights of now; on a processor by compiled code."""
        if self.weight.device.type != "cpu":
            return super().frozen(dtype)
        values = self.frozen_children()
        return lambda states: torch.from_numpy(values.of(states.numpy()))

    def frozen_children(self) -> TupleValues | None:
        """The same of all children of states, uint8 [N, D]: float32 [N, A], inf where an action is not legal."""
        if self.weight.device.type != "cpu":
            return None
        table = self.weight.detach().numpy()[self.groups.rows, 0].astype(np.float32)
        return TupleValues(self.puzzle, self.groups, table, self.manhattan, self.reaches)
