"""The command `costtogo serve`: what it prints, what it refuses, how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from messages import is_one_sentence

from costtogo.page import server
from costtogo.types import UserError

SOURCES = Path(server.__file__).parents[2]
PRINTED = re.compile(r"The page is at (http://\S+) \(Ctrl-C ends it\)\.\n")


@pytest.fixture
def served(tmp_path):
    """Start `costtogo serve` with some options, in an empty folder: the process and the address that it printed."""
    begun = []

    def start(*options: str) -> tuple[subprocess.Popen, str]:
        command = [sys.executable, "-m", "costtogo.cli", "serve", "--port", "0", *options]
        environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
        begun.append(process)
        return process, PRINTED.fullmatch(process.stdout.readline())[1]

    yield start
    for process in begun:
        process.kill()
        process.wait()
        process.stdout.close()


def ask(url: str, body: dict | None = None, **headers) -> tuple[int, dict]:
    content = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, content, {"Content-Type": "application/json", **headers}), timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        return error.code, json.loads(error.read())


def test_serve_prints_its_address_answers_there_and_ends_by_an_interrupt(served):
    process, address = served()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address), "no token is asked for on this machine"
    status, found = ask(address + "api/state", {"puzzle": "puzzle8", "state": "1 2 3 4 5 6 7 8 0"})
    assert status == 200 and found["solved"]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0 and process.stdout.read() == "The server is stopped.\n"


def test_serve_asks_for_a_token_where_others_can_reach_it(served):
    _, address = served("--host", "0.0.0.0")
    found = re.fullmatch(r"http://[^/]+:(\d+)/\?token=([\w-]{20,})", address)
    port, token = found.groups()
    state = {"puzzle": "puzzle8", "state": "1 2 3 4 5 6 7 8 0"}
    assert ask(f"http://127.0.0.1:{port}/api/state", state)[0] == 401
    assert ask(f"http://127.0.0.1:{port}/api/state", state, Authorization=f"Bearer {token}")[0] == 200


@pytest.fixture
def taken():
    """A port that another program listens at."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


@pytest.mark.parametrize(
    ("host", "told"),
    [("no such host", "There is no address"), ("256.0.0.1", "There is no address"), ("", "There is no address"),
     ("x" * 300, "There is no address"), ("192.0.2.1", "Cannot serve at port"), ("a..b", "There is no address")],
)  # fmt: skip
def test_a_host_that_cannot_be_served_is_refused(host, told):
    with pytest.raises(UserError) as refused:
        server.bind(host, 0)
    assert str(refused.value).startswith(told) and is_one_sentence(str(refused.value))


@pytest.mark.parametrize("port", [-1, 65536, 10**9])
def test_a_port_there_is_not_is_refused(port):
    with pytest.raises(UserError) as refused:
        server.bind("127.0.0.1", port)
    assert is_one_sentence(str(refused.value))


def test_a_port_in_use_is_refused_by_the_command(taken):
    done = subprocess.run(
        [sys.executable, "-m", "costtogo.cli", "serve", "--port", str(taken)],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and done.stdout == ""
    told = done.stderr.removeprefix("costtogo: ").rstrip()
    assert f"port {taken} of 127.0.0.1" in told and "in use" in told and is_one_sentence(told)


def test_the_page_is_opened_where_asked(monkeypatch):
    opened = []
    monkeypatch.setattr(server, "open_new_tab", opened.append)
    monkeypatch.setattr(server, "run", lambda *arguments: time.sleep(0))
    server.serve("127.0.0.1", 0, browse=False)
    assert opened == []
    server.serve("localhost", 0, browse=True)
    assert len(opened) == 1 and re.fullmatch(r"http://localhost:\d+/", opened[0])


def test_an_address_of_version_6_is_written_in_brackets():
    assert server.url("::1", 80, None) == "http://[::1]:80/"
    assert server.url("192.0.2.1", 80, "secret") == "http://192.0.2.1:80/?token=secret"


def test_help_does_not_load_the_server():
    code = "import sys; from costtogo import cli; sys.exit(any(name in sys.modules for name in ('fastapi', 'torch')))"
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(SOURCES)}).returncode == 0
