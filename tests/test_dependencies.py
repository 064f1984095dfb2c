"""What the sources import is declared in pyproject.toml, what is declared is used, and the lock has all of it."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import metadata, packages_distributions
from pathlib import Path

import pytest
import test_resume as resumed
from messages import is_one_sentence
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
COMMANDS = {"dvc", "snakemake"}  # used without an import of ours
DISTRIBUTIONS = packages_distributions()


def names(requirements: list[str]) -> set[str]:
    """["PyYAML>=6"] -> {"pyyaml"}"""
    return {re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", text)[0]).lower() for text in requirements}


def imported(folder: Path) -> dict[str, set[str]]:
    """The packages of others that the modules of a folder import, in functions too, and who has each to offer."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            for package in {module.split(".")[0] for module in modules}:
                found[package] = names(DISTRIBUTIONS.get(package, [package]))
    places = [path for place in (ROOT, ROOT / "src", ROOT / "tests") for path in place.iterdir()]
    own = {path.stem for path in places if path.is_dir() or path.suffix == ".py"}  # not mlflow.db
    return {package: offer for package, offer in found.items() if package not in sys.stdlib_module_names | own}


@pytest.mark.parametrize(
    ("folder", "extras"),
    [
        ("src", ["workflow", "onnx"]),
        ("docs", ["docs"]),
        ("net", ["test"]),
        ("torture", ["test", "workflow"]),
        ("tools", ["docs", "archive"]),
        ("tests", ["test", "docs", "page-test", "workflow", "onnx"]),
        ("benchmarks", ["test", "bench"]),
    ],
)
def test_every_import_is_declared(folder, extras):
    declared = names(PROJECT["dependencies"]).union(*(names(EXTRAS[extra]) for extra in extras))
    missing = {package for package, offer in imported(ROOT / folder).items() if not offer & declared}
    assert not missing


def test_every_dependency_is_used():
    used = set().union(*imported(ROOT / "src").values())
    assert names([*PROJECT["dependencies"], *EXTRAS["workflow"]]) - used <= COMMANDS


def test_only_the_record_of_runs_imports_what_a_light_install_lacks():
    folders = [path for path in (ROOT / "src" / "costtogo").iterdir() if path.is_dir() and path.name != "tracking"]
    offered = [offer for folder in folders for offer in imported(folder).values()]
    assert not [offer for offer in offered if offer & names(EXTRAS["workflow"])]


LIGHT = """
import sys
sys.modules.update(dict.fromkeys(["dvc", "mlflow", "snakemake"]))  # each import of them fails
from costtogo.cli import main
main()
"""


@pytest.fixture
def light(tmp_path, monkeypatch):
    """Run `costtogo` as in an environment without the workflow tools: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSTTOGO_TRACKING", "on")

    def run(*words) -> tuple[int, str, str]:
        done = subprocess.run([sys.executable, "-c", LIGHT, *map(str, words)], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_light_install_solves_and_trains_and_says_once_that_nothing_is_recorded(light):
    code, out, err = light("solve", "--puzzle", "hanoi_7", "--state", "2222222")
    assert code == 0 and "length          127 moves" in out and err == ""
    resumed.prepare()
    paths = ("--params", resumed.params(), "--table", resumed.TABLE, "--out", resumed.OUT)
    code, _, err = light("stage", "train", *paths)
    warnings = [line for line in err.splitlines() if "Warning" in line]
    assert code == 0 and resumed.OUT.is_dir() and "Traceback" not in err
    assert len(warnings) == 1 and "pip install 'costtogo[workflow]'" in warnings[0] and is_one_sentence(warnings[0])
    code, _, err = light("track")
    *_, told = err.splitlines()  # after the progress bar
    assert code == 1 and told.startswith("costtogo: MLflow is not installed") and is_one_sentence(told), err


def test_a_light_install_says_that_snakemake_is_missing_where_it_is_named(light):
    code, _, err = light("track")
    assert code == 1 and "snakemake --cores all; Snakemake is not installed: pip install 'costtogo[workflow]'." in err


def test_the_lock_has_every_dependency_but_torch_at_one_version():
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.+!]+", line) for line in locked)
    assert len(names(locked)) == len(locked)
    asked = [*PROJECT["dependencies"], *EXTRAS["workflow"], *EXTRAS["test"], *EXTRAS["docs"]]
    assert names(asked) - names(locked) == {"torch"}


def test_every_locked_package_runs_on_the_oldest_python_that_is_promised():
    """On 3.11.2, say, which Debian 12 has: a lock made with a later 3.11 may ask for more."""
    names_of_lock = names((ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines())
    asked = {name: metadata(name).get("Requires-Python") for name in names_of_lock}
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    assert not {name: python for name, python in asked.items() if python and oldest not in SpecifierSet(python)}
