"""The table of stages: what each stage of a study reads, writes and is called by.

A stage is data. The Snakefile makes a rule of each, so that the files of a stage are named here alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias

from costtogo.analysis.documents import documents
from costtogo.external_files import folder as external_folder
from costtogo.figures.catalogue import KINDS, FigureEntry
from costtogo.figures.catalogue import catalogue as figures_of_listed
from costtogo.figures.catalogue_large import expected as figures_of_large
from costtogo.files import digest
from costtogo.params import Study, puzzles_of
from costtogo.params_large import LargeStudy
from costtogo.params_local_vi import LocalViStudy
from costtogo.recipes import Recipe
from costtogo.sources import code_of
from costtogo.types import UserError

AnyStudy: TypeAlias = Study | LargeStudy | LocalViStudy

DOCUMENTS = ("report.md", "timings.md", "metrics.json", "reported_vs_reproduced.csv")
REPORTED, MEASURED, CAPTIONS = Path("data/reported"), Path("data/measured"), Path("workflow/captions")
TRAINED = ("checkpoints", "curve", "errors")
AUDITED = ("nearby", "known", "consistency", "scrambled", "greedy", "progress")  # tables of a large puzzle's audit
OF_CHECKPOINTS = ("selection", "checkpoints", "checkpoints_by_distance", "admissible")
FOUND = ("grid", "by_distance", "searches")
LOCAL_VI_TABLES = ("subproblems", "shares", "classes", "preferences", "policy", "boards", "larger")


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage of a study.

    group, name: its results lie in results/<study>/<group>/<name>….  module: of costtogo.stages.
    parameters: its slice.  command: what follows `costtogo` besides --params.
    needs: the stages that it reads from.  files: the files it reads that no stage makes.
    data: its files besides the card, below results/<study>/<group>/.  clock: whether it writes a table of seconds.
    pictures: the figures that it draws.  written: its documents below reports/<study>/.
    """

    study: str
    group: str
    name: str
    module: str
    parameters: dict[str, Any]
    command: str
    message: str
    needs: tuple["Stage", ...] = ()
    files: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    clock: bool = False
    pictures: tuple[FigureEntry, ...] = ()
    written: tuple[str, ...] = ()
    threads: int = 1
    priority: int = 0

    @property
    def id(self) -> str:
        """default/models/DNN_0"""
        return f"{self.study}/{self.group}/{self.name}"

    @property
    def folder(self) -> Path:
        """results/<study>/<group>"""
        return Path("results") / self.study / self.group

    @property
    def card(self) -> str:
        """results/<study>/<group>/<name>.json"""
        return f"{self.folder}/{self.name}.json"

    @property
    def timings(self) -> list[str]:
        """Its files of wall-clock times."""
        stem = f"results/{self.study}/timings/{self.group}/{self.name}"
        return [f"{stem}.json"] + [f"{stem}.parquet"] * self.clock

    @property
    def results(self) -> list[str]:
        """Its data."""
        return [f"{self.folder}/{path}" for path in self.data]

    @property
    def documents(self) -> list[str]:
        """Its documents."""
        return [f"reports/{self.study}/{name}" for name in self.written]

    @property
    def drawn(self) -> dict[str, FigureEntry]:
        """Its figures by their files."""
        return {f"reports/{self.study}/{entry.file(kind)}": entry for entry in self.pictures for kind in KINDS}

    @cached_property
    def outputs(self) -> list[str]:
        """All files it writes but its mark."""
        return [*self.results, *self.documents, *self.drawn, self.card, *self.timings]

    @property
    def benchmark(self) -> str:
        """Snakemake's own record of time and memory."""
        return f"results/{self.study}/timings/{self.group}/{self.name}.jsonl"

    @cached_property
    def recipe(self) -> Recipe:
        """What decides its result."""
        return Recipe(
            parameters=self.parameters,
            code=_code(self.module, tuple(puzzles_of(self.parameters))),
            inputs={need.id: need.recipe.key for need in self.needs},
            files={path: _digest(path) for path in self.files},
        )


@cache
def _code(module: str, puzzles: tuple[str, ...]) -> dict[str, str]:
    return code_of(f"costtogo.stages.{module}", puzzles)


