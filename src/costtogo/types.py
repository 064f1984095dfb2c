"""Array aliases, named sentinels, the result of a search, and the error for a user's mistake.

The letters in every shape: N states, A actions, D cells, S states of a whole puzzle, B starts.
"""

import errno
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

States: TypeAlias = NDArray[np.uint8]  # [N, D]
Children: TypeAlias = NDArray[np.uint8]  # [N, A, D]
Legal: TypeAlias = NDArray[np.bool_]  # [N, A]
Ranks: TypeAlias = NDArray[np.int64]  # [N]
Neighbours: TypeAlias = NDArray[np.int32]  # [S, A], NO_STATE if a move is not legal
Hashes: TypeAlias = NDArray[np.uint64]  # [N], never 0
CostToGo: TypeAlias = NDArray[np.float32]  # [N], in moves
Heuristic: TypeAlias = Callable[[States], CostToGo]


class ActionHeuristic(Protocol):
    """A heuristic that evaluates the children of states instead of the states.

    by_action: True if searches should call `children` instead of evaluating states.
    """

    by_action: bool

    def children(self, states: States) -> NDArray[np.float32]:
        """The cost-to-go of each child, in moves, float32 [N, A]; inf if the action is not legal."""


class PolicyHeuristic(Protocol):
    """A heuristic that also gives the probability of each action.

    has_policy: True if searches may call `with_policy`.
    """

    has_policy: bool

    def with_policy(self, states: States) -> tuple[NDArray[np.float32], CostToGo]:
        """The probability of each action, float32 [N, A], 0 if it is not legal; and the cost-to-go, float32 [N]."""


NO_STATE = -1
NO_ACTION = -1
FULL = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT)  # there is no room for a file
LARGEST_PATH_WEIGHT = 2  # λ; above 1 for heuristics that overestimate


class UserError(Exception):
    """A user's mistake, in one sentence that says what was wrong, where, and what to do."""


def excerpt(text: str, most: int = 60) -> str:
    """A user's text as messages show it: one line, unprintable characters escaped, with … beyond `most` characters."""
    seen = text[: most + 1]
    shown = "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in seen)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


@dataclass(frozen=True)
class SearchResult:
    """One row per start; arrays of length B.

    cost: float64, moves of the solution found, inf if the search ended without one.
    nodes_expanded: int64, nodes whose children were generated.
    nodes_generated: int64, legal children generated, counted before duplicates are removed.
    lower_bound: float64, the smallest g + h left open, or the cost if that is smaller: never above the
        optimum if the heuristic never overestimates.
    solutions: int8 arrays of actions, empty if unsolved.
    out_of_memory: bool, True if the search kept too many nodes when it ended.
    out_of_time: bool, True if its seconds were up when it ended.
    """

    cost: NDArray[np.float64]
    nodes_expanded: NDArray[np.int64]
    nodes_generated: NDArray[np.int64]
    lower_bound: NDArray[np.float64]
    solutions: list[NDArray[np.int8]]
    out_of_memory: NDArray[np.bool_]
    out_of_time: NDArray[np.bool_]

    @classmethod
    def from_rows(cls, rows: Iterable[tuple]) -> "SearchResult":
        """One row per start, its values in the order of the fields; solvers without limits leave out the last two."""
        whole = [(*row, False, False)[:7] for row in rows]
        cost, expanded, generated, bound, solutions, *limits = zip(*whole, strict=True) if whole else [()] * 7
        return cls(
            np.array(cost, dtype=np.float64),
            np.array(expanded, dtype=np.int64),
            np.array(generated, dtype=np.int64),
            np.array(bound, dtype=np.float64),
            [np.asarray(solution, dtype=np.int8) for solution in solutions],
            *(np.array(limit, dtype=bool) for limit in limits),
        )

    def rows(self) -> Iterator[tuple]:
        """One row per start, as from_rows takes them."""
        return zip(*(getattr(self, field.name) for field in fields(self)), strict=True)

    @property
    def solved(self) -> NDArray[np.bool_]:
        """bool [B]."""
        return np.isfinite(self.cost)

    @property
    def ended(self) -> NDArray[np.object_]:
        """How each search ended, object [B]: "solved", "memory" (too many nodes kept), "seconds" or "expansions"."""
        reasons = {"solved": self.solved, "memory": self.out_of_memory, "seconds": self.out_of_time}
        return np.select(list(reasons.values()), list(reasons), "expansions").astype(object)
