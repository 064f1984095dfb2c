"""Bind the server, run it, end it."""

import asyncio
import ipaddress
import os
import resource
import secrets
import signal
import socket
import time
from webbrowser import open_new_tab

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from costtogo.page.app import Service, build
from costtogo.page.safety import LOOPBACK, Guard
from costtogo.page.workers import Jobs, Worker, most_memory
from costtogo.progress import say
from costtogo.types import UserError, excerpt

AT_ONCE = 2  # searches that run
BACKLOG = 32  # connections that wait to be accepted, and that are accepted at a time
MOST_CONNECTIONS = 512
REQUEST_SECONDS = 10.0  # for the head of a request to arrive
QUIET_SECONDS = 60.0  # between two lines on connections that cannot be accepted


def serve(host: str, port: int, browse: bool) -> None:
    """Serve the page until it is interrupted, and print its address.

    host: an address or a name of this machine; where that can be reached from others, a token is asked for.
    port: 0 for any that is free.  browse: open the page in the user's browser.
    UserError where it cannot be bound.
    """
    listening = bind(host, port)
    address = listening.getsockname()[0]
    token = None if ipaddress.ip_address(address).is_loopback else secrets.token_urlsafe(24)
    page = url(host, listening.getsockname()[1], token)
    server = server_of(service(), guard_names(host, address), token)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, server.handle_exit)  # a KeyboardInterrupt could be lost in other code
    print(f"The page is at {page} (Ctrl-C ends it).", flush=True)
    if browse:
        open_new_tab(page)
    server.run(sockets=[listening])
    print("The server is stopped.")


def server_of(running: Service, own: set[str], token: str | None) -> "_Server":
    """A server that answers requests, once it runs, until the process gets a signal to end."""
    return _Server(running, config(Guard(build(running), own, addresses=token is not None, token=token)))


def service(module: str = "costtogo.page.core") -> Service:
    """Worker processes of a module, see costtogo.page.worker_process: two for searches, one for short questions."""
    memory = most_memory()
    threads = max(1, (os.cpu_count() or 1) // AT_ONCE)
    searching = [Worker(module, memory, threads) for _ in range(AT_ONCE)]
    return Service(Jobs(searching), Worker(module, memory, prepare=False))


def config(app: Guard) -> uvicorn.Config:
    """How requests are read. Requests are not logged, because they may hold a token; headers of proxies are ignored."""
    return uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=3,
    )


def most_connections() -> int:
    """How many connections are open at once: with those being accepted, far fewer than files may be open."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_CONNECTIONS if files == resource.RLIM_INFINITY else max(8, min(MOST_CONNECTIONS, files // 2 - BACKLOG))


class _Connection(H11Protocol):
    """Closes if no whole request arrives in time; with too many connections, the one idle the longest is closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > most_connections():
            idle = min((each for each in self.connections if each.waits), key=lambda each: each.limit.when())
            self.connections.discard(idle)
            idle.transport.abort()

    def on_response_complete(self) -> None:
        self.limit.cancel()
        self._wait()
        super().on_response_complete()

    @property
    def waits(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        self.limit = self.loop.call_later(REQUEST_SECONDS, lambda: self.waits and self.transport.close())


class _Server(uvicorn.Server):
    """Ends searches first, so that the server need not wait for those who follow them."""

    def __init__(self, running: Service, config: uvicorn.Config):
        super().__init__(config)
        self.running, self.told = running, -QUIET_SECONDS

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._tell)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.running.searches.stop()
        await super().shutdown(sockets)

    def handle_exit(self, *of_signal) -> None:
        """A second interrupt, even while the first is handled, changes nothing: the server ends within seconds."""
        super().handle_exit(*of_signal)
        self.force_exit = False

    def _tell(self, loop: asyncio.AbstractEventLoop, context: dict) -> None:
        """Print errors outside requests; that too many files are open, at most every QUIET_SECONDS."""
        if "out of system resource" not in context["message"]:
            loop.default_exception_handler(context)
        elif time.monotonic() - self.told > QUIET_SECONDS:
            self.told = time.monotonic()
            say("Connections cannot be accepted for now: too many files are open.")


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; UserError where there cannot be one."""
    if not 0 <= port <= 65535:
        raise UserError(f"There is no port {port}: give --port from 1 to 65535, or 0 for any that is free.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise UserError(f"There is no address '{excerpt(host)}' to serve at: give --host 127.0.0.1.") from error
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise UserError(
            f"Cannot serve at port {port} of {excerpt(host)}: {(error.strerror or str(error)).lower()}; choose another "
            "with --port, or 0 for any that is free."
        ) from error
    return listening


def guard_names(host: str, address: str) -> set[str]:
    """The host names that requests may use: those of this machine, and the one that was bound."""
    if ipaddress.ip_address(address).is_loopback:
        return {*LOOPBACK, host.lower()}
    return {*LOOPBACK, host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}


def url(host: str, port: int, token: str | None) -> str:
    """The address of the page, with the token if there is one."""
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    name = f"[{shown}]" if ":" in shown else shown
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")
