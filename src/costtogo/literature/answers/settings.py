"""What a training and a search were asked for, compared with what the literature asked of its own."""

from typing import Any

import pandas as pd

from costtogo.exact.partition import parse_partition
from costtogo.heuristics.convolutional import PADDING
from costtogo.literature.answers import sampled_searches as searches
from costtogo.literature.answers.sampled_searches import is_scrambled
from costtogo.literature.answers.training import with_target
from costtogo.literature.finding import NAN, Finding, Row, finds
from costtogo.literature.quantities import OTHERS
from costtogo.puzzles import make, noun
from costtogo.tables.results import StudyResults, alike
from costtogo.tables.searches import best_cell, shortest_path_sets

PLACES = {name: each.parameter for name, each in OTHERS.items() if each.parameter}
GRID = "searches/{ours}/grid"
OF_TARGET = ("loss_threshold", "walk_offset")  # of trainings with a target network alone


def config(results: StudyResults) -> str:
    """The file of the study's parameters."""
    return f"config/{results.study}.yaml"


@finds(*PLACES)
def setting(results: StudyResults, row: Row) -> Finding | None:
    """A parameter of the training."""
    model = with_target(results, row) if row["quantity"] in OF_TARGET else row["ours"]
    if row["ours"] is None or model is None or (row["listed"] and not results.has(f"models/{model}")):
        return None
    training = {"learning_rate_factor": 1.0, **results.training(model)}
    value: Any = training
    for part in PLACES[row["quantity"]].split("."):
        value = _part(value, part)
    if row["quantity"] == "residual_layers" and not training["architecture"]["residual_blocks"]:
        value = 0
    return None if value is None else Finding(float(value), file=asked_in(results, row))


def _part(value: Any, part: str) -> Any:
    """The part of a table or of a list, None where it has none."""
    if isinstance(value, dict):
        return value.get(part)
    return value[int(part)] if value and int(part) < len(value) else None


def asked_in(results: StudyResults, row: Row) -> str:
    """Where a reader finds what a training was asked for."""
    return results.place(f"models/{row['ours']}/curve") if row["listed"] else config(results)


@finds("learning_rate_last_percent", of="others")
def last_rate(results: StudyResults, row: Row) -> Finding | None:
    """The learning rate at the end of the training, in per cent of the first, where it falls by a factor."""
    training = results.training(row["ours"]) if row["ours"] else {}
    last = 100 * training.get("learning_rate_factor", 1.0) ** training.get("iterations", 0)
    note = "the factor, iteration by iteration" if row["listed"] else ""
    return None if last == 100 else Finding(last, note, file=asked_in(results, row))


@finds(
    *("convolutional_layers", "linear_layers", "kernel_side", "stride", "padding", "padding_first_layer"),
    "input_channels",
    of="learned",
)
def of_convolutions(results: StudyResults, row: Row) -> Finding | None:
    """Numbers of a convolutional network, where the study's is one."""
    architecture = results.model(row["ours"]).architecture
    if architecture.kind != "convolutional":
        return None
    numbers = {
        "convolutional_layers": len(architecture.channels),
        "linear_layers": len(architecture.first_layers) + 1,
        "kernel_side": architecture.kernel,
        "stride": 1,
        "padding": 0,
        "padding_first_layer": PADDING,
        "input_channels": make(row["puzzle"]).letters,
    }
    return Finding(numbers[row["quantity"]], file=config(results))


@finds("patterns_of_5_tiles", "patterns_of_3_tiles", of="sampled")
def patterns(results: StudyResults, row: Row) -> Finding | None:
    """How many patterns with this number of tiles the study's first pattern database has."""
    side, tiles = make(row["puzzle"]).side, int(row["quantity"].split("_")[2])
    partitions = [parse_partition(side, text) for text in results.asked.pattern_databases.values()]
    counts = [sum(len(pattern) == tiles for pattern in partition) for partition in partitions]
    return Finding(counts[0], file=config(results)) if counts else None


# λ and N
@finds("path_weight_tried", "batch_size_tried", of="learned", table=GRID)
def tried(results: StudyResults, row: Row, grid: pd.DataFrame) -> Finding | None:
    """The λ or N where our grid has it, together with the other where the row names both."""
    return Finding(row["value"], "in our grid") if len(alike(grid, row, "path_weight", "batch_size")) else None


@finds("path_weight_chosen", "batch_size_chosen", of="learned", table=GRID)
def chosen(results: StudyResults, row: Row, grid: pd.DataFrame) -> Finding:
    """The λ or N of the cell that solves most and, of those, with the fewest moves."""
    note = "of the cell of our grid that solves most, of those with the fewest moves, of those with the fewest nodes"
    return Finding(best_cell(grid)[row["quantity"].removesuffix("_chosen")], note)


@finds("path_weight_feasible", of="learned", table=GRID)
def feasible(results: StudyResults, row: Row, grid: pd.DataFrame) -> Finding:
    """The least or the greatest λ at which BWAS solves every instance with some N."""
    weights = grid.loc[grid["solved_percent"] == 100, "path_weight"]
    value = weights.min() if row["relation"] == ">=" else weights.max()
    return Finding(value, f"λ at which every {noun(results.puzzle)} is solved within the cap on nodes with some N")


@finds("states_sampled", of="sampled")
def states_sampled(results: StudyResults, row: Row) -> Finding:
    """How many states our set or audit of the same kind has."""
    asked, found = results.asked, searches.external(results)
    walks = [kind.states for name, kind in asked.instances.items() if is_scrambled(results, name)]
    grids = [asked.instances[each.set].states for each in asked.grids if is_scrambled(results, each.set)]
    of_walks = len(found.rows) if found else next(iter(walks), NAN)
    counts = {  # by the literature's set
        "scrambled_1000_10000": of_walks,
        "scrambled_1000": of_walks,
        "grid_100": next(iter(grids), NAN),
        "distance_26": len(shortest_path_sets(results)) or NAN,
        "sample": asked.audit.consistency_states,
        "scrambled_1_30": asked.audit.scrambled_states * asked.audit.depths,
        "scrambled_each_depth": asked.audit.scrambled_states,
    }
    return Finding(counts.get(row["set"], NAN), file=config(results))
