"""A session on the MLflow store: one process at a time, in the order of their requests."""

import logging
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from costtogo.tracking import faults
from costtogo.tracking.faults import StoreError, best_effort
from costtogo.tracking.location import (
    ARTIFACTS,
    CLONE,
    PREFIX,
    clone,
    database_path,
    enabled,
    is_server,
    own_database,
    shown,
    store_root,
    store_uri,
)

LOCK_SECONDS = 300.0  # longest wait for the process that is recording; a server may be slow
QUEUE_SECONDS = 600.0  # longest wait for the turns of others
POLL_SECONDS = 0.01
TURN = "costtogo.turn"  # registered model that exists while a clone records on a server
EXISTS, ENDED = "RESOURCE_ALREADY_EXISTS", "RESOURCE_DOES_NOT_EXIST"  # MLflow's error codes for it
HELD_SECONDS = 120.0  # longest turn of another clone; after that its process must have been killed
PAUSE = (0.05, 0.3)  # seconds until a clone asks again for its turn
SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_UV_AUTO_DETECT": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}


def begin_run(root: Path) -> None:
    """Check the store before a run of the workflow, so that a broken one causes one warning and not one per stage."""
    if enabled():
        with best_effort("anything", root):
            _look(store_uri(root))


@contextmanager
def session(root: Path) -> Iterator:
    """An MlflowClient on the store, which only this process uses: find-then-create steps stay atomic."""
    uri = store_uri(root)
    path = database_path(uri)
    os.environ.update({name: value for name, value in SETTINGS.items() if name not in os.environ})
    from mlflow import MlflowClient

    logging.getLogger("mlflow").setLevel(logging.CRITICAL)  # its exceptions say it all
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with _turn(path or own_database(root), uri):
        if path is not None and not path.exists():
            _create(path)
        _look(uri)
        client = MlflowClient(uri, registry_uri=uri)
        if path is not None and path.resolve() == own_database(root):
            _refuse_others(client, root)
        with _turn_of_clone(client, clone(root)) if is_server(uri) else nullcontext():
            yield client


@contextmanager
def _turn(path: Path, uri: str) -> Iterator[None]:
    """Hold the store's lock.

    Waiting processes form a queue, and only the first checks whether the lock is free. Otherwise a process that records
    stage after stage would get it again before the others check.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{path}.lock", timeout=LOCK_SECONDS, poll_interval=POLL_SECONDS)
    try:
        with FileLock(f"{path}.queue", timeout=QUEUE_SECONDS):
            lock.acquire()
    except Timeout as error:
        raise StoreError(faults.BUSY.format(shown(uri))) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _turn_of_clone(client, own: dict[str, str]) -> Iterator[None]:
    """Hold a server that clones on several machines share; own: the tag of this clone.

    The lock is an empty registered model, because its name is unique. If a killed process of this clone left one, this
    process takes it over; that of another clone is deleted after HELD_SECONDS without a change.
    """
    from mlflow.exceptions import MlflowException, RestException

    seen, since, begun = "", time.monotonic(), time.monotonic()
    while (holder := _take_turn(client, own)) not in (None, own[CLONE]):
        now = time.monotonic()
        if holder != seen:
            seen, since = holder, now
        elif now - since > HELD_SECONDS:
            with suppress(RestException):  # another clone may have deleted it
                client.delete_registered_model(TURN)
        if now - begun > QUEUE_SECONDS:
            raise StoreError(faults.BUSY.format(shown(client.tracking_uri)))
        time.sleep(random.uniform(*PAUSE))
    try:
        yield
    finally:
        with suppress(MlflowException):  # the server is gone: this clone takes its lock over later
            client.delete_registered_model(TURN)


def _take_turn(client, own: dict[str, str]) -> str | None:
    """Take a server's lock, or return the clone that holds it; None if this process now has it."""
    from mlflow.exceptions import RestException

    try:
        client.create_registered_model(TURN, own)
        return None
    except RestException as error:
        if error.error_code not in (EXISTS, ENDED):  # ENDED: the other clone's lock vanished as MLflow looked it up
            raise
    held = client.search_registered_models(f"name = '{TURN}'")
    return held[0].tags.get(CLONE, "") if held else ""


def _create(database: Path) -> None:
    """Create a SQLite store under a temporary name, so that an interruption leaves no half store.

    The log of a deleted store is removed first, because SQLite would read it as the log of the new one.
    """
    from mlflow import MlflowClient

    with tempfile.TemporaryDirectory(prefix=".mlflow-", dir=database.parent) as folder:
        temporary = Path(folder) / database.name
        MlflowClient(f"sqlite:///{temporary}")
        for kind in ("wal", "shm"):
            database.with_name(f"{database.name}-{kind}").unlink(missing_ok=True)
        os.replace(temporary, database)


def _look(uri: str) -> None:
    """Find at once what is wrong with a store, because MLflow would retry for minutes; a store may be absent.

    Write-ahead logging lets the UI read while stages write.  sqlite3.Error for a damaged or locked store.
    """
    path = database_path(uri)
    if path is None and not faults.answers(uri):
        raise StoreError(faults.SILENT.format(shown(uri)))
    if path is None or not path.exists():
        return
    with closing(sqlite3.connect(path, timeout=faults.WAIT_SECONDS)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _refuse_others(client, root: Path) -> None:
    """StoreError if the project's own store was moved or copied from another folder.

    Addresses of artifacts are absolute, and MLflow has no way to change them: a copied store would write into the
    folder that it came from.
    """
    from mlflow.entities import ViewType

    own = (store_root(root) / ARTIFACTS).as_uri()
    experiments = client.search_experiments(ViewType.ALL, filter_string=f"name LIKE '{PREFIX}%'")
    folders = [experiment.artifact_location for experiment in experiments]
    strange = [folder for folder in folders if folder.startswith("file:") and not folder.startswith(f"{own}/")]
    if strange:
        other = unquote(urlsplit(strange[0]).path).rpartition(f"/{ARTIFACTS}/")[0]
        reason = f"belongs to the folder {other}, where its artifacts are"
        raise StoreError(faults.USELESS.format(own_database(root), reason))
