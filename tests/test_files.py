"""Files: written whole or not at all, the same content in the same bytes, damage told in one sentence."""

import errno
import os
import re
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
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


def test_a_write_that_is_interrupted_leaves_the_old_content_and_nothing_else(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    (tmp_path / "text").write_text("old")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_text(tmp_path / "text", "new")
    assert (tmp_path / "text").read_text() == "old" and list(tmp_path.iterdir()) == [tmp_path / "text"]


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


def links_to(target):
    """A link, a link to a link, and one that is written as relative to its own folder."""
    folder = target.parent
    (folder / "plain").symlink_to(target)
    (folder / "twice").symlink_to(folder / "plain")
    (folder / "relative").symlink_to(target.name)
    return [folder / name for name in ("plain", "twice", "relative")]


@pytest.mark.parametrize("old", ["old", None])
def test_a_link_stays_a_link_and_what_it_leads_to_is_replaced(old, tmp_path):
    target = tmp_path / "target"
    if old is not None:
        target.write_text(old, encoding="utf-8")
    for link in links_to(target):
        files.write_text(link, f"by {link.name}")
        assert link.is_symlink() and not target.is_symlink() and target.read_bytes() == f"by {link.name}".encode()
    assert len(list(tmp_path.iterdir())) == 4


def test_a_link_to_what_is_kept_read_only_is_replaced_itself(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("kept", encoding="utf-8")
    kept.chmod(0o444)
    (tmp_path / "link").symlink_to(kept)
    files.write_text(tmp_path / "link", "new")
    assert kept.read_bytes() == b"kept" and (tmp_path / "link").read_bytes() == b"new"
    assert not (tmp_path / "link").is_symlink()


def test_a_folder_is_not_written(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "folder").mkdir()
    for name in ("folder", "link"):
        with pytest.raises(FileError, match="it is a folder; name a file in it") as told:
            files.write_text(tmp_path / name, "new")
        assert is_one_sentence(str(told.value)) and len(list(tmp_path.rglob("*"))) == 2


def test_a_pipe_takes_what_is_written_and_stays_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for content in (b"one", b"two"):
        files.write_bytes(tmp_path / "pipe", content)
        assert os.read(reader, 100) == content
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo() and list(tmp_path.iterdir()) == [tmp_path / "pipe"]


def test_a_pipe_that_nobody_reads_any_more_is_no_mistake_of_the_users(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        files.write_bytes(f"/proc/self/fd/{writer}", b"content")
    os.close(writer)


def test_a_device_takes_what_is_written():
    reader, device = os.openpty()
    files.write_bytes(os.ttyname(device), b"content")
    assert os.read(reader, 100) == b"content"
    os.close(reader)
    os.close(device)


WRITE_TO_STDOUT = "import sys; from costtogo.files import write_text; write_text(sys.argv[1], 'content')"


@pytest.mark.parametrize("name", ["log", "/proc/self/fd/1"])
def test_a_file_that_is_the_standard_output_is_added_to(name, tmp_path):
    (tmp_path / "log").write_text("before ", encoding="utf-8")
    with (tmp_path / "log").open("ab") as log:
        subprocess.run([sys.executable, "-c", WRITE_TO_STDOUT, name], stdout=log, check=True, cwd=tmp_path)
        log.write(b" after")
    assert (tmp_path / "log").read_bytes() == b"before content after"


@pytest.mark.parametrize("name", ["a\nb", "n" * 5000])
@pytest.mark.parametrize("use", [files.read_bytes, lambda path: files.write_bytes(path, b"")])
def test_a_path_is_shown_on_one_line_that_is_not_endless(use, name, tmp_path):
    (tmp_path / "file").touch()  # below which there is nothing
    with pytest.raises(FileError) as told:
        use(tmp_path / "file" / name)
    assert is_one_sentence(str(told.value)) and len(str(told.value)) < 350


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


@pytest.mark.parametrize(("at", "value"), [(8, 1), (10, 97), (10, 8)])
def test_arrays_that_seem_encrypted_or_compressed_are_told_in_one_sentence(tmp_path, at, value):
    """at: of the flags and of the method in the directory of an archive, which begins with PK 1 2."""
    path = tmp_path / "arrays.npz"
    files.write_arrays(path, **ARRAYS)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + at] = value
    path.write_bytes(content)
    with pytest.raises(FileError, match="is damaged or of another format") as told:
        files.read_arrays(path)
    assert is_one_sentence(str(told.value))


def test_a_table_whose_metadata_is_damaged_is_told_in_one_sentence(tmp_path):
    path, table = tmp_path / "frame.parquet", pyarrow.Table.from_pandas(FRAME)
    said = table.schema.metadata[b"pandas"].replace(b'"pandas_type"', b'"pandas_tyqe"')
    pyarrow.parquet.write_table(table.replace_schema_metadata({b"pandas": said}), path)
    with pytest.raises(FileError, match="is damaged or of another format") as told:
        files.read_frame(path)
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_not_there_is_told_in_one_sentence(name, tmp_path):
    with pytest.raises(FileError, match="No such file") as told:
        READERS[name](tmp_path / name)
    assert is_one_sentence(str(told.value))


ROOT = Path(__file__).parents[1]
SOURCES = [*ROOT.glob("src/**/*.py"), *ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("torture/*.py")]
SOURCES += ROOT.glob("tools/*.py")
SOURCES += ROOT.glob("workflow/**/*.smk")
HELPERS = [path for path in ROOT.glob("tests/*.py") if not path.name.startswith("test_")]
OPENED = re.compile(r"(\.read_text|\.write_text|(?<!os\.)(?<!tarfile\.)(?<!Image\.)\bopen)\(")
BINARY_OR_UTF_8 = re.compile(r'encoding="utf-8"|"[rwax]b"')


def test_text_is_read_and_written_as_utf_8_whatever_the_locale():
    lines = ((path, line) for path in SOURCES + HELPERS for line in path.read_text("utf-8").splitlines())
    opened = [f"{path}: {line}" for path, line in lines if OPENED.search(line)]
    assert len(opened) > 10 and not [line for line in opened if not BINARY_OR_UTF_8.search(line)]


def test_a_digest_is_that_of_the_content(tmp_path):
    (tmp_path / "abc").write_text("abc")  # FIPS 180-2, appendix B.1
    assert files.digest(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_parts_of_ended_writings_are_removed_and_nothing_else(tmp_path):
    kept = [".other.bin.0123abcd", ".one.bin.0123abcde", ".one.bin.lock", "one.bin"]
    for name in (".one.bin.0123abcd", ".one.bin.ffff0000", *kept):
        (tmp_path / name).write_bytes(b"x")
    files.remove_parts([tmp_path / "one.bin", tmp_path / "nowhere" / "two.bin"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)
