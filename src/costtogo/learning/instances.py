"""Test sets: how the literature draws them, uniform, and stratified over distances; each with exact distances.

scrambled: the ends of walks of exactly walk_max moves (final-year report, 5.0); the other kinds of walks: samplers.
"""

from typing import NamedTuple

import numpy as np

from costtogo.exact.graph import walk_ranks
from costtogo.learning.samplers import sample
from costtogo.params.base import derive_seed
from costtogo.params.instances import InstanceParams
from costtogo.puzzles.base import Puzzle, apply, pick_legal
from costtogo.types import Ranks, States, UserError

SMALL = 100_000  # states; below it selection sets may share states with test sets, else little would be left


class Drawn(NamedTuple):
    """The states of a set, arrays of one length.

    ranks: int64.  weights: float64, how many drawn states each counts for.  walks: int64, the random walk it lies on.
    """

    ranks: Ranks
    weights: np.ndarray
    walks: np.ndarray


def draw_sets(
    puzzle: Puzzle, sets: dict[str, InstanceParams], distance: np.ndarray, seed: int, disjoint: bool
) -> dict[str, Drawn]:
    """The states of every set by name. With disjoint, selection sets lose the states of all test sets.

    distance: exact moves to the goal [S]. Each set has a seed of its own: adding one leaves the others as they are.
    What is left of a set weighs as many states as were drawn at its distance, 1 on each where none was lost.
    """
    ordered = sorted(sets.items(), key=lambda item: item[1].role == "selection")
    drawn: dict[str, Drawn] = {}
    for name, params in ordered:
        whole = draw_set(puzzle, params, distance, np.random.default_rng(derive_seed(seed, name)))
        left = np.ones(len(whole), dtype=bool)
        if disjoint and params.role == "selection":
            tested = [drawn[other].ranks for other, its in ordered if its.role == "test"]
            left = ~np.isin(whole, np.concatenate(tested)) if tested else left
        ranks = whole[left]
        if len(ranks) == 0:
            raise UserError(f"Instance set {name} of {puzzle.name} is empty once the test states are taken out of it.")
        drawn[name] = Drawn(ranks, weigh(distance[ranks], distance[whole]), walks_of(params, len(whole))[left])
    return {name: drawn[name] for name in sets}


def walks_of(params: InstanceParams, count: int) -> np.ndarray:
    """The walk that each state of a set lies on, int64 [count]: of deepcube whole walks, else one for each state."""
    states = np.arange(count)
    if params.kind != "deepcube":
        return states
    single = count - len(params.one_each_at)  # the states before those at chosen distances, which lie on no walk
    return np.where(states < single, states // params.walk_max, states)


def weigh(left: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """How many states were drawn at the distance of each that is left, over how many of them are left: float64 [N]."""
    before, after = (np.bincount(moves, minlength=drawn.max() + 1) for moves in (drawn, left))
    return before[left] / after[left]


def draw_set(puzzle: Puzzle, params: InstanceParams, distance: np.ndarray, generator: np.random.Generator) -> Ranks:
    """The ranks of one set, int64, followed by one state at each distance that one_each_at asks for."""
    single = [_at_distance(distance, moves, 1, generator) for moves in params.one_each_at]
    return np.concatenate([_draw(puzzle, params, distance, generator), *single])


def _draw(puzzle: Puzzle, params: InstanceParams, distance: np.ndarray, generator: np.random.Generator) -> Ranks:
    if params.kind == "start":
        return puzzle.rank(_start(puzzle, params.disks))
    if params.kind == "stratified":
        layers = [_at_distance(distance, moves, params.states, generator) for moves in range(int(distance.max()) + 1)]
        return np.concatenate(layers)
    if params.kind == "scrambled":
        return walk_ranks(puzzle, params.states, params.walk_max, generator)[:, -1]
    return sample(puzzle, params.kind, params.states, getattr(params, "walk_max", 1), generator)


def _start(puzzle: Puzzle, disks: int | None) -> States:
    """The customary start, or that of a tower of fewer disks with the others at the goal: uint8 [1, D]."""
    if puzzle.start is None:
        raise UserError(f"{puzzle.name} has no customary start; choose another kind of instances for it.")
    if disks is None:
        return puzzle.start[None]
    if disks > puzzle.disks:
        raise UserError(f"{puzzle.name} has no start of {disks} disks; leave out disks, or choose a larger tower.")
    return np.concatenate([puzzle.start[:disks], puzzle.goal[disks:]])[None]


def _at_distance(distance: np.ndarray, moves: int, count: int, generator: np.random.Generator) -> Ranks:
    """Up to count different states at a distance, in ascending order."""
    layer = np.flatnonzero(distance == moves)
    if len(layer) == 0:
        raise UserError(f"No state is {moves} moves from the goal; the farthest is {int(distance.max())}.")
    return np.sort(generator.choice(layer, size=min(count, len(layer)), replace=False))


def draw_walk_ends(puzzle: Puzzle, count: int, length: tuple[int, int], generator: np.random.Generator) -> States:
    """The ends of random walks from the goal, each of a length drawn uniformly from the two on: uint8 [count, D]."""
    shortest, longest = length
    ends = generator.integers(shortest, longest + 1, size=count)
    states = np.repeat(puzzle.goal[None], count, axis=0)
    for step in range(longest):
        walking = np.flatnonzero(ends > step)
        steps = pick_legal(puzzle.reverse_legal(states[walking]), generator.random(len(walking)))
        states[walking] = puzzle.step_back(states[walking], steps)
    return states


def draw_prefixes(puzzle: Puzzle, moves: str) -> States:
    """What the first 1, 2, … of some moves make of the goal, uint8 [moves, D]."""
    actions = puzzle.parse_moves(moves)
    return np.array([apply(puzzle, puzzle.goal, actions[:count]) for count in range(1, len(actions) + 1)])
