"""What searches on a listed puzzle found: at every checkpoint for the thesis, at the headline λ and N for others."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from costtogo.literature.answers.audit import Checkpoint, matching
from costtogo.literature.answers.sampled_searches import NEARLY_ALL, SCRAMBLED
from costtogo.literature.counterparts import OPTIMAL
from costtogo.literature.finding import NAN, Finding, Row, absent, extreme, finds, share
from costtogo.literature.words import NOT_REACHED
from costtogo.tables.results import StudyResults, alike

NETWORK_ENGINE = "network alone"  # the engine that, like the literature's, searches one instance at a time
BY_DISTANCE = "searches/{ours}/checkpoints_by_distance"
NO_MERIT = "no heuristic at all does as well"
OF_MERIT = ("optimal_percent", "optimal_percent_least", "length")
SHARES = ("states_solved", "optimal_percent")
NAMES = {"states_solved": "solved_percent", "extra_moves": "excess", "states_sampled": "instances"}


# Checkpoint by checkpoint
@finds("optimal_percent", "nodes_expanded", "length", of="repeated")
def of_cell(results: StudyResults, row: Row) -> Finding | None:
    """A number of the searches at one λ and N; the extreme over those that the row leaves open."""
    address = f"searches/{row['ours']}/checkpoints{'' if math.isnan(row['distance']) else '_by_distance'}"
    cells = results.find_frame(address)
    return None if cells is None else of_cells(results, row, cells, results.place(address))


def of_cells(results: StudyResults, row: Row, cells: pd.DataFrame, file: str) -> Finding | None:
    """The same, of these searches of checkpoints; file: where a reader finds them."""
    cells = alike(cells[cells["set"] == set_of(results, row)], row, "batch_size", "distance", "path_weight")
    chosen, note, missing = matching(results, cells, row)
    if missing or chosen.empty:
        return missing
    values = chosen[row["quantity"]]
    if values.isna().any():  # no length where nothing was solved
        return absent(NOT_REACHED, f"{note}: not solved")
    decisive = chosen.loc[values.idxmin() if row["relation"].startswith(">") else values.idxmax()]
    found = Finding(decisive[row["quantity"]], note, file=file)
    return within(found, decisive) if row["quantity"] == "optimal_percent" else found


def is_no_merit(results: StudyResults, row: Row, value: float) -> bool:
    """Whether the same searches with no heuristic at all have as large a share of optimal solutions.

    For a length, and for the share at a distance or the worst of them, whether all of theirs are optimal.
    results: those of the study, which has made them, whoever has made the row's own.
    """
    if row["quantity"] not in OF_MERIT or not row["repeated"] or not row["ours"]:
        return False
    grid = results.find_frame(f"searches/baseline_{results.training(row['ours'])['puzzle']}/grid")
    if grid is None:
        return False
    zero = grid[(grid["heuristic"] == "zero") & (grid["set"] == set_of(results, row))]
    shares = alike(zero, row, "path_weight", "batch_size")["optimal_percent"]
    is_whole = row["quantity"] == "optimal_percent" and math.isnan(row["distance"])
    return not shares.empty and (extreme(shares, row) >= value if is_whole else shares.min() == 100)


def within(found: Finding, cell: pd.Series) -> Finding:
    """A share of optimal solutions with its interval, which is over the walks that the instances come from."""
    if cell["instances"] < 2:
        return found
    if "optimal_low" in cell:
        return replace(found, low=cell["optimal_low"], high=cell["optimal_high"])
    return replace(share(found.value, cell["instances"]), note=found.note, file=found.file)


def set_of(results: StudyResults, row: Row) -> str:
    """The set of a row in our study; a smaller tower is solved within the tower that the model is for."""
    same = row["puzzle"] == results.training(row["ours"])["puzzle"]
    return row["set"] if same else f"start_{row['puzzle'].removeprefix('hanoi_')}"


@finds(
    *("seconds", "seconds_ratio_batch_size", "seconds_ratio_path_weight"),
    of="repeated",
    table="timings/searches/{ours}",
)
def seconds_of_cell(results: StudyResults, row: Row, clock: pd.DataFrame) -> Finding | None:
    """Seconds of a search with the chosen checkpoint, the extreme over λ where the row has none; or a ratio of them."""
    cells = clock[(clock["engine"] == NETWORK_ENGINE) & (clock["set"] == set_of(results, row))]
    if cells.empty:
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
    return Finding(extreme(values, row), f"{cells['searches'].iloc[0]:.0f} searches with the chosen checkpoint")


@finds("nodes_expanded_ratio", of="repeated", table="searches/{ours}/checkpoints")
def nodes_ratio(results: StudyResults, row: Row, cells: pd.DataFrame) -> Finding | None:
    """Nodes expanded with λ = 1 to those with the row's λ, the extreme over N."""
    chosen, note, missing = matching(results, cells[cells["set"] == row["set"]], row)
    if missing:
        return missing
    nodes = chosen.pivot(index="path_weight", columns="batch_size", values="nodes_expanded")
    if not {1.0, row["path_weight"]} <= set(nodes.index):
        return None
    return Finding(extreme(nodes.loc[1.0] / nodes.loc[row["path_weight"]], row), note)


