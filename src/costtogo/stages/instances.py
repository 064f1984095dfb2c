"""Instance sets of a puzzle with exact distances: results/<study>/instances/<puzzle>.parquet.

Beside them <puzzle>/distributions.parquet: how the states of each sampler spread over the distances.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.files import write_frame
from costtogo.learning.distributions import drawn_states, expected_shares
from costtogo.learning.instances import draw_sets
from costtogo.params import DistributionParams, InstanceParams, derive_seed
from costtogo.puzzles import make
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_table

SMALL = 100_000  # states; below it selection sets may share states with test sets, else little would be left
DISTRIBUTIONS = ["sampler", "walk_max", "distance", "states", "sampled", "expected_percent"]


def run(params: Path, table: Path, out: Path) -> None:
    """Draw every set (columns set, role, instance, rank, state (text), distance, weight) and measure the samplers."""
    folder = out.with_suffix("")
    stage = StageRun("instances", __name__, params, folder, [table])
    puzzle, seed = make(stage.parameters["puzzle"]), stage.parameters["seed"]
    distance = read_table(table, puzzle)
    sets = {name: InstanceParams(**values) for name, values in stage.parameters["instances"].items()}
    drawn = draw_sets(puzzle, sets, distance, seed, disjoint=puzzle.state_count > SMALL)
    frames = [_frame(puzzle, name, sets[name].role, *found, distance) for name, found in drawn.items()]
    write_frame(out, pd.concat(frames, ignore_index=True))
    spread = distributions(puzzle, DistributionParams(**stage.parameters["distributions"]), distance, seed)
    write_frame(folder / "distributions.parquet", spread)
    stage.finish([out, folder / "distributions.parquet"], {name: len(ranks) for name, (ranks, _) in drawn.items()})


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


def _frame(puzzle, name: str, role: str, ranks, weights, distance: np.ndarray) -> pd.DataFrame:
    states = [puzzle.format_state(state) for state in puzzle.unrank(ranks)]
    return pd.DataFrame(
        {
            "set": name,
            "role": role,
            "instance": np.arange(len(ranks)),
            "rank": ranks,
            "state": states,
            "distance": distance[ranks].astype(np.int64),
            "weight": weights,
        }
    )
