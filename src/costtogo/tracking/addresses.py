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


def page(place: str, **query: str) -> str:
    """One of the pages as seen from base, by its place: experiments/<id>/runs/<id> of a run, models of the registry."""
    return f"/#/{place}?{urlencode(MODE | query)}"


def view(experiment: str, key: str) -> str:
    """A saved view of the runs of an experiment, as charts."""
    return page(f"experiments/{experiment}/runs", compareRunsMode="CHART", viewStateShareKey=key)
