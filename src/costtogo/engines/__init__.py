"""Who computes with a batch of states: the processor on arrays (host), or torch on tensors of any device (device).

Everything above is written once against Engine and asks for the engine of a batch. So an array is computed where it is
today, and a tensor stays on its device. Both engines read the same rules: the host runs the puzzle's own compiled
functions, the device interprets Puzzle.rule. They give the same states, actions, hashes and orders, byte for byte, and
take the same draws from the same generators.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from costtogo.engines.host import HostEngine
from costtogo.exact.nearby import Ends
from costtogo.puzzles.base import Puzzle

DEVICE = "costtogo.engines.device"  # by its name: a stage on the processor does not run through it
Batch = Any  # np.ndarray of the host, torch.Tensor of a device


class Engine(Protocol):
    """The rules of a puzzle on batches of one kind: states uint8 [N, D], actions int64 [N], flags bool.

    xp: numpy or torch, for what both call by the same name with the same arguments.
    full: the errors of a device whose memory is full.
    Hashes are uint64 [N] on the host, and the same 64 bits as int64 on a device.
    """

    puzzle: Puzzle
    xp: ModuleType
    full: tuple[type[Exception], ...]

    def given(self, array: Any) -> Batch:
        """An array of the host, or a batch, as a batch."""

    def fetched(self, batch: Batch) -> np.ndarray:
        """A batch as an array of the host."""

    def captured(self, act: Callable[..., Any]) -> Callable[..., Any]:
        """A function of batches, which the device may record and repeat as one: see device.Captured."""

    def expand(self, states: Batch) -> tuple[Batch, Batch]:
        """Puzzle.expand: children [N, A, D], and which are legal [N, A]."""

    def legal(self, states: Batch) -> Batch:
        """Which actions are legal, [N, A]."""

    def move(self, states: Batch, actions: Batch) -> Batch:
        """Each state after its action; an illegal one leaves the state unchanged."""

    def is_goal(self, states: Batch) -> Batch:
        """Which states are solved, [N]."""

    def pick(self, legal: Batch, draws: np.ndarray) -> Batch:
        """The legal action that a uniform draw in [0, 1) chooses in each row, int64 [N]."""

    def walk(self, draws: np.ndarray) -> tuple[Batch, Batch]:
        """Puzzle.walk: states [walks, length, D] and steps [walks, length + 1], by draws of the host."""

    def random_walks(self, walks: int, length: int, generator: np.random.Generator) -> Batch:
        """base.random_walks: the states after each step, [walks, length, D]."""

    def evaluated(self, children: Batch, legal: Batch, cost_to_go: Callable[[Batch], Batch]) -> Batch:
        """The cost-to-go of children [N, A, D], float32 [N, A], inf where they are not legal."""

    def hashes(self, states: Batch) -> Batch:
        """The hash of each state, as exact.hashing.hash_states has it."""

    def distinct(self, hashes: Batch) -> tuple[Batch, Batch]:
        """The first row of each distinct hash, int64 [K], in order, and each row's index among them, int64 [N]."""

    def rows(self, flags: Batch) -> Batch:
        """The rows where flags, of any shape in one piece, are true, int64, ascending."""

    def in_order(self, values: Batch, size: int) -> Iterator[Batch]:
        """Rows of finite values [N] from the least on, of equal ones the first first, in pieces of at most size."""

    def seen(self) -> "Seen":
        """An empty set of hashes."""

    def near(self, ends: Ends, states: Batch, hashes: Batch) -> Batch:
        """The exact distance of each state, uint8 [N], nearby.FAR where it is not known."""


class Seen(Protocol):
    """A set of hashes that grows: exact.hashing.HashTable.  count: how many there are."""

    count: int

    def enter(self, hashes: Batch) -> Any:
        """Add hashes."""

    def new(self, hashes: Batch) -> Batch:
        """The rows of hashes that are not there, of equal ones only the first, ascending, int64 [M]."""


def engine_on(puzzle: Puzzle, device: str) -> Engine:
    """The engine for a device of torch: that of the host for cpu, and for a puzzle that declares no rule."""
    return HostEngine(puzzle) if device == "cpu" or puzzle.rule is None else _on_device(puzzle, device)


def engine_of(puzzle: Puzzle, batch: Batch) -> Engine:
    """The engine of a batch: that of the host for an array, that of its device for a tensor."""
    return HostEngine(puzzle) if isinstance(batch, np.ndarray) else _on_device(puzzle, batch.device.type)


@lru_cache(maxsize=8)
def _on_device(puzzle: Puzzle, device: str) -> Engine:
    return import_module(DEVICE).DeviceEngine(puzzle, device)
