"""Where the records of a project go: its store, its artifacts, and the experiment they belong to."""

import os
import re
import uuid
from pathlib import Path
from urllib.parse import unquote, urlsplit

from costtogo.files import write_text

SWITCH = "COSTTOGO_TRACKING"  # off turns recording off
OFF, AWAY = "off", "away"  # away: the store failed; finished stages are recorded by the next run
TEMPORARY = ".dvc/tmp/exps"  # below it `dvc exp run --temp` and `dvc queue start` make copies of the project
ARTIFACTS = "mlruns"  # the folder of the artifacts beside the project's own store
STANDALONE = "standalone"  # the folder in it of those that --temp makes
COPY = re.compile(rf"(?P<project>.+?)/{re.escape(TEMPORARY)}/(?:{STANDALONE}/)?(?P<name>[^/]+)")
EXPERIMENT = "dvc_experiment"  # tag of the runs of such a copy
CLONE = "clone"  # tag of the runs on a server: which clone of the project recorded them
CLONE_FILE = ".mlflow-clone"  # the value of that tag


def enabled() -> bool:
    """False where the environment says COSTTOGO_TRACKING=off, or where the store was found to be of no use."""
    return os.environ.get(SWITCH, "").lower() not in (OFF, AWAY)


def is_away() -> bool:
    """True where the store was found to be of no use, in this process or in the one that started it."""
    return os.environ.get(SWITCH) == AWAY


def store_root(root: Path) -> Path:
    """The project that keeps the records of a folder: the folder itself, or for a temporary copy by DVC its origin.

    <project>/.dvc/tmp/exps/standalone/<name> -> <project>: DVC deletes the copy when its experiment ends.
    """
    copy = COPY.match(str(Path(root).resolve()))
    return Path(copy["project"]) if copy else Path(root).resolve()


def temporary_experiment(root: Path) -> str | None:
    """The name of the experiment that a temporary copy by DVC was made for, else its folder; None for a project."""
    copy = COPY.match(str(Path(root).resolve()))
    return (os.environ.get("DVC_EXP_NAME") or copy["name"]) if copy else None


def store_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI where it is set, else the project's own SQLite store."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{own_database(root)}"


def own_database(root: Path) -> Path:
    """The project's own SQLite store."""
    return store_root(root) / "mlflow.db"


def database_path(uri: str) -> Path | None:
    """The file of a SQLite store; None for other stores."""
    return Path(uri.removeprefix("sqlite:///")) if uri.startswith("sqlite:///") else None


def is_server(uri: str) -> bool:
    """True for the address of a tracking server, which clones of the project on several machines may share."""
    return urlsplit(uri).scheme in ("http", "https")


def artifact_location(root: Path, study: str) -> str | None:
    """Where a study's artifacts go: below mlruns, or where a tracking server puts them."""
    return None if is_server(store_uri(root)) else (store_root(root) / ARTIFACTS / study).as_uri()


def is_lost(address: str) -> bool:
    """True of the address of a folder of this machine that is there no more."""
    place = urlsplit(address)
    return place.scheme in ("", "file") and not Path(unquote(place.path)).exists()


def clone(root: Path) -> dict[str, str]:
    """The tag by which a server's runs of this clone are told from those of others; none in the project's own store.

    It is drawn once and kept in a file, for the nodes of a cluster share a folder and differ in their names.
    """
    if not is_server(store_uri(root)):
        return {}
    path = store_root(root) / CLONE_FILE
    if not path.exists():
        write_text(path, uuid.uuid4().hex)
    return {CLONE: path.read_text(encoding="utf-8")}


def shown(uri: str) -> str:
    """A store as messages name it: its file, or its server without a password."""
    address = urlsplit(uri)
    server = f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path.rstrip('/')}"
    return str(database_path(uri) or (server if address.netloc else uri))
