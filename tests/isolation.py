"""Isolation of tests: a separate environment, home and working folder, and a guard on the clone.

The user may have worked in the clone, and a study may be running there: its results, reports and MLflow store belong to
the user. No test reads them, and none writes into the clone.

- Environment variables that studies and their tools read are removed; HOME is an empty folder.
- The working folder is a view of the clone: links to its content, without the user's files.
- A guard watches paths below the clone. A test fails if it opens a file of the user, or writes anything.

Programs that a test starts inherit the environment and the working folder, or run in a copy of the project.
"""

import os
import pkgutil
import re
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parents[1]
SHARED = "TESTS_SHARED"  # names the folder of this run, which all its processes share
# Variables that a user may set for the tests, and other variables with a prefix that studies or their tools read.
SWITCHES = {"COSTTOGO_SLURM", "COSTTOGO_SERVERS", "COSTTOGO_CHROMIUM", "COSTTOGO_KILLS", "COSTTOGO_PATTERN_DATABASE"}
SWITCHES |= {"COSTTOGO_RANDOM_STATES", "COSTTOGO_LAYERS"}
READ = ("COSTTOGO_", "MLFLOW_", "DVC_", "SNAKEMAKE_", "GIT_", "XDG_", "MPL", "JUPYTER_", "IPYTHON", "HYPOTHESIS_")
READ += ("NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
READ += ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
SET = {"COSTTOGO_TRACKING": "off", "MLFLOW_DISABLE_TELEMETRY": "true", "DVC_NO_ANALYTICS": "true"}
FOLDERS = {"COSTTOGO_CACHE": "cache", "DVC_SITE_CACHE_DIR": "dvc", "HYPOTHESIS_STORAGE_DIRECTORY": "hypothesis"}
GIT = "[safe]\n\tdirectory = *\n"  # the clone may belong to another user

# Places of the user below the clone; of the reports, all but the published ones.
USERS = ("results", "logs", "mlruns", "mlartifacts", "mlflow.db", ".snakemake", ".dvc/cache", ".dvc/tmp")
USERS += ("data/external",)
PUBLISHED = ("README.md", "published")
CACHES = ("/__pycache__", "/.pytest_cache", "/.coverage")  # which tools write wherever they can
# The parsed sources, by digest, which their reader leaves in the working folder.
MEMORY = re.compile(r"\.snakemake/costtogo(/\.?sources\.json(\.\w+)?)?")
READS = {"open", "os.listdir", "os.scandir", "sqlite3.connect"}
WRITES = {"os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.link", "os.symlink", "os.chmod"}
WATCHED = READS | WRITES
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Touched(BaseException):
    """A test touched a file of the user; no code that handles errors catches this."""


def clear_environment() -> None:
    """Remove the user's variables from the environment of this process and of its children.

    Programs of this environment and the sources of this clone come first in the search. An interrupt is not ignored, as
    it is where a script has put pytest into the background.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if SHARED in os.environ:  # a process of pytest-xdist, which has inherited all this
        return
    drop_stale_code()
    for name in [name for name in os.environ if name.upper().startswith(READ) and name not in SWITCHES]:
        del os.environ[name]
    RUN.append(tempfile.TemporaryDirectory(prefix="costtogo-tests-", ignore_cleanup_errors=True))
    shared = Path(RUN[0].name)
    home = shared / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(GIT, encoding="utf-8")
    own = {SHARED: shared, "HOME": home} | {name: shared / folder for name, folder in FOLDERS.items()}
    os.environ.update(SET | {name: str(path) for name, path in own.items()})
    for name, place in (("PATH", Path(sys.executable).parent), ("PYTHONPATH", ROOT / "src")):
        os.environ[name] = os.pathsep.join([str(place), *filter(None, [os.environ.get(name)])])


def drop_stale_code(sources: Path = ROOT / "src") -> None:
    """Remove code that Numba compiled before a source of compiled code was changed.

    Numba itself checks only the file of a function, not the files of the functions that it calls.
    """
    compiled = [path for path in sources.rglob("*.py") if b"njit" in path.read_bytes()]
    newest = max((path.stat().st_mtime_ns for path in compiled), default=0)
    for path in sources.rglob("__pycache__/*.nbc"):
        if path.stat().st_mtime_ns < newest and os.access(path.parent, os.W_OK):
            path.unlink(missing_ok=True)


RUN: list[tempfile.TemporaryDirectory] = []  # the folder of this run, in the process that made it, until it ends


def once(name: str, make: Callable[[Path], object]) -> Path:
    """A folder of this run for all processes; the first process that asks for it fills it with make."""
    folder = Path(os.environ[SHARED]) / name
    with FileLock(f"{folder}.lock"):
        if not Path(f"{folder}.made").exists():
            folder.mkdir()
            make(folder)
            Path(f"{folder}.made").touch()
    return folder


def is_users(place: str) -> bool:
    """True for a path below the clone with output of a user's runs.  "results/default/report.json" -> True"""
    top, _, rest = place.partition("/")
    if top == "reports":
        return rest.partition("/")[0] not in PUBLISHED
    return any(place == user or place.startswith((f"{user}/", f"{user}-", f"{user}.")) for user in USERS)


def enter_view() -> Path:
    """Go to a view of the clone: a folder with links to its content, without the user's files."""
    view = Path(tempfile.mkdtemp(prefix="view-", dir=os.environ[SHARED]))
    mixed = {"reports"} | {user.partition("/")[0] for user in USERS if "/" in user}
    places = [path for path in ROOT.iterdir() if path.name not in {".git", *mixed}]
    places += [path for name in mixed for path in (ROOT / name).iterdir()]
    for path in places:
        if not is_users(place := path.relative_to(ROOT).as_posix()):
            (view / place).parent.mkdir(exist_ok=True)
            (view / place).symlink_to(path)
    (view / ".snakemake/costtogo").mkdir(parents=True)
    os.chdir(view)
    return view


class Guard:
    """Checks each file that this process opens, lists or changes.

    view: the working folder, which links to the clone.
    seen: forbidden accesses of a test. They fail the test even if the error was lost, for example in a thread.
    """

    def __init__(self, view: Path):
        self.roots, self.seen, self.watching = (str(ROOT), os.path.realpath(view)), [], True
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple) -> None:
        if event not in WATCHED or not self.watching:
            return
        writes = event in WRITES or (event == "open" and bool((arguments[2] or 0) & WRITING))
        changed = {"os.rename": arguments[:2], "os.link": arguments[1:2], "os.symlink": arguments[1:2]}
        if event in WRITES and arguments[-1] != -1:  # the path is relative to an open folder whose path is unknown
            return
        if event == "os.listdir" and sys._getframe(1).f_code.co_filename == pkgutil.__file__:
            return  # it looks for packages in every folder of the clone, which is on the path
        for path in changed.get(event, arguments[:1]):
            if isinstance(path, str | bytes | os.PathLike) and (fault := self.fault(path, writes)):
                self.seen.append(fault)
                raise Touched(fault)

    def fault(self, path: str | bytes | os.PathLike, writes: bool = False) -> str:
        """The reason why a path must not be opened; empty if it may be."""
        path = os.path.abspath(os.fsdecode(path))
        if writes:
            path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        for root in self.roots:
            place = path[len(root) + 1 :] if path.startswith(root + os.sep) else ""
            if not place or (root == self.roots[1] and MEMORY.fullmatch(place)):
                continue
            if root == self.roots[0] and is_users(place):
                return f"{place} of the clone is the user's: a test must not depend on it."
            if writes and not any(cache in f"/{place}" for cache in CACHES):
                return f"{place} is of the clone: a test writes into folders of its own."
        return ""

    def check(self) -> None:
        """Fail if the guard has seen anything since the last check."""
        seen, self.seen = self.seen, []
        if seen:
            raise Touched(seen[0])
