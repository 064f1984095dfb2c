"""Parameter files with seeded edits, for `costtogo check` and, if it accepts them, the graph of stages."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from costtogo.params.reading import read_yaml
from costtogo.types import UserError
from costtogo.workflow.graph import Graph
from torture.calls import alarmed, call, is_sentence, within
from torture.trials import Damage, Kind, Trial

PROJECT = Path(__file__).parents[1]
HUGE = (10**30, 2**63, -(2**70), 10**400, 1e300)
NESTED = 60  # levels
ODD = (b"\x00", b"\xff\xfe", b"\t", b"- ", b": ", b"{", b'"', b"*a", b"&a ", b"!!python/object:os.x ")  # to insert
TEXTS = ("", " ", "many", "λ", "../..", "a" * 5000, "%s {0} {{", "-1", "1e-3", "yes", "\u202e", "x\ny", "null", "🧩")


class Place(NamedTuple):
    """A value in its table or list."""

    inside: dict | list
    key: Any

    @property
    def value(self) -> Any:
        """The value at the place."""
        return self.inside[self.key]


class Edit(NamedTuple):
    """A change of a value.

    suits: True for values it can change.  change: from an old value to the new one.  wrong: True if no parameter can
    have it.
    """

    name: str
    suits: Callable[[Any], bool]
    change: Callable[[random.Random, Any], Any]
    wrong: bool


def is_number(value: Any) -> bool:
    """True for numbers, but not for True and False."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def nested(levels: int) -> list:
    """A list in a list, `levels` deep."""
    return [nested(levels - 1)] if levels else []


def anything(value: Any) -> bool:
    """True."""
    return True


EDITS = (
    Edit("an unknown key", lambda v: isinstance(v, dict), lambda g, v: v | {f"zz_{g.randrange(10**6)}": 3}, True),
    Edit("text in place of a number", is_number, lambda g, v: g.choice(TEXTS), True),
    Edit("a negative number", is_number, lambda g, v: -abs(v) - 1, True),
    Edit("no number", is_number, lambda g, v: g.choice([float("nan"), float("inf"), float("-inf")]), True),
    Edit("a huge number", is_number, lambda g, v: g.choice(HUGE), True),
    Edit("no value", anything, lambda g, v: None, True),
    Edit("a table in place of a number", is_number, lambda g, v: {"a": v}, True),
    Edit("deep nesting", anything, lambda g, v: nested(NESTED), True),
    Edit("a list in place of a value", anything, lambda g, v: g.choice([[v], [], [v, v]]), False),
    Edit("zero", is_number, lambda g, v: g.choice([0, 0.0, -0.0]), False),
    Edit("a fraction", is_number, lambda g, v: v + 0.5, False),
    Edit("a truth value", anything, lambda g, v: g.choice([True, False]), False),
    Edit("another text", lambda v: isinstance(v, str), lambda g, v: g.choice(TEXTS), False),
    Edit("a large number", is_number, lambda g, v: g.choice([10**9, 2**31, 2**53, 2**63 - 1]), False),
)


def places(values: dict | list) -> Iterator[Place]:
    """Every value, each table before its values."""
    for key in list(values) if isinstance(values, dict) else range(len(values)):
        yield Place(values, key)
        if isinstance(values[key], dict | list):
            yield from places(values[key])


def edit(generator: random.Random, values: dict) -> tuple[str, bool]:
    """Change one value in place; returns the change, and True if no check may accept it."""
    if generator.random() < 0.15:
        place = generator.choice(list(places(values)))
        what = f"{place.key} left out"
        del place.inside[place.key]
        return what, False
    chosen = generator.choice(EDITS)
    suiting = [place for place in places(values) if chosen.suits(place.value)]
    if not suiting:
        values["zz"] = 3
        return "an unknown key at the top", True
    place = generator.choice(suiting)
    before, place.inside[place.key] = place.value, chosen.change(generator, place.value)
    return f"{chosen.name} at {place.key} (was {str(before)[:60]!r})", chosen.wrong and before != place.value


def spoilt(generator: random.Random, content: bytes) -> tuple[str, bytes]:
    """The content of a file, cut off, with flipped bits, inserted bytes or a repeated part; always different."""
    start = generator.randrange(len(content))
    end = min(len(content), start + generator.choice([1, 10, 1000]))
    odd = generator.choice(ODD)
    turned = bytes([content[start] ^ (1 << generator.randrange(8))])
    return generator.choice(
        [
            (f"cut off after {start} bytes", content[:start]),
            (f"byte {start} turned", content[:start] + turned + content[start + 1 :]),
            (f"{odd!r} put in at {start}", content[:start] + odd + content[start:]),
            (f"bytes {start} to {end} twice", content[:end] + content[start:]),
        ]
    )


@contextmanager
def ready(work: Path) -> Iterator[Trial]:
    """The parameters of all studies in a folder; each trial damages one file."""
    shutil.copytree(PROJECT / "config", work / "config")
    shutil.copy(PROJECT / "params.yaml", work)
    shutil.copytree(PROJECT / "data" / "puzzles", work / "data" / "puzzles")
    files = [work / "params.yaml", *sorted(path for path in (work / "config").glob("*.yaml") if is_study(path))]

    def trial(generator: random.Random, number: int) -> None:
        path = generator.choice([files[0], *files])
        whole = path.read_bytes()
        if generator.random() < 0.2:
            done, content = spoilt(generator, whole)
            wrong = False
        else:
            values = read_yaml(path)
            done, wrong = edit(generator, values)
            content = yaml.safe_dump(values, sort_keys=False, allow_unicode=True).encode()
        path.write_bytes(content)
        try:
            accepted = check(path.relative_to(work))
            if accepted and wrong:
                raise Damage(f"{path.name}: {done}: accepted")
        except Damage as damage:
            raise Damage(f"{path.name}: {done}: {damage}") from damage
        finally:
            path.write_bytes(whole)

    with within(work):
        yield trial


def is_study(path: Path) -> bool:
    """True for a file of config/ that is a study."""
    return path.stem != "groups"


def check(path: Path) -> bool:
    """True if `costtogo check` accepts a file; then it must give a graph of stages or a refusal."""
    if call("check", str(path)).code != 0:
        return False
    try:
        with alarmed():
            Graph([path], Path("config"), words=[])
    except UserError as error:
        if not is_sentence(str(error)):
            raise Damage(f"the graph refuses it with {str(error)!r}") from error
        return False
    return True


KIND = Kind("parameters", "Parameter files with one edit or spoilt bytes, through `costtogo check`", 1000, ready)
