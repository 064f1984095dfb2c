"""Instance sets of a puzzle too large to list: results/<study>/instances/<puzzle>.parquet.

A distance is known where the instances are the beginnings of a shortest path or lie within the exact table around the
goal, and missing elsewhere. A mirrored state is as far as its original.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.exact.nearby import FAR, NearbyTable
from costtogo.files import write_frame
from costtogo.learning.instances import draw_prefixes, draw_walk_ends
from costtogo.params import derive_seed
from costtogo.params_large import MirroredInstances, PrefixInstances, WalkInstances
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_nearby
from costtogo.types import States, UserError

KINDS = {"walks": WalkInstances, "prefixes": PrefixInstances, "mirrored": MirroredInstances}
Drawn = tuple[States, np.ndarray]  # uint8 [N, D] and distances float64 [N], NaN where unknown


def run(params: Path, table: Path, out: Path) -> None:
    """Draw every set: columns set, instance (from 0), state (text), distance; out ends in .parquet."""
    stage = StageRun("instances_large", __name__, params, out.with_suffix(""), [table])
    puzzle = make(stage.parameters["puzzle"])
    sets = {name: KINDS[values["kind"]](**values) for name, values in stage.parameters["instances"].items()}
    drawn = draw_sets(puzzle, sets, stage.parameters["seed"], read_nearby(table, puzzle))
    frames = [to_frame(puzzle, name, *drawn[name]) for name in sets]
    write_frame(out, pd.concat(frames, ignore_index=True))
    stage.finish([out], {name: len(states) for name, (states, _) in drawn.items()})


def draw_sets(puzzle: Puzzle, sets: dict, seed: int, nearby: NearbyTable) -> dict[str, Drawn]:
    """Every set by its name, the mirrored ones last. Each has a seed of its own: adding one leaves the others alone."""
    drawn: dict[str, Drawn] = {}
    for name, params in sorted(sets.items(), key=lambda item: isinstance(item[1], MirroredInstances)):
        if isinstance(params, WalkInstances):
            drawn[name] = draw_walks(puzzle, params, derive_seed(seed, name), nearby)
        elif isinstance(params, PrefixInstances):
            drawn[name] = draw_beginnings(puzzle, params)
        else:
            states, distance = drawn[params.of]
            drawn[name] = mirrored(puzzle, states), distance
    return drawn


def draw_walks(puzzle: Puzzle, params: WalkInstances, seed: int, nearby: NearbyTable) -> Drawn:
    """The ends of random walks; their distances are known within the table alone."""
    states = draw_walk_ends(puzzle, params.states, params.length, np.random.default_rng(seed))
    found = nearby(states)
    return states, np.where(found == FAR, np.nan, found)


def draw_beginnings(puzzle: Puzzle, params: PrefixInstances) -> Drawn:
    """The states on the way that some moves make; as far as the moves are many where these are a shortest path."""
    states = draw_prefixes(puzzle, params.moves)
    return states, np.arange(1.0, len(states) + 1) if params.shortest else np.full(len(states), np.nan)


def mirrored(puzzle: Puzzle, states: States) -> States:
    """The mirror images of states, uint8 [N, D]; UserError where the puzzle has none."""
    if puzzle.mirror is None:
        raise UserError(f"{puzzle.name} has no mirror image; leave out the instance sets of the kind mirrored.")
    return puzzle.mirror.apply(states)


def to_frame(puzzle: Puzzle, name: str, states: States, distance: np.ndarray) -> pd.DataFrame:
    """A set as rows of the file."""
    texts = [puzzle.format_state(state) for state in states]
    return pd.DataFrame({"set": name, "instance": np.arange(len(states)), "state": texts, "distance": distance})
