"""Processes that record stages in a fresh MLflow store at the same moment."""

import os
import random
import shutil
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch

import mlflow  # noqa: F401  once, so that all processes reach the store together

from costtogo import tracking
from costtogo.files import digest
from torture.calls import LONGEST
from torture.projects import end, finished
from torture.trials import Damage, Kind, Trial

TOGETHER = 8
LOGGED = "SELECT value, COUNT(*) FROM tags WHERE key = 'logged' GROUP BY value"


@contextmanager
def ready(work: Path) -> Iterator[Trial]:
    """A finished study; each trial records its stages in a store that does not exist yet."""
    with finished(work) as stages, patch.dict(os.environ):
        for name in ("COSTTOGO_TRACKING", "MLFLOW_TRACKING_URI"):
            os.environ.pop(name, None)

        def trial(generator: random.Random, number: int) -> None:
            for path in work.glob("mlflow.db*"):
                path.unlink()
            shutil.rmtree(work / "mlartifacts", ignore_errors=True)
            cards = [Path(stage.card) for stage in generator.sample(stages, TOGETHER)]
            processes = [begin(card, work) for card in cards]
            if failed := [code for code in map(end, processes) if code != 0]:
                said = (work / "log").read_text(encoding="utf-8") if (work / "log").exists() else ""
                raise Damage(f"{len(failed)} of {TOGETHER} processes failed: {said[-LONGEST:]!r}")
            check(work / "mlflow.db", cards)

        yield trial


def begin(card: Path, root: Path) -> int:
    """Fork a process that records a card; returns its number."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        code = 0 if tracking.log_card(card, root) else 1
    except BaseException:
        with (root / "log").open("a", encoding="utf-8") as log:
            traceback.print_exc(file=log)
    finally:
        os._exit(code)


def check(database: Path, cards: list[Path]) -> None:
    """Damage unless a store is whole and has one run for each card."""
    with closing(sqlite3.connect(database)) as connection:
        whole = connection.execute("PRAGMA integrity_check").fetchone()[0]
        logged = dict(connection.execute(LOGGED).fetchall())
    if whole != "ok" or logged != {digest(card): 1 for card in cards}:
        raise Damage(f"the store is {whole} and has {sorted(logged.values())} runs of {len(logged)} cards")


KIND = Kind("store", f"{TOGETHER} processes that record stages in a fresh MLflow store together", 5, ready)
