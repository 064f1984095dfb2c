"""Reading a pickle as data: containers, numbers, strings and numpy arrays, and nothing else.

A pickle is a program for a stack machine, and Python's own reader imports and calls what the program names. This one
carries out the instructions that make data, and calls nothing. A name may stand only for how numpy writes arrays, or
for a class that the caller admits: an object of it becomes a Record, which keeps its attributes and runs no code.
"""

import math
import pickletools
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from costtogo.files import damaged, read_bytes
from costtogo.types import UserError

ARRAY_NAMES = {  # what the pickles of numpy arrays name, by the part it plays
    **{f"numpy.{core}.multiarray._reconstruct": "array" for core in ("core", "_core")},
    **{f"numpy.{core}.multiarray.scalar": "scalar" for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": "buffer" for core in ("core", "_core")},
    "numpy.ndarray": "class",
    "numpy.dtype": "dtype",
    "_codecs.encode": "bytes",  # how older protocols write bytes
}
KINDS = re.compile(r"[|<>=]?(b1|[iu][1248]|f[248]|[SU]\d{1,4})")  # numbers and strings: no objects, no fields
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
NUMBERS = ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT")
TEXTS = ("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "STRING", "BINSTRING", "SHORT_BINSTRING")
BYTES = ("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8")
VALUES = {*NUMBERS, *TEXTS, *BYTES}
EMPTY = {"EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "EMPTY_DICT": dict}
PUT, GET = {"PUT", "BINPUT", "LONG_BINPUT"}, {"GET", "BINGET", "LONG_BINGET"}
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
MARK = object()


@dataclass(frozen=True)
class Name:
    """A name in a pickle, never looked up."""

    text: str


@dataclass(eq=False)
class Record:
    """An object of an admitted class: its attributes."""

    name: str
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Kind:
    """The type of an array's values, such as u1, and their byte order."""

    code: str
    order: str = "|"

    def dtype(self) -> np.dtype:
        """The same for numpy."""
        return np.dtype(self.code.lstrip("|<>=")).newbyteorder(self.order)


@dataclass(eq=False)
class Array:
    """An array, empty until the pickle has told its values."""

    values: np.ndarray = field(default_factory=lambda: np.zeros(0))


def read_pickle(path: Path, classes: Collection[str] = ()) -> Any:
    """The content of a pickle; classes: the names, such as "module.Class", whose objects become Records.

    Arrays come as Array, numpy's scalars as Python's. Raises UserError, one sentence, for anything but data.
    """
    content = read_bytes(path)
    machine = Machine(set(classes), path)
    try:
        for instruction, argument, _ in pickletools.genops(content):
            machine.run(instruction.name, argument)
        return machine.stack.pop()
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError) as error:
        raise damaged(path, error) from error


class Machine:
    """The stack and the memo that a pickle works on."""

    def __init__(self, classes: set[str], path: Path):
        self.classes, self.path = classes, path
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, name: str, argument: Any) -> None:
        """Carry out one instruction; UserError for one that makes no data."""
        if name in VALUES:
            self.stack.append(argument)
        elif name in CONSTANTS:
            self.stack.append(CONSTANTS[name])
        elif name in EMPTY:
            self.stack.append(EMPTY[name]())
        elif name in PUT:
            self.memo[argument] = self.stack[-1]
        elif name in GET:
            self.stack.append(self.memo[argument])
        elif name in TUPLES:
            self.stack.append(tuple(self.take(TUPLES[name])))
        elif hasattr(self, f"do_{name.lower()}"):
            getattr(self, f"do_{name.lower()}")(argument)
        else:
            raise UserError(f"{self.path} is refused: its instruction {name} makes no array, number or string.")

    def take(self, count: int) -> list[Any]:
        """The uppermost values, taken from the stack."""
        if len(self.stack) < count or any(value is MARK for value in self.stack[len(self.stack) - count :]):
            raise ValueError("an instruction without its values")
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    def take_marked(self) -> list[Any]:
        """The values above the last mark, taken from the stack with the mark."""
        count = next((above for above, value in enumerate(reversed(self.stack)) if value is MARK), len(self.stack) + 1)
        taken = self.take(count)
        self.stack.pop()
        return taken

    def do_proto(self, _) -> None:
        """The version of the format: nothing to do, and so for frames and the end."""

    do_frame = do_stop = do_proto

    def do_mark(self, _) -> None:
        self.stack.append(MARK)

    def do_pop(self, _) -> None:
        self.stack.pop()

    def do_memoize(self, _) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def do_append(self, _) -> None:
        self.extend(self.take(1))

    def do_appends(self, _) -> None:
        self.extend(self.take_marked())

    def do_list(self, _) -> None:
        self.stack.append(self.take_marked())

    def do_tuple(self, _) -> None:
        self.stack.append(tuple(self.take_marked()))

    def do_dict(self, _) -> None:
        entries = self.take_marked()
        self.stack.append({})
        self.update(entries)

    def do_setitem(self, _) -> None:
        self.update(self.take(2))

    def do_setitems(self, _) -> None:
        self.update(self.take_marked())

    def extend(self, values: list[Any]) -> None:
        """Add to the list on top."""
        if type(self.stack[-1]) is not list:
            raise ValueError("an element of what is no list")
        self.stack[-1].extend(values)

    def update(self, entries: list[Any]) -> None:
        """Add keys and values in turn to the dictionary on top."""
        keys = entries[::2]
        if type(self.stack[-1]) is not dict or not all(type(key) in (str, int, float) for key in keys):
            raise ValueError("an entry of what is no dictionary")
        self.stack[-1].update(zip(keys, entries[1::2], strict=True))

    def do_global(self, argument: str) -> None:
        self.admit(argument.replace(" ", ".", 1))

    def do_stack_global(self, _) -> None:
        module, name = self.take(2)
        self.admit(f"{module}.{name}")

    def admit(self, name: str) -> None:
        """Push a name if it is one of those admitted; UserError for all others."""
        if name not in ARRAY_NAMES and name not in self.classes:
            raise UserError(
                f"{self.path} is refused: it asks for {name[:80]!r}, and only arrays, numbers and strings are read; "
                "nothing in it was run."
            )
        self.stack.append(Name(name))

    def do_newobj(self, _) -> None:
        what, arguments = self.take(2)
        if not isinstance(what, Name) or what.text not in self.classes or arguments != ():
            raise ValueError("an object of no admitted class")
        self.stack.append(Record(what.text))

    def do_reduce(self, _) -> None:
        """What would be a call: one of those that arrays are made of."""
        what, arguments = self.take(2)
        part = ARRAY_NAMES.get(what.text) if isinstance(what, Name) else None
        if part not in PARTS or type(arguments) is not tuple:
            raise ValueError("a call of what makes no array")
        self.stack.append(PARTS[part](*arguments))

    def do_build(self, _) -> None:
        """What would set the state of an object: the rest of an array, its type, or a record."""
        (state,) = self.take(1)
        target = self.stack[-1]
        if type(state) is dict:
            state = (state, None)
        if type(target) not in BUILT or type(state) is not tuple:
            raise ValueError("a state of what has none")
        BUILT[type(target)](target, state)


def _kind(code, *_) -> Kind:
    if type(code) is not str or not KINDS.fullmatch(code):
        raise ValueError("an array of other than numbers and strings")
    return Kind(code)


def _array(what, *_) -> Array:
    if what != Name("numpy.ndarray"):
        raise ValueError("an array of another class")
    return Array()


def _buffer(content, kind, shape, order, *_) -> Array:
    return Array(_values(kind, shape, order, content))


def _scalar(kind, content):
    return _values(kind, (1,), "C", content)[0].item()


def _bytes(text, encoding) -> bytes:
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise ValueError("bytes of another encoding")
    return text.encode("latin-1")


def _values(kind, shape, order, content) -> np.ndarray:
    """An array from its bytes; ValueError where they are fewer or more than its shape says."""
    if not isinstance(kind, Kind) or type(shape) is not tuple or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("an array without type or shape")
    if type(content) not in (bytes, bytearray) or len(content) != math.prod(shape) * kind.dtype().itemsize:
        raise ValueError("an array longer or shorter than its shape")
    return np.frombuffer(content, dtype=kind.dtype()).reshape(shape, order="F" if order == "F" else "C")


def _fill_array(array: Array, state: tuple) -> None:
    """The state of an array: version, shape, type, whether its columns come first, its bytes."""
    _, shape, kind, columns_first, content = state
    array.values = _values(kind, shape, "F" if columns_first is True else "C", content)


def _fill_kind(kind: Kind, state: tuple) -> None:
    """The state of a type: version, byte order, and what follows from its code."""
    if state[1] not in ("|", "<", ">", "="):
        raise ValueError("an unknown byte order")
    kind.order = state[1]


def _fill_record(record: Record, state: tuple) -> None:
    """The attributes of an object: those of its dictionary, then those of its slots."""
    for part in state:
        record.attributes.update(part or {})


PARTS = {"array": _array, "buffer": _buffer, "scalar": _scalar, "dtype": _kind, "bytes": _bytes}
BUILT = {Array: _fill_array, Kind: _fill_kind, Record: _fill_record}
