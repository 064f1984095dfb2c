"""Lights Out on a square board: a press switches a light and its four neighbours; all lights must go out.

A state lists the lights row by row, 1 for a light that is on. Action i presses cell i. Presses commute and each undoes
itself, so a solution is a set of cells, which solves a linear system over GF(2) (Anderson and Feil 1998, Mathematics
Magazine 71).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from costtogo.puzzles.base import Adding, Puzzle
from costtogo.puzzles.gf2 import eliminate
from costtogo.types import Children, Legal, States, UserError

SIDES = range(2, 10)


@dataclass(frozen=True)
class LightsOut(Puzzle):
    """side × side lights and equally many actions; UserError if there is no such board."""

    family: ClassVar[str] = "lights_out"
    side: int = field()
    letters: int = 2

    def __post_init__(self):
        if self.side not in SIDES:
            raise UserError(f"There is no lights_out_{self.side}: a side has {SIDES[0]} to {SIDES[-1]} lights.")

    @property
    def name(self) -> str:
        """lights_out_7 for a side of 7."""
        return f"lights_out_{self.side}"

    @property
    def cells(self) -> int:
        """side²."""
        return self.side**2

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """ "r2c3" presses the third light of the second row."""
        return tuple(f"r{cell // self.side + 1}c{cell % self.side + 1}" for cell in range(self.cells))

    @property
    def state_count(self) -> int:
        """2 to the number of linearly independent presses."""
        return 1 << (self.cells - len(self.quiet))

    @cached_property
    def goal(self) -> States:
        """All lights off, uint8 [D]."""
        return np.zeros(self.cells, dtype=np.uint8)

    @cached_property
    def presses(self) -> np.ndarray:
        """The lights that each action switches, uint8 [A, D]; symmetric."""
        row, column = np.divmod(np.arange(self.cells), self.side)
        away = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
        return (away <= 1).astype(np.uint8)

    @cached_property
    def rule(self) -> Adding:
        """An action switches lights."""
        return Adding(self.presses)

    @cached_property
    def quiet(self) -> np.ndarray:
        """A basis of the sets of presses that change nothing, uint8 [k, A]: 4 on side 4, 2 on 5, 8 on 9, else none."""
        pivots, transform = eliminate(self.presses)
        return transform[len(pivots) :]

    def expand(self, states: States) -> tuple[Children, Legal]:
        """Press every light: children uint8 [N, A, D]."""
        return states[:, None] ^ self.presses, self.legal(states)

    def move(self, states: States, actions: np.ndarray) -> States:
        """Each state after its press, uint8 [N, D]."""
        return states ^ self.presses[actions]

    def inverse(self, action: int) -> int:
        """A press undoes itself."""
        return action

    def is_reachable(self, states: States) -> np.ndarray:
        """Which boards presses can make from the goal, bool [N]: an even number of lights on in every quiet set."""
        return ~(states.astype(np.float32) @ self.quiet.T % 2).any(axis=1)

    def format_state(self, state: States) -> str:
        """The rows of 0 and 1."""
        return " ".join("".join(str(light) for light in row) for row in self._rows(state))

    def draw(self, state: States) -> str:
        """# for a light that is on, a dot for one that is off."""
        return "\n".join(" ".join(".#"[light] for light in row) for row in self._rows(state))

    def _rows(self, state: States) -> np.ndarray:
        return state.reshape(self.side, self.side)
