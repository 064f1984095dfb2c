"""The view of a state that a network gets: letters, pieces or planes.

The letter of each cell; for a cube, the place and twist of each piece; or planes, each of which marks the cells of one
thing.

DeepCube describes the 3×3×3 by its 20 moving pieces, each of which has 24 positions: 8 places of a corner with 3
twists, 12 of an edge with 2.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import torch

from costtogo.puzzles.base import Puzzle
from costtogo.types import UserError


class Cells:
    """The state unchanged.  cells, letters, pieces: as in the puzzle."""

    def __init__(self, puzzle: Puzzle):
        self.puzzle, self.pieces = puzzle, puzzle.pieces
        self.cells, self.letters = puzzle.cells, puzzle.letters

    def of(self, states: torch.Tensor) -> torch.Tensor:
        """States, uint8 [N, D], unchanged."""
        return states


class Planes:
    """The content of each cell, plane by plane, as DeepCubeA encodes Sokoban: player, boxes, targets and walls.

    cells: the cells of all planes; letters: 0 for nothing, 1 for something.
    """

    letters: ClassVar[int] = 2
    pieces: tuple = ()

    def __init__(self, puzzle: Puzzle):
        if puzzle.planes is None:
            raise UserError(f"{puzzle.name} has no planes that a network could see; leave out inputs.")
        self.puzzle, self.cells = puzzle, puzzle.cells * puzzle.planes.shape[1]
        self.rows = torch.from_numpy(puzzle.planes)

    def of(self, states: torch.Tensor) -> torch.Tensor:
        """The planes of states, uint8 [N, D], cell by cell: uint8 [N, D · P]."""
        self.rows = self.rows.to(states.device)
        return self.rows[states.int()].flatten(1)


@dataclass(frozen=True)
class _Kind:
    """One kind of pieces as tensors on a device.

    codes: int64 [k], the factors for the colours of a place.  seen: int64 [6ᵏ], k · piece + twist by the sum of
    products.
    """

    stickers: torch.Tensor  # int64 [P, k]
    codes: torch.Tensor
    seen: torch.Tensor


class PlacesOfPieces:
    """The place and twist of each piece.  cells: pieces; letters: positions, for the kind with the most."""

    pieces: tuple = ()  # cells that move together: here each moves alone

    def __init__(self, puzzle: Puzzle):
        if not puzzle.pieces:
            raise UserError(f"{puzzle.name} has no pieces whose places a network could see; leave out inputs.")
        self.puzzle = puzzle
        self.cells = sum(len(kind.stickers) for kind in puzzle.pieces)
        self.letters = max(kind.stickers.size for kind in puzzle.pieces)

    def of(self, states: torch.Tensor) -> torch.Tensor:
        """k · place + twist of each piece, uint8 [N, pieces], for states, uint8 [N, D]."""
        parts = []
        for kind in _kinds(self.puzzle, states.device):
            places, size = kind.stickers.shape
            seen = kind.seen[(states[:, kind.stickers].long() * kind.codes).sum(dim=2)]
            stands = size * torch.arange(places, device=states.device) + seen % size
            parts.append(torch.zeros_like(seen).scatter_(1, seen // size, stands))
        return torch.cat(parts, dim=1).to(torch.uint8)


@lru_cache(maxsize=4)
def _kinds(puzzle: Puzzle, device: torch.device) -> list[_Kind]:
    """The kinds of pieces. Colours that no piece shows, as in rows that pad a batch, count as the first piece."""
    found = []
    for kind in puzzle.pieces:
        codes = puzzle.letters ** np.arange(kind.size)[::-1]
        arrays = (kind.stickers, np.ascontiguousarray(codes), kind.index.clip(0).ravel().astype(np.int64))
        found.append(_Kind(*(torch.from_numpy(array).to(device) for array in arrays)))
    return found


View = Cells | PlacesOfPieces | Planes
# By the `inputs` of an architecture:
VIEWS: dict[str, type[View]] = {"cells": Cells, "pieces": PlacesOfPieces, "planes": Planes}
