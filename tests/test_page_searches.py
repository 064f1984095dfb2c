"""Searches of the page: a few run in processes of their own, some wait, and nothing of them stays when they end."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from messages import is_one_sentence
from page_fakes import MOVES
from page_server import MEMORY, TESTS, running

from costtogo.page import workers as module
from costtogo.page.workers import EVENT_SECONDS, Worker
from costtogo.puzzles import make

STATE = "1 2 3 4 5 6 7 0 8"


@pytest.fixture(scope="module")
def page():
    """One server for all that leave no search behind."""
    with running(grace=20) as found:
        yield found


def process_of(found: dict) -> psutil.Process:
    """The process of a running search: the fakes tell it as nodes generated."""
    return psutil.Process(found["nodes_generated"])


def gone(process: psutil.Process) -> bool:
    """Whether a process ends soon."""
    try:
        process.wait(timeout=20)
    except psutil.TimeoutExpired:
        return False
    return True


def workers() -> set[int]:
    """The worker processes of all servers of this test."""
    return {child.pid for child in psutil.Process().children() if "costtogo.page.worker_process" in child.cmdline()}


def running_search(page, id: str) -> dict:
    """A search that has reported its process."""
    ends = time.monotonic() + 60
    while not (found := page.ask("GET", f"/api/searches/{id}").json)["nodes_generated"]:
        assert found["status"] in ("queued", "running") and time.monotonic() < ends, found
        time.sleep(0.02)
    return found


def open_events(page, id: str) -> socket.socket:
    """Follow a search, from its first event on."""
    stream = socket.create_connection(("127.0.0.1", page.port), timeout=30)
    stream.sendall(f"GET /api/searches/{id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    seen = b""
    while b"data: " not in seen:
        seen += stream.recv(65536)
    assert b"text/event-stream" in seen
    return stream


def test_a_search_is_answered_with_a_solution_step_by_step(page):
    begun = page.begin("walk")
    assert begun.status == 202 and begun.json["status"] == "queued"
    found = page.until(begun.json["id"], "solved")
    solution, puzzle = found["solution"], make("puzzle8")
    assert (solution["length"], solution["moves"], solution["lower_bound"]) == (MOVES, solution["text"].split(), None)
    assert [puzzle.format_state(puzzle.parse_state(text)) for text in solution["state_texts"]] == solution[
        "state_texts"
    ]
    assert len(solution["states"]) == len(solution["cost_to_go"]) == len(solution["exact"]) == MOVES + 1
    assert solution["exact"] == [None] * (MOVES + 1), "what is not known is null"
    assert found["told"] == "It walked." and found["nodes_expanded"] == 7 and found["position"] == 0


def test_events_are_those_of_the_search_until_it_ends(page):
    id = page.begin("sleep", seconds=3 * EVENT_SECONDS).json["id"]
    lines = page.ask("GET", f"/api/searches/{id}/events").body.decode().split("\n\n")
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line]
    assert len(events) >= 3 and lines[-1] == ""
    assert [event["status"] in ("queued", "running") for event in events] == [True] * (len(events) - 1) + [False]
    assert events[-1]["status"] == "unsolved" and events[-1]["best_length"] == 9
    assert [event["seconds"] for event in events] == sorted(event["seconds"] for event in events)
    again = page.ask("GET", f"/api/searches/{id}/events").body
    assert json.loads(again.removeprefix(b"data: ")) == events[-1], "and afterwards there is the last one alone"


@pytest.mark.parametrize(
    ("solver", "told"),
    [("refuse", "The fake refuses this search."), ("fail", "The program made an error"),
     ("die", "The process of the search ended unexpectedly")],
)  # fmt: skip
def test_a_search_that_fails_says_so_in_one_sentence(page, solver, told):
    found = page.until(page.begin(solver).json["id"], "failed")
    assert found["told"].startswith(told) and is_one_sentence(found["told"])
    assert "secret" not in found["told"]
    assert page.until(page.begin("walk").json["id"], "solved", "failed")["status"] == "solved", "the next one runs"


def test_what_a_library_prints_is_no_answer(page):
    assert page.until(page.begin("noise").json["id"], "solved", "failed")["told"] == "It walked."


def test_a_cancelled_search_frees_its_process_for_the_next(page):
    first, second, third = (page.begin("deaf").json["id"] for _ in range(3))
    process = process_of(running_search(page, first))
    running_search(page, second)
    assert page.ask("GET", f"/api/searches/{third}").json["position"] == 1
    assert page.ask("DELETE", f"/api/searches/{first}").json["status"] == "cancelled"
    assert gone(process)
    assert running_search(page, third)["status"] == "running"
    for id in (second, third):
        page.ask("DELETE", f"/api/searches/{id}")
    assert page.until(page.begin("walk").json["id"], "solved")


def test_a_waiting_search_is_cancelled_without_a_process(page):
    first, second, third = (page.begin("deaf").json["id"] for _ in range(3))
    processes = [process_of(running_search(page, id)) for id in (first, second)]
    assert page.ask("DELETE", f"/api/searches/{third}").json["status"] == "cancelled"
    assert all(process.is_running() for process in processes)
    for id in (first, second):
        page.ask("DELETE", f"/api/searches/{id}")
    assert page.ask("GET", f"/api/searches/{third}").json["nodes_generated"] == 0


def test_a_search_ends_when_the_last_one_who_follows_it_leaves(page):
    id = page.begin("deaf").json["id"]
    process = process_of(running_search(page, id))
    first, second = open_events(page, id), open_events(page, id)
    first.close()
    time.sleep(2 * EVENT_SECONDS)
    assert page.ask("GET", f"/api/searches/{id}").json["status"] == "running", "another one still follows"
    second.close()
    assert page.until(id, "cancelled") and gone(process)


def test_a_search_that_goes_on_for_too_long_is_ended():
    with running(workers=1, grace=0.2) as page:
        id = page.begin("deaf", seconds=0.2).json["id"]
        process = process_of(running_search(page, id))
        found = page.until(id, "unsolved")
        assert gone(process) and is_one_sentence(found["told"])
        assert page.until(page.begin("walk", seconds=20).json["id"], "solved")


def test_a_search_that_takes_too_much_memory_is_ended():
    with running(workers=1, memory=400 << 20) as page:
        id = page.begin("eat").json["id"]
        process = process_of(running_search(page, id))
        found = page.until(id, "failed")
        assert gone(process) and "memory" in found["told"] and is_one_sentence(found["told"])
        assert page.until(page.begin("walk").json["id"], "solved")


def test_of_twenty_searches_at_once_two_run_the_rest_waits_and_more_are_refused():
    before = workers()
    with running(waiting=17) as page:
        begun = [page.begin("deaf") for _ in range(20)]
        assert [answer.status for answer in begun] == [202] * 19 + [429]
        refused = begun.pop()
        assert refused.headers["retry-after"] == "2" and is_one_sentence(refused.json["error"])
        ids = [answer.json["id"] for answer in begun]
        processes = [process_of(running_search(page, id)) for id in ids[:2]]
        found = [page.ask("GET", f"/api/searches/{id}").json for id in ids]
        assert [search["status"] for search in found] == ["running"] * 2 + ["queued"] * 17
        assert [search["position"] for search in found] == [0, 0, *range(1, 18)]
        assert len(workers() - before) == 3, "one is for short questions"
        assert all(process.memory_info().rss < MEMORY for process in processes)
        page.ask("DELETE", f"/api/searches/{ids[5]}")
        assert page.ask("GET", f"/api/searches/{ids[6]}").json["position"] == 4, "who stood behind it moves up"
        assert page.begin("deaf").status == 202, "a place is free again"
    assert all(gone(process) for process in processes), "nothing is left when the server has stopped"


def test_many_who_come_before_the_networks_are_known_are_all_answered():
    with running(workers=1, waiting=40) as page:
        found = []
        asking = [threading.Thread(target=lambda: found.append(page.begin("deaf").status)) for _ in range(30)]
        for each in asking:
            each.start()
        for each in asking:
            each.join()
        assert found == [202] * 30


def test_finished_searches_are_forgotten(page, monkeypatch):
    def walked() -> str:
        return page.until(page.begin("walk").json["id"], "solved")["id"]

    monkeypatch.setattr(module, "MOST_KEPT", 2)
    first, *_, last = [walked() for _ in range(4)]
    forgotten = page.ask("GET", f"/api/searches/{first}")
    assert forgotten.status == 404 and "forgotten" in forgotten.json["error"]
    assert page.ask("GET", f"/api/searches/{last}").status == 200
    monkeypatch.setattr(module, "KEPT_SECONDS", 0.0)
    walked()
    assert page.ask("GET", f"/api/searches/{last}").status == 404


def test_more_followers_than_there_may_be_are_refused(page, monkeypatch):
    monkeypatch.setattr("costtogo.page.app.MOST_LISTENERS", 1)
    id = page.begin("deaf").json["id"]
    with open_events(page, id):
        assert page.ask("GET", f"/api/searches/{id}/events").status == 429
    page.until(id, "cancelled")


def test_values_come_from_a_process_of_their_own(page):
    asked = {"puzzle": "puzzle8", "model": "net", "states": [STATE, "1 2 3 4 5 6 7 8 0"]}
    assert page.ask("POST", "/api/values", asked).json == {"cost_to_go": [1.5, 1.5], "exact": [2.0, None]}
    without = page.ask("POST", "/api/values", asked | {"model": None}).json
    assert without["cost_to_go"] == [None, None]


def test_an_error_of_the_program_is_no_fault_of_the_request(page):
    goal = make("puzzle15").format_state(make("puzzle15").goal)
    found = page.ask("POST", "/api/values", {"puzzle": "puzzle15", "model": None, "states": [goal]})
    assert found.status == 500 and is_one_sentence(found.json["error"]) and "secret" not in found.json["error"]


def test_questions_that_are_too_many_are_refused(page, monkeypatch):
    monkeypatch.setattr(page.service.questions, "most", 0)
    assert page.ask("POST", "/api/values", {"puzzle": "puzzle8", "model": None, "states": [STATE]}).status == 429


def test_a_process_that_ended_while_nothing_ran_is_replaced(page):
    id = page.begin("walk").json["id"]
    process = process_of(page.until(id, "solved"))
    process.kill()
    assert gone(process)
    found = [page.until(page.begin("walk").json["id"], "solved", "failed")["status"] for _ in range(2)]
    assert found == ["solved"] * 2


def test_a_process_that_was_killed_does_no_more_jobs(monkeypatch):
    """Even when it is killed just as it answers, so that its worker has not seen it end."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), str(TESTS.parent / "src")]))

    async def killed_between_jobs() -> tuple[int, int, dict]:
        worker = Worker("page_fakes", MEMORY)
        await worker.start()
        first = worker.process.pid
        worker.kill()
        found = await worker.run("offers", 20, lambda progress: None, puzzles=[])
        second = worker.process.pid
        await worker.stop()
        return first, second, found

    first, second, found = asyncio.run(killed_between_jobs())
    assert first != second and found == {"done": {}}


