"""The table of stages: what each stage of a study reads, writes and is called by.

A stage is data. The Snakefile makes a rule of each, so that the files of a stage are named here alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from costtogo.analysis.documents import read_by_report
from costtogo.external_files import folder as external_folder
from costtogo.figures.catalogue import KINDS, FigureEntry, catalogue, parts, paths_of
from costtogo.files import digest
from costtogo.params.slices import slices
from costtogo.params.study import PuzzleStudy, Study, modules_of
from costtogo.recipes import Recipe
from costtogo.sources import code_of
from costtogo.types import UserError

DOCUMENTS = ("report.md", "timings.md", "reported_vs_reproduced.csv")
CAPTIONS = Path("workflow/captions")
TRAINED = ("checkpoints", "curve", "errors")
AUDITED = ("nearby", "known", "consistency", "scrambled", "greedy", "progress")  # tables of a large puzzle's audit
OF_CHECKPOINTS = ("selection", "checkpoints", "checkpoints_by_distance", "admissible")
FOUND = ("grid", "by_distance", "searches")
LOCAL_VI_TABLES = ("subproblems", "shares", "classes", "preferences", "policy", "boards", "larger")


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage of a study.

    group, name: its results lie in results/<study>/<group>/<name>….  module: of costtogo.stages.
    parameters: its slice.  options: of `costtogo stage`, besides --params.
    needs: the stages that it reads from.  files: the files it reads that no stage makes.
    data: its files besides the card, below results/<study>/<group>/.  clock: whether it writes a table of seconds.
    pictures: the figures that it draws.  written: its documents below reports/<study>/.
    """

    study: str
    group: str
    name: str
    module: str
    parameters: dict[str, Any]
    options: str
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
            code=_code(self.module, tuple(modules_of(self.parameters))),
            inputs={need.id: need.recipe.key for need in self.needs},
            files={path: _digest(path) for path in self.files},
        )


@cache
def _code(module: str, others: tuple[str, ...]) -> dict[str, str]:
    return code_of(f"costtogo.stages.{module}", others)


@cache
def _digest(path: str) -> str:
    """The digest of a file, empty where there is none: its stage says what it misses."""
    return digest(path) if Path(path).is_file() else ""


def stages_of(study: Study, others: Iterable[Stage] = ()) -> list[Stage]:
    """The stages of a study, each after those that it needs; others: those of the studies that it may read from."""
    return list(_Table(study, {stage.id: stage for stage in others}).stages())


def _parquets(name: str, tables: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}/{table}.parquet" for table in tables)