@cache
def _digest(path: str) -> str:
    """The digest of a file, empty where there is none: its stage says what it misses."""
    return digest(path) if Path(path).is_file() else ""


def stages_of(study: AnyStudy, others: Iterable[Stage] = ()) -> list[Stage]:
    """The stages of a study, each after those that it needs; others: those of the studies that it may read from."""
    if isinstance(study, LocalViStudy):
        return list(_local_vi(study, {stage.id: stage for stage in others}))
    return list(_large(study) if isinstance(study, LargeStudy) else _listed(study))


def _parquets(name: str, tables: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}/{table}.parquet" for table in tables)


def _listed(study: Study) -> Iterator[Stage]:
    """A study of puzzles whose states can be listed."""
    slices, folder, threads = study.slices(), f"results/{study.study}", study.threads
    made: dict[str, Stage] = {}

    def stage(place: str, module: str, command: str, message: str, needs: list[str], **rest) -> Stage:
        group, name = place.split("/")
        upstream = tuple(made[need] for need in needs)
        made[place] = Stage(study.study, group, name, module, slices[place], command, message, upstream, **rest)
        return made[place]

    for puzzle in study.tables:
        yield stage(
            f"tables/{puzzle}", "tables", f"table --out {folder}/tables/{puzzle}.npz",
            f"Listing all states of {puzzle} by their distance from the goal.", [], data=(f"{puzzle}.npz",),
        )  # fmt: skip
    for puzzle in study.puzzles:
        table = f"--table {folder}/tables/{puzzle}.npz"
        yield stage(
            f"instances/{puzzle}", "instances", f"instances {table} --out {folder}/instances/{puzzle}.parquet",
            f"Drawing the instance sets of {puzzle}.", [f"tables/{puzzle}"],
            data=(f"{puzzle}.parquet", f"{puzzle}/distributions.parquet"),
        )  # fmt: skip
        name = f"baseline_{puzzle}"
        yield stage(
            f"searches/{name}", "search",
            f"search {table} --instances {folder}/instances/{puzzle}.parquet --out {folder}/searches/{name}",
            f"Searching {puzzle} with the exact and the zero heuristic over λ × N.",
            [f"tables/{puzzle}", f"instances/{puzzle}"], data=_parquets(name, FOUND), clock=True, threads=threads,
        )  # fmt: skip
    for name, params in study.models.items():
        puzzle, table = params.puzzle, f"--table {folder}/tables/{params.puzzle}.npz"
        model, audit = f"--model {folder}/models/{name}", f"--audit {folder}/audits/{name}"
        yield stage(
            f"models/{name}", "train", f"train {table} --out {folder}/models/{name}", f"Training {name}.",
            [f"tables/{puzzle}"], data=_parquets(name, TRAINED), threads=threads, priority=10,
        )  # fmt: skip
        yield stage(
            f"audits/{name}", "audit", f"audit {table} {model} --out {folder}/audits/{name}",
            f"Auditing {name} on every state.", [f"tables/{puzzle}", f"models/{name}"],
            data=(f"{name}/values.npz", *_parquets(name, ("measures", "by_distance"))), threads=threads,
        )  # fmt: skip
        instances = f"--instances {folder}/instances/{puzzle}.parquet"
        yield stage(
            f"searches/{name}", "search",
            f"search {table} {instances} {audit} {model} --out {folder}/searches/{name}",
            f"Searching with {name} over λ × N.",
            [f"tables/{puzzle}", f"instances/{puzzle}", f"models/{name}", f"audits/{name}"],
            data=_parquets(name, (*OF_CHECKPOINTS, *FOUND)), clock=True, threads=threads,
        )  # fmt: skip
    entries = tuple(figures_of_listed(study))
    kept = sorted({path for entry in entries for path in entry.kept})
    read = [*_below(REPORTED, "**/*.csv"), *_below(MEASURED, "**/*.[cj]s*")]
    suffixes = ("figures", "report"), ("Drawing the figures.", "Writing the report.")
    yield from _reported(study, slices, list(made.values()), entries, (kept, read), *suffixes)


