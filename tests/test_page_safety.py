"""What the page's server refuses, with one sentence each, and what every response of it carries."""

import json
from http.client import HTTPResponse
from io import BytesIO

import pytest
from messages import is_one_sentence
from page_server import running

from costtogo.page import safety

STATE = {"puzzle": "puzzle8", "state": "1 2 3 4 5 6 7 8 0"}
SEARCH = {"puzzle": "puzzle8", "model": "net", "solver": "walk", "state": "1 2 3 4 5 6 7 0 8", "seconds": 1}
VALUES = {"puzzle": "puzzle8", "model": "net", "states": ["1 2 3 4 5 6 7 8 0"]}


@pytest.fixture(scope="module")
def static(tmp_path_factory):
    """Files of a page."""
    folder = tmp_path_factory.mktemp("static")
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    (folder / "deep").mkdir()
    (folder / "deep" / "page.js").write_text("export const one = 1;")
    (folder / "notes.md").write_text("no file of the page")
    (folder.parent / "secret.txt").write_text("a secret")
    return folder


@pytest.fixture(scope="module")
def page(static):
    """One server for all: each request leaves it as it was."""
    with running(workers=1, static=static) as found:
        yield found


def raw(line: str, *headers: str, body: bytes = b"") -> bytes:
    """A request as it goes over the wire."""
    lines = [line, *headers, "Connection: close"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def post(path: str, body, **headers):
    """A POST of a body: JSON unless it is bytes."""
    return "POST", path, body if isinstance(body, bytes) else json.dumps(body).encode(), headers


HOST, TYPE = "Host: localhost", "Content-Type: application/json"
BAD = {
    "a name that was bound to this machine": (403, ("GET", "/", None, {"host": "evil.example"})),
    "our name within another": (403, ("GET", "/", None, {"host": "localhost.evil.example"})),
    "another's name with our port": (403, ("GET", "/api/puzzles", None, {"host": "evil.example:8000"})),
    "another address": (403, ("GET", "/", None, {"host": "192.0.2.1"})),
    "a user in Host": (403, ("GET", "/", None, {"host": "localhost@evil.example"})),
    "a path in Host": (403, ("GET", "/", None, {"host": "localhost/evil"})),
    "a Host that is none": (403, ("GET", "/", None, {"host": "[::1"})),
    "no Host": (403, raw("GET / HTTP/1.0")),
    "no Host in HTTP/1.1": (400, raw("GET / HTTP/1.1")),
    "two Hosts": (400, raw("GET / HTTP/1.1", HOST, "Host: evil.example")),
    "another origin": (403, post("/api/state", STATE, origin="http://evil.example")),
    "another port's origin": (403, post("/api/state", STATE, origin="http://127.0.0.1:1")),
    "no origin at all": (403, post("/api/state", STATE, origin="null")),
    "another origin that only looks": (403, ("GET", "/api/puzzles", None, {"origin": "http://evil.example"})),
    "an origin that ends like the host": (
        403, ("GET", "/", None, {"host": "localhost:8000", "origin": "http://evil-localhost:8000"})
    ),
    "an origin that begins like the host": (
        403, ("GET", "/", None, {"host": "localhost", "origin": "http://localhost.evil.example"})
    ),
    "a script of another site": (403, ("GET", "/static/deep/page.js", None, {"sec_fetch_site": "cross-site"})),
    "a request of another port's page": (403, ("GET", "/api/puzzles", None, {"sec_fetch_site": "same-site"})),
    "a frame of another site": (403, ("GET", "/", None, {"sec_fetch_site": "cross-site", "sec_fetch_dest": "iframe"})),
    "text": (415, post("/api/state", STATE, content_type="text/plain")),
    "a form": (415, post("/api/state", b"puzzle=cube2", content_type="application/x-www-form-urlencoded")),
    "no type": (415, post("/api/state", STATE, content_type="")),
    "a body with DELETE": (415, ("DELETE", "/api/searches/x", b"a=b", {"content_type": "text/plain"})),
    "a large body": (413, post("/api/state", {"puzzle": "x" * 70_000})),
    "a large body in pieces": (
        413,
        raw("POST /api/state HTTP/1.1", HOST, TYPE, "Transfer-Encoding: chunked")
        + b"fff0\r\n" + b"x" * 0xFFF0 + b"\r\n" + b"40\r\n" + b"x" * 0x40 + b"\r\n0\r\n\r\n",
    ),
    "a length of 10^12": (413, raw("POST /api/state HTTP/1.1", HOST, TYPE, f"Content-Length: {10**12}")),
    "a negative length": (400, raw("POST /api/state HTTP/1.1", HOST, TYPE, "Content-Length: -1")),
    "two lengths": (400, raw("POST /api/state HTTP/1.1", HOST, "Content-Length: 2", "Content-Length: 3", body=b"{}")),
    "not JSON": (422, post("/api/state", b"{")),
    "no body": (422, post("/api/state", b"")),
    "letters of no encoding": (400, post("/api/state", b'{"puzzle": "\xff\xfe"}')),
    "JSON 30,000 deep": (400, post("/api/state", b"[" * 30_000 + b"]" * 30_000)),
    "an object 10,000 deep": (400, post("/api/state", b'{"a":' * 10_000 + b"1" + b"}" * 10_000)),
    "a list": (422, post("/api/state", [STATE])),
    "a number of 60,000 digits": (400, post("/api/scramble", b'{"puzzle": "cube2", "length": ' + b"9" * 60_000 + b"}")),
    "an unknown field": (422, post("/api/state", STATE | {"<script>alert(1)</script>": 1})),
    "two ways to say a state": (422, post("/api/state", STATE | {"moves": "U"})),
    "no state": (422, post("/api/state", {"puzzle": "puzzle8"})),
    "from without moves": (422, post("/api/state", STATE | {"from": "1 2 3 4 5 6 7 8 0"})),
    "an unknown puzzle": (422, post("/api/state", STATE | {"puzzle": "cube9"})),
    "a puzzle too large": (422, post("/api/scramble", {"puzzle": "hanoi_999"})),
    "a puzzle that is a path": (422, post("/api/scramble", {"puzzle": "../../etc/passwd"})),
    "letters of a puzzle that look alike": (422, post("/api/scramble", {"puzzle": "ｃube2"})),
    "null bytes": (422, post("/api/state", STATE | {"puzzle": "cube2\x00"})),
    "half a letter": (422, post("/api/state", b'{"puzzle": "\\ud800", "state": "\\ud800"}')),
    "10^9 moves": (422, post("/api/scramble", {"puzzle": "cube3", "length": 10**9})),
    "a negative length of a scramble": (422, post("/api/scramble", {"puzzle": "cube3", "length": -1})),
    "a length that is text": (422, post("/api/scramble", {"puzzle": "cube3", "length": "9"})),
    "a length that is true": (422, post("/api/scramble", {"puzzle": "cube3", "length": True})),
    "a length of 1.5": (422, post("/api/scramble", {"puzzle": "cube3", "length": 1.5})),
    "a seed too large": (422, post("/api/scramble", {"puzzle": "cube3", "seed": 2**64})),
    "moves too many": (422, post("/api/state", {"puzzle": "cube3", "moves": "R " * 20_000})),
    "moves that are none": (422, post("/api/state", {"puzzle": "cube3", "moves": "R; rm -rf /\r\nX: y"})),
    "cells too few": (422, post("/api/state", {"puzzle": "cube2", "cells": [0] * 23})),
    "cells too many": (422, post("/api/state", {"puzzle": "cube2", "cells": [0] * 2000})),
    "cells with letters there are not": (422, post("/api/state", {"puzzle": "cube2", "cells": [9] * 24})),
    "cells below zero": (422, post("/api/state", {"puzzle": "cube2", "cells": [-1] * 24})),
    "cells in cells": (422, post("/api/state", {"puzzle": "cube2", "cells": [[0]] * 24})),
    "an unknown model": (422, post("/api/searches", SEARCH | {"model": "other"})),
    "a model that is a path": (422, post("/api/searches", SEARCH | {"model": "../../results/default/models/x"})),
    "a model that is an address": (422, post("/api/values", VALUES | {"model": "http://evil.example/net"})),
    "an unknown solver": (422, post("/api/searches", SEARCH | {"solver": "__import__"})),
    "a solver that needs a model": (422, post("/api/searches", SEARCH | {"model": None})),
    "seconds below zero": (422, post("/api/searches", SEARCH | {"seconds": -1})),
    "seconds of NaN": (422, post("/api/searches", json.dumps(SEARCH | {"seconds": float("nan")}).encode())),
    "seconds without end": (422, post("/api/searches", json.dumps(SEARCH | {"seconds": float("inf")}).encode())),
    "seconds of a month": (422, post("/api/searches", SEARCH | {"seconds": 2_600_000})),
    "a state that is none": (422, post("/api/searches", SEARCH | {"state": "1 2 3"})),
    "states too many": (422, post("/api/values", VALUES | {"states": ["1 2 3 4 5 6 7 8 0"] * 600})),
    "no states": (422, post("/api/values", VALUES | {"states": []})),
    "a search there is not": (404, ("GET", "/api/searches/none", None, {})),
    "events of none": (404, ("GET", "/api/searches/..%2f..%2fx/events", None, {})),
    "an address there is not": (404, ("GET", "/api/nothing", None, {})),
    "a path out of the folder": (404, raw("GET /static/../secret.txt HTTP/1.1", HOST)),
    "the same, encoded": (404, ("GET", "/static/%2e%2e/secret.txt", None, {})),
    "the same, encoded twice": (404, ("GET", "/static/%252e%252e%252fsecret.txt", None, {})),
    "the same, with backslashes": (404, ("GET", "/static/..%5csecret.txt", None, {})),
    "an absolute path": (404, ("GET", "/static//etc/passwd", None, {})),
    "a null byte in a path": (404, ("GET", "/static/deep/page.js%00", None, {})),
    "a file of another kind": (404, ("GET", "/static/notes.md", None, {})),
    "a folder": (404, ("GET", "/static/deep", None, {})),
    "pages of documentation": (404, ("GET", "/docs", None, {})),
    "a long path": (414, ("GET", "/" + "a" * 5_000, None, {})),
    "a long query": (414, ("GET", "/?" + "a" * 9_000, None, {})),
    "long headers": (431, ("GET", "/", None, {"x": "a" * 40_000})),
    "many headers": (431, raw("GET / HTTP/1.1", HOST, *["X: a"] * 10_000)),
    "HEAD": (405, raw("HEAD / HTTP/1.1", HOST)),
    "PUT": (405, ("PUT", "/api/state", b"{}", {})),
    "PATCH": (405, ("PATCH", "/api/state", b"{}", {})),
    "OPTIONS": (405, ("OPTIONS", "/api/state", None, {"origin": None})),
    "TRACE": (405, ("TRACE", "/", None, {})),
    "CONNECT": (405, raw("CONNECT localhost:80 HTTP/1.1", HOST)),
    "a method of nobody": (405, ("BREW", "/", None, {})),
    "POST to a file": (405, post("/static/deep/page.js", {})),
    "GET where only POST is": (405, ("GET", "/api/state", None, {})),
    "no HTTP": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20 + b"\r\n\r\n"),
    "a line break within a header": (400, raw("GET / HTTP/1.1", HOST, "X: a\rb: c")),
}  # fmt: skip


