"""The tests stand alone: nothing of the user's reaches them, and they leave nothing in the clone."""

import os
import pkgutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from isolation import FOLDERS, READ, ROOT, SET, SHARED, SWITCHES, USERS, Touched, drop_stale_code, once

from costtogo.tracking.store import SETTINGS

OURS = ("README.md", "data/measured/default.json", "config/smoke.yaml", "src/costtogo/cli.py", "reports/README.md")


@pytest.mark.parametrize("user", USERS)
def test_what_is_the_users_in_the_clone_fails_a_test_that_opens_it(user, guard):
    for path in (ROOT / user, ROOT / user / "default/report.json"):
        assert "is the user's" in guard.fault(path)
        with pytest.raises(Touched, match="is the user's"):
            open(path)
        with pytest.raises(Touched, match="is the user's"):
            os.listdir(path)
        guard.seen.clear()


def test_reports_of_the_users_studies_are_told_from_published_ones(guard):
    assert not guard.fault(ROOT / "reports/published/default/report.md")
    if (ROOT / "reports/published").is_dir():
        assert all("is the user's" in guard.fault(ROOT / path) for path in ("reports", "reports/default/report.md"))


@pytest.mark.parametrize("place", OURS)
def test_what_is_in_git_may_be_read_and_not_written(place, guard):
    assert Path(place).exists() and (ROOT / place).read_bytes()
    for path in (place, ROOT / place):
        assert not guard.fault(path) and "writes into folders of its own" in guard.fault(path, writes=True)
    with pytest.raises(Touched):
        open(place, "a")
    with pytest.raises(Touched):
        Path(place).parent.joinpath("new").mkdir()
    with pytest.raises(Touched):
        Path(place).rename("moved")
    guard.seen.clear()


def test_the_working_folder_has_nothing_of_the_users_and_is_not_written(guard):
    assert not any(os.path.lexists(user) for user in USERS if user != ".snakemake")
    assert not [*Path().glob("mlflow.db*")] and [path.name for path in Path(".snakemake").iterdir()] == ["costtogo"]
    assert not guard.fault(".snakemake/costtogo/sources.json", writes=True)
    assert guard.fault(".snakemake/costtogo/recipes", writes=True)
    with pytest.raises(Touched):
        Path("results").mkdir()
    guard.seen.clear()


def test_a_touch_that_was_lost_in_a_thread_or_caught_fails_the_test_too(guard):
    def lose():
        try:
            open(ROOT / "results/default/report.json")
        except Touched:
            pass

    thread = threading.Thread(target=lose)
    thread.start()
    thread.join()
    with pytest.raises(Touched, match="results/default/report.json"):
        guard.check()
    guard.check()


def test_who_looks_for_packages_may_look_everywhere(guard):
    assert "costtogo" in {module.name for module in pkgutil.iter_modules([str(ROOT), str(ROOT / "src")])}
    guard.check()


def test_the_environment_is_that_of_the_tests(tmp_path):
    shared = Path(os.environ[SHARED])
    assert Path.home() == shared / "home" and Path.home().is_dir()
    own = {*SET, *FOLDERS, *SWITCHES, *SETTINGS, "COLUMNS", "LINES"}  # libraries set the last two as they are imported
    assert not [name for name in os.environ if name.startswith(READ) and name not in own]
    foreign = {"MLFLOW_TRACKING_URI": "http://there", "COSTTOGO_PUZZLES": "nowhere", "XDG_CACHE_HOME": str(tmp_path)}
    code = "import os, isolation; isolation.clear_environment(); print(*sorted(os.environ)); print(os.environ['HOME'])"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={name: value for name, value in os.environ.items() if name != SHARED} | foreign,
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not foreign.keys() & {*told} and Path(told[-1]) != Path.home() and SHARED in told


def test_what_one_process_made_is_there_for_the_others():
    made = []
    folders = {once("made_once", lambda folder: made.append(folder) or (folder / "it").touch()) for _ in range(2)}
    assert len(made) <= 1 and all((folder / "it").exists() for folder in folders)


def test_code_compiled_before_a_source_of_compiled_code_changed_is_dropped(tmp_path):
    times = {"a.py": 2, "b.py": 9, "__pycache__/a.1.nbc": 1, "__pycache__/a.2.nbc": 3, "__pycache__/a.nbi": 1}
    (tmp_path / "__pycache__").mkdir()
    for name, time in times.items():
        (tmp_path / name).write_text("@njit" if name == "a.py" else "")
        os.utime(tmp_path / name, (time, time))
    drop_stale_code(tmp_path)
    assert {path.name for path in tmp_path.rglob("*.*")} == {"a.py", "b.py", "a.2.nbc", "a.nbi"}
