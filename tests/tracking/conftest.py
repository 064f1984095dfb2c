"""A project's folder with an empty store, and the content of a store that was filled from files."""

import os
import shutil
import subprocess
import sys

import pytest
from synthetic_cards import content, write_study

from costtogo import tracking


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """A database made once and copied by the tests, because making one takes a second."""
    root = tmp_path_factory.mktemp("store")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")}
    script = f"from pathlib import Path; from costtogo import tracking; tracking.ui_lines(Path({str(root)!r}))"
    subprocess.run([sys.executable, "-c", script], check=True, env=environment | {"COSTTOGO_TRACKING": ""})
    return root / "mlflow.db"


@pytest.fixture
def root(tmp_path, empty_store, monkeypatch):
    """A project folder with an empty store; nothing may be written outside it."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("COSTTOGO_TRACKING", "on")
    monkeypatch.chdir(tmp_path)
    shutil.copy(empty_store, tmp_path / "mlflow.db")
    return tmp_path


@pytest.fixture
def tracked(tracked_study, monkeypatch):
    """The folder of a tracked study, for reading: nothing may be recorded there."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("COSTTOGO_TRACKING", "on")
    monkeypatch.chdir(tracked_study)
    return tracked_study


@pytest.fixture(scope="session")
def recorded(tracked_study):
    """The content of a store that was filled only from a finished study's files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        return content(tracked_study)


@pytest.fixture(scope="session")
def tracked_study(tmp_path_factory, empty_store):
    """The folder of a finished study and the store that was filled from its files."""
    root = tmp_path_factory.mktemp("recorded")
    shutil.copy(empty_store, root / "mlflow.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setenv("COSTTOGO_TRACKING", "on")
        tracking.track([write_study(root)], root)
    return root
