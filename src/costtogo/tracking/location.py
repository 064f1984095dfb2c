"""Where the records of a project go: its store, its artifacts, the tags of its clone, the address of the UI."""

import os
import re
import uuid
from pathlib import Path
from urllib.parse import unquote, urlsplit

from costtogo.files import write_text

SWITCH = "COSTTOGO_TRACKING"  # environment variable
OFF, AWAY = "off", "away"  # away: the store failed, and the next run records finished stages
PORT = "MLFLOW_PORT"  # environment variable: where `make ui` opens the UI
TEMPORARY = ".dvc/tmp/exps"  # `dvc exp run --temp` and `dvc queue start` copy the project to a folder below it
STANDALONE = "standalone"  # the folder in it for the copies of --temp
COPY = re.compile(rf"(?P<project>.+?)/{re.escape(TEMPORARY)}/(?:{STANDALONE}/)?(?P<name>[^/]+)")
PREFIX = "costtogo/"  # of the names of experiments; then the study
ARTIFACTS = "mlruns"  # the folder of the artifacts, next to the project's own store
EXPERIMENT = "dvc_experiment"  # tag of the runs of such a copy
CLONE = "clone"  # tag of the runs on a server: the clone of the project that recorded them
CLONE_FILE = ".mlflow-clone"  # holds the value of that tag


def enabled() -> bool:
    """False if COSTTOGO_TRACKING is off, or if the store has failed."""
    return os.environ.get(SWITCH, "").lower() not in (OFF, AWAY)


def is_away() -> bool:
    """True if the store has failed in this process or in the one that started it."""
    return os.environ.get(SWITCH) == AWAY


def store_root(root: Path) -> Path:
    """The project that keeps the records of a folder: the folder itself, or the origin of a temporary copy by DVC.

    DVC deletes the copy when its experiment ends, so the records are kept where it was copied from.
    """
    copy = COPY.match(str(Path(root).resolve()))
    return Path(copy["project"]) if copy else Path(root).resolve()


def temporary_experiment(root: Path) -> str | None:
    """The name of the DVC experiment that a temporary copy was made for, else its folder's; None for a project."""
    copy = COPY.match(str(Path(root).resolve()))
    return (os.environ.get("DVC_EXP_NAME") or copy["name"]) if copy else None


def store_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI if it is set, else the project's own SQLite store."""
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
    """The address of a study's artifacts below mlruns; None on a tracking server, which chooses one itself."""
    return None if is_server(store_uri(root)) else (store_root(root) / ARTIFACTS / study).as_uri()


def is_lost(address: str) -> bool:
    """True for the address of a local folder that no longer exists."""
    location = urlsplit(address)
    return location.scheme in ("", "file") and not Path(unquote(location.path)).exists()


def clone(root: Path) -> dict[str, str]:
    """The tag that separates this clone's runs on a server from those of other clones; empty for a local store.

    Its value is drawn once and kept in a file: the nodes of a cluster share a folder but not a host name.
    """
    if not is_server(store_uri(root)):
        return {}
    path = store_root(root) / CLONE_FILE
    if not path.exists():
        write_text(path, uuid.uuid4().hex)
    return {CLONE: path.read_text(encoding="utf-8")}


def shown(uri: str) -> str:
    """The name of a store in messages: its file, or its server without a password."""
    address = urlsplit(uri)
    server = f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path.rstrip('/')}"
    return str(database_path(uri) or (server if address.netloc else uri))


def ui_address(root: Path) -> str:
    """The address of MLflow's UI: that of the tracking server, else of the UI that `make ui` starts."""
    uri = store_uri(root)
    return shown(uri) if is_server(uri) else f"http://127.0.0.1:{os.environ.get(PORT) or 5000}"
