"""Sums of a layer's weights for whole pieces of a puzzle: if cells always move together, one row replaces theirs."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch

from costtogo.puzzles.base import Puzzle


class EmbeddingBagIndex(NamedTuple):
    """How a state chooses among T rows of sums, one for each of the P places of pieces and each way to fill it.

    The code of a place, states · places, has the letters of its cells as digits; its row is first + numbers[offset +
    code].
    members: the rows of weights that are summed, padded with a row of zeros if a piece has fewer cells.
    fixed: the rows of weights of cells that never change.
    Only for reachable states: letters that no piece can show count as the first way.
    """

    places: torch.Tensor  # float32 [D, P]
    offsets: torch.Tensor  # float32 [P]
    numbers: torch.Tensor  # int32 [codes]
    first: torch.Tensor  # int32 [P]
    members: torch.Tensor  # int64 [T, k]
    fixed: torch.Tensor  # int64 [F]

    def summed(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From rows of weights [D · letters, width]: the rows of sums [T, width], and the shared part [width]."""
        with_zeros = torch.cat([rows, rows.new_zeros(1, rows.shape[1])])
        return with_zeros[self.members].sum(dim=1), rows[self.fixed].sum(dim=0)

    def chosen(self, states: torch.Tensor) -> torch.Tensor:
        """The rows whose sum is a layer's output for each state, uint8 [N, D]: int32 [N, P]."""
        codes = torch.addmm(self.offsets, states.float(), self.places).int()  # small whole numbers: exact
        return self.numbers.index_select(0, codes.view(-1)).view(codes.shape).add_(self.first)


@lru_cache(maxsize=2)
def index_of(puzzle: Puzzle, device: torch.device) -> EmbeddingBagIndex:
    """The index of a puzzle with pieces."""
    places, offsets, first, members, numbers, codes, used = [], [], [], [], [], 0, 0
    for pieces in puzzle.pieces:
        ways = np.argsort(pieces.index, axis=None)[-(pieces.index >= 0).sum() :]
        shown = np.stack(np.unravel_index(ways, pieces.index.shape), axis=1)
        for cells in pieces.stickers:
            place = np.zeros(puzzle.cells)
            place[cells] = puzzle.letters ** np.arange(pieces.size)[::-1]
            places.append(place)
            offsets.append(codes)
            first.append(used)
            members += (cells * puzzle.letters + shown).tolist()
            used += len(shown)
        numbers += pieces.index.clip(0).ravel().tolist()  # the rows of zeros that pad a batch also need a number
        codes += pieces.index.size
    longest, nothing = max(len(summed) for summed in members), puzzle.cells * puzzle.letters
    members = [summed + [nothing] * (longest - len(summed)) for summed in members]
    still = np.setdiff1d(np.arange(puzzle.cells), np.concatenate([pieces.stickers.ravel() for pieces in puzzle.pieces]))
    fixed = still * puzzle.letters + puzzle.goal[still]
    return EmbeddingBagIndex(
        torch.tensor(np.array(places).T, dtype=torch.float32, device=device).contiguous(),
        torch.tensor(offsets, dtype=torch.float32, device=device),
        torch.tensor(numbers, dtype=torch.int32, device=device),
        torch.tensor(first, dtype=torch.int32, device=device),
        torch.tensor(members, device=device),
        torch.tensor(fixed, device=device),
    )