def answer(page, request) -> tuple[int, dict, bytes]:
    if isinstance(request, tuple):
        method, path, body, headers = request
        found = page.ask(method, path, body, **headers)
        return found.status, found.headers, found.body
    reply = page.raw(request)
    response = HTTPResponse(_Stream(reply), method=request.split(b" ")[0].decode("latin-1"))
    response.begin()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()


class _Stream:
    """Bytes as http.client reads a socket."""

    def __init__(self, content: bytes):
        self.content = content

    def makefile(self, mode: str) -> BytesIO:
        return BytesIO(self.content)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_is_refused_with_one_sentence_and_the_server_lives(page, name):
    status, headers, body = answer(page, BAD[name][1])
    assert status == BAD[name][0], body
    if not name == "HEAD":
        told = json.loads(body)["error"] if headers["content-type"] == "application/json" else body.decode()
        assert is_one_sentence(told) and len(told) < 300, told
        assert headers["content-type"] in ("application/json", "text/plain; charset=utf-8")
    assert page.ask("POST", "/api/state", STATE).status == 200


def test_nothing_ran_for_bad_requests(page):
    assert not page.service.searches.known


RESPONSES = {
    "the page": ("GET", "/", None, {}),
    "a file": ("GET", "/static/deep/page.js", None, {}),
    "the description": ("GET", "/api/openapi.json", None, {}),
    "an answer": post("/api/state", STATE),
    "a refusal of the application": post("/api/state", STATE | {"puzzle": "none"}),
    "nothing": ("GET", "/nothing", None, {}),
    "a refusal of the guard": ("GET", "/", None, {"host": "evil.example"}),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_every_response_carries_the_headers_of_safety(page, name):
    method, path, body, headers = RESPONSES[name]
    found = page.ask(method, path, body, **headers).headers
    assert {key: found[key] for key in safety.HEADERS} == safety.HEADERS
    assert found["cache-control"] == ("no-cache" if name in ("the page", "a file") else "no-store")
    assert "server" not in found and not [key for key in found if key.startswith("access-control-")]


def test_the_content_policy_names_nothing_but_this_server():
    rules = dict(rule.split(" ", 1) for rule in safety.SECURITY_POLICY.split("; "))
    assert rules.pop("img-src") == "'self' data:"
    assert set(rules.values()) == {"'none'", "'self'"}
    closed = {name for name, value in rules.items() if value == "'none'"}
    assert closed >= {"default-src", "base-uri", "form-action", "frame-ancestors"}


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9000", "127.0.0.1", "127.0.0.1:1", "[::1]:8000"], ids=lambda host: host
)
def test_the_server_answers_to_its_own_names_at_any_port(page, host):
    assert page.ask("GET", "/", host=host).status == 200, "a tunnel may end at another port"
    assert page.ask("GET", "/", host=host, origin=f"http://{host}").status == 200


