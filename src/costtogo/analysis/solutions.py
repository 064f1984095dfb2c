"""Patterns of three moves in the solutions of a cube, and the solutions of mirror images (DeepCubeA, Methods)."""

from collections.abc import Sequence

import numpy as np

from costtogo.puzzles.base import Puzzle, Symmetry, inverses
from costtogo.puzzles.cube import OPPOSITE
from costtogo.puzzles.cube3 import Cube3

Solutions = Sequence[Sequence[int]]  # actions of each


def triplet_shares(puzzle: Puzzle, solutions: Solutions) -> dict[str, float]:
    """Shares of three moves in a row that are a b a⁻¹, a b a, a a b and a b b, in per cent, and how many there are.

    a and b are different moves, and b does not undo a. The shares are NaN where no solution has three moves.
    """
    windows = [
        np.lib.stride_tricks.sliding_window_view(moves, 3) for moves in map(np.array, solutions) if len(moves) > 2
    ]
    first, second, third = np.concatenate(windows).T if windows else np.zeros((3, 0), dtype=int)
    undone = inverses(puzzle)
    apart = (first != second) & (undone[first] != second)
    patterns = {
        "conjugate": apart & (third == undone[first]),
        "aba": apart & (third == first),
        "aab": (first == second) & (third != second) & (third != undone[second]),
        "abb": apart & (third == second),
    }
    count = len(first)
    shares = {f"{name}_triplet_percent": 100 * found.mean() if count else np.nan for name, found in patterns.items()}
    return {"triplets": count, **shares}


def mirrored_shares(puzzle: Cube3, solutions: Solutions, mirrored: Solutions, symmetry: Symmetry) -> dict[str, float]:
    """How solutions of states and of their images compare, pair by pair.

    symmetric_solution_percent: the one is the image of the other. asymmetric: how many pairs are not;
    same_length_percent: which of those are as long as each other, NaN where there are none.
    """
    pairs = list(zip(solutions, mirrored, strict=True))
    images = [same_turns(puzzle, symmetry.actions[list(ours)].tolist()) for ours in solutions]
    symmetric = np.array(
        [image == same_turns(puzzle, theirs) for image, theirs in zip(images, mirrored, strict=True)], bool
    )
    as_long = np.array([len(ours) == len(theirs) for ours, theirs in pairs], dtype=bool)
    others = ~symmetric
    return {
        "symmetric_solution_percent": 100 * symmetric.mean() if pairs else np.nan,
        "asymmetric": int(others.sum()),
        "same_length_percent": 100 * as_long[others].mean() if others.any() else np.nan,
    }


def same_turns(puzzle: Cube3, actions: Sequence[int]) -> str:
    """Moves with half turns, two of one axis in alphabetical order: alike where two solutions turn the same.

    A half turn has no direction, and turns of opposite faces may change places.
    """
    moves = puzzle.format_moves(actions).split()
    for place, (first, second) in enumerate(zip(moves, moves[1:], strict=False)):
        if OPPOSITE[first[0]] == second[0]:
            moves[place : place + 2] = sorted((first, second))
    return " ".join(moves)
