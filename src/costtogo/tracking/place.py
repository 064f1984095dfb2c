"""Where the records of a project go: its store, its artifacts, and the experiment they belong to."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

SWITCH = "COSTTOGO_TRACKING"  # off turns recording off
TEMPORARY = ".dvc/tmp/exps"  # below it `dvc exp run --temp` and `dvc queue start` make copies of the project
ARTIFACTS = "mlruns"  # the folder of the artifacts beside the project's own store
STANDALONE = "standalone"  # the folder in it of those that --temp makes
COPY = re.compile(rf"(?P<project>.+?)/{re.escape(TEMPORARY)}/(?:{STANDALONE}/)?(?P<name>[^/]+)")
EXPERIMENT = "dvc_experiment"  # tag of the runs of such a copy


def enabled() -> bool:
    """False where the environment says COSTTOGO_TRACKING=off."""
    return os.environ.get(SWITCH, "").lower() != "off"


def store_root(root: Path) -> Path:
    """The project that keeps the records of a folder: the folder itself, or for a temporary copy by DVC its origin.

    /project/.dvc/tmp/exps/standalone/tmp1a2b3c4d -> /project: DVC deletes the copy when its experiment ends.
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


def artifact_location(root: Path, study: str) -> str | None:
    """Where a study's artifacts go: below mlruns, or where a tracking server puts them."""
    is_server = urlsplit(store_uri(root)).scheme in ("http", "https")
    return None if is_server else (store_root(root) / ARTIFACTS / study).as_uri()


def shown(uri: str) -> str:
    """A store as messages name it: its file, or its server without a password."""
    address = urlsplit(uri)
    server = f"{address.scheme}://{address.netloc.rpartition('@')[2]}"
    return str(database_path(uri) or (server if address.netloc else uri))
