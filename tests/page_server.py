"""The page's server for tests: in a thread, with worker processes of any module; requests go through plain sockets."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

import uvicorn

from costtogo.page.app import Service, build
from costtogo.page.safety import Guard
from costtogo.page.server import bind, config, guard_names, server_of
from costtogo.page.workers import Jobs, Worker

TESTS = Path(__file__).parent
MEMORY = 1 << 30


@dataclass
class Answer:
    """The answer to a request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Page:
    """A running server and requests to it."""

    port: int
    service: Service
    server: uvicorn.Server
    token: str | None = None
    sent: dict = field(default_factory=dict)  # headers of every request

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body=None, **headers) -> Answer:
        """Send a request: body as JSON unless it is bytes; a header that is None is left out."""
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        named = {"content-type": "application/json"} if content is not None else {}
        named |= self.sent | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, content, {name: value for name, value in named.items() if value})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def raw(self, request: bytes) -> bytes:
        """Send bytes unchanged; returns the answer up to the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as stream:
            stream.sendall(request)
            return b"".join(iter(lambda: stream.recv(65536), b""))

    def begin(self, solver: str, seconds: float = 30, **fields) -> Answer:
        """Request a search with one of the fake solvers."""
        asked = {"puzzle": "puzzle8", "model": "net", "solver": solver, "state": "1 2 3 4 5 6 7 0 8"}
        return self.ask("POST", "/api/searches", asked | {"seconds": seconds} | fields)

    def until(self, id: str, *statuses: str) -> dict:
        """Wait until a search has one of these statuses."""
        ends = time.monotonic() + 60
        while (found := self.ask("GET", f"/api/searches/{id}").json)["status"] not in statuses:
            assert time.monotonic() < ends, found
            time.sleep(0.02)
        return found


@contextmanager
def running(
    module: str = "page_fakes",
    workers: int = 2,
    memory: int = MEMORY,
    token: str | None = None,
    addresses: bool = False,
    static: Path | None = None,
    **limits,
) -> Iterator[Page]:
    """A server on a free port of this machine; limits are those of Jobs."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(TESTS), *([before] if before else [])])
    service = Service(Jobs([Worker(module, memory) for _ in range(workers)], **limits), Worker(module, memory))
    listening = bind("127.0.0.1", 0)
    port = listening.getsockname()[1]
    app = Guard(build(service, static), guard_names("127.0.0.1", "127.0.0.1"), addresses=addresses, token=token)
    server = uvicorn.Server(config(app))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield Page(port, service, server, token)
    finally:
        server.should_exit = True
        thread.join()
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def main() -> None:
    """Serve in this process until it ends, with one endless search, whose process is printed."""
    service = Service(Jobs([Worker("page_fakes", MEMORY) for _ in range(2)]), Worker("page_fakes", MEMORY))
    listening = bind("127.0.0.1", 0)
    page = Page(listening.getsockname()[1], service, None)

    def begin() -> None:
        id = page.begin("deaf").json["id"]
        while not (found := page.ask("GET", f"/api/searches/{id}").json["nodes_generated"]):
            time.sleep(0.02)
        print(json.dumps({"search": found}), flush=True)

    threading.Thread(target=begin, daemon=True).start()
    server_of(service, guard_names("127.0.0.1", "127.0.0.1"), None).run(sockets=[listening])
