"""What depends on no training: counts of states, samplers, sizes of networks, rules of the puzzle, listings."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from costtogo.analysis.intervals import wilson
from costtogo.analysis.listings import Replay, replay
from costtogo.files import read_csv
from costtogo.heuristics.network import of_architecture
from costtogo.puzzles import family, make
from costtogo.puzzles.cube import FACES, sticker_places
from costtogo.report.answer import NAN, Answer, Row, answers, repeated
from costtogo.report.results import StudyResults, once
from costtogo.report.search_tables import shortest_path_sets

LISTED = "hanoi_7"  # the tower whose solutions the thesis lists in its appendix 7.4
APPENDIX = "7.4"
LISTINGS = {0.7: "hanoi_7_lambda_0.7.csv", 0.3: "hanoi_7_lambda_0.3.csv"}  # by path weight


def fact(value: float, file: str, note: str = "") -> Answer:
    """A number of all states, which no training has a part in."""
    return Answer(float(value), file, exhaustive=float(value), note=note, fact=True)


def layers(results: StudyResults, puzzle: str) -> NDArray[np.int64]:
    """States at each distance from the goal, where all are listed; empty where they are not."""
    found = results.arrays(f"tables/{puzzle}")
    return np.bincount(found["distance"]) if "distance" in found else np.zeros(0, dtype=np.int64)


@answers("states", "states_at_distance")
def states(results: StudyResults, row: Row) -> Answer | None:
    """Those of the exact table; of a puzzle too large to list, as many as its rules make."""
    if not row["listed"]:
        return by_rules(row["states"])
    counts = layers(results, row["puzzle"])
    if not counts.size:
        return None
    distance = row["distance"]
    count = counts.sum() if math.isnan(distance) else counts[int(distance)] if distance < counts.size else 0
    return fact(count, results.place(f"tables/{row['puzzle']}", ".npz"), "all states listed")


@answers("diameter")
def diameter(results: StudyResults, row: Row) -> Answer | None:
    """The largest distance of the exact table."""
    counts = layers(results, row["puzzle"]) if row["listed"] else ()
    return fact(len(counts) - 1, results.place(f"tables/{row['puzzle']}", ".npz")) if len(counts) else None


@answers("diameter_half_turns")
def diameter_half_turns(results: StudyResults, row: Row) -> Answer | None:
    """The same where a half turn is one move."""
    table = f"tables/{row['puzzle']}"
    return fact(
        results.find_card(table).get("metrics", {}).get("diameter_half_turns", NAN), results.place(table, ".json")
    )


def by_rules(value: float, note: str = "the puzzle's rules") -> Answer:
    """A number that the rules of a puzzle make."""
    return Answer(float(value), "src/costtogo/puzzles", note=note)


@answers("actions", "stickers", "lights", "cubelets", "move_sequences")
def of_rules(results: StudyResults, row: Row) -> Answer | None:
    """Actions, sequences of them, cells, and the places that have stickers.

    The 2×2×2 cube keeps a corner in place, so its actions are not those of the literature.
    """
    puzzle, actions = make(row["puzzle"]), len(make(row["puzzle"]).actions)
    if row["quantity"] == "actions":
        return by_rules(actions) if puzzle.family != "cube2" else None
    if row["quantity"] == "move_sequences":
        return by_rules(actions ** int(row["distance"]))
    if row["quantity"] == "cubelets":
        places, _ = sticker_places(math.isqrt(puzzle.cells // len(FACES)))
        return by_rules(len(np.unique(places, axis=0)), "places that have stickers")
    return by_rules(puzzle.cells)


@answers("actions_corner", "actions_edge")
def actions_beside_walls(results: StudyResults, row: Row) -> Answer:
    """Moves of the blank from the corner that it is in at the goal, and the most from where they lead."""
    puzzle = make(row["puzzle"])
    corner = puzzle.goal[None]
    states = corner if row["quantity"] == "actions_corner" else puzzle.expand(corner)[0][puzzle.legal(corner)]
    return by_rules(puzzle.legal(states).sum(axis=1).max())


@answers("input_size")
def input_size(results: StudyResults, row: Row) -> Answer | None:
    """Inputs of a network that sees each cell one-hot; a document with another number represents states otherwise."""
    size = make(row["puzzle"]).cells * make(row["puzzle"]).letters
    return by_rules(size, "one-hot cells") if size == row["value"] else None


@answers("parameters")
def parameters(results: StudyResults, row: Row) -> Answer | None:
    """Of the literature's own architecture, where the study has it by name; else of the network that was trained."""
    if architecture := row.get("architecture"):
        with torch.device("meta"):  # shapes alone
            network = of_architecture(architecture, make(row["puzzle"]))
        return Answer(network.parameter_count, "params.yaml", note="the same architecture", fact=True)
    metrics = results.find_card(f"models/{row['ours']}").get("metrics", {})
    return Answer(metrics.get("parameters", NAN), results.place(f"models/{row['ours']}/curve"))


# Solutions that no search has found