@finds("optimal_percent_least", "optimal_percent_difference", of="repeated", table=BY_DISTANCE)
def over_distances(results: StudyResults, row: Row, layers: pd.DataFrame) -> Finding | None:
    """The least share of optimal solutions at a distance, or the most that it is below DNN_reduced_0's at point 10."""
    found = at_distances(results, layers, row)
    if found.missing:
        return found.missing
    shares = found.rows.set_index("distance")["optimal_percent"]
    if row["quantity"] == "optimal_percent_least":
        return within(
            Finding(shares.min(), f"{found.note}, distance {shares.idxmin()}"), _cell(found.rows, shares.idxmin())
        )
    other = row | {"ours": "DNN_reduced_0", "point": 10.0}
    best = results.find_frame(BY_DISTANCE.format_map(other))
    beside = at_distances(results, best, other) if best is not None else None
    if beside is None or beside.missing:
        return beside and beside.missing
    return Finding((beside.rows.set_index("distance")["optimal_percent"] - shares).max(), found.note)


def _cell(rows: pd.DataFrame, distance: int) -> pd.Series:
    return rows[rows["distance"] == distance].iloc[0]


def at_distances(results: StudyResults, layers: pd.DataFrame, row: Row) -> Checkpoint:
    """The searches of a checkpoint at the row's λ and N, a row for each distance."""
    return matching(results, alike(layers, row, "set", "batch_size", "path_weight"), row)


# At the headline λ and N
def at_headline(results: StudyResults, row: Row, cells: pd.DataFrame) -> dict[str, Any] | None:
    """The cell at the row's λ and N, or at the headline's, on the headline's set; limit, added: its max_expansions."""
    search = results.card(f"searches/{row['ours']}")["parameters"]["search"]
    given = {name: row[name] for name in ("path_weight", "batch_size") if not math.isnan(row[name])}
    wanted = search["headline"] | given
    cells = alike(cells, wanted, "set", "path_weight", "batch_size")
    cells = cells[cells["engine"] == NETWORK_ENGINE] if "engine" in cells else cells
    return cells.iloc[0].to_dict() | {"limit": search["max_expansions"]} if len(cells) else None


@finds(
    *("states_solved", "optimal_percent", "extra_moves", "states_sampled", "nodes_generated", "length"),
    *("search_iterations", "search_iterations_limit", "path_weight_chosen", "batch_size_chosen"),
    of="headline",
    table="searches/{ours}/grid",
)
def of_headline(results: StudyResults, row: Row, grid: pd.DataFrame) -> Finding | float | None:
    """A number of the network's searches; of the literature's optimal solver the length of their shortest solutions."""
    quantity, cell = row["quantity"], at_headline(results, row, grid)
    if cell is None or (row["model"] in OPTIMAL and quantity != "length"):
        return None
    if quantity.endswith("_chosen"):
        return cell[quantity.removesuffix("_chosen")]
    if quantity == "search_iterations_limit":
        return Finding(cell["limit"] / cell["batch_size"], "max_expansions over N")
    if quantity == "search_iterations":
        return batches(cell)
    at = f"λ = {cell['path_weight']:g}, N = {cell['batch_size']:.0f}"
    note = f"{cell['instances']:.0f} instances of the set {cell['set']}, {at}"
    if row["model"] in OPTIMAL:
        return Finding(cell["length"] - cell["excess"], f"the mean distance of {note}")
    value = float(cell[NAMES.get(quantity, quantity)])
    if quantity in SHARES:
        return share(value, cell["instances"], note)
    low, high = _interval_of_moves(results, row, cell).get(quantity, (NAN, NAN))
    return Finding(value, note, low, high)


