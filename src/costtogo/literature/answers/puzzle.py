"""What depends on no training: counts of states, samplers, sizes of networks, rules of the puzzle, listings."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import torch

from costtogo.analysis.intervals import wilson
from costtogo.exact.bfs import distances
from costtogo.exact.graph import graph_of
from costtogo.files import read_csv
from costtogo.heuristics.network import of_architecture
from costtogo.literature.finding import NAN, Finding, Row, finds
from costtogo.literature.listings import Replay, replay
from costtogo.puzzles import make
from costtogo.puzzles.cube import FACES, sticker_places
from costtogo.tables.results import StudyResults, once
from costtogo.tables.searches import shortest_path_sets

LISTED = "hanoi_7"  # the tower whose solutions the thesis lists in its appendix 7.4
APPENDIX = "7.4"
LISTINGS = {0.7: "hanoi_7_lambda_0.7.csv", 0.3: "hanoi_7_lambda_0.3.csv"}  # by path weight
DRAWN = "instances/{puzzle}/distributions"  # what the samplers drew


def fact(value: float, file: str, note: str = "") -> Finding:
    """A number of all states, which no training has a part in."""
    return Finding(float(value), note, exhaustive=float(value), file=file, fact=True)


def by_rules(value: float, note: str = "the puzzle's rules") -> Finding:
    """A number that the rules of a puzzle make."""
    return Finding(float(value), note, file="src/costtogo/puzzles", fact=True)


@finds("states_percent_of_cube2")
def states_beside_the_cube(results: StudyResults, row: Row) -> Finding:
    """The puzzle's states as a share of those of the 2×2×2 cube."""
    return by_rules(100 * row["states"] / make("cube2").state_count)


@finds("states", "states_at_distance", "diameter")
def states(results: StudyResults, row: Row) -> Finding | None:
    """States, or the largest distance, of the exact table; states of a puzzle whose states are sampled by its rules."""
    if not row["listed"]:
        return by_rules(row["states"]) if row["quantity"] == "states" else None
    address = f"tables/{row['puzzle']}"
    layers, file = results.find_frame(address), results.place(address, ".npz")
    if layers is None:
        return None
    if row["quantity"] == "diameter":
        return fact(layers["distance"].max(), file)
    counted = layers if math.isnan(row["distance"]) else layers[layers["distance"] == row["distance"]]
    return fact(counted["states"].sum(), file, "all states listed")


@finds("diameter_half_turns")
def diameter_half_turns(results: StudyResults, row: Row) -> Finding:
    """The largest distance where a half turn is one move."""
    address = f"tables/{row['puzzle']}"
    return fact(results.metric(address, "diameter_half_turns"), results.place(address, ".json"))


