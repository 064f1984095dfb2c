"""Exact distance table of a puzzle: results/<study>/tables/<puzzle>.npz.

Of a puzzle of which not all states are to be listed the distances near the goal alone.
"""

from pathlib import Path

import numpy as np

from costtogo.exact.bfs import distances, layer_counts
from costtogo.exact.graph import graph_of, one_table, with_half_turns
from costtogo.exact.nearby import Ends, GoalAlone, NearbyTable, nearby_table
from costtogo.files import damaged, read_arrays, write_arrays
from costtogo.puzzles.base import ListedPuzzle, Puzzle, is_listed
from costtogo.stages.stage_run import StageRun


def run(params: Path, out: Path) -> None:
    """Breadth-first search from the goal: over all states, or to the depth that the parameters name.

    out ends in .npz and holds `distance` [S], or the keys, distance and layers of a NearbyTable.
    """
    stage = StageRun("table", __name__, params, out, [])
    puzzle = stage.puzzle
    if "depth" in stage.parameters:
        with stage.part("breadth-first search"):
            table = nearby_table(puzzle, stage.parameters["depth"])
        write_arrays(out, keys=table.keys, distance=table.distance, layers=table.layers)
        stage.finish([out], {"states": int(table.layers.sum()), "depth": table.depth})
        return
    distances(one_table(np.zeros((1, 1), dtype=np.int32)), 0)  # compile first: the parts below time computing alone
    with stage.part("neighbour table"):
        graph = graph_of(puzzle)
    with stage.part("breadth-first search"):
        distance = distances(graph, int(puzzle.rank(puzzle.goal[None])[0]))
    write_arrays(out, distance=distance)
    counts = layer_counts(distance)
    metrics = {
        "states": len(distance),
        "diameter": len(counts) - 1,
        "mean_distance": distance.mean(dtype=np.float64),
    }
    if puzzle.family == "cube2":
        half_turns = distances(with_half_turns(graph), int(puzzle.rank(puzzle.goal[None])[0]))
        metrics["diameter_half_turns"] = int(half_turns.max())
    stage.finish([out], metrics)


def read_exact(path: Path, puzzle: Puzzle) -> np.ndarray | NearbyTable:
    """What a table file holds: distances [S] of all states, or those near the goal; FileError where it is neither."""
    arrays = read_arrays(path)
    if set(arrays) == {"keys", "distance", "layers"} and len(arrays["keys"]) == len(arrays["distance"]):
        return NearbyTable(puzzle, arrays["keys"], arrays["distance"], arrays["layers"])
    if set(arrays) == {"distance"} and is_listed(puzzle) and len(arrays["distance"]) == puzzle.state_count:
        return arrays["distance"]
    raise damaged(path, ValueError(f"no exact distances of {puzzle.name}"))


def read_nearby(path: Path, puzzle: Puzzle) -> Ends:
    """The exact distances near the goal of a table file; of one of all states that of the goal alone.

    So a search goes by its heuristic everywhere where all distances are known, and what it finds is held against them.
    """
    found = read_exact(path, puzzle)
    return found if isinstance(found, NearbyTable) else GoalAlone(puzzle)


def read_table(path: Path, puzzle: ListedPuzzle) -> np.ndarray:
    """The distances [S] of a table file of all states; FileError where it does not fit the puzzle."""
    found = read_exact(path, puzzle)
    if isinstance(found, NearbyTable):
        raise damaged(path, ValueError(f"no distances of the {puzzle.state_count} states of {puzzle.name}"))
    return found
