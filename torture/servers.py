"""MLflow's server killed or frozen before, during and after a stage that is recorded there, then restored."""

import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import mlflow  # noqa: F401  so that each stage is recorded at its end

from costtogo import tracking
from costtogo.tracking.finished import WAITING
from costtogo.workflow.stages import Stage
from tests.messages import is_one_sentence
from tests.real_servers import MlflowServer
from torture.kills import Maker, making
from torture.projects import MODULES, end, fork, kill_after
from torture.stores import check
from torture.trials import Damage, Kind, Trial

WAYS = {"gone before": None, "killed during": signal.SIGKILL, "frozen during": signal.SIGSTOP, "killed after": None}
MOST_SECONDS = 300  # for a stage to end, even if its server does not answer
WAIT_SECONDS = 5  # for an answer
WARNING = "Warning: "


@contextmanager
def ready(work: Path) -> Iterator[Trial]:
    """A finished study and a server; each trial removes the server from a stage that is made again."""
    with making(work, work / "log") as maker, patch.dict(os.environ):
        database, fresh = work / "server.db", work / "fresh.db"
        server = MlflowServer(work, f"sqlite:///{database}")
        os.environ.pop("COSTTOGO_TRACKING", None)
        os.environ |= {"MLFLOW_TRACKING_URI": server.uri, "MLFLOW_HTTP_REQUEST_TIMEOUT": str(WAIT_SECONDS)}
        with server.running():
            pass  # it creates its tables, which takes long
        shutil.copy(database, fresh)

        def trial(generator: random.Random, number: int) -> None:
            stage, way = maker.choose(generator, number), [*WAYS][number % len(WAYS)]
            if stage.id not in maker.seconds:
                maker.undo(stage)
                maker.make(stage)
            shutil.rmtree(WAITING, ignore_errors=True)
            for path in work.glob(f"{database.name}*"):
                path.unlink()
            shutil.copy(fresh, database)
            try:
                maker.undo(stage)
                take_away(server, maker, stage, way, generator.random())
                with server.running():
                    if code := end(fork(lambda: tracking.log_waiting(Path.cwd()), maker.log)):
                        raise Damage(f"recording it afterwards fails with {code}: {maker.said()!r}")
                check(database, [] if stage.pictures else [Path(stage.card)])  # figures are in the run of the report
            except Damage as damage:
                maker.restore()
                raise Damage(f"{stage.id}, {way}: {damage}") from damage

        yield trial


def take_away(server: MlflowServer, maker: Maker, stage: Stage, way: str, share: float) -> None:
    """Make a stage whose server is removed; share: the part of the stage's seconds before that.

    Damage unless the stage ends well, in time, with the same bytes and at most one sentence about it.
    """
    if way == "gone before":
        code = kill_after(maker.begin(stage), MOST_SECONDS)
    else:
        with server.running() as process:
            try:
                begun = maker.begin(stage)
                if harm := WAYS[way]:
                    time.sleep(share * maker.seconds[stage.id])
                    os.killpg(process.pid, harm)
                code = kill_after(begun, MOST_SECONDS)
            finally:
                os.killpg(process.pid, signal.SIGKILL)
    said = maker.said()
    told = [line.removeprefix(WARNING) for line in said.splitlines() if line.startswith(WARNING)]
    if code != 0 or "Traceback" in said or len(told) > 1 or not all(map(is_one_sentence, told)):
        raise Damage(f"the stage ends with {code} and tells {said!r}")
    maker.check(stage)


KIND = Kind(
    "server",
    "MLflow's server gone before a stage, killed or frozen on the way, killed afterwards; then back",
    len(WAYS) * len(MODULES),
    ready,
)
