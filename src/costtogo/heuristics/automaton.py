"""A weighted automaton as a value network: a linear recurrent network of second order.

It reads the cells of a state from the last to the first. Each letter has its own matrix, which multiplies the memory: h
← h · M[letter]. The cost-to-go is linear in the last memory. (Giles et al. 1992, doi:10.1162/neco.1992.4.3.393, for
second order; Rabusseau, Li and Precup 2019, arXiv:1807.01406, for the automaton.) On the Towers of Hanoi a cell is a
disk, the last cell the largest disk; the same matrices serve every disk, so what the network learns on small towers
holds on large ones.
"""

import torch
from torch import nn

from costtogo.heuristics.layers import Network
from costtogo.params.training import ArchitectureParams
from costtogo.puzzles.base import Puzzle
from costtogo.types import UserError

SPREAD = 0.5  # standard deviation of the initial weights around the identity


class AutomatonNetwork(Network):
    """One-hot states [N, cells · letters] → cost-to-go [N], exactly 0 where every cell has letter 0."""

    def __init__(self, architecture: ArchitectureParams, puzzle: Puzzle):
        super().__init__(architecture, puzzle)
        if (puzzle.goal != 0).any():
            raise UserError(f"An automaton counts from letter 0 in each cell; the goal of {puzzle.name} has others.")
        size = architecture.states
        still = torch.eye(size, dtype=torch.float64)
        self.matrices = nn.Parameter(still.repeat(puzzle.letters, 1, 1))  # [letters, size, size]
        self.output = nn.Parameter(torch.zeros(size, dtype=torch.float64))
        self.register_buffer("start", still[0].clone())

    def initialise(self) -> None:
        """Set the initial weights, from torch's generator."""
        with torch.no_grad():
            self.matrices += SPREAD * torch.randn_like(self.matrices)
            self.output += SPREAD * torch.randn_like(self.output)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, cells · letters]; everything is computed in float64, since it multiplies many matrices."""
        still = torch.cat([self.start[None], self.matrices[0, 1:]])  # letter 0 leaves the first memory unchanged
        matrices = torch.cat([still[None], self.matrices[1:]])
        chosen = values.double().view(-1, self.cells, self.letters, 1)
        every = matrices.permute(1, 0, 2).reshape(len(self.start), -1)  # [size, letters · size]
        memory = self.start.expand(chosen.shape[0], -1)
        for cell in reversed(range(self.cells)):
            memory = ((memory @ every).view(chosen.shape[0], self.letters, -1) * chosen[:, cell]).sum(dim=1)
        return ((memory - self.start) @ self.output).float()

    def outputs(self, states: torch.Tensor) -> torch.Tensor:
        """The cost-to-go of states, a tensor uint8 [N, D], at least 0: float32 [N]."""
        return super().outputs(states).clamp(min=0)
