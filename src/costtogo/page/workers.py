"""Worker processes, and a bounded queue of jobs for them: a few jobs run at once, some wait, more are refused.

A server and its processes exchange lines of JSON, see costtogo.page.worker_process; nothing is unpickled.
"""

import asyncio
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

from costtogo.memory import machine_memory

MOST_MEMORY = 6 << 30  # bytes of one process, or a third of the machine's memory if that is less
LONGEST_LINE = 1 << 26  # bytes of an answer
START_SECONDS = 120.0  # for a new process to load its modules
WATCH_SECONDS = 0.1  # between two looks at the memory of a process
WAITING = 18  # jobs that may wait
KEPT_SECONDS = 600.0  # a finished job is remembered
MOST_KEPT = 100  # finished jobs, the oldest of which are forgotten
GRACE_SECONDS = 60.0  # beyond the seconds of a job, for loading a network, building tables and telling the solution
EVENT_SECONDS = 0.25  # between two events of a job
# Why a job ended without an answer, "" where its process ended by itself.
KILLED, CANCELLED, TIME, MEMORY = "killed", "cancelled", "time", "memory"


def most_memory() -> int:
    """Bytes that a process may keep resident on this machine."""
    return min(MOST_MEMORY, machine_memory() // 3)


class Full(Exception):
    """No more jobs can wait."""


class Ended(Exception):
    """A process ended before its job: the argument is KILLED, TIME or MEMORY, or "" if it ended by itself."""


@dataclass
class Worker:
    """A process that does one job at a time; if a job ends it, another process does the next one.

    module: the module with the functions that it calls, see costtogo.page.worker_process.
    memory: bytes that it may keep resident.  threads: of each library in the process.
    prepare: True if a new process loads at once what its jobs may need.
    """

    module: str
    memory: int
    threads: int = 1
    prepare: bool = True
    process: asyncio.subprocess.Process | None = None
    _ready: bool = False
    _killed_for: str = ""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def start(self) -> None:
        """Start a process unless one is alive, and wait until it is ready for a job. Raises Ended."""
        async with self._lock:
            if self.process is not None and (self._killed_for or self._has_ended()):
                await self.process.wait()
            if self.process is None or self.process.returncode is not None:
                await self._spawn()
            if not self._ready:
                await self._message(START_SECONDS)
                self._ready = True

    async def run(self, call: str, limit: float, report: Callable[[dict], None], **fields) -> dict:
        """Do a job within `limit` seconds and return its last line; report gets each progress. Raises Ended."""
        await self.start()
        watch = asyncio.create_task(self._watch())
        try:
            self.process.stdin.write(json.dumps({"call": call, "limit": limit + 5, **fields}).encode() + b"\n")
            deadline = asyncio.get_running_loop().time() + limit
            while "progress" in (message := await self._message(deadline - asyncio.get_running_loop().time())):
                report(message["progress"])
            return message
        except asyncio.CancelledError:  # what it still answers must not be taken for the answer to another job
            self.kill()
            raise
        finally:
            watch.cancel()

    def kill(self, why: str = KILLED) -> None:
        """Kill the process, and what it may have started, at once."""
        if self.process is not None and self.process.returncode is None:
            self._killed_for = self._killed_for or why
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    async def stop(self) -> None:
        """Kill the process and wait until it is gone."""
        self.kill()
        if self.process is not None:
            await self.process.wait()

    def _has_ended(self) -> bool:
        """True if the process is gone; asyncio learns it a moment later."""
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # asyncio has asked for its end before
            return True

    async def _spawn(self) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), str(self.threads))
        prepare = ["prepare"] if self.prepare else []
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "costtogo.page.worker_process", self.module, *prepare),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            env={**os.environ, **threads},
            start_new_session=True,  # Ctrl-C is for the server
        )
        self._ready, self._killed_for = False, ""

    async def _message(self, seconds: float) -> dict:
        """The next line of the process, within some seconds; if none comes, the process is killed. Raises Ended."""
        try:
            async with asyncio.timeout(seconds):
                return json.loads(await self.process.stdout.readline())
        except TimeoutError:
            self.kill(TIME)
        except ValueError:  # it ended within a line, or before one, or the line is too long
            pass
        why = self._killed_for
        await self.stop()
        raise Ended(why)

    async def _watch(self) -> None:
        """Kill the process when it keeps more memory than allowed."""
        try:
            process = psutil.Process(self.process.pid)
            while process.memory_info().rss <= self.memory:
                await asyncio.sleep(WATCH_SECONDS)
        except psutil.NoSuchProcess:
            return
        self.kill(MEMORY)


