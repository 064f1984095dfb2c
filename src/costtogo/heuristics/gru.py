"""A gated recurrent unit as a value network (Cho et al. 2014, arXiv:1406.1078), for comparison with the automaton.

It reads the cells of a state from the last to the first, as the automaton does; the cost-to-go is linear in the last
memory.
"""

import torch
from torch import nn

from costtogo.heuristics.layers import Network
from costtogo.params.training import ArchitectureParams
from costtogo.puzzles.base import Puzzle


class GatedNetwork(Network):
    """One-hot states [N, cells · letters] → cost-to-go [N]."""

    def __init__(self, architecture: ArchitectureParams, puzzle: Puzzle):
        super().__init__(architecture, puzzle)
        self.unit = nn.GRU(puzzle.letters, architecture.states, batch_first=True)
        self.output = nn.Linear(architecture.states, 1)

    def initialise(self) -> None:
        """Set the initial weights from torch's generator, as torch does by default."""
        self.unit.reset_parameters()
        self.output.reset_parameters()

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """values: [N, cells · letters]."""
        cells = values.float().view(-1, self.cells, self.letters).flip(1)
        memory = self.unit(cells)[1][0]
        return self.output(memory)[:, 0]

    def outputs(self, states: torch.Tensor) -> torch.Tensor:
        """The cost-to-go of states, a tensor uint8 [N, D], at least 0: float32 [N]."""
        return super().outputs(states).clamp(min=0)
