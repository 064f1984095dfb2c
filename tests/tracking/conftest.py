"""A project's folder with an empty store, and what a store holds that was filled from files."""

import os
import shutil
import subprocess
import sys

import pytest
from synthetic_cards import content, write_study

from costtogo import tracking


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """A database made once and copied by the tests, for a creation takes a second."""
    root = tmp_path_factory.mktemp("store")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")}
    script = f"from pathlib import Path; from costtogo import tracking; tracking.prepare_store(Path({str(root)!r}))"
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


@pytest.fixture(scope="session")
def recorded(tmp_path_factory, empty_store):
    """What a store holds that was filled from a finished study's files alone."""
    root = tmp_path_factory.mktemp("recorded")
    shutil.copy(empty_store, root / "mlflow.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setenv("COSTTOGO_TRACKING", "on")
        tracking.track([write_study(root)], root)
        return content(root)
