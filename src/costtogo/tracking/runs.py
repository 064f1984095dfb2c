"""From finished stages to MLflow runs: each is found by its key, written whole, and never doubled."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from costtogo.files import digest
from costtogo.tracking import cells, models, names, notes, record
from costtogo.tracking.faults import best_effort, one_sentence
from costtogo.tracking.place import CLONE, artifact_location, clone, enabled, is_away, is_lost
from costtogo.tracking.record import Card, Points, Stage, experiment_of
from costtogo.tracking.store import session

WORTH_LOADING = 60.0  # seconds of a stage, beside which those that MLflow takes to load are few
WAITING = ".mlflow-waiting"  # a file for each card to be recorded, named as the card is
BASE_TIME = 1_577_836_800_000  # ms, 2020-01-01 UTC: the timestamp of step 0 of every metric
STEP_TIME = 1_000  # ms a step: MLflow's relative time in seconds is the iteration
RESULT = "result"  # tag: what the run says of its stage
UNFINISHED, CURRENT, FORMER = "unfinished", "current", "former"
METRICS_PER_BATCH, PARAMETERS_PER_BATCH = 1_000, 100  # MLflow's limits


def log_card(card_path: Path, root: Path) -> str | None:
    """Bring one finished stage into MLflow from its files; returns the run's id.

    A run that already holds this card gets no more than files that were deleted since; what live logging or an
    interruption left under its key is replaced. The run says that it is the current result of its stage, the one before
    that it is a former one.
    None where tracking is off. Raises UserError.
    """
    if not enabled():
        return None
    with one_sentence(str(card_path), root), session(root) as client:
        stage = record.read_stage(Path(card_path), Path(root))
        return _record(client, stage)


def log_stage(card_path: Path, root: Path, seconds: float) -> None:
    """log_card for the end of a stage that took so long; a failure is one warning on stderr.

    MLflow takes seconds to load. The card of a short stage waits for the next that has loaded it, or for the end of
    the workflow: log_waiting. So does every card while the store is of no use.
    """
    if enabled() or is_away():
        folder = Path(root) / WAITING
        folder.mkdir(parents=True, exist_ok=True)
        (folder / quote(str(card_path), safe="")).touch()
        if enabled() and (seconds >= WORTH_LOADING or "mlflow" in sys.modules):
            log_waiting(root)


def log_waiting(root: Path) -> None:
    """log_card for each card that waits, up to the first failure, which is one warning on stderr.

    A card that cannot be recorded waits no more, unless the store is the cause.
    """
    for entry in sorted((Path(root) / WAITING).glob("*")):
        card_path = Path(unquote(entry.name))
        if not enabled():
            break
        try:
            entry.unlink()  # another process may have come first
            card_path.stat()
        except FileNotFoundError:
            continue
        with best_effort(str(card_path), root):
            log_card(card_path, root)
        if is_away():
            entry.touch()


def _record(client, stage: Stage) -> str:
    card, content = stage.card, digest(stage.path)
    experiment = experiment_id(client, card["study"], stage.root)
    key = {"key": record.run_key(card)}
    same = find(client, experiment, card, key)
    run = next((run for run in same if run.data.tags.get("logged") == content), None)
    delete_unfinished(client, [other for other in same if other is not run], stage.root)
    lost = run is not None and is_lost(run.info.artifact_uri)
    if run is None:
        run_id = _write(client, experiment, stage).info.run_id
        client.set_tag(run_id, "logged", content)
        run = client.get_run(run_id)
    elif lost:
        _log_files(client, run.info.run_id, stage)
    if notes.NOTE not in run.data.tags:
        client.set_tag(run.info.run_id, notes.NOTE, notes.run_note(card))
    current = run.data.tags.get(RESULT) == CURRENT
    if lost or not current:
        models.register(client, run, stage)
    if not current:
        for other in find(client, experiment, card, stage_of(card) | {RESULT: CURRENT}):
            _mark(client, other, FORMER)
        _mark(client, run, CURRENT)
    name_runs(client, experiment, card)
    return run.info.run_id


def _mark(client, run, result: str) -> None:
    """Say of a run and its cells what they are; of the run itself last, so that what is interrupted is done again."""
    for each in [*cells.cells_of(client, run), run]:
        if each.data.tags.get(RESULT) != result:
            client.set_tag(each.info.run_id, RESULT, result)


def stage_of(card: Card) -> dict[str, str]:
    """The tags that all runs of a stage share."""
    return {"group": card["group"], "name": card["name"]}


def name_runs(client, experiment: str, card: Card) -> None:
    """Give the runs of a stage names that tell them apart, as far as they have others."""
    found = find(client, experiment, card, stage_of(card))
    former = {run.info.run_id for run in found if run.data.tags.get(RESULT) == FORMER}
    for run, name in zip(found, names.run_names(card, found, former).values(), strict=True):
        if name != run.info.run_name:
            client.update_run(run.info.run_id, name=name)


def _write(client, experiment: str, stage: Stage):
    """A new run with everything of the stage but its models: parameters, lineage, metrics and files."""
    timing = record.timing(stage)
    start = int(timing["started"] * 1000) if "started" in timing else BASE_TIME
    run = create_run(client, experiment, stage.card, stage.root, timing, start)
    run_id = run.info.run_id
    log(client, run_id, record.points(stage), record.parameters(stage))
    if not stage.is_report:
        _log_inputs(client, run_id, stage.card["inputs"])
    _log_files(client, run_id, stage)
    shared = {"study": stage.card["study"], RESULT: CURRENT} | experiment_of(stage.card)
    cells.log_cells(client, run, stage, shared, start)
    client.set_terminated(run_id, "FINISHED", start + int(timing.get("seconds", 0) * 1000))
    return run


def _log_files(client, run_id: str, stage: Stage) -> None:
    for path, folder in record.artifacts(stage):
        client.log_artifact(run_id, str(path), folder or None)
    if (grid := stage.table("grid")) is not None:
        client.log_text(run_id, grid.to_csv(index=False), "grid.csv")  # MLflow's pages show it as a table


def _log_inputs(client, run_id: str, inputs: dict[str, str]) -> None:
    """Record the digest of every input, without a copy; MLflow holds the first 36 digits as the digest."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    datasets = [
        DatasetInput(Dataset(path, sha256[:36], "local", json.dumps({"uri": path})), [InputTag("sha256", sha256)])
        for path, sha256 in inputs.items()
    ]
    if datasets:
        client.log_inputs(run_id, datasets)


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


