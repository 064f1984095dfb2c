"""Reading a pickle as data: containers, numbers, strings, numpy's arrays of numbers, and nothing else.

A pickle is a program, and Python's own reader imports and calls what the program names. Here a name may only refer to
numpy's writing of arrays, or to a class for which the caller has a stand-in: nothing that a pickle names is looked up.
The work of the reader is bounded by the size of the file.
"""

import io
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np

from costtogo.files import damaged, read_bytes
from costtogo.types import UserError, excerpt

LARGEST = 1 << 24  # bytes of a file; an instruction has at least one byte and makes up to about 100 bytes
KINDS = re.compile(r"[|<>=]?(b1|[iu][1248]|f[248])")  # types of arrays: numbers, no objects and no fields
UNREAD = (pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.EMPTY_SET, pickle.ADDITEMS, pickle.FROZENSET, pickle.DICT)


def read_pickle(path: Path, stand_ins: dict[str, type] | None = None) -> Any:
    """The content of a pickle; arrays become Array, numpy's scalars become Python's.

    stand_ins: the class that replaces "module.Class"; its __setstate__ gets the object's attributes.
    Raises UserError, one sentence, for anything but data and for a file of more than 16 MiB.
    """
    content = read_bytes(path)
    if len(content) > LARGEST:
        raise UserError(f"{path} is refused: it has {len(content):,} bytes, and at most {LARGEST:,} are read.")
    try:
        return DataUnpickler(content, path, stand_ins or {}).load()
    except UserError:
        raise
    except Exception as error:  # a damaged pickle may raise any error
        raise damaged(path, error) from error


# pickle.Unpickler, in C, lets a file set the size of its memo and hashes keys of any depth: a few bytes fill memory
# or end the process. Its Python version has neither flaw once keys are strings.
class DataUnpickler(pickle._Unpickler):
    """Python's reader of pickles, reduced to instructions that make data."""

    dispatch = {code: load for code, load in pickle._Unpickler.dispatch.items() if bytes([code]) not in UNREAD}
    dispatch[pickle.BYTEARRAY8[0]] = pickle._Unpickler.load_binbytes8  # reserves no more room than there are bytes

    def __init__(self, content: bytes, path: Path, stand_ins: dict[str, type]):
        super().__init__(io.BytesIO(content))
        self.path, self.stand_ins = path, stand_ins

    def find_class(self, module: str, name: str) -> Any:
        """The replacement for a name in a pickle; UserError for a name that is not allowed."""
        admitted, full_name = NUMPY | self.stand_ins, f"{module}.{name}"
        if full_name not in admitted:
            raise UserError(
                f"{self.path} is refused: it asks for '{excerpt(full_name)}', and only arrays, numbers and strings are "
                "read; nothing in it was run."
            )
        return admitted[full_name]

    def load_empty_dictionary(self) -> None:
        """Make a dictionary that checks its keys."""
        self.append(Table())

    def load_build(self) -> None:
        """Set the state of an object, but never of the replacement for a name."""
        if type(self.stack[-2]) not in (Array, Kind, *self.stand_ins.values()):
            raise pickle.UnpicklingError("a state of what has none")
        super().load_build()

    dispatch |= {pickle.EMPTY_DICT[0]: load_empty_dictionary, pickle.BUILD[0]: load_build}


class Table(dict):
    """A dictionary with only strings as keys: a pickle could make the hash of nested tuples arbitrarily slow."""

    __slots__ = ()

    def __setitem__(self, key: str, value: Any) -> None:
        if type(key) is not str:
            raise pickle.UnpicklingError("a key that is no string")
        super().__setitem__(key, value)


class Kind:
    """The type of an array's values; numpy's own type would accept any state."""

    def __init__(self, code: str, align: bool, copy: bool):
        if not KINDS.fullmatch(code):
            raise pickle.UnpicklingError("an array of other than numbers")
        self.dtype = np.dtype(code)

    def __setstate__(self, state: tuple) -> None:
        """Take the byte order; the rest of the state follows from the code."""
        self.dtype = self.dtype.newbyteorder(state[1])

    def array(self, content: bytes, shape: tuple, order: str) -> np.ndarray:
        """The array in some bytes; ValueError if their number does not fit its shape."""
        return np.frombuffer(content, self.dtype).reshape(shape, order=order)


class Array:
    """An array, without values until its state is set."""

    values = np.zeros(0)

    def __init__(self, kind: None, shape: tuple, code: bytes):
        """Take the arguments of numpy's maker of empty arrays."""

    def __setstate__(self, state: tuple) -> None:
        """Take version, shape, type, True if columns come first, and bytes."""
        _, shape, kind, columns_first, content = state
        self.values = kind.array(content, shape, "F" if columns_first else "C")


def _from_buffer(content: bytes, kind: Kind, shape: tuple, order: str, axes: None = None) -> Array:
    array = Array(None, shape, b"")
    array.values = kind.array(content, shape, order)
    return array


def _scalar(kind: Kind, content: bytes) -> int | float:
    return kind.array(content, (1,), "C")[0].item()


NUMPY = {  # the replacements for names in pickles of numpy's arrays
    **{f"numpy.{core}.multiarray._reconstruct": Array for core in ("core", "_core")},
    **{f"numpy.{core}.multiarray.scalar": _scalar for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": _from_buffer for core in ("core", "_core")},
    "numpy.ndarray": None,  # the only kind of array that can be made
    "numpy.dtype": Kind,
}
