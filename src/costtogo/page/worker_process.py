"""A worker process: it reads jobs from its standard input and writes answers, each one line of JSON.

    python -m costtogo.page.worker_process <module> [prepare]

The module has a function for each call in CALLS, which takes the fields of the job and a function `report` for its
progress. It also has a function `prepare` without arguments, which is called at the start if that is asked for. A job
is {"call", "limit", …}. Lines that come back: {"ready": true} once; then for each job any number of {"progress": {…}}
and at last one of {"done": …}, {"refused": sentence} for a user's mistake and {"failed": sentence}.

The process ends when its input is closed, so that none outlives its server. A job that never lets go of Python's lock
ends it too, `limit` seconds after its start.
"""

import faulthandler
import json
import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from queue import SimpleQueue
from types import ModuleType
from typing import Any, TextIO

from costtogo.types import UserError

CALLS = ("offers", "search", "values")
REPORT_SECONDS = 0.1  # at least, between two reports of progress
FAILED = "The program made an error, which the terminal of the server shows."
NO_MEMORY = "There was not enough memory: choose another solver or an easier state."


def main() -> None:
    """Do jobs until the standard input is closed."""
    # Whatever prints, numba or torch among them, must not get between the lines of JSON.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    jobs: SimpleQueue[dict] = SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin, jobs), daemon=True).start()
    module = import_module(sys.argv[1])
    if sys.argv[2:] == ["prepare"]:
        module.prepare()
    _send(out, {"ready": True})
    while True:
        _send(out, _answer(module, jobs.get(), out))


def _read(lines: TextIO, jobs: SimpleQueue) -> None:
    """Hand on jobs as they come; end the process when no more can."""
    for line in lines:
        jobs.put(json.loads(line))
    os._exit(0)


def _answer(module: ModuleType, job: dict, out: TextIO) -> dict:
    """The last line of a job."""
    work = {name: getattr(module, name) for name in CALLS}[job.pop("call")]
    faulthandler.dump_traceback_later(job.pop("limit"), exit=True)  # runs without Python's lock
    try:
        return {"done": plain(work(**job, report=_reporter(out)))}
    except UserError as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"failed": NO_MEMORY}
    except Exception:
        traceback.print_exc()
        return {"failed": FAILED}
    finally:
        faulthandler.cancel_dump_traceback_later()


def _reporter(out: TextIO) -> Callable[[dict], None]:
    """A function that sends progress, but not too often."""
    sent = -math.inf

    def report(progress: dict) -> None:
        nonlocal sent
        if time.monotonic() - sent >= REPORT_SECONDS:
            _send(out, {"progress": plain(progress)})
            sent = time.monotonic()

    return report


def plain(value: Any) -> Any:
    """The same as JSON has it: lists for arrays, None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _send(out: TextIO, message: dict) -> None:
    out.write(json.dumps(message, allow_nan=False) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
