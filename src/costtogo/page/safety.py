"""Checks that every request has to pass first, and headers that every response carries.

A page of another origin must not use this server through its visitor's browser. So the Host has to be a name or
address of this server (a name that was bound to it later, by DNS rebinding, is none), an Origin has to be the server's
own, bodies are JSON, and nothing is ever allowed to other origins. Bound to more than this machine, the server also
asks for a token: it is in the address that is printed once, and the browser keeps it as a cookie.
"""

import asyncio
import ipaddress
import secrets
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS = ("GET", "POST", "DELETE")
MOST_BODY = 64 * 1024  # bytes
BODY_SECONDS = 10.0  # for a body to arrive
LONGEST_PATH = 1_024  # bytes
LONGEST_QUERY = 4_096
MOST_HEADERS = 32 * 1024  # bytes of all of them
SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def refusal(status: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error in the form of the API."""
    return JSONResponse({"error": sentence}, status, headers)


class Refused(Exception):
    """A request is refused; `response` says why."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None):
        super().__init__(sentence)
        self.response = refusal(status, sentence, headers)


class Guard:
    """The application behind all checks.

    own: the names that Host may have, in lower case and without a port.
    addresses: True if Host may also be any IP address; only names can be bound to another machine later.
    token: that every request has to carry; None if no token is needed.
    """

    def __init__(self, app: ASGIApp, own: set[str], addresses: bool = False, token: str | None = None):
        self.app, self.own, self.addresses, self.token = app, own, addresses, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or hand it on with its whole body read."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._check_address(scope, headers)
            response = self._check_token(scope, headers)
            if response is not None:
                return await response(scope, receive, send_safely)
            receive = await _with_body(scope, headers, receive)
        except Refused as refused:
            return await refused.response(scope, receive, send_safely)
        await self.app(scope, receive, send_safely)

    def _check_address(self, scope: Scope, headers: Headers) -> None:
        """Refuse a wrong Host, another origin, another method, and what is too long."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            raise Refused(403, "The Host of the request is not this server: use the address that it printed.")
        if any(not _is_origin(origin, hosts[0]) for origin in headers.getlist("origin")):
            raise Refused(403, "The request comes from a page of another origin, which may not use this server.")
        if not _is_first_party(scope, headers):
            raise Refused(403, "The request comes from another site, which may only link to the page itself.")
        if scope["method"] not in METHODS:
            raise Refused(405, "There are only the methods GET, POST and DELETE.", {"allow": ", ".join(METHODS)})
        if len(scope.get("raw_path", b"")) > LONGEST_PATH or len(scope["query_string"]) > LONGEST_QUERY:
            raise Refused(414, "The address of the request is too long.")
        if sum(len(name) + len(value) + 4 for name, value in headers.raw) > MOST_HEADERS:
            raise Refused(431, f"The headers of the request have more than {MOST_HEADERS:,} bytes.")

    def _is_own(self, host: str) -> bool:
        """Whether a Host is the server, at whatever port: a tunnel may end at another one."""
        name = _name_of(host)
        return name is not None and (name in self.own or (self.addresses and _is_address(name)))

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Refused if the token is missing or wrong; a redirect to the page if the address holds the token."""
        if self.token is None:
            return None
        if scope["path"] == "/" and scope["method"] == "GET":
            if given := parse_qs(scope["query_string"].decode("latin-1")).get("token", []):
                self._compare(given[0])
                response = RedirectResponse("/", 303)
                response.set_cookie(self._cookie(scope), self.token, httponly=True, samesite="lax")
                return response
        bearer = _bearer(headers)
        self._compare(*([bearer] if bearer else _cookies(headers, self._cookie(scope))))
        return None

    def _compare(self, *given: str) -> None:
        if not any(secrets.compare_digest(each.encode(), self.token.encode()) for each in given):
            raise Refused(401, "The token is missing or wrong: open the whole address that the server printed.")

    @staticmethod
    def _cookie(scope: Scope) -> str:
        """The name of the cookie: cookies are shared by all ports of a host."""
        return f"costtogo_{scope['server'][1]}"


def _name_of(host: str) -> str | None:
    """The name in a Host, in lower case and without its port; None where it is no host."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # ValueError where it is no number
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_origin(origin: str, host: str) -> bool:
    """Whether an Origin is the server itself as Host names it."""
    return origin in (f"http://{host}", f"https://{host}")


def _is_first_party(scope: Scope, headers: Headers) -> bool:
    """Whether a browser asks for the page itself, or for anything on behalf of the page."""
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return True
    return scope["path"] == "/" and scope["method"] == "GET" and headers.get("sec-fetch-dest") == "document"


def _bearer(headers: Headers) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _cookies(headers: Headers, name: str) -> list[str]:
    """The values of the cookies of a name, whatever the cookies of other programs on this host look like."""
    pairs = [pair.partition("=") for line in headers.getlist("cookie") for pair in line.split(";")]
    return [value.strip() for own, _, value in pairs if own.strip() == name]


async def _with_body(scope: Scope, headers: Headers, receive: Receive) -> Receive:
    """The whole body of a request, read here, so that none too large or too slow gets any further."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if (scope["method"] == "POST" or kind) and scope["method"] != "GET" and kind != "application/json":
        raise Refused(415, "The body has to be JSON: send it with the header Content-Type: application/json.")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BODY:
        raise Refused(413, f"The body has more than {MOST_BODY:,} bytes.")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await _read(receive)
    except TimeoutError:
        raise Refused(
            408, f"The body did not arrive within {BODY_SECONDS:g} seconds.", {"connection": "close"}
        ) from None
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


async def _read(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return body
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BODY:
            raise Refused(413, f"The body has more than {MOST_BODY:,} bytes.", {"connection": "close"})
    return body
