"""Typed parameters of a study: params.yaml, overlaid by files of config/, checked before anything runs."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from difflib import get_close_matches
from functools import reduce
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_serializer, model_validator

from costtogo.memory import refuse_unlisted
from costtogo.params_yaml import read_yaml, refuse_unbounded, shown
from costtogo.types import UserError

if TYPE_CHECKING:
    from costtogo.puzzles.base import Puzzle

TABLES = ("recipes", "architectures", "puzzles", "models")  # the keys that hold a table of tables
OWN_FILE = {"puzzle", "like", "sizes"}  # the keys of studies in files of their own, not laid over params.yaml
GENERATIONS = 20  # of entries that are like one another
MOST_SEEDS = 1_000


def named(words: str, pattern: str) -> AfterValidator:
    """A check that a text is a name, which becomes that of a file."""

    def check(name: str) -> str:
        if not re.fullmatch(pattern, name):
            raise ValueError(f"{shown(name)} needs a name of {words}")
        return name

    return AfterValidator(check)


def _puzzle_exists(name: str) -> str:
    from costtogo.puzzles import make

    if len(name) > 30 or re.search(r"\d{4}", name):  # 3 to the power of a large number is not even counted
        raise ValueError(f"{shown(name)} is too large a puzzle, or none")
    try:
        make(name)
    except UserError as error:
        raise ValueError(str(error)) from error
    return name


# Every number has a bound: a generous one, by what it counts.
Positive = Annotated[int, Field(ge=1, le=10**9)]  # states, iterations, steps
Nodes = Annotated[int, Field(ge=1, le=10**12)]  # of one search
Moves = Annotated[int, Field(ge=1, le=10**6)]  # of a walk
Width = Annotated[int, Field(ge=1, le=10**5)]  # of a layer
Few = Annotated[int, Field(ge=1, le=1_000)]  # layers, threads, images
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Amount = Annotated[float, Field(gt=0, le=10**6)]  # seconds, moves², a small number to add
Rate = Annotated[float, Field(gt=0, le=3e38)]  # of learning, a float32: a training that diverges says so itself
Share = Annotated[float, Field(ge=0, le=1)]
PathWeight = Annotated[float, Field(ge=0, le=1)]
StudyName = Annotated[str, named("up to 64 small letters, digits, _ and -", r"[a-z0-9][a-z0-9_-]{0,63}")]
SetName = Annotated[str, named("up to 64 letters, digits, _ and -", r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")]
ModelName = Annotated[
    str, named("up to 90 letters, digits, _ and -, not baseline_…", r"(?!baseline_)[A-Za-z0-9_][A-Za-z0-9_-]{0,89}")
]
PuzzleName = Annotated[str, AfterValidator(_puzzle_exists)]


class Params(BaseModel):
    """Frozen, and no key it does not know; numbers are finite and no texts, true and false are no numbers.

    later: keys that came after results stood; they are written out only where they are set, so that the slices of
    trainings that do not use them stay as they were.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    later: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _written_out(self, write) -> dict[str, Any]:
        unset = {name for name in self.later if getattr(self, name) == type(self).model_fields[name].get_default()}
        return {name: value for name, value in write(self).items() if name not in unset}


class ArchitectureParams(Params):
    """A fully connected residual network; a convolutional one, whose convolutions come before first_layers; a recurrent
    one, of which only the number of states is looked at; or rows of Lights Out, whose units have first_layers."""

    later = ("channels", "kernel", "norm_after_relu", "above")
    kind: Literal["residual", "convolutional", "automaton", "gru", "rows"] = "residual"
    outputs: Literal["state", "actions"] = "state"  # the cost-to-go of the state, or of each of its children
    states: Few = 5
    first_layers: list[Width] = []
    residual_blocks: int = Field(default=0, ge=0, le=1_000)
    layers_per_block: Few = 2
    batch_norm: bool = True
    batch_norm_momentum: Share = 0.99
    batch_norm_epsilon: Amount = 1e-3
    channels: tuple[Width, ...] = Field(default=(), strict=False)  # of each convolution
    kernel: Few = 2  # cells, a side of the patches that convolutions look at
    above: Literal["", "manhattan"] = ""  # the network tells what is missing from this bound of sliding tiles
    norm_after_relu: bool = False  # batch normalisation after each ReLU, not before it; no ReLU after a block's sum

    @model_validator(mode="after")
    def _layers_exist(self):
        if self.kind == "residual" and not self.first_layers:
            raise ValueError("a residual network needs first_layers, a list of widths")
        if (self.kind == "convolutional") != bool(self.channels):
            raise ValueError(
                "a convolutional network needs channels, a list of one number a convolution; others have none"
            )
        if self.kind in ("automaton", "gru") and self.outputs == "actions":
            raise ValueError(f"a network of kind {self.kind} has one output, the cost-to-go of the state")
        if self.kind == "rows" and self.outputs == "state":
            raise ValueError("a network of kind rows needs outputs: actions")
        if self.above and self.outputs == "actions":
            raise ValueError("a network above a bound needs outputs: state")
        return self


