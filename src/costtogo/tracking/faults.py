"""How failures are told: one sentence each, which says what is wrong with the store where that is the cause."""

import os
import re
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from costtogo.tracking.place import AWAY, OFF, SWITCH, database_path, shown, store_uri
from costtogo.types import UserError

WAIT_SECONDS = 3.0  # longest wait for a locked database, and for a server to take a call
PORTS = {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "mssql": 1433}

BUSY = "The MLflow store {} is held by another process; once that has ended, run `costtogo track`."
OLDER = "The MLflow store {} is of an older MLflow; copy it, run `mlflow db upgrade` on it, then `costtogo track`."
NEWER = "The MLflow store {} is of a newer MLflow than {}; install that one, or set another MLFLOW_TRACKING_URI."
REFUSED = "The MLflow store {} did not take {} ({}); mend this, then run `costtogo track`."
SILENT = "The MLflow server {} does not answer; start it or correct MLFLOW_TRACKING_URI, then run `costtogo track`."
USELESS = (
    "The MLflow store {0} {1}; move it away with {0.name}-wal and {0.name}-shm, then `costtogo track` rebuilds it."
)


class StoreError(UserError):
    """The store itself is of no use, whatever is to be recorded."""


@contextmanager
def one_sentence(subject: str, root: Path) -> Iterator[None]:
    """Turn any failure into a UserError of one sentence, a StoreError where the store is the cause.

    subject: what was to be recorded.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        uri = store_uri(root)
        reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}".replace(uri, shown(uri))
        if told := fault(uri, error):
            raise StoreError(told) from error
        raise UserError(REFUSED.format(shown(uri), subject, reason[:200].rstrip(". "))) from error


@contextmanager
def best_effort(subject: str, root: Path) -> Iterator[None]:
    """Turn any failure into one warning on stderr, and tracking off in this process and those that it starts.

    A stage never fails for want of a store, and a run of the workflow says once what is wrong; the sentence says how
    it is recorded later.
    """
    try:
        with one_sentence(subject, root):
            yield
    except UserError as error:
        print(f"Warning: {error}", file=sys.stderr)
        os.environ[SWITCH] = AWAY if isinstance(error, StoreError) else OFF


def fault(uri: str, error: Exception) -> str | None:
    """What is wrong with the store, and what to do about it; None where it is sound and the error of another kind."""
    path, text = database_path(uri), str(error)
    if "out-of-date database schema" in text:  # in MLflow's words
        return NEWER.format(shown(uri), version("mlflow")) if _is_newer(text) else OLDER.format(shown(uri))
    if path is None:
        is_silent = "failed with exception" in text or not answers(uri)  # MLflow's, of a request without an answer
        return SILENT.format(shown(uri)) if is_silent else None
    if "database is locked" in text:
        return BUSY.format(shown(uri))
    damage = damage_of(path) if path.is_file() else None
    return USELESS.format(path, f"is damaged ({damage})") if damage else None


def _is_newer(text: str) -> bool:
    """Whether this MLflow knows no revision of the name that a store has, in MLflow's words."""
    found, migrations = re.search(r"found version (\w+)", text), files("mlflow") / "store/db_migrations/versions"
    known = {file.name.partition("_")[0] for file in migrations.iterdir()}
    return found is not None and found[1] not in known


def answers(uri: str) -> bool:
    """False where nobody takes a call at a server's address, for MLflow would try again for minutes."""
    try:
        address = urlsplit(uri)
        if address.hostname and (port := address.port or PORTS.get(address.scheme.split("+")[0])):
            socket.create_connection((address.hostname, port), timeout=WAIT_SECONDS).close()
    except (OSError, ValueError) as error:
        return isinstance(error, ValueError)  # which is no address: MLflow says so
    return True


def damage_of(database: Path) -> str | None:
    """What is wrong with the content of a SQLite file; None where it is sound, or out of reach."""
    try:
        with closing(sqlite3.connect(database, timeout=WAIT_SECONDS)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError:
        return None
    except sqlite3.DatabaseError as error:
        return str(error)
    return None if found == "ok" else found.splitlines()[-1]
