"""Typed parameters of a study: params.yaml, overlaid by files of config/, checked before anything runs."""

import hashlib
import re
from collections.abc import Iterable
from copy import deepcopy
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_serializer, model_validator

from costtogo.types import UserError

Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
PathWeight = Annotated[float, Field(ge=0, le=1)]
TABLES = ("recipes", "architectures", "puzzles", "models")  # the keys that hold a table of tables


class Params(BaseModel):
    """Frozen, and no key it does not know.

    later: keys that came after results stood; they are written out only where they are set, so that the slices of
    trainings that do not use them stay as they were.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
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
    states: Positive = 5
    first_layers: list[Positive] = []
    residual_blocks: int = Field(default=0, ge=0)
    layers_per_block: Positive = 2
    batch_norm: bool = True
    batch_norm_momentum: Share = 0.99
    batch_norm_epsilon: float = Field(default=1e-3, gt=0)
    channels: tuple[Positive, ...] = ()  # of each convolution
    kernel: Positive = 2  # cells, a side of the patches that convolutions look at
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
    walk_max: Positive = 1
    stride: Positive = 10  # of DAVI on walks that do not step back: from one state that is kept to the next
    spacing: float = Field(default=1, ge=1)  # the k-th of n states that are kept: walk_max (k / n)^spacing moves
    conv_point_offs: int = Field(default=1, ge=0)
    disks: Positive = 3
    residual: float = Field(default=2e-4, gt=0)
    patience: Positive = 100
    hold: bool = True  # the disks that the tower has not reached yet may not move
    greedy_share: Share = 0  # of DAVI: of the states, those on walks that follow the target network
    greedy_moves: Positive = 50  # of such a walk on average, if it does not come to the goal before
    greedy_random: Share = 0.05  # of such moves, those that are random: two walks at one state part again


class ModelParams(Params):
    """A training: everything that decides its outcome."""

    later = ("learning_rate_factor", "forced_update", "checkpoint_iterations")
    puzzle: str
    trainer: Literal["davi", "random_walk", "presses"] = "davi"
    seed: int = Field(ge=0)
    precision: Literal["auto", "float32", "bfloat16"]
    architecture: ArchitectureParams
    sampler: SamplerParams
    iterations: Positive
    states_per_iteration: Positive
    validation_states: Positive
    minibatch: Positive
    optimizer: Literal["adam", "lbfgs"] = "adam"
    lbfgs_steps: Positive = 60
    learning_rate: float = Field(gt=0)
    learning_rate_decay: Share
    adam_beta_1: Share
    adam_beta_2: Share
    adam_epsilon: float = Field(gt=0)
    epsilon: float = Field(gt=0)
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
    walk_max: Positive = 1
    one_each_at: list[int] = []
    disks: Positive | None = None  # of a start: only so many of the smallest disks are off the goal
    role: Literal["test", "selection"] = "test"


class DistributionParams(Params):
    """How the states of the samplers spread over the distances: for which walk lengths this is measured."""

    walks: Positive = 1
    walk_max: list[Positive] = []
    effective_k: list[Positive] = []


class AuditParams(Params):
    """Which checkpoints are audited, the last so many and those of some convergence points, and on which sample.

    The sample is drawn by the literature's protocol: so many walks of so many moves.
    """

    checkpoints: int = Field(ge=0)
    points: list[Positive] = []
    walks: Positive
    walk_max: Positive


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
    max_expansions: Positive
    max_nodes: Positive
    zero_instances: Positive
    admissible_instances: Positive
    network_searches: Positive
    network_searches_alone: Positive
    network_max_steps: Positive
    all_starts: list[str] = []  # the models that search the headline setting from every state


class PuzzleParams(Params):
    """All that a study does with a puzzle besides training."""

    instances: dict[str, InstanceParams]
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

    study: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    seed: int = Field(ge=0)
    threads: Positive
    tables: list[str]
    puzzles: dict[str, PuzzleParams]
    models: dict[str, ModelParams]
    architectures: dict[str, ArchitectureParams] = {}

    @model_validator(mode="after")
    def _puzzles_exist(self):
        from costtogo.puzzles import make

        made = {}
        for name in {*self.tables, *self.puzzles}:
            try:
                made[name] = make(name)
            except UserError as error:
                raise ValueError(str(error)) from error
        for name, model in self.models.items():
            if not re.fullmatch(r"(?!baseline_)\w[\w.-]*", name, re.ASCII):
                raise ValueError(f"model '{name}' needs a name of letters, digits, _ . - that is not baseline_…")
            if model.puzzle not in self.puzzles:
                raise ValueError(f"model {name} wants puzzle '{model.puzzle}'{_hint(model.puzzle, self.puzzles)}")
        for name, puzzle in self.puzzles.items():
            own = [model for model in self.models if self.models[model].puzzle == name]
            for model in set(puzzle.search.all_starts) - set(own):
                raise ValueError(f"puzzles.{name}.search.all_starts: there is no model '{model}'{_hint(model, own)}")
            if name not in self.tables:
                raise ValueError(f"puzzle {name} needs its exact table; add it to tables")
        for name, puzzle in self.puzzles.items():
            _refuse_impossible(made[name], puzzle, self.models)
        return self

    def slices(self) -> dict[str, Any]:
        """The parameters of each stage, by the path of its slice below params/: all that may change its results."""
        return slices(self)


def _refuse_impossible(made: Any, puzzle: PuzzleParams, models: dict[str, ModelParams]) -> None:
    """Raise ValueError where a puzzle, made, lacks what its instance sets or its models ask of it."""
    name, disks = made.name, getattr(made, "disks", 0)
    for place, instances in puzzle.instances.items():
        if instances.kind == "start" and made.start is None:
            raise ValueError(f"puzzles.{name}.instances.{place}: {name} has no customary start")
        if instances.disks is not None and instances.disks > disks:
            raise ValueError(f"puzzles.{name}.instances.{place}: {name} has no {instances.disks} disks")
    for model, params in models.items():
        if params.puzzle == name and params.sampler.kind == "growing_tower" and not disks:
            raise ValueError(f"model {model}: {name} has no disks for the sampler growing_tower")
        if params.puzzle == name and params.architecture.kind == "automaton" and made.goal.any():
            raise ValueError(f"model {model}: an automaton needs a goal of zeros alone, which {name} has not")
        if params.puzzle == name and params.architecture.kind == "rows":
            raise ValueError(f"model {model}: a network of kind rows is for Lights Out, not for {name}")
        if params.puzzle == name and params.architecture.kind == "convolutional" and not hasattr(made, "side"):
            raise ValueError(
                f"model {model}: a convolutional network needs cells that lie in a square, unlike {name}'s"
            )


def load(paths: Iterable[Path | str]) -> Study:
    """Read params.yaml and its overlays, later files over earlier ones; UserError names file, key and nearest name."""
    merged: dict[str, Any] = {}
    for path in paths:
        merged = overlay(merged, read_yaml(Path(path)))
    return parse(merged)


def parse(values: dict[str, Any]) -> Study:
    """Check a merged dictionary of parameters and resolve recipes and architectures."""
    try:
        return Study(**resolve(deepcopy(values)))
    except ValidationError as error:
        raise UserError(explain(error, Study)) from error


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
        if type(seeds) is not int or seeds < 1 or "seed" in model:
            raise UserError(f"Parameter models.{name}.seeds must be how many seeds, 1 or more, beside no key seed.")
        repeated |= {f"{name}_seed{k}": deepcopy(model) | {"repetition": k} for k in range(1, seeds + 1)}
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
        raise UserError(f"Parameter {place} must be a table of keys and values, not {value!r}.")
    return value


def _like(table: dict[str, Any], name: str, place: str) -> dict[str, Any]:
    """The entry of a name, laid over the entry that its key `like` names, and so on."""
    entry = _named(table, name, place)
    other = entry.pop("like", None)
    if other is None:
        return entry
    rest = {key: value for key, value in table.items() if key != name}
    return overlay(_like(rest, other, f"{place}.{name}.like"), entry)


def _named(table: dict[str, Any], name: str, place: str) -> dict[str, Any]:
    if not isinstance(name, str) or name not in table:
        raise UserError(f"Parameter {place}: there is no '{name}'{_hint(name, table)}")
    return deepcopy(table[name])


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # the fast one, if any
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not valid UTF-8 text.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" near line {mark.line + 1}" if mark else ""
        raise UserError(f"{path} is not valid YAML{line}; check indentation and colons there.") from error
    if not isinstance(content, dict):
        raise UserError(f"{path} holds no parameters; it must be a table of keys and values.")
    return content


def _hint(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not there."""
    near = get_close_matches(str(name), [str(k) for k in known], n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(map(str, known))}."


def explain(error: ValidationError, study: type[Params]) -> str:
    """The first finding of the check as one sentence."""
    finding = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")  # a misspelt key is missing too
    place = ".".join(str(part) for part in finding["loc"])
    if finding["type"] == "extra_forbidden":
        known = _known_keys(finding["loc"][:-1], study)
        return f"Parameter {place}: there is no key '{finding['loc'][-1]}'{_hint(finding['loc'][-1], known)}"
    if finding["type"] == "missing":
        return f"Parameter {place} is missing; add it, or take it from the default params.yaml."
    message = finding["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    given = "" if isinstance(finding["input"], dict) else f" (given: {finding['input']!r})"
    told = f"Parameter {place or 'file'}: {message.removesuffix('.')}{given}"
    return told if told.endswith("?") else f"{told}."


def _known_keys(location: tuple, study: type[Params]) -> list[str]:
    """The keys of the model that a location of the parameters leads to; of some kinds of model, the first's."""
    model: Any = study
    for part in location:
        if isinstance(model, type) and part in model.model_fields:
            model = model.model_fields[part].annotation
        else:  # the key of a dictionary, the place in a list, or one of some kinds
            model = (get_args(model) or (model,))[-1]
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