class SamplerParams(Params):
    """Where the states of an iteration come from; disks, residual, patience and hold are those of a growing tower."""

    later = ("spacing", "greedy_share", "greedy_moves", "greedy_random")
    kind: Literal["deepcube", "deepcubea", "uniform", "adaptive_k", "non_backtracking", "growing_tower"]
    walk_max: Moves = 1
    stride: Moves = 10  # of DAVI on walks that do not step back: from one state that is kept to the next
    spacing: float = Field(default=1, ge=1, le=100)  # the k-th of n kept states: walk_max (k / n)^spacing moves
    conv_point_offs: int = Field(default=1, ge=0, le=10**6)
    disks: Few = 3
    residual: Amount = 2e-4
    patience: Positive = 100
    hold: bool = True  # the disks that the tower has not reached yet may not move
    greedy_share: Share = 0  # of DAVI: of the states, those on walks that follow the target network
    greedy_moves: Moves = 50  # of such a walk on average, if it does not come to the goal before
    greedy_random: Share = 0.05  # of such moves, those that are random: two walks at one state part again


class ModelParams(Params):
    """A training: everything that decides its outcome."""

    later = ("learning_rate_factor", "forced_update", "checkpoint_iterations")
    puzzle: str
    trainer: Literal["davi", "random_walk", "presses"] = "davi"
    seed: Seed
    precision: Literal["auto", "float32", "bfloat16"]
    architecture: ArchitectureParams
    sampler: SamplerParams
    iterations: Positive
    states_per_iteration: Positive
    validation_states: Positive
    minibatch: Positive
    optimizer: Literal["adam", "lbfgs"] = "adam"
    lbfgs_steps: Positive = 60
    learning_rate: Rate
    learning_rate_decay: Share
    adam_beta_1: float = Field(ge=0, lt=1)
    adam_beta_2: float = Field(ge=0, lt=1)
    adam_epsilon: Amount
    epsilon: Amount
    check_every: Positive
    checkpoint_every: Positive
    polyak: Share = 0  # of DAVI: by how much the target follows at each iteration; 0: convergence points
    learning_rate_factor: float = Field(default=1, gt=0, le=1)  # the rate is multiplied by it after each iteration
    forced_update: Positive | None = None  # of DAVI: the iteration that ends in a convergence point whatever the loss
    checkpoint_iterations: Positive | None = None  # a checkpoint every so many iterations too

    @model_validator(mode="after")
    def _walks_suit(self):
        if self.trainer == "random_walk" and self.sampler.kind != "non_backtracking":
            raise ValueError("the trainer random_walk needs the sampler non_backtracking")
        if self.trainer == "presses" and self.sampler.kind != "deepcubea":
            raise ValueError("the trainer presses needs the sampler deepcubea")
        if (self.trainer == "presses") != (self.architecture.kind == "rows"):
            raise ValueError("the trainer presses needs an architecture of kind rows, and no other trainer has it")
        if self.sampler.kind == "growing_tower" and self.architecture.outputs == "actions":
            raise ValueError("the sampler growing_tower needs a network with outputs: state")
        if self.sampler.greedy_share and (self.trainer != "davi" or self.sampler.kind == "growing_tower"):
            raise ValueError("greedy_share is for the trainer davi, and not for the sampler growing_tower")
        if self.architecture.above and self.trainer != "davi":
            raise ValueError("an architecture above a bound is for the trainer davi")
        return self


class InstanceParams(Params):
    """A set of instances."""

    kind: Literal["deepcube", "deepcubea", "scrambled", "uniform", "stratified", "start"]
    states: Positive = 1
    walk_max: Moves = 1
    one_each_at: list[Annotated[int, Field(ge=0, le=10**6)]] = []  # moves from the goal
    disks: Few | None = None  # of a start: only so many of the smallest disks are off the goal
    role: Literal["test", "selection"] = "test"


