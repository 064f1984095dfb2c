"""Worker processes as the server sees them: started, given a job at a time, watched, killed.

What goes between is lines of JSON, see costtogo.page.worker; nothing is unpickled.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

from costtogo.memory import machine_memory

MOST_MEMORY = 6 << 30  # bytes of one process, or a third of the machine's memory if that is less
LONGEST_LINE = 1 << 26  # bytes of an answer
START_SECONDS = 120.0  # for a new process to load its modules
WATCH_SECONDS = 0.1  # between two looks at the memory of a process
KILLED, TIME, MEMORY = "killed", "time", "memory"  # why a process ended


def most_memory() -> int:
    """Bytes that a process may keep resident on this machine."""
    return min(MOST_MEMORY, machine_memory() // 3)


class Ended(Exception):
    """A process ended before its job: its argument is KILLED, TIME or MEMORY, or "" where it ended by itself."""


@dataclass
class Worker:
    """A process that does one job at a time; what follows a job that ended it is done by another process.

    module: what it computes with, see costtogo.page.worker.  memory: bytes that it may keep resident.
    threads: of each library in it.  prepare: whether a new process loads at once what its jobs may need.
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
        """Start a process unless there is a living one; return when it is ready for a job. Raises Ended."""
        async with self._lock:
            if self.process is not None and (self._killed_for or self._has_ended()):
                await self.process.wait()
            if self.process is None or self.process.returncode is not None:
                await self._spawn()
            if not self._ready:
                await self._message(START_SECONDS)
                self._ready = True

    async def run(self, call: str, limit: float, report: Callable[[dict], None], **fields) -> dict:
        """Do a job, within some seconds; its last line. Raises Ended."""
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
        """True where the process is gone, which asyncio learns a moment later."""
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # asyncio has asked for its end before
            return True

    async def _spawn(self) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), str(self.threads))
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "costtogo.page.worker", self.module, *(["prepare"] if self.prepare else [])),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            env={**os.environ, **threads},
            start_new_session=True,  # Ctrl-C is for the server
        )
        self._ready, self._killed_for = False, ""

    async def _message(self, seconds: float) -> dict:
        """The next line of the process, within some seconds; Ended where there is none, and then it is gone."""
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
        """Kill the process when it keeps more memory than it may."""
        try:
            process = psutil.Process(self.process.pid)
            while process.memory_info().rss <= self.memory:
                await asyncio.sleep(WATCH_SECONDS)
        except psutil.NoSuchProcess:
            return
        self.kill(MEMORY)
