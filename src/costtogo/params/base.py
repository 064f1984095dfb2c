"""What all parameters share: strict classes, kinds that have only what they look at, bounds, names, seeds."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args

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
from pydantic.fields import FieldInfo

from costtogo.params.reading import shown

SEED = "_seed"  # parts a variant from the number of its seed in the name of a training


def named(words: str, pattern: str) -> AfterValidator:
    """A check that a text is a name, which becomes that of a file."""

    def check(name: str) -> str:
        if not re.fullmatch(pattern, name):
            raise ValueError(f"{shown(name)} needs a name of {words}")
        return name

    return AfterValidator(check)


MOST_NAMES = 25  # in one sentence
TAGS = ("kind", "trainer", "optimizer")  # keys whose values name the kind of a parameter
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
FileName = Annotated[  # in a folder of the folder of external instances, or in that itself
    str,
    named(
        "up to 100 letters, digits, _ - and ., and of a folder before it",
        r"([A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}",
    ),
]


class UnknownKey(ValueError):
    """A key that a table of parameters does not have; the sentence ends with the nearest key."""

    def __init__(self, key: str, known: Iterable[str]):
        super().__init__(f"there is no key '{key}'{hint(key, known)}")
        self.key = key


class Params(BaseModel):
    """Frozen, and no key it does not know; numbers are finite and no texts, true and false are no numbers.

    written: further keys that a file may have, which are resolved before the check.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    written: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _keys_are_known(cls, values: Any) -> Any:
        """Values as they are; UnknownKey where one is not."""
        for key in values if isinstance(values, dict) else ():
            if key not in cls.model_fields:
                raise UnknownKey(key, [name for name in (*cls.model_fields, *cls.written) if name != "unused"])
        return values

    def problems(self) -> Iterator[str]:
        """What makes no sense together; only the first problem is shown, and the next may rely on its absence."""
        yield from ()

    @model_validator(mode="after")
    def _make_sense_together(self):
        if problem := next(self.problems(), None):
            raise ValueError(problem)
        return self


MISSING = ...  # in a record: a parameter that no kind has a default for
LATER = object()
Kept = TypeVar("Kept")
Later = Annotated[Kept, LATER]  # the type of a parameter that was added after results were kept


class Kind(Params):
    """One of several kinds: it has the parameters that it looks at, and no others.

    It is written as one flat record with the parameters of all kinds, as checkpoints and recipes hold it, and a record
    is read again as it was. What a record has of each parameter follows from these rules, the last that applies:

    default: that of this kind, else of the first kind that has one, else `absent`.
    unused: what a recipe that this training is like says of a parameter that only other kinds look at.
    fixed: what this kind fixes of such a parameter, whatever a recipe says.
    own: the value of a parameter that this kind looks at.
    later: a parameter whose type is Later is left out where it has its default.
    """

    absent: ClassVar[dict[str, Any]] = {}
    fixed: ClassVar[dict[str, Any]] = {}
    unused: dict[str, Any] = Field(default={}, repr=False)

    @classmethod
    @cache
    def kinds(cls) -> list[type["Kind"]]:
        """All kinds that this is one of, in the order of their definition."""
        return _leaves(next(parent for parent in cls.__mro__ if Kind in parent.__bases__))

    @classmethod
    def of(cls, values: dict[str, Any]) -> type["Kind"] | None:
        """The kind that a table of values names, None where it names none."""
        for kind in cls.kinds():
            tags = {tag: kind.model_fields[tag] for tag in TAGS if tag in kind.model_fields}
            if all(values.get(tag, field.default) in get_args(field.annotation) for tag, field in tags.items()):
                return kind
        return None

    @classmethod
    @cache
    def fields_of_all(cls) -> dict[str, list[FieldInfo]]:
        """The parameters of all kinds by name, as this kind has each first, then as the others have it."""
        found: dict[str, list[FieldInfo]] = {}
        for kind in [cls, *cls.kinds()]:
            for name, field in kind.model_fields.items():
                if name != "unused":
                    found.setdefault(name, []).append(field)
        return found

    @classmethod
    @cache
    def defaults(cls) -> dict[str, Any]:
        """What a record of this kind has of each parameter where nothing is set."""
        found = {}
        for name, fields in cls.fields_of_all().items():
            known = (field.get_default(call_default_factory=True) for field in fields if not field.is_required())
            found[name] = next(known, MISSING)
        return found | cls.absent | cls.fixed

    @classmethod
    @cache
    def idle(cls) -> list[str]:
        """The parameters that only other kinds look at."""
        return [name for name in cls.fields_of_all() if name not in cls.model_fields]

    @classmethod
    @cache
    def later(cls) -> list[str]:
        """The parameters that were added after results were kept."""
        return [name for name, fields in cls.fields_of_all().items() if any(LATER in each.metadata for each in fields)]

    @model_validator(mode="before")
    @classmethod
    def _set_apart(cls, values: Any) -> Any:
        """Move what only other kinds look at into `unused`, as far as a record says something else without it."""
        if not isinstance(values, dict):
            return values
        idle, apart = {name: values[name] for name in values if name in cls.idle()}, dict(values.get("unused", {}))
        for name, value in idle.items():
            if name not in cls.fixed and not _same(value, cls.defaults()[name]):
                checked = _checked(cls, name, value)
                apart |= {} if _same(checked, cls.defaults()[name]) else {name: checked}
        own = {name: value for name, value in values.items() if name not in idle}
        return own | ({"unused": apart} if apart else {})

    @model_serializer(mode="wrap")
    def _record(self, write) -> dict[str, Any]:
        """The record by the rules above."""
        own, defaults = write(self), self.defaults()
        own.pop("unused", None)
        whole = defaults | self.unused | own
        left_out = [name for name in self.later() if name in whole and whole[name] == defaults[name]]
        return {name: value for name, value in whole.items() if value is not MISSING and name not in left_out}