class DistributionParams(Params):
    """How the states of the samplers spread over the distances: for which walk lengths this is measured."""

    walks: Positive = 1
    walk_max: list[Moves] = []
    effective_k: list[Moves] = []


class AuditParams(Params):
    """Which checkpoints are audited, the last so many and those of some convergence points, and on which sample.

    The sample is drawn by the literature's protocol: so many walks of so many moves.
    """

    checkpoints: int = Field(ge=0, le=10**6)
    points: list[Positive] = []
    walks: Positive
    walk_max: Moves


class CellParams(Params):
    """One setting of BWAS on one instance set."""

    set: str
    path_weight: PathWeight
    batch_size: Positive


class GridParams(Params):
    """A grid λ × N of BWAS on one instance set; with every audited checkpoint, or with the selected one alone."""

    set: str
    every_checkpoint: bool = False
    path_weights: list[PathWeight] = Field(min_length=1)
    batch_sizes: list[Positive] = Field(min_length=1)


class SearchParams(Params):
    """The searches of a puzzle's networks and baselines."""

    selection: CellParams
    selection_optimal_percent: float = Field(ge=0, le=100)
    headline: CellParams
    grids: list[GridParams] = Field(min_length=1)
    max_expansions: Nodes
    max_nodes: Nodes
    zero_instances: Positive
    admissible_instances: Positive
    network_searches: Positive
    network_searches_alone: Positive
    network_max_steps: Positive
    all_starts: list[str] = []  # the models that search the headline setting from every state


class PuzzleParams(Params):
    """All that a study does with a puzzle besides training."""

    instances: dict[SetName, InstanceParams]
    distributions: DistributionParams = DistributionParams()
    audit: AuditParams
    search: SearchParams

    @model_validator(mode="after")
    def _sets_exist(self):
        wanted = [
            self.search.selection.set,
            self.search.headline.set,
            *(grid.set for grid in self.search.grids),
        ]
        for name in wanted:
            if name not in self.instances:
                raise ValueError(f"there is no instance set '{name}'{_hint(name, self.instances)}")
        return self


class Study(Params):
    """A whole study, as the stages see it: recipes and architectures are resolved into the models."""

    study: StudyName
    seed: Seed
    threads: Few
    tables: list[PuzzleName]
    puzzles: dict[PuzzleName, PuzzleParams]
    models: dict[ModelName, ModelParams]
    architectures: dict[str, ArchitectureParams] = {}

    @model_validator(mode="after")
    def _puzzles_suit(self):
        from costtogo.puzzles import make

        for name, model in self.models.items():
            if model.puzzle not in self.puzzles:
                raise ValueError(f"model {name} wants puzzle {shown(model.puzzle)}{_hint(model.puzzle, self.puzzles)}")
            refuse_unsuited(name, model, make(model.puzzle))
        for name, puzzle in self.puzzles.items():
            own = [model for model in self.models if self.models[model].puzzle == name]
            for model in set(puzzle.search.all_starts) - set(own):
                raise ValueError(f"puzzles.{name}.search.all_starts: there is no model '{model}'{_hint(model, own)}")
            if name not in self.tables:
                raise ValueError(f"puzzle {name} needs its exact table; add it to tables")
            _refuse_impossible_sets(make(name), puzzle)
        return self

    def slices(self) -> dict[str, Any]:
        """The parameters of each stage, by the path of its slice below params/: all that may change its results."""
        return slices(self)


def _refuse_impossible_sets(puzzle: "Puzzle", params: PuzzleParams) -> None:
    """Raise ValueError where a puzzle lacks what its instance sets ask of it."""
    for name, instances in params.instances.items():
        place = f"puzzles.{puzzle.name}.instances.{name}"
        if instances.kind == "start" and puzzle.start is None:
            raise ValueError(f"{place}: {puzzle.name} has no customary start")
        if instances.disks is not None and instances.disks > puzzle.disks:
            raise ValueError(f"{place}: {puzzle.name} has no {instances.disks} disks")


def refuse_unsuited(name: str, model: ModelParams, puzzle: "Puzzle") -> None:
    """Raise ValueError where a puzzle lacks what the sampler or the network of a model asks of it."""
    if lacking := next(_lacking(model.sampler, model.architecture, puzzle), None):
        raise ValueError(f"model {name}: {lacking}")


