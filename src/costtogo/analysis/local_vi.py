"""What local value iteration does on all boards at once, exactly: no board is drawn.

A policy sees the cells of the blank and of its tiles alone. The tiles that it does not see are permuted in a way that
depends on those cells, so that, all boards being as likely, they lie at random after it as before. Step by step the
cell of the blank, with the most tiles considered so far, is therefore a Markov chain, and its shares are fractions.
"""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd

from costtogo.compiled import njit
from costtogo.learning.local_vi import OUTSIDE, UNREACHED, Local, Subproblem
from costtogo.puzzles.sliding import BLANK
from costtogo.types import States

EMPTY = 255  # a cell of a board where no tile lies yet


class Placements(NamedTuple):
    """Every way in which the blank and the tiles of a step may lie, the tiles before them being home.

    cells: uint8 [P, k + 1], that of the blank first.  boards: int64 [P], how many arrangements of the other tiles make
    a board that can be solved, of which each way has as many where there are two or more of them: 1 stands for it.
    """

    cells: np.ndarray
    boards: np.ndarray


class Outcomes(NamedTuple):
    """What a step does with each of its placements.

    size: uint8 [P], tiles considered.  moves: uint8 [P].  blank: uint8 [P], the blank's cell afterwards.
    """

    size: np.ndarray
    moves: np.ndarray
    blank: np.ndarray


class Followed(NamedTuple):
    """Boards that agree in the most tiles considered and in the blank's cell.

    share: of all boards.  moves: so far, on average over all boards, those that are not among them counting 0.
    most: moves of the one with the most.
    """

    share: Fraction
    moves: Fraction
    most: int

    def plus(self, other: "Followed") -> "Followed":
        """These boards and others."""
        return Followed(self.share + other.share, self.moves + other.moves, max(self.most, other.most))


NONE = Followed(Fraction(0), Fraction(0), 0)


def placements(local: Local, step: int) -> Placements:
    """All placements of a step."""
    problem = local.subproblem(step, 0)
    free = problem.cells.astype(np.uint8)
    cells = free[:, None]
    for _ in problem.tiles:
        rows = np.repeat(cells, len(free), axis=0)
        following = np.tile(free, len(cells))
        new = (rows != following[:, None]).all(axis=1)
        cells = np.column_stack([rows[new], following[new]])
    others = len(free) - cells.shape[1]
    boards = np.ones(len(cells), dtype=np.int64)
    if others < 2:
        boards[:] = local.puzzle.is_reachable(boards_of(local, step, cells))
    return Placements(cells, boards)


def boards_of(local: Local, step: int, cells: np.ndarray) -> States:
    """A board for each placement, the tiles of later steps in their order in the cells that are left: uint8 [P, D]."""
    problem, side = local.subproblem(step, 0), local.puzzle.side
    later = local.order(side)[(step + 1) * local.size :]
    boards = np.tile(local.puzzle.goal, (len(cells), 1))
    boards[:, problem.cells] = EMPTY
    boards[np.arange(len(cells))[:, None], cells] = np.array([BLANK, *problem.tiles], dtype=np.uint8)
    boards[boards == EMPTY] = np.tile(np.array(later, dtype=np.uint8), len(cells))
    return boards


def outcomes(local: Local, step: int, placed: Placements) -> Outcomes:
    """What a step does with its placements; those that belong to no board that can be solved have size 0."""
    found = Outcomes(*np.zeros((3, len(placed.cells)), dtype=np.uint8))
    tiles, solvable = len(local.steps[step]), np.flatnonzero(placed.boards)

    def ranks_in(problem: Subproblem, rows: np.ndarray) -> np.ndarray:
        return ranks_of_cells(problem, placed.cells[rows], tiles)

    for problem, rows, ranks in local.tried(step, solvable, ranks_in):
        found.size[rows], found.moves[rows] = len(problem.tiles), local.value_function(problem)[ranks]
        found.blank[rows] = last_blanks(local, problem)[ranks]
    return found


def ranks_of_cells(problem: Subproblem, cells: np.ndarray, tiles: int) -> np.ndarray:
    """The ranks of placements, uint8 [P, tiles + 1], of the last `tiles` tiles of a subproblem, the others at home."""
    base, places = len(problem.cells), problem.places
    ranks = places[cells[:, 0]]
    for home in problem.homes[:-tiles]:
        ranks = ranks * base + places[home]
    for column in range(1, tiles + 1):
        ranks = ranks * base + places[cells[:, column]]
    return ranks


