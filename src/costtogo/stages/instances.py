"""Instance sets of a puzzle: results/<study>/instances/<puzzle>.parquet.

Of a puzzle whose states are all listed each has its exact distance; with them <puzzle>/distributions.parquet has how
the states of each sampler spread over the distances. Of another a distance is known where the instances are the
beginnings of a shortest path or lie within the exact table around the goal, and missing elsewhere. A mirrored state is
as far as its original.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from costtogo.exact.nearby import FAR
from costtogo.learning.distributions import expected_shares
from costtogo.learning.instances import SMALL, Drawn, draw_prefixes, draw_sets, draw_walk_ends
from costtogo.learning.samplers import sample
from costtogo.params.base import derive_seed
from costtogo.params.instances import (
    DistributionParams,
    InstanceParams,
    LevelInstances,
    MirroredInstances,
    PrefixInstances,
    RankedInstances,
    WalkInstances,
)
from costtogo.puzzles import levels_of
from costtogo.puzzles.base import Puzzle
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_nearby, read_table
from costtogo.types import Heuristic, States

DISTRIBUTIONS = ["sampler", "walk_max", "distance", "states", "sampled", "expected_percent"]
Sets = dict[str, InstanceParams]


def run(params: Path, table: Path, out: Path) -> None:
    """Draw every set and, where all states are listed, measure the samplers; out ends in .parquet.

    Columns set, instance (from 0), state (text), distance, and where all states are listed role, rank, weight, walk.
    """
    stage = StageRun("instances", __name__, params, out, [table])
    puzzle, seed = stage.puzzle, stage.parameters["seed"]
    sets: Sets = TypeAdapter(dict[str, InstanceParams]).validate_python(stage.parameters["instances"])
    spread, tables = stage.parameters.get("distributions"), {}
    if spread is None:
        frames = draw_around(puzzle, sets, seed, read_nearby(table, puzzle))
    else:
        distance = read_table(table, puzzle)
        frames = draw_listed(puzzle, sets, seed, distance)
        tables["distributions"] = distributions(puzzle, DistributionParams(**spread), distance, seed)
    tables[""] = pd.concat([frames[name] for name in sets], ignore_index=True)
    stage.finish_tables(tables, {name: len(frames[name]) for name in sets})


def draw_listed(puzzle: Puzzle, sets: Sets, seed: int, distance: np.ndarray) -> dict[str, pd.DataFrame]:
    """Every set of a puzzle whose states are all listed, by its name; distance: exact moves to the goal [S]."""
    ranked = {name: params for name, params in sets.items() if isinstance(params, RankedInstances)}
    drawn = draw_sets(puzzle, ranked, distance, seed, disjoint=puzzle.state_count > SMALL)
    for name, (states, _) in draw_by_moves(puzzle, sets, seed, lambda states: distance[puzzle.rank(states)]).items():
        drawn[name] = Drawn(puzzle.rank(states), np.ones(len(states)), np.arange(len(states)))
    frames = {}
    for name, (ranks, weights, walks) in drawn.items():
        frame = rows_of(puzzle, name, puzzle.unrank(ranks), distance[ranks].astype(np.int64))
        frame.insert(1, "role", getattr(sets[name], "role", "test"))
        frame.insert(3, "rank", ranks)
        frames[name] = frame.assign(weight=weights, walk=walks)
    return frames


def draw_around(puzzle: Puzzle, sets: Sets, seed: int, nearby: Heuristic) -> dict[str, pd.DataFrame]:
    """Every set of a puzzle of which the states around the goal are listed, by its name."""

    def known(states: States) -> np.ndarray:
        found = nearby(states)
        return np.where(found == FAR, np.nan, found)

    drawn = draw_by_moves(puzzle, sets, seed, known)
    return {name: rows_of(puzzle, name, *found) for name, found in drawn.items()}


def rows_of(puzzle: Puzzle, name: str, states: States, distance: np.ndarray) -> pd.DataFrame:
    """A row for each state of a set, uint8 [N, D]."""
    texts = [puzzle.format_state(state) for state in states]
    return pd.DataFrame({"set": name, "instance": np.arange(len(states)), "state": texts, "distance": distance})


def draw_by_moves(puzzle: Puzzle, sets: Sets, seed: int, distance) -> dict[str, tuple[States, np.ndarray]]:
    """The sets that moves make, the mirrored ones last: states uint8 [N, D], distances [N], NaN where unknown.

    distance: that of states uint8 [N, D].  Each set has a seed of its own: adding one leaves the others as they are.
    """
    drawn: dict[str, tuple[States, np.ndarray]] = {}
    for name, params in sorted(sets.items(), key=lambda item: isinstance(item[1], MirroredInstances)):
        if isinstance(params, WalkInstances):
            generator = np.random.default_rng(derive_seed(seed, name))
            states = draw_walk_ends(puzzle, params.states, params.length, generator)
            drawn[name] = states, distance(states)
        elif isinstance(params, LevelInstances):
            states = levels_of(puzzle).draw(params.states, params.boxes, derive_seed(seed, name), params.role)
            drawn[name] = states, distance(states)
        elif isinstance(params, PrefixInstances):
            states = draw_prefixes(puzzle, params.moves)
            lengths = np.arange(1.0, len(states) + 1) if params.shortest else np.full(len(states), np.nan)
            drawn[name] = states, lengths
        elif isinstance(params, MirroredInstances):
            states, lengths = drawn[params.of]
            drawn[name] = puzzle.mirror.apply(states), lengths
    return drawn


def distributions(puzzle, params: DistributionParams, distance: np.ndarray, seed: int) -> pd.DataFrame:
    """One row a sampler, walk length and distance; none where no walk length is asked for.

    Columns: sampler, walk_max (K, or effective K of adaptive_k), distance, states of the puzzle there, sampled
    (states drawn there) and expected_percent (the exact chance that a state is drawn there).
    """
    asked = [(kind, length) for kind in ("deepcube", "deepcubea") for length in params.walk_max]
    asked += [("adaptive_k", length) for length in params.effective_k]
    shares = 100 * expected_shares(puzzle, max((length for _, length in asked), default=0), distance)
    layers, rows = np.bincount(distance), []
    for kind, length in asked:
        generator = np.random.default_rng(derive_seed(seed, "distributions", kind, str(length)))
        ranks = sample(puzzle, kind, params.walks * length, length, generator)
        drawn = np.bincount(distance[ranks], minlength=len(layers))
        columns = zip(range(len(layers)), layers, drawn, shares[length - 1], strict=True)
        rows += [(kind, length, *row) for row in columns]
    return pd.DataFrame(rows, columns=DISTRIBUTIONS)
