"""Where training and test states come from (thesis 4.5 and 5.4).

deepcube: walks of K random moves from the goal, all states kept (McAleer et al. 2018).
deepcubea: the end of a walk of k moves, k uniform in 1 … K (Agostinelli et al. 2019).
uniform: every state equally likely.
adaptive_k: deepcube with K growing by one at each convergence point.
non_backtracking: the states of walks that never undo their last move, kept whole like those of deepcube.
growing_tower: of the Towers of Hanoi, every state equally likely whose larger disks are all at the goal.
levels: of Sokoban, the ends of walks back from the solved states of many levels (learning.sokoban).
"""

import math

import numpy as np

from costtogo.engines import Batch, Engine, engine_on
from costtogo.exact.graph import walk_ranks
from costtogo.params.training import SamplerParams
from costtogo.puzzles import levels_of
from costtogo.puzzles.base import Puzzle, is_listed
from costtogo.types import Ranks, UserError


def effective_k(sampler: SamplerParams, convergence_points: int) -> int:
    """The longest walk at this point of the training: min(K, convergence points + 1 + offset) for adaptive-K."""
    if sampler.kind != "adaptive_k":
        return sampler.walk_max
    return min(sampler.walk_max, convergence_points + 1 + sampler.conv_point_offs)


def sample(puzzle: Puzzle, kind: str, count: int, walk_max: int, generator: np.random.Generator) -> Ranks:
    """Ranks of at least count states, int64; deepcube walks are kept whole, so there may be walk_max - 1 more.

    walk_max: the longest walk; of a growing tower, how many of its smallest disks may be off the goal.
    """
    if kind == "uniform":
        return generator.integers(puzzle.state_count, size=count)
    if kind == "growing_tower":
        return generator.integers(tower_states(puzzle, walk_max), size=count)
    if kind == "deepcubea":
        ends = generator.integers(walk_max, size=count)
        return walk_ranks(puzzle, count, walk_max, generator)[np.arange(count), ends]
    return walk_ranks(puzzle, math.ceil(count / walk_max), walk_max, generator).ravel()


def sample_states(
    puzzle: Puzzle,
    sampler: SamplerParams,
    count: int,
    walk_max: int,
    generator: np.random.Generator,
    engine: Engine | None = None,
) -> Batch:
    """Exactly count states from the sampler, uint8 [count, D]; of a puzzle without ranks from walks alone.

    engine: that makes the walks, of the host if left out; ranks and levels are always drawn by the host.
    """
    engine = engine or engine_on(puzzle, "cpu")
    if is_listed(puzzle) and sampler.kind != "non_backtracking":
        return engine.given(puzzle.unrank(sample(puzzle, sampler.kind, count, walk_max, generator)[:count]))
    if sampler.kind == "deepcubea":
        rows, ends = engine.given(np.arange(count)), engine.given(generator.integers(walk_max, size=count))
        return engine.random_walks(count, walk_max, generator)[rows, ends]
    if sampler.kind == "non_backtracking":
        return thinned_walks(puzzle, count, walk_max, sampler.stride, sampler.spacing, generator, engine)
    if sampler.kind == "levels":
        return engine.given(levels_of(puzzle).sample(sampler, count, walk_max, generator))
    if sampler.kind not in ("deepcube", "adaptive_k"):
        raise UserError(
            f"The sampler {sampler.kind} needs a puzzle whose states can be listed; {puzzle.name} has too many."
        )
    return engine.random_walks(math.ceil(count / walk_max), walk_max, generator).reshape(-1, puzzle.cells)[:count]


def thinned_walks(
    puzzle: Puzzle,
    count: int,
    walk_max: int,
    stride: int,
    spacing: float,
    generator: np.random.Generator,
    engine: Engine | None = None,
) -> Batch:
    """States of walks that never undo their last move, every stride-th from one of the first on: uint8 [count, D].

    With a spacing above 1 as many states, the nearer to the goal the denser. Walks drift away from the goal as their
    square root, so that a spacing of 2 spreads states about evenly over the distances.
    """
    engine = engine or engine_on(puzzle, "cpu")
    of_walk = max(1, walk_max // stride)
    states, _ = engine.walk(generator.random((math.ceil(count / of_walk), walk_max + 1)))
    first = generator.integers(min(stride, walk_max), size=len(states))
    even = (first[:, None] + stride * np.arange(of_walk)) / walk_max
    places = np.minimum(np.rint(walk_max * even**spacing).astype(np.int64), walk_max - 1)
    rows = engine.given(np.arange(len(states))[:, None])
    return states[rows, engine.given(places)].reshape(-1, puzzle.cells)[:count]


def tower_states(puzzle: Puzzle, disks: int) -> int:
    """How many states of a tower have all but the smallest `disks` disks at the goal: their ranks come first."""
    if not puzzle.disks:
        raise UserError(f"A growing tower is a sampler of the Towers of Hanoi; {puzzle.name} has no disks.")
    return puzzle.letters ** min(disks, puzzle.disks)
