"""What searches on a listed puzzle found: at every checkpoint for the thesis, at the headline λ and N for others."""

import math
from typing import Any

import numpy as np
import pandas as pd

from costtogo.report.answer import Answer, Row, answers, extreme, listed, repeated, share
from costtogo.report.answers.audit import matching
from costtogo.report.results import StudyResults
from costtogo.report.standing import OPTIMAL

NETWORK_ENGINE = "network alone"  # the engine that, like the literature's, searches one instance at a time
SAME = 1e-9  # between two λ that are the same
NAMES = {"states_solved": "solved_percent", "extra_moves": "excess", "states_sampled": "instances"}


# Checkpoint by checkpoint


@answers("optimal_percent", "nodes_expanded", "length", of=repeated)
def of_cell(results: StudyResults, row: Row) -> Answer | None:
    """A number of the searches at one λ and N; the extreme over those that the row leaves open."""
    at_distance = not math.isnan(row["distance"])
    address = f"searches/{row['ours']}/checkpoints{'_by_distance' if at_distance else ''}"
    cells = results.find(address)
    if cells is None:
        return None
    cells = cells[cells["set"] == set_of(results, row)]
    for name in ("batch_size", "distance", "path_weight"):
        if not math.isnan(row[name]):
            cells = cells[(cells[name] - row[name]).abs() < SAME]
    chosen, note = matching(results, cells, row)
    if chosen.empty:
        return None
    value = extreme(chosen[row["quantity"]].fillna(math.inf), row)  # no length where nothing was solved
    if row["quantity"] == "optimal_percent":
        return share(value, chosen["instances"].iloc[0], results.place(address), note)
    return Answer(value, results.place(address), note=note)


def set_of(results: StudyResults, row: Row) -> str:
    """The set of a row in our study; a smaller tower is solved within the tower that the model is for."""
    card = results.find_card(f"models/{row['ours']}")
    puzzle = card.get("parameters", {}).get("training", {}).get("puzzle")
    return row["set"] if row["puzzle"] == puzzle else f"start_{row['puzzle'].removeprefix('hanoi_')}"


@answers("seconds", "seconds_ratio_batch_size", "seconds_ratio_path_weight", of=repeated)
def seconds_of_cell(results: StudyResults, row: Row) -> Answer | None:
    """Seconds of a search with the chosen checkpoint, the extreme over λ where the row has none; or a ratio of them."""
    address = f"timings/searches/{row['ours']}"
    cells = results.find(address)
    cells = () if cells is None else cells[(cells["engine"] == NETWORK_ENGINE) & (cells["set"] == set_of(results, row))]
    if not len(cells):
        return None
    seconds = cells.pivot(index="path_weight", columns="batch_size", values="seconds")
    weights = seconds.index if math.isnan(row["path_weight"]) else [row["path_weight"]]
    if row["quantity"] == "seconds_ratio_batch_size":
        sizes = seconds.reindex(columns=[3, 7])
        values = sizes[3] / sizes[7]
    elif row["quantity"] == "seconds_ratio_path_weight":
        ratios = seconds.reindex([1.0]).to_numpy() / seconds.reindex(weights).to_numpy()
        values = pd.Series(ratios.mean(axis=1))
    else:
        values = seconds.reindex(index=weights, columns=[row["batch_size"]])[row["batch_size"]]
    note = f"{cells['searches'].iloc[0]:.0f} searches with the chosen checkpoint"
    return Answer(extreme(values, row), results.place(address), note=note)


@answers("nodes_expanded_ratio", of=repeated)
def nodes_ratio(results: StudyResults, row: Row) -> Answer | None:
    """Nodes expanded with λ = 1 to those with the row's λ, the extreme over N."""
    address, weights = f"searches/{row['ours']}/checkpoints", (1.0, row["path_weight"])
    frame = results.find(address)
    if frame is None:
        return None
    chosen, note = matching(results, frame[frame["set"] == row["set"]], row)
    nodes = chosen.pivot(index="path_weight", columns="batch_size", values="nodes_expanded")
    if not set(weights) <= set(nodes.index):
        return None
    return Answer(extreme(nodes.loc[weights[0]] / nodes.loc[weights[1]], row), results.place(address), note=note)


@answers("optimal_percent_least", "optimal_percent_difference", of=repeated)
def over_distances(results: StudyResults, row: Row) -> Answer | None:
    """The least share of optimal solutions at a distance, or the most that it is below DNN_reduced_0's at point 10."""
    shares = shares_by_distance(results, row)
    if row["quantity"] == "optimal_percent_least":
        value = None if shares is None else shares.min()
    else:
        best = shares_by_distance(results, row | {"ours": "DNN_reduced_0", "point": 10.0})
        value = None if shares is None or best is None else (best - shares).max()
    address = f"searches/{row['ours']}/checkpoints_by_distance"
    return None if value is None else Answer(float(value), results.place(address))