class _Table:
    """The stages of one study, as they are added: each by its place, <group>/<name>."""

    def __init__(self, study: Study, others: dict[str, Stage]):
        self.study, self.others = study, others
        self.slices, self.folder = slices(study), f"results/{study.study}"
        self.made: dict[str, Stage] = {}

    def stages(self) -> Iterator[Stage]:
        """All of them."""
        for puzzle in self.study.listed:
            self.add_table(puzzle, "all states by their distance from the goal")
        for puzzle in self.study.puzzles:
            self.add_puzzle(self.study.about(puzzle))
        self.add_report()
        return iter(self.made.values())

    def add(
        self, place: str, module: str, options: str, message: str, needs: Iterable[str] = (), suffix: str = "", **rest
    ) -> None:
        """Add a stage; options: without --params and --out; needs: places; suffix: of what --out names."""
        group, name = place.split("/")
        upstream = tuple(self.made.get(need) or self.others[need] for need in needs)
        options = f"{options} --out {self.folder}/{place}{suffix}".strip()
        self.made[place] = Stage(
            self.study.study, group, name, module, self.slices[place], options, message, upstream, **rest
        )

    def path(self, place: str, suffix: str = "") -> str:
        """Where the result of a stage lies."""
        return f"{self.folder}/{place}{suffix}"

    def add_table(self, puzzle: str, what: str) -> None:
        """The exact table of a puzzle."""
        message = f"Listing {what} of {puzzle}."
        self.add(f"tables/{puzzle}", "tables", "", message, suffix=".npz", data=(f"{puzzle}.npz",))

    def add_puzzle(self, asked: PuzzleStudy) -> None:
        """All that is asked of a puzzle, and of its models."""
        puzzle, table = asked.puzzle, f"tables/{asked.puzzle}"
        if asked.exact is not None and not asked.is_exhaustive:
            self.add_table(puzzle, "the states around the goal")
        option = f"--table {self.path(table, '.npz')}"
        for name in asked.pattern_databases:
            self.add(
                f"pattern_databases/{name}", "pattern_databases", "",
                f"Building the pattern database {name} of {puzzle}.", suffix=".npz", data=(f"{name}.npz",),
            )  # fmt: skip
        if asked.instances:
            self.add_instances(asked, option)
        for name in sorted(asked.models, key=lambda name: len(asked.lineage(name))):
            start = asked.models[name].starts_from
            first = f" --start {self.path(f'models/{start}')}" if start is not None else ""
            needs = [table, *([f"models/{start}"] if start is not None else [])]
            self.add(
                f"models/{name}", "train", f"{option}{first}", f"Training {name}.", needs,
                data=_parquets(name, TRAINED), threads=asked.threads, priority=10,
            )  # fmt: skip
        sets = "optima" if asked.optima is not None else "instances"
        with_sets = f"{option} --instances {self.path(f'{sets}/{puzzle}', '.parquet')}"
        below = [table, f"{sets}/{puzzle}"]
        for name in asked.models:
            self.add_model(asked, name, with_sets, below)
        self.add_baselines(asked, with_sets, below)
        if asked.external is not None:
            for name in asked.models:
                self.add(
                    f"external/{name}", "search.external", f"{option} --model {self.path(f'models/{name}')}",
                    f"Solving external instances of {puzzle} over {name}.", [table, f"models/{name}"],
                    data=_parquets(name, ("searches", "summary")), clock=True, threads=asked.threads,
                    files=(str(external_folder() / asked.external.file),),
                )  # fmt: skip
        if asked.local_vi is not None:
            self.add_local_vi(asked)

    def add_instances(self, asked: PuzzleStudy, option: str) -> None:
        """The instance sets of a puzzle, and their exact solutions where these are asked for."""
        puzzle = asked.puzzle
        spread = (f"{puzzle}/distributions.parquet",) if asked.is_exhaustive else ()
        self.add(
            f"instances/{puzzle}", "instances", f"{option}", f"Drawing the instance sets of {puzzle}.",
            [f"tables/{puzzle}"], suffix=".parquet", data=(f"{puzzle}.parquet", *spread),
        )  # fmt: skip
        if asked.optima is not None:
            database, need = self.database(asked, asked.optima.pattern_database)
            self.add(
                f"optima/{puzzle}", "search.optima", f"--instances {self.path(f'instances/{puzzle}', '.parquet')}"
                f"{database}", f"Solving the instance sets of {puzzle} exactly.", [f"instances/{puzzle}", *need],
                suffix=".parquet", data=(f"{puzzle}.parquet",), clock=True, threads=asked.threads,
            )  # fmt: skip

    def add_model(self, asked: PuzzleStudy, name: str, with_sets: str, below: list[str]) -> None:
        """The audit of a model, and the searches over it."""
        option = f"--model {self.path(f'models/{name}')}"
        needs, threads = [*below, f"models/{name}"], asked.threads
        if asked.is_exhaustive:
            table = f"--table {self.path(below[0], '.npz')}"
            self.add(
                f"audits/{name}", "audit", f"{table} {option}", f"Auditing {name} on every state.",
                [below[0], f"models/{name}"], threads=threads,
                data=(f"{name}/values.npz", *_parquets(name, ("measures", "by_distance"))),
            )  # fmt: skip
            self.add(
                f"searches/{name}", "search.exhaustive", f"{with_sets} --audit {self.path(f'audits/{name}')} {option}",
                f"Searching with {name} over λ × N.", [*needs, f"audits/{name}"],
                data=_parquets(name, (*OF_CHECKPOINTS, *FOUND)), clock=True, threads=threads,
            )  # fmt: skip
        else:
            self.add(
                f"audits/{name}", "audit_samples", f"{with_sets} {option}", f"Auditing {name}.", needs,
                data=_parquets(name, AUDITED), threads=threads,
            )  # fmt: skip
        by_bwas = [("searches", "grids", "BWAS, λ × N,")] if asked.grids and not asked.is_exhaustive else []
        others = [(group, group, searches[0].words) for group, searches in asked.by_group.items()]
        for group, module, words in [*by_bwas, *others]:
            self.add(
                f"{group}/{name}", f"search.{module}", f"{with_sets} {option}", f"{words} over {name}.", needs,
                data=_parquets(name, ("searches", "grid")), clock=True, threads=threads,
            )  # fmt: skip

    def add_baselines(self, asked: PuzzleStudy, with_sets: str, below: list[str]) -> None:
        """The searches over heuristics that nobody trained, and what each heuristic takes."""
        puzzle, databases = asked.puzzle, []
        if asked.search is not None:
            self.add(
                f"searches/baseline_{puzzle}", "search.exhaustive", f"{with_sets}",
                f"Searching {puzzle} with the exact and the zero heuristic over λ × N.", below,
                data=_parquets(f"baseline_{puzzle}", FOUND), clock=True, threads=asked.threads,
            )  # fmt: skip
        for name in asked.baselines:
            database, need = self.database(asked, name)
            databases += need
            self.add(
                f"baselines/{name}", "search.grids", f"{with_sets}{database}",
                f"BWAS, λ × N, over {name} of {puzzle}.", [*below, *need],
                data=_parquets(name, ("searches", "grid")), clock=True,
            )  # fmt: skip
        if asked.baselines:
            models = [f"models/{name}" for name in asked.models]
            options = [f"--model {self.path(place)}" for place in models]
            options += [f"--database {self.path(place, '.npz')}" for place in databases]
            self.add(
                f"footprints/{puzzle}", "footprints", f"{' '.join(options)}",
                f"Measuring the memory and the speed of the heuristics of {puzzle}.", [*models, *databases],
                data=(f"{puzzle}.parquet",), clock=True, threads=asked.threads,
            )  # fmt: skip

    def database(self, asked: PuzzleStudy, name: str | None) -> tuple[str, list[str]]:
        """The option that names a pattern database of the study, and its stage; nothing for what is none."""
        if name not in asked.pattern_databases:
            return "", []
        return f" --database {self.path(f'pattern_databases/{name}', '.npz')}", [f"pattern_databases/{name}"]

    def add_local_vi(self, asked: PuzzleStudy) -> None:
        """Local value iteration, and other solvers on the same boards over what another study has made."""
        puzzle, compared = asked.puzzle, asked.local_vi.compared
        self.add(
            f"local_vi/{puzzle}", "local_vi", "", f"Local value iteration on the boards of {puzzle}.",
            data=_parquets(puzzle, LOCAL_VI_TABLES), clock=True,
        )  # fmt: skip
        if compared is None:
            return
        model, database = f"models/{compared.model}", f"pattern_databases/{compared.pattern_database}"
        needs = [f"{compared.study}/{place}" for place in (model, database)]
        if missing := [need for need in needs if need not in self.others]:
            raise UserError(f"The study {self.study.study} compares with {missing[0]}, which no study makes.")
        options = f"--model results/{needs[0]} --database results/{needs[1]}.npz"
        self.add(
            f"compared/{puzzle}", "search.compared", f"{options}",
            "The same boards by local value iteration, over the network and by IDA*.", needs,
            suffix=".parquet", data=(f"{puzzle}.parquet",), clock=True, threads=asked.threads,
        )  # fmt: skip

    def add_report(self) -> None:
        """Figures and report over all that was found but external instances, which a report has if they were solved."""
        study, entries = self.study, catalogue(self.study)
        solved = [stage.card for stage in self.made.values() if stage.group == "external" and Path(stage.card).exists()]
        for part, drawn in parts(entries).items():
            self.add_figures(part, drawn, [card for card in solved if Path(card).stem == part])
        found = tuple(stage for stage in self.made.values() if stage.group != "external")
        read = [*map(str, read_by_report(study)), *solved]
        captions = sorted({str(CAPTIONS / f"{entry.kind}.rst") for entry in entries})
        measured = [*study.models, *(["local_vi"] if any(each.local_vi for each in study.puzzles.values()) else [])]
        written = (*DOCUMENTS, *(f"metrics/{name}.json" for name in measured))
        self.made["report/report"] = Stage(
            study.study, "report", "report", "report", self.slices["report/report"], self.reported,
            f"Writing the report of {study.study}.", found, files=(*read, *captions), written=written,
        )  # fmt: skip

    @property
    def reported(self) -> str:
        """The options of the stages that write below reports/<study>/."""
        return f"--results {self.folder} --reports reports/{self.study.study}"

    def add_figures(self, part: str, entries: list[FigureEntry], solved: list[str]) -> None:
        """The figures of a puzzle, a model or another study; solved: cards of external instances that are there."""
        waited = [entry for entry in entries if not entry.optional]
        needs = dict.fromkeys(need for entry in waited for need in entry.needs)
        files = {path for entry in entries for path in paths_of(entry.files)}
        puzzles = sorted({entry.puzzle for entry in entries})
        listed = {"part": part, "puzzles": puzzles, "figures": [asdict(entry) for entry in entries]}
        self.made[f"figures/{part}"] = Stage(
            self.study.study, "figures", part, "figures", {"study": self.study.study, **listed}, self.reported,
            f"Drawing the figures of {part}.", tuple(self.made[need] for need in needs),
            files=(*sorted(files), *solved), pictures=tuple(waited),
        )  # fmt: skip
