"""A puzzle whose states can be listed, as a graph over ranks: the target of each action, and random walks."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.base import ListedPuzzle, Puzzle
from costtogo.types import NO_STATE, Neighbours, Ranks


class Graph(NamedTuple):
    """The rank each action leads to, in one table or, where two parts of a puzzle move independently, in two.

    rank = place in the first · rows of the second + place in the second; a single table has a second one of one row.
    first: int32 [F, A], NO_STATE where an action is not legal.  second: int32 [G, A].  S = F · G.
    """

    first: Neighbours
    second: Neighbours


def one_table(neighbours: Neighbours) -> Graph:
    """The graph of a neighbour table, int32 [S, A]."""
    return Graph(neighbours, np.zeros((1, neighbours.shape[1]), dtype=np.int32))


@lru_cache(maxsize=2)
def graph_of(puzzle: ListedPuzzle) -> Graph:
    """The graph of a puzzle, in small tables if it has factors(); made once per process."""
    factors = puzzle.factors()
    return one_table(neighbour_table(puzzle)) if factors is None else Graph(*factors)


@lru_cache(maxsize=2)
def neighbour_table(puzzle: Puzzle) -> Neighbours:
    """The neighbours of every state, int32 [S, A]; made once per process."""
    return puzzle.neighbours()


def with_half_turns(graph: Graph) -> Graph:
    """The half-turn metric of a cube: the quarter turns, then each clockwise one done twice."""
    return Graph(*(_with_half_turns(table) for table in graph))


def _with_half_turns(table: Neighbours) -> Neighbours:
    twice = [column[column] for column in table[:, ::2].T]
    return np.concatenate([table, np.stack(twice, axis=1)], axis=1)


def walk_ranks(puzzle: Puzzle, walks: int, length: int, generator: np.random.Generator) -> Ranks:
    """random_walks as ranks, with the same draws: int64 [walks, length]."""
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
