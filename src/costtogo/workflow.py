"""What the Snakefile needs besides its rules: slices of the parameters as files, and order after a checkout."""

import base64
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from costtogo.files import FileError, digest, json_text, read_json, set_aside, write_text
from costtogo.params import Study, puzzles_of
from costtogo.params_large import LargeStudy
from costtogo.params_local_vi import LocalViStudy
from costtogo.sources import code_digest

AnyStudy: TypeAlias = Study | LargeStudy | LocalViStudy

STAGES = {  # the group of results that each module of costtogo.stages writes, in order
    "tables": "tables",
    "instances": "instances",
    "models": "train",
    "audits": "audit",
    "searches": "search",
    "report": "report",
}
LARGE_STAGES = {  # the same of a puzzle too large to list
    "tables": "tables",
    "pattern_databases": "pattern_databases",
    "instances": "instances_large",
    "optima": "optima",
    "models": "train",
    "audits": "audit_large",
    "searches": "grid",
    "baselines": "baselines",
    "footprints": "footprints",
    "beams": "beams",
    "external": "external",
    "report": "report_large",
}
LOCAL_VI_STAGES = {"local_vi": "local_vi", "compared": "local_vi_compared", "report": "report_local_vi"}
LONG_AGO = 1.0  # a modification time older than any source


def stages_of(study: AnyStudy) -> dict[str, str]:
    """The modules of a study's stages by their group of results, in order."""
    if isinstance(study, LocalViStudy):
        return LOCAL_VI_STAGES
    return LARGE_STAGES if isinstance(study, LargeStudy) else STAGES


def write_slices(study: AnyStudy, results: Path) -> None:
    """Write each stage's slice below params/, only where its content changes; remove slices of stages that are gone."""
    wanted = {results / "params" / f"{name}.json": json_text(content) for name, content in study.slices().items()}
    for path in set((results / "params").glob("*/*.json")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text() != text:
            write_text(path, text)


@dataclass(frozen=True)
class Finished:
    """A finished stage: its place in the order of the stages, its group of results, its card."""

    place: int
    group: str
    path: Path
    card: dict[str, Any]


def settle(study: AnyStudy, results: Path, reports: Path, memory: Path = Path(".snakemake/metadata")) -> bool:
    """Let the cards decide what is finished where results were restored, by DVC or in a copy; True if they were.

    Snakemake goes by modification times and by its own memory, and restoring upsets both: it would run finished
    stages again, or take results of other parameters for current. A finished stage is current if its card names
    its slice of the parameters, its code and its inputs as they are now. Stages that are not current are dated
    long ago and forgotten; where a current one is older than its slice, or Snakemake remembers nothing, results
    were restored, and the current ones are dated in the order of the stages.

    Raises FileError where a result was cut off or changed after its stage, before a stage that reads it is begun.
    """
    if not any((results / group).is_dir() for group in stages_of(study)):
        return False
    stages = _finished(results, list(stages_of(study)))
    _refuse_damaged(stages)
    current = _current(stages, study)
    for stage in stages:
        if stage not in current:
            files = _files_of(stage, results, reports)
            _date(files, LONG_AGO)
            _forget(files, memory)
    remembered = memory.exists() and any(memory.iterdir())
    restored = not remembered or any(_older_than_its_slice(stage, results) for stage in current)
    if restored:
        now = time.time() - 0.2
        _date((results / "params").glob("*/*.json"), now)
        for stage in current:
            _date(_files_of(stage, results, reports), now + 0.01 * stage.place)
    return restored


def _finished(results: Path, groups: list[str]) -> list[Finished]:
    """The stages with a card; one whose card names a file that is gone is not finished, and loses the card."""
    stages = []
    for place, group in enumerate(groups, start=1):
        for path in sorted((results / group).glob("*.json")):
            try:
                stage = Finished(place, group, path, read_json(path))
            except FileError:
                set_aside(path, path)
            if group == "report" or all(Path(file).exists() for file in stage.card.get("outputs", {})):
                stages.append(stage)
            else:
                path.unlink()
    return stages


def _refuse_damaged(stages: list[Finished]) -> None:
    """Compare what is younger than its card with the card's digest: a stage writes its card last."""
    for stage in stages:
        finished = stage.path.stat().st_mtime
        for path, written in stage.card.get("outputs", {}).items() if stage.group != "report" else ():
            if Path(path).is_file() and Path(path).stat().st_mtime > finished:
                if digest(path) != written:
                    set_aside(Path(path), stage.path)
                os.utime(path, (finished, finished))


def _current(stages: list[Finished], study: AnyStudy) -> list[Finished]:
    """The stages whose cards name parameters, code and inputs as they are now."""
    written = {path: found for stage in stages for path, found in stage.card.get("outputs", {}).items()}
    modules = stages_of(study)
    slice_texts = {name: json_text(content) for name, content in study.slices().items()}
    return [
        stage
        for stage in stages
        if json_text(stage.card.get("parameters")) == slice_texts.get(f"{stage.group}/{stage.path.stem}")
        and stage.card.get("code") == _code_now(modules[stage.group], stage.card["parameters"])
        and all(_digest_now(path, written) == found for path, found in stage.card.get("inputs", {}).items())
    ]


def _code_now(module: str, parameters: dict) -> str:
    """The digest of the sources of a stage with these parameters."""
    return code_digest(f"costtogo.stages.{module}", puzzles_of(parameters))


def _digest_now(path: str, written: dict[str, str]) -> str:
    """The digest of an input: as the card of the stage that wrote it has it, else of the file itself."""
    return written.get(path) or (digest(path) if Path(path).is_file() else "")


def _older_than_its_slice(stage: Finished, results: Path) -> bool:
    slice_of_parameters = results / "params" / stage.group / stage.path.name
    return stage.path.stat().st_mtime < slice_of_parameters.stat().st_mtime


def _files_of(stage: Finished, results: Path, reports: Path) -> list[Path]:
    """What a stage wrote: files of its name, its folder, its timings; of the report stage all reports too."""
    places = [
        *(results / stage.group).glob(f"{stage.path.stem}.*"),
        *(results / "timings" / stage.group).glob(f"{stage.path.stem}.*"),
        *stage.path.with_suffix("").rglob("*"),
        *(reports.rglob("*") if stage.group == "report" else ()),
    ]
    return [path for path in places if path.is_file()]


def _date(paths: Iterable[Path], moment: float) -> None:
    for path in paths:
        os.utime(path, (moment, moment))


def _forget(paths: Iterable[Path], memory: Path) -> None:
    """Take files out of Snakemake's memory, which holds a record a file under the file's encoded path."""
    for path in paths:
        (memory / base64.urlsafe_b64encode(str(path).encode()).decode()).unlink(missing_ok=True)
