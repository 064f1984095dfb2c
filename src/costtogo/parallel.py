"""Several processes that train one network: the part each one computes, and how the parts are combined.

All processes begin with the same weights, draw the same numbers and take the same decisions. Two tasks take nearly all
the time, and each process computes a part of them: the states that a network evaluates (by_parts), and the rows of a
minibatch (backward). torch.distributed sums the parts over all processes, so all continue from the same numbers. A
single process computes everything, and nothing is summed.
"""

import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from multiprocessing import connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import distributed
from torch.autograd.function import once_differentiable

from costtogo.types import States, UserError

BACKENDS = {"cpu": "gloo", "cuda": "cpu:gloo,cuda:nccl"}  # by device; the values of states are summed on the CPU
LONGEST = timedelta(minutes=30)  # that a process waits at one point for the others
ENDING = 10  # seconds that a process has to end on its own


class LostError(UserError):
    """A process of a group does not answer any more."""


def processes() -> int:
    """The number of processes that train together, 1 if this one is alone."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def own(rows: int) -> slice:
    """The rows out of 0 to rows - 1 that this process computes. The parts differ by at most one row."""
    rank, count = (distributed.get_rank(), processes()) if distributed.is_initialized() else (0, 1)
    return slice(rows * rank // count, rows * (rank + 1) // count)


def summed(tensor: torch.Tensor) -> torch.Tensor:
    """The sum of the tensors of all processes, in place and byte for byte equal in each; LostError if one is lost."""
    with _others_there():
        distributed.all_reduce(tensor)
    return tensor


class Summed(torch.autograd.Function):
    """The same with gradients: each process's value contributes to the errors of all."""

    @staticmethod
    def forward(context, values):
        return summed(values.clone())

    @staticmethod
    @once_differentiable
    def backward(context, gradient):
        return summed(gradient.clone())


def by_parts(evaluate: Callable[[States], np.ndarray], states: States) -> np.ndarray:
    """The values of a function of states, one row each; each process calls it with its part of the states.

    states: an array or a tensor, and so are the values.
    """
    if processes() == 1:
        return evaluate(states)
    part = torch.as_tensor(evaluate(states[own(len(states))]))
    whole = part.new_zeros((len(states), *part.shape[1:]))
    whole[own(len(states))] = part
    summed(whole)
    return whole.numpy() if isinstance(states, np.ndarray) else whole


def backward(error: Callable[..., torch.Tensor], parameters: Iterable[torch.nn.Parameter]) -> torch.Tensor:
    """Set the gradients of the mean of all errors, over all processes; returns that mean.

    error: the errors of this process's part by their reduction, mean or none.
    """
    if processes() == 1:
        loss = error(reduction="mean")
        loss.backward()
        return loss
    errors = error(reduction="none")
    errors.sum().backward()
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    counted = torch.stack([errors.detach().sum(), errors.new_tensor(errors.numel())])
    flat = summed(torch.cat([*(gradient.flatten() for gradient in gradients), counted]))
    flat /= flat[-1].clone()
    parts = flat.split([*(gradient.numel() for gradient in gradients), 2])
    for gradient, part in zip(gradients, parts, strict=False):
        gradient.copy_(part.view_as(gradient))
    return flat[-2]


def of_first(content: Any) -> Any:
    """The content that the first process has, in every process."""
    if processes() == 1:
        return content
    told = [content]
    with _others_there():
        distributed.broadcast_object_list(told, device=torch.device("cpu"))
    return told[0]


@contextmanager
def together(count: int, device: str, follow: Callable[..., None], *given: Any) -> Iterator[None]:
    """Run the block as the first of `count` processes on this machine. Each of the others calls follow(*given).

    The others are started here and end with the block, however it ends.  device: cpu, or cuda, one per process.
    Raises LostError, which says what happened, if one of them ends before the block.
    """
    if count == 1:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting = Path(folder) / "meeting"
        arguments = [(rank, count, device, meeting, follow, given) for rank in range(1, count)]
        others = [get_context("spawn").Process(target=_follow, args=each, daemon=True) for each in arguments]
        try:
            for other in others:
                other.start()
            _meet(0, count, device, meeting, others)
            yield
        except LostError as error:
            raise LostError(_what_became(others)) from error
        finally:
            for other in others:
                other.terminate()
                other.join()
            if distributed.is_initialized():
                distributed.destroy_process_group()


def _follow(rank: int, count: int, device: str, meeting: Path, follow: Callable[..., None], given: tuple) -> None:
    """Be one of the others. The first process reports whatever ends them, and they do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the first, which ends the others
    threading.Thread(target=_end_with, args=(parent_process(),), daemon=True).start()
    if device == "cuda":
        torch.cuda.set_device(rank)
    with suppress(UserError):
        _meet(rank, count, device, meeting)
        follow(*given)


def _end_with(first: BaseProcess) -> None:
    """Wait for the end of the first process, then end this one at once."""
    connection.wait([first.sentinel])
    os._exit(0)


def _meet(rank: int, count: int, device: str, meeting: Path, others: Sequence[BaseProcess] = ()) -> None:
    """Join the group through a file; the first waits for the others: LostError if one of them ends before it joins."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", _loopback())
    store = distributed.FileStore(str(meeting), count)
    store.set(f"started {rank}", "")
    while others and not store.check([f"started {each}" for each in range(count)]):
        if any(other.exitcode is not None for other in others):
            raise LostError("A process of the group did not start.")
        time.sleep(0.02)
    with _others_there():
        distributed.init_process_group(BACKENDS[device], store=store, rank=rank, world_size=count, timeout=LONGEST)


@contextmanager
def _others_there() -> Iterator[None]:
    """LostError if torch finds during the block that another process has gone."""
    try:
        yield
    except RuntimeError as error:
        raise LostError("A process of the group does not answer.") from error


def _loopback() -> str:
    """The name of the loopback network interface, by which a machine reaches only itself."""
    return next(name for _, name in socket.if_nameindex() if name.startswith("lo"))


def _what_became(others: list[BaseProcess]) -> str:
    """A sentence about the process that has ended, or one saying that none has."""
    ended = connection.wait([other.sentinel for other in others], timeout=ENDING)
    for other in others:
        if other.sentinel in ended:
            other.join()  # a process that ends closes its files a moment before its exit status can be read
    for number, other in enumerate(others, start=2):
        if other.exitcode is not None and other.exitcode < 0:
            name = signal.Signals(-other.exitcode).name
            return f"Process {number} of {len(others) + 1} was ended by {name}."
        if other.exitcode:
            return f"Process {number} of {len(others) + 1} failed."
    return f"One of {len(others) + 1} processes does not answer."
