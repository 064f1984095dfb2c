"""States drawn at each distance of the table around the goal, all at a distance equally likely."""

import numpy as np

from costtogo.exact.hashing import EMPTY, hash_states
from costtogo.exact.nearby import NearbyTable, children_of
from costtogo.types import Hashes, States


def draw_layers(table: NearbyTable, count: int, generator: np.random.Generator) -> tuple[States, np.ndarray]:
    """Up to count different states at each distance, all where there are fewer: uint8 [N, D], distances int64 [N].

    The table holds hashes alone: count of them are drawn at each distance, and breadth-first search from the goal
    finds the states that have them. Of the last layer, the largest, only those are kept.
    """
    layer = table.puzzle.goal[None]
    drawn = [layer]
    for moves in range(1, table.depth + 1):
        wanted = _draw_hashes(table, moves, count, generator)
        layer, hashes = _next_layer(table, layer, moves, wanted if moves == table.depth else None)
        drawn.append(layer[np.isin(hashes, wanted)])
    return np.concatenate(drawn), np.repeat(np.arange(len(drawn)), [len(states) for states in drawn])


def _draw_hashes(table: NearbyTable, moves: int, count: int, generator: np.random.Generator) -> Hashes:
    """Up to count hashes at a distance, each equally likely."""
    layer = np.sort(table.keys[(table.distance == moves) & (table.keys != EMPTY)])
    return generator.choice(layer, size=min(count, len(layer)), replace=False)


def _next_layer(table: NearbyTable, states: States, moves: int, wanted: Hashes | None) -> tuple[States, Hashes]:
    """The children that are so many moves from the goal, each once, and their hashes; with wanted, those alone."""
    parts = []
    for children in children_of(table.puzzle, states):
        hashes = hash_states(table.puzzle, children)
        kept = table.of_hashes(hashes) == moves
        if wanted is not None:
            kept &= np.isin(hashes, wanted)
        parts.append((children[kept], hashes[kept]))
    children, hashes = (np.concatenate(column) for column in zip(*parts, strict=True))
    hashes, rows = np.unique(hashes, return_index=True)
    return children[rows], hashes
