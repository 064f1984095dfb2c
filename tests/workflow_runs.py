"""Runs of a copy of the project, as users run it, for the tests of the workflow."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import warm
import yaml
from isolation import ROOT, once

from costtogo.params.loading import laid

MODEL = "hanoi_4_uniform"
OTHER = "H4_DNN_reduced_0"


def environment(**variables: str) -> dict[str, str]:
    """The environment of a command in the project."""
    return {**os.environ, "COSTTOGO_TRACKING": "off", **variables}


def run(folder: Path, *command: str, fails: bool = False, **variables: str) -> str:
    """The output of a command in the project, started warm; it must succeed, or fail if it should."""
    variables = {"PATH": os.pathsep.join([str(warm.programs()), os.environ["PATH"]])} | variables
    options = {"env": environment(**variables), "capture_output": True, "text": True, "timeout": 900}
    done = subprocess.run(command, cwd=folder, **options)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def snakemake(folder: Path, *arguments: str, **options) -> str:
    return run(folder, "snakemake", "--cores", "2", *arguments, **options)


def commit(folder: Path) -> None:
    run(folder, "git", "add", "--all")
    run(folder, "git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "--message", "x")


def change(folder: Path, name: str, **values) -> None:
    """Change parameters of a model in the copy's params.yaml."""
    path = folder / "params.yaml"
    params = yaml.safe_load(path.read_text(encoding="utf-8"))
    params["models"][name] |= values
    path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")


def jobs(output: str) -> set[str]:
    """The messages of the jobs that Snakemake ran or would run, without those of its targets."""
    return {line for line in re.findall(r"^Job \d+: (.*)$", output, flags=re.MULTILINE) if "complete" not in line}


def trained_iterations(folder: Path, name: str) -> int:
    card = (folder / f"results/default/models/{name}.json").read_text(encoding="utf-8")
    return json.loads(card)["metrics"]["iterations"]


def contents(folder: Path) -> dict[str, bytes]:
    """Every result and report file except timings and the marks, which hold digests of timings."""
    paths = [path for top in ("results", "reports") for path in (folder / top).rglob("*") if path.is_file()]
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in paths if "timings" not in str(p) and "done" not in p.parts
    }


def share_compiled_code(target: Path) -> None:
    """Let a copy use and leave compiled code where the project does, by links that its repository also has.

    Python and Numba both check that it belongs to these sources, so a copy with other sources compiles them. If the
    project cannot be written, copies share a folder of this run.
    """
    for folder in {path.parent for path in (ROOT / "src").rglob("*.py")}:
        cache = folder / "__pycache__"
        if os.access(folder, os.W_OK):
            cache.mkdir(exist_ok=True)
        else:
            cache = once("compiled", Path.touch) / cache.relative_to(ROOT)
            cache.mkdir(parents=True, exist_ok=True)
        (target / folder.relative_to(ROOT) / "__pycache__").symlink_to(cache)


def copy_project(target: Path) -> Path:
    """The files that git would take, with tiny parameters, in a separate repository."""
    return shutil.copytree(once("project", _make_copy), target, symlinks=True, dirs_exist_ok=True)


def _make_copy(target: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    for name in listed.stdout.splitlines():
        if not name.startswith("reports/") and name != "dvc.lock" and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    share_compiled_code(target)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    tiny = yaml.safe_load((ROOT / "tests/workflow/tiny.yaml").read_text(encoding="utf-8"))
    text = yaml.safe_dump(laid(params, tiny), sort_keys=False)
    (target / "params.yaml").write_text(text, encoding="utf-8")
    run(target, "git", "init", "--quiet", ".")
    run(target, "git", "config", "user.name", "t")
    run(target, "git", "config", "user.email", "t@localhost")
    commit(target)
