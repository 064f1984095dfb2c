"""The store itself: made, shared, moved, lost, and how its failures are told."""

import contextlib
import importlib.metadata
import itertools
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from filelock import FileLock, Timeout
from messages import is_one_sentence
from synthetic_cards import (
    all_runs,
    client_of,
    content,
    local_path,
    training_fields,
    write_study,
    write_table,
    write_training,
)

from costtogo import cli, tracking
from costtogo.files import digest, read_json, write_json
from costtogo.tracking import faults, location, store
from costtogo.types import UserError

EXPERIMENTS = "/".join(("tmp", "exps"))  # where DVC copies a project to, below .dvc
RECORD_TOGETHER = """
import multiprocessing, sys
from pathlib import Path
import mlflow, pandas
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


LEAVE_A_LOG = """
import os, sqlite3, sys

connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("CREATE TABLE of_the_old_log (text)")
connection.executemany("INSERT INTO of_the_old_log VALUES (?)", [("x" * 500,)] * 2000)
connection.commit()
os._exit(9)
"""
RECORD_A_CARD = """
import sys
from pathlib import Path
from costtogo import tracking

tracking.log_stage(Path(sys.argv[1]), Path.cwd(), seconds=100)
"""
FIRST_ROWS = [{"iteration": 1, "convergence_points": 0, "loss": 1.0}]


def texts(database: Path) -> str:
    """Everything in a database, as SQL."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return "\n".join(connection.iterdump())


def sentence_of(call, *arguments) -> str:
    """The error of a call, which must be one sentence."""
    with pytest.raises(UserError) as error:
        call(*arguments)
    assert is_one_sentence(str(error.value)), str(error.value)
    return str(error.value)


def error_of_module(command: str) -> str:
    """The error of a module's program, which must be one sentence; in a process of its own, as MLflow keeps stores."""
    done = subprocess.run([sys.executable, "-m", *command.split()], capture_output=True, text=True)
    told = done.stderr.splitlines()[-1].removeprefix("costtogo: ")
    assert done.returncode != 0 and is_one_sentence(told), done.stderr
    return told


