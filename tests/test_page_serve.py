"""The command `costtogo serve`: what it prints, what it refuses, how it ends."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from messages import is_one_sentence
from page_server import running

from costtogo.page import server
from costtogo.types import UserError

SOURCES = Path(server.__file__).parents[2]
PRINTED = re.compile(r"The page is at (http://\S+) \(Ctrl-C ends it\)\.\n")


@pytest.fixture
def served(tmp_path):
    """Start `costtogo serve` with some options, in an empty folder: the process and the address that it printed."""
    begun = []

    def start(*options: str, stderr=None) -> tuple[subprocess.Popen, str]:
        command = [sys.executable, "-m", "costtogo", "serve", "--port", "0", *options]
        environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
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


def half_requests(address: str, count: int, stack: ExitStack) -> list[socket.socket]:
    """Connections whose requests never end."""
    where = urlsplit(address).hostname, urlsplit(address).port
    opened = []
    for _ in range(count):
        with suppress(OSError):  # nobody accepts it
            opened.append(stack.enter_context(socket.create_connection(where, timeout=5)))
            opened[-1].sendall(b"GET / HTTP/1.1\r\nHost: ")
    return opened


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process are Linux's")
def test_half_requests_lock_nobody_out_and_fill_no_log(served, tmp_path):
    with (tmp_path / "log").open("w") as log, ExitStack() as stack:
        process, address = served(stderr=log)
        state = {"puzzle": "puzzle8", "state": "1 2 3 4 5 6 7 8 0"}
        assert ask(address + "api/state", state)[0] == 200
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (160, 160))
        half_requests(address, 200, stack)
        begun = time.monotonic()
        assert ask(address + "api/state", state)[0] == 200 and time.monotonic() - begun < server.REQUEST_SECONDS
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    assert len((tmp_path / "log").read_text().splitlines()) <= 1


def test_a_head_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.2)
    with running(workers=1) as page, ExitStack() as stack:
        connections = half_requests(page.url, 3, stack)
        kept = stack.enter_context(socket.create_connection(("127.0.0.1", page.port), timeout=10))
        kept.sendall(b"GET /api/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert kept.recv(1) == b"H"
        kept.sendall(b"GET / HTTP/1.1\r\nHost")
        rest = b"".join(iter(lambda: kept.recv(65536), b""))
        assert rest.startswith(b"TTP/1.1 404 ") and rest.count(b"HTTP/1.1") == 0
        assert [each.recv(1) for each in connections] == [b""] * 3


def test_an_answer_that_takes_longer_than_a_head_may_is_waited_for(monkeypatch):
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.2)
    with running(workers=1) as page:
        id = page.begin("walk", seconds=1).json["id"]
        events = page.ask("GET", f"/api/searches/{id}/events").body
        assert b"solution" in events and page.until(id, "solved", "done", "unsolved", "ended")


def test_of_too_many_connections_the_one_that_has_waited_longest_is_closed(monkeypatch):
    monkeypatch.setattr(server, "most_connections", lambda: 2)
    with running(workers=1) as page, ExitStack() as stack:
        first, *_ = half_requests(page.url, 2, stack)
        assert page.ask("GET", "/api/nothing").status == 404
        with suppress(ConnectionResetError):
            assert first.recv(1) == b""


def test_what_too_many_files_forbid_is_said_once_in_a_while(capsys):
    told = server._Server(None, server.config(None))
    for _ in range(100):
        told._tell(None, {"message": "socket.accept() out of system resource"})
    assert is_one_sentence(capsys.readouterr().err.strip())


def test_however_many_interrupts_come_all_is_ended_in_order():
    ended = server._Server(None, server.config(None))
    for _ in range(2):
        ended.handle_exit(signal.SIGINT, None)
    assert ended.should_exit and not ended.force_exit


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("after", [0.0, 0.8])
def test_a_second_interrupt_leaves_no_traceback(served, tmp_path, after, pause):
    with (tmp_path / "log").open("w") as log:
        process, _ = served(stderr=log)
        time.sleep(after)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(pause)
        assert process.wait(timeout=30) == 0 and process.stdout.read() == "The server is stopped.\n"
    assert (tmp_path / "log").read_text() == ""


def test_an_interrupt_before_the_server_runs_is_not_lost_in_code_that_handles_its_own_exceptions(monkeypatch, capsys):
    def handles_all(page: str) -> None:
        with suppress(BaseException):
            signal.raise_signal(signal.SIGINT)

    async def goes_on(running) -> None:
        raise AssertionError("it answers requests")

    monkeypatch.setattr(server, "open_new_tab", handles_all)
    monkeypatch.setattr(server._Server, "main_loop", goes_on)
    before = signal.getsignal(signal.SIGINT)
    try:
        server.serve("127.0.0.1", 0, browse=True)
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().out.endswith("The server is stopped.\n")


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
        [sys.executable, "-m", "costtogo", "serve", "--port", str(taken)],
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
    monkeypatch.setattr(server._Server, "run", lambda *arguments, **named: None)
    monkeypatch.setattr(signal, "signal", lambda *arguments: None)
    server.serve("127.0.0.1", 0, browse=False)
    assert opened == []
    server.serve("localhost", 0, browse=True)
    assert len(opened) == 1 and re.fullmatch(r"http://localhost:\d+/", opened[0])


def test_an_address_of_version_6_is_written_in_brackets():
    assert server.url("::1", 80, None) == "http://[::1]:80/"
    assert server.url("192.0.2.1", 80, "secret") == "http://192.0.2.1:80/?token=secret"