def shares_by_distance(results: StudyResults, row: Row) -> pd.Series | None:
    """The share of optimal solutions of a checkpoint by distance."""
    frame = results.find(f"searches/{row['ours']}/checkpoints_by_distance")
    if frame is None:
        return None
    alike = (frame["set"] == row["set"]) & (frame["batch_size"] == row["batch_size"])
    chosen, _ = matching(results, frame[alike & (frame["path_weight"] == row["path_weight"])], row)
    return chosen.set_index("distance")["optimal_percent"]


# At the headline λ and N


def headline_cell(results: StudyResults, row: Row, address: str) -> dict[str, Any] | None:
    """The cell of a table of searches at the row's λ and N, or at the headline's, on the headline's set.

    limit, added: the max_expansions of the searches.
    """
    card, cells = results.find_card(f"searches/{row['ours']}"), results.find(address)
    if not card or cells is None:
        return None
    search = card["parameters"]["search"]
    given = {name: row[name] for name in ("path_weight", "batch_size") if not math.isnan(row[name])}
    wanted = search["headline"] | given
    alike = np.isclose(cells["path_weight"], wanted["path_weight"]) & (cells["batch_size"] == wanted["batch_size"])
    alike &= (cells["set"] == wanted["set"]) & (cells["engine"] == NETWORK_ENGINE if "engine" in cells else True)
    return cells[alike].iloc[0].to_dict() | {"limit": search["max_expansions"]} if alike.any() else None


def cell_text(cell: dict[str, Any]) -> str:
    """The searches of a cell in words."""
    at = f"λ = {cell['path_weight']:g}, N = {cell['batch_size']:.0f}"
    return f"{cell['instances']:.0f} instances of the set {cell['set']}, {at}"


@answers("states_solved", "optimal_percent", "extra_moves", "states_sampled", "nodes_generated", of=listed)
@answers("length", "search_iterations", "search_iterations_limit", "path_weight_chosen", "batch_size_chosen", of=listed)
def of_headline(results: StudyResults, row: Row) -> Answer | None:
    """A number of the network's searches; of the literature's optimal solver the length of their shortest solutions."""
    quantity, address = row["quantity"], f"searches/{row['ours']}/grid"
    cell, file = headline_cell(results, row, address), results.place(address)
    if cell is None or row["model"] in OPTIMAL and quantity != "length":
        return None
    if quantity.endswith("_chosen"):
        return Answer(float(cell[quantity.removesuffix("_chosen")]), file)
    if quantity == "search_iterations_limit":
        return Answer(cell["limit"] / cell["batch_size"], file, note="max_expansions over N")
    if quantity == "search_iterations":
        value, note = cell["nodes_expanded"] / cell["batch_size"], f"nodes expanded over N; {cell_text(cell)}"
        return Answer(float(value), file, note=note)
    if row["model"] in OPTIMAL:
        return Answer(float(cell["length"] - cell["excess"]), file, note=f"the mean distance of {cell_text(cell)}")
    value = float(cell[NAMES.get(quantity, quantity)])
    if quantity in ("states_solved", "optimal_percent"):
        return share(value, cell["instances"], file, cell_text(cell))
    return Answer(value, file, note=cell_text(cell))


@answers("seconds", of=listed)
def seconds_at_headline(results: StudyResults, row: Row) -> Answer | None:
    """Seconds of a search by the engine that calls the network for each search alone, as the literature's."""
    address = f"timings/searches/{row['ours']}"
    cell = headline_cell(results, row, address)
    if cell is None or row["model"] in OPTIMAL:
        return None
    return Answer(cell["seconds"], results.place(address), note=f"{cell['searches']:.0f} searches, {cell['precision']}")


@answers("path_weight_feasible", of=listed)
def feasible_at_headline(results: StudyResults, row: Row) -> Answer | None:
    """The greatest λ at which every instance of the headline's set is solved."""
    address = f"searches/{row['ours']}/grid"
    cell, grid = headline_cell(results, row, address), results.find(address)
    if cell is None:
        return None
    solved = grid[(grid["set"] == cell["set"]) & (grid["solved_percent"] == 100)]
    note = "the greatest λ at which all are solved"
    return Answer(float(solved["path_weight"].max()), results.place(address), note=note)
