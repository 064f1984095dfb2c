"""What the Snakefile needs besides its rules: slices of the parameters as files, and order after a checkout."""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from costtogo.files import json_text, read_json, write_text
from costtogo.params import Study, slices
from costtogo.sources import code_digest

STAGES = {  # the group of results that each module of costtogo.stages writes, in order
    "tables": "tables",
    "instances": "instances",
    "models": "train",
    "audits": "audit",
    "searches": "search",
    "report": "report",
}
LONG_AGO = 1.0  # a modification time older than any source


def write_slices(study: Study, results: Path) -> None:
    """Write each stage's slice below params/, only where its content changes; remove slices of stages that are gone."""
    wanted = {results / "params" / f"{name}.json": json_text(content) for name, content in slices(study).items()}
    for path in set((results / "params").glob("*/*.json")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text() != text:
            write_text(path, text)


def settle(study: Study, results: Path, reports: Path, memory: Path = Path(".snakemake/metadata")) -> bool:
    """Date results that were restored together, by `dvc pull` or in a copy, by whether they are current.

    Restoring leaves modification times in no order, and without its own memory Snakemake goes by them alone: it
    would run finished stages again, or take results of other parameters or other code for current. A finished
    stage is current if its card names its slice of the parameters and its code as they are now; current ones are
    dated in the order of the stages, all others long ago.
    Does nothing, and returns False, where Snakemake has a memory or there are no results.
    """
    if memory.exists() and any(memory.iterdir()) or not (results / "tables").is_dir():
        return False
    now, wanted = time.time() - 0.2, slices(study)
    _date((results / "params").glob("*/*.json"), now)
    for place, (group, module) in enumerate(STAGES.items(), start=1):
        code = code_digest(f"costtogo.stages.{module}")
        for path in sorted((results / group).glob("*.json")):
            card = read_json(path)
            parameters = json_text(wanted.get(f"{group}/{path.stem}"))
            current = card.get("code") == code and json_text(card.get("parameters")) == parameters
            files = [path, *_files_of(results, path), *(reports.rglob("*") if group == "report" else ())]
            _date(files, now + 0.01 * place if current else LONG_AGO)
    return True


def _files_of(results: Path, card: Path) -> Iterator[Path]:
    """What a stage wrote besides its card: files of its name, its folder, its timings."""
    for folder in (card.parent, results / "timings" / card.parent.name):
        yield from folder.glob(f"{card.stem}.*")
    yield from card.with_suffix("").rglob("*")


def _date(paths: Iterable[Path], moment: float) -> None:
    for path in paths:
        if path.is_file():
            os.utime(path, (moment, moment))