def last_blanks(local: Local, problem: Subproblem) -> np.ndarray:
    """The blank's cell where the policy of a subproblem ends, by rank, uint8."""
    values = local.value_function(problem)
    ascending = np.argsort(values, kind="stable")[: np.count_nonzero(values != UNREACHED)]
    found = np.zeros(len(values), dtype=np.uint8)
    rules = (local.puzzle.sources, np.array(local.preference))
    _last_blanks(found, values, ascending, problem.cells, problem.places, len(problem.tiles), *rules)
    return found


@njit(cache=True)
def _last_blanks(found, values, ascending, cells, places, tiles, sources, preference):
    base = len(cells)
    weights = base ** np.arange(tiles, -1, -1)
    for rank in ascending:
        blank = rank // weights[0]
        if values[rank] == 0:
            found[rank] = cells[blank]
            continue
        for action in preference:
            source = places[sources[cells[blank], action]]
            if source == OUTSIDE or source == blank:
                continue
            child = rank + (source - blank) * weights[0]
            for tile in range(1, tiles + 1):
                if rank // weights[tile] % base == source:
                    child += (blank - source) * weights[tile]
            if values[child] == values[rank] - 1:
                found[rank] = found[child]
                break


def transitions(placed: Placements, found: Outcomes) -> pd.DataFrame:
    """Placements by the blank's cell before and after and by the tiles considered.

    boards: how many.  moves: of all of them together.  most: of the one with the most.
    """
    rows = np.flatnonzero(placed.boards)
    whole = pd.DataFrame(
        {
            "before": placed.cells[rows, 0],
            "size": found.size[rows],
            "after": found.blank[rows],
            "boards": placed.boards[rows],
            "moves": placed.boards[rows] * found.moves[rows],
            "most": found.moves[rows],
        }
    )
    grouped = whole.groupby(["before", "size", "after"], as_index=False)
    return grouped.agg(boards=("boards", "sum"), moves=("moves", "sum"), most=("most", "max"))


@dataclass(frozen=True)
class Exact:
    """Local value iteration on all boards.

    sizes: for each step the share of boards by the number of tiles considered at once.
    classes: by the most tiles considered in any step.
    """

    sizes: list[dict[int, Fraction]]
    classes: dict[int, Followed]

    @property
    def average(self) -> Fraction:
        """Moves of a board, on average over all."""
        return sum(found.moves for found in self.classes.values())

    @property
    def most(self) -> int:
        """Moves of the board with the most."""
        return max(found.most for found in self.classes.values())


def exact(local: Local) -> Exact:
    """Follow all boards through all steps."""
    cells = local.puzzle.cells
    now = {(0, blank): Followed(Fraction(1, cells), Fraction(0), 0) for blank in range(cells)}
    sizes = []
    for step in range(len(local.steps)):
        placed = placements(local, step)
        table = transitions(placed, outcomes(local, step, placed))
        sizes.append(defaultdict(Fraction))
        now = _followed(now, table, sizes[-1])
    classes: dict[int, Followed] = {}
    for (largest, _), found in now.items():
        classes[largest] = classes.get(largest, NONE).plus(found)
    return Exact([dict(sorted(shares.items())) for shares in sizes], dict(sorted(classes.items())))


def _followed(now: dict, table: pd.DataFrame, sizes: dict[int, Fraction]) -> dict:
    """The groups after a step; sizes gets the shares of the tiles considered in it."""
    then: dict[tuple[int, int], Followed] = {}
    total = table.groupby("before")["boards"].sum()
    by_blank = dict(list(table.groupby("before")))
    for (largest, blank), found in now.items():
        for row in by_blank[blank].itertuples():
            share = Fraction(int(row.boards), int(total[blank]))
            mean = Fraction(int(row.moves), int(row.boards))
            moved = Followed(
                found.share * share, (found.moves + found.share * mean) * share, found.most + int(row.most)
            )
            sizes[row.size] += moved.share
            name = max(largest, row.size), row.after
            then[name] = then.get(name, NONE).plus(moved)
    return then


def sizes_of_uniform_blank(local: Local, step: int) -> dict[int, Fraction]:
    """Shares of the tiles considered in a step if the blank, too, lay at random: the document's τ."""
    placed = placements(local, step)
    found = outcomes(local, step, placed)
    counts = np.bincount(found.size, weights=placed.boards).astype(np.int64)
    return {size: Fraction(int(n), int(counts.sum())) for size, n in enumerate(counts) if n}
