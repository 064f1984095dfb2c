"""The cells of a search's grid as runs of their own, below that of the search: MLflow draws them as one picture.

A cell is a row of the table grid: settings, up to the column `instances`, and what the searches with them found.
"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from costtogo.tracking.record import Card, Stage

PARENT = "mlflow.parentRunId"  # MLflow's own tag
CELL, CELL_OF, SET = "cell", "cell_of", "set"  # the stage of a cell; its search and its set of instances
LAMBDA, SIZE, HEURISTIC, INSTANCES = "path_weight", "batch_size", "heuristic", "instances"  # columns
LETTERS = {LAMBDA: "λ", SIZE: "N"}  # of the literature
FOUND = ("solved_percent", "optimal_percent", "length", "nodes_expanded")
NETWORK = "network"  # what the searches of a model go by, where the table names it


def cells_in(stage: Stage) -> list[dict[str, Any]]:
    """The rows of the stage's grid; empty of a stage that has none."""
    grid = stage.table("grid")
    return [] if grid is None or INSTANCES not in grid else grid.to_dict("records")


def settings_of(cell: dict[str, Any]) -> dict[str, Any]:
    """The settings of a cell, but its set and its heuristic."""
    names = list(cell)[: list(cell).index(INSTANCES)]
    return {name: cell[name] for name in names if name not in (SET, HEURISTIC)}


def titles(cells: list[dict[str, Any]]) -> list[str]:
    """The settings of each cell in short, those that differ and λ and N.  -> "λ=0.7 N=5 test"."""
    settings = [settings_of(cell) for cell in cells]
    varying = [name for name in settings[0] if name in LETTERS or len({each[name] for each in settings}) > 1]
    told = [" ".join(f"{LETTERS.get(name, name)}={_text(each[name])}" for name in varying) for each in settings]
    return [" ".join(filter(None, [text, str(cell.get(SET, ""))])) for text, cell in zip(told, cells, strict=True)]


def log_cells(client, run, stage: Stage, tags: dict[str, str], start: int) -> None:
    """A finished run for each cell of a search; tags: what all of them bear.  Nothing for another stage."""
    from mlflow.entities import Metric, Param

    if not (rows := cells_in(stage)):
        return
    for row, title in zip(rows, titles(rows), strict=True):
        name = searched_by(stage.card, row)
        own = {PARENT: run.info.run_id, "stage": CELL, CELL_OF: f"{stage.card['group']}/{name}", SET: row.get(SET, "")}
        cell = client.create_run(run.info.experiment_id, start, tags | own, f"{title} {name}")
        metrics = [Metric(name, value, start, 0) for name, value in numbers_of(row).items()]
        params = [Param(name, _text(value)) for name, value in settings_of(row).items()]
        client.log_batch(cell.info.run_id, metrics, params)
        client.set_terminated(cell.info.run_id, "FINISHED", start)


def numbers_of(cell: dict[str, Any]) -> dict[str, float]:
    """What the searches of a cell found; there is no length where nothing was solved."""
    return {name: float(cell[name]) for name in FOUND if name in cell and math.isfinite(cell[name])}


def searched_by(card: Card, cell: dict[str, Any]) -> str:
    """What a cell is called after: the network; without one also what its searches go by: baseline_cube2 exact."""
    heuristic = cell.get(HEURISTIC, NETWORK)
    return card["name"] if heuristic == NETWORK else f"{card['name']} {heuristic}"


def fullest_sets(cells: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The set with most cells of each search; cells: search and set of each."""
    found: dict[str, str] = {}
    for (search, instances), _ in sorted(Counter(cells).items(), key=lambda item: (-item[1], item[0])):
        found.setdefault(search, instances)
    return found


def cells_of(client, run) -> list:
    """The cells of a search's run."""
    condition = f"tags.`{PARENT}` = '{run.info.run_id}'"
    return list(client.search_runs([run.info.experiment_id], condition, max_results=1_000))


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
