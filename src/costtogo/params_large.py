"""Typed parameters of a study of one puzzle too large to list: a file of its own, config/<study>.yaml."""

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from costtogo.exact.partition import parse_partition
from costtogo.params import (
    Amount,
    Few,
    ModelName,
    ModelParams,
    Moves,
    Nodes,
    Params,
    Positive,
    PuzzleName,
    Seed,
    SetName,
    StudyName,
    checked,
    derive_seed,
    named,
    overlay,
    refuse_other_name,
    refuse_unsuited,
    resolve,
)
from costtogo.params_yaml import read_yaml, shown
from costtogo.puzzles import family, make
from costtogo.types import LARGEST_PATH_WEIGHT, UserError

if TYPE_CHECKING:
    from costtogo.puzzles.base import Puzzle

MANHATTAN = "manhattan"  # the heuristic of that name, with linear conflicts, among the pattern databases


def _is_unlisted(name: str) -> str:
    from costtogo.puzzles.base import is_listed

    if is_listed(make(name)):
        raise ValueError(f"{name} can be listed; lay a study of it over params.yaml, as config/puzzle8.yaml")
    return name


PathWeight = Annotated[float, Field(ge=0, le=LARGEST_PATH_WEIGHT)]
LargePuzzle = Annotated[PuzzleName, AfterValidator(_is_unlisted)]
DatabaseName = Annotated[
    str,
    named(f"up to 64 small letters, digits, _ and -, not {MANHATTAN}", rf"(?!{MANHATTAN}$)[a-z0-9][a-z0-9_-]{{0,63}}"),
]
FileName = Annotated[str, named("up to 100 letters, digits, _ - and .", r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")]


class WalkInstances(Params):
    """States at the end of random walks from the goal, each of a length drawn uniformly between two."""

    kind: Literal["walks"]
    states: Positive
    length: tuple[Moves, Moves] = Field(strict=False)

    @model_validator(mode="after")
    def _lengths_ascend(self):
        if self.length[0] > self.length[1]:
            raise ValueError(f"length must be the shortest and the longest walk, not {list(self.length)}")
        return self


class PrefixInstances(Params):
    """What the first 1, 2, … of some moves make of the goal; shortest: the moves are known to be a shortest path."""

    kind: Literal["prefixes"]
    moves: str
    shortest: bool = False


class MirroredInstances(Params):
    """The mirror images of the states of another set, in the same order."""

    kind: Literal["mirrored"]
    of: str


AnyInstances = Annotated[WalkInstances | PrefixInstances | MirroredInstances, Field(discriminator="kind")]


class BeamParams(Params):
    """Beam search over some widths on one instance set.

    images: symmetric and inverse images of each state that beams start from.  average: symmetric images of a state in a
    beam over which its cost-to-go is averaged, each an evaluation.
    """

    set: str
    widths: list[Positive] = Field(min_length=1)
    images: Few = 1
    average: Few = 1


class GridParams(Params):
    """BWAS over λ × N on one instance set; a search that keeps max_nodes states in memory ends as unsolved."""

    set: str
    path_weight: list[PathWeight] = Field(min_length=1)  # λ
    batch_size: list[Positive] = Field(min_length=1)  # N
    max_nodes: Nodes = 1_000_000


class OptimaParams(Params):
    """Shortest solutions of the study's own instance sets: of sliding tiles by IDA*, of Lights Out by linear algebra.

    pattern_database: the name of that which IDA* goes by.  max_generated: nodes after which a search ends as unsolved.
    """

    pattern_database: str | None = None
    max_generated: Nodes = 1_000_000_000


class ProgressParams(Params):
    """BWAS from the instances of a set with some checkpoints spread over the training, the last among them."""

    set: str
    checkpoints: Few = 8
    path_weight: PathWeight = 1  # λ
    batch_size: Positive = 1000  # N
    max_nodes: Nodes = 1_000_000


class LargeAuditParams(Params):
    """What is asked of every network.

    consistency: states of walks of up to walk_max moves, every state on the way counting (thesis 5.9), at so many
    checkpoints spread over the training, the last among them.
    nearby: states at each distance of the exact table, all where there are fewer.
    scrambled: states at the end of walks of each length from 1 to depths, for the cost-to-go by scramble depth.
    greedy: states at the end of walks of each length of greedy_depths, for what greedy search solves within
    greedy_moves, at every checkpoint.
    progress: what BWAS finds as the training goes on.
    """

    consistency_states: Positive = 30_000
    consistency_checkpoints: Few = 6
    walk_max: Moves = 30
    nearby_states: Positive = 5_000
    scrambled_states: Positive = 1_000
    depths: Moves = 30
    greedy_states: Positive = 200
    greedy_depths: list[Moves] = Field(default=[5, 10, 15, 20, 25, 30], min_length=1)
    greedy_moves: Moves = 40
    progress: ProgressParams | None = None


class ExternalBudget(Params):
    """How many of the first external instances are solved, and how long each may take.

    With path_weight (λ) and batch_size (N) BWAS solves them, without them beams that widen until the time is up. With
    several λ BWAS takes them in turn while there is time, and the shortest solution counts; with widening it goes on
    with larger N. images: from how many symmetric images of a state BWAS searches. shortening: the share of the seconds
    that is kept for making the solution shorter by stretches, of sliding tiles alone.
    """

    later = ("shortening", "widening", "images")
    states: Positive
    seconds: Amount
    path_weight: PathWeight | Annotated[list[PathWeight], Field(min_length=1)] | None = None
    batch_size: Positive | None = None
    widening: bool = False
    images: Few = 1
    shortening: float = Field(default=0, ge=0, lt=1)

    @model_validator(mode="after")
    def _both_or_neither(self):
        for name in ("widening", "shortening", "images"):
            if getattr(self, name) != type(self).model_fields[name].default and self.path_weight is None:
                raise ValueError(f"{name} is for BWAS: it needs path_weight and batch_size")
        if (self.path_weight is None) != (self.batch_size is None):
            raise ValueError("a budget of BWAS needs both path_weight and batch_size, one of beams neither")
        return self

    @property
    def path_weights(self) -> list[float]:
        """Each λ, none for beams."""
        if self.path_weight is None:
            return []
        return self.path_weight if isinstance(self.path_weight, list) else [self.path_weight]

    @property
    def searched(self) -> str:
        """The searches in words.  -> "beams for 5 s each"."""
        if self.path_weight is None:
            return f"beams for {self.seconds:g} s each"
        weights = ", ".join(f"{weight:g}" for weight in self.path_weights)
        upwards = " and upwards" if self.widening else ""
        upwards += f", from {self.images} images" if self.images > 1 else ""
        then = f", {100 * self.shortening:g} % of them to shorten solutions" if self.shortening else ""
        return f"BWAS, λ = {weights}, N = {self.batch_size:,}{upwards}, at most {self.seconds:g} s each{then}"


class ExternalParams(Params):
    """Test states from outside, read from the folder of external instances, under budgets from short to long."""

    file: FileName
    budgets: list[ExternalBudget] = Field(min_length=1)

    def budget(self, seconds: float) -> ExternalBudget:
        """The budget of so many seconds, of which there is one."""
        return next(budget for budget in self.budgets if budget.seconds == seconds)

    @model_validator(mode="after")
    def _budgets_grow(self):
        seconds = [budget.seconds for budget in self.budgets]
        if seconds != sorted(set(seconds)):
            raise ValueError(f"the seconds of the budgets must grow from one to the next, not {seconds}")
        return self


class LargeModel(ModelParams):
    """A training; starts_from: the model of the study whose last weights it begins with, instead of random ones."""

    starts_from: str | None = None


class LargeStudy(Params):
    """A study of one puzzle, as its stages see it; recipes and architectures are resolved into the models.

    nearby_depth: the largest distance of the exact table around the goal.  device: of the trainings and searches;
    auto is cuda where torch finds it, else cpu.
    headline: the model that stands for the study beside the literature; the first by name if left out.
    pattern_databases: the partitions of the tiles by name, as exact.partition reads them: 7-8, or "1 2 3 6 | 4 5 7 8".
    baselines: the pattern databases that BWAS goes by on the grids of the networks, and manhattan.
    """

    study: StudyName
    seed: Seed
    threads: Few
    device: Literal["auto", "cpu", "cuda"] = "cpu"
    puzzle: LargePuzzle
    nearby_depth: int = Field(ge=0, le=30)  # beyond, no puzzle's table fits
    instances: dict[SetName, AnyInstances]
    models: dict[ModelName, LargeModel] = Field(min_length=1)
    headline: str | None = None
    pattern_databases: dict[DatabaseName, str] = {}
    optima: OptimaParams | None = None
    baselines: list[str] = []
    searches: list[GridParams] = []
    beams: list[BeamParams] = []
    audit: LargeAuditParams = LargeAuditParams()
    external: ExternalParams | None = None
    max_nodes: Nodes = 60_000_000  # kept in memory by one search, which ends there as unsolved

    @model_validator(mode="after")
    def _names_exist(self):
        wanted = [search.set for search in [*self.searches, *self.beams]]
        wanted += [self.audit.progress.set] if self.audit.progress else []
        wanted += [params.of for params in self.instances.values() if isinstance(params, MirroredInstances)]
        for name in wanted:
            if name not in self.instances:
                raise ValueError(f"there is no instance set '{name}'; there are {', '.join(self.instances)}")
        for name, params in self.instances.items():
            if isinstance(params, MirroredInstances) and isinstance(self.instances[params.of], MirroredInstances):
                raise ValueError(f"instance set '{name}' mirrors '{params.of}', which is mirrored itself")
        return self

    @model_validator(mode="after")
    def _instances_suit(self):
        for name, params in self.instances.items():
            if isinstance(params, PrefixInstances):
                _refuse_unreadable_moves(f"instances.{name}.moves", params.moves, make(self.puzzle))
            if isinstance(params, MirroredInstances) and make(self.puzzle).mirror is None:
                raise ValueError(f"instances.{name}: {self.puzzle} has no mirror image; choose another kind of set")
        return self

    @model_validator(mode="after")
    def _partitions_can_be_read(self):
        if self.pattern_databases and not self.is_sliding:
            raise ValueError(f"{self.puzzle} has no tiles to slide: leave out pattern_databases")
        for name, text in self.pattern_databases.items():
            try:
                parse_partition(make(self.puzzle).side, text)
            except UserError as error:
                raise ValueError(f"pattern_databases.{name}: {error}") from error
        return self

    @model_validator(mode="after")
    def _models_suit(self):
        budgets = self.external.budgets if self.external else []
        if any(budget.shortening for budget in budgets) and not self.is_sliding:
            raise ValueError(f"external.budgets: solutions of {self.puzzle} are not shortened, only those of tiles")
        for name, model in self.models.items():
            if model.puzzle != self.puzzle:
                raise ValueError(
                    f"model {name} wants puzzle {shown(model.puzzle)}, but the study is about {self.puzzle}"
                )
            refuse_unsuited(name, model, make(self.puzzle))
        return self

    @model_validator(mode="after")
    def _exact_solver_exists(self):
        if self.optima is None:
            return self
        name, there = self.optima.pattern_database, ", ".join(self.pattern_databases) or "none"
        if self.is_sliding and name not in self.pattern_databases:
            raise ValueError(
                f"optima.pattern_database must name one of pattern_databases, not '{name}'; there is {there}"
            )
        if not self.is_sliding and (name is not None or family(self.puzzle) != "lights_out"):
            raise ValueError(
                f"optima are found of sliding tiles and, without pattern database, of Lights Out, not of {self.puzzle}"
            )
        return self

    @model_validator(mode="after")
    def _baselines_exist(self):
        known = [*self.pattern_databases, MANHATTAN] if self.is_sliding else []
        for name in self.baselines:
            if name not in known:
                raise ValueError(f"there is no baseline '{name}'; there are {', '.join(known) or 'none'}")
        if len(set(self.baselines)) < len(self.baselines):
            raise ValueError(f"baselines are named once each, not {', '.join(self.baselines)}")
        if self.baselines and not self.searches:
            raise ValueError("baselines are searched on the cells of searches, of which there are none")
        return self

    @model_validator(mode="after")
    def _headline_exists(self):
        if self.headline is not None and self.headline not in self.models:
            raise ValueError(f"headline must name a model, not '{self.headline}'; there are {', '.join(self.models)}")
        return self

    @model_validator(mode="after")
    def _beams_differ(self):
        beams = [(search.set, width) for search in self.beams for width in search.widths]
        if twice := next((beam for beam in beams if beams.count(beam) > 1), None):
            raise ValueError(f"beams of width {twice[1]} on the set {twice[0]} are there twice; leave one of them out")
        return self

    @model_validator(mode="after")
    def _starts_exist(self):
        for name, model in self.models.items():
            chain = [name]
            while (start := self.models[chain[-1]].starts_from) is not None:
                if start not in self.models or start in chain:
                    raise ValueError(
                        f"models.{chain[-1]}.starts_from must name a model trained before it, not '{start}'"
                    )
                chain.append(start)
            if any(self.models[start].architecture != model.architecture for start in chain):
                raise ValueError(f"models.{name} and {chain[1]}, which it starts from, must be alike in architecture")
        return self

    @property
    def is_sliding(self) -> bool:
        """Whether the puzzle is one of sliding tiles, of which there are pattern databases."""
        return family(self.puzzle) == "sliding"

    def lineage(self, model: str) -> list[str]:
        """The models whose trainings led to one, in their order, itself the last."""
        start = self.models[model].starts_from
        return [model] if start is None else [*self.lineage(start), model]

    def slices(self) -> dict[str, Any]:
        """The parameters of each stage, by the path of its slice below params/: all that may change its results."""
        common = {"study": self.study, "puzzle": self.puzzle}
        machine = {**common, "threads": self.threads, "device": self.device}
        dumped = self.model_dump()
        seed = derive_seed(self.seed, "instances", self.puzzle)
        parts: dict[str, Any] = {
            f"tables/{self.puzzle}": {**common, "depth": self.nearby_depth},
            f"instances/{self.puzzle}": {**common, "seed": seed, "instances": dumped["instances"]},
            "report/report": dumped,
        }
        for name, partition in self.pattern_databases.items():
            parts[f"pattern_databases/{name}"] = {**common, "partition": partition}
        if self.optima is not None:
            parts[f"optima/{self.puzzle}"] = {**common, "threads": self.threads, "optima": dumped["optima"]}
        for name in self.baselines:
            parts[f"baselines/{name}"] = {**common, "heuristic": name, "searches": dumped["searches"]}
        if self.baselines:
            seed = derive_seed(self.seed, "footprints", self.puzzle)
            heuristics = {"models": list(self.models), "baselines": self.baselines}
            parts[f"footprints/{self.puzzle}"] = {**machine, **heuristics, "seed": seed}
        for name, model in self.models.items():
            seed = derive_seed(self.seed, "audits", name)
            parts[f"models/{name}"] = {**machine, "model": name, "training": model.model_dump(exclude={"starts_from"})}
            if model.starts_from is not None:
                parts[f"models/{name}"]["starts_from"] = model.starts_from
            parts[f"audits/{name}"] = {**machine, "model": name, "seed": seed, "audit": dumped["audit"]}
            parts[f"searches/{name}"] = {**machine, "model": name, "searches": dumped["searches"]}
            beams = {"beams": dumped["beams"], "max_nodes": self.max_nodes}
            parts[f"beams/{name}"] = {**machine, "model": name, **beams}
            if self.external is not None:
                external = {"external": dumped["external"], "max_nodes": self.max_nodes}
                parts[f"external/{name}"] = {**machine, "model": name, **external}
        return parts


def is_large(path: Path | str) -> bool:
    """Whether a file is the study of one large puzzle, not an overlay of params.yaml."""
    return bool({"puzzle", "like"} & set(read_yaml(Path(path))))


def load(path: Path | str) -> LargeStudy:
    """Read a study; UserError names file, key and nearest name."""
    study = checked(LargeStudy, resolve(_whole(Path(path)), LargeStudy))
    refuse_other_name(study.study, Path(path))
    return study


def _whole(path: Path, younger: tuple[Path, ...] = ()) -> dict[str, Any]:
    """What a file says, laid over the file beside it that its key `like` names; younger: those that are like it."""
    values = read_yaml(path)
    other = values.pop("like", None)
    if other is None:
        return values
    beside = {each.stem: each for each in path.parent.glob("*.yaml") if each not in (path, *younger)}
    if not isinstance(other, str) or other not in beside:
        near = get_close_matches(str(other), beside, n=1, cutoff=0.5)
        hint = f"; did you mean '{near[0]}'?" if near else "."
        raise UserError(f"Parameter like: there is no {shown(other)} to be like beside {path}{hint}")
    return overlay(_whole(beside[other], (*younger, path)), values)


def _refuse_unreadable_moves(place: str, moves: str, puzzle: "Puzzle") -> None:
    """Raise ValueError where a puzzle cannot make these moves from its goal."""
    from costtogo.puzzles.base import apply

    try:
        actions = puzzle.parse_moves(moves)
        if not puzzle.legal(puzzle.goal[None]).all():  # else all moves are legal everywhere, and need no kernels loaded
            apply(puzzle, puzzle.goal, actions)
    except UserError as error:
        raise ValueError(f"{place}: {error}") from error
    if not actions:
        raise ValueError(f"{place}: there are no moves")
