"""The two checkouts to compare: commits in separate folders, and commands that run in them."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ADAPTERS = Path("net/adapters")
PLACE = Path(__file__).parents[1]  # its adapters serve commits from before the net
LOG_LINES = 40  # shown of a command that failed
LOOK_SECONDS = 20  # between two checks of a command's progress
STEPS = re.compile(r"(\d+) of (\d+) (?:steps|stages)")
FOREIGN = ("PYTHONPATH", "SNAKEMAKE_PROFILE", "MLFLOW_TRACKING_URI")
SETTINGS = {"COSTTOGO_TRACKING": "off", "COSTTOGO_EXTERNAL": "nowhere", "PYTHONUTF8": "1"}


class NetError(Exception):
    """The comparison cannot be made: a sentence with the reason."""


@dataclass(frozen=True)
class Checkout:
    """One side: its files in a folder, and its commit; dirty: True if the files differ from the commit."""

    side: str  # before or after
    folder: Path
    commit: str
    tree: str
    dirty: bool = False

    @property
    def name(self) -> str:
        """before (1a2b3c4)."""
        return f"{self.side} ({self.commit[:7]}{'+' if self.dirty else ''})"

    @property
    def adapters(self) -> Path:
        """The scripts that know its API: its own, or ours if it is older than the net."""
        own = self.folder / ADAPTERS
        return own if own.is_dir() else PLACE / ADAPTERS

    def environment(self) -> dict[str, str]:
        """The environment of its commands: its own sources come first, and nothing outside is reached."""
        known = {name: value for name, value in os.environ.items() if name not in FOREIGN}
        paths = [str(Path(sys.executable).parent), known.get("PATH", "")]
        sources = [self.folder / "src", self.folder / "tests", self.adapters.parents[1] / "tests"]
        places = {"PATH": os.pathsep.join(paths), "PYTHONPATH": os.pathsep.join(map(str, sources))}
        return known | SETTINGS | places

    def run(self, part: str, *arguments: str, log: Path) -> None:
        """Run the adapter of a part in its root; if it fails, NetError with the end of its log."""
        command = [sys.executable, str(self.adapters / f"{part}.py"), *arguments]
        with log.open("w") as output:
            options = {"cwd": self.folder, "env": self.environment(), "stdout": output, "stderr": subprocess.STDOUT}
            code = _watch(command, options, Progress(f"{part} of {self.name}", log))
        if code != 0:
            print("\n".join(_text(log).splitlines()[-LOG_LINES:]), flush=True)
            raise NetError(f"{part} of {self.name} failed{_where(log)}: the end of its log is above.")


def _watch(command: list[str], options: dict, look: Callable[[], None]) -> int:
    """Run a command to its end, calling `look` now and then; if interrupted, the command and its children end too."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        while True:
            try:
                return process.wait(LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                look()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise


class Progress:
    """Prints, when called, how many steps Snakemake has done according to a log, if the number has changed."""

    def __init__(self, what: str, log: Path):
        self.what, self.log, self.said = what, log, ("0", "")

    def __call__(self) -> None:
        steps = STEPS.findall(_text(self.log))
        if steps and steps[-1] != self.said:
            self.said = steps[-1]
            print(f"{self.what}: {' of '.join(self.said)} steps", flush=True)


def _where(log: Path) -> str:
    """The study whose log Snakemake names for a failed rule, if any."""
    found = re.search(r"^Error in rule .*?logs/([\w-]+)/", _text(log), re.MULTILINE | re.DOTALL)
    return f" in the study {found[1]}" if found else ""


def _text(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")


def git(project: Path, *arguments: str) -> str:
    """The output of git in a repository; NetError if it fails."""
    done = subprocess.run(["git", *arguments], cwd=project, capture_output=True, text=True)
    if done.returncode != 0:
        told = (done.stderr.strip() or "no message").splitlines()[-1]
        raise NetError(f"git {arguments[0]} failed in {project}: {told}.")
    return done.stdout.strip()


def resolve(project: Path, given: str) -> str:
    """The commit of a name."""
    try:
        return git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{given}^{{commit}}")
    except NetError as error:
        raise NetError(f"There is no commit '{given}' in {project}: name one that git log shows.") from error


def is_dirty(project: Path) -> bool:
    """True if files differ from the last commit, or are new."""
    return bool(git(project, "status", "--porcelain"))


def empty(folder: Path) -> None:
    """Empty a folder, so that everything in it comes from later commands."""
    shutil.rmtree(folder, ignore_errors=True)


def check_out(project: Path, side: str, commit: str, work: Path) -> Checkout:
    """Put the files of a commit into a folder of work; the repository is unchanged."""
    folder = work / side
    git(project, "clone", "--quiet", "--shared", "--no-checkout", str(project), str(folder))
    git(folder, "checkout", "--quiet", "--detach", commit)
    return Checkout(side, folder, commit, git(folder, "rev-parse", "HEAD^{tree}"))


def check_out_working_tree(project: Path, side: str, work: Path) -> Checkout:
    """The last commit with the files as they are now, including new ones, without those that git ignores."""
    clean = check_out(project, side, resolve(project, "HEAD"), work)
    for name in git(project, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        source, target = project / name, clean.folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        elif name:
            target.unlink(missing_ok=True)
    git(clean.folder, "add", "--all")
    return Checkout(side, clean.folder, clean.commit, git(clean.folder, "write-tree"), dirty=True)
