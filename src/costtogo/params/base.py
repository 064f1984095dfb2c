"""What all parameters share: strict classes, kinds that have only what they look at, bounds, names, seeds."""

import hashlib
import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)

from costtogo.params.reading import shown


def named(words: str, pattern: str) -> AfterValidator:
    """A check that a text is a name, which becomes that of a file."""

    def check(name: str) -> str:
        if not re.fullmatch(pattern, name):
            raise ValueError(f"{shown(name)} needs a name of {words}")
        return name

    return AfterValidator(check)


MOST_NAMES = 25  # in one sentence
# Every number has a bound: a generous one, by what it counts.
Positive = Annotated[int, Field(ge=1, le=10**9)]  # states, iterations, steps
Nodes = Annotated[int, Field(ge=1, le=10**12)]  # of one search
Moves = Annotated[int, Field(ge=1, le=10**6)]  # of a walk
Width = Annotated[int, Field(ge=1, le=10**5)]  # of a layer
Few = Annotated[int, Field(ge=1, le=1_000)]  # layers, threads, images
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Amount = Annotated[float, Field(gt=0, le=10**6)]  # seconds, moves², a small number to add
Rate = Annotated[float, Field(gt=0, le=3e38)]  # of learning, a float32: a training that diverges says so itself
Share = Annotated[float, Field(ge=0, le=1)]
StudyName = Annotated[str, named("up to 64 small letters, digits, _ and -", r"[a-z0-9][a-z0-9_-]{0,63}")]
SetName = Annotated[str, named("up to 64 letters, digits, _ and -", r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")]
ModelName = Annotated[
    str, named("up to 90 letters, digits, _ and -, not baseline_…", r"(?!baseline_)[A-Za-z0-9_][A-Za-z0-9_-]{0,89}")
]
FileName = Annotated[str, named("up to 100 letters, digits, _ - and .", r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")]


class Params(BaseModel):
    """Frozen, and no key it does not know; numbers are finite and no texts, true and false are no numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Kind(Params):
    """One of several kinds: it has the parameters that it looks at, and no others.

    It is written out as one flat record, alike for all kinds, which checkpoints hold; a record is read again as it was.
    unused: what stood there for other kinds, as a recipe has it that a training is like.
    absent: what a record has of a parameter that no kind gives a default; later: keys that came after results stood,
    in a record only where they are set; fixed: what a record has in place of a value that stood there unused.
    """

    absent: ClassVar[dict[str, Any]] = {}
    later: ClassVar[tuple[str, ...]] = ()
    fixed: ClassVar[dict[str, Any]] = {}
    unused: dict[str, Any] = Field(default={}, repr=False)

    @classmethod
    @cache
    def kinds(cls) -> list[type["Kind"]]:
        """All kinds that this is one of, in the order of their definition."""
        top = next(parent for parent in cls.__mro__ if Kind in parent.__bases__)
        found, waiting = [], [top]
        while waiting:
            one = waiting.pop(0)
            waiting += one.__subclasses__()
            found += [] if one.__subclasses__() else [one]
        return found

    @classmethod
    @cache
    def known(cls) -> dict[str, Any]:
        """The parameters of all kinds with their defaults, those of this kind before the others'."""
        found: dict[str, Any] = {}
        for kind in [cls, *cls.kinds()]:
            for name, field in kind.model_fields.items():
                if name != "unused" and (name not in found or found[name] is ...):
                    found[name] = ... if field.is_required() else field.get_default(call_default_factory=True)
        return {name: (cls.absent | cls.fixed).get(name, default) for name, default in found.items()}

    def value(self, name: str) -> Any:
        """A parameter of this kind, or what the record has of another kind's."""
        return getattr(self, name) if name in type(self).model_fields else self.unused.get(name, self.known()[name])

    @model_validator(mode="before")
    @classmethod
    def _set_apart(cls, values: Any) -> Any:
        """Take what other kinds look at out of the values, as far as it is not what a record has of it anyway."""
        if not isinstance(values, dict):
            return values
        known, rest = cls.known(), dict(values)
        apart = dict(rest.pop("unused", {}))
        for name in [name for name in rest if name in known and name not in cls.model_fields]:
            value, default = rest.pop(name), (type(known[name]), known[name])
            if (type(value), value) != default:
                value = cls.fixed[name] if name in cls.fixed else _checked(cls, name, value)
            if (type(value), value) != default:
                apart[name] = value
        return rest | ({"unused": apart} if apart else {})

    @model_serializer(mode="wrap")
    def _record(self, write) -> dict[str, Any]:
        own = write(self)
        own.pop("unused", None)
        known, later = self.known(), {name for kind in [type(self), *self.kinds()] for name in kind.later}
        whole = {**{name: default for name, default in known.items() if default is not ...}, **self.unused, **own}
        return {name: value for name, value in whole.items() if not (name in later and value == known[name])}


def _checked(kind: type[Kind], name: str, value: Any) -> Any:
    """The value of a parameter of another kind as that kind has it; ValueError where it makes no sense there either."""
    field = next(other.model_fields[name] for other in kind.kinds() if name in other.model_fields)
    try:
        return TypeAdapter(Annotated[field.annotation, field], config=Params.model_config).validate_python(value)
    except ValidationError as error:
        raise ValueError(f"{name}: {error.errors()[0]['msg'].replace('Input should', 'it should')}") from error


def union_of(tag, kinds: dict[str, Any]) -> Any:
    """The type of a parameter that is one of some kinds, or of unions of them; tag: by_key of the key that tells."""
    members = [Annotated[kind, Tag(name)] for name, kind in kinds.items()]
    union = members[0]
    for member in members[1:]:
        union = union | member
    return Annotated[union, Discriminator(tag)]


def by_key(key: str, default: str | None = None):
    """A tag by the value of a key, as of `kind`."""

    def tag(values: Any) -> str | None:
        found = values.get(key, default) if isinstance(values, dict) else getattr(values, key, default)
        return None if found is None else str(found)

    tag.__name__ = key  # which pydantic tells of
    return tag


def maker(union: Any):
    """A function that makes one of some kinds from keywords."""
    adapter = TypeAdapter(union)
    return lambda **values: adapter.validate_python(values)


def hint(name: Any, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not there: the nearest, or all where they are not too many."""
    known = list(known)
    if near := get_close_matches(str(name), known, n=1, cutoff=0.5):
        return f"; did you mean '{near[0]}'?"
    return f"; there are {', '.join(known) or 'none'}." if len(known) <= MOST_NAMES else "."


def derive_seed(seed: int, *names: str) -> int:
    """A seed for one purpose, below 2³²; adding another purpose leaves it as it is."""
    content = "/".join([str(seed), *names]).encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "little")


def variant_of(model: str) -> tuple[str, int]:
    """A model's name without its seed, and the number of the seed, 0 if it has none.  "walk_seed2" -> ("walk", 2)."""
    name, found, number = model.rpartition("_seed")
    return (name, int(number)) if found and number.isdecimal() else (model, 0)
