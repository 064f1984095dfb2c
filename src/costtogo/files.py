"""Atomic reading and writing of results: parquet, npz, safetensors, JSON, CSV and text.

A file is written under a temporary name in its own folder and renamed when complete, so a reader finds either the old
content or the new, never a part. Text is UTF-8 in every locale. A file that cannot be read or written raises FileError
with one sentence.
"""

import hashlib
import io
import json
import os
import secrets
import stat
import zipfile
import zlib
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from costtogo.types import FULL, UserError, excerpt

LONGEST_REASON = 200  # letters of a library's message about damage
LONGEST_NAME = 255  # letters of a path in a message: file names are no longer


class FileError(UserError):
    """A file is missing, damaged or cannot be written."""


def write_bytes(path: Path | str, content: bytes | memoryview) -> None:
    """Replace the file by the content, atomically and durably.

    A symbolic link stays a link, and its target is replaced. Content for a device, a pipe or the standard output is
    appended; BrokenPipeError if nobody reads it.
    """
    try:
        if os.path.isdir(path):
            raise FileError(f"Cannot write {_named(path)}: it is a folder; name a file in it.")
        if is_stream(path):
            with open(path, "ab") as stream:
                stream.write(content)
        else:
            _replace(_linked(Path(path)), content)
    except BrokenPipeError:
        raise
    except OSError as error:
        advice = "; free space or change the limit, then run again" if error.errno in FULL else ""
        raise FileError(f"Cannot write {_named(path)}: {error.strerror or error}{advice}.") from error


def is_stream(path: Path | str) -> bool:
    """True for a device, a pipe, and the standard output or error in a file: they are appended to, not replaced."""
    try:
        status = os.stat(path)
        return not stat.S_ISREG(status.st_mode) or any(os.path.samestat(status, os.fstat(own)) for own in (1, 2))
    except OSError:
        return False


def _linked(path: Path) -> Path:
    """The target of a symbolic link; the link itself if the target is read-only, as files in a cache are."""
    target = Path(os.path.realpath(path))
    kept = path.is_symlink() and target.exists() and not target.stat().st_mode & 0o222
    return path if kept else target


def _replace(path: Path, content: bytes | memoryview) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _named(path: Path | str) -> str:
    """A path as messages show it."""
    return excerpt(str(path), LONGEST_NAME)


def read_bytes(path: Path | str) -> bytes:
    """The whole content of a file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"Cannot read {_named(path)}: {error.strerror or error}.") from error


def damaged(path: Path | str, error: Exception) -> FileError:
    """The error for a file that exists but cannot be understood."""
    reason = excerpt(str(error).splitlines()[0], LONGEST_REASON) if str(error) else type(error).__name__
    return FileError(f"{_named(path)} is damaged or of another format ({reason}).")


@contextmanager
def understanding(path: Path | str, *errors: type[Exception]) -> Iterator[None]:
    """Turn the given errors of a block, which say that a file cannot be understood, into a FileError."""
    try:
        yield
    except errors as error:
        raise damaged(path, error) from error


def digest(path: Path | str) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(read_bytes(path)).hexdigest()


def write_text(path: Path | str, text: str) -> None:
    """Write text as UTF-8."""
    write_bytes(path, text.encode())


def read_text(path: Path | str) -> str:
    """Read UTF-8 text."""
    with understanding(path, UnicodeDecodeError):
        return read_bytes(path).decode()


def json_text(content: Any) -> str:
    """JSON with sorted keys, indented, ending in a newline: the same content gives the same bytes."""
    return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write_json(path: Path | str, content: Any) -> None:
    """Write JSON with sorted keys."""
    write_text(path, json_text(content))


def read_json(path: Path | str) -> Any:
    """Read JSON."""
    with understanding(path, json.JSONDecodeError):
        return json.loads(read_text(path))


def recall(path: Path | str) -> dict[str, Any]:
    """The table that an earlier process saved as JSON to save time; an empty one if it cannot be read."""
    try:
        known = read_json(path)
    except FileError:
        return {}
    return known if isinstance(known, dict) else {}


def flatten(nested: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested content by dotted key.  {"sampler": {"kind": "uniform"}} -> {"sampler.kind": "uniform"}."""
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def set_aside(path: Path) -> None:
    """Rename a damaged result and raise FileError: its stage then lacks a file, so the next run makes it again."""
    os.replace(path, f"{path}.damaged")
    raise FileError(
        f"{path} is not what its stage wrote (cut off or changed since): it is set aside as {path}.damaged, "
        "and the next run of snakemake makes it again."
    )


def write_frame(path: Path | str, frame) -> None:
    """Write a data frame as parquet; the same frame gives the same bytes."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False, engine="pyarrow", compression="zstd")
    write_bytes(path, buffer.getvalue())


def read_frame(path: Path | str):
    """Read a data frame from parquet."""
    import pandas
    import pyarrow

    errors = (pyarrow.ArrowException, OSError, ValueError, LookupError, TypeError, AttributeError)  # from its metadata
    with understanding(path, *errors):
        return pandas.read_parquet(io.BytesIO(read_bytes(path)), engine="pyarrow")


def write_csv(path: Path | str, frame, **options) -> None:
    """Write a data frame as CSV without its index."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n", **options))


def read_csv(path: Path | str, **options):
    """Read a data frame from CSV."""
    return parse_csv(path, read_bytes(path), **options)


def parse_csv(path: Path | str, content: bytes, **options):
    """The data frame in the content of a CSV file."""
    import pandas

    with understanding(path, pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError):
        return pandas.read_csv(io.BytesIO(content), **options)


def write_arrays(path: Path | str, **arrays: np.ndarray) -> None:
    """Write named arrays as npz; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    write_bytes(path, buffer.getvalue())


def read_arrays(path: Path | str) -> dict[str, np.ndarray]:
    """Read named arrays from npz; objects are refused."""
    # RuntimeError: flags for encryption, or for an unknown compression
    errors = (TypeError, ValueError, EOFError, KeyError, AttributeError, RuntimeError, zlib.error, zipfile.BadZipFile)
    with understanding(path, *errors), np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def write_tensors(path: Path | str, tensors: dict, description: dict[str, Any]) -> None:
    """Write torch tensors as safetensors with a JSON description."""
    from safetensors.torch import save

    metadata = {"description": json.dumps(description, sort_keys=True)}
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in sorted(tensors.items())}
    write_bytes(path, save(contiguous, metadata))


def read_tensors(path: Path | str) -> tuple[dict, dict[str, Any]]:
    """Read safetensors: the tensors and the description that write_tensors stored with them."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    content = read_bytes(path)
    with understanding(path, SafetensorError, ValueError, KeyError):
        header_length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + header_length])
        return load(content), json.loads(header["__metadata__"]["description"])


def remove_parts(paths: Iterable[Path]) -> None:
    """Remove the unfinished parts of some files that a killed process has left; no other process may write them now."""
    names: dict[Path, set[str]] = {}
    for path in paths:
        names.setdefault(path.parent, set()).add(path.name)
    for folder, own in names.items():
        for left in folder.glob(".*.????????"):
            if left.name[1:-9] in own:
                left.unlink(missing_ok=True)


def remove_others(found: Iterable[Path], written: Container[Path]) -> None:
    """Remove the files found that are not among those written: files of an earlier run that this run did not write."""
    for path in sorted(found):
        if path not in written:
            path.unlink()
