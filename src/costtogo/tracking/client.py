"""Calls on an MLflow client that every kind of record shares; each may be repeated without harm."""

from collections.abc import Iterable
from pathlib import Path

from costtogo.tracking import record
from costtogo.tracking.place import EXPERIMENT, artifact_location
from costtogo.tracking.record import BASE_TIME, STEP_TIME, Card, Points

METRICS_PER_BATCH = 1_000  # MLflow's limits
NAMES_PER_BATCH = 100


def experiment_id(client, study: str, root: Path) -> str:
    """The experiment of a study, made where it is absent and restored where it was deleted."""
    name = f"costtogo/{study}"
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        kind = {"mlflow.experimentKind": "custom_model_development"}  # the UI opens on runs, not on traces
        return client.create_experiment(name, artifact_location=artifact_location(root, study), tags=kind)
    if experiment.lifecycle_stage == "deleted":
        client.restore_experiment(experiment.experiment_id)
    return experiment.experiment_id


def runs_of_key(client, experiment: str, card: Card) -> list:
    """The runs, newest first, that hold this stage with these parameters, inputs and code."""
    return search(client, experiment, {"key": record.run_key(card)})


def search(client, experiment: str, tags: dict[str, str]) -> list:
    """Every run of the experiment that carries the tags."""
    condition = " and ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
    runs: list = []
    token = None
    while token != "":
        page = client.search_runs([experiment], condition, page_token=token)
        runs += page
        token = page.token or ""
    return runs


def create_run(client, experiment: str, card: Card, start: int | None = None):
    """A new run under the stage's key; start in ms, None for now."""
    tags = record.tags(card, {}) | {"key": record.run_key(card)}
    of = f" ({card[EXPERIMENT]})" if EXPERIMENT in card else ""
    return client.create_run(experiment, start_time=start, tags=tags, run_name=f"{card['stage']} {card['name']}{of}")


def log_points(client, run_id: str, points: Points) -> None:
    """Log metrics in batches; a point that is there already changes nothing."""
    from mlflow.entities import Metric

    metrics = [Metric(name, value, BASE_TIME + STEP_TIME * step, step) for (name, step), value in points.items()]
    for batch in _batches(metrics, METRICS_PER_BATCH):
        client.log_batch(run_id, metrics=batch)


def log_names(client, run_id: str, parameters: dict[str, str], tags: dict[str, str]) -> None:
    """Log parameters and tags in batches."""
    from mlflow.entities import Param, RunTag

    for batch in _batches([Param(name, value) for name, value in parameters.items()], NAMES_PER_BATCH):
        client.log_batch(run_id, params=batch)
    for batch in _batches([RunTag(name, value) for name, value in tags.items()], NAMES_PER_BATCH):
        client.log_batch(run_id, tags=batch)


def _batches(items: list, size: int) -> Iterable[list]:
    return (items[start : start + size] for start in range(0, len(items), size))
