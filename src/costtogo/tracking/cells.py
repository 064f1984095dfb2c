"""The cells of a search's grid as child runs of the search, so that MLflow's charts can compare them.

A cell is a row of the stage's table `grid`: its settings, up to the column `instances`, then what the searches found.
"""

import math
from typing import Any

from costtogo.tracking.record import Card, Stage

PARENT = "mlflow.parentRunId"  # MLflow's tag of a child run
CELL, CELL_OF, SET = "cell", "cell_of", "set"  # a cell's stage; tags: its search, its set of instances
HEURISTIC, INSTANCES = "heuristic", "instances"  # columns
LETTERS = {"path_weight": "λ", "batch_size": "N"}  # as the literature names them
FOUND = ("solved_percent", "optimal_percent", "length", "nodes_expanded")
NETWORK = "network"  # the heuristic that needs no mention in a name


def log_cells(client, run, stage: Stage, tags: dict[str, str], start: int) -> None:
    """Log a finished child run for each cell of a search; does nothing for a stage without a grid.

    tags: the tags that all cells share.  start: in ms.
    """
    from mlflow.entities import Metric, Param

    grid = stage.table("grid")
    cells = [] if grid is None or INSTANCES not in grid else grid.to_dict("records")
    for cell in cells:
        name, settings = _searched_by(stage.card, cell), _settings(cell)
        title = [f"{LETTERS.get(key, key)}={value}" for key, value in settings.items()]
        own = {PARENT: run.info.run_id, "stage": CELL, CELL_OF: f"{stage.card['group']}/{name}", SET: cell.get(SET, "")}
        child = client.create_run(
            run.info.experiment_id, start, tags | own, " ".join(filter(None, [*title, own[SET], name]))
        )
        numbers = {key: float(cell[key]) for key in FOUND if key in cell and math.isfinite(cell[key])}
        metrics = [Metric(key, value, start, 0) for key, value in numbers.items()]
        params = [Param(key, value) for key, value in settings.items()]
        client.log_batch(child.info.run_id, metrics, params)
        client.set_terminated(child.info.run_id, "FINISHED", start)


def with_cells(client, run) -> list:
    """The cells of a search's run, then the run itself."""
    condition = f"tags.`{PARENT}` = '{run.info.run_id}'"
    return [*client.search_runs([run.info.experiment_id], condition, max_results=1_000), run]


def _settings(cell: dict[str, Any]) -> dict[str, str]:
    """The settings of a cell without its set and its heuristic.  -> {"path_weight": "0.7", "batch_size": "5"}"""
    names = list(cell)[: list(cell).index(INSTANCES)]
    values = {name: cell[name] for name in names if name not in (SET, HEURISTIC)}
    return {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in values.items()}


def _searched_by(card: Card, cell: dict[str, Any]) -> str:
    """The name of the network, or of the stage and the heuristic that guided the search.  -> "baseline_cube2 exact"."""
    heuristic = cell.get(HEURISTIC, NETWORK)
    return card["name"] if heuristic == NETWORK else f"{card['name']} {heuristic}"
