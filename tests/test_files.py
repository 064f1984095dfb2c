"""Files: written whole or not at all, the same content in the same bytes, damage told in one sentence."""

import errno
import os
import subprocess
import sys
import time
from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
from messages import is_one_sentence

from costtogo import files
from costtogo.files import FileError

FRAME = pd.DataFrame({"name": ["a", "b"] * 200, "value": np.linspace(0, 1, 400)})
ARRAYS = {"distance": np.arange(500), "name": np.array(["x", "y"])}
TENSORS = {"weight": torch.arange(400.0), "bias": torch.ones(2, dtype=torch.int64)}

WRITERS = {
    "frame.parquet": lambda path: files.write_frame(path, FRAME),
    "arrays.npz": lambda path: files.write_arrays(path, **ARRAYS),
    "tensors.safetensors": lambda path: files.write_tensors(path, TENSORS, {"b": 1, "a": [2]}),
    "content.json": lambda path: files.write_json(path, {"b": 1, "a": list(range(50))}),
    "frame.csv": lambda path: files.write_csv(path, FRAME),
}
READERS = {
    "frame.parquet": files.read_frame,
    "arrays.npz": files.read_arrays,
    "tensors.safetensors": files.read_tensors,
    "content.json": files.read_json,
}
WRITE_BEYOND_THE_LIMIT = """
import resource, sys
from costtogo.files import FileError, write_text
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_text(sys.argv[1], "new " * 1000)
except FileError as error:
    print(error)
"""


def test_what_is_written_is_read_back(tmp_path):
    for name, write in WRITERS.items():
        write(tmp_path / "new folder" / name)
    read = {name: reader(tmp_path / "new folder" / name) for name, reader in READERS.items()}
    pd.testing.assert_frame_equal(read["frame.parquet"], FRAME)
    pd.testing.assert_frame_equal(files.read_csv(tmp_path / "new folder" / "frame.csv"), FRAME)
    assert read["arrays.npz"].keys() == ARRAYS.keys()
    assert all((read["arrays.npz"][name] == array).all() for name, array in ARRAYS.items())
    tensors, description = read["tensors.safetensors"]
    assert all(torch.equal(tensors[name], tensor) for name, tensor in TENSORS.items())
    assert description == {"a": [2], "b": 1}
    assert read["content.json"] == {"a": list(range(50)), "b": 1}


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_content_is_written_in_the_same_bytes_at_any_time(name, tmp_path, monkeypatch):
    WRITERS[name](tmp_path / name)
    first = (tmp_path / name).read_bytes()
    later = time.time() + 10**7
    monkeypatch.setattr(time, "time", lambda: later)
    WRITERS[name](tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_write_that_fails_leaves_the_old_content_and_nothing_else(name, failing, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(FileError) as told:
        WRITERS[name](path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    assert "No space left on device" in str(told.value) and str(path) in str(told.value)
    assert is_one_sentence(str(told.value))


def test_a_file_beyond_the_systems_limit_leaves_the_old_content(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("old")
    command = [sys.executable, "-c", WRITE_BEYOND_THE_LIMIT, str(path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    assert "File too large" in told and is_one_sentence(told)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_file_written_anew_has_the_permissions_the_user_gives_new_files(tmp_path):
    (tmp_path / "plain").write_text("")
    files.write_text(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.97])
def test_a_truncated_file_is_told_in_one_sentence_with_its_path(name, share, tmp_path):
    path = tmp_path / name
    WRITERS[name](path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileError) as told:
        READERS[name](path)
    assert str(path) in str(told.value) and is_one_sentence(str(told.value)), str(told.value)


@pytest.mark.parametrize(
    ("reader", "written"),
    [pair for pair in product(READERS, [*WRITERS, "array.npy", "bytes.bin"]) if pair[0] != pair[1]],
)
def test_a_file_of_another_format_is_told_in_one_sentence_with_its_path(reader, written, tmp_path):
    path = tmp_path / written
    if written == "array.npy":
        np.save(path, np.arange(300))
    elif written == "bytes.bin":
        path.write_bytes(np.random.default_rng(0).bytes(2000))
    else:
        WRITERS[written](path)
    with pytest.raises(FileError) as told:
        READERS[reader](path)
    assert str(path) in str(told.value) and is_one_sentence(str(told.value)), str(told.value)


def test_pickled_objects_are_refused(tmp_path):
    path = tmp_path / "objects.npz"
    np.savez(path, distance=np.array([{"run": "me"}], dtype=object))
    with pytest.raises(FileError) as told:
        files.read_arrays(path)
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_not_there_is_told_in_one_sentence(name, tmp_path):
    with pytest.raises(FileError, match="No such file") as told:
        READERS[name](tmp_path / name)
    assert is_one_sentence(str(told.value))


def test_a_digest_is_that_of_the_content(tmp_path):
    (tmp_path / "abc").write_text("abc")  # FIPS 180-2, appendix B.1
    assert files.digest(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
