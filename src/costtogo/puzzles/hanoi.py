"""The Towers of Hanoi H(n, m): n disks on m pegs (thesis, 4.3).

A state lists the peg of each disk, smallest disk first. The goal has every disk on peg 0, the customary start has every
disk on the last peg. An action (i, j) moves the top disk of peg i to peg j.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import ClassVar

import numpy as np

from costtogo.puzzles.base import ListedPuzzle, Ranked
from costtogo.types import Children, Legal, Ranks, States, UserError


@dataclass(frozen=True)
class Hanoi(ListedPuzzle):
    """H(disks, pegs): pegs ** disks states."""

    family: ClassVar[str] = "hanoi"
    disks: int = field()
    pegs: int = 3

    def __post_init__(self):
        if self.disks < 1 or not 3 <= self.pegs <= 9:
            raise UserError(f"H({self.disks}, {self.pegs}) is not playable: at least 1 disk and 3 to 9 pegs.")

    @property
    def name(self) -> str:
        """hanoi_n, or hanoi_n_m if the number of pegs is not three."""
        return f"hanoi_{self.disks}" + (f"_{self.pegs}" if self.pegs != 3 else "")

    @property
    def cells(self) -> int:
        """One cell per disk."""
        return self.disks

    @property
    def letters(self) -> int:
        """A cell names a peg."""
        return self.pegs

    @cached_property
    def moves(self) -> np.ndarray:
        """The pegs that each action moves from and to, int64 [A, 2]."""
        return np.array(list(permutations(range(self.pegs), 2)))

    @property
    def actions(self) -> tuple[str, ...]:
        """ "0>2" moves the top disk of peg 0 to peg 2."""
        return tuple(f"{i}>{j}" for i, j in self.moves)

    @property
    def state_count(self) -> int:
        """Every assignment of disks to pegs is a state."""
        return self.pegs**self.disks

    @property
    def goal(self) -> States:
        """All disks on peg 0, uint8 [n]."""
        return np.zeros(self.disks, dtype=np.uint8)

    @property
    def start(self) -> States:
        """All disks on the last peg, uint8 [n]."""
        return np.full(self.disks, self.pegs - 1, dtype=np.uint8)

    def top_disks(self, states: States) -> np.ndarray:
        """The smallest disk on each peg, or n if the peg is empty, int64 [N, m]."""
        on_peg = states[:, :, None] == np.arange(self.pegs)
        return np.where(on_peg.any(axis=1), on_peg.argmax(axis=1), self.disks)

    def expand(self, states: States) -> tuple[Children, Legal]:
        """Move each top disk to each other peg; legal if it is smaller than the top disk there."""
        tops = self.top_disks(states)
        moved, onto = tops[:, self.moves[:, 0]], tops[:, self.moves[:, 1]]
        legal = moved < onto
        children = np.repeat(states[:, None], len(self.moves), axis=1)
        row, action = np.nonzero(legal)
        children[row, action, moved[row, action]] = self.moves[action, 1]
        return children, legal

    def legal(self, states: States) -> Legal:
        """True if a peg's top disk is smaller than the top disk of the peg it goes to, bool [N, A]."""
        tops = self.top_disks(states)
        return tops[:, self.moves[:, 0]] < tops[:, self.moves[:, 1]]

    @cached_property
    def place_values(self) -> np.ndarray:
        """The weight of each disk in a rank, int64 [n]."""
        return self.pegs ** np.arange(self.disks, dtype=np.int64)

    @property
    def rule(self) -> Ranked:
        """A rank has the pegs for digits."""
        return Ranked(self.place_values)

    def rank(self, states: States) -> Ranks:
        """Pegs as digits, the smallest disk the least significant: states of fewer disks keep their rank."""
        return states.astype(np.int64) @ self.place_values

    def unrank(self, ranks: Ranks) -> States:
        """The states of the given ranks, uint8 [N, n]."""
        return (np.asarray(ranks)[:, None] // self.place_values % self.pegs).astype(np.uint8)

    def inverse(self, action: int) -> int:
        """Moving back."""
        i, j = self.moves[action]
        return self.actions.index(f"{j}>{i}")

    def recursive_solution(self) -> list[int]:
        """The shortest solution from the start on three pegs, 2ⁿ - 1 actions, by the classical recursion."""
        if self.pegs != 3:
            raise UserError(f"The recursive solution is known for three pegs; {self.name} has {self.pegs}.")
        actions: list[int] = []
        pending = [(self.disks, 2, 0)]
        while pending:
            disks, i, j = pending.pop()
            if disks == 1:
                actions.append(self.actions.index(f"{i}>{j}"))
            elif disks > 1:
                spare = 3 - i - j
                pending += [(disks - 1, spare, j), (1, i, j), (disks - 1, i, spare)]
        return actions

    def draw(self, state: States) -> str:
        """Pegs side by side, each disk as wide as its size."""
        towers = [[disk for disk in range(self.disks) if state[disk] == peg] for peg in range(self.pegs)]
        width = 2 * self.disks + 1
        rows = []
        for level in range(self.disks):
            cells = []
            for tower in towers:
                position = level - (self.disks - len(tower))
                cells.append(("=" * (2 * tower[position] + 3) if position >= 0 else "|").center(width))
            rows.append(" ".join(cells).rstrip())
        return "\n".join([*rows, "-" * (self.pegs * (width + 1) - 1)])
