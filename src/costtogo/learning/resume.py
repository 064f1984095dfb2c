"""Resume points: a training on disk, so that one killed at any moment ends in the same bytes as one that was not."""

from pathlib import Path

from costtogo.files import FileError, read_tensors, write_tensors
from costtogo.learning.training import Tensors, Training, part, prefixed


def save(path: Path, training: Training, extra: Tensors, description: dict) -> None:
    """Write networks, optimiser and position, with further tensors and a description beside them."""
    position = {name: getattr(training, name) for name in training.position}
    write_tensors(path, training.tensors() | prefixed("extra", extra), {**position, **description})


def load(path: Path, training: Training, key: str) -> tuple[Tensors, dict] | None:
    """Bring a training to its resume point; returns what save was given beside it.

    None, and the training untouched, where there is no resume point, it is damaged, or its key is another.
    """
    try:
        tensors, description = read_tensors(path)
    except FileError:
        return None
    if description.get("key") != key:
        return None
    training.restore(tensors, description)
    return part(tensors, "extra"), description
