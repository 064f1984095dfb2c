"""Exact distance table of a puzzle: results/<study>/tables/<puzzle>.npz.

Of a puzzle of which not all states are to be listed the distances near the goal alone; where states have goals of their
own some levels, all of whose states are listed, and a sample of these.
"""

from pathlib import Path

import numpy as np

from costtogo.exact.bfs import distances, layer_counts
from costtogo.exact.graph import graph_of, one_table, with_half_turns
from costtogo.exact.level_sample import LevelSample, list_levels
from costtogo.exact.nearby import Ends, GoalAlone, NearbyTable, nearby_table
from costtogo.files import damaged, read_arrays, write_arrays
from costtogo.puzzles import levels_of
from costtogo.puzzles.base import ListedPuzzle, Puzzle, is_listed
from costtogo.stages.stage_run import StageRun

LEVELS = ("levels", "states", "distance", "layers")  # of a LevelSample


def run(params: Path, out: Path) -> None:
    """Breadth-first search from the goal: over all states, to the depth that the parameters name, or of some levels.

    out ends in .npz and holds `distance` [S], or what a NearbyTable or a LevelSample has.
    """
    stage = StageRun("table", __name__, params, out, [])
    puzzle = stage.puzzle
    if "levels" in stage.parameters:
        sample = list_own_levels(stage)
        write_arrays(out, **{name: getattr(sample, name) for name in LEVELS})
        counted = {"levels": len(sample.levels), "states": int(sample.layers.sum()), "depth": sample.depth}
        mean = float(np.average(np.arange(len(sample.layers)), weights=sample.layers))
        stage.finish([out], {**counted, "mean_distance": mean})
        return
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


def list_own_levels(stage: StageRun) -> LevelSample:
    """The levels that the parameters ask for, which no training sees."""
    asked, seed, source = stage.parameters["levels"], stage.parameters["seed"], levels_of(stage.puzzle)
    with stage.part("levels"):
        levels = source.draw(asked["levels"], asked["boxes"], seed, "selection")
    with stage.part("breadth-first search"):
        return list_levels(stage.puzzle, levels, source.table, asked["states"], np.random.default_rng(seed))


def read_exact(path: Path, puzzle: Puzzle) -> np.ndarray | NearbyTable | LevelSample:
    """What a table file holds: distances [S] of all states, those near the goal, or levels; FileError where it is none
    of these."""
    arrays = read_arrays(path)
    if set(arrays) == set(LEVELS) and arrays["states"].shape == (len(arrays["distance"]), puzzle.cells):
        return LevelSample(puzzle, **arrays)
    if set(arrays) == {"keys", "distance", "layers"} and len(arrays["keys"]) == len(arrays["distance"]):
        return NearbyTable(puzzle, arrays["keys"], arrays["distance"], arrays["layers"])
    if set(arrays) == {"distance"} and is_listed(puzzle) and len(arrays["distance"]) == puzzle.state_count:
        return arrays["distance"]
    raise damaged(path, ValueError(f"no exact distances of {puzzle.name}"))


def read_nearby(path: Path, puzzle: Puzzle) -> Ends:
    """The exact distances near the goal of a table file; of one of all states that of the goal alone.

    Of listed levels, too. So a search goes by its heuristic everywhere where all distances are known, and what it finds
    is held against them.
    """
    found = read_exact(path, puzzle)
    return found if isinstance(found, NearbyTable) else GoalAlone(puzzle)


def read_table(path: Path, puzzle: ListedPuzzle) -> np.ndarray:
    """The distances [S] of a table file of all states; FileError where it does not fit the puzzle."""
    found = read_exact(path, puzzle)
    if not isinstance(found, np.ndarray):
        raise damaged(path, ValueError(f"no distances of the {puzzle.state_count} states of {puzzle.name}"))
    return found
