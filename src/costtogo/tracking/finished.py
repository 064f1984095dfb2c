"""Bring finished stages into MLflow: a stage's run is found by its key, written whole and never doubled."""

import gc
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

from costtogo.files import digest
from costtogo.tables.finished import card_of, cards_of, checked_key
from costtogo.tracking import models, nested, record, runs
from costtogo.tracking.faults import best_effort, one_sentence
from costtogo.tracking.location import PREFIX, clone, enabled, is_away, is_lost, is_server, ui_address
from costtogo.tracking.record import Stage, experiment_of
from costtogo.tracking.runs import CURRENT, FORMER, LOGGED, RESULT
from costtogo.tracking.store import session
from costtogo.types import UserError

WORTH_LOADING = 60.0  # seconds of a stage; loading MLflow takes a few more
SELDOM = 100_000  # new objects until a collection
WAITING = ".mlflow-waiting"  # folder with a file for each card to record, named like the card


def track(study_results: list[Path], root: Path) -> int:
    """Record every finished stage below the results folders of studies; returns the number of stages.

    Raises UserError if a folder holds no finished stage or one cannot be recorded.
    """
    from tqdm import tqdm

    if not enabled():
        raise UserError("Tracking is turned off; unset COSTTOGO_TRACKING to record finished stages.")
    cards = {Path(folder): cards_of(Path(folder)) for folder in study_results}
    for folder, paths in cards.items():
        missing = _missing(folder.name, paths, root)
        with tqdm(missing, unit="stage", initial=len(paths) - len(missing), total=len(paths)) as progress:
            for path in progress:
                progress.set_description(f"{path.parent.name} {path.stem}")
                _log_card(path, root)
        if missing:
            _missing(folder.name, paths, root)
    return sum(map(len, cards.values()))


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Few runs of the garbage collector, which take a quarter of the time where MLflow and many runs are loaded."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _missing(study: str, cards: list[Path], root: Path) -> list[Path]:
    """The cards of a study that have no whole, current run; gathers the seeds of the others."""
    with one_sentence(f"the study {study}", root), seldom_collected(), session(root) as client:
        found = runs.recorded(client, runs.experiment_id(client, study, root))
        nested.gather(client, found)
        own, served = experiment_of(record.placed({}, root)), is_server(client.tracking_uri)
    current = [run for run in found if run.data.tags.get(RESULT) == CURRENT and experiment_of(run.data.tags) == own]
    whole = {run.data.tags[LOGGED] for run in current if served or not is_lost(run.info.artifact_uri)}
    return [path for path in cards if digest(path) not in whole]


def open_run(key: str, results: Path, root: Path) -> str:
    """The address of the run that a report names by its key; a stage that is not in MLflow is recorded first.

    results: the folder of all studies' results.  UserError if no finished stage has the key.
    """
    if not enabled():
        raise UserError("Tracking is turned off; unset COSTTOGO_TRACKING to open the page of a run.")
    with one_sentence(f"the run {checked_key(key)}", root), session(root) as client:
        run = runs.find_by_key(client, key)
        if run is None:
            run = client.get_run(_record(client, record.read_stage(card_of(key, results), root)))
    return f"{ui_address(root)}/#/experiments/{run.info.experiment_id}/runs/{run.info.run_id}"


def ui_lines(root: Path) -> list[str]:
    """What to open in the UI, a line each: every study's runs, those of several seeds, networks; creates the store.

    MLflow takes a filter in an address, but no choice of columns.
    """
    address = ui_address(root)
    with one_sentence("anything", root), session(root) as client:
        studies = {each.name.removeprefix(PREFIX): each.experiment_id for each in runs.experiments(client)}
        condition = f"tags.stage = '{nested.SEEDS}'"
        several = [number for number in studies.values() if client.search_runs([number], condition, max_results=1)]
    lines = []
    for study, number in sorted(studies.items()):
        page = f"{address}/#/experiments/{number}/runs"
        lines += [f"{study}: {page}"]
        lines += [f"{study}, means over seeds: {page}?searchFilter={quote(condition)}"] if number in several else []
    return [*(lines or ["There is no run yet: run a study, or `costtogo track`."]), f"networks: {address}/#/models"]


def log_card(card_path: Path, root: Path) -> str | None:
    """Bring one finished stage into MLflow from its files; returns the run's id, None if tracking is off.

    A run that already holds this card only gets back files that were deleted. What live logging or an interruption left
    under its key is replaced. The run becomes the current result of its stage, and the one before it a former one.
    Raises UserError.
    """
    return _log_card(card_path, root, gather=True) if enabled() else None


