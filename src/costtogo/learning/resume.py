"""Resume points: a training on disk, so that one killed at any moment ends in the same bytes as one that was not."""

from pathlib import Path

import torch

from costtogo.files import FileError, read_tensors, write_tensors
from costtogo.learning.davi import Training

POSITION = ("iteration", "convergence_points", "disks", "grown_at", "settled")


def save(path: Path, training: Training, extra: dict[str, torch.Tensor], description: dict) -> None:
    """Write networks, optimiser and position, with further tensors and a description beside them."""
    tensors = {f"network.{name}": tensor for name, tensor in training.network.state_dict().items()}
    tensors |= {f"target.{name}": tensor for name, tensor in training.target.state_dict().items()}
    for index, state in training.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": tensor for name, tensor in state.items()}
    tensors["remembered"] = torch.from_numpy(training.cost_to_go.values)
    tensors |= {f"extra.{name}": tensor for name, tensor in extra.items()}
    position = {name: getattr(training, name) for name in POSITION}
    write_tensors(path, tensors, {**position, **description})


def load(path: Path, training: Training, key: str) -> tuple[dict[str, torch.Tensor], dict] | None:
    """Bring a training to its resume point; returns what save was given beside it.

    None, and the training untouched, where there is no resume point, it is damaged, or its key is another.
    """
    try:
        tensors, description = read_tensors(path)
    except FileError:
        return None
    if description.get("key") != key:
        return None
    training.network.load_state_dict(_part(tensors, "network"))
    training.target.load_state_dict(_part(tensors, "target"))
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in _part(tensors, "optimizer").items():
        index, _, field = name.partition(".")
        state.setdefault(int(index), {})[field] = tensor
    training.optimizer.load_state_dict({**training.optimizer.state_dict(), "state": state})
    for name in POSITION:
        setattr(training, name, description[name])
    training.cost_to_go.values[:] = tensors["remembered"].numpy()
    return _part(tensors, "extra"), description


def _part(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
