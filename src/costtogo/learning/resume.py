"""Resume points: a training on disk, so that one killed at any moment ends in the same bytes as one that was not.

A resume point is one file. It holds a digest of all it says, and the digests of the checkpoints that belong to it:
it is used whole or not at all.
"""

import hashlib
import json
from pathlib import Path

import torch

from costtogo.files import FileError, read_bytes, read_tensors, write_tensors
from costtogo.learning.training import Tensors, Training, part, prefixed


def save(path: Path, training: Training, extra: Tensors, description: dict, files: dict[str, str]) -> None:
    """Write networks, optimiser and position, with further tensors and a description.

    files: SHA-256 of the files that belong to the resume point, by their paths from its folder.
    """
    tensors = on_cpu(training.tensors() | prefixed("extra", extra))
    text = json.dumps({**training.position, **description, "files": files}, sort_keys=True)
    write_tensors(path, tensors, {"text": text, "sha256": digest_of(tensors, text)})


def on_cpu(tensors: Tensors) -> Tensors:
    """Tensors as they are kept or sent: on the CPU, each in one piece."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}


def load(path: Path, training: Training, key: str) -> tuple[Tensors, dict] | None:
    """Bring a training to its resume point; returns the further tensors and the description, None without a point.

    Raises FileError, and leaves the training untouched, where the point or a file that belongs to it is not what was
    saved, or where its key is another.
    """
    if not path.exists():
        return None
    tensors, written = read_tensors(path)
    text = str(written.get("text")) if isinstance(written, dict) else ""
    if written != {"text": text, "sha256": digest_of(tensors, text)}:
        raise changed(path)
    description = json.loads(text)
    if description["key"] != key:
        raise FileError(f"{path} is of other parameters, inputs, code or versions.")
    for file, sha256 in description["files"].items():
        read_unchanged(path.parent / file, sha256)
    training.restore(tensors, description)
    return part(tensors, "extra"), description


def digest_of(tensors: Tensors, text: str) -> str:
    """SHA-256 of a text and of names, kinds, shapes and bytes of tensors, in hexadecimal."""
    found = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        found.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        found.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return found.hexdigest()


def read_unchanged(path: Path, sha256: str) -> bytes:
    """The content of a file that a training wrote; FileError where its SHA-256 is not the one noted then."""
    content = read_bytes(path)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise changed(path)
    return content


def changed(path: Path) -> FileError:
    """The error for a file that is there but holds something else than was written."""
    return FileError(f"{path} is not what the training wrote: it is cut off or was changed since.")
