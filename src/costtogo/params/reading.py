"""A YAML file of parameters as plain values, which are checked before anything walks through them."""

import math
import stat
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from reprlib import Repr
from typing import Any

import yaml

from costtogo.types import UserError, excerpt

NESTING = 20  # tables and lists in one another; ours go 7 deep
LONGEST_NAME = 100  # letters of a key, which may become the name of a file
LONGEST_TEXT = 1_000  # letters
LONGEST_SHOWN = 200  # letters of a value in a sentence
LARGEST_NUMBER = 2**63 - 1
MOST_VALUES = 100_000  # an alias counts as often as it is used
LARGEST_FILE = 200_000  # bytes
FLAT = 1_000  # brackets and letters of the longest line of a text that cannot be nested so deep as to crash libyaml
ADVICE = "check indentation and colons there"

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def shown(value: Any) -> str:
    """A value as a sentence quotes it, cut short where it is long."""
    return excerpt(_SHORT.repr(value), LONGEST_SHOWN)


class _Refused(yaml.MarkedYAMLError):
    """YAML that can be read and makes no parameters; problem: the end of a sentence."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # the fast one, if any
    """YAML in which no key is twice in a table, and whose wrong values have a line."""

    def __init__(self, stream):
        super().__init__(stream)
        self.seen: set[int] = set()
        self.pairs = 0

    def flatten_mapping(self, node):
        """Merge what `<<` names into a table; before, its keys are as they were written."""
        if id(node) not in self.seen:
            self.seen.add(id(node))
            _refuse_doubled_keys(node)
        super().flatten_mapping(node)
        self.pairs += len(node.value)
        if self.pairs > MOST_VALUES:
            raise _Refused(problem=f"merges make more than {MOST_VALUES:,} values of it", problem_mark=node.start_mark)

    def construct_object(self, node, deep=False):
        """The value of a node, such as a number or a day; not every text that looks like one is one."""
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, ValueError) as error:
            problem = f"{shown(node.value)} cannot be read as a number or a day; put text in quotes"
            raise _Refused(problem=problem, problem_mark=node.start_mark) from error


def _refuse_doubled_keys(node: yaml.MappingNode) -> None:
    names: set[str] = set()
    for key in [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]:
        if key.value in names:
            raise _Refused(problem=f"the key {shown(key.value)} is there twice", problem_mark=key.start_mark)
        names.add(key.value)


def read_yaml(path: Path) -> dict[str, Any]:
    """The parameters of a file, plain values within bounds; UserError names the file and the line."""
    try:
        return deepcopy(_values_of(_text_of(path), path))
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not valid UTF-8 text.") from error


@lru_cache(maxsize=64)
def _values_of(text: str, path: Path) -> dict[str, Any]:
    """The values of a text; remembered, for the workflow reads a file several times at each start."""
    try:
        _refuse_deep(text)
        content = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" near line {mark.line + 1}" if mark else ""
        advice = error.problem if isinstance(error, _Refused) else ADVICE
        raise UserError(f"{path} is not valid YAML{line}; {advice}.") from error
    except RecursionError as error:
        raise UserError(f"{path} merges too many tables into one another; write them out flat.") from error
    if not isinstance(content, dict):
        raise UserError(f"{path} holds no parameters; it must be a table of keys and values.")
    refuse_unbounded(content)
    return content


def _text_of(path: Path) -> str:
    """The text of a regular file of moderate size; of one that says it is empty nothing is read, for it may block."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise UserError(f"{path} is no regular file; parameters are read from one.")
    if status.st_size > LARGEST_FILE:
        raise UserError(f"{path} has {status.st_size:,} bytes; a file of parameters has up to {LARGEST_FILE:,}.")
    return path.read_text(encoding="utf-8") if status.st_size else ""


def _refuse_deep(text: str) -> None:
    """Look at the nesting of a text first where it may be deep: libyaml calls itself for each level and would crash."""
    if text.count("[") + text.count("{") + max(map(len, text.splitlines()), default=0) <= FLAT:
        return
    depth = 0
    for event in yaml.parse(text, _Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > NESTING:
            raise _Refused(
                problem=f"tables and lists are more than {NESTING} deep there", problem_mark=event.start_mark
            )


def refuse_unbounded(values: Any) -> None:
    """UserError for values that are nested too deep or in themselves, too many, too long or too large; for odd keys.

    They may come from any reader. An alias is one value in several places: what walks through them meets it in each.
    """
    _measure(values, (), {})


def _measure(value: Any, place: tuple, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """How many values there are in one, itself among them, and how deep they are nested; known: by identity."""
    if not isinstance(value, dict | list):
        _refuse_scalar(value, place)
        return 1, 0
    if len(place) > NESTING:
        raise _deep(place)
    if id(value) not in known:
        if isinstance(value, dict):
            _refuse_keys(value, place)
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        measured = [_measure(part, (*place, key), known) for key, part in parts]
        known[id(value)] = 1 + sum(count for count, _ in measured), 1 + max((depth for _, depth in measured), default=0)
    count, depth = known[id(value)]
    if len(place) + depth > NESTING:
        raise _deep(place)
    if count > MOST_VALUES:
        raise UserError(f"{_parameter(place)} stands for more than {MOST_VALUES:,} values; write fewer aliases.")
    return count, depth


def _refuse_scalar(value: Any, place: tuple) -> None:
    if value is None:
        raise UserError(f"{_parameter(place)} has no value; give it one, or leave it out.")
    if not isinstance(value, str | int | float):
        raise UserError(f"{_parameter(place)}: {shown(value)} is no text, number, table or list; put text in quotes.")
    if isinstance(value, float) and not math.isfinite(value):  # also where no training uses it
        raise UserError(f"{_parameter(place)}: it should be a finite number (given: {value}).")
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise UserError(f"{_parameter(place)}: the number is too large; none here is above {LARGEST_NUMBER:,}.")
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        raise UserError(
            f"{_parameter(place)} is a text of {len(value):,} letters; none here has above {LONGEST_TEXT:,}."
        )


def _refuse_keys(table: dict, place: tuple) -> None:
    """Keys are text, and short enough for the names that they become."""
    for key in table:
        if not isinstance(key, str):
            raise UserError(f"{_parameter(place)}: the key {shown(key)} is no text; put it in quotes.")
        if len(key) > LONGEST_NAME or not key.isprintable():
            raise UserError(
                f"{_parameter(place)}: the key {shown(key)} must be up to {LONGEST_NAME} letters in one line."
            )


def _deep(place: tuple) -> UserError:
    return UserError(f"{_parameter(place[:3])} is nested more than {NESTING} deep, or in itself; write it out flat.")


def _parameter(place: tuple) -> str:
    return f"Parameter {'.'.join(map(str, place)) or 'file'}"
