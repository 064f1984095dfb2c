"""The table of stages: the inputs, outputs and command of each stage of a study.

A stage is data. The Snakefile makes a rule of each, so only this module names the files of a stage.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias

from costtogo.external_files import folder as external_folder
from costtogo.figures.catalogue import KINDS, FigureEntry, catalogue, parts
from costtogo.files import digest
from costtogo.literature.documents import read_by_report
from costtogo.params.slices import slices
from costtogo.params.study import PuzzleStudy, Study, files_of, modules_of
from costtogo.params.training import level_files
from costtogo.recipes import Recipe
from costtogo.sources import code_of
from costtogo.tables.kept import CAPTIONS
from costtogo.types import UserError

APART = {  # groups of stages that need files from outside the project, and their messages when they are done
    "external": "External instances of {0} are solved: read results/{0}/external.",
    "two_phase": "The two-phase solver has solved the cubes of {0}: read results/{0}/two_phase.",
}
DOCUMENTS = ("report.md", "timings.md", "reported_vs_reproduced.csv")
TRAINED = ("checkpoints", "curve", "errors")
AUDITED = ("nearby", "known", "consistency", "scrambled", "greedy", "progress")  # tables of a large puzzle's audit
OF_LEVELS = ("dead_ends", "bounds", "along")  # also for a puzzle whose states have their own goals
OF_CHECKPOINTS = ("selection", "checkpoints", "checkpoints_by_distance", "admissible")
FOUND = ("grid", "by_distance", "searches")
BY_CELL = ("searches", "grid")
LOCAL_VI_TABLES = ("subproblems", "shares", "classes", "preferences", "policy", "boards", "larger")
# The suffix of a stage's result by group, if it is a file and not a folder.
SUFFIXES = {"tables": ".npz", "pattern_databases": ".npz"}
SUFFIXES |= dict.fromkeys(("instances", "optima", "compared"), ".parquet")
Names: TypeAlias = tuple[str, ...]
Reads: TypeAlias = Iterable[tuple[str, str]]  # options of a stage, each with the place of the stage behind its value


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage of a study.

    group, name: its results are in results/<study>/<group>/<name>….  module: in costtogo.stages.
    parameters: its slice.  options: of `costtogo stage`, besides --params.
    needs: the stages that it reads from.  files: its input files that no stage makes.
    data: its files besides the card, below results/<study>/<group>/.  clock: True if it writes a table of seconds.
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
    files: Names = ()
    data: Names = ()
    clock: bool = False
    pictures: tuple[FigureEntry, ...] = ()
    written: Names = ()
    threads: int = 1
    priority: int = 0

    @property
    def apart(self) -> bool:
        """True if it needs files from outside the project.

        Then it has its own target, `<study>-<group>`, and the study's report includes it only if it has run.
        """
        return self.group in APART

    @property
    def id(self) -> str:
        """default/models/DNN_0"""
        return f"{self.study}/{self.group}/{self.name}"

    @property
    def rule(self) -> str:
        """The name of its rule: default_models_DNN_0"""
        return self.id.replace("/", "_")

    @property
    def folder(self) -> Path:
        """results/<study>/<group>"""
        return Path("results") / self.study / self.group

    @property
    def card(self) -> str:
        """results/<study>/<group>/<name>.json"""
        return f"{self.folder}/{self.name}.json"

    @property
    def result(self) -> str:
        """Its result as an input of other stages: a file or a folder."""
        return f"{self.folder}/{self.name}{SUFFIXES.get(self.group, '')}"

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
        """Its figures, by file."""
        return {f"reports/{self.study}/{entry.file(kind)}": entry for entry in self.pictures for kind in KINDS}

    @cached_property
    def outputs(self) -> list[str]:
        """All files it writes except its mark."""
        return [*self.results, *self.documents, *self.drawn, self.card, *self.timings]

    @property
    def benchmark(self) -> str:
        """Snakemake's own record of time and memory."""
        return f"results/{self.study}/timings/{self.group}/{self.name}.jsonl"

    @cached_property
    def recipe(self) -> Recipe:
        """Everything that decides its result."""
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
    """The digest of a file, empty if it does not exist: its stage then reports what is missing."""
    return digest(path) if Path(path).is_file() else ""


def stages_of(study: Study, others: Iterable[Stage] = ()) -> list[Stage]:
    """The stages of a study, each after those that it needs; others: stages of the studies that it may read from."""
    return list(_Table(study, {stage.id: stage for stage in others}).stages())


