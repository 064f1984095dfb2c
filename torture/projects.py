"""A separate project whose tiny study is finished, and commands in it that can be killed."""

import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from filelock import FileLock

from costtogo import cli
from costtogo.external_files import VARIABLE
from costtogo.workflow.graph import Graph
from costtogo.workflow.stages import Stage
from net.adapters.kinds import is_time
from torture.calls import LONGEST, within
from torture.trials import Damage

PROJECT = Path(__file__).parents[1]
FINISHED = PROJECT / ".torture" / "project"
STUDY = "tiny"
COPIED, LINKED = ("workflow", "profiles", "config", "Snakefile", "params.yaml"), ("src", "data")
MADE = ("results", "reports", ".snakemake", "logs")  # by Snakemake
EXTERNAL = "external"  # its folder of external instances
MODULES = (  # for the study's stages
    *("tables", "instances", "train", "audit", "search.exhaustive", "figures", "report"),
    *("pattern_databases", "audit_samples", "footprints", "local_vi"),
    *("search.optima", "search.grids", "search.beams", "search.policy_beams", "search.trees"),
    *("search.anytime", "search.external", "search.compared"),
)
MOST_SECONDS = 1800  # for a run of Snakemake


def lay_out(folder: Path) -> None:
    """Put the current files of the project into a folder; outputs of Snakemake there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        target = folder / name
        if (PROJECT / name).is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(PROJECT / name, target)
        else:
            shutil.copy(PROJECT / name, target)
    for name in LINKED:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(PROJECT / name)
    shutil.copy(PROJECT / "torture" / f"{STUDY}.yaml", folder / "config")
    (folder / EXTERNAL).mkdir(exist_ok=True)
    shutil.copy(PROJECT / "torture" / "puzzle8.csv", folder / EXTERNAL)


def environment(**variables: str | None) -> dict[str, str]:
    """The environment of a command in such a project; variables that are None are left out."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    whole = {**os.environ, "PATH": path, "COSTTOGO_TRACKING": "off", VARIABLE: EXTERNAL} | variables
    return {name: value for name, value in whole.items() if value is not None and name != "PYTHONPATH"}


def snakemake(folder: Path, *words: str, **variables: str | None) -> subprocess.CompletedProcess:
    """Run Snakemake in a project to its end."""
    return subprocess.run(
        ["snakemake", "--cores", "2", *words],
        cwd=folder, env=environment(**variables), capture_output=True, text=True, timeout=MOST_SECONDS,
    )  # fmt: skip


def finish(folder: Path, **variables: str | None) -> str:
    """Finish the tiny study; Damage, with Snakemake's last output, if it does not finish.

    The external instances are a separate target; after it the report includes them.
    """
    told = ""
    for targets in ((STUDY, f"{STUDY}-external"), (STUDY,)):
        done = snakemake(folder, *targets, **variables)
        told += done.stdout + done.stderr
        if done.returncode != 0:
            raise Damage(f"the study is not finished: {told[-LONGEST:]!r}")
    return told


@contextmanager
def finished(work: Path) -> Iterator[list[Stage]]:
    """A copy of the finished project in a folder for work, and the stages of its study."""
    FINISHED.parent.mkdir(exist_ok=True)
    with FileLock(f"{FINISHED}.lock"):  # trials of another kind may begin at the same moment
        lay_out(FINISHED)
        finish(FINISHED)
        shutil.copytree(FINISHED, work, symlinks=True, dirs_exist_ok=True)
    with within(work):
        graph = Graph([Path("params.yaml")], Path("config"), words=[STUDY])
        stages = [stage for stage in graph.stages if stage.study == STUDY]
        for stage in stages:
            graph.reads(stage)
        if {stage.module for stage in stages} != set(MODULES):
            raise ValueError(f"the stages of {STUDY}.yaml are others than {MODULES}")
        yield stages


def contents(folder: Path) -> dict[str, bytes]:
    """Every result and report file by its place, without times and the marks, which hold digests of times."""
    found = {}
    for top in ("results", "reports"):
        for path in sorted((folder / top).rglob("*")):
            place = path.relative_to(folder).as_posix()
            if path.is_file() and not is_time(place) and "done" not in path.parts:
                found[place] = path.read_bytes()
    return found


def check_same(found: dict[str, bytes], whole: dict[str, bytes]) -> None:
    """Damage if files differ from those of an undisturbed run; resume points and temporary files do not count."""
    differing = [place for place in whole if found.get(place) != whole[place]]
    more = [place for place in found.keys() - whole.keys() if not is_remnant(place)]
    if differing or more:
        raise Damage(f"{len(differing)} files differ ({', '.join(differing[:3])}), {len(more)} are new ({more[:3]})")


def is_remnant(place: str) -> bool:
    """True for files that a killed stage may leave: one with a temporary name, or a training's resume point."""
    return place.rpartition("/")[2].startswith(".") or "/resume/" in place


def preload() -> None:
    """Import the modules of stages, so that forked processes spend their time on the stage itself."""
    for module in MODULES:
        import_module(f"costtogo.stages.{module}")


def words_of(stage: Stage, mark: Path) -> list[str]:
    """The command that makes a stage; mark: of the last time it was made, which names its recipe."""
    recipe = Path(".snakemake/costtogo/recipes") / stage.study / stage.group / f"{mark.stem}.json"
    return ["stage", stage.module, "--params", str(recipe), *stage.options.split()]


def begin(words: list[str], log: Path) -> int:
    """Fork a process that runs the command; returns its number."""

    def run() -> None:
        sys.argv = ["costtogo", *words]
        cli.main()

    return fork(run, log)


def fork(work: Callable[[], object], log: Path) -> int:
    """Fork a process that does some work, as the head of its own group; returns its number.  log: gets its output."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        os.setsid()
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        work()
        code = 0
    except SystemExit as left:
        code = int(left.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def end(process: int) -> int:
    """Wait for a process; returns its exit code, negative if a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def kill_after(process: int, seconds: float) -> int:
    """Kill a group after some seconds unless its head has ended; returns the exit code of the head."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:  # it is not the head of a group yet
        os.kill(process, signal.SIGKILL)
    return end(process)
