"""Instance sets of a puzzle: results/<study>/instances/<puzzle>.parquet.

Of a puzzle whose states are all listed each has its exact distance; beside them <puzzle>/distributions.parquet has how
the states of each sampler spread over the distances. Of another a distance is known where the instances are the
beginnings of a shortest path or lie within the exact table around the goal, and missing elsewhere. A mirrored state is
as far as its original.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from costtogo.exact.nearby import FAR
from costtogo.files import write_frame
from costtogo.learning.distributions import drawn_states, expected_shares
from costtogo.learning.instances import draw_prefixes, draw_sets, draw_walk_ends
from costtogo.params.base import derive_seed
from costtogo.params.instances import (
    DistributionParams,
    InstanceParams,
    MirroredInstances,
    PrefixInstances,
    RankedInstances,
    WalkInstances,
)
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_nearby, read_table
from costtogo.types import Heuristic, States

SMALL = 100_000  # states; below it selection sets may share states with test sets, else little would be left
DISTRIBUTIONS = ["sampler", "walk_max", "distance", "states", "sampled", "expected_percent"]
Sets = dict[str, InstanceParams]


def run(params: Path, table: Path, out: Path) -> None:
    """Draw every set and, where all states are listed, measure the samplers; out ends in .parquet.

    Columns set, instance (from 0), state (text), distance, and where all states are listed role, rank, weight.
    """
    folder = out.with_suffix("")
    stage = StageRun("instances", __name__, params, folder, [table])
    puzzle, seed = make(stage.parameters["puzzle"]), stage.parameters["seed"]
    sets: Sets = TypeAdapter(dict[str, InstanceParams]).validate_python(stage.parameters["instances"])
    spread = stage.parameters.get("distributions")
    if spread is None:
        frames, outputs = draw_around(puzzle, sets, seed, read_nearby(table, puzzle)), [out]
    else:
        distance, outputs = read_table(table, puzzle), [out, folder / "distributions.parquet"]
        frames = draw_listed(puzzle, sets, seed, distance)
        write_frame(outputs[1], distributions(puzzle, DistributionParams(**spread), distance, seed))
    write_frame(out, pd.concat([frames[name] for name in sets], ignore_index=True))
    stage.finish(outputs, {name: len(frames[name]) for name in sets})


def draw_listed(puzzle: Puzzle, sets: Sets, seed: int, distance: np.ndarray) -> dict[str, pd.DataFrame]:
    """Every set of a puzzle whose states are all listed, by its name; distance: exact moves to the goal [S]."""
    ranked = {name: params for name, params in sets.items() if isinstance(params, RankedInstances)}
    drawn = draw_sets(puzzle, ranked, distance, seed, disjoint=puzzle.state_count > SMALL)
    for name, states in draw_by_moves(puzzle, sets, seed, lambda states: distance[puzzle.rank(states)]).items():
        ranks = puzzle.rank(states[0])
        drawn[name] = ranks, np.ones(len(ranks))
    frames = {}
    for name, (ranks, weights) in drawn.items():
        exact = distance[ranks].astype(np.int64)
        role = getattr(sets[name], "role", "test")
        texts = [puzzle.format_state(state) for state in puzzle.unrank(ranks)]
        columns = {"set": name, "role": role, "instance": np.arange(len(ranks)), "rank": ranks, "state": texts}
        frames[name] = pd.DataFrame({**columns, "distance": exact, "weight": weights})
    return frames


def draw_around(puzzle: Puzzle, sets: Sets, seed: int, nearby: Heuristic) -> dict[str, pd.DataFrame]:
    """Every set of a puzzle of which the states around the goal are listed, by its name."""

    def known(states: States) -> np.ndarray:
        found = nearby(states)
        return np.where(found == FAR, np.nan, found)

    frames = {}
    for name, (states, distance) in draw_by_moves(puzzle, sets, seed, known).items():
        texts = [puzzle.format_state(state) for state in states]
        columns = {"set": name, "instance": np.arange(len(states)), "state": texts, "distance": distance}
        frames[name] = pd.DataFrame(columns)
    return frames


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
        drawn = drawn_states(puzzle, kind, params.walks, length, distance, generator)
        columns = zip(range(len(layers)), layers, drawn, shares[length - 1], strict=True)
        rows += [(kind, length, *row) for row in columns]
    return pd.DataFrame(rows, columns=DISTRIBUTIONS)
