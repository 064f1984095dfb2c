"""The parameters of a training that have an effect: those that its trainer, its sampler and its network look at."""

from typing import Any, get_args

from costtogo.files import flatten
from costtogo.params.base import Kind
from costtogo.params.trainers import ModelParams
from costtogo.params.training import ArchitectureParams, SamplerParams

TAGS = ("kind", "trainer", "optimizer")  # which tell kinds of a training, sampler or architecture apart


def used_parameters(training: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a training by dotted key, without those that its trainer, sampler and network do not look at."""
    architecture = training.get("architecture", {})
    idle = _of_others(ModelParams, training) | ({"epsilon"} if training.get("polyak") else set())
    idle |= {f"sampler.{name}" for name in _of_others(SamplerParams, training["sampler"])}
    idle |= {f"architecture.{name}" for name in _of_others(ArchitectureParams, architecture)}
    idle |= {"architecture.outputs"} if architecture.get("kind") in ("automaton", "gru") else set()
    return {key: value for key, value in flatten(training).items() if key not in idle}


def _of_others(kinds: type[Kind], record: dict[str, Any]) -> set[str]:
    """The parameters of some kinds that the one which a record is of does not have; none where no kind is its."""

    def is_of(kind: type[Kind]) -> bool:
        """Whether the record has the tags of a kind."""
        tags = {name: field for name, field in kind.model_fields.items() if name in TAGS}
        return all(record.get(name, field.default) in get_args(field.annotation) for name, field in tags.items())

    own = next(filter(is_of, kinds.kinds()), None)
    return kinds.known().keys() - own.model_fields.keys() if own else set()
