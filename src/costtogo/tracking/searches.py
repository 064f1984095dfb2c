"""A search as MLflow runs: one child for each setting, so that settings compare side by side."""

import sys
from typing import Any

from costtogo.tracking import record
from costtogo.tracking.client import log_names, log_points, search
from costtogo.tracking.record import CHILD_METRICS, Card, Stage

MAX_CHILDREN = 100  # MLflow's pages slow down beyond


def log_cells(client, parent, stage: Stage) -> None:
    """One nested run per row of the grid, made once; a partial one is completed."""
    card, cells = stage.card, record.grid_cells(stage)
    if len(cells) > MAX_CHILDREN:
        print(
            f"Warning: MLflow shows {MAX_CHILDREN} of the {len(cells)} settings of {stage.path}.",
            file=sys.stderr,
        )
    experiment = parent.info.experiment_id
    children = search(client, experiment, {"mlflow.parentRunId": parent.info.run_id})
    known = {child.data.tags["key"]: child for child in children}
    for row in cells[:MAX_CHILDREN]:
        key = f"{record.run_key(card)} {' '.join(record.cell_texts(row).values())}"
        child = known.get(key) or _create(client, parent, card, row, key)
        if "logged" not in child.data.tags:
            _fill(client, child, card, row)


def _create(client, parent, card: Card, row: dict[str, Any], key: str):
    return client.create_run(
        parent.info.experiment_id,
        start_time=parent.info.start_time,
        tags=record.tags(card, {}) | {"key": key, "mlflow.parentRunId": parent.info.run_id},
        run_name=f"{card['name']} {row['heuristic']} {row['set']} λ={row['path_weight']:g} N={row['batch_size']}",
    )


def _fill(client, child, card: Card, row: dict[str, Any]) -> None:
    """Log the cell; `logged` comes last, so that an interruption is noticed."""
    run_id = child.info.run_id
    parameters = record.cell_texts(row) | {"search": card["name"]}
    names = [name for name in (*CHILD_METRICS, "seconds") if record.is_finite(row.get(name))]
    new = {(name, 0): float(row[name]) for name in names if name not in child.data.metrics}
    log_points(client, run_id, new)
    client.set_terminated(run_id, "FINISHED", child.info.start_time)
    engine = {"engine": row["engine"]} if "engine" in row else {}
    log_names(client, run_id, parameters, engine | {"logged": "true"})
