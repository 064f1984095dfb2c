"""Permutations of 0 … k - 1, one per row: their rank in lexicographic order and whether they are odd."""

import numpy as np

from costtogo.types import Ranks


def smaller_after(permutations: np.ndarray) -> np.ndarray:
    """For each number, how many smaller numbers come after it, int64 [N, k]."""
    places = range(permutations.shape[1])
    after = [(permutations[:, place + 1 :] < permutations[:, place : place + 1]).sum(axis=1) for place in places]
    return np.stack(after, axis=1)


def is_odd(permutations: np.ndarray) -> np.ndarray:
    """Which permutations are odd, bool [N]."""
    return smaller_after(permutations).sum(axis=1) % 2 == 1


def rank_permutations(permutations: np.ndarray) -> Ranks:
    """Lexicographic rank, int64 [N]."""
    rank = np.zeros(len(permutations), dtype=np.int64)
    for place, smaller in enumerate(smaller_after(permutations).T):
        rank = rank * (permutations.shape[1] - place) + smaller
    return rank


def unrank_permutations(ranks: Ranks, size: int) -> np.ndarray:
    """The permutations of 0 … size - 1 with the given lexicographic ranks, int64 [N, size]."""
    permutations = np.zeros((len(ranks), size), dtype=np.int64)
    for place in range(size - 1, -1, -1):
        ranks, digit = np.divmod(ranks, size - place)
        permutations[:, place] = digit
        permutations[:, place + 1 :] += permutations[:, place + 1 :] >= digit[:, None]
    return permutations
