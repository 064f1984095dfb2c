"""The project's SQLite store as a file: made, checked, and brought along when the project moves."""

import logging
import os
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

LOCKED_SECONDS = 3.0  # longest wait for a locked database
LOCATIONS = (  # columns that hold absolute locations of artifacts
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
)
OURS = "SELECT artifact_location FROM experiments WHERE name = 'Default' OR name LIKE 'costtogo/%'"


def create(database: Path, artifacts: Path) -> None:
    """Make the store under a temporary name, so that an interrupted creation leaves nothing behind.

    The log of a store that was deleted would be read as this one's: it goes first.
    """
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    logging.getLogger("mlflow").setLevel(logging.CRITICAL)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix=".mlflow-", dir=database.parent) as folder:
        temporary = Path(folder) / database.name
        store = SqlAlchemyStore(f"sqlite:///{temporary}", str(artifacts))
        store.engine.dispose()
        for log in logs(database):
            log.unlink(missing_ok=True)
        os.replace(temporary, database)


def logs(database: Path) -> list[Path]:
    """The write-ahead log of a database and the index of it, which belong to the file beside them."""
    return [database.with_name(f"{database.name}-{kind}") for kind in ("wal", "shm")]


def check(database: Path) -> None:
    """Fail at once on a damaged or locked file, where MLflow would retry for minutes; raises sqlite3.Error.

    Write-ahead logging lets the MLflow pages be read while stages write.
    """
    with closing(sqlite3.connect(database, timeout=LOCKED_SECONDS)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def damage(database: Path) -> str | None:
    """What is wrong with the file's content; None where it is sound, or out of reach."""
    try:
        with closing(sqlite3.connect(database, timeout=LOCKED_SECONDS)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError:
        return None
    except sqlite3.DatabaseError as error:
        return str(error)
    return None if found == "ok" else found.splitlines()[-1]


def bring_along(database: Path, artifacts: Path) -> None:
    """Keep a store that was moved or copied with its project from writing to the old place, and say so.

    MLflow stores absolute locations: they are rewritten to the artifacts' folder, in one transaction. Where the
    artifacts of its runs were left behind, the store is renamed, for those runs are no longer whole.
    """
    with closing(sqlite3.connect(database, timeout=LOCKED_SECONDS)) as connection:
        former = former_folders(connection, artifacts)
        if not former:
            return
        has_runs = connection.execute("SELECT EXISTS (SELECT * FROM runs)").fetchone()[0]
        if has_runs and not artifacts.is_dir():
            _rename(connection, database)
            return
        with connection:
            for folder in former:
                _rewrite(connection, folder, artifacts)
    if has_runs:
        _say(f"The MLflow store came from {former[0].parent}: its artifacts are in {artifacts} from now on.")


def former_folders(connection: sqlite3.Connection, artifacts: Path) -> list[Path]:
    """Other folders named as the artifacts' that experiments of this workflow have theirs in."""
    if not _columns(connection, "experiments"):
        return []
    folders = {_path(location or "").parent for (location,) in connection.execute(OURS)}
    named = {folder for folder in folders if folder.is_absolute() and folder.name == artifacts.name}
    return sorted(named - {artifacts})


def _path(location: str) -> Path:
    """The path of a location, absolute where it is plain or the address of a file."""
    return Path(unquote(location.removeprefix("file://")) if location.startswith("file://") else location)


def _rewrite(connection: sqlite3.Connection, former: Path, folder: Path) -> None:
    """Replace a folder, plain or as an address, where a location begins with it."""
    pairs = [(f"{former}/", f"{folder}/"), (f"{former.as_uri()}/", f"{folder.as_uri()}/")]
    for table, column in LOCATIONS:
        for old, new in pairs if column in _columns(connection, table) else []:
            connection.execute(
                f"UPDATE {table} SET {column} = ? || substr({column}, ?) WHERE substr({column}, 1, ?) = ?",
                (new, len(old) + 1, len(old), old),
            )


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a table; none where an older MLflow has no such table."""
    return {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _rename(connection: sqlite3.Connection, database: Path) -> None:
    """Set a store aside, with what its log holds."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    aside = database.with_name(f"{database.name}.moved-{int(time.time())}")
    os.replace(database, aside)
    _say(
        f"The MLflow store came without its artifacts and is now {aside.name}; "
        "run `costtogo track` to record the finished stages anew."
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
