"""The progress of long work: lines on stderr, and the reports of a search to a watcher.

Solvers report where they check the clock. Nobody watches unless `watching` is used; without it a report costs nothing.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np

REPORT_SECONDS = 10  # between two lines of progress
SECONDS_BETWEEN = 0.2  # between two calls of a watcher
MARGIN = 2  # times longer than the work before may work of the same size take, as memory grows


def say(line: str) -> None:
    """Write a line of progress to stderr."""
    print(line, file=sys.stderr, flush=True)


def with_progress(items: Iterable, count: int, name: str) -> Iterator:
    """The `count` items, with a line of progress every REPORT_SECONDS."""
    begun = said = time.monotonic()
    for done, item in enumerate(items):
        if done and (now := time.monotonic()) - said >= REPORT_SECONDS:
            left = (now - begun) / done * (count - done)
            say(f"{name}: {done} of {count} searched, {left // 60:.0f}:{left % 60:02.0f} left")
            said = now
        yield item


@dataclass
class Clock:
    """When a search ends, and how large a step it may begin before: by the last one's rate it should end in time.

    deadline: of time.monotonic.  rate: seconds for a unit of work, whatever the search counts.
    """

    deadline: float
    rate: float = 0.0
    _done: float = 0.0
    _at: float = field(default_factory=lambda: time.monotonic())

    @classmethod
    def of(cls, seconds: float) -> "Clock":
        """One that begins now."""
        return cls(time.monotonic() + seconds)

    @property
    def is_up(self) -> bool:
        """True once the deadline has passed."""
        return time.monotonic() >= self.deadline

    def room(self, done: float) -> float:
        """How many units should end in time: at least one until then, so that no slow step ends a search, then none.

        done: units so far, by which the rate since the last call is known.
        """
        now = time.monotonic()
        if done > self._done:
            self.rate = (now - self._at) / (done - self._done)
        self._done, self._at, left = done, now, self.deadline - now
        if left <= 0:
            return 0.0
        return max(1.0, left / (MARGIN * self.rate)) if self.rate else np.inf


@dataclass(frozen=True)
class Progress:
    """Work done so far.

    best_length: moves of the best solution found, inf if there is none.  told: what the search is at, in words.
    """

    nodes_expanded: int
    nodes_generated: int
    best_length: float = np.inf
    told: str = ""


@dataclass
class Watch:
    """A watcher, the work of searches that have ended, and when the watcher was last called."""

    call: Callable[[Progress], None]
    ended: Progress = Progress(0, 0)
    last: float = field(default=-np.inf)


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(call: Callable[[Progress], None] | None) -> Iterator[None]:
    """Let the searches in the block call a watcher, if any, up to five times a second."""
    token = _watch.set(None if call is None else Watch(call))
    try:
        yield
    finally:
        _watch.reset(token)


def report(searches: Callable[[], tuple[int, int]], told: Callable[[], str] = str) -> None:
    """Report the progress of the running search.

    searches: returns its nodes expanded and generated.  told: what it is at, in words.
    """
    watch = _watch.get()
    if watch is None or (now := time.monotonic()) - watch.last < SECONDS_BETWEEN:
        return
    watch.last = now
    (expanded, generated), ended = searches(), watch.ended
    nodes = ended.nodes_expanded + expanded, ended.nodes_generated + generated
    watch.call(Progress(*nodes, ended.best_length, told()))


def report_ended(nodes_expanded: int, nodes_generated: int, best_length: float) -> None:
    """Set the total work of the searches that have ended, and the best solution so far, for all later reports."""
    watch = _watch.get()
    if watch is not None:
        watch.ended = Progress(nodes_expanded, nodes_generated, best_length)
