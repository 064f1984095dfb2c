"""Real servers, each in a separate folder: PostgreSQL, MLflow with it, sshd; and moto, a stand-in for S3.

They start only with COSTTOGO_SERVERS=1, which `make test-server` sets.
"""

import getpass
import os
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SWITCH = "COSTTOGO_SERVERS"
HOW = "Real servers start with `make test-server` only; it needs apt install postgresql openssh-server."
PLACES = ["/usr/sbin", *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)]  # Debian's
USER = "mlflow"


real = pytest.mark.skipif(os.environ.get(SWITCH) != "1", reason=HOW)


def program(name: str) -> str:
    """The path of a program of Debian's packages; fails if it is missing, because the user asked for it."""
    found = shutil.which(name, path=os.pathsep.join([*PLACES, os.environ["PATH"]]))
    assert found, f"{name} is missing. {HOW}"
    return found


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def wait_until(is_ready: Callable[[], object], what: str, process: subprocess.Popen) -> None:
    """Wait up to five minutes until a server answers; its process must stay alive."""
    for _ in range(3_000):
        assert process.poll() is None, f"{what} ended with {process.returncode}"
        if is_ready():
            return
        time.sleep(0.1)
    raise AssertionError(f"{what} does not answer")


def takes_calls(port: int) -> bool:
    """True if somebody listens on a port of this machine."""
    with socket.socket() as call:
        return call.connect_ex(("127.0.0.1", port)) == 0


def answers(address: str) -> bool:
    """True if there is a page at the address."""
    try:
        urllib.request.urlopen(address, timeout=5).close()
    except OSError:
        return False
    return True


@contextmanager
def started(command: list[str], log: Path, **options) -> Iterator[subprocess.Popen]:
    """A server's process, ended by the right signal; its output goes to a file."""
    with log.open("a", encoding="utf-8") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


class Postgres:
    """A separate database server, with a password; as root it runs as Debian's user postgres."""

    def __init__(self, folder: Path) -> None:
        self.data, self.log, self.port = folder / "data", folder / "log", free_port()
        self.password = secrets.token_hex(16)
        self.uri = f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"
        self._as = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        file = folder / "password"
        file.write_text(self.password, encoding="utf-8")
        if self._as:
            for path in (folder, file):
                shutil.chown(path, "postgres", "postgres")
        options = ["--username", USER, "--pwfile", str(file), "--auth", "scram-sha-256", "--no-sync"]
        subprocess.run([program("initdb"), "-D", str(self.data), *options], check=True, stdout=subprocess.DEVNULL,
                       cwd="/", **self._as)  # fmt: skip

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run it during the block; SIGTERM would wait for clients to leave, so another signal ends it at once."""
        where = ["-D", str(self.data), "-p", str(self.port), "-h", "127.0.0.1", "-k", ""]
        with started([program("postgres"), *where], self.log, cwd="/", **self._as) as process:
            wait_until(lambda: takes_calls(self.port), "PostgreSQL", process)
            yield
            subprocess.run([program("pg_ctl"), "stop", "-D", str(self.data), "-m", "fast"], check=True, cwd="/",
                           stdout=subprocess.DEVNULL, **self._as)  # fmt: skip


class MlflowServer:
    """MLflow's server as compose.yaml starts it, except for the places of its database and its files."""

    def __init__(self, folder: Path, database: str, password: str = "") -> None:
        self.folder, self.port, self.artifacts = folder, free_port(), folder / "artifacts"
        self.uri = f"http://127.0.0.1:{self.port}"
        ours = {"--backend-store-uri": database, "--artifacts-destination": str(self.artifacts)}
        ours |= {"--host": "127.0.0.1", "--port": str(self.port)}
        options = shlex.split(COMPOSE["services"]["mlflow"]["command"])
        assert options[:2] == ["mlflow", "server"] and ours.keys() <= {*options}
        values = [ours.get(name, value) for name, value in zip(options[1:], options[2:], strict=False)]
        self.command = [sys.executable, "-m", "mlflow", "server", *values]
        of_mlflow = {name for name in os.environ if name.startswith("MLFLOW")}
        self.environment = {name: value for name, value in os.environ.items() if name not in of_mlflow}
        told = COMPOSE["services"]["mlflow"]["environment"]
        self.environment |= {name: value for name, value in told.items() if "$" not in value}
        self.environment["PGPASSWORD"] = password

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen]:
        """Run it during the block; gives the head of its process group."""
        options = {"env": self.environment, "cwd": self.folder, "start_new_session": True}
        with started(self.command, self.folder / "log", **options) as process:
            wait_until(lambda: answers(f"{self.uri}/health"), "MLflow's server", process)
            yield process


@contextmanager
def mlflow_on_postgres(folder: Path) -> Iterator[MlflowServer]:
    """A running database, and MLflow's server for it, not yet running.

    The database is outside pytest's folders, which the user postgres may not enter.
    """
    with tempfile.TemporaryDirectory(prefix="costtogo-postgres-") as place:
        Path(place).chmod(0o755)
        database = Postgres(Path(place))
        with database.running():
            yield MlflowServer(folder, database.uri, database.password)


@contextmanager
def ssh_remote(folder: Path) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """An sshd for the user of the tests, with its own keys.  -> a remote of DVC: its url, settings, variables"""
    host_key, key, port, log = folder / "host_key", folder / "key", free_port(), folder / "log"
    for path in (host_key, key):
        subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    config = {"ListenAddress": "127.0.0.1", "Port": port, "HostKey": host_key, "PidFile": "none", "UsePAM": "no"}
    config |= {"AuthorizedKeysFile": f"{key}.pub", "StrictModes": "no", "PasswordAuthentication": "no"}
    config |= {"PermitRootLogin": "prohibit-password", "Subsystem": "sftp internal-sftp"}
    lines = "".join(f"{name} {value}\n" for name, value in config.items())
    (folder / "sshd_config").write_text(lines, encoding="utf-8")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd needs it when run by root
    with started([program("sshd"), "-D", "-e", "-f", str(folder / "sshd_config")], log) as process:
        wait_until(lambda: takes_calls(port), "sshd", process)
        url = f"ssh://{getpass.getuser()}@127.0.0.1:{port}{folder}/store"
        yield url, {"keyfile": str(key)}, {}


@contextmanager
def s3_remote(folder: Path) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """The same for moto, which speaks S3 and keeps everything in memory."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    secret = {"AWS_ACCESS_KEY_ID": "anyone", "AWS_SECRET_ACCESS_KEY": secrets.token_hex(8)}
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    with started(command, folder / "log") as process:
        wait_until(lambda: takes_calls(port), "moto", process)
        urllib.request.urlopen(urllib.request.Request(f"{address}/bucket", method="PUT"), timeout=30).close()
        yield "s3://bucket/store", {"endpointurl": address}, secret | {"AWS_DEFAULT_REGION": "us-east-1"}