@answers("length")
def recursive_solution(results: StudyResults, row: Row) -> Answer | None:
    """Moves of the solution of a tower that needs no search."""
    if isinstance(row["model"], str) or family(row["puzzle"]) != "hanoi":
        return None
    moves = len(make(row["puzzle"]).recursive_solution())
    return fact(moves, "src/costtogo/puzzles/hanoi.py", "the recursive solution")


@answers("length")
def sequence_length(results: StudyResults, row: Row) -> Answer | None:
    """Moves of the longest beginning of the sequence whose states are searched."""
    if row["set"] != "superflip_four_spot" or not (sets := shortest_path_sets(results)):
        return None
    moves = len(make(row["puzzle"]).parse_moves(results.asked.instances[sets[0]].moves))
    note = "the moves listed, replayed; that none are fewer is proved"
    return Answer(moves, f"config/{results.study}.yaml", note=note)


@answers("length", "extra_moves", "moves_before_detour", of=repeated)
def listed_solution(results: StudyResults, row: Row) -> Answer | None:
    """Moves of the solutions that the thesis lists, and how far they go straight."""
    listing = listings(results).get(row["path_weight"])
    if listing is None or not listing.solves or row["quantity"] == "length" and row["section"] != APPENDIX:
        return None
    count = listing.moves if row["quantity"] == "length" else getattr(listing, row["quantity"])
    return fact(
        count,
        f"data/reported/{LISTINGS[row['path_weight']]}",
        "the listing replayed move by move, all legal, to the goal",
    )


@once
def listings(results: StudyResults) -> dict[float, Replay]:
    """Those solutions by path weight, none where the study has no table of their puzzle."""
    table = results.arrays(f"tables/{LISTED}")
    folder = results.beside.reported
    return {
        weight: replay(make(LISTED), read_csv(folder / name), table["distance"])
        for weight, name in LISTINGS.items()
        if table
    }


# Samplers


@answers("states_sampled", of=repeated)
def states_drawn(results: StudyResults, row: Row) -> Answer | None:
    """How many states an instance set, the sample of the audits or a sampler has."""
    puzzle, models = row["puzzle"], results.models.get(row["puzzle"])
    if not models:
        return None
    if row["set"] == "sample":
        measures = results.frame(f"audits/{models[0]}/measures")
        return Answer(
            measures.loc[measures["scope"] == "sample", "states"].max(), results.place("audits", ""), fact=True
        )
    counts = results.frame(f"instances/{puzzle}")["set"].value_counts().to_dict()
    for (sampler, walk_max), drawn in distributions(results, puzzle).items():
        counts[f"{sampler}_{walk_max}"] = drawn["sampled"].sum()
    count = counts.get(row["set"], NAN)
    return Answer(count, results.place(f"instances/{puzzle}", ".json"), fact=True)


def distributions(results: StudyResults, puzzle: str) -> dict[tuple[str, int], pd.DataFrame]:
    """What each sampler drew, by sampler and length of its walks: sampled and expected_percent by distance."""
    rows = results.find(f"instances/{puzzle}/distributions")
    found = [] if rows is None else rows.groupby(["sampler", "walk_max"])
    return {of: drawn.set_index("distance") for of, drawn in found}


@answers("sampled_percent")
def sampled_percent(results: StudyResults, row: Row) -> Answer | None:
    """The exact share of a sampler's states at a distance, by propagating the chances of a walk over all states."""
    sampler, walk_max = row["set"].split("_")
    drawn = distributions(results, row["puzzle"]).get((sampler, int(walk_max)))
    if drawn is None or row["distance"] not in drawn.index:
        return None
    here, total = drawn.loc[row["distance"]], int(drawn["sampled"].sum())
    low, high = (100 * end for end in wilson(int(here["sampled"]), total))
    note = f"the exact share; of {total:,} states drawn {100 * here['sampled'] / total:.2f} %"
    file = results.place(f"instances/{row['puzzle']}/distributions")
    return replace(fact(here["expected_percent"], file, note), low=low, high=high)


@answers("sampled_states_difference", "sampled_percent_difference")
def samplers_apart(results: StudyResults, row: Row) -> Answer | None:
    """States that DeepCubeA's sampler drew more than DeepCube's; both have the same distribution."""
    walk_max, drawn = int(row["set"].split("_")[1]), distributions(results, row["puzzle"])
    pair = [drawn.get((sampler, walk_max)) for sampler in ("deepcubea", "deepcube")]
    if any(each is None for each in pair):
        return None
    theirs, others = (each["sampled"] for each in pair)
    file = results.place(f"instances/{row['puzzle']}/distributions")
    apart, spread = theirs - others, 1.96 * np.sqrt(theirs + others)  # of two counts that chance alone separates
    if row["quantity"] == "sampled_percent_difference":
        apart, spread = 100 * apart.abs() / float(others.sum()), 100 * spread / float(others.sum())
        if math.isnan(row["distance"]):
            return Answer(float(apart.sum()), file, fact=True)
    at = row["distance"]
    if math.isnan(at):
        at = apart.idxmin() if row["relation"].startswith(">") else apart.idxmax()
    value, half = float(apart[at]), float(spread[at])
    return Answer(value, file, value - half, value + half, fact=True)
