"""Atomic reading and writing of results: parquet, npz, safetensors, JSON, CSV and text.

A file is written under a temporary name in its own folder and renamed when complete, so that a
reader finds the old content or the new, never a part. A file that cannot be read or written raises
FileError with one sentence.
"""

import errno
import hashlib
import io
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from costtogo.types import UserError

FULL = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT)  # no room for a file


class FileError(UserError):
    """A file is missing, damaged or cannot be written."""


def write_bytes(path: Path | str, content: bytes) -> None:
    """Replace the file by the content, atomically, and make it durable."""
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        advice = "; free space or change the limit, then run again" if error.errno in FULL else ""
        raise FileError(f"Cannot write {path}: {error.strerror or error}{advice}.") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_bytes(path: Path | str) -> bytes:
    """The whole content of a file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error


def damaged(path: Path | str, error: Exception) -> FileError:
    """The error for a file that is there but cannot be understood."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return FileError(f"{path} is damaged or of another format ({reason}).")


def digest(path: Path | str) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(read_bytes(path)).hexdigest()


def write_text(path: Path | str, text: str) -> None:
    """Write text as UTF-8."""
    write_bytes(path, text.encode())


def read_text(path: Path | str) -> str:
    """Read UTF-8 text."""
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise damaged(path, error) from error


def json_text(content: Any) -> str:
    """JSON with sorted keys, indented, ending in a newline: the same content gives the same bytes."""
    return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write_json(path: Path | str, content: Any) -> None:
    """Write JSON with sorted keys."""
    write_text(path, json_text(content))


def read_json(path: Path | str) -> Any:
    """Read JSON."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise damaged(path, error) from error


def set_aside(path: Path, card: Path) -> None:
    """Rename a damaged result, delete the card of its stage so that the stage runs again, and raise FileError."""
    os.replace(path, f"{path}.damaged")
    card.unlink(missing_ok=True)
    raise FileError(
        f"{path} is not what its stage wrote (cut off or changed since): it is set aside as {path}.damaged, "
        f"and the next run makes it again (`snakemake --cores all {card.parent.name}` only it and its kind)."
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

    try:
        return pandas.read_parquet(io.BytesIO(read_bytes(path)), engine="pyarrow")
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise damaged(path, error) from error


def write_csv(path: Path | str, frame, **options) -> None:
    """Write a data frame as CSV without its index."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n", **options))


def read_csv(path: Path | str, **options):
    """Read a data frame from CSV."""
    return parse_csv(path, read_bytes(path), **options)


def parse_csv(path: Path | str, content: bytes, **options):
    """The data frame that the content of a CSV file is."""
    import pandas

    try:
        return pandas.read_csv(io.BytesIO(content), **options)
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise damaged(path, error) from error


def write_arrays(path: Path | str, **arrays: np.ndarray) -> None:
    """Write named arrays as npz; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    write_bytes(path, buffer.getvalue())


def read_arrays(path: Path | str) -> dict[str, np.ndarray]:
    """Read named arrays from npz; objects are refused."""
    try:
        with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (TypeError, ValueError, EOFError, KeyError, AttributeError, zipfile.BadZipFile) as error:
        raise damaged(path, error) from error


def write_tensors(path: Path | str, tensors: dict, description: dict[str, Any]) -> None:
    """Write torch tensors as safetensors with a JSON description of themselves."""
    from safetensors.torch import save

    metadata = {"description": json.dumps(description, sort_keys=True)}
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in sorted(tensors.items())}
    write_bytes(path, save(contiguous, metadata))


def read_tensors(path: Path | str) -> tuple[dict, dict[str, Any]]:
    """Read safetensors: the tensors and the description that write_tensors stored with them."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    content = read_bytes(path)
    try:
        header_length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + header_length])
        return load(content), json.loads(header["__metadata__"]["description"])
    except (SafetensorError, ValueError, KeyError) as error:
        raise damaged(path, error) from error