def _log_card(card_path: Path, root: Path, gather: bool = False) -> str:
    """log_card; gather: also the seeds of its group, which takes longer the more there are."""
    with one_sentence(str(card_path), root), session(root) as client:
        stage = record.read_stage(Path(card_path), Path(root))
        run_id = _record(client, stage)
        if gather:
            experiment = runs.experiment_id(client, stage.card["study"], stage.root)
            nested.gather(client, runs.recorded(client, experiment, stage.card["group"]))
        return run_id


def log_stage(card_path: Path, root: Path, seconds: float) -> None:
    """log_card at the end of a stage that ran this long; a failure is one warning on stderr.

    MLflow takes seconds to load. The card of a short stage waits for the next stage that has loaded it, or for the end
    of the workflow: log_waiting. Every card waits while the store does not work.
    """
    if enabled() or is_away():
        folder = Path(root) / WAITING
        folder.mkdir(parents=True, exist_ok=True)
        (folder / quote(str(card_path), safe="")).touch()
        if enabled() and (seconds >= WORTH_LOADING or "mlflow" in sys.modules):
            log_waiting(root)


def log_waiting(root: Path) -> None:
    """log_card for each card that waits, up to the first failure, which is one warning on stderr.

    A card that cannot be recorded is dropped, unless the store is the cause.
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
    """Write or complete the run of a stage and make it the current one; returns its id."""
    card, content = stage.card, digest(stage.path)
    experiment = runs.experiment_id(client, card["study"], stage.root)
    same = runs.find(client, experiment, card, {"key": record.run_key(card)})
    run = next((run for run in same if run.data.tags.get(LOGGED) == content), None)
    runs.delete_unfinished(client, [other for other in same if other is not run], stage.root)
    lost = run is not None and not is_server(client.tracking_uri) and is_lost(run.info.artifact_uri)
    if run is None:
        run_id = _write(client, experiment, stage).info.run_id
        client.set_tag(run_id, LOGGED, content)
        run = client.get_run(run_id)
    elif lost:
        _log_files(client, run.info.run_id, stage)
    current = run.data.tags.get(RESULT) == CURRENT
    if lost or not current:
        models.register(client, run, stage)
    if not current:
        for other in runs.find(client, experiment, card, runs.stage_of(card) | {RESULT: CURRENT}):
            runs.mark(client, other, FORMER)
    runs.name_runs(client, experiment, card, run.info.run_id)
    if not current:
        runs.mark(client, run, CURRENT)
    return run.info.run_id


def _write(client, experiment: str, stage: Stage):
    """A new run with everything of the stage but its models: parameters, lineage, metrics and files."""
    card, timing, points = stage.card, record.timing(stage), record.points(stage)
    start = int(timing["started"] * 1000) if "started" in timing else runs.BASE_TIME
    tags = record.tags(card, timing) | {record.DESCRIPTION: record.description(card, points)} | clone(stage.root)
    run = runs.create_run(client, experiment, card, tags, start)
    run_id = run.info.run_id
    runs.log(client, run_id, points, record.parameters(stage))
    if not stage.is_report:
        _log_inputs(client, run_id, card["inputs"])
    _log_files(client, run_id, stage)
    shared = {"study": card["study"], RESULT: CURRENT} | experiment_of(card)
    nested.log_cells(client, run, stage, shared, start)
    client.set_terminated(run_id, "FINISHED", start + int(timing.get("seconds", 0) * 1000))
    return run


def _log_files(client, run_id: str, stage: Stage) -> None:
    for path, folder in record.artifacts(stage):
        client.log_artifact(run_id, str(path), folder or None)
    if (grid := stage.table("grid")) is not None:
        client.log_text(run_id, grid.to_csv(index=False), "grid.csv")  # MLflow's UI shows it as a table


def _log_inputs(client, run_id: str, inputs: dict[str, str]) -> None:
    """Record the digest of every input without a copy; MLflow keeps the first 36 digits as the digest."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    datasets = [
        DatasetInput(Dataset(path, sha256[:36], "local", json.dumps({"uri": path})), [InputTag("sha256", sha256)])
        for path, sha256 in inputs.items()
    ]
    if datasets:
        client.log_inputs(run_id, datasets)
