"""From finished stages to MLflow runs: each is found by its key, completed, and never doubled."""

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from costtogo.files import digest
from costtogo.tracking import models, record, searches
from costtogo.tracking.client import (
    create_run,
    experiment_id,
    log_names,
    log_points,
    runs_of_key,
    search,
)
from costtogo.tracking.faults import StoreError, TrackingError, one_sentence, warn
from costtogo.tracking.place import enabled
from costtogo.tracking.record import BASE_TIME, Card, Points, Stage, experiment_of
from costtogo.tracking.store import session

WORTH_LOADING = 60.0  # seconds of a stage, beside which those that MLflow takes to load are few
WAITING = ".mlflow-waiting"  # a file for each card to be recorded, named as the card is
GROUPS = (
    *("tables", "pattern_databases", "instances", "optima", "models", "audits", "searches", "baselines"),
    *("footprints", "beams", "external", "report"),
)


def log_card(card_path: Path, root: Path) -> str | None:
    """Bring one finished stage into MLflow from its files; returns the run's id.

    A run that already holds this card is left as it is; a partial one is completed; a changed key or
    result starts a new run and marks the older ones superseded. None where tracking is off.
    Raises TrackingError, in one sentence.
    """
    if not enabled():
        return None
    with one_sentence(str(card_path), root), session(root) as client:
        return _record(client, record.read_stage(Path(card_path), Path(root)))


def log_stage(card_path: Path, root: Path, seconds: float) -> None:
    """log_card for the end of a stage that took so long; a failure is one warning on stderr.

    MLflow takes seconds to load. The card of a short stage waits for the next that has loaded it, or for the end of
    the workflow: log_waiting.
    """
    if enabled():
        folder = Path(root) / WAITING
        folder.mkdir(parents=True, exist_ok=True)
        (folder / quote(str(card_path), safe="")).touch()
        if seconds >= WORTH_LOADING or "mlflow" in sys.modules:
            log_waiting(root)


def log_waiting(root: Path) -> None:
    """log_card for each card that waits, up to the first failure, which is one warning on stderr.

    A card that cannot be recorded waits no more; one for which there was no store does.
    """
    waiting = {Path(unquote(entry.name)): entry for entry in (Path(root) / WAITING).glob("*")} if enabled() else {}
    for card_path in sorted(waiting, key=_place):
        try:
            waiting[card_path].unlink()  # another process may have come first
            card_path.stat()
        except FileNotFoundError:
            continue
        try:
            log_card(card_path, root)
        except TrackingError as error:
            if isinstance(error, StoreError):
                waiting[card_path].touch()
            warn(error, root)
            break


def _place(card_path: Path) -> tuple[int, Path]:
    """Where a card comes in the order of the stages."""
    group = card_path.parent.name
    return GROUPS.index(group) if group in GROUPS else len(GROUPS), card_path


def track(study_results: list[Path], root: Path) -> int:
    """Record every finished stage below the given results folders; returns how many there are.

    Raises TrackingError where a folder holds no finished stage or one cannot be recorded.
    """
    from tqdm import tqdm

    if not enabled():
        raise TrackingError("Tracking is turned off; unset COSTTOGO_TRACKING to record finished stages.")
    cards = [card for folder in study_results for card in _finished(Path(folder))]
    with tqdm(cards, unit="stage") as progress:
        for card_path in progress:
            progress.set_description(f"{card_path.parent.name} {card_path.stem}")
            log_card(card_path, root)
    return len(cards)


def _finished(folder: Path) -> list[Path]:
    """The cards of a study in the order of its stages."""
    cards = [path for group in GROUPS for path in sorted((folder / group).glob("*.json"))]
    if not cards:
        raise TrackingError(f"{folder} holds no finished stage; run the workflow first.")
    return cards


