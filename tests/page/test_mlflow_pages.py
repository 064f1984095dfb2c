"""MLflow's pages in a browser that has never seen them, opened by the addresses that `make ui` prints."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest
from synthetic_cards import write_study

from costtogo import tracking

WAIT = 60_000  # ms that anything on a page may take on a busy machine
AXES = "[...document.querySelectorAll('.js-plotly-plot')].map(plot => plot._fullLayout?.yaxis?.type)"
TRACES = "[...document.querySelectorAll('.js-plotly-plot')].flatMap(plot => (plot.data || []).map(one => one.type))"


@pytest.fixture(scope="module")
def printed(browser, tmp_path_factory) -> Iterator[dict[str, str]]:
    """The addresses that `make ui` prints of a tracked study, by what they are of, with MLflow's server behind them."""
    root = tmp_path_factory.mktemp("pages")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSTTOGO_TRACKING", "on")
        patch.setenv("MLFLOW_TRACKING_URI", "")
        patch.setenv("MLFLOW_PORT", str(port))
        patch.chdir(root)
        tracking.track([write_study(root)], root)
        lines = list(tracking.links(root, "tiny"))
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
        yield {
            name.strip(): address.strip() for name, address in zip(lines, lines[1:], strict=False) if "#/" in address
        }
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


def test_the_address_of_the_curves_opens_on_curves_with_a_logarithmic_axis(printed, open_page):
    page = open_page(printed["Loss curves"])
    page.get_by_role("link", name="train net").wait_for()
    page.wait_for_function(f"{AXES}.includes('log')")


def test_the_address_of_the_grid_opens_on_its_cells_and_their_contours(printed, open_page):
    page = open_page(printed["λ × N: net, test"])
    page.get_by_role("link", name=re.compile(r"λ=0\.2 N=3 test")).wait_for()
    page.wait_for_function(f"{TRACES}.includes('contour')")


def test_the_address_of_a_network_opens_on_how_to_load_it(printed, open_page):
    page = open_page(printed["net, and how to load it"])
    page.get_by_text('mlflow.pyfunc.load_model("models:/tiny.net@best")').wait_for()