def _lacking(sampler: SamplerParams, architecture: ArchitectureParams, puzzle: "Puzzle") -> Iterator[str]:
    """What a puzzle lacks for a sampler and a network, in words."""
    from costtogo.puzzles import find
    from costtogo.puzzles.base import is_listed

    name, disks = puzzle.name, puzzle.disks
    if sampler.kind == "growing_tower" and not disks:
        yield f"{name} has no disks for the sampler growing_tower"
    if sampler.kind == "growing_tower" and sampler.disks > disks:
        yield f"{name} has no {sampler.disks} disks for the sampler growing_tower to begin with"
    if sampler.kind == "uniform" and not is_listed(puzzle):
        yield f"the sampler uniform needs states that can be listed, unlike {name}'s"
    if architecture.kind == "automaton" and puzzle.goal.any():
        yield f"an automaton needs a goal of zeros alone, which {name} has not"
    if architecture.kind == "rows" and puzzle.presses is None:
        yield f"a network of kind rows is for Lights Out, not for {name}"
    if architecture.kind == "convolutional" and not puzzle.side:
        yield f"a convolutional network needs cells that lie in a square, unlike {name}'s"
    if architecture.above and not find(name)[0].bound:
        yield f"there is no bound of {name} for a network above one"


def load(paths: Iterable[Path | str]) -> Study:
    """Read params.yaml and its overlays, later files over earlier ones; UserError names file, key and nearest name."""
    merged: dict[str, Any] = {}
    for path in paths:
        merged = overlay(merged, read_yaml(Path(path)))
    return parse(merged)


def parse(values: dict[str, Any]) -> Study:
    """Check a merged dictionary of parameters and resolve recipes and architectures."""
    refuse_unbounded(values)
    study = checked(Study, resolve(deepcopy(values)))
    _refuse_unlisted(study)
    _refuse_taken_name(values)
    return study


def checked(study: type[Params], values: dict[str, Any]) -> Any:
    """The study of resolved values; UserError names the parameter and the nearest name."""
    try:
        return study.model_validate(values)
    except ValidationError as error:
        raise UserError(explain(error, study, values)) from error


def _refuse_unlisted(study: Study) -> None:
    """UserError where a puzzle cannot be listed on this machine."""
    from costtogo.puzzles import make

    for name in dict.fromkeys([*study.tables, *study.puzzles]):
        try:
            refuse_unlisted(make(name), audited=name in study.puzzles)
        except UserError as error:
            place = f"puzzles.{name}" if name in study.puzzles else "tables"
            raise UserError(f"Parameter {place}: {error}") from error


def _refuse_taken_name(values: dict[str, Any]) -> None:
    """UserError where a study would write into the folder of another, that of a file of config/.

    Values that come from the file itself have the puzzles and the models that it names, and not those it takes away.
    """
    path = Path("config") / f"{values['study']}.yaml"
    other = read_yaml(path) if path.is_file() else {}
    if other.get("study") != values["study"]:
        return
    tables = [(values.get(key) or {}, _table(other.get(key) or {}, key)) for key in ("puzzles", "models")]
    differs = any(
        (its is None) == (mine.get(name) is not None) for mine, there in tables for name, its in there.items()
    )
    if OWN_FILE & set(other) or differs:
        raise UserError(f"Parameter study: '{values['study']}' is another study, that of {path}; choose another name.")


def refuse_other_name(study: str, path: Path) -> None:
    """UserError where a study in a file of its own has the name of another: it goes by the name of its file."""
    if study != path.stem:
        raise UserError(f"Parameter study: '{study}' must be '{path.stem}', the name of its file.")