def _interval_of_moves(results: StudyResults, row: Row, cell: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """The intervals (95 %) of the extra moves and of the length of a cell's searches.

    A grid keeps means alone. So the extra moves are the share of solutions that are longer, which has an interval,
    times by how much those are; none where all are shortest. The length adds the distances, which spread over states
    that are scrambled far enough as over all.
    """
    excess, length, longer = cell["excess"], cell["length"], 100 - cell["optimal_percent"]
    if not longer or "optimal_low" not in cell:
        return {}
    low, high = (excess / longer * (100 - cell[f"optimal_{end}"]) for end in ("high", "low"))
    layers, puzzle = results.find_frame(f"audits/{row['ours']}/by_distance"), results.training(row["ours"])["puzzle"]
    drawn = results.find_card(f"instances/{puzzle}").get("parameters", {}).get("instances", {}).get(cell["set"], {})
    if layers is None or "states" not in layers or drawn.get("kind") != "scrambled" or drawn["walk_max"] < SCRAMBLED:
        return {"extra_moves": (low, high)}
    layers = layers[(layers["scope"] == "all") & (layers["iteration"] == layers["iteration"].max())]
    spread = math.sqrt(np.cov(layers["distance"], fweights=layers["states"].astype(int)) / cell["instances"])
    below, above = (math.hypot(half, 1.96 * spread) for half in (excess - low, high - excess))
    return {"extra_moves": (low, high), "length": (length - below, length + above)}


def batches(cell: dict[str, Any]) -> Finding:
    """The iterations of BWAS, on average, of a cell of a grid."""
    note = f"of {cell['instances']:.0f} searches, nodes expanded over N; the first batches are smaller"
    return Finding(cell["nodes_expanded"] / cell["batch_size"], note)


@finds("search_iterations", of="learned", table="searches/{ours}/grid")
def batches_of_scrambled(results: StudyResults, row: Row, grid: pd.DataFrame) -> Finding | None:
    """The same at the row's λ and N, where these solve nearly all."""
    cells = alike(grid[grid["set"] == "scrambled"], row, "path_weight", "batch_size")
    if cells.empty:
        return None
    cell = cells.sort_values("solved_percent").iloc[-1].to_dict()
    if cell["solved_percent"] >= 100 * NEARLY_ALL:
        return batches(cell)
    return absent(NOT_REACHED, f"{cell['solved_percent']:.3g} % of {cell['instances']:.0f} searches end at a solution")


@finds("seconds", of="headline", table="timings/searches/{ours}")
def seconds_at_headline(results: StudyResults, row: Row, clock: pd.DataFrame) -> Finding | None:
    """Seconds of a search by the engine that calls the network for each search alone, as the literature's."""
    cell = at_headline(results, row, clock)
    if cell is None or row["model"] in OPTIMAL:
        return None
    return Finding(cell["seconds"], f"{cell['searches']:.0f} searches, {cell['precision']}")


@finds("path_weight_feasible", of="headline", table="searches/{ours}/grid")
def feasible_at_headline(results: StudyResults, row: Row, grid: pd.DataFrame) -> Finding | None:
    """The greatest λ at which every instance of the headline's set is solved."""
    cell = at_headline(results, row, grid)
    if cell is None:
        return None
    solved = grid[(grid["set"] == cell["set"]) & (grid["solved_percent"] == 100)]
    return Finding(float(solved["path_weight"].max()), "the greatest λ at which all are solved")
