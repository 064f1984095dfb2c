"""A session on the MLflow store: one process at a time, each in its turn."""

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
from costtogo.tracking.faults import StoreError, best_effort, one_sentence
from costtogo.tracking.place import (
    ARTIFACTS,
    CLONE,
    clone,
    database_path,
    enabled,
    is_server,
    own_database,
    shown,
    store_root,
    store_uri,
)

LOCK_SECONDS = 300.0  # longest wait for the one process that is recording; a server may be slow
QUEUE_SECONDS = 600.0  # longest wait for the turns of others
POLL_SECONDS = 0.01
TURN = "costtogo.turn"  # registered model that is there while a clone records on a server
EXISTS, ENDED = "RESOURCE_ALREADY_EXISTS", "RESOURCE_DOES_NOT_EXIST"  # what MLflow says of it
HELD_SECONDS = 120.0  # after which the turn of another clone is over, for its process must have been killed
PAUSE = (0.05, 0.3)  # seconds until a clone asks again whether it is its turn
PLACES = "SELECT artifact_location FROM experiments WHERE name LIKE 'costtogo/%' AND artifact_location LIKE 'file:%'"
SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_UV_AUTO_DETECT": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}


def prepare_store(root: Path) -> None:
    """Create the store, once, before processes that use it start together."""
    if enabled():
        with one_sentence("anything", root), session(root):
            pass


def begin_run(root: Path) -> None:
    """Look at the store before a run of the workflow, so that one of no use is told once and not by each stage."""
    if enabled():
        with best_effort("anything", root):
            _look(store_uri(root), root)


@contextmanager
def session(root: Path) -> Iterator:
    """An MlflowClient on the store, held by this process alone: find-then-create steps stay atomic."""
    uri = store_uri(root)
    path = database_path(uri)
    os.environ.update({name: value for name, value in SETTINGS.items() if name not in os.environ})
    from mlflow import MlflowClient

    logging.getLogger("mlflow").setLevel(logging.CRITICAL)  # its exceptions say all
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with _turn(path or own_database(root), uri):
        if path is not None and not path.exists():
            _create(path)
        _look(uri, root)
        client = MlflowClient(uri, registry_uri=uri)
        with _turn_of_clone(client, clone(root)) if is_server(uri) else nullcontext():
            yield client


@contextmanager
def _turn(path: Path, uri: str) -> Iterator[None]:
    """Hold the store's lock.

    Those who wait queue for it, and only the first of them looks whether it is free: a process that records stage after
    stage would else have it again before any other looks.
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
    """Hold a server that clones on several machines share; own: the tag of this one.

    The lock is an empty registered model, for of each name there is one at most. One that this clone has left there,
    killed, is its own; that of another clone is taken away after HELD_SECONDS without a change.
    """
    from mlflow.exceptions import MlflowException, RestException

    seen, since, begun = "", time.monotonic(), time.monotonic()
    while (holder := _take_turn(client, own)) not in (None, own[CLONE]):
        now = time.monotonic()
        if holder != seen:
            seen, since = holder, now
        elif now - since > HELD_SECONDS:
            with suppress(RestException):  # another clone has seen it, too
                client.delete_registered_model(TURN)
        if now - begun > QUEUE_SECONDS:
            raise StoreError(faults.BUSY.format(shown(client.tracking_uri)))
        time.sleep(random.uniform(*PAUSE))
    try:
        yield
    finally:
        with suppress(MlflowException):  # the server is gone: what this clone leaves there is its own
            client.delete_registered_model(TURN)


def _take_turn(client, own: dict[str, str]) -> str | None:
    """Take a server's lock; returns who holds it already, None where nobody did."""
    from mlflow.exceptions import RestException

    try:
        client.create_registered_model(TURN, own)
        return None
    except RestException as error:
        if error.error_code not in (EXISTS, ENDED):  # MLflow looks for the other's, too, which may just have gone
            raise
    try:
        return client.get_registered_model(TURN).tags.get(CLONE, "")
    except RestException as error:
        if error.error_code != ENDED:
            raise
        return ""


def _create(database: Path) -> None:
    """Make a SQLite store under a temporary name, so that an interrupted creation leaves nothing behind.

    The log of a store that was deleted would be read as this one's: it goes first.
    """
    from mlflow import MlflowClient

    with tempfile.TemporaryDirectory(prefix=".mlflow-", dir=database.parent) as folder:
        temporary = Path(folder) / database.name
        MlflowClient(f"sqlite:///{temporary}")
        for kind in ("wal", "shm"):
            database.with_name(f"{database.name}-{kind}").unlink(missing_ok=True)
        os.replace(temporary, database)


def _look(uri: str, root: Path) -> None:
    """Find at once what is wrong with a store, for MLflow would try again for minutes; none there yet is right.

    Write-ahead logging lets pages be read while stages write.  sqlite3.Error for a damaged or locked store.
    """
    path = database_path(uri)
    if path is None and not faults.answers(uri):
        raise StoreError(faults.SILENT.format(shown(uri)))
    if path is None or not path.exists():
        return
    with closing(sqlite3.connect(path, timeout=faults.WAIT_SECONDS)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        places = [place for (place,) in connection.execute(PLACES)] if "experiments" in tables else []
    _refuse_others(path, places, root)


def _refuse_others(path: Path, places: list[str], root: Path) -> None:
    """UserError where the project's own store was moved or copied from another folder; places: of its artifacts.

    MLflow keeps them as absolute addresses and has no way to change them, so that a copy would go on filling the
    folder that it came from.
    """
    folder = (store_root(root) / ARTIFACTS).as_uri()
    strange = [place for place in places if not place.startswith(f"{folder}/")]
    if strange and path.resolve() == own_database(root):
        other = unquote(urlsplit(strange[0]).path).rpartition(f"/{ARTIFACTS}/")[0]
        raise StoreError(faults.USELESS.format(path, f"belongs to the folder {other}, where its artifacts are"))