def _large(study: LargeStudy) -> Iterator[Stage]:
    """A study of one puzzle too large to list."""
    slices, folder, puzzle = study.slices(), f"results/{study.study}", study.puzzle
    made: dict[str, Stage] = {}

    def stage(place: str, module: str, command: str, message: str, needs: list[str], threads: int = 1, **rest) -> Stage:
        group, name = place.split("/")
        upstream, command = tuple(made[need] for need in needs), f"{command} --out {folder}/{rest.pop('out', place)}"
        made[place] = Stage(
            study.study, group, name, module, slices[place], command, message, upstream, threads=threads, **rest
        )
        return made[place]

    table, threads = f"--table {folder}/tables/{puzzle}.npz", study.threads
    yield stage(
        f"tables/{puzzle}", "tables", "table", f"Listing the states of {puzzle} around the goal.", [],
        out=f"tables/{puzzle}.npz", data=(f"{puzzle}.npz",),
    )  # fmt: skip
    yield stage(
        f"instances/{puzzle}", "instances_large", f"instances-large {table}",
        f"Drawing the instance sets of {study.study}.", [f"tables/{puzzle}"],
        out=f"instances/{puzzle}.parquet", data=(f"{puzzle}.parquet",),
    )  # fmt: skip
    for name in study.pattern_databases:
        yield stage(
            f"pattern_databases/{name}", "pattern_databases", "pattern-database",
            f"Building the pattern database {name} of {study.study}.", [],
            out=f"pattern_databases/{name}.npz", data=(f"{name}.npz",),
        )  # fmt: skip

    def database(name: str | None) -> tuple[str, list[str]]:
        """The option that names a pattern database of the study, and its stage; nothing for what is none."""
        known = name in study.pattern_databases
        option = f" --database {folder}/pattern_databases/{name}.npz"
        return (option, [f"pattern_databases/{name}"]) if known else ("", [])

    sets = f"instances/{puzzle}"
    if study.optima is not None:
        option, need = database(study.optima.pattern_database)
        yield stage(
            f"optima/{puzzle}", "optima", f"optima --instances {folder}/{sets}.parquet{option}",
            f"Solving the instance sets of {study.study} exactly.", [sets, *need], threads,
            out=f"optima/{puzzle}.parquet", data=(f"{puzzle}.parquet",), clock=True,
        )  # fmt: skip
        sets = f"optima/{puzzle}"
    with_sets, below = f"{table} --instances {folder}/{sets}.parquet", [f"tables/{puzzle}", sets]
    for name in sorted(study.models, key=lambda name: len(study.lineage(name))):
        start = study.models[name].starts_from
        option = f" --start {folder}/models/{start}" if start is not None else ""
        yield stage(
            f"models/{name}", "train", f"train {table}{option}", f"Training {name} of {study.study}.",
            [f"tables/{puzzle}", *([f"models/{start}"] if start is not None else [])], threads,
            data=_parquets(name, TRAINED),
        )  # fmt: skip
    for name in study.models:
        model, reads = f"{with_sets} --model {folder}/models/{name}", [*below, f"models/{name}"]
        yield stage(
            f"audits/{name}", "audit_large", f"audit-large {model}", f"Auditing {name} of {study.study}.",
            reads, threads, data=_parquets(name, AUDITED),
        )  # fmt: skip
        for group, module, message in (
            ("searches", "grid", f"BWAS, λ × N, over {name} of {study.study}."),
            ("beams", "beams", f"Beam search over {name} of {study.study}."),
        ):
            tables = _parquets(name, ("searches", "grid"))
            yield stage(
                f"{group}/{name}", module, f"{module} {model}", message, reads, threads, data=tables, clock=True
            )
    for name in study.baselines:
        option, need = database(name)
        yield stage(
            f"baselines/{name}", "baselines", f"baselines {with_sets}{option}",
            f"BWAS, λ × N, over {name} of {study.study}.", [*below, *need],
            data=_parquets(name, ("searches", "grid")), clock=True,
        )  # fmt: skip
    if study.baselines:
        built = [name for name in study.baselines if name in study.pattern_databases]
        options = [f"--model {folder}/models/{name}" for name in study.models]
        options += [f"--database {folder}/pattern_databases/{name}.npz" for name in built]
        yield stage(
            f"footprints/{puzzle}", "footprints", f"footprints {' '.join(options)}",
            f"Measuring the memory and the speed of the heuristics of {study.study}.",
            [*(f"models/{name}" for name in study.models), *(f"pattern_databases/{name}" for name in built)], threads,
            data=(f"{puzzle}.parquet",), clock=True,
        )  # fmt: skip
    found = list(made.values())
    for name in study.models if study.external is not None else ():
        yield stage(
            f"external/{name}", "external", f"external {table} --model {folder}/models/{name}",
            f"External instances of {study.study}, solved over {name}.", [f"tables/{puzzle}", f"models/{name}"],
            threads, data=_parquets(name, ("searches", "summary")), clock=True, files=(_external(study),),
        )  # fmt: skip
    solved = [f"{folder}/external/{name}.json" for name in study.models]
    read = [*map(str, documents(puzzle)), *(path for path in solved if Path(path).exists())]
    modules = ("figures_large", "report_large")
    messages = (f"Drawing the figures of {study.study}.", f"Writing the report of {study.study}.")
    yield from _reported(study, slices, found, tuple(figures_of_large(study)), (read, read), modules, messages)


