"""The parameters of a training that have an effect: those that its trainer, its sampler and its network look at."""

from typing import Any

from costtogo.files import flatten
from costtogo.params.base import Kind
from costtogo.params.trainers import ModelParams
from costtogo.params.training import ArchitectureParams, SamplerParams


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
    own = kinds.of(record)
    return kinds.known().keys() - own.model_fields.keys() if own else set()
