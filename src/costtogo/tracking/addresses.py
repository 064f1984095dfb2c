"""Addresses of MLflow's pages.

The pages open in a mode for language models unless the address names the other, and show what an earlier visit left in
the browser unless it names a view.
"""

import os
from urllib.parse import urlencode

from costtogo.tracking.place import is_server, shown, store_uri

PORT = "MLFLOW_PORT"  # of the pages that `make ui` opens
MODE = {"workflowType": "machine_learning"}


def base(root) -> str:
    """Where the pages are: the tracking server's, or those that `make ui` opens."""
    uri = store_uri(root)
    return shown(uri) if is_server(uri) else f"http://127.0.0.1:{os.environ.get(PORT) or 5000}"


def view(experiment: str, key: str) -> str:
    """A saved view of the runs of an experiment, as charts.  All below are as seen from base."""
    query = urlencode(MODE | {"compareRunsMode": "CHART", "viewStateShareKey": key})
    return f"/#/experiments/{experiment}/runs?{query}"


def experiments() -> str:
    """All experiments."""
    return f"/#/experiments?{urlencode(MODE)}"


def run(number: str, run_id: str) -> str:
    """A run of an experiment."""
    return f"/#/experiments/{number}/runs/{run_id}?{urlencode(MODE)}"


def models(prefix: str) -> str:
    """The registered models whose names begin with a text."""
    return f"/#/models?{urlencode(MODE | {'searchInput': prefix})}"


def model(name: str) -> str:
    """A registered model."""
    return f"/#/models/{name}?{urlencode(MODE)}"
