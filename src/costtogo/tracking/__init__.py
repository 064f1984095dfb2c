"""The record of finished and running stages in MLflow; no other module knows MLflow.

Files are the truth: everything recorded here is read from a stage's card and the files beside it, so
a deleted store is rebuilt by `track`. A run is known by its key (record.run_key), metrics carry
deterministic timestamps, and recording a stage again adds nothing. COSTTOGO_TRACKING=off turns it off.
"""

from costtogo.tracking.live import LiveRun
from costtogo.tracking.pages import links, open_run, track
from costtogo.tracking.runs import log_card, log_stage, log_waiting
from costtogo.tracking.store import begin_run, prepare_store

__all__ = [
    "LiveRun", "begin_run", "links", "log_card", "log_stage", "log_waiting", "open_run", "prepare_store", "track",
]  # fmt: skip