def overlay(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """The base with the other laid over it: dictionaries merge, all else replaces."""
    merged = dict(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = overlay(merged[key], value)
        else:
            merged[key] = value
    return merged


def resolve(values: dict[str, Any], study: type[Params] | None = None) -> dict[str, Any]:
    """Write puzzles and models out in full: what they are like, their architecture by value, a seed of their own.

    study: the kind of study that the values are for, Study if left out.
    """
    study = study or Study
    values = without_nulls(values)
    _refuse_unknown(values, study)
    recipes, architectures, puzzles, models = (_tables(values, key) for key in TABLES)
    _refuse_unknown_within("recipes", recipes, [*ModelParams.model_fields, "like"])
    _refuse_unknown_within("architectures", architectures, list(ArchitectureParams.model_fields))
    values = {key: value for key, value in values.items() if key not in TABLES}
    tables = {"puzzles": {name: _like(puzzles, name, "puzzles") for name in puzzles}, "architectures": architectures}
    values |= {key: table for key, table in tables.items() if key in study.model_fields} | {"models": {}}
    for name, model in _repeated(models).items():
        recipe = model.pop("recipe", None)
        if recipe is not None:
            model = overlay(_like(recipes, recipe, f"models.{name}.recipe"), model)
        if isinstance(model.get("architecture"), str):
            model["architecture"] = _named(architectures, model["architecture"], f"models.{name}.architecture")
        # one seed a puzzle: models that differ in one thing begin from the same weights
        repetition = [str(number)] if (number := model.pop("repetition", 1)) > 1 else []
        model.setdefault("seed", derive_seed(values.get("seed", 0), "train", str(model.get("puzzle")), *repetition))
        values["models"][name] = model
    return values


def _repeated(models: dict[str, Any]) -> dict[str, Any]:
    """A model with the key seeds, n, stands for n trainings, name_seed1 to name_seedn; the first has the usual seed."""
    repeated = {}
    for name, model in models.items():
        seeds = model.pop("seeds", None)
        if seeds is None:
            repeated[name] = model
            continue
        if type(seeds) is not int or not 1 <= seeds <= MOST_SEEDS or "seed" in model:
            raise UserError(
                f"Parameter models.{name}.seeds must be how many seeds, 1 to {MOST_SEEDS:,}, beside no key seed."
            )
        repetitions = {f"{name}_seed{k}": deepcopy(model) | {"repetition": k} for k in range(1, seeds + 1)}
        if twice := next((other for other in repetitions if other in models), None):
            raise UserError(f"Parameter models.{twice}: {name} with its seeds has a training of this name; rename one.")
        repeated |= repetitions
    return repeated


def variant_of(model: str) -> tuple[str, int]:
    """A model's name without its seed, and the number of the seed, 0 if it has none.  "walk_seed2" -> ("walk", 2)."""
    name, found, number = model.rpartition("_seed")
    return (name, int(number)) if found and number.isdecimal() else (model, 0)


def without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    """The same without keys that an overlay has set to null."""
    kept = {key: value for key, value in values.items() if value is not None}
    return {key: without_nulls(value) if isinstance(value, dict) else value for key, value in kept.items()}


def derive_seed(seed: int, *names: str) -> int:
    """A seed for one purpose, below 2³²; adding another purpose leaves it as it is."""
    content = "/".join([str(seed), *names]).encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "little")


def _refuse_unknown(values: dict[str, Any], study: type[Params]) -> None:
    known = _known_keys((), study)
    for key in values:
        if key not in known:
            raise UserError(f"Parameter {key}: there is no key '{key}'{_hint(key, known)}")


def _refuse_unknown_within(place: str, table: dict[str, Any], known: list[str]) -> None:
    """Recipes and architectures are checked where a model uses them; their keys also where none does."""
    for name, entry in table.items():
        for key in entry:
            if key not in known:
                raise UserError(f"Parameter {place}.{name}.{key}: there is no key '{key}'{_hint(key, known)}")


def _tables(values: dict[str, Any], key: str) -> dict[str, Any]:
    """The value of a key as a table of tables."""
    return {name: _table(entry, f"{key}.{name}") for name, entry in _table(values.get(key, {}), key).items()}


def _table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"Parameter {place} must be a table of keys and values, not {shown(value)}.")
    return value


def _like(table: dict[str, Any], name: str, place: str) -> dict[str, Any]:
    """The entry of a name, laid over the entry that its key `like` names, and so on."""
    rest, entries = dict(table), [_named(table, name, place)]
    while (other := entries[-1].pop("like", None)) is not None:
        del rest[name]
        if len(entries) > GENERATIONS:
            raise UserError(f"Parameter {place}.{name}.like: it goes on for more than {GENERATIONS} generations.")
        entries.append(_named(rest, other, f"{place}.{name}.like"))
        name = other
    return reduce(overlay, reversed(entries))


def _named(table: dict[str, Any], name: str, place: str) -> dict[str, Any]:
    if not isinstance(name, str) or name not in table:
        raise UserError(f"Parameter {place}: there is no {shown(name)}{_hint(name, table)}")
    return deepcopy(table[name])


