"""A session on the MLflow store: one process at a time, each in its turn."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from costtogo.tracking import database, faults
from costtogo.tracking.place import (
    artifacts_folder,
    database_path,
    enabled,
    own_database,
    store_uri,
)

LOCK_SECONDS = 60.0  # longest wait for the one process that is recording
QUEUE_SECONDS = 600.0  # longest wait for the turns of others
POLL_SECONDS = 0.01
SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_UV_AUTO_DETECT": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}


def prepare_store(root: Path) -> None:
    """Create or migrate the store, once, before processes that use it start together."""
    if enabled():
        with session(root):
            pass


@contextmanager
def session(root: Path) -> Iterator:
    """An MlflowClient on the store, held by this process alone: find-then-create steps stay atomic.

    Raises StoreError where the store cannot be had.
    """
    uri = store_uri(root)
    with ExitStack() as held:
        with faults.opening(uri):
            _load(uri)
            path = database_path(uri) or own_database(root)
            path.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(_turn(path, uri))
            client = _client(uri, root)
        yield client


@contextmanager
def _turn(path: Path, uri: str) -> Iterator[None]:
    """Hold the store's lock. Those who wait queue for it, and only the first of them looks whether it is free:
    a process that records stage after stage would else have it again before any other looks.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(f"{path}.lock", timeout=LOCK_SECONDS, poll_interval=POLL_SECONDS)
    try:
        with FileLock(f"{path}.queue", timeout=QUEUE_SECONDS):
            lock.acquire()
    except Timeout as error:
        raise faults.StoreError(faults.busy(uri)) from error
    try:
        yield
    finally:
        lock.release()


def _load(uri: str) -> None:
    """Ask a server for an answer and import MLflow: both can take seconds, for which nobody else need wait."""
    os.environ.update({name: value for name, value in SETTINGS.items() if name not in os.environ})
    if database_path(uri):
        import mlflow.store.tracking.sqlalchemy_store
    else:
        faults.check_server(uri)
        import mlflow  # noqa: F401


def _client(uri: str, root: Path):
    """An MlflowClient on a store that exists and has the current schema."""
    path = database_path(uri)
    if path:
        _open_database(path, root)
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    logging.getLogger("mlflow").setLevel(logging.CRITICAL)
    try:
        return MlflowClient(uri, registry_uri=uri)
    except MlflowException as error:
        if "out-of-date" not in str(error):
            raise
    _migrate(uri)
    return MlflowClient(uri, registry_uri=uri)


def _open_database(path: Path, root: Path) -> None:
    """Make sure of a SQLite store that can be used where it lies now."""
    artifacts = artifacts_folder(root)
    if path.exists():
        database.check(path)
        if path.resolve() == own_database(root):
            database.bring_along(path, artifacts)
    if not path.exists():
        database.create(path, artifacts)
        database.check(path)


def _migrate(uri: str) -> None:
    """Bring a store made by an older MLflow to the current schema, as `mlflow db upgrade` does."""
    from mlflow.store.db.utils import _upgrade_db, create_sqlalchemy_engine_with_retry

    logging.getLogger("alembic").setLevel(logging.WARNING)
    _upgrade_db(create_sqlalchemy_engine_with_retry(uri))
