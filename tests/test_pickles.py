"""Pickles read as data: what numpy and containers write is read, whatever else is refused, and nothing is ever run."""

import copyreg
import os
import pickle
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo.types import UserError
from tools import pickles
from tools.pickles import Array, read_pickle

PROTOCOLS = range(3, pickle.HIGHEST_PROTOCOL + 1)
HUGE = struct.pack("<Q", 1 << 29)  # a length that a process can have and a file of few bytes has not


class Call:
    """Pickled, it makes Python's own reader call a function."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


class Kept:
    """An object of a class that a caller has a stand-in for."""

    __slots__ = ("colors", "hash", "__dict__")


class StandIn:
    """What it becomes."""

    def __setstate__(self, state):
        self.told = state


STAND_INS = {f"{Kept.__module__}.Kept": StandIn, "kept.Kept": StandIn}


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "data.pkl"
    path.write_bytes(content)
    return path


def told(path: Path, stand_ins=None) -> str:
    with pytest.raises(UserError) as error:
        read_pickle(path, stand_ins)
    assert is_one_sentence(str(error.value)), str(error.value)
    return str(error.value)


def text(value: str) -> bytes:
    return b"\x8c" + bytes([len(value)]) + value.encode()


def named(module: str, name: str) -> bytes:
    return text(module) + text(name) + b"\x93"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_containers_and_numbers_of_python_and_numpy_come_as_they_were(protocol, tmp_path):
    value = {"a": [1, -2, 1 << 70, 2.5, None, True], "b": ("x", "ü" * 300, (), (1,), (1, 2), (1, 2, 3, 4)), "c": {}}
    value["again"] = value["a"]
    scalars = [np.float64(2.5), np.int32(-7), np.uint8(255), np.bool_(True), b"\x00\xff"]
    found = read_pickle(written(tmp_path, pickle.dumps([value, scalars], protocol)))
    assert found == [value, [2.5, -7, 255, True, b"\x00\xff"]]
    assert found[0]["again"] is found[0]["a"]


@pytest.mark.parametrize("core", [b"numpy._core", b"numpy.core"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["u1", "<i8", ">i4", "f8", "?"])
def test_arrays_come_as_they_were(kind, protocol, core, tmp_path):
    array = np.arange(24).reshape(2, 3, 4).astype(kind)
    for form in (array, array.T, array[:, ::2], np.zeros((0, 2), kind)):
        content = pickle.dumps([form, form], 3 if core == b"numpy.core" else protocol)
        assert b"numpy._core" in content
        found = read_pickle(written(tmp_path, content.replace(b"numpy._core", core)))
        assert all(isinstance(one, Array) and one.values.dtype == form.dtype for one in found)
        np.testing.assert_array_equal(found[1].values, form)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_object_of_an_admitted_class_is_a_stand_in_with_its_attributes(protocol, tmp_path):
    kept = Kept()
    kept.colors, kept.other = [1, 2], 5
    path = written(tmp_path, pickle.dumps([kept], protocol))
    (found,) = read_pickle(path, STAND_INS)
    assert type(found) is StandIn and found.told == ({"other": 5}, {"colors": [1, 2]})
    assert "Kept" in told(path), "without a stand-in it is refused"


def harmful(marker: Path) -> dict[str, object]:
    """What would leave a marker behind in Python's own reader."""
    command, source = f"touch {marker}", f"__import__('os').mkdir({str(marker)!r})"
    nested = np.empty(1, dtype=object)
    nested[0] = Call(os.system, command)
    return {
        "os.system": Call(os.system, command),
        "builtins.eval": Call(eval, source),
        "in a list of a dictionary": {"states": [1, [Call(os.mkdir, str(marker))]]},
        "in an array of objects": nested,
        "in the arguments of an array": Call(np.dtype, Call(eval, source)),
        "numpy beyond arrays": Call(np.save, str(marker), np.zeros(1)),
        "getattr": Call(getattr, Call(exec, source), "close"),
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", harmful(Path("x")))
def test_what_would_run_is_refused_and_does_not_run(kind, protocol, tmp_path):
    marker = tmp_path / "ran.npy"
    content = pickle.dumps(harmful(marker)[kind], protocol)
    told(written(tmp_path, content), STAND_INS)
    assert not marker.exists(), "our reader ran it"
    with suppress(Exception):
        pickle.loads(content)
    assert marker.exists(), "the pickle was harmless: this test shows nothing"


def test_a_module_that_a_pickle_names_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "harmful_module.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "harmful_module.it" in told(written(tmp_path, b"charmful_module\nit\n."))
    assert not (tmp_path / "ran").exists()


def test_an_extension_of_the_library_s_registry_is_refused_even_if_this_process_has_it(tmp_path):
    copyreg.add_extension("kept", "Kept", 1)
    try:
        told(written(tmp_path, b"\x80\x04\x82\x01."), STAND_INS)
    finally:
        copyreg.remove_extension("kept", "Kept", 1)


SCALAR, DTYPE = named("numpy._core.multiarray", "scalar"), named("numpy", "dtype")
KEPT, BUFFER = named("kept", "Kept"), named("numpy._core.numeric", "_frombuffer")
U1 = DTYPE + text("u1") + b"\x89\x88\x87R"
ABUSES = {
    "an array of objects": DTYPE + text("O") + b"\x89\x88\x87R.",
    "an array of fields": DTYPE + text("u1,O") + b"\x89\x88\x87R.",
    "a type that is no text": DTYPE + b"]\x89\x88\x87R.",
    "an array larger than its content": BUFFER + b"(C\x01a" + U1 + b"K\x02\x85" + text("C") + b"tR.",
    "an array of text": BUFFER + b"(" + text("a") + U1 + b"K\x01\x85" + text("C") + b"tR.",
    "a part of an admitted class": named("kept", "Kept.__init__") + b".",
    "a part of a stand-in": named("kept", "Kept") + b"}" + text("__class__") + DTYPE + b"sb.",
    "bytes by a codec": named("_codecs", "encode") + text("x") + text("rot13") + b"\x86R.",
    "a state of a function": SCALAR + b"N}" + text("__defaults__") + b")s\x86b.",
    "a state of a class": DTYPE + b"}b.",
    "a state of a list": b"]}b.",
    "a call of a text": text("print") + b")R.",
    "a call of an array": BUFFER + b"(C\x01a" + U1 + b"K\x01\x85" + text("C") + b"tR)R.",
    "a name of parts that are no text": b"K\x01K\x02\x93.",
    "a class by INST": b"(ios\nsystem\n.",
    "a persistent name": b"Pfile\n.",
    "a persistent name of the stack": b"K\x01Q.",
    "a set": b"\x8f.",
    "a buffer from outside": b"\x97.",
    "a key that is a tuple": b"}))s.",
    "a key of a dictionary made at once": b"()K\x01d.",
    "an odd number of entries": b"}(" + text("a") + b"u.",
    "values without a mark": b"K\x01t.",
    "a value that was never kept": b"h\x07.",
    "an empty stack": b"R.",
    "no end": b"K\x01",
    "no pickle": b"scramble,optimal_moves_qtm\nR U,2\n",
    "nothing": b"",
}  # fmt: skip


@pytest.mark.parametrize("abuse", ABUSES)
def test_an_abuse_of_what_is_admitted_is_told_in_one_sentence(abuse, tmp_path):
    head = b"" if abuse in ("nothing", "no pickle") else b"\x80\x04"
    told(written(tmp_path, head + ABUSES[abuse]), STAND_INS)
    assert pickles._scalar.__defaults__ is None


DOUBLED = b")" + b"2\x86" * 100  # a tuple of itself twice, a hundred times over: 2^100 parts in 200 bytes
BOMBS = {
    "a text of a huge length": b"\x8d" + HUGE + b"abc.",
    "bytes of a huge length": b"\x8e" + HUGE + b"abc.",
    "an array of bytes of a huge length": b"\x96" + HUGE + b"abc.",
    "a number of a huge length": b"\x8b" + struct.pack("<I", (1 << 31) - 1) + b"abc.",
    "a number of too many digits": b"L" + b"9" * 5000 + b"L\n.",
    "a key whose hash never ends": b"}" + DOUBLED + b"K\x01s.",
    "a key nested deeper than the stack": b"})" + b"\x85" * 1_000_000 + b"K\x01s.",
    "a huge shape": BUFFER + b"(C\x01a" + U1 + b"\x8a\x07" + HUGE[:7] + b"\x85" + text("C") + b"tR.",
    "a shape without end": BUFFER + b"(C\x01a" + U1 + DOUBLED + text("C") + b"tR.",
    "a shape of huge numbers": BUFFER + b"(C\x01a" + U1 + b"(" + b"\x8b\xff\xff\x00\x00" + b"\x7f" * 65_535
    + b"2" * 100_000 + b"t" + text("C") + b"tR.",
    "an end without an end": b")" + b"\x85" * 1_000_000 + b"0K\x01",
}  # fmt: skip
HARMLESS = {
    "a place of the memo far away": b"K\x07r\xff\xff\xff\xff0j\xff\xff\xff\xff.",
    "a frame of a huge length": b"\x95" + HUGE + b"K\x07.",
    "lists doubled a hundred times": b"]\x94" + b"(h\x00h\x00lq\x00" * 100 + b"K\x07.",
    "lists nested a million times": b"]" * 1_000_000 + b"a" * 999_999 + b"0K\x07.",
}
READ = """
import resource, sys
from tools.pickles import read_pickle
from costtogo.types import UserError
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
for path in sys.argv[1:]:
    try:
        print(read_pickle(path))
    except UserError as error:
        print("refused")
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def test_a_bomb_of_few_bytes_ends_soon_and_in_bounded_memory(tmp_path):
    """In a process of its own: a reader that believes any length, or hashes any key, dies there or does not end."""
    paths = []
    for number, content in enumerate([*BOMBS.values(), *HARMLESS.values()]):
        (tmp_path / str(number)).write_bytes(b"\x80\x04" + content)
        paths.append(tmp_path / str(number))
    done = subprocess.run([sys.executable, "-c", READ, *paths], capture_output=True, text=True, timeout=600)
    *found, kilobytes = done.stdout.split()
    assert found == ["refused"] * len(BOMBS) + ["7"] * len(HARMLESS), (done.stdout, done.stderr)
    assert int(kilobytes) < 400_000


def test_a_file_of_more_bytes_than_a_test_set_ever_has_is_refused_unread(tmp_path, monkeypatch):
    path = written(tmp_path, pickle.dumps(["x" * 100]))
    assert read_pickle(path)
    monkeypatch.setattr(pickles, "LARGEST", 100)
    assert "at most 100 are read" in told(path)


def test_a_pickle_cut_off_anywhere_is_told_in_one_sentence(tmp_path):
    content = pickle.dumps({"states": [np.arange(54, dtype=np.uint8)], "solutions": [[("U", 1)]], "times": [2.5]})
    for length in range(len(content)):
        told(written(tmp_path, content[:length]))
    told(tmp_path / "missing.pkl")
