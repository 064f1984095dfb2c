"""A session on the MLflow store: one process at a time, each in its turn."""

import logging
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from costtogo.tracking import faults
from costtogo.tracking.faults import StoreError, best_effort, one_sentence
from costtogo.tracking.place import (
    ARTIFACTS,
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
TRIES, PAUSE = 5, (0.1, 1.0)  # of recording on a server that refuses it; seconds between them
Result = TypeVar("Result")
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
        yield MlflowClient(uri, registry_uri=uri)


def beside_others(client, record: Callable[[], Result]) -> Result:
    """Record something; on a server, where it refuses, do so again a few times.

    Another clone of the project may do the same there at this moment, whose lock is another.  What is recorded twice is
    found the second time, so that each try completes the one before.
    """
    from mlflow.exceptions import RestException

    for _ in range(TRIES - 1 if is_server(client.tracking_uri) else 0):
        try:
            return record()
        except RestException:
            time.sleep(random.uniform(*PAUSE))
    return record()


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
