"""Exact distance table of a puzzle: results/<study>/tables/<puzzle>.npz."""

from pathlib import Path

import numpy as np

from costtogo.exact.bfs import distances, layer_counts
from costtogo.exact.graph import neighbour_table, with_half_turns
from costtogo.files import damaged, read_arrays, write_arrays
from costtogo.puzzles import make
from costtogo.puzzles.cube import Cube2
from costtogo.stages.frame import StageRun


def run(params: Path, out: Path) -> None:
    """Breadth-first search from the goal over all states; out ends in .npz and holds `distance` [S]."""
    stage = StageRun("table", __name__, params, out.with_suffix(""), [])
    puzzle = make(stage.parameters["puzzle"])
    distances(np.zeros((1, 1), dtype=np.int32), 0)  # compile first: the parts below time computing alone
    with stage.part("neighbour table"):
        neighbours = neighbour_table(puzzle)
    with stage.part("breadth-first search"):
        distance = distances(neighbours, int(puzzle.rank(puzzle.goal[None])[0]))
    write_arrays(out, distance=distance)
    counts = layer_counts(distance)
    metrics = {
        "states": len(distance),
        "diameter": len(counts) - 1,
        "mean_distance": distance.mean(dtype=np.float64),
    }
    if isinstance(puzzle, Cube2):
        half_turns = distances(with_half_turns(neighbours), int(puzzle.rank(puzzle.goal[None])[0]))
        metrics["diameter_half_turns"] = int(half_turns.max())
    stage.finish([out], metrics)


def read_table(path: Path, puzzle) -> np.ndarray:
    """The distances [S] of a table file; FileError where it does not fit the puzzle."""
    arrays = read_arrays(path)
    if "distance" not in arrays or len(arrays["distance"]) != puzzle.state_count:
        raise damaged(path, ValueError(f"no distances of the {puzzle.state_count} states of {puzzle.name}"))
    return arrays["distance"]
