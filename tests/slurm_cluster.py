"""A Slurm cluster of one node on this machine, for tests: really started, and removed afterwards.

Slurm reads /etc/slurm/slurm.conf and no other file in the jobs it runs. So the cluster runs in its own mount namespace,
in which a temporary folder replaces that place: nothing on this machine changes.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workflow_runs import environment

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "unshare", "nsenter")
PLACE = Path("/etc/slurm")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs.txt
MpiDefault=none
KillWait=5
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory}
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """The reason why no cluster can start here; empty if one can."""
    if os.environ.get("COSTTOGO_SLURM") != "1":
        return "make test-slurm runs it, or COSTTOGO_SLURM=1 pytest tests/test_slurm.py"
    if absent := [program for program in PROGRAMS if shutil.which(program) is None]:
        return f"there is no {absent[0]}; Debian has Slurm as slurmctld, slurmd, slurm-client and munge"
    if os.geteuid() != 0:
        return "a cluster is started by root alone, for instance in a container"
    return "" if PLACE.is_dir() else f"there is no folder {PLACE}, which Slurm's packages make"


class Cluster:
    """A running cluster; inside: the words that begin a command in its mount namespace."""

    def __init__(self, inside: list[str], folder: Path):
        self.inside, self.folder = inside, folder

    def begin(self, folder: Path, *command: str, **options) -> subprocess.Popen:
        """Start a command that sees the cluster."""
        return subprocess.Popen([*self.inside, f"--wd={folder}", *command], env=environment(), text=True, **options)

    def run(self, folder: Path, *command: str) -> str:
        """The output of a command that sees the cluster and must succeed."""
        begun = self.begin(folder, *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output, _ = begun.communicate(timeout=900)
        assert begun.returncode == 0, output
        return output


def free_port() -> int:
    """A port of this machine that nobody listens to."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def configure(folder: Path) -> None:
    """Write the files that the cluster's programs read; folder: of the cluster."""
    for name in ("etc", "state", "spool"):
        (folder / name).mkdir(parents=True)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    values = {"host": socket.gethostname().split(".")[0], "folder": folder, "cores": os.cpu_count(), "memory": memory}
    text = CONFIGURATION.format(**values, controller=free_port(), daemon=free_port())
    (folder / "etc" / "slurm.conf").write_text(text, encoding="utf-8")
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o600)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster of one node; folder: an empty one for its files."""
    configure(folder)
    bound = f"mount --bind {folder}/etc {PLACE} && exec sleep infinity"
    holder = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", bound])
    made = Cluster(["nsenter", f"--target={holder.pid}", "--mount"], folder)
    munge = [
        f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("key-file", "socket", "pid-file", "seed-file")
    ]
    programs = [["munged", "--foreground", "--force", f"--log-file={folder}/munge.log", *munge]]
    programs += [["slurmctld", "-D", "-c"], ["slurmd", "-D"]]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = []
    try:
        wait_for(lambda: (Path(f"/proc/{holder.pid}/root{PLACE}") / "slurm.conf").exists())
        for program in programs:
            started.append(made.begin(folder, *program, **quiet))
            wait_for(lambda: (folder / "munge.socket").exists())
        wait_for(lambda: "idle" in made.run(folder, "sinfo", "--noheader", "--format=%t"))
        yield made
    finally:
        for process in [*reversed(started), holder]:
            process.terminate()
            process.wait(timeout=30)


def wait_for(condition, seconds: float = 60) -> None:
    """Wait until a condition holds, up to some seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)
