"""A network for Lights Out that predicts which lights to press, row by row from the last to the first.

The lights of a row follow from the presses of the row itself, of the row after it and of the row before it. So if two
of these are known, a unit that sees three cells of each in a row can learn the third; one unit serves all cells. The
last row has no later presses to use. The unit first reads the board as if the last row had no presses; from the presses
it would then make before the first row, a second unit predicts the presses of the last row. (Done by hand, this is
known as chasing the lights.) The architecture only knows that a press acts on its neighbours; both units learn how.
"""

from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional

from costtogo.heuristics.layers import Linear, Network
from costtogo.params.training import ArchitectureParams
from costtogo.puzzles.base import Puzzle
from costtogo.types import UserError

WINDOW = 3  # cells of a row that the unit sees


class LightChasingNetwork(Network):
    """One-hot states [N, 2 · side²] → the log odds of each press, float32 [N, side²]."""

    def __init__(self, architecture: ArchitectureParams, puzzle: Puzzle):
        super().__init__(architecture, puzzle)
        if puzzle.presses is None:
            raise UserError(f"A network of kind rows tells the presses of Lights Out, not the moves of {puzzle.name}.")
        self.side = puzzle.side
        self.unit = _layers([3 * WINDOW, *architecture.first_layers, 1])
        self.last = _layers([puzzle.side, *architecture.first_layers, puzzle.side])

    def forward(self, values: torch.Tensor, presses: torch.Tensor | None = None) -> torch.Tensor:
        """Predict the log odds of the presses, float32; values: [N, 2 · side²].

        presses: [N, side²], 1 for a pressed light, if the unit is to use the true presses of later rows, not its own.
        """
        with torch.autocast(values.device.type, enabled=False):
            return self._told(values.float(), presses)

    def _told(self, values: torch.Tensor, presses: torch.Tensor | None) -> torch.Tensor:
        lights = _signs(values.view(-1, self.side, self.side, 2)[..., 1] > 0)
        with torch.no_grad():
            beyond = self._read(lights, -torch.ones_like(lights[:, 0]))[0]
        last = self.last(_signs(beyond > 0))
        if presses is None:
            rows = self._read(lights, _signs(last > 0))[1:]
            return torch.stack([*rows, last], dim=1).flatten(1)
        known = _signs(presses.view_as(lights) > 0)
        after = functional.pad(known[:, 2:], (0, 0, 0, 1))
        return torch.cat([self._before(lights[:, 1:], known[:, 1:], after), last[:, None]], dim=1).flatten(1)

    def _read(self, lights: torch.Tensor, last: torch.Tensor) -> list[torch.Tensor]:
        """The log odds of the presses before the first row and in all rows but the last, from the last row's ±1."""
        found, row, after = [], last, torch.zeros_like(last)
        for place in reversed(range(self.side)):
            found.insert(0, self._before(lights[:, place], row, after))
            row, after = _signs(found[0] > 0), row
        return found

    def _before(self, *rows: torch.Tensor) -> torch.Tensor:
        """The log odds of the presses before a row, from its lights, its presses and those after it: [..., side]."""
        edge = WINDOW // 2
        windows = [functional.pad(row, (edge, edge)).unfold(-1, WINDOW, 1) for row in rows]
        return self.unit(torch.cat(windows, dim=-1))[..., 0]

    def outputs(self, states: torch.Tensor) -> torch.Tensor:
        """The cost-to-go of each child of states, a tensor uint8 [N, D]: float32 [N, side²].

        It is the expected number of presses, one fewer or one more after each of them.
        """
        pressed = super().outputs(states).sigmoid()
        return pressed.sum(dim=1, keepdim=True) + 1 - 2 * pressed


def _layers(widths: list[int]) -> nn.Sequential:
    """Fully connected layers with ReLU between them."""
    layers = [layer for pair in pairwise(widths) for layer in (Linear(*pair), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def _signs(true: torch.Tensor) -> torch.Tensor:
    """1 if true, -1 if not; 0 marks cells beyond the board."""
    return 2 * true.float() - 1