def test_a_process_that_holds_pythons_lock_ends_by_itself_some_time_after_its_server_has_gone():
    worker = subprocess.Popen(
        [sys.executable, "-m", "costtogo.page.worker_process", "page_fakes"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert json.loads(worker.stdout.readline()) == {"ready": True}
    job = {"call": "search", "limit": 0.5, "puzzle": "", "model": None, "solver": "grip", "state": "", "seconds": 1}
    worker.stdin.write(json.dumps(job).encode() + b"\n")
    worker.stdin.flush()
    assert "progress" in json.loads(worker.stdout.readline())
    time.sleep(0.2)
    worker.stdin.close()
    assert worker.wait(timeout=20) == 1
    worker.stdout.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_is_left_behind_by_a_server_that_ends(how):
    server = subprocess.Popen(
        [sys.executable, "-c", "import page_server; page_server.main()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        found = json.loads(server.stdout.readline())
        processes = [psutil.Process(found["search"]), *psutil.Process(server.pid).children()]
        assert len(processes) >= 3
        server.send_signal(how)
        server.wait(timeout=20)
    finally:
        server.kill()
    assert all(gone(process) for process in processes)


def test_the_server_loads_no_torch():
    code = (
        "import sys; from costtogo.page import catalogue, server; puzzle = catalogue.find('cube3');"
        "catalogue.position(puzzle, catalogue.scramble(puzzle, 9, 1).state); server.build(server.service());"
        "catalogue.scramble(catalogue.find('sokoban'), None, 1); sys.exit('torch' in sys.modules)"
    )
    path = str(Path(module.__file__).parents[2])
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}).returncode == 0
