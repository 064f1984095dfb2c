"""The record of running and finished stages in MLflow; no other package imports MLflow.

Everything recorded here comes from a stage's card and the files next to it, so `track` rebuilds a deleted store. A run
is found by its key (record.run_key) and its metrics have fixed timestamps, so recording a stage again adds nothing.
COSTTOGO_TRACKING=off turns it off.
"""

from costtogo.tracking.finished import log_card, log_stage, log_waiting, open_run, track, ui_lines
from costtogo.tracking.live import LiveRun
from costtogo.tracking.store import begin_run

__all__ = [
    "LiveRun", "begin_run", "log_card", "log_stage", "log_waiting", "open_run", "track", "ui_lines",
]  # fmt: skip