@finds("actions", "stickers", "lights", "cubelets", "move_sequences", "input_size")
def of_rules(results: StudyResults, row: Row) -> Finding | None:
    """Actions, sequences of them, cells, places that have stickers, and inputs of a network that sees cells one-hot."""
    puzzle, quantity = make(row["puzzle"]), row["quantity"]
    if quantity == "move_sequences":
        return by_rules(len(puzzle.actions) ** int(row["distance"]))
    if quantity == "cubelets":
        places, _ = sticker_places(math.isqrt(puzzle.cells // len(FACES)))
        return by_rules(len(np.unique(places, axis=0)), "places that have stickers")
    if quantity == "input_size":  # a document with another number represents states otherwise
        size = puzzle.cells * puzzle.letters
        return by_rules(size, "one-hot cells") if size == row["value"] else None
    if quantity == "actions":  # the 2×2×2 cube keeps a corner in place here, and so has fewer than in the literature
        return by_rules(len(puzzle.actions)) if puzzle.family != "cube2" else None
    return by_rules(puzzle.cells)


@finds("actions_corner", "actions_edge")
def actions_beside_walls(results: StudyResults, row: Row) -> Finding:
    """Moves of the blank from the corner that it is in at the goal, and the most from where they lead."""
    puzzle = make(row["puzzle"])
    corner = puzzle.goal[None]
    states = corner if row["quantity"] == "actions_corner" else puzzle.expand(corner)[0][puzzle.legal(corner)]
    return by_rules(puzzle.legal(states).sum(axis=1).max())


@finds("parameters")
def parameters(results: StudyResults, row: Row) -> Finding:
    """Of the literature's own architecture, where the study has it by name; else of the network that was trained."""
    if architecture := row.get("architecture"):
        with torch.device("meta"):  # shapes alone
            network = of_architecture(architecture, make(row["puzzle"]))
        return Finding(network.parameter_count, "the same architecture", file="params.yaml", fact=True)
    address = f"models/{row['ours']}"
    return Finding(results.metric(address, "parameters"), file=results.place(f"{address}/curve"))


# Solutions that no search of ours has found
@finds("length")
def known_length(results: StudyResults, row: Row) -> Finding | None:
    """Moves of the recursive solution of a tower, and of the longest beginning of a sequence that is searched."""
    puzzle = make(row["puzzle"])
    if puzzle.family == "hanoi" and not isinstance(row["model"], str):
        return fact(len(puzzle.recursive_solution()), "src/costtogo/puzzles/hanoi.py", "the recursive solution")
    if row["set"] != "superflip_four_spot" or not (sets := shortest_path_sets(results)):
        return None
    moves = len(puzzle.parse_moves(results.asked.instances[sets[0]].moves))
    return Finding(
        moves, "the moves listed, replayed; that none are fewer is proved", file=f"config/{results.study}.yaml"
    )


@finds("length", "extra_moves", "moves_before_detour", of="repeated")
def listed_solution(results: StudyResults, row: Row) -> Finding | None:
    """Moves of the solutions that the thesis lists, and how far they go straight."""
    listing = listings(results).get(row["path_weight"])
    if listing is None or not listing.solves or (row["quantity"] == "length" and row["section"] != APPENDIX):
        return None
    count = listing.moves if row["quantity"] == "length" else getattr(listing, row["quantity"])
    note = "the listing replayed move by move, all legal, to the goal"
    return fact(count, f"data/reported/{LISTINGS[row['path_weight']]}", note)


@once
def listings(results: StudyResults) -> dict[float, Replay]:
    """Those solutions by path weight, none where the study has no table of their puzzle."""
    if results.find_frame(f"tables/{LISTED}") is None:
        return {}
    puzzle, folder = make(LISTED), results.references.reported
    distance = distances(graph_of(puzzle), int(puzzle.rank(puzzle.goal[None])[0]))
    return {weight: replay(puzzle, read_csv(folder / name), distance) for weight, name in LISTINGS.items()}


# Samplers
@finds("states_sampled", of="repeated")
def states_drawn(results: StudyResults, row: Row) -> Finding | None:
    """How many states an instance set, the sample of the audits or a sampler has."""
    models = results.models.get(row["puzzle"])
    if not models:
        return None
    if row["set"] == "sample":
        measures = results.frame(f"audits/{models[0]}/measures")
        sampled = measures.loc[measures["scope"] == "sample", "states"].max()
        return Finding(sampled, file=results.place("audits", ""), fact=True)
    counts = results.frame(f"instances/{row['puzzle']}").groupby("set")["instances"].sum().to_dict()
    drawn = results.find_frame(DRAWN.format_map(row))
    for (sampler, walk_max), rows in samplers(drawn).items() if drawn is not None else ():
        counts[f"{sampler}_{walk_max}"] = rows["sampled"].sum()
    return Finding(counts.get(row["set"], NAN), file=results.place(f"instances/{row['puzzle']}", ".json"), fact=True)


def samplers(drawn: pd.DataFrame) -> dict[tuple[str, int], pd.DataFrame]:
    """sampled and expected_percent by distance, of each sampler and length of its walks."""
    return {of: rows.set_index("distance") for of, rows in drawn.groupby(["sampler", "walk_max"])}


@finds("sampled_percent", table=DRAWN)
def sampled_percent(results: StudyResults, row: Row, drawn: pd.DataFrame) -> Finding | None:
    """The exact share of a sampler's states at a distance, by propagating the chances of a walk over all states."""
    sampler, walk_max = row["set"].split("_")
    rows = samplers(drawn).get((sampler, int(walk_max)))
    if rows is None or row["distance"] not in rows.index:
        return None
    here, total = rows.loc[row["distance"]], int(rows["sampled"].sum())
    low, high = (100 * end for end in wilson(round(here["expected_percent"] * total / 100), total))  # of such a sample
    note = f"the exact share; of {total:,} states drawn {100 * here['sampled'] / total:.2f} %"
    return replace(fact(here["expected_percent"], "", note), low=low, high=high)


@finds("sampled_states_difference", "sampled_percent_difference", table=DRAWN)
def samplers_apart(results: StudyResults, row: Row, drawn: pd.DataFrame) -> Finding | None:
    """States that DeepCubeA's sampler drew more than DeepCube's; both have the same distribution."""
    found, walk_max, at = samplers(drawn), int(row["set"].split("_")[1]), row["distance"]
    if ("deepcubea", walk_max) not in found or ("deepcube", walk_max) not in found:
        return None
    theirs, others = (found[sampler, walk_max]["sampled"] for sampler in ("deepcubea", "deepcube"))
    apart, spread = theirs - others, 1.96 * np.sqrt(theirs + others)  # of two counts that chance alone separates
    if row["quantity"] == "sampled_percent_difference":
        apart, spread = 100 * apart.abs() / float(others.sum()), 100 * spread / float(others.sum())
        if math.isnan(at):
            half = 0.603 * float((spread**2).sum() ** 0.5)  # |x| deviates by 0.603 times as much as x around 0
            value = float(apart.sum())
            return Finding(value, low=value - half, high=value + half, fact=True)
    if math.isnan(at):
        at = apart.idxmin() if row["relation"].startswith(">") else apart.idxmax()
    value, half = float(apart[at]), float(spread[at])
    return Finding(value, low=value - half, high=value + half, fact=True)
