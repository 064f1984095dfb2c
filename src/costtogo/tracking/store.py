"""The MLflow store: where it lies, how it is made, and how its failures are told."""

import logging
import os
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlparse

from costtogo.types import UserError

LOCK_SECONDS = 60.0  # longest wait for another process that is recording
CONNECT_SECONDS = 3.0  # longest wait for a database server or a locked database to answer
DATABASE_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_UV_AUTO_DETECT": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}


class TrackingError(UserError):
    """A stage could not be recorded in MLflow."""


def enabled() -> bool:
    """False where the environment says COSTTOGO_TRACKING=off."""
    return os.environ.get("COSTTOGO_TRACKING", "").lower() != "off"


def store_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI where it is set, else the project's own SQLite store."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{Path(root).resolve() / 'mlflow.db'}"


def prepare_store(root: Path) -> None:
    """Create or migrate the store, once, before jobs that record in it start together."""
    if enabled():
        with one_sentence("The MLflow store"), session(root):
            pass


@contextmanager
def session(root: Path) -> Iterator:
    """An MlflowClient on the store, held by this process alone: find-then-create steps stay atomic."""
    from filelock import FileLock

    uri = store_uri(root)
    database = _database_path(uri)
    folder = database.parent if database else Path(root)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{database.name if database else 'mlflow.db'}.lock", timeout=LOCK_SECONDS):
        yield _client(uri, database, Path(root))


@contextmanager
def one_sentence(subject: str) -> Iterator[None]:
    """Turn any failure into a TrackingError of one sentence."""
    try:
        yield
    except UserError as error:
        raise TrackingError(str(error)) from error
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0][:200].rstrip(". ")
        raise TrackingError(
            f"{subject} could not be recorded in MLflow ({type(error).__name__}: {reason}); "
            "check MLFLOW_TRACKING_URI, or move mlflow.db away and run `costtogo track` to rebuild it."
        ) from error


@contextmanager
def best_effort(subject: str) -> Iterator[None]:
    """Turn any failure into one warning on stderr: a stage never fails for want of a store."""
    try:
        with one_sentence(subject):
            yield
    except TrackingError as error:
        print(f"Warning: {error}", file=sys.stderr)


def artifact_location(root: Path, experiment: str) -> str | None:
    """Where the experiment's artifacts go: below root/mlruns, or where a tracking server puts them."""
    if urlparse(store_uri(root)).scheme in ("http", "https"):
        return None
    return (Path(root).resolve() / "mlruns" / experiment).as_uri()


def _database_path(uri: str) -> Path | None:
    return Path(uri.removeprefix("sqlite:///")) if uri.startswith("sqlite:///") else None


def _client(uri: str, database: Path | None, root: Path):
    """An MlflowClient on a store that exists, answers and has the current schema."""
    os.environ.update({name: value for name, value in SETTINGS.items() if name not in os.environ})
    if database:
        if not database.exists():
            _create_database(database, root)
        _check_database(database)
    else:
        _check_server(uri)
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


def _create_database(database: Path, root: Path) -> None:
    """Make the store under a temporary name, so that an interrupted creation leaves nothing behind."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    logging.getLogger("mlflow").setLevel(logging.CRITICAL)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix=".mlflow-", dir=database.parent) as folder:
        temporary = Path(folder) / database.name
        store = SqlAlchemyStore(f"sqlite:///{temporary}", str(root.resolve() / "mlruns"))
        store.engine.dispose()
        os.replace(temporary, database)


def _check_database(database: Path) -> None:
    """Fail at once on a damaged or locked file, where MLflow would retry for minutes.

    Write-ahead logging lets the MLflow pages be read while stages write.
    """
    with closing(sqlite3.connect(database, timeout=CONNECT_SECONDS)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _check_server(uri: str) -> None:
    """Fail within seconds where a database server does not answer; HTTP has its own time limit."""
    address = urlparse(uri)
    port = address.port or DATABASE_PORTS.get(address.scheme.split("+")[0])
    if address.hostname and port and not address.scheme.startswith("http"):
        socket.create_connection((address.hostname, port), timeout=CONNECT_SECONDS).close()


def _migrate(uri: str) -> None:
    """Bring a store made by an older MLflow to the current schema, as `mlflow db upgrade` does."""
    from mlflow.store.db.utils import _upgrade_db, create_sqlalchemy_engine_with_retry

    logging.getLogger("alembic").setLevel(logging.WARNING)
    _upgrade_db(create_sqlalchemy_engine_with_retry(uri))
