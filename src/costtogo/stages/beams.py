"""Beam search over the network of a puzzle too large to list: results/<study>/beams/<model>/.

searches.parquet has a row for each instance and width, grid.parquet one for each set and width.
"""

import time
from pathlib import Path

import pandas as pd
import torch

from costtogo.heuristics.averaged import AveragedHeuristic
from costtogo.params.searches import BeamParams
from costtogo.puzzles import make
from costtogo.search.anytime import solve_images
from costtogo.search.beam import BeamLimits
from costtogo.stages.search_records import describe, finish, last_network, read_sets, to_rows
from costtogo.stages.stage_run import StageRun, say
from costtogo.stages.tables import read_nearby

CELL = ["set", "width"]
MEASURES = ("solved_percent", "length", "optimal_percent", "nodes_expanded")


def run(params: Path, table: Path, instances: Path, model: Path, out: Path) -> None:
    """Search from every instance of the sets named, with every width; model is the folder of a training."""
    stage = StageRun("beams", __name__, params, out, [table, instances, model / "checkpoints.parquet"])
    torch.set_num_threads(stage.parameters["threads"])
    puzzle = make(stage.parameters["puzzle"])
    nearby, sets = read_nearby(table, puzzle), read_sets(puzzle, instances)
    network = last_network(model, stage.parameters["device"])
    limits = BeamLimits(max_nodes=stage.parameters["max_nodes"])
    frames = []
    for beams in (BeamParams(**values) for values in stage.parameters["beams"]):
        rows, starts = sets[beams.set]
        scores = network if beams.average == 1 else AveragedHeuristic(puzzle, network, beams.average)
        for width in beams.widths:
            parts, clock = [], []
            for place in range(len(rows)):
                one, begun = starts[[place]], time.perf_counter()
                found = solve_images(
                    puzzle, scores, one[0], width=width, count=beams.images, nearby=nearby, limits=limits
                )
                clock.append(time.perf_counter() - begun)
                parts.append(to_rows(puzzle, rows.iloc[[place]], one, found, width=width))
            frames.append(pd.concat(parts, ignore_index=True).assign(seconds=clock))
            say(f"{out.name}, {beams.set}, width {width:,}: {describe(frames[-1])}")
    finish(stage, out, pd.concat(frames, ignore_index=True), CELL, MEASURES)
