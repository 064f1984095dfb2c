"""What the Snakefile needs besides its rules: slices of the parameters as files, and order after a checkout."""

import os
import time
from pathlib import Path

from costtogo.files import json_text, write_text
from costtogo.params import Study, slices

GROUPS = ("params", "tables", "instances", "models", "audits", "searches", "timings", "report")


def write_slices(study: Study, results: Path) -> None:
    """Write each stage's slice below params/, only where its content changes; remove slices of stages that are gone."""
    wanted = {results / "params" / f"{name}.json": json_text(content) for name, content in slices(study).items()}
    for path in set((results / "params").glob("*/*.json")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text() != text:
            write_text(path, text)


def settle(results: Path, reports: Path, memory: Path = Path(".snakemake/metadata")) -> bool:
    """Give results that were restored together, by `dvc pull` or in a copy, the order in which stages write them.

    Restoring leaves modification times in no order, and without its own memory Snakemake goes by them alone:
    it would run finished stages again. Slices that have changed are written afterwards and count as newer.
    Does nothing, and returns False, where Snakemake has a memory or there are no results.
    """
    if memory.exists() and any(memory.iterdir()) or not (results / "params").is_dir():
        return False
    begun = time.time() - len(GROUPS) - 1
    folders = [*(results / group for group in GROUPS), reports]
    for place, folder in enumerate(folders):
        for path in folder.rglob("*"):
            if path.is_file():
                moment = begun + place * 0.9 + (0.5 if path.parent == folder and path.suffix == ".json" else 0.0)
                os.utime(path, (moment, moment))
    return True