@dataclass(eq=False)
class Job:
    """One call of a worker, from the queue to its end.

    call, fields: a function of the worker's module and its arguments.  seconds: how long it may run.
    progress: the latest report.  answer: None before the end, then the last line of the process, or {"ended": why}
    where the process ended first.
    listeners: how many follow its events now; when the last one leaves, the job is cancelled.
    """

    call: str
    seconds: float
    fields: dict[str, Any]
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    progress: dict = field(default_factory=dict)
    answer: dict | None = None
    started: float = 0.0
    ended: float = 0.0
    listeners: int = 0
    worker: Worker | None = None
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def waits(self) -> bool:
        """True until a worker takes it, or it ends."""
        return self.worker is None and self.answer is None

    @property
    def duration(self) -> float:
        """How long it has run, s."""
        return (self.ended or time.monotonic()) - self.started if self.started else 0.0

    def finish(self, answer: dict) -> None:
        """End with an answer; a job that has ended already keeps its own."""
        if self.answer is None:
            self.answer, self.ended, self.worker = answer, time.monotonic(), None
            self.finished.set()


class Jobs:
    """All jobs of some workers; used from the server's event loop alone.

    waiting: jobs that may wait.  grace: seconds added to those of each job.
    """

    def __init__(self, workers: list[Worker], waiting: int = WAITING, grace: float = GRACE_SECONDS):
        self.workers, self.most, self.grace = workers, len(workers) + waiting, grace
        self.known: dict[str, Job] = {}  # the oldest first
        self._arrived = asyncio.Semaphore(0)
        self._tasks: list[asyncio.Task] = []

    @property
    def waiting(self) -> list[Job]:
        """The jobs in the queue, the next one first."""
        return [job for job in self.known.values() if job.waits]

    @property
    def listeners(self) -> int:
        """How many follow any job."""
        return sum(job.listeners for job in self.known.values())

    def start(self) -> None:
        """Begin to work."""
        self._tasks = [asyncio.create_task(self._work(worker)) for worker in self.workers]

    async def stop(self) -> None:
        """End all jobs and all processes."""
        for job in self.known.values():
            job.finish({"ended": KILLED})
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.stop() for worker in self.workers))

    def submit(self, call: str, seconds: float, fields: dict[str, Any]) -> Job:
        """Queue a job. Raises Full."""
        if sum(job.answer is None for job in self.known.values()) >= self.most:
            raise Full
        self._forget()
        job = Job(call, seconds, fields)
        self.known[job.id] = job
        self._arrived.release()
        return job

    def cancel(self, job: Job) -> None:
        """End a job, whether it waits or runs; a finished one stays as it is."""
        worker = job.worker
        job.finish({"ended": CANCELLED})
        if worker is not None:
            worker.kill()

    def position(self, job: Job) -> int:
        """Its place in the queue, 1 for the next one; 0 if it does not wait."""
        return self.waiting.index(job) + 1 if job.waits else 0

    async def follow(self, job: Job) -> AsyncIterator[Job]:
        """The job a few times a second, at last as it ended. It is cancelled when its last follower leaves."""
        job.listeners += 1
        try:
            while job.answer is None:
                yield job
                with suppress(TimeoutError):
                    await asyncio.wait_for(job.finished.wait(), EVENT_SECONDS)
            yield job
        finally:
            job.listeners -= 1
            if not job.listeners:
                self.cancel(job)

    async def _work(self, worker: Worker) -> None:
        """Do one job after another; a process that a job ended is replaced at once."""
        while True:
            with suppress(Ended):  # the next job fails to start it, too, and says so
                await worker.start()
            await self._arrived.acquire()
            if waiting := self.waiting:
                await self._run(waiting[0], worker)

    async def _run(self, job: Job, worker: Worker) -> None:
        job.worker = worker
        try:
            await worker.start()
            if job.answer is None:
                job.started = time.monotonic()
                job.finish(await worker.run(job.call, job.seconds + self.grace, job.progress.update, **job.fields))
        except Ended as ended:
            job.finish({"ended": ended.args[0]})

    def _forget(self) -> None:
        """Drop finished jobs that are old or too many."""
        finished = [job for job in self.known.values() if job.answer is not None]
        oldest = time.monotonic() - KEPT_SECONDS
        for place, job in enumerate(sorted(finished, key=lambda each: each.ended, reverse=True)):
            if place >= MOST_KEPT or job.ended < oldest:
                del self.known[job.id]
