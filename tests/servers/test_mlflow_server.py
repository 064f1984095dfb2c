"""MLflow's server on PostgreSQL, both started for real: what studies and eight jobs at once record there."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import ROOT, MlflowServer
from messages import is_one_sentence
from synthetic_cards import Sums, client_of, content, files_below, training_fields, write_study, write_training
from workflow_runs import copy_project, run

from costtogo import tracking
from costtogo.files import read_json, write_json
from costtogo.tracking import place

JOBS = 8
ROWS = 200  # that each job logs, live

LOG_LIVE = """
import json, sys
from pathlib import Path
from costtogo import tracking

root, name, rows, status = Path.cwd(), sys.argv[1], int(sys.argv[2]), "FINISHED"
with tracking.LiveRun(root, json.loads(Path(f"{name}.fields.json").read_text())) as live:
    for first in range(1, rows + 1, 20):
        live.log([{"iteration": i, "convergence_points": 0, "loss": 1 / i} for i in range(first, first + 20)])
print(place.enabled() if (place := tracking.live.record) is None else live.run_id)
"""
