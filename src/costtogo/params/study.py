"""Parameters of a study: puzzles × models × questions."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, SerializeAsAny, Tag

from costtogo.memory import refuse_unlisted
from costtogo.params.audits import ExhaustiveAudit, LocalVi, SampledAudit
from costtogo.params.base import Few, ModelName, Nodes, Params, Positive, Seed, SetName, StudyName, hint
from costtogo.params.instances import (
    DistributionParams,
    InstanceParams,
    LevelInstances,
    MirroredInstances,
    PrefixInstances,
    RankedInstances,
    StartInstances,
)
from costtogo.params.reading import shown
from costtogo.params.searches import (
    GUIDE,
    ZERO,
    AnytimeParams,
    BeamParams,
    DatabaseName,
    ExternalBudget,
    ExternalParams,
    GridParams,
    OptimaParams,
    Search,
    SearchProtocol,
    TwoPhaseParams,
)
from costtogo.params.trainers import Model
from costtogo.params.training import Architecture, ModelParams
from costtogo.puzzles import family, files, find, make, modules, partition_of
from costtogo.puzzles.base import apply, is_listed
from costtogo.types import UserError

if TYPE_CHECKING:
    from costtogo.puzzles.base import Puzzle

FEWEST_BUDGETS = 3  # numbers of iterations by which trainings say what more of them buy
OF_BUDGETS = {"iterations", "seed", "check_every", "checkpoint_every", "checkpoint_iterations", "checkpoints_at"}
Document = Literal["thesis", "deepcubea", "final_year_report", "deepcube", "local_value_iteration"]
LONGEST_NUMBER = 3  # digits in the name of a puzzle: 3 to the power of a larger number is not even counted


def _puzzle_exists(name: str) -> str:
    if len(name) > 30 or any(len(part) > LONGEST_NUMBER for part in name.split("_") if part.isdigit()):
        raise ValueError(f"{shown(name)} is too large a puzzle, or none")
    try:
        make(name)
    except UserError as error:
        raise ValueError(str(error)) from error
    return name


PuzzleName = Annotated[str, AfterValidator(_puzzle_exists)]


class Around(Params):
    """The states up to `around` moves from the goal; beyond 30, no puzzle's table fits.

    goal_alone: whether searches over networks test for the goal alone, and only audits look into the table.
    """

    around: int = Field(ge=0, le=30)
    goal_alone: bool = False


class OfLevels(Params):
    """All states of some levels of our own, of a puzzle whose states have goals of their own.

    levels: how many.  boxes: of each.  states: of them that are kept as a sample, about, evenly over the distances.
    """

    levels: Positive = 100
    boxes: Few = 4
    states: Positive = 4_000


def _listed(values: Any) -> str:
    """Which of the two a table is meant to be."""
    is_of_levels = "levels" in values if isinstance(values, dict) else isinstance(values, OfLevels)
    return "of levels" if is_of_levels else "around a goal"


Listed = Annotated[
    Annotated[Around, Tag("around a goal")] | Annotated[OfLevels, Tag("of levels")], Discriminator(_listed)
]


class PuzzleParams(Params):
    """All that a study does with a puzzle besides training.

    exact: which states are listed by their distance: all, those around the goal, or those of some levels. What else is
    asked goes by it.
    search: how networks are chosen and searched with where all are.  searches: grids of BWAS, beams and others.
    headline: the model that is compared with the literature; the first by name if left out.
    pattern_databases: the partitions of the tiles by name, as exact.partition reads them: 7-8, or "1 2 3 6 | 4 5 7 8";
    of the 3×3×3's pieces as exact.piece_patterns does: "corners | 1 2 3 4 5 6 | 7 8 9 10 11 12".
    baselines: what else BWAS goes by on the grids of the networks: pattern databases, manhattan of sliding tiles,
    the bounds of Sokoban, and zero.
    max_nodes: kept in memory by one search of beams or external instances, which ends there as unsolved.
    """

    written = ("like", "only")
    exact: Literal["all"] | Listed | None = None
    instances: dict[SetName, InstanceParams] = {}
    distributions: DistributionParams = DistributionParams()
    audit: Annotated[ExhaustiveAudit | SampledAudit, Field(discriminator="kind")] | None = None
    search: SearchProtocol | None = None
    searches: list[Search] = []
    headline: str | None = None
    pattern_databases: dict[DatabaseName, str] = {}
    optima: OptimaParams | None = None
    two_phase: TwoPhaseParams | None = None
    baselines: list[str] = []
    external: ExternalParams | None = None
    max_nodes: Nodes = 60_000_000
    local_vi: LocalVi | None = None

    def problems(self) -> Iterator[str]:
        yield from self._missing_sets()
        yield from self._questions_of_other_puzzles()
        for first, *others in self.by_group.values():
            settings = [setting for search in (first, *others) for setting in search.settings]
            if twice := next((setting for setting in settings if settings.count(setting) > 1), None):
                named = ", ".join(f"{name} {value}" for name, value in zip(first.cell, twice, strict=True))
                yield f"searches: {first.words} with {named} is there twice; leave one of them out"

    def _missing_sets(self) -> Iterator[str]:
        wanted = [search.set for search in self.searches]
        wanted += [name for solver in (self.optima, self.two_phase) if solver for name in solver.sets]
        wanted += [self.search.selection.set, self.search.headline.set] if self.search else []
        if isinstance(self.audit, SampledAudit) and self.audit.progress:
            wanted.append(self.audit.progress.set)
        wanted += [params.of for params in self.instances.values() if isinstance(params, MirroredInstances)]
        for name in wanted:
            if name not in self.instances:
                yield f"there is no instance set '{name}'{hint(name, self.instances)}"
        for name, params in self.instances.items():
            if isinstance(params, MirroredInstances) and isinstance(self.instances[params.of], MirroredInstances):
                yield f"instance set '{name}' mirrors '{params.of}', which is mirrored itself"

    def _questions_of_other_puzzles(self) -> Iterator[str]:
        if self.exact == "all" and (self.search is None) != (self.audit is None):
            yield "a puzzle whose states are all listed needs both audit and search, or neither"
        if self.exact != "all" and self.search is not None:
            yield "search is for a puzzle whose states are all listed (exact: all); leave it out"
        if self.exact is None and (self.instances or self.searches or self.optima or self.external):
            yield "say which states are listed: exact: all, {around: moves} or {levels: 100}"
        if self.exact != "all":
            if name := next((n for n, each in self.instances.items() if isinstance(each, RankedInstances)), None):
                kind = self.instances[name].kind
                yield f"the kind {kind} of set {name} needs all states listed (exact: all)"
            if any(grid.every_checkpoint for grid in self.grids):
                yield "every_checkpoint is for a puzzle whose states are all listed (exact: all)"

    @property
    def is_exhaustive(self) -> bool:
        """True if all states are listed."""
        return self.exact == "all"

    @property
    def grids(self) -> list[GridParams]:
        """The searches by BWAS."""
        return [search for search in self.searches if isinstance(search, GridParams)]

    @property
    def by_group(self) -> dict[str, list[Search]]:
        """The searches by other solvers than BWAS, by the group of their stages."""
        others = [search for search in self.searches if not isinstance(search, GridParams)]
        return {each.group: [search for search in others if search.group == each.group] for each in others}

    @property
    def beams(self) -> list[BeamParams]:
        """The searches by beams."""
        return [search for search in self.searches if isinstance(search, BeamParams)]

    @property
    def budgets(self) -> list[ExternalBudget]:
        """The budgets of external instances, and those under which sets of the study are searched likewise."""
        asked = [self.external] if self.external else []
        asked += [search for search in self.searches if isinstance(search, AnytimeParams)]
        return [budget for each in asked for budget in each.budgets]


class PuzzleStudy(PuzzleParams):
    """What a study does with one puzzle, its models among it."""

    study: str
    seed: int
    threads: int
    device: str
    puzzle: str
    models: dict[str, SerializeAsAny[ModelParams]]

    @property
    def nearby_depth(self) -> int:
        """The largest distance of the exact table around the goal, 0 where there is none."""
        return self.exact.around if isinstance(self.exact, Around) else 0

    @property
    def goal_alone(self) -> bool:
        """Whether searches test for the goal alone and do not look into an exact table around it."""
        return isinstance(self.exact, Around) and self.exact.goal_alone

    @property
    def one_goal(self) -> bool:
        """Whether all states of the puzzle share one goal."""
        return make(self.puzzle).one_goal

    @property
    def is_sliding(self) -> bool:
        """True for sliding tiles."""
        return family(self.puzzle) == "sliding"

    @property
    def has_patterns(self) -> bool:
        """True if there are pattern databases of the puzzle."""
        return find(self.puzzle)[0].partition is not None

    @property
    def exact_solver(self) -> str:
        """By what shortest solutions are found, in words, of a study that asks for optima."""
        if self.optima.pattern_database is not None:
            return f"IDA* over {self.optima.pattern_database}"
        if self.optima.table is not None:
            return f"IDA* over the {self.optima.table} table of distances"
        return find(self.puzzle)[0].exact_by

    @property
    def alike_but_for_iterations(self) -> list[str]:
        """The models that differ in seed and number of iterations alone; none where these are fewer than three."""
        alike: dict[str, list[str]] = {}
        for name, model in self.models.items():
            alike.setdefault(model.model_dump_json(exclude=OF_BUDGETS), []).append(name)
        found = max(alike.values(), key=len, default=[])
        return found if len({self.models[name].iterations for name in found}) >= FEWEST_BUDGETS else []

    def searches_over(self, model: str) -> dict[str, list[Search]]:
        """by_group, of the searches that can go by the network of a model."""
        asked = {
            group: [search for search in searches if search.suits(self.models[model])]
            for group, searches in self.by_group.items()
        }
        return {group: searches for group, searches in asked.items() if searches}

    def lineage(self, model: str) -> list[str]:
        """The models of the puzzle whose trainings led to one, in their order, itself the last."""
        start = self.models[model].starts_from
        return [*self.lineage(start), model] if start in self.models else [model]


class Study(Params):
    """A whole study, as the stages see it: recipes and architectures are resolved into the models.

    tables: puzzles of which only the exact table is made.  device: where every network computes, in trainings, audits
    and searches; auto is cuda where torch finds it, else cpu.  documents: those of data/reported that the report
    compares with; all of them if none is named.  beside: studies kept in data/measured whose results the report shows
    too, on the puzzles whose states are all listed; a study that is like another does not take this from there.
    """

    study: StudyName
    seed: Seed
    threads: Few
    device: Literal["auto", "cpu", "cuda"] = "cpu"
    tables: list[PuzzleName] = []
    documents: list[Document] = []
    beside: list[StudyName] = []
    puzzles: dict[PuzzleName, PuzzleParams] = {}
    models: dict[ModelName, Model] = {}
    architectures: dict[str, Architecture] = {}

    def about(self, puzzle: str) -> PuzzleStudy:
        """What the study does with one of its puzzles."""
        models = {name: model for name, model in self.models.items() if model.puzzle == puzzle}
        common = {name: getattr(self, name) for name in ("study", "seed", "threads", "device")}
        asked = {name: getattr(self.puzzles[puzzle], name) for name in PuzzleParams.model_fields}
        return PuzzleStudy.model_construct(**common, **asked, puzzle=puzzle, models=models)

    @property
    def listed(self) -> list[str]:
        """The puzzles whose states are all listed."""
        return list(dict.fromkeys([*self.tables, *(name for name, each in self.puzzles.items() if each.is_exhaustive)]))

    def problems(self) -> Iterator[str]:
        yield from self._unsuited_models()
        yield from self._unsuited_starts()
        for name in self.puzzles:
            yield from (f"puzzles.{name}.{problem}" for problem in _unsuited(self.about(name)))

    def _unsuited_models(self) -> Iterator[str]:
        for name, model in self.models.items():
            if model.puzzle not in self.puzzles:
                yield f"models.{name} wants puzzle {shown(model.puzzle)}{hint(model.puzzle, self.puzzles)}"
            if self.puzzles[model.puzzle].audit is None:
                yield f"puzzles.{model.puzzle} has a model, {name}, and says not how it is audited"
            if not self.puzzles[model.puzzle].instances:
                yield f"puzzles.{model.puzzle} has a model, {name}, and no instances to audit it on"
            listed = self.puzzles[model.puzzle].is_exhaustive or model.sampler.kind == "levels"
            if model.trainer == "imitation" and not listed:
                yield f"models.{name}: the trainer imitation needs puzzles.{model.puzzle} with exact: all"
            yield from (f"models.{name}: {lacking}" for lacking in _lacking(model, make(model.puzzle)))

    def _unsuited_starts(self) -> Iterator[str]:
        for name, model in self.models.items():
            chain = [name]
            while (start := self.models[chain[-1]].starts_from) is not None:
                if start not in self.models or start in chain:
                    yield f"models.{chain[-1]}.starts_from must name a model trained before it, not '{start}'"
                chain.append(start)
            starts, sized = [self.models[start] for start in chain], model.architecture.kind != "tuples"
            if any(start.architecture != model.architecture for start in starts):
                yield f"models.{name} and {chain[1]}, which it starts from, must be alike in architecture"
            elif sized and any(start.puzzle != model.puzzle for start in starts):
                yield f"models.{name} and {chain[1]}, which it starts from, must be of one puzzle, or of kind tuples"

    def refuse_unlisted(self) -> None:
        """UserError where a puzzle cannot be listed on this machine."""
        for name in self.listed:
            try:
                refuse_unlisted(make(name), audited=name in self.puzzles)
            except UserError as error:
                place = f"puzzles.{name}" if name in self.puzzles else "tables"
                raise UserError(f"Parameter {place}: {error}") from error


def _unsuited(asked: PuzzleStudy) -> Iterator[str]:
    """What is asked of a puzzle that it lacks, each as the end of a sentence that begins with its place."""
    puzzle = make(asked.puzzle)
    if isinstance(asked.exact, OfLevels) == puzzle.one_goal:
        wanted = "all, or {around: moves}" if puzzle.one_goal else "{levels: 100}, for each state has its own goal"
        yield f"exact of {asked.puzzle} must be {wanted}"
    for name, params in asked.instances.items():
        yield from _unsuited_set(puzzle, params, f"instances.{name}")
    if asked.search:
        for model in asked.search.all_starts:
            if model not in asked.models:
                yield f"search.all_starts: there is no model '{model}'{hint(model, asked.models)}"
    for search in asked.searches if asked.models else ():
        if not any(search.suits(model) for model in asked.models.values()):
            yield f"searches: {search.words} on the set {search.set} wants a network that has {search.wants}"
    if asked.headline is not None and asked.headline not in asked.models:
        yield f"headline must name a model, not '{asked.headline}'; there are {', '.join(asked.models)}"
    if asked.pattern_databases and not asked.has_patterns:
        yield f"pattern_databases: there are none of {asked.puzzle}; leave them out"
    if asked.two_phase and asked.puzzle != "cube3":
        yield f"two_phase: that solver is for cube3, not for {asked.puzzle}; leave it out"
    if asked.local_vi and not asked.is_sliding:
        yield f"local_vi: {asked.puzzle} has no tiles to slide; leave it out"
    for name, text in asked.pattern_databases.items():
        try:
            partition_of(asked.puzzle).parse(puzzle, text)
        except UserError as error:
            yield f"pattern_databases.{name}: {error}"
    yield from _unsuited_solvers(asked)
    if any(getattr(budget, "shortening", 0) for budget in asked.budgets) and not asked.is_sliding:
        yield f"budgets: solutions of {asked.puzzle} are not shortened, only those of tiles"


def _unsuited_set(puzzle: "Puzzle", params: InstanceParams, place: str) -> Iterator[str]:
    """What a puzzle lacks for an instance set, as the end of a sentence that begins with its place."""
    if isinstance(params, LevelInstances) == puzzle.one_goal:
        wanted = "there are no levels of" if puzzle.one_goal else "its kind must be levels, for there is no one goal of"
        yield f"{place}: {wanted} {puzzle.name}"
    if isinstance(params, StartInstances):
        if puzzle.start is None:
            yield f"{place}: {puzzle.name} has no customary start"
        if params.disks is not None and params.disks > puzzle.disks:
            yield f"{place}: {puzzle.name} has no {params.disks} disks"
    if isinstance(params, MirroredInstances) and puzzle.mirror is None:
        yield f"{place}: {puzzle.name} has no mirror image; choose another kind of set"
    if isinstance(params, PrefixInstances):
        try:
            actions = puzzle.parse_moves(params.moves)
            if not puzzle.legal(puzzle.goal[None]).all():  # else all are legal everywhere, and need no kernels loaded
                apply(puzzle, puzzle.goal, actions)
        except UserError as error:
            yield f"{place}.moves: {error}"
        else:
            yield from () if actions else (f"{place}.moves: there are no moves",)


def _unsuited_solvers(asked: PuzzleStudy) -> Iterator[str]:
    """What the exact solver and the baselines lack."""
    there = ", ".join(asked.pattern_databases) or "none"
    if asked.optima is not None:
        name = asked.optima.pattern_database
        if (asked.is_sliding or name) and name not in asked.pattern_databases and asked.has_patterns:
            yield f"optima.pattern_database must name one of pattern_databases, not '{name}'; there are {there}"
        if name is not None and not asked.has_patterns:
            yield f"optima.pattern_database: there are none of {asked.puzzle}; leave it out"
        if asked.optima.table is not None and family(asked.puzzle) != "cube3":
            yield f"optima.table is for cube3, not for {asked.puzzle}; leave it out"
        if name is not None and asked.optima.table is not None:
            yield "optima: IDA* goes by a pattern_database or by a table; leave one out"
        if (guide := asked.optima.guide) is not None and (asked.optima.table is None or guide not in asked.models):
            yield f"optima.guide must name a model, and there must be a table: not '{guide}'{hint(guide, asked.models)}"
    bounds = find(asked.puzzle)[0].bounds
    known = [*asked.pattern_databases, *bounds] if asked.one_goal else [*bounds, ZERO]
    for name in asked.baselines:
        if name not in known:
            yield f"baselines: there is no baseline '{name}'; there are {', '.join(known) or 'none'}"
    if len(set(asked.baselines)) < len(asked.baselines):
        yield f"baselines are named once each, not {', '.join(asked.baselines)}"
    if asked.baselines and not asked.grids:
        yield "baselines are searched on the cells of searches, of which there are none"


def _lacking(model: ModelParams, puzzle: "Puzzle") -> Iterator[str]:
    """What a puzzle lacks for the sampler and the network of a training, in words."""
    sampler, architecture, name, disks = model.sampler, model.architecture, puzzle.name, puzzle.disks
    if sampler.kind == "growing_tower" and not disks:
        yield f"{name} has no disks for the sampler growing_tower"
    if sampler.kind == "growing_tower" and sampler.disks > disks:
        yield f"{name} has no {sampler.disks} disks for the sampler growing_tower to begin with"
    if sampler.kind == "levels" and puzzle.one_goal:
        yield f"the sampler levels needs a puzzle whose states have goals of their own, unlike {name}'s"
    if sampler.kind != "levels" and not puzzle.one_goal:
        yield f"{name} has no one goal to walk from: it needs the sampler levels, with the trainer davi or imitation"
    if sampler.kind == "uniform" and not is_listed(puzzle):
        yield f"the sampler uniform needs states that can be listed, unlike {name}'s"
    if architecture.kind == "automaton" and puzzle.goal.any():
        yield f"an automaton needs a goal of zeros alone, which {name} has not"
    if architecture.kind == "rows" and puzzle.presses is None:
        yield f"a network of kind rows is for Lights Out, not for {name}"
    if architecture.kind == "tuples" and "tuples" not in find(name)[0].networks:
        yield f"a network of kind tuples is for sliding tiles, not for {name}"
    if architecture.kind == "convolutional" and not puzzle.side:
        yield f"a convolutional network needs cells that lie in a square, unlike {name}'s"
    if getattr(architecture, "inputs", "cells") == "pieces" and not puzzle.pieces:
        yield f"{name} has no pieces whose places a network could see; leave out inputs: pieces"
    if getattr(architecture, "inputs", "cells") == "planes" and puzzle.planes is None:
        yield f"{name} has no planes that a network could see; leave out inputs: planes"
    if architecture.above and architecture.above not in find(name)[0].bounds:
        yield f"there is no bound of {name} called {architecture.above} for a network to lie above"


def alone(study: Study) -> PuzzleStudy:
    """What a study of one puzzle does with it."""
    (puzzle,) = study.puzzles
    return study.about(puzzle)


def puzzles_of(parameters: dict[str, Any]) -> list[str]:
    """The puzzles that a stage is about, by the names in its slice."""
    several = {*parameters.get("tables", ()), *parameters.get("puzzles", ())}
    return [parameters["puzzle"]] if "puzzle" in parameters else sorted(several)


def files_of(parameters: dict[str, Any]) -> list[Path]:
    """The files that describe the puzzles of a stage."""
    return [path for puzzle in puzzles_of(parameters) for path in files(puzzle)]


def modules_of(parameters: dict[str, Any]) -> list[str]:
    """The modules that a stage imports by the names in its slice: of its puzzles, with their exact solvers if it finds
    optima, of the trainer if it trains, of the beams of a guide, and of the engine if it may compute elsewhere than on
    the processor."""
    trainer = parameters.get("training", {}).get("trainer", "davi")
    exactly = not {"optima", "external"}.isdisjoint(parameters)
    found = [module for puzzle in puzzles_of(parameters) for module in modules(puzzle, exactly)]
    if parameters.get("device", "cpu") != "cpu":
        found.append("costtogo.engines.device")
    if parameters.get("optima", {}).get("guide"):
        found.append(GUIDE[0])
    return [*found, f"costtogo.learning.{trainer}"] if "training" in parameters else found