def _record(client, stage: Stage) -> str:
    content = digest(stage.path)
    experiment = experiment_id(client, stage.card["study"], stage.root)
    runs = runs_of_key(client, experiment, stage.card)
    complete = next((run for run in runs if run.data.tags.get("logged") == content), None)
    if complete:
        if "superseded" in complete.data.tags:
            _make_current(client, experiment, stage.card, complete)
            if stage.card["stage"] == "search":
                models.register_selected(client, complete, stage)
        return complete.info.run_id
    timing = record.timing(stage)
    points = record.points(stage)
    run = _partial_run(client, runs, points) or create_run(client, experiment, stage.card, _start(timing))
    _complete(client, run, stage, timing, points)
    _make_current(client, experiment, stage.card, run)
    client.set_tag(run.info.run_id, "logged", content)
    return run.info.run_id


def _start(timing: dict[str, Any]) -> int:
    """When the stage started, in ms."""
    return int(timing["started"] * 1000) if "started" in timing else BASE_TIME


def _end(timing: dict[str, Any]) -> int:
    """When the stage ended, in ms."""
    return _start(timing) + int(timing.get("seconds", 0) * 1000)


def _partial_run(client, runs: list, points: Points):
    """The run that live logging or an interruption left, unless it holds points of another result."""
    for run in runs:
        if "logged" in run.data.tags or "superseded" in run.data.tags:
            continue
        if _logged_points(client, run) <= set(points.items()):
            return run
        _supersede(client, run)
    return None


def _logged_points(client, run) -> set:
    """The points that the run holds."""
    run_id = run.info.run_id
    histories = [client.get_metric_history(run_id, name) for name in run.data.metrics]
    return {((metric.key, metric.step), metric.value) for history in histories for metric in history}


def _complete(client, run, stage: Stage, timing: dict[str, Any], points: Points) -> None:
    """Log what the run lacks: parameters, lineage, metrics, cells of a search, files and model."""
    run_id, card = run.info.run_id, stage.card
    log_names(client, run_id, record.flat_parameters(card["parameters"]), record.tags(card, timing))
    _log_inputs(client, run_id, card["inputs"])
    logged = _logged_points(client, run)
    log_points(client, run_id, dict(item for item in points.items() if item not in logged))
    for path, folder in record.artifacts(stage):
        client.log_artifact(run_id, str(path), folder or None)
    if card["group"] == "models":
        models.register_last(client, run, stage)
    if card["stage"] == "search":
        searches.log_cells(client, run, stage)
        models.register_selected(client, run, stage)
    client.set_terminated(run_id, "FINISHED", _end(timing))


def _log_inputs(client, run_id: str, inputs: dict[str, str]) -> None:
    """Record the digest of every input, without a copy; MLflow holds the first 36 digits as the digest."""
    from mlflow.data.dataset_source_registry import get_dataset_source_from_json
    from mlflow.data.meta_dataset import MetaDataset
    from mlflow.entities import DatasetInput, InputTag

    datasets = []
    for path, sha256 in inputs.items():
        source = get_dataset_source_from_json(json.dumps({"uri": path}), "local")
        dataset = MetaDataset(source, name=path, digest=sha256[:36])._to_mlflow_entity()
        datasets.append(DatasetInput(dataset, [InputTag("sha256", sha256)]))
    if datasets:
        client.log_inputs(run_id, datasets)


def _make_current(client, experiment: str, card: Card, run) -> None:
    """Mark older runs of the stage superseded, with their cells, and this one not.

    A run that started later and is not finished is a newer result on its way: it stays. So do the runs of temporary
    experiments for the project, and the project's for a temporary experiment.
    """
    run_id = run.info.run_id
    for other in search(client, experiment, {"group": card["group"], "name": card["name"]}):
        tags = other.data.tags
        if experiment_of(tags) != experiment_of(card):
            continue
        is_current = run_id in (other.info.run_id, tags.get("mlflow.parentRunId"))
        is_older = "logged" in tags or other.info.start_time < run.info.start_time
        if is_current and "superseded" in tags:
            client.delete_tag(other.info.run_id, "superseded")
        if not is_current and is_older and "superseded" not in tags:
            _supersede(client, other)


def _supersede(client, run) -> None:
    """Mark a run as replaced; one that never finished is closed."""
    client.set_tag(run.info.run_id, "superseded", "true")
    if run.info.status == "RUNNING":
        client.set_terminated(run.info.run_id, "KILLED")