def _same(value: Any, other: Any) -> bool:
    """True for equal values of one type: in a record, 0 and 0.0 differ."""
    return (type(value), value) == (type(other), other)


def _leaves(kind: type[Kind]) -> list[type[Kind]]:
    """The classes below one that have none below them; itself where it has none."""
    return [leaf for below in kind.__subclasses__() for leaf in _leaves(below)] or [kind]


def _checked(kind: type[Kind], name: str, value: Any) -> Any:
    """The value of a parameter of another kind as that kind has it; ValueError where it makes no sense there either."""
    field = next(other.model_fields[name] for other in kind.kinds() if name in other.model_fields)
    try:
        return TypeAdapter(Annotated[field.annotation, field], config=Params.model_config).validate_python(value)
    except ValidationError as error:
        raise ValueError(f"{name}: {error.errors()[0]['msg'].replace('Input should', 'it should')}") from error


def union_of(kinds: Iterable[type[Kind]], key: str, *keys: str) -> Any:
    """The type of a parameter that is one of some kinds, by the value of a key, and of the next where that is alike.

    Each kind has its own value of the key as its annotation; a default there applies where the key is left out.
    """
    alike: dict[str, list[type[Kind]]] = {}
    for kind in kinds:
        alike.setdefault(get_args(kind.model_fields[key].annotation)[0], []).append(kind)
    fields = [kind.model_fields[key] for kind in kinds]
    default = next((field.default for field in fields if not field.is_required()), None)

    def tag(values: Any) -> str | None:
        found = values.get(key, default) if isinstance(values, dict) else getattr(values, key, default)
        return None if found is None else str(found)

    tag.__name__ = key  # which pydantic's messages name
    members = {name: few[0] if len(few) == 1 else union_of(few, *keys) for name, few in alike.items()}
    return Annotated[reduce(or_, [Annotated[kind, Tag(name)] for name, kind in members.items()]), Discriminator(tag)]


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


class TrainingName(NamedTuple):
    """The name of a training: its variant, and the number of its seed, 0 if the variant has one training alone.

    As text: "walk", or "walk_seed2" of the second seed.
    """

    variant: str
    seed: int = 0

    @classmethod
    def of(cls, text: str) -> "TrainingName":
        """The name that a text is; also of a stage, such as "searches/walk_seed2"."""
        name, found, number = text.rpartition(SEED)
        return cls(name, int(number)) if found and number.isdecimal() and int(number) else cls(text)

    def __str__(self) -> str:
        return f"{self.variant}{SEED}{self.seed}" if self.seed else self.variant