def _hint(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not there."""
    near = get_close_matches(str(name), [str(k) for k in known], n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(map(str, known))}."


def explain(error: ValidationError, study: type[Params], values: dict[str, Any]) -> str:
    """The first finding of the check of values as one sentence."""
    # A misspelt key is missing too; of the kinds of a union, the one that fits farthest is meant.
    finding = min(error.errors(), key=lambda found: (found["type"] != "extra_forbidden", -len(found["loc"])))
    location = _keys_on_the_way(finding["loc"], values)
    place = ".".join(map(str, location))
    if finding["type"] == "extra_forbidden":
        known = _known_keys(location[:-1], study)
        return f"Parameter {place}: there is no key '{location[-1]}'{_hint(location[-1], known)}"
    if finding["type"] == "missing":
        place = f"{place}.{finding['loc'][-1]}".removeprefix(".")
        return f"Parameter {place} is missing; add it, or take it from the default params.yaml."
    message = finding["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    message = message.replace("Unable to extract tag using discriminator", "there is no key")
    is_told = finding["type"] == "value_error" or isinstance(finding["input"], dict)
    given = "" if is_told else f" (given: {shown(finding['input'])})"
    told = " ".join(f"Parameter {place or 'file'}: {message.removesuffix('.')}{given}{_advice(finding)}".splitlines())
    return told if told.endswith("?") else f"{told}."


def _keys_on_the_way(location: tuple, values: Any) -> tuple:
    """A location of pydantic without what is no key: kinds of unions, marks of keys themselves."""
    keys = []
    for part in location:
        known = values if isinstance(values, dict) else range(len(values)) if isinstance(values, list) else ()
        if part in known:
            keys.append(part)
            values = values[part]
    return tuple(keys)


def _advice(finding: Any) -> str:
    """What a number of YAML lacks that is text without a point, as 1e-3 is."""
    text = finding["input"]
    if finding["type"] == "float_type" and isinstance(text, str) and re.fullmatch(r"[+-]?\d+[eE][+-]?\d+", text):
        return f"; to YAML this is text: write {re.sub('[eE]', '.0e', text)}"
    return ""


def _known_keys(location: tuple, study: type[Params]) -> list[str]:
    """The keys of the model that a location of the parameters leads to; of some kinds of model, the first's."""
    model: Any = study
    for part in location:
        if isinstance(model, type) and part in model.model_fields:
            model = model.model_fields[part].annotation
        else:  # the key of a dictionary, the place in a list, or one of some kinds
            model = (get_args(model) or (model,))[-1]
        if get_origin(model) is Annotated:
            model = get_args(model)[0]
        if isinstance(model, UnionType):
            model = get_args(model)[0]
    if isinstance(model, type) and issubclass(model, Params):
        shorthand = {ModelParams: ["recipe", "seeds"], PuzzleParams: ["like"], study: ["recipes", "architectures"]}
        return list(dict.fromkeys([*model.model_fields, *shorthand.get(model, [])]))
    return []


def puzzles_of(parameters: dict[str, Any]) -> list[str]:
    """The puzzles that the slice of a stage is about: one, or of a report those of its study."""
    return [parameters["puzzle"]] if "puzzle" in parameters else sorted({*parameters["tables"], *parameters["puzzles"]})


def slices(study: Study) -> dict[str, Any]:
    """The parameters of each stage, by the path of its slice below params/: all that may change its results."""
    common = {"study": study.study}
    machine = {**common, "threads": study.threads}
    parts: dict[str, Any] = {"report/report": study.model_dump()}
    for name in study.tables:
        parts[f"tables/{name}"] = {**common, "puzzle": name}
    for name, puzzle in study.puzzles.items():
        dumped = puzzle.model_dump()
        seed = derive_seed(study.seed, "instances", name)
        parts[f"instances/{name}"] = {
            **common,
            "puzzle": name,
            "seed": seed,
            "instances": dumped["instances"],
            "distributions": dumped["distributions"],
        }
        parts[f"searches/baseline_{name}"] = {**machine, "puzzle": name, "search": dumped["search"]}
    for name, model in study.models.items():
        puzzle = study.puzzles[model.puzzle].model_dump()
        training = {"model": name, "puzzle": model.puzzle, "training": model.model_dump()}
        parts[f"models/{name}"] = {**machine, **training}
        seed = derive_seed(study.seed, "audits", name)
        audit = {"model": name, "puzzle": model.puzzle, "seed": seed, "audit": puzzle["audit"]}
        parts[f"audits/{name}"] = {**machine, **audit}
        search = {"model": name, "puzzle": model.puzzle, "search": puzzle["search"]}
        parts[f"searches/{name}"] = {**machine, **search}
    return parts