def test_a_link_from_another_site_opens_the_page(page):
    assert page.ask("GET", "/", sec_fetch_site="cross-site", sec_fetch_dest="document").status == 200


def test_files_are_served_as_what_they_are_and_not_again_where_nothing_changed(page, static):
    found = page.ask("GET", "/static/deep/page.js")
    assert found.body == b"export const one = 1;"
    assert found.headers["content-type"] == "text/javascript; charset=utf-8"
    again = page.ask("GET", "/static/deep/page.js", if_none_match=found.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    (static / "deep" / "page.js").write_text("export const two = 2;")
    assert page.ask("GET", "/static/deep/page.js", if_none_match=found.headers["etag"]).body == b"export const two = 2;"


def test_the_text_of_a_user_comes_back_as_json_alone(page):
    found = page.ask("POST", "/api/state", {"puzzle": "<img src=x onerror=alert(1)>", "state": "1"})
    assert found.status == 422 and "<img" in found.json["error"]
    assert found.headers["content-type"] == "application/json"
    assert found.headers["x-content-type-options"] == "nosniff"


def test_a_body_that_does_not_come_is_not_waited_for(page, monkeypatch):
    monkeypatch.setattr(safety, "BODY_SECONDS", 0.1)
    head = raw("POST /api/state HTTP/1.1", HOST, TYPE, "Content-Length: 50")
    assert page.raw(head).startswith(b"HTTP/1.1 408 ")


@pytest.fixture(scope="module")
def guarded(static):
    """A server that others can reach, as far as it knows."""
    with running(workers=1, static=static, token="right-token", addresses=True) as found:
        yield found


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer wrong"}, {"authorization": "right-token"}, {"cookie": "costtogo_1=right-token"},
     {"cookie": "=;;=,;a b;\""}, {"authorization": "Bearer "}, {"authorization": "Bearer right-token\xe9"}],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/static/deep/page.js", "/api/puzzles", "/api/openapi.json", "/api/nothing"])
