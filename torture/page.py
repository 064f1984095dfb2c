"""Malformed requests to the API of `costtogo serve`: they go to the application itself, within this process."""

import asyncio
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from costtogo.page import core
from costtogo.page.app import Service, build
from costtogo.page.safety import Guard
from costtogo.page.worker_process import plain
from costtogo.page.workers import Jobs, Worker
from torture.calls import LONGEST, alarmed, is_sentence, within
from torture.parameters import nested, spoilt
from torture.shell import changed_letters
from torture.trials import Damage, Kind, Trial

GOAL = "1 2 3 4 5 6 7 8 0"
REQUESTS = (  # all valid
    ("scramble", {"puzzle": "cube3", "length": 20, "seed": 7}),
    ("scramble", {"puzzle": "sokoban", "seed": 7}),
    ("state", {"puzzle": "hanoi_4", "state": "0121"}),
    ("state", {"puzzle": "puzzle8", "cells": [1, 2, 3, 4, 5, 6, 7, 0, 8]}),
    ("state", {"puzzle": "cube2", "moves": "R U' F2"}),
    ("state", {"puzzle": "puzzle8", "moves": "D R", "from": GOAL}),
    ("state", {"puzzle": "sokoban", "state": "#####|#@-.#|#-$-#|#---#|#####"}),
    ("state", {"puzzle": "cube3", "state": "RRRUUFFFFLDBFRLUULRRUBFLFFBUULDDLFRBBBDBLLLBRUDDDBRDUD"}),
    ("state", {"puzzle": "cube3", "moves": "[R U: F2] M' x (Rw2)3 // end"}),
    ("state", {"puzzle": "puzzle15", "state": "[[1,2,3,4],[5,14,7,6],[9,10,0,8],[13,12,15,11]]"}),
    ("values", {"puzzle": "hanoi_4", "model": None, "states": ["0121", "0000"]}),
    ("values", {"puzzle": "hanoi_7", "model": "hanoi_7", "states": ["0121000"]}),
    ("searches", {"puzzle": "puzzle8", "model": None, "solver": "exact", "state": GOAL, "seconds": 1}),
    ("searches", {"puzzle": "hanoi_7", "model": "hanoi_7", "solver": "bwas", "state": "0121000", "seconds": 1}),
)
VALUES = (
    None, True, -1, 0, 2, 1.5, 2**53, 2**64, 10**400, 1e308, "", " ", "x" * 300, "λ", "\u202e", "\ud800", "🧩", "nan",
    [], {}, [[]], [None], [256] * 9, [0] * 9, [1e9], {"a": 1}, "puzzle15", "cube5", "hanoi_7", "mcts", "../..",
    "<script>", "0" * 5000, "R" * 30000, "(" * 10_000 + "R" + ")" * 10_000, "[[" * 10_000,
    "<!DOCTYPE a [<!ENTITY x 'y'>]><S><Level Id='a'><L>&x;</L></Level></S>", "<L>" * 9000, "[R,U]^9(",
    "#" * 10_000_000, ["0121"] * 600, GOAL, "0121",
)  # fmt: skip
HOST = b"localhost"


class InProcess(Service):
    """A service that answers its questions itself, without a worker process."""

    async def ask(self, call: str, **fields) -> dict:
        """The answer of costtogo.page.core."""
        return plain(getattr(core, call)(report=lambda progress: None, **fields))


def malformed(generator: random.Random, fields: dict[str, Any]) -> bytes:
    """The body of a request with a few changes of its fields, or with damaged bytes."""
    if generator.random() < 0.2:
        return spoilt(generator, json.dumps(fields).encode())[1]
    fields = dict(fields)
    for _ in range(generator.choice([1, 1, 2])):
        key, value = generator.choice(list(fields) or ["puzzle"]), generator.choice(VALUES)
        old = fields.get(key)
        way = generator.choice(["replace", "replace", "letters", "leave out", "one more", "nested"])
        if way == "replace":
            fields[key] = value
        elif way == "letters" and isinstance(old, str):
            fields[key] = changed_letters(generator, old)
        elif way == "letters" and isinstance(old, list) and old:
            fields[key] = [*old, generator.choice([old[0], value])]
        elif way == "leave out":
            fields.pop(key, None)
        elif way == "one more":
            fields[generator.choice(["zz", "state", "cells", "moves", "from", "model", "length"])] = value
        elif way == "nested":
            fields[key] = nested(generator.choice([3, 90]))
    body = generator.choice([fields] * 9 + [value])
    return json.dumps(body).encode("utf-8", "surrogatepass")


async def ask(app: Guard, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    """Send a request; returns the status and the body of the answer."""
    length = str(len(body)).encode()
    headers = [(b"host", HOST), (b"content-type", b"application/json"), (b"content-length", length)]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    sent: list[dict] = []
    incoming = [{"type": "http.disconnect"}, {"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict:
        return incoming.pop() if len(incoming) > 1 else incoming[0]

    async def send(message: dict) -> None:
        sent.append(message)

    await app(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], content


async def check(app: Guard, path: str, body: bytes) -> None:
    """Damage unless a request gets a sensible answer or a refusal of one sentence."""
    status, content = await ask(app, "POST", f"/api/{path}", body)
    answer = json.loads(content)
    if 400 <= status < 500:
        if not is_sentence(answer.get("error", "")) or len(answer) != 1:
            raise Damage(f"refused with {content[:LONGEST]!r}")
    elif status == 202 and path == "searches":
        await ask(app, "DELETE", f"/api/searches/{answer['id']}", b"")
    elif status == 200 and path in ("scramble", "state"):
        again = {"puzzle": json.loads(body)["puzzle"], "state": answer["state"]}
        _, known = await ask(app, "POST", "/api/state", json.dumps(again).encode())
        if json.loads(known).get("cells") != answer["cells"]:
            raise Damage(f"answered with a state that is refused: {content[:LONGEST]!r}")
    elif status == 200 and path == "values":
        if len(answer["exact"]) != len(json.loads(body)["states"]):
            raise Damage(f"answered with {content[:LONGEST]!r}")
    else:
        raise Damage(f"status {status}, {content[:LONGEST]!r}")


def application() -> Guard:
    """The application behind its guard; its searches wait, because nothing starts them."""
    worker = Worker("costtogo.page.core", memory=1 << 30)
    return Guard(build(InProcess(Jobs([worker]), worker)), {HOST.decode()})


@contextmanager
def ready(work: Path) -> Iterator[Trial]:
    """One application for all trials; searches are queued and cancelled."""
    app, loop = application(), asyncio.new_event_loop()

    def trial(generator: random.Random, number: int) -> None:
        path, fields = generator.choice(REQUESTS)
        body = malformed(generator, fields)
        try:
            with alarmed():
                loop.run_until_complete(check(app, path, body))
        except Damage as damage:
            raise Damage(f"/api/{path} {body[:200]!r}: {damage}") from damage

    with within(work):
        yield trial
    loop.close()


KIND = Kind("page", "Malformed requests to the API of `costtogo serve`", 1000, ready)
