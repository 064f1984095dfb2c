"""The queue of searches: a few run at once, each in a process of its own, some wait, more are refused."""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from costtogo.page.processes import KILLED, MEMORY, TIME, Ended, Worker

WAITING = 18  # searches that may wait
KEPT_SECONDS = 600.0  # a finished search is remembered
MOST_KEPT = 100  # finished searches, the oldest of which are forgotten
GRACE_SECONDS = 60.0  # beyond the seconds of a search, for loading a network, building tables and telling the solution
EVENT_SECONDS = 0.25  # between two events of a search
MOST_LISTENERS = 64  # of all searches
QUEUED, RUNNING, SOLVED, UNSOLVED, CANCELLED, FAILED = "queued", "running", "solved", "unsolved", "cancelled", "failed"
ENDED = {  # the status of a search whose process ended, and what is told of it
    TIME: (UNSOLVED, "Not solved: the search went far beyond its seconds and was ended."),
    MEMORY: (FAILED, "Not solved: the search took more memory than it may; try another solver or an easier state."),
    KILLED: (CANCELLED, "The search was ended because the server stops."),
    "": (FAILED, "The process of the search ended unexpectedly; try again."),
}


class Full(Exception):
    """No more searches can wait."""


@dataclass
class Search:
    """One search, from the queue to its end.

    job: what the worker is asked: puzzle, model, solver, state and seconds.
    listeners: how many follow its events now; when the last one leaves, the search is cancelled.
    """

    job: dict
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    status: str = QUEUED
    told: str = "The search waits for its turn."
    progress: dict = field(default_factory=dict)
    solution: dict | None = None
    started: float = 0.0
    ended: float = 0.0
    listeners: int = 0
    worker: Worker | None = None
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, worker: Worker) -> None:
        """It runs from now on."""
        self.status, self.told, self.started, self.worker = RUNNING, "The search runs.", time.monotonic(), worker

    def finish(self, status: str, told: str) -> None:
        """It has ended; what ended first counts."""
        if not self.finished.is_set():
            self.status, self.told, self.ended, self.worker = status, told, time.monotonic(), None
            self.started = self.started or self.ended
            self.finished.set()

    def answered(self, message: dict) -> None:
        """End with the last line of the worker."""
        if "done" not in message:
            return self.finish(FAILED, message.get("refused") or message["failed"])
        done = message["done"]
        self.progress |= done["progress"]
        self.solution = done["solution"]
        self.finish(UNSOLVED if self.solution is None else SOLVED, done["told"])

    @property
    def seconds(self) -> float:
        """How long it has run."""
        if not self.started:
            return 0.0
        return (self.ended or time.monotonic()) - self.started


class Searches:
    """All searches of a server; used from its event loop alone."""

    def __init__(self, workers: list[Worker], waiting: int = WAITING, grace: float = GRACE_SECONDS):
        self.workers, self.most_waiting, self.grace = workers, waiting, grace
        self.known: dict[str, Search] = {}
        self.waiting: deque[Search] = deque()
        self.listeners = 0
        self._arrived = asyncio.Semaphore(0)
        self._tasks: list[asyncio.Task] = []

    def start(self) -> None:
        """Begin to work."""
        self._tasks = [asyncio.create_task(self._work(worker)) for worker in self.workers]

    async def stop(self) -> None:
        """End all searches and all processes."""
        for search in self.known.values():
            search.finish(*ENDED[KILLED])
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.stop() for worker in self.workers))

    def submit(self, job: dict) -> Search:
        """Queue a search. Raises Full."""
        unfinished = sum(not search.finished.is_set() for search in self.known.values())
        if unfinished >= len(self.workers) + self.most_waiting:
            raise Full
        self._forget()
        search = Search(job)
        self.known[search.id] = search
        self.waiting.append(search)
        self._arrived.release()
        return search

    def cancel(self, search: Search) -> None:
        """End a search, whether it waits or runs; a finished one stays as it is."""
        worker = search.worker
        search.finish(CANCELLED, "The search was cancelled.")
        if search in self.waiting:
            self.waiting.remove(search)
        if worker is not None:
            worker.kill()

    def position(self, search: Search) -> int:
        """Its place in the queue, 1 the next one; 0 of one that does not wait."""
        return self.waiting.index(search) + 1 if search in self.waiting else 0

    async def follow(self, search: Search) -> AsyncIterator[Search]:
        """The search a few times a second, at last as it ended. It is cancelled when its last follower leaves."""
        search.listeners += 1
        self.listeners += 1
        try:
            while not search.finished.is_set():
                yield search
                try:
                    await asyncio.wait_for(search.finished.wait(), EVENT_SECONDS)
                except TimeoutError:
                    pass
            yield search
        finally:
            search.listeners -= 1
            self.listeners -= 1
            if not search.listeners:
                self.cancel(search)

    async def _work(self, worker: Worker) -> None:
        """Do one search after another; a process that a search ended is replaced at once."""
        while True:
            try:
                await worker.start()
            except Ended:
                pass  # a search finds that out again, and its user is told
            await self._arrived.acquire()
            if self.waiting:
                await self._run(self.waiting.popleft(), worker)

    async def _run(self, search: Search, worker: Worker) -> None:
        limit = search.job["seconds"] + self.grace
        try:
            await worker.start()
            if search.finished.is_set():
                return
            search.begin(worker)
            search.answered(await worker.run("search", limit, search.progress.update, **search.job))
        except Ended as ended:
            search.finish(*ENDED[ended.args[0]])

    def _forget(self) -> None:
        """Drop finished searches that are old or too many."""
        finished = [search for search in self.known.values() if search.finished.is_set()]
        oldest = time.monotonic() - KEPT_SECONDS
        for place, search in enumerate(sorted(finished, key=lambda each: each.ended, reverse=True)):
            if place >= MOST_KEPT or search.ended < oldest:
                del self.known[search.id]