class _Table:
    """The stages of one study, in the order in which they are added, by place, <group>/<name>."""

    def __init__(self, study: Study, others: dict[str, Stage]):
        self.study, self.others = study, others
        self.slices, self.folder = slices(study), f"results/{study.study}"
        self.made: dict[str, Stage] = {}

    def stages(self) -> Iterator[Stage]:
        """All stages."""
        for puzzle in self.study.listed:
            self.add(f"tables/{puzzle}", "tables", f"Listing all states by their distance from the goal of {puzzle}.")
        for puzzle in self.study.puzzles:
            self.add_puzzle(self.study.about(puzzle))
        self.add_report()
        return iter(self.made.values())

    def add(
        self, place: str, module: str, message: str, reads: Reads = (), tables: Names = (), more: Names = (), **rest
    ) -> None:
        """Add a stage.

        tables: the tables that it writes into a folder with its name; more: its other files, below its group's folder.
        """
        group, name = place.split("/")
        needs = [(option, self.made.get(need) or self.others[need]) for option, need in reads]
        suffix = SUFFIXES.get(group, "")
        options = [*(f"--{option} {need.result}" for option, need in needs), f"--out {self.folder}/{place}{suffix}"]
        data = (*more, *(f"{name}/{table}.parquet" for table in tables))
        if suffix:
            data = (f"{name}{suffix}", *data)
        parameters = self.slices[place]
        threads = parameters.get("threads", 1) * parameters.get("training", {}).get("processes", 1)
        rest |= {"data": data, "threads": threads}
        self.put(place, module, parameters, " ".join(options), message, [need for _, need in needs], **rest)

    def put(
        self, place: str, module: str, parameters: dict, options: str, message: str, needs: Iterable[Stage], **rest
    ) -> None:
        """Add a stage with the options of its command; its inputs include the files of its puzzles."""
        group, name = place.split("/")
        study = self.study.study
        rest["files"] = (*rest.get("files", ()), *map(str, files_of(parameters)))
        self.made[place] = Stage(study, group, name, module, parameters, options, message, tuple(needs), **rest)

    def add_puzzle(self, asked: PuzzleStudy) -> None:
        """Add all stages of a puzzle and of its models."""
        puzzle, table = asked.puzzle, ("table", f"tables/{asked.puzzle}")
        if asked.exact is not None and not asked.is_exhaustive:
            self.add(f"tables/{puzzle}", "tables", f"Listing the states around the goal of {puzzle}.")
        for name in asked.pattern_databases:
            message = f"Building the pattern database {name} of {puzzle}."
            self.add(f"pattern_databases/{name}", "pattern_databases", message)
        if asked.instances:
            spread = (f"{puzzle}/distributions.parquet",) if asked.is_exhaustive else ()
            self.add(
                f"instances/{puzzle}", "instances", f"Drawing the instance sets of {puzzle}.", [table], more=spread
            )
        sets = ("instances", f"instances/{puzzle}")
        for name in sorted(asked.models, key=lambda name: len(asked.lineage(name))):
            start = asked.models[name].starts_from
            reads = [table] if start is None else [table, ("start", f"models/{start}")]
            levels = tuple(map(str, level_files(asked.models[name])))
            self.add(f"models/{name}", "train", f"Training {name}.", reads, TRAINED, files=levels, priority=10)
        if asked.optima is not None:
            guide = asked.optima.guide
            reads = [sets, *_database(asked, asked.optima.pattern_database)]
            reads += [] if guide is None else [table, ("model", f"models/{guide}")]
            message = f"Solving the instance sets of {puzzle} exactly."
            self.add(f"optima/{puzzle}", "search.optima", message, reads, clock=True)
            sets = ("instances", f"optima/{puzzle}")
        if asked.two_phase is not None:
            message = f"Solving {puzzle} by the two-phase solver."
            self.add(f"two_phase/{puzzle}", "search.two_phase", message, [sets], BY_CELL, clock=True)
        for name in asked.models:
            self.add_model(asked, name, table, sets)
        self.add_baselines(asked, table, sets)
        if asked.local_vi is not None:
            self.add_local_vi(asked)

    def add_model(self, asked: PuzzleStudy, name: str, table: tuple[str, str], sets: tuple[str, str]) -> None:
        """Add the audit of a model, and the searches with it; table, sets: their exact table and their instances."""
        model = ("model", f"models/{name}")
        reads, audit, searches = [table, sets, model], f"audits/{name}", f"searches/{name}"
        if asked.is_exhaustive:
            message, found = f"Auditing {name} on every state.", ("measures", "by_distance")
            found += ("policy",) if asked.models[name].architecture.outputs == "policy" else ()
            self.add(audit, "audit", message, [table, model], found, (f"{name}/values.npz",))
            message, found = f"Searching with {name} over λ × N.", (*OF_CHECKPOINTS, *FOUND)
            self.add(searches, "search.exhaustive", message, [*reads, ("audit", audit)], found, clock=True)
        else:
            found = AUDITED if asked.one_goal else (*AUDITED, *OF_LEVELS)
            self.add(audit, "audit_samples", f"Auditing {name}.", reads, found)
        if asked.grids and not asked.is_exhaustive:
            self.add(searches, "search.grids", f"BWAS, λ × N, over {name}.", reads, BY_CELL, clock=True)
        for group, (first, *_) in asked.searches_over(name).items():
            self.add(f"{group}/{name}", f"search.{group}", f"{first.words} over {name}.", reads, BY_CELL, clock=True)
        if asked.external is not None:
            message = f"Solving external instances of {asked.puzzle} over {name}."
            files, found = (str(external_folder() / asked.external.file),), ("searches", "summary")
            self.add(f"external/{name}", "search.external", message, [table, model], found, files=files, clock=True)

    def add_baselines(self, asked: PuzzleStudy, table: tuple[str, str], sets: tuple[str, str]) -> None:
        """Add the searches with untrained heuristics, and the cost of each heuristic."""
        puzzle = asked.puzzle
        if asked.search is not None:
            message = f"Searching {puzzle} with the exact and the zero heuristic over λ × N."
            self.add(f"searches/baseline_{puzzle}", "search.exhaustive", message, [table, sets], FOUND, clock=True)
        for name in asked.baselines:
            reads, message = [table, sets, *_database(asked, name)], f"BWAS, λ × N, over {name} of {puzzle}."
            self.add(f"baselines/{name}", "search.grids", message, reads, BY_CELL, clock=True)
        if asked.baselines:
            reads = [("model", f"models/{name}") for name in asked.models]
            reads += [database for name in asked.baselines for database in _database(asked, name)]
            message, found = f"Measuring the memory and the speed of the heuristics of {puzzle}.", f"{puzzle}.parquet"
            self.add(f"footprints/{puzzle}", "footprints", message, reads, more=(found,), clock=True)

    def add_local_vi(self, asked: PuzzleStudy) -> None:
        """Add local value iteration, and other solvers on the same boards with results of another study."""
        puzzle, compared = asked.puzzle, asked.local_vi.compared
        message = f"Local value iteration on the boards of {puzzle}."
        self.add(f"local_vi/{puzzle}", "local_vi", message, tables=LOCAL_VI_TABLES, clock=True)
        if compared is None:
            return
        places = {"model": f"models/{compared.model}", "database": f"pattern_databases/{compared.pattern_database}"}
        study = "" if compared.study == self.study.study else f"{compared.study}/"
        reads = [(option, study + place) for option, place in places.items()]
        if missing := [need for _, need in reads if need not in self.made | self.others]:
            raise UserError(f"The study {self.study.study} compares with {missing[0]}, which no study makes.")
        message = "The same boards by local value iteration, over the network and by IDA*."
        self.add(f"compared/{puzzle}", "search.compared", message, reads, clock=True)

    def add_report(self) -> None:
        """Add figures and report over all results; those of stages apart are included only if they have run."""
        study, entries = self.study, catalogue(self.study)
        options = f"--results {self.folder} --reports reports/{study.study}"
        solved = [stage.card for stage in self.made.values() if stage.apart and Path(stage.card).exists()]
        for part, drawn in parts(entries).items():
            self.add_figures(part, drawn, options, [card for card in solved if Path(card).stem == part])
        found = [stage for stage in self.made.values() if not stage.apart]
        files = (*map(str, read_by_report(study)), *solved, str(CAPTIONS))
        measured = [*study.models, *(["local_vi"] if any(each.local_vi for each in study.puzzles.values()) else [])]
        written = (*DOCUMENTS, *(f"metrics/{name}.json" for name in measured))
        place, message = "report/report", f"Writing the report of {study.study}."
        self.put(place, "report", self.slices[place], options, message, found, files=files, written=written)

    def add_figures(self, part: str, entries: list[FigureEntry], options: str, solved: list[str]) -> None:
        """Add the figures of a puzzle, a model or another study; solved: cards of stages apart that have run."""
        waited = tuple(entry for entry in entries if not entry.optional)
        needs = [self.made[need] for need in dict.fromkeys(need for entry in waited for need in entry.needs)]
        files = (*sorted({path for entry in entries for path in entry.files}), *solved)
        listed = {"study": self.study.study, "part": part, "puzzles": sorted({entry.puzzle for entry in entries})}
        listed["figures"] = [asdict(entry) for entry in entries]
        message = f"Drawing the figures of {part}."
        self.put(f"figures/{part}", "figures", listed, options, message, needs, files=files, pictures=waited)


def _database(asked: PuzzleStudy, name: str | None) -> Reads:
    """The option for a pattern database of the study; none if the name is no database."""
    return [("database", f"pattern_databases/{name}")] if name in asked.pattern_databases else []
