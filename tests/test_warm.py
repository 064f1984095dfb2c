"""Commands that begin warm are to their caller what they are when they begin cold."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm

MAIN = """
import os, resource, signal, sys, time
from pathlib import Path

def main():
    what = sys.argv[1]
    if what == "say":
        print(Path(__file__).parents[1], Path.cwd(), *sys.argv[2:], os.environ["TOLD"], sys.stdin.read())
        print(Path(sys.argv[0]).name, *resource.getrlimit(resource.RLIMIT_FSIZE), file=sys.stderr)
        sys.exit(7)
    if what == "wait":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
        print(os.getpid(), flush=True)
        time.sleep(60)
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "fail":
        raise ValueError("a mistake")
"""


@pytest.fixture(params=["warm", "cold"])
def command(request, tmp_path):
    """How to begin a made-up command of the project, and what it is given."""
    package = tmp_path / "sources" / "costtogo"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "cli.py").write_text(MAIN)
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "TOLD": "by the caller"}
    program = [warm.programs() / "costtogo"]
    if request.param == "cold":
        program = [sys.executable, "-c", "import sys; from costtogo.cli import main; sys.argv[0] = 'costtogo'; main()"]
    return program, {"cwd": tmp_path, "env": environment, "text": True}


def test_folder_sources_arguments_environment_limits_and_standard_files_are_the_callers(command, tmp_path):
    program, options = command
    limited = ["bash", "-c", 'ulimit -f 2; exec "$@"', "bash", *program, "say", "two words"]
    done = subprocess.run(limited, **options, input="typed", capture_output=True)
    assert done.returncode == 7
    assert done.stdout == f"{tmp_path / 'sources'} {tmp_path} two words by the caller typed\n"
    assert done.stderr == "costtogo 2048 2048\n"


def test_a_command_ends_as_it_would(command):
    program, options = command
    assert subprocess.run([*program, "die"], **options).returncode == -signal.SIGKILL
    failed = subprocess.run([*program, "fail"], **options, capture_output=True)
    assert failed.returncode == 1 and failed.stderr.endswith("ValueError: a mistake\n")
    assert subprocess.run([*program, "nothing"], **options).returncode == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 3), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_signal_to_the_caller_reaches_the_command(command, number, code):
    program, options = command
    with subprocess.Popen([*program, "wait"], **options, stdout=subprocess.PIPE) as caller:
        process = Path("/proc", caller.stdout.readline().strip())
        caller.send_signal(number)
        assert caller.wait(timeout=60) == code
        ends = time.monotonic() + 60
        while process.exists():
            assert time.monotonic() < ends
            time.sleep(0.01)