def test_a_store_made_anew_takes_nothing_from_the_log_of_the_one_before(root, recorded):
    subprocess.run([sys.executable, "-c", LEAVE_A_LOG, root / "mlflow.db"], check=False)
    assert (root / "mlflow.db-wal").stat().st_size > 1_000_000
    (root / "mlflow.db").unlink()
    tracking.track([write_study(root)], root)
    with contextlib.closing(sqlite3.connect(root / "mlflow.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert "of_the_old_log" not in texts(root / "mlflow.db")
    assert content(root) == recorded


def test_who_records_stage_after_stage_lets_others_take_their_turn(tmp_path):
    """Each keeps its turn until another waits in the queue: that one has the next, however soon the first is back."""
    path, turns, recording = tmp_path / "mlflow.db", [], set("abcd")

    def another_waits() -> bool:
        queue = FileLock(f"{path}.queue")
        with contextlib.suppress(Timeout), queue.acquire(timeout=0):
            return False
        return True

    def record(name: str) -> None:
        for _ in range(12):
            with store._turn(path, "sqlite:///mlflow.db"):
                turns.append(name)
                for _ in range(2_000):
                    if recording == {name} or another_waits():
                        break
                    time.sleep(0.005)
                else:
                    raise AssertionError("nobody waits in the queue")
        recording.remove(name)

    with ThreadPoolExecutor() as together:
        list(together.map(record, "abcd"))
    assert all(one != other for one, other in itertools.pairwise(turns[:36])), "at the end one may be alone"


def test_a_store_that_came_with_a_copied_project_is_told_and_never_writes_to_the_original(root, recorded, monkeypatch):
    """MLflow keeps the absolute places of artifacts: the copy's would go on filling the original."""
    first, second = root / "first", root / "second"
    first.mkdir()
    shutil.copy(root / "mlflow.db", first)
    tracking.track([write_study(first)], first)
    shutil.copytree(first, second)
    before = {path: digest(path) for path in sorted(first.rglob("*")) if path.is_file()}
    monkeypatch.chdir(second)
    told, *others = map(error_of_module, ("costtogo track", "costtogo.tracking"))
    assert f"{second}/mlflow.db belongs to the folder {first}, where its artifacts are" in told
    assert [told] == others, "as the pages are opened"
    assert "move it away with mlflow.db-wal and mlflow.db-shm" in told
    for path in second.glob("mlflow.db*"):
        path.unlink()
    tracking.track([second / "results/tiny"], second)
    assert {path: digest(path) for path in sorted(first.rglob("*")) if path.is_file()} == before
    assert content(second) == recorded
    client = client_of(second)
    for run in all_runs(second):
        assert local_path(run.info.artifact_uri).is_relative_to(second)
    for version in client.search_model_versions("name = 'tiny.net'"):
        assert local_path(version.source).is_relative_to(second)


@pytest.mark.parametrize(
    ("folder", "project", "experiment"),
    [
        ("/a/b", "/a/b", None),
        (f"/a/.dvc/{EXPERIMENTS}/standalone/tmp1a2b3c4d", "/a", "tmp1a2b3c4d"),
        (f"/a/.dvc/{EXPERIMENTS}/tmp1a2b3c4d", "/a", "tmp1a2b3c4d"),
        (f"/a/b/.dvc/{EXPERIMENTS}/standalone/tmp1a2b3c4d/b", "/a/b", "tmp1a2b3c4d"),
        (f"/a/.dvc/{EXPERIMENTS}/tmp1/.dvc/{EXPERIMENTS}/standalone/tmp2", "/a", "tmp1"),
        ("/a/.dvc/other/tmp1a2b3c4d", "/a/.dvc/other/tmp1a2b3c4d", None),
        (f"/{EXPERIMENTS}/standalone/a", f"/{EXPERIMENTS}/standalone/a", None),
        (f"/a/.dvc/{EXPERIMENTS}", f"/a/.dvc/{EXPERIMENTS}", None),
    ],
)
def test_a_temporary_copy_by_dvc_records_in_its_project(folder, project, experiment, monkeypatch):
    monkeypatch.delenv("DVC_EXP_NAME", raising=False)
    assert location.store_root(Path(folder)) == Path(project)
    assert location.temporary_experiment(Path(folder)) == experiment
    monkeypatch.setenv("DVC_EXP_NAME", "dusty-moth")
    assert location.temporary_experiment(Path(folder)) == (experiment and "dusty-moth")


def test_the_names_of_temporary_copies_are_those_that_dvc_gives():
    from dvc.repo.experiments.queue import tempdir
    from dvc.repo.experiments.utils import EXEC_TMP_DIR

    assert location.TEMPORARY == f".dvc/tmp/{EXEC_TMP_DIR}"
    assert tempdir._STANDALONE_TMP_DIR == str(Path(EXEC_TMP_DIR, location.STANDALONE))


def test_a_temporary_experiment_is_recorded_beside_the_project_s_own_runs(root, recorded, monkeypatch):
    tracking.track([write_study(root)], root)
    best = client_of(root).get_model_version_by_alias("tiny.net", "best").version
    copy = root / f".dvc/{EXPERIMENTS}/standalone/tmp1a2b3c4d"
    copy.mkdir(parents=True)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("DVC_EXP_NAME", "dusty-moth")
    study = write_study(copy)
    write_training(copy, 0.01, weights="others")
    with tracking.LiveRun(copy, training_fields(0.01)) as live:
        live.log(FIRST_ROWS)
    tracking.track([study], copy)
    assert {path.name for path in copy.iterdir()} == {"results", "reports"}
    monkeypatch.chdir(root)
    shutil.rmtree(root / ".dvc")
    runs = content(root)["runs"]
    theirs = {key for key, run in runs.items() if run["tags"].get("dvc_experiment") == "dusty-moth"}
    assert {key: run for key, run in runs.items() if key not in theirs} == recorded["runs"]
    assert len(theirs) == len(recorded["runs"])
    assert {result for _, result, _ in theirs} == {"current"} and all(runs[key]["files"] for key in theirs)
    assert "train net (dusty-moth)" in {run.info.run_name for run in all_runs(root)}
    assert client_of(root).get_model_version_by_alias("tiny.net", "best").version == best
    tracking.track([root / "results/tiny"], root)
    assert content(root)["runs"] == runs


def test_a_project_that_takes_an_experiment_s_results_has_runs_of_its_own(root, monkeypatch):
    first = tracking.log_card(write_training(root), root)
    copy = root / f".dvc/{EXPERIMENTS}/tmp1a2b3c4d"
    copy.mkdir(parents=True)
    theirs = tracking.log_card(write_training(copy, 0.01, weights="others"), copy)
    own = tracking.log_card(write_training(root, 0.01, weights="others"), root)
    client = client_of(root)
    assert len({first, theirs, own}) == 3
    assert [client.get_run(run).data.tags["result"] for run in (first, theirs, own)] == ["former", *["current"] * 2]


def test_a_store_that_another_process_holds_is_busy_and_whole(root, monkeypatch):
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr(faults, "WAIT_SECONDS", 0.1)
    study = write_study(root)
    with FileLock(root / "mlflow.db.lock"):
        told = sentence_of(tracking.track, [study], root)
    with contextlib.closing(sqlite3.connect(root / "mlflow.db")) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("CREATE TABLE theirs (text)")
        connection.commit()
        assert told == sentence_of(tracking.track, [study], root)
    assert "held by another process" in told and "away" not in told


@pytest.mark.parametrize("start", [0, 8192])
def test_a_damaged_store_is_told_with_all_files_to_move(root, start):
    content = (root / "mlflow.db").read_bytes()
    (root / "mlflow.db").write_bytes(content[:start] + b"not a database " * 20_000 + content[start + 300_000 :])
    told = sentence_of(tracking.track, [write_study(root)], root)
    assert f"{root / 'mlflow.db'} is damaged" in told
    assert "move it away with mlflow.db-wal and mlflow.db-shm" in told and "MLFLOW_TRACKING_URI" not in told


def test_a_server_that_takes_calls_and_never_answers_is_told_soon(root, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with socket.create_server(("127.0.0.1", 0)) as server:
        uri = f"http://user:secret@127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
        told = sentence_of(tracking.track, [write_study(root)], root)
        server.settimeout(0)
        calls = 0
        with contextlib.suppress(BlockingIOError):
            while server.accept():
                calls += 1
    assert 1 <= calls <= 3, "a look at whether it is there, and a request that is waited for"
    assert "does not answer; start it or correct MLFLOW_TRACKING_URI" in told
    assert "mlflow.db" not in told and "secret" not in told


def test_what_a_server_answers_is_told(root, monkeypatch):
    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(401)

        do_POST = do_GET

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://user:secret@127.0.0.1:{server.server_port}")
        told = sentence_of(tracking.track, [write_study(root)], root)
        server.shutdown()
    assert "401" in told and "secret" not in told


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:9",
        "postgresql://user:secret@127.0.0.1:9/mlflow",
        "sqlite:////proc/none/mlflow.db",
        "http://127.0.0.1:nine",
        "odd",
    ],
)
def test_an_unreachable_store_is_one_warning_and_no_delay(root, monkeypatch, capfd, uri):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    with tracking.LiveRun(root, training_fields()) as live:
        live.log(FIRST_ROWS)
    tracking.log_stage(write_table(root), root, seconds=100)
    assert sum(waited) < 1, "it is not called again"
    warning = capfd.readouterr().err.removesuffix("\n").removeprefix("Warning: ")
    assert is_one_sentence(warning) and "secret" not in warning and " /mlflow.db" not in warning


@pytest.mark.parametrize("fault", ["server", "damage"])
def test_a_run_of_the_workflow_is_warned_once_of_a_store_of_no_use_and_recorded_later(fault, root, recorded, capfd):
    """The stages of the run, whose environment is that of the workflow, say nothing more."""
    study = write_study(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(location.SWITCH, "on")
        if fault == "server":
            patch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
        else:
            (root / "mlflow.db").write_bytes(b"not a database " * 20_000)
        tracking.begin_run(root)
        assert len(capfd.readouterr().err.splitlines()) == 1
        done = subprocess.run([sys.executable, "-c", RECORD_A_CARD, study / "models/net.json"], capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        tracking.log_waiting(root)
    if fault == "damage":
        (root / "mlflow.db").unlink()
    tracking.track([study], root)
    assert content(root) == recorded


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


@pytest.mark.parametrize("revision", ["75868b020152", "ffffffffffff"], ids=["older", "newer"])
def test_a_store_of_another_mlflow_is_told_with_what_to_do_about_it(root, revision):
    """MLflow asks for a copy first, so that no stage migrates a store that is perhaps a team's."""
    with contextlib.closing(sqlite3.connect(root / "mlflow.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])
        connection.commit()
    told = sentence_of(tracking.track, [write_study(root)], root)
    assert (
        str(root / "mlflow.db") in told and f"was not written by MLflow {importlib.metadata.version('mlflow')}" in told
    )
    assert "install a newer MLflow" in told and "copy the store, run `mlflow db upgrade`" in told


def files_below(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def test_artifacts_that_were_deleted_are_brought_back(root, recorded):
    results = write_study(root)
    tracking.track([results], root)
    whole = files_below(root / "mlruns")
    assert any("checkpoint" in name or "safetensors" in name for name in whole)
    shutil.rmtree(root / "mlruns")
    tracking.track([results], root)
    assert files_below(root / "mlruns").keys() == whole.keys() and content(root) == recorded


def test_a_study_is_tracked_from_anywhere_into_the_store_of_its_project(root, recorded, monkeypatch):
    write_study(root)
    elsewhere = root / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (study,) = (root / "results").iterdir()
    for results in (root / "results", Path("../results"), root / "results" / "." / ""):
        cli.app(["track", "--results", str(results), study.name], standalone_mode=False)
    assert Path.cwd() == elsewhere and [*elsewhere.iterdir()] == []
    monkeypatch.chdir(root)
    assert content(root) == recorded
    (root / "results").rename(root / "others")
    assert "is no folder results, by which cards name" in sentence_of(
        lambda: cli.app(["track", "--results", str(root / "others")], standalone_mode=False)
    )


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
