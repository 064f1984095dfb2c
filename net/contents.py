"""Differences of two files of one kind as lines: JSON by key, tables by column, arrays by name, text by line."""

import difflib
import io
import json
import os
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from net.adapters.kinds import is_card

DIGEST, SHOWN, BEFORE_IT = 12, 60, 20  # characters shown of a digest, of a text, and before its first difference
MOST_LINES = 4000  # of texts that are searched for moved lines
TENSORS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1",
           "BF16": "<u2", "BOOL": "?"}  # fmt: skip


def differing(name: str, before: bytes, after: bytes) -> Iterator[str]:
    """A line for each difference of two files that differ, at least one; name: of both, which gives their kind."""
    told = []
    try:
        told = list(READERS.get(Path(name).suffix, _no_lines)(before, after))
    except Exception as error:  # if a reader fails on a damaged file, that is a difference
        told = [f"cannot be read on both sides ({type(error).__name__})"]
    yield from told or [f"same values, other bytes ({len(before):,} → {len(after):,})"]


def _no_lines(before: bytes, after: bytes) -> Iterator[str]:
    yield f"other bytes ({len(before):,} → {len(after):,})"


def json_lines(before: bytes, after: bytes) -> Iterator[str]:
    """A line for each key, however deep; one line for cards that differ only in their code."""
    contents = [json.loads(content) for content in (before, after)]
    sides = [leaves(content) for content in contents]
    keys = [key for key in sides[0] | sides[1] if sides[0].get(key) != sides[1].get(key)]
    if keys == ["code"] and all(is_card(content) for content in contents):
        yield f"code alone: {short(sides[0]['code'])} → {short(sides[1]['code'])}"
        return
    for key in keys:
        yield f"{key}: {changed(*(side.get(key) for side in sides))}"


def leaves(content: Any, place: str = "") -> dict[str, str]:
    """The values of a JSON content by their place.  {"a": {"b": [1]}} -> {"a.b.0": "1"}."""
    if isinstance(content, (dict, list)) and content:
        items = content.items() if isinstance(content, dict) else enumerate(content)
        return {name: leaf for key, value in items for name, leaf in leaves(value, f"{place}.{key}").items()}
    return {place.removeprefix("."): json.dumps(content, ensure_ascii=False)}


def changed(before: str | None, after: str | None) -> str:
    """The change of a text; None if a side lacks it."""
    if before is None or after is None:
        return f"only after, {short(after)}" if before is None else f"only before, {short(before)}"
    first = len(os.path.commonprefix([before, after]))
    start = max(first - BEFORE_IT, 0) if max(len(before), len(after)) > SHOWN else 0
    return " → ".join(("…" if start else "") + short(text[start:]) for text in (before, after))


def short(text: str) -> str:
    """A shortened text; of a digest, its beginning."""
    bare = text.strip('"')
    if len(bare) == 64 and set(bare) <= set("0123456789abcdef"):
        return bare[:DIGEST]
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def text_lines(before: bytes, after: bytes) -> Iterator[str]:
    """A line for each line that differs, with its number after, or before if it exists only there."""
    sides = [content.decode().splitlines() for content in (before, after)]
    if max(map(len, sides)) > MOST_LINES:
        parts = [("replace", 0, len(sides[0]), 0, len(sides[1]))]
    else:
        parts = difflib.SequenceMatcher(None, *sides, autojunk=False).get_opcodes()
    for what, first, end, start, stop in parts:
        pairs = zip_longest(sides[0][first:end], sides[1][start:stop]) if what != "equal" else ()
        for number, (old, new) in enumerate(pairs):
            if old != new:
                yield f"line {(first if new is None else start) + number + 1}: {changed(old, new)}"


def csv_lines(before: bytes, after: bytes) -> Iterator[str]:
    """A line for each column, or for each line if the values are the same."""
    told = list(frame_lines(*(pd.read_csv(io.BytesIO(content), low_memory=False) for content in (before, after))))
    yield from told or text_lines(before, after)


