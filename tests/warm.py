"""Commands of the project that start fast: forked from a process that has already imported their libraries.

A tiny study is thirteen short commands, and importing torch, Numba, pandas and Snakemake takes most of their time. One
process imports these and forks for each command. It imports nothing of the project: a command uses the sources in the
folder where it runs. Working folder, environment, limits, standard files, signals and the exit code are those of the
caller, so a test sees no difference except the time.
"""

import atexit
import gc
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

BIN = Path(sys.executable).parent
COMMANDS = {"snakemake": "snakemake.cli", "costtogo": "costtogo.cli", "dvc": "dvc.cli"}
IMPORTED = ("snakemake.cli", "snakemake.report", "snakemake.executors.local", "dvc.cli", "dvc.repo", "torch", "numba")
IMPORTED += ("torch._dynamo", "pandas", "pyarrow.parquet", "safetensors.torch", "scipy.stats", "matplotlib.pyplot")
IMPORTED += ("jinja2", "PIL.Image", "pydantic", "typer", "rich.console", "filelock", "psutil", "yaml")
WAITING = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}  # as costtogo sets it before it imports torch
LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@cache
def programs() -> Path:
    """A folder with the commands, for the front of PATH. The process that serves them ends with this one."""
    folder = Path(tempfile.mkdtemp(prefix="warm-", dir=os.environ.get("TESTS_SHARED")))
    address = folder / "socket"
    for name in COMMANDS:
        _script(folder / name, f'{sys.executable} -ISB {__file__} ask {address} {BIN / name} "$@"')
    _script(folder / "python", f'{sys.executable} "$@"')  # the rules look for the commands next to it
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | WAITING
    command = [sys.executable, __file__, "serve", address]
    server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
    assert server.stdout.readline() == b"ready\n"
    atexit.register(server.communicate)
    return folder


def _script(path: Path, command: str) -> None:
    path.write_text(f"#!/bin/sh\nexec {command}\n", encoding="utf-8")
    path.chmod(0o755)


def ask(address: str, *command: str) -> None:
    """Let the server run a command in place of this process, and end as it ends."""
    limits = [[limit, resource.getrlimit(limit)] for limit in LIMITS]
    asked = json.dumps([command, os.getcwd(), dict(os.environ), limits]).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
        server.sendall(asked)
        answers = server.makefile()
        process = int(answers.readline())
        for number in FORWARDED:
            signal.signal(number, lambda number, frame: os.kill(process, number))
        code = int(answers.readline())
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -code)
    sys.exit(code)


def serve(address: str) -> None:
    """Fork for each caller until standard input ends; a command whose caller was killed is killed."""
    for name in IMPORTED:
        import_module(name)
    gc.collect()
    gc.freeze()
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    callers: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as listening, selectors.DefaultSelector() as selector:
        listening.bind(address)
        listening.listen(64)
        for source in (listening, woken, sys.stdin):
            selector.register(source, selectors.EVENT_READ)
        print("ready", flush=True)
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    _end(callers)
                elif key.fileobj is listening:
                    caller, _ = listening.accept()
                    files, asked = _request(caller)
                    process = os.fork()
                    if not process:
                        selector.close()
                        for each in (listening, woken, waker, caller, *callers.values()):
                            each.close()
                        return run(files, *asked)
                    for file in files:
                        os.close(file)
                    caller.sendall(f"{process}\n".encode())
                    callers[process] = caller
                    selector.register(caller, selectors.EVENT_READ)
                elif key.fileobj is woken:
                    woken.recv(4096)
                    _tell(callers, selector)
                elif key.fileobj in callers.values():  # its end: it sends nothing
                    _kill(next(process for process, caller in callers.items() if caller is key.fileobj))
                    selector.unregister(key.fileobj)


def _request(caller: socket.socket) -> tuple[list[int], list]:
    """The standard files of a caller, and its command, folder, environment and limits."""
    length, files, _, _ = socket.recv_fds(caller, 4, 3)
    left, parts = int.from_bytes(length, "big"), []
    while left:
        parts.append(caller.recv(left))
        left -= len(parts[-1])
    return files, json.loads(b"".join(parts))


def _tell(callers: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    """Report to callers how their finished commands ended."""
    while callers:
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        caller = callers.pop(process)
        try:
            selector.unregister(caller)
            caller.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        except (KeyError, OSError):  # it was killed
            pass
        caller.close()


def _end(callers: dict[int, socket.socket]) -> None:
    for process in callers:
        _kill(process)
    os._exit(0)


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(files: list[int], command: list[str], folder: str, environment: dict[str, str], limits: list) -> None:
    """Run as the command of the caller: in a fork, until this process ends."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for limit, values in limits:
        resource.setrlimit(limit, values)
    programs = str(Path(sys.argv[2]).parent)
    if environment.get("PATH", "").startswith(programs):
        sys.executable = f"{programs}/python"
    first = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.argv[:] = command
    sys.path[:] = [str(Path(command[0]).parent), *first, *sys.path[1:]]
    sys.exit(import_module(COMMANDS[Path(command[0]).name]).main())


if __name__ == "__main__":
    {"ask": ask, "serve": serve}[sys.argv[1]](*sys.argv[2:])