def find(client, experiment: str, card: Card, tags: dict[str, str]) -> list:
    """The runs that carry tags, newest first; those of temporary experiments and the project's are apart."""
    condition = " and ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
    runs = client.search_runs([experiment], condition)
    return [run for run in runs if experiment_of(run.data.tags) == experiment_of(card)]


def delete_unfinished(client, runs: list, root: Path) -> None:
    """Delete what live logging or an interruption left in this clone; another's may be a training that goes on."""
    own = clone(root).get(CLONE)
    tags = [(run, run.data.tags) for run in runs]
    _delete(client, [run for run, told in tags if told.get(RESULT) == UNFINISHED and told.get(CLONE) == own])


def _delete(client, runs: list) -> None:
    """Delete runs and their cells."""
    for run in runs:
        for each in [*cells.cells_of(client, run), run]:
            client.delete_run(each.info.run_id)


def create_run(
    client, experiment: str, card: Card, root: Path, timing: dict[str, Any] | None = None, start: int | None = None
):
    """A new run under the stage's key; start in ms, None for now."""
    tags = record.tags(card, timing or {}) | {RESULT: UNFINISHED} | clone(root)
    return client.create_run(experiment, start_time=start, tags=tags, run_name=names.stage_name(card))


def log(client, run_id: str, points: Points, parameters: Mapping[str, str] | None = None) -> None:
    """Log metrics and parameters in batches; a point that is there already changes nothing."""
    from mlflow.entities import Metric, Param

    metrics = [Metric(name, value, BASE_TIME + STEP_TIME * step, step) for (name, step), value in points.items()]
    params = [Param(name, value) for name, value in (parameters or {}).items()]
    for start in range(0, len(metrics), METRICS_PER_BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + METRICS_PER_BATCH])
    for start in range(0, len(params), PARAMETERS_PER_BATCH):
        client.log_batch(run_id, params=params[start : start + PARAMETERS_PER_BATCH])
