"""How failures are told: one sentence each, and what is wrong with the store itself once in a run of the workflow."""

import os
import socket
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from costtogo.tracking import database
from costtogo.tracking.place import database_path, enabled, shown, store_uri
from costtogo.types import UserError

ANSWER_SECONDS = 10.0  # longest wait for a tracking server's first answer
CONNECT_SECONDS = 3.0  # longest wait for the server of a database
DATABASE_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
RUN = "COSTTOGO_RUN"  # the run of the workflow that a process belongs to
TOLD = ".mlflow-told"  # what that run was told


class TrackingError(UserError):
    """A stage could not be recorded in MLflow."""


class StoreError(TrackingError):
    """The store is at fault, not a stage: it may be recorded once the store is well again."""


@contextmanager
def one_sentence(subject: str, root: Path) -> Iterator[None]:
    """Turn any failure into a TrackingError of one sentence, a StoreError where the store is at fault."""
    try:
        yield
    except TrackingError:
        raise
    except UserError as error:
        raise TrackingError(str(error)) from error
    except Exception as error:
        if sentence := fault(store_uri(root), error):
            raise StoreError(sentence) from error
        sentence = (
            f"{subject} could not be recorded in MLflow ({_reason(error)}); mend this, then run `costtogo track`."
        )
        raise TrackingError(sentence) from error


@contextmanager
def opening(uri: str) -> Iterator[None]:
    """Turn any failure into a StoreError of one sentence."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        advice = "check MLFLOW_TRACKING_URI" if os.environ.get("MLFLOW_TRACKING_URI") else "see that you may write it"
        what = f"The MLflow store {shown(uri)} could not be opened ({_reason(error)})"
        sentence = f"{what}; {advice}, then run `costtogo track`."
        raise StoreError(fault(uri, error) or sentence) from error


@contextmanager
def best_effort(subject: str, root: Path) -> Iterator[None]:
    """Turn any failure into one warning on stderr: a stage never fails for want of a store."""
    try:
        with one_sentence(subject, root):
            yield
    except TrackingError as error:
        warn(error, root)


def begin_run(root: Path) -> None:
    """Name this run of the workflow to the stages it starts, and warn of a server that does not answer.

    What was told once in the run, the stages need not tell.
    """
    os.environ[RUN] = uuid4().hex
    uri = store_uri(root)
    if enabled() and database_path(uri) is None and (sentence := _silence(uri)):
        warn(StoreError(sentence), root)


def warn(error: TrackingError, root: Path) -> None:
    """A warning on stderr; that the store is at fault is said once in a run of the workflow, else once a process."""
    line = f"{os.environ.setdefault(RUN, uuid4().hex)} {error}\n"
    told = Path(root) / TOLD
    with suppress(OSError):
        if isinstance(error, StoreError) and told.exists() and told.read_text(encoding="utf-8") == line:
            return
    print(f"Warning: {error}", file=sys.stderr)
    if isinstance(error, StoreError):
        with suppress(OSError):
            told.write_text(line, encoding="utf-8")


def fault(uri: str, error: Exception) -> str | None:
    """What is wrong with the store, and what to do about it; None where it is sound and the error of another kind."""
    path = database_path(uri)
    if path is None:
        return _silence(uri)
    if "database is locked" in str(error):
        return busy(uri)
    if damage := database.damage(path) if path.is_file() else None:
        others = " and ".join(log.name for log in database.logs(path))
        return f"{path} is damaged ({damage}); move it away with {others}, then run `costtogo track` to rebuild it."
    return None


def busy(uri: str) -> str:
    """The sentence for a store that another process does not let go of."""
    return f"The MLflow store {shown(uri)} is held by another process; once that has ended, run `costtogo track`."


def _silence(uri: str) -> str | None:
    """The sentence for a server that does not answer, None for one that does."""
    try:
        check_server(uri)
    except OSError:
        return (
            f"The MLflow server {shown(uri)} does not answer; "
            "start it or correct MLFLOW_TRACKING_URI, then run `costtogo track`."
        )
    except Exception:
        return None
    return None


def check_server(uri: str) -> None:
    """Raise OSError where a server does not answer within seconds; any answer will do, also a refusal."""
    address = urlsplit(uri)
    if address.scheme in ("http", "https"):
        path = f"{address.path.rstrip('/')}/health"
        _ask(address._replace(netloc=address.netloc.rpartition("@")[2], path=path).geturl())
        return
    port = address.port or DATABASE_PORTS.get(address.scheme.split("+")[0])
    if address.hostname and port:
        socket.create_connection((address.hostname, port), timeout=CONNECT_SECONDS).close()


def _ask(address: str) -> None:
    from urllib.error import HTTPError, URLError
    from urllib.request import urlopen

    try:
        urlopen(address, timeout=ANSWER_SECONDS).close()
    except HTTPError:
        pass
    except URLError as error:
        if not isinstance(error.reason, ssl.SSLError):  # MLflow has its own settings for certificates
            raise


def _reason(error: Exception) -> str:
    """An exception in a line without a full stop."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200].rstrip('. ')}"
