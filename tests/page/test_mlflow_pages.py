"""MLflow's UI in a browser that has never seen it, opened by the addresses that costtogo prints."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest
from synthetic_cards import write_study

from costtogo import cards, tracking
from costtogo.files import read_json

WAIT = 60_000  # ms that anything on a page may take on a busy machine


@pytest.fixture(scope="module")
def printed(browser, tmp_path_factory) -> Iterator[dict[str, str]]:
    """The addresses that `make ui` prints of a tracked study, and that of a run, with MLflow's server behind them."""
    root = tmp_path_factory.mktemp("pages")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSTTOGO_TRACKING", "on")
        patch.setenv("MLFLOW_TRACKING_URI", "")
        patch.setenv("MLFLOW_PORT", str(port))
        patch.chdir(root)
        tracking.track([write_study(root)], root)
        key = cards.short_key(read_json(root / "results/tiny/searches/net.json"))
        addresses = dict(line.split(": ", 1) for line in tracking.ui_lines(root))
        addresses["run"] = tracking.open_run(key, root / "results", root)
    where = ["--backend-store-uri", f"sqlite:///{root}/mlflow.db", "--host", "127.0.0.1", "--port", str(port)]
    quiet = {
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_TRACKING_URI": "",
    }
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", *where]
    with (root / "log").open("w") as log:
        server = subprocess.Popen(command, env={**os.environ, **quiet}, stdout=log, stderr=log, cwd=root)
    try:
        _wait(f"http://127.0.0.1:{port}/health")
        yield addresses
    finally:
        server.terminate()
        server.wait()


def _wait(address: str) -> None:
    """Until a server answers, a minute at the longest."""
    for _ in range(600):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{address} does not answer")


@pytest.fixture
def open_page(browser):
    """open_page(address) → a page of a browser without a past."""
    contexts = []

    def open_page(address: str):
        contexts.append(browser.new_context(viewport={"width": 1500, "height": 950}))
        contexts[-1].set_default_timeout(WAIT)
        page = contexts[-1].new_page()
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_the_address_of_a_study_opens_on_its_runs(printed, open_page):
    page = open_page(printed["tiny"])
    page.get_by_role("link", name="train net").wait_for()


def test_the_address_of_the_networks_opens_on_the_registry(printed, open_page):
    page = open_page(printed["networks"])
    page.get_by_role("link", name="tiny.net").wait_for()


def test_the_address_of_a_run_opens_on_its_description_and_numbers(printed, open_page):
    page = open_page(printed["run"])
    page.get_by_text("search of net").first.wait_for()
    page.get_by_text("nodes_expanded").first.wait_for()
