"""Pickles read as data: what numpy and containers write is read, whatever else is refused, and nothing is ever run."""

import os
import pickle
import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo.pickles import Array, Record, read_pickle
from costtogo.types import UserError

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)
HUGE = 1 << 50


class Call:
    """Pickled, it makes Python's own reader call a function."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


class Kept:
    """An object of a class that a caller may admit."""

    __slots__ = ("colors", "hash", "__dict__")


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "data.pkl"
    path.write_bytes(content)
    return path


def told(path: Path, classes=()) -> str:
    with pytest.raises(UserError) as error:
        read_pickle(path, classes)
    assert is_one_sentence(str(error.value)), str(error.value)
    return str(error.value)


def text(value: str) -> bytes:
    return b"\x8c" + bytes([len(value)]) + value.encode()


def named(module: str, name: str) -> bytes:
    return text(module) + text(name) + b"\x93"


@pytest.mark.parametrize("protocol", [0, 1, *PROTOCOLS])
def test_containers_numbers_and_strings_come_as_they_were(protocol, tmp_path):
    value = {"a": [1, -2, 1 << 70, 2.5, None, True], "b": ("x", "ü" * 300, (), (1,), (1, 2), (1, 2, 3, 4)), 3: {}}
    value["again"] = value["a"]
    assert read_pickle(written(tmp_path, pickle.dumps(value, protocol))) == value


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["u1", "<i8", ">i4", "f8", "?", "U3", "S2"])
def test_arrays_come_as_they_were(protocol, kind, tmp_path):
    array = np.arange(24).reshape(2, 3, 4).astype(kind)
    for form in (array, array.T, array[:, ::2], np.zeros((0, 2), kind))[: None if protocol > 2 else 3]:
        found = read_pickle(written(tmp_path, pickle.dumps([form, form], protocol)))
        assert all(isinstance(one, Array) and one.values.dtype == form.dtype for one in found)
        np.testing.assert_array_equal(found[1].values, form)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_scalars_of_numpy_come_as_numbers_of_python(protocol, tmp_path):
    values = [np.float64(2.5), np.int32(-7), np.uint8(255), np.bool_(True), b"\x00\xff"]
    assert read_pickle(written(tmp_path, pickle.dumps(values, protocol))) == [2.5, -7, 255, True, b"\x00\xff"]


def test_arrays_of_the_module_paths_of_older_numpy_are_read(tmp_path):
    content = pickle.dumps(np.arange(3, dtype=np.uint8), 2)
    assert b"numpy._core.multiarray" in content
    older = written(tmp_path, content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    assert read_pickle(older).values.tolist() == [0, 1, 2]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_object_of_an_admitted_class_is_its_attributes(protocol, tmp_path):
    kept = Kept()
    kept.colors, kept.other = np.arange(3), 5
    name = f"{Kept.__module__}.Kept"
    path = written(tmp_path, pickle.dumps([kept], protocol))
    (record,) = read_pickle(path, [name])
    assert type(record) is Record and record.name == name and set(record.attributes) == {"colors", "other"}
    assert "Kept" in told(path), "admitted by none, it is refused"


def harmful(marker: Path) -> dict[str, object]:
    """What would leave a marker behind in Python's own reader."""
    command, source = f"touch {marker}", f"__import__('os').mkdir({str(marker)!r})"
    nested = np.empty(1, dtype=object)
    nested[0] = Call(os.system, command)
    return {
        "os.system": Call(os.system, command),
        "builtins.eval": Call(eval, source),
        "builtins.exec": Call(exec, source),
        "os.mkdir": Call(os.mkdir, str(marker)),
        "in a list of a dictionary": {"states": [1, [Call(os.system, command)]]},
        "as a key": {(Call(os.system, command),): 1},
        "in an array of objects": nested,
        "in the arguments of an array": Call(np.dtype, Call(eval, source)),
        "numpy beyond arrays": Call(np.save, str(marker), np.zeros(1)),
        "numpy writing text": Call(np.savetxt, str(marker), np.zeros(1)),
        "getattr": Call(getattr, Call(eval, source), "close"),
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", harmful(Path("x")))
def test_what_would_run_is_refused_and_does_not_run(kind, protocol, tmp_path):
    marker = tmp_path / "ran.npy"
    content = pickle.dumps(harmful(marker)[kind], protocol)
    path = written(tmp_path, content)
    told(path, [f"{Kept.__module__}.Kept"])
    assert not marker.exists(), "our reader ran it"
    with suppress(Exception):
        pickle.loads(content)
    assert marker.exists(), "the pickle was harmless: this test shows nothing"


def test_a_module_that_a_pickle_names_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "harmful_module.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "harmful_module.it" in told(written(tmp_path, b"charmful_module\nit\n."))
    assert not (tmp_path / "ran").exists()


RECONSTRUCT = named("numpy._core.multiarray", "_reconstruct")
NDARRAY, DTYPE = named("numpy", "ndarray"), named("numpy", "dtype")
U1 = DTYPE + text("u1") + b"\x89\x88\x87R"
BUFFER = named("numpy._core.numeric", "_frombuffer")
ABUSES = {
    "an array of objects": DTYPE + text("O") + b"\x89\x88\x87R.",
    "an array of fields": DTYPE + text("u1,O") + b"\x89\x88\x87R.",
    "an array of another class": RECONSTRUCT + DTYPE + b"K\x00\x85" + b"C\x01b\x87R.",
    "a type that is no text": DTYPE + b"]\x85R.",
    "an array much larger than its content": BUFFER + b"(C\x01a" + U1 + b"\x8a\x07" + struct.pack("<Q", HUGE)[:7]
    + b"\x85" + text("C") + b"tR.",
    "a shape below nothing": BUFFER + b"(C\x01a" + U1 + b"J\xff\xff\xff\xff\x85" + text("C") + b"tR.",
    "a shape of true": BUFFER + b"(C\x01a" + U1 + b"\x88\x85" + text("C") + b"tR.",
    "bytes by another codec": named("_codecs", "encode") + text("x") + text("rot13") + b"\x86R.",
    "a function of another codec": named("_codecs", "decode") + b".",
    "a part of what is admitted": named("numpy", "dtype.__class__") + b".",
    "a part of an admitted class": named("kept", "Kept.__init__") + b".",
    "an object with arguments": named("kept", "Kept") + b"K\x01\x85\x81.",
    "a call of an admitted class": named("kept", "Kept") + b")R.",
    "a state of a name": DTYPE + b"}b.",
    "a state of a list": b"]}b.",
    "a state that is no dictionary": named("kept", "Kept") + b")\x81K\x01b.",
    "a call of a text": text("print") + b")R.",
    "a name of parts that are no text": b"K\x01K\x02\x93.",
    "a class by INST": b"(ios\nsystem\n.",
    "a class by OBJ": b"(" + named("kept", "Kept") + b"o.",
    "a persistent name": b"Pfile\n.",
    "an extension": b"\x82\x01.",
    "a set": b"\x8f.",
    "a buffer from outside": b"\x97.",
    "a string of a huge length": b"\x8d" + struct.pack("<Q", HUGE) + b"abc.",
    "bytes of a huge length": b"\x8e" + struct.pack("<Q", HUGE) + b"abc.",
    "an array of bytes of a huge length": b"\x96" + struct.pack("<Q", HUGE) + b"abc.",
    "a number of a huge length": b"\x8b" + struct.pack("<I", (1 << 31) - 1) + b"abc.",
    "a number of too many digits": b"L" + b"9" * 5000 + b"L\n.",
    "values without a mark": b"K\x01t.",
    "a value that was never kept": b"h\x07.",
    "an empty stack": b"R.",
    "a key that is a tuple": b"}))s.",
    "an odd number of entries": b"}(K\x01u.",
    "no end": b"K\x01",
    "no pickle": b"scramble,optimal_moves_qtm\nR U,2\n",
    "nothing": b"",
}  # fmt: skip


@pytest.mark.parametrize("abuse", ABUSES)
def test_an_abuse_of_what_is_admitted_is_told_in_one_sentence(abuse, tmp_path):
    told(
        written(tmp_path, b"\x80\x04" + ABUSES[abuse] if abuse not in ("nothing", "no pickle") else ABUSES[abuse]),
        ["kept.Kept"],
    )


def test_a_place_of_the_memo_far_away_takes_no_memory(tmp_path):
    path = written(tmp_path, b"\x80\x04K\x07r\xff\xff\xff\xffj\xff\xff\xff\xff.")
    assert read_pickle(path) == 7


def test_an_attribute_of_a_record_never_changes_what_it_is(tmp_path):
    kept = named("kept", "Kept") + b")\x81"
    path = written(tmp_path, b"\x80\x04" + kept + b"}" + text("__class__") + DTYPE + b"sb.")
    assert type(read_pickle(path, ["kept.Kept"])) is Record


def test_a_pickle_cut_off_anywhere_is_told_in_one_sentence(tmp_path):
    content = pickle.dumps({"states": [np.arange(54, dtype=np.uint8)], "solutions": [[("U", 1)]], "times": [2.5]})
    for length in range(len(content)):
        told(written(tmp_path, content[:length]))


def test_a_file_that_is_missing_is_told_in_one_sentence(tmp_path):
    told(tmp_path / "missing.pkl")
