"""A puzzle whose states can be listed, as a graph over ranks: neighbour table and random walks."""

from functools import lru_cache

import numpy as np
from numba import njit

from costtogo.puzzles.base import Puzzle
from costtogo.types import NO_STATE, Neighbours, Ranks


@lru_cache(maxsize=2)
def neighbour_table(puzzle: Puzzle) -> Neighbours:
    """The neighbours of every state, int32 [S, A], made once a process."""
    return puzzle.neighbours()


def with_half_turns(neighbours: Neighbours) -> Neighbours:
    """The half-turn metric of a cube: beside each clockwise quarter turn also the same turn twice, int32 [S, 3A/2]."""
    clockwise = neighbours[:, ::2]
    twice = np.stack([column[column] for column in clockwise.T], axis=1)
    return np.concatenate([neighbours, twice], axis=1)


def walk_ranks(puzzle: Puzzle, walks: int, length: int, generator: np.random.Generator) -> Ranks:
    """random_walks in ranks, by the same draws: int64 [walks, length]."""
    draws = generator.random((length, walks))
    goal = puzzle.rank(puzzle.goal[None])[0]
    return _walk(neighbour_table(puzzle), goal, draws)


@njit(cache=True)
def _walk(neighbours, goal, draws):
    length, walks = draws.shape
    path = np.empty((walks, length), dtype=np.int64)
    for walk in range(walks):
        rank = goal
        for step in range(length):
            row = neighbours[rank]
            order = int(draws[step, walk] * (row != NO_STATE).sum())
            for target in row:
                if target != NO_STATE:
                    if order == 0:
                        rank = target
                        break
                    order -= 1
            path[walk, step] = rank
    return path