def parquet_lines(before: bytes, after: bytes) -> Iterator[str]:
    """A line for each column."""
    yield from frame_lines(*(pd.read_parquet(io.BytesIO(content)) for content in (before, after)))


def frame_lines(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[str]:
    """A line for each column that differs or is only on one side, and one if the number of rows differs."""
    named = [list(frame.columns) for frame in (before, after)]
    if set(named[0]) == set(named[1]) and named[0] != named[1]:
        yield "the columns stand in another order"
    if len(before) != len(after):
        yield f"rows: {len(before):,} → {len(after):,}"
    sides = [{f"column {name}": frame[name].to_numpy() for name in frame} for frame in (before, after)]
    yield from array_lines(*sides, shapes=len(before) == len(after))


def array_lines(before: dict[str, np.ndarray], after: dict[str, np.ndarray], shapes: bool = True) -> Iterator[str]:
    """A line for each array that differs or is only on one side; shapes: False to ignore arrays of other shapes."""
    for name in before | after:
        if name not in before or name not in after:
            yield f"{name}: only {'after' if name in after else 'before'}"
        elif before[name].shape != after[name].shape:
            if shapes:
                yield f"{name}: shape {before[name].shape} → {after[name].shape}"
        else:
            if before[name].dtype != after[name].dtype:
                yield f"{name}: {before[name].dtype} → {after[name].dtype}"
            yield from (f"{name}: {line}" for line in value_lines(before[name].ravel(), after[name].ravel()))


def value_lines(before: np.ndarray, after: np.ndarray) -> Iterator[str]:
    """A line about the values of two arrays [N], none if they are the same; NaN equals NaN."""
    numbers = all(np.issubdtype(side.dtype, np.number) for side in (before, after))
    if numbers:
        rows = np.flatnonzero((before != after) & ~(np.isnan(before) & np.isnan(after)))
        apart = np.abs(after[rows].astype(float) - before[rows].astype(float))
        apart[np.isnan(apart)] = np.inf
    else:
        rows = np.flatnonzero([repr(a) != repr(b) for a, b in zip(before, after, strict=True)])
    if len(rows):
        row = rows[apart.argmax()] if numbers else rows[0]
        largest = f", by {apart.max():.3g} at most" if numbers else ""
        values = changed(*(str(side[row]) for side in (before, after)))
        yield f"{len(rows):,} of {len(before):,} differ{largest} (number {row}: {values})"


def npz_lines(before: bytes, after: bytes) -> Iterator[str]:
    """A line for each array."""
    archives = [np.load(io.BytesIO(content), allow_pickle=False) for content in (before, after)]
    yield from array_lines(*({f"array {name}": archive[name] for name in archive.files} for archive in archives))


def tensor_lines(before: bytes, after: bytes) -> Iterator[str]:
    """A line for each tensor, and for each key of the file's description."""
    sides = [tensors(content) for content in (before, after)]
    yield from array_lines(*(found for found, _ in sides))
    told = [json.dumps(json.loads(text)).encode() for _, text in sides]
    yield from (f"description {line}" for line in json_lines(*told))


def tensors(content: bytes) -> tuple[dict[str, np.ndarray], str]:
    """The tensors of a safetensors file, bfloat16 as bits, and its description."""
    length = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    description = header.pop("__metadata__", {}).get("description", "{}")
    arrays = {}
    for name, told in header.items():
        first, end = told["data_offsets"]
        arrays[f"tensor {name}"] = np.frombuffer(data[first:end], TENSORS[told["dtype"]]).reshape(told["shape"])
    return arrays, description


READERS = {
    ".json": json_lines, ".md": text_lines, ".txt": text_lines, ".csv": csv_lines, ".parquet": parquet_lines,
    ".npz": npz_lines, ".safetensors": tensor_lines,
}  # fmt: skip
