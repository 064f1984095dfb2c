"""Typed parameters of a study of one puzzle too large to list: a file of its own, config/<study>.yaml."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from costtogo.params import ModelParams, Params, Positive, derive_seed, explain, overlay, read_yaml, resolve
from costtogo.puzzles import make
from costtogo.types import UserError


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


class BeamParams(Params):
    """Beam search over some widths on one instance set."""

    set: str
    widths: list[Positive] = Field(min_length=1)


class LargeStudy(Params):
    """A study of one puzzle, as its stages see it; recipes and architectures are resolved into the models.

    nearby_depth: the largest distance of the exact table around the goal.
    """

    study: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    seed: int = Field(ge=0)
    threads: Positive
    puzzle: str
    nearby_depth: int = Field(ge=0)
    instances: dict[str, WalkInstances | PrefixInstances]
    models: dict[str, ModelParams]
    beams: list[BeamParams] = []
    max_nodes: Positive = 60_000_000  # kept in memory by one search, which ends there as unsolved

    @model_validator(mode="after")
    def _names_exist(self):
        try:
            make(self.puzzle)
        except UserError as error:
            raise ValueError(str(error)) from error
        for search in self.beams:
            if search.set not in self.instances:
                raise ValueError(f"there is no instance set '{search.set}'; there are {', '.join(self.instances)}")
        return self

    def slices(self) -> dict[str, Any]:
        """The parameters of each stage, by the path of its slice below params/: all that may change its results."""
        common = {"study": self.study, "puzzle": self.puzzle}
        machine = {**common, "threads": self.threads}
        dumped = self.model_dump()
        search = {name: dumped[name] for name in ("instances", "beams", "max_nodes")}
        search["seed"] = derive_seed(self.seed, "instances", self.puzzle)
        parts: dict[str, Any] = {f"tables/{self.puzzle}": {**common, "depth": self.nearby_depth}}
        for name, model in self.models.items():
            parts[f"models/{name}"] = {**machine, "model": name, "training": model.model_dump()}
            parts[f"beams/{name}"] = {**machine, "model": name, **search}
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
