"""Messages for failures: one sentence each, which says what is wrong with the store if that is the cause."""

import os
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from costtogo.tracking.location import AWAY, OFF, SWITCH, database_path, shown, store_uri
from costtogo.types import UserError

WAIT_SECONDS = 3.0  # longest wait for a locked database, and for a server to accept a connection
PORTS = {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "mssql": 1433}

BUSY = "The MLflow store {} is held by another process; once that has ended, run `costtogo track`."
VERSION = (
    "The MLflow store {} was not written by MLflow {}; install a newer MLflow if it wrote the store, "
    "else copy the store, run `mlflow db upgrade` on it, then `costtogo track`."
)
REFUSED = "The MLflow store {} did not take {} ({}); mend this, then run `costtogo track`."
SILENT = "The MLflow server {} does not answer; start it or correct MLFLOW_TRACKING_URI, then run `costtogo track`."
ABSENT = "MLflow is not installed, so nothing is recorded: pip install 'costtogo[workflow]', then run `costtogo track`."
USELESS = (
    "The MLflow store {0} {1}; move it away with {0.name}-wal and {0.name}-shm, then `costtogo track` rebuilds it."
)


class StoreError(UserError):
    """The store does not work, whatever is to be recorded."""


@contextmanager
def one_sentence(subject: str, root: Path) -> Iterator[None]:
    """Turn any failure into a UserError of one sentence, a StoreError where the store is the cause.

    subject: what should be recorded.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        uri = store_uri(root)
        reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}".replace(uri, shown(uri))
        if message := fault(uri, error):
            raise StoreError(message) from error
        raise UserError(REFUSED.format(shown(uri), subject, reason[:200].rstrip(". "))) from error


@contextmanager
def best_effort(subject: str, root: Path) -> Iterator[None]:
    """Turn any failure into one warning on stderr, and turn tracking off in this process and those that it starts.

    A stage never fails because of the store, and a run of the workflow warns once; the warning says how to record the
    stage later.
    """
    try:
        with one_sentence(subject, root):
            yield
    except UserError as error:
        print(f"Warning: {error}", file=sys.stderr)
        os.environ[SWITCH] = AWAY if isinstance(error, StoreError) else OFF


def fault(uri: str, error: Exception) -> str | None:
    """What is wrong with the store, and what to do about it; None if the store is sound."""
    if isinstance(error, ModuleNotFoundError) and error.name == "mlflow":
        return ABSENT
    path, text = database_path(uri), str(error)
    if "out-of-date database schema" in text:  # in MLflow's words
        return VERSION.format(shown(uri), version("mlflow"))
    if path is None:
        is_silent = "failed with exception" in text or not answers(uri)  # MLflow: no response
        return SILENT.format(shown(uri)) if is_silent else None
    if "database is locked" in text:
        return BUSY.format(shown(uri))
    damage = damage_of(path) if path.is_file() else None
    return USELESS.format(path, f"is damaged ({damage})") if damage else None


def answers(uri: str) -> bool:
    """False if no server accepts a connection at the address; MLflow itself would retry for minutes."""
    try:
        address = urlsplit(uri)
        if address.hostname and (port := address.port or PORTS.get(address.scheme.split("+")[0])):
            socket.create_connection((address.hostname, port), timeout=WAIT_SECONDS).close()
    except (OSError, ValueError) as error:
        return isinstance(error, ValueError)  # not a valid address: MLflow says so
    return True


def damage_of(database: Path) -> str | None:
    """What is wrong with the content of a SQLite file; None if it is sound or cannot be read."""
    try:
        with closing(sqlite3.connect(database, timeout=WAIT_SECONDS)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError:
        return None
    except sqlite3.DatabaseError as error:
        return str(error)
    return None if found == "ok" else found.splitlines()[-1]