def test_without_the_token_there_is_nothing(guarded, path, headers):
    found = guarded.ask("GET", path, **headers)
    assert found.status == 401 and is_one_sentence(found.json["error"])
    assert found.headers["x-content-type-options"] == "nosniff"


def test_a_wrong_token_in_the_address_is_refused(guarded):
    assert guarded.ask("GET", "/?token=wrong").status == 401
    assert guarded.ask("GET", "/api/puzzles?token=right-token").status == 401, "it opens the page alone"


def test_the_address_with_the_token_leaves_a_cookie_that_opens_everything(guarded):
    found = guarded.ask("GET", "/?token=right-token")
    assert (found.status, found.headers["location"], found.body) == (303, "/", b"")
    cookie = found.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and f"costtogo_{guarded.port}=" in cookie
    opened = cookie.partition(";")[0]
    assert guarded.ask("GET", "/", cookie=opened).status == 200
    assert guarded.ask("POST", "/api/state", STATE, cookie=f"other=1; {opened}").status == 200


FOREIGN = (
    'theme={"dark":true}', "a[b]=1", "name=Jürgen", "user=Doe, Jane", "flag", "a=b c", 'k="v; x"', "=", "costtogo_1=x",
    'k="v"; ok', "x=costtogo_{port}=wrong", "costtogo_{port}=of-another-path", 'open="', "a=1;b=2",
)  # fmt: skip


@pytest.mark.parametrize("foreign", FOREIGN)
def test_cookies_of_other_programs_on_the_host_shut_nobody_out(guarded, foreign):
    foreign, own = foreign.replace("{port}", str(guarded.port)), f"costtogo_{guarded.port}=right-token"
    for cookie in (f"{foreign}; {own}", f"{own}; {foreign}", f"{foreign};{own} ;{foreign}"):
        assert guarded.ask("POST", "/api/state", STATE, cookie=cookie).status == 200
    assert guarded.ask("POST", "/api/state", STATE, cookie=foreign).status == 401


def test_a_program_shows_the_token_in_a_header(guarded):
    assert guarded.ask("POST", "/api/state", STATE, authorization="Bearer right-token").status == 200


def test_tokens_are_compared_in_constant_time(guarded, monkeypatch):
    compared = []
    monkeypatch.setattr(safety.secrets, "compare_digest", lambda *pair: compared.append(pair) or False)
    assert guarded.ask("GET", "/api/puzzles", authorization="Bearer right-token").status == 401
    assert compared == [(b"right-token", b"right-token")]


def test_a_server_that_others_reach_answers_to_addresses_but_to_no_other_names(guarded):
    token = {"authorization": "Bearer right-token"}
    assert guarded.ask("POST", "/api/state", STATE, host="192.0.2.7:8000", **token).status == 200
    assert guarded.ask("POST", "/api/state", STATE, host="evil.example", **token).status == 403