def _reported(
    study: Study | LargeStudy,
    slices: dict[str, Any],
    found: list[Stage],
    entries: tuple[FigureEntry, ...],
    read: tuple[list[str], list[str]],
    modules: tuple[str, str],
    messages: tuple[str, str],
) -> Iterator[Stage]:
    """Figures and report over all that was found; read: the files that each reads besides."""
    options = f"--results results/{study.study} --reports reports/{study.study}"
    captions = sorted({str(CAPTIONS / f"{entry.kind}.rst") for entry in entries})
    commands = [f"{module.replace('_', '-')} {options}" for module in modules]
    parameters = slices["report/report"]
    figures = Stage(
        study.study, "figures", "figures", modules[0], parameters, commands[0], messages[0], tuple(found),
        files=tuple(read[0]), pictures=entries,
    )  # fmt: skip
    yield figures
    yield Stage(
        study.study, "report", "report", modules[1], parameters, commands[1], messages[1], (*found, figures),
        files=(*read[1], *captions), written=DOCUMENTS,
    )  # fmt: skip


def _local_vi(study: LocalViStudy, others: dict[str, Stage]) -> Iterator[Stage]:
    """Local value iteration on the 15-puzzle, beside the network and the pattern database of another study."""
    slices, folder, puzzle = study.slices(), f"results/{study.study}", study.puzzle
    boards = Stage(
        study.study, "local_vi", puzzle, "local_vi", slices[f"local_vi/{puzzle}"],
        f"local-vi --out {folder}/local_vi/{puzzle}",
        "Local value iteration on all boards of the 15-puzzle, and on random ones.",
        data=_parquets(puzzle, LOCAL_VI_TABLES), clock=True,
    )  # fmt: skip
    yield boards
    found = [boards]
    if study.compared is not None:
        other = f"results/{puzzle}"
        database = f"--database {other}/pattern_databases/7-8.npz"
        needs = [f"{puzzle}/models/tiles", f"{puzzle}/pattern_databases/7-8"]
        if missing := [need for need in needs if need not in others]:
            raise UserError(f"The study {study.study} compares with {missing[0]}, which config/{puzzle}.yaml has not.")
        found.append(
            Stage(
                study.study,
                "compared",
                puzzle,
                "local_vi_compared",
                slices[f"compared/{puzzle}"],
                f"local-vi-compared --model {other}/models/tiles {database} --out {folder}/compared/{puzzle}.parquet",
                "The same boards by local value iteration, over the network and by IDA*.",
                tuple(others[need] for need in needs),
                data=(f"{puzzle}.parquet",),
                clock=True,
                threads=study.threads,
            )  # fmt: skip
        )
        yield found[-1]
    yield Stage(
        study.study, "report", "report", "report_local_vi", slices["report/report"],
        f"report-local-vi --results {folder} --reports reports/{study.study}",
        f"Writing the report of {study.study}.", tuple(found),
        files=(str(REPORTED / "local_value_iteration.csv"), *_below(CAPTIONS, "local_vi_*.rst")), written=DOCUMENTS,
    )  # fmt: skip


def _external(study: LargeStudy) -> str:
    """The file of a study's external instances."""
    return str(external_folder() / study.external.file)


def _below(folder: Path, pattern: str) -> list[str]:
    """The files of a pattern below a folder, sorted."""
    return sorted(str(path) for path in folder.glob(pattern))
