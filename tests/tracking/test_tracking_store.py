"""The store itself: made, shared, moved, lost, and how its failures are told."""

import contextlib
import sqlite3
import subprocess
import sys
import time

import pytest
from synthetic_cards import all_runs, content, training_fields, write_table, write_training

from costtogo import tracking
from costtogo.files import digest, read_json, write_json

RECORD_TOGETHER = """
import multiprocessing, sys
from pathlib import Path
import mlflow.store.tracking.sqlalchemy_store, pandas
from costtogo import tracking

root, *cards = map(Path, sys.argv[1:])
context = multiprocessing.get_context("fork")
started = [context.Process(target=tracking.log_card, args=(card, root)) for card in cards]
for process in started:
    process.start()
for process in started:
    process.join()
sys.exit(any(process.exitcode for process in started))
"""  # MLflow is imported once, so that all processes reach the store at the same moment


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:9",
        "postgresql://user:secret@127.0.0.1:9/mlflow",
        "sqlite:////proc/none/mlflow.db",
        "odd",
    ],
)
def test_an_unreachable_store_is_one_warning_and_no_delay(root, monkeypatch, capfd, uri):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    start = time.monotonic()
    with tracking.LiveRun(root, training_fields()) as live:
        live.log([{"iteration": 1, "convergence_points": 0, "loss": 1.0}])
    tracking.log_stage(write_table(root), root, seconds=100)
    assert time.monotonic() - start < 10
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("Warning: ") and "secret" not in line for line in lines)


def test_a_store_that_fails_during_training_is_one_warning(root, monkeypatch, capfd):
    live = tracking.LiveRun(root, training_fields())
    (root / "mlflow.db").write_bytes(b"")
    for iteration in (1, 2, 3):
        live.log([{"iteration": iteration, "convergence_points": 0, "loss": 1.0}])
    live.close()
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Warning: ")


def test_stages_write_while_another_process_reads(root):
    path = write_table(root)
    with contextlib.closing(sqlite3.connect(root / "mlflow.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM runs").fetchone()
        assert tracking.log_card(path, root)


def test_a_store_of_an_older_mlflow_is_migrated(root, monkeypatch):
    from alembic import command
    from alembic.script import ScriptDirectory
    from mlflow.store.db import utils

    uri = f"sqlite:///{root / 'older.db'}"
    configuration = utils._get_alembic_config(uri)
    newest, older, *_ = (step.revision for step in ScriptDirectory.from_config(configuration).walk_revisions())
    engine = utils.create_sqlalchemy_engine(uri)
    utils.InitialBase.metadata.create_all(engine)
    with engine.begin() as configuration.attributes["connection"]:
        command.upgrade(configuration, older)
    (root / "older.db").replace(root / "mlflow.db")
    # MLflow itself migrates where the newest schema adds a table, and refuses where it adds columns only.
    monkeypatch.setattr(utils, "_all_tables_exist", lambda engine: True)
    tracking.log_card(write_table(root), root)
    engine = utils.create_sqlalchemy_engine(tracking.store_uri(root))
    assert utils._get_schema_version(engine) == newest
    assert len(all_runs(root)) == 1


def test_a_damaged_store_is_told_in_one_sentence(root):
    (root / "mlflow.db").write_text("not a database, but long enough to be read as the header of one" * 20)
    with pytest.raises(tracking.TrackingError, match="not a database") as error:
        tracking.track([write_table(root).parents[1]], root)
    assert "\n" not in str(error.value)


def test_processes_that_start_together_from_nothing_share_one_store(root):
    (root / "mlflow.db").unlink()
    write_training(root)
    table = write_table(root)
    cards = [table, root / "results/tiny/models/net.json"]
    for number in range(2):
        write_json(table.with_name(f"other_{number}.json"), read_json(table) | {"name": f"other_{number}"})
        cards.append(table.with_name(f"other_{number}.json"))
    arguments = [str(root), *map(str, cards * 2)]
    together = subprocess.run(
        [sys.executable, "-c", RECORD_TOGETHER, *arguments], check=False, capture_output=True, text=True
    )
    assert (together.returncode, together.stderr) == (0, "")
    assert len(all_runs(root)) == 4
    checkpoint = root / "results/tiny/models/net/checkpoints/000400.safetensors"
    assert set(content(root)["versions"]) == {(1, digest(checkpoint))}
