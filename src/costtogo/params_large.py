"""Typed parameters of a study of one puzzle too large to list: a file of its own, config/<study>.yaml."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from costtogo.exact.partition import parse_partition
from costtogo.params import ModelParams, Params, Positive, derive_seed, explain, overlay, read_yaml, resolve
from costtogo.puzzles import find, make
from costtogo.types import LARGEST_PATH_WEIGHT, UserError

PathWeight = Annotated[float, Field(ge=0, le=LARGEST_PATH_WEIGHT)]
MANHATTAN = "manhattan"  # the heuristic of that name, with linear conflicts, among the pattern databases


class WalkInstances(Params):
    """States at the end of random walks from the goal, each of a length drawn uniformly between two."""

    kind: Literal["walks"]
    states: Positive
    length: tuple[Positive, Positive]


class PrefixInstances(Params):
    """What the first 1, 2, … of some moves make of the goal; shortest: the moves are known to be a shortest path."""

    kind: Literal["prefixes"]
    moves: str
    shortest: bool = False


class MirroredInstances(Params):
    """The mirror images of the states of another set, in the same order."""

    kind: Literal["mirrored"]
    of: str


class BeamParams(Params):
    """Beam search over some widths on one instance set.

    images: symmetric and inverse images of each state that beams start from.  average: symmetric images of a state in a
    beam over which its cost-to-go is averaged, each an evaluation.
    """

    set: str
    widths: list[Positive] = Field(min_length=1)
    images: Positive = 1
    average: Positive = 1


class GridParams(Params):
    """BWAS over λ × N on one instance set; a search that keeps max_nodes states in memory ends as unsolved."""

    set: str
    path_weight: list[PathWeight] = Field(min_length=1)  # λ
    batch_size: list[Positive] = Field(min_length=1)  # N
    max_nodes: Positive = 1_000_000


class OptimaParams(Params):
    """Shortest solutions of the study's own instance sets: of sliding tiles by IDA*, of Lights Out by linear algebra.

    pattern_database: the name of that which IDA* goes by.  max_generated: nodes after which a search ends as unsolved.
    """

    pattern_database: str | None = None
    max_generated: Positive = 1_000_000_000


class ProgressParams(Params):
    """BWAS from the instances of a set with some checkpoints spread over the training, the last among them."""

    set: str
    checkpoints: Positive = 8
    path_weight: PathWeight = 1  # λ
    batch_size: Positive = 1000  # N
    max_nodes: Positive = 1_000_000


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
    consistency_checkpoints: Positive = 6
    walk_max: Positive = 30
    nearby_states: Positive = 5_000
    scrambled_states: Positive = 1_000
    depths: Positive = 30
    greedy_states: Positive = 200
    greedy_depths: list[Positive] = Field(default=[5, 10, 15, 20, 25, 30], min_length=1)
    greedy_moves: Positive = 40
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
    seconds: float = Field(gt=0)
    path_weight: PathWeight | Annotated[list[PathWeight], Field(min_length=1)] | None = None
    batch_size: Positive | None = None
    widening: bool = False
    images: Positive = 1
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

    file: str
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

    study: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    seed: int = Field(ge=0)
    threads: Positive
    device: Literal["auto", "cpu", "cuda"] = "cpu"
    puzzle: str
    nearby_depth: int = Field(ge=0)
    instances: dict[str, WalkInstances | PrefixInstances | MirroredInstances]
    models: dict[str, LargeModel]
    headline: str | None = None
    pattern_databases: dict[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")], str] = {}
    optima: OptimaParams | None = None
    baselines: list[str] = []
    searches: list[GridParams] = []
    beams: list[BeamParams] = []
    audit: LargeAuditParams = LargeAuditParams()
    external: ExternalParams | None = None
    max_nodes: Positive = 60_000_000  # kept in memory by one search, which ends there as unsolved

    @model_validator(mode="after")
    def _names_exist(self):
        try:
            make(self.puzzle)
        except UserError as error:
            raise ValueError(str(error)) from error
        named = [search.set for search in [*self.searches, *self.beams]]
        named += [self.audit.progress.set] if self.audit.progress else []
        named += [params.of for params in self.instances.values() if isinstance(params, MirroredInstances)]
        for name in named:
            if name not in self.instances:
                raise ValueError(f"there is no instance set '{name}'; there are {', '.join(self.instances)}")
        for name, params in self.instances.items():
            if isinstance(params, MirroredInstances) and isinstance(self.instances[params.of], MirroredInstances):
                raise ValueError(f"instance set '{name}' mirrors '{params.of}', which is mirrored itself")
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
    def _tiles_or_lights(self):
        budgets = self.external.budgets if self.external else []
        if any(budget.shortening for budget in budgets) and not self.is_sliding:
            raise ValueError(f"external.budgets: solutions of {self.puzzle} are not shortened, only those of tiles")
        for name, model in self.models.items():
            if model.architecture.kind == "rows" and not hasattr(make(self.puzzle), "presses"):
                raise ValueError(f"model {name}: a network of kind rows is for Lights Out, not for {self.puzzle}")
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
        if not self.is_sliding and (name is not None or not self.puzzle.startswith("lights_out")):
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
        return find(self.puzzle)[0].made[0] == "sliding"

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
    values = resolve(_whole(Path(path)), LargeStudy)
    try:
        return LargeStudy(**values)
    except ValidationError as error:
        raise UserError(explain(error, LargeStudy)) from error


def _whole(path: Path) -> dict[str, Any]:
    """What a file says, laid over the file beside it that its key `like` names."""
    values = read_yaml(path)
    other = values.pop("like", None)
    return values if other is None else overlay(_whole(path.with_name(f"{other}.yaml")), values)
