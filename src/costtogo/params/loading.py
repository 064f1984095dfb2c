"""Reading a study: what a file says, laid over what it is like; recipes written out; one sentence for a wrong key.

A table may say `like`, the name of another that it is laid over, and `only`, the keys that it takes from there. A
study may be like another with other puzzles in place of its own: `instead`, a table of their names.
"""

import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from costtogo.params.base import Kind, TrainingName, UnknownKey, derive_seed, hint
from costtogo.params.reading import read_yaml, refuse_unbounded, shown
from costtogo.params.study import Study
from costtogo.params.training import ArchitectureParams, ModelParams, SamplerParams
from costtogo.puzzles import make
from costtogo.puzzles.base import is_listed
from costtogo.types import UserError

BASE = "params.yaml"
DEFAULT = "default"  # the study of params.yaml
# The studies that puzzles of files are searched as, those that can be listed and others, unless they have their own.
OWN_LISTED, OWN_LARGE = "pyraminx", "pancake_20"
TABLES = ("recipes", "architectures", "puzzles", "models")  # the keys that hold a table of tables
GENERATIONS = 20  # of tables that are like one another
MOST_SEEDS = 1_000
NO_TABLE = ("model_type", "model_attributes_type", "dict_type")  # findings of pydantic
KINDS = {"architecture": ArchitectureParams, "sampler": SamplerParams}  # the tables within a training that have kinds


def load(paths: Iterable[Path | str], changes: dict[str, Any] | None = None) -> Study:
    """Read a study: later files over earlier ones, but a file that is like another is read without those before it.

    changes: values laid over it all.  Raises UserError, which names file, key and nearest name.
    """
    merged: dict[str, Any] = {}
    for path in map(Path, paths):
        values = read_yaml(path)
        merged = _whole(path) if "like" in values else laid(merged, values)
    return parse(laid(merged, changes or {}), path.stem)


def load_own(puzzle: str, folder: Path, changes: dict[str, Any] | None = None) -> Study:
    """The study of a puzzle that a file describes and that has no study of its own in a folder: as that of another."""
    other = OWN_LISTED if is_listed(make(puzzle)) else OWN_LARGE
    whole = _instead(_whole(folder / f"{other}.yaml"), {other: puzzle}, f"{puzzle}.json")
    return parse(laid(laid(whole, {"study": puzzle}), changes or {}), puzzle)


def parse(values: dict[str, Any], file: str = "") -> Study:
    """Check a table of parameters that is like no other and resolve what models, recipes and puzzles are like.

    file: the name of the file that it comes from, without suffix, whose study may have that name.
    """
    refuse_unbounded(values)
    resolved = resolve(deepcopy(values))
    try:
        study = Study.model_validate(resolved)
    except ValidationError as error:
        raise UserError(explain(error, resolved)) from error
    study.refuse_unlisted()
    if study.study != file:
        _refuse_taken_name(values)
    return study


def _whole(path: Path, younger: tuple[Path, ...] = ()) -> dict[str, Any]:
    """What a file says, laid over the file that its key `like` names; younger: those that are like it."""
    values = read_yaml(path)
    other, instead = values.pop("like", None), values.pop("instead", {})
    if other is None:
        if instead:
            raise UserError(f"Parameter instead: in {path.name}: it is for a study that is like another.")
        return values
    beside = {each.stem: each for each in path.parent.glob("*.yaml") if each.stem not in (DEFAULT, "groups")}
    beside[DEFAULT] = path.parent.parent / BASE
    known = {name: beside[name] for name in sorted(beside) if beside[name] not in (path, *younger)}
    if not isinstance(other, str) or other not in known:
        raise UserError(f"Parameter like: in {path.name}: there is no study {shown(other)}{hint(other, known)}")
    return laid(_instead(_whole(known[other], (*younger, path)), instead, path.name), values)


def _instead(values: dict[str, Any], puzzles: Any, file: str) -> dict[str, Any]:
    """The same with other puzzles in place of some, by their names, wherever it names them; file: that asks for it."""
    there = _tables(values, "puzzles")
    if not isinstance(puzzles, dict) or not all(isinstance(name, str) for name in puzzles.values()):
        raise UserError(f"Parameter instead: in {file}: it must be a table of names of puzzles, not {shown(puzzles)}.")
    if unknown := [name for name in puzzles if name not in there]:
        raise UserError(
            f"Parameter instead: in {file}: there is no puzzle {shown(unknown[0])}{hint(unknown[0], there)}"
        )
    if twice := [name for name in puzzles.values() if name in there or list(puzzles.values()).count(name) > 1]:
        raise UserError(f"Parameter instead: in {file}: {shown(twice[0])} would be there twice; leave it out.")
    exchanged = dict(values)
    exchanged["tables"] = [puzzles.get(name, name) for name in values.get("tables", [])]
    exchanged["puzzles"] = {puzzles.get(name, name): _renamed(each, "like", puzzles) for name, each in there.items()}
    models = _tables(values, "models")
    exchanged["models"] = {name: _renamed(each, "puzzle", puzzles) for name, each in models.items()}
    return exchanged


def _renamed(table: dict[str, Any], key: str, names: dict[str, str]) -> dict[str, Any]:
    """A table with another name under a key, where it has one."""
    return table | {key: names.get(table[key], table[key])} if key in table else table


def _refuse_taken_name(values: dict[str, Any]) -> None:
    """UserError where a study would write into the folder of another, that of a file of config/.

    Values that come from the file itself have the puzzles and the models that it names.
    """
    path = Path("config") / f"{values['study']}.yaml"
    other = _whole(path) if path.is_file() and values["study"] != DEFAULT else {}
    if other.get("study") != values["study"]:
        return
    if any(set(values.get(key) or ()) != set(other.get(key) or ()) for key in ("puzzles", "models")):
        raise UserError(f"Parameter study: '{values['study']}' is another study, that of {path}; choose another name.")


def refuse_other_name(study: str, path: Path) -> None:
    """UserError where a file of config/ has the name of another: a study goes by the name of its file."""
    if study != path.stem:
        raise UserError(f"Parameter study: '{study}' must be '{path.stem}', the name of its file.")


def overlay(base: dict[str, Any], over: dict[str, Any], place: str = "") -> dict[str, Any]:
    """The base with the other laid over it: tables merge, all else replaces; `only` names what is kept of the base."""
    merged, rest = dict(base), dict(over)
    if (names := rest.pop("only", None)) is not None:
        where = f"{place}.only".removeprefix(".")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UserError(f"Parameter {where} must be a list of names, not {shown(names)}.")
        if unknown := [name for name in names if name not in base]:
            raise UserError(f"Parameter {where}: there is no {shown(unknown[0])} to keep{hint(unknown[0], base)}")
        merged = {name: base[name] for name in base if name in names}
    for key, value in rest.items():
        below = merged.get(key)
        mergeable = isinstance(value, dict) and isinstance(below, dict)
        merged[key] = overlay(below, value, f"{place}.{key}".removeprefix(".")) if mergeable else value
    return merged


def laid(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """A file laid over another; a puzzle or recipe may be like one that `only` leaves out.

    Another study does not take over which kept studies the report of the base shows.
    """
    base, over = dict(base), dict(over)
    if over.get("study", base.get("study")) != base.get("study"):
        base.pop("beside", None)
    for key in ("puzzles", "recipes"):
        mine, theirs = over.get(key), base.get(key)
        if not (isinstance(mine, dict) and isinstance(theirs, dict) and isinstance(mine.get("only"), list)):
            continue
        gone = [name for name in theirs if name not in mine["only"] and name not in mine]
        base[key] = {name: _freed(entry, theirs, gone, f"{key}.{name}") for name, entry in theirs.items()}
        over[key] = {name: _freed(entry, theirs, gone, f"{key}.{name}") for name, entry in mine.items()}
    return overlay(base, over)


def _freed(entry: Any, table: dict[str, Any], gone: list[str], place: str) -> Any:
    """An entry laid over the one of a table that it is like, where that one is gone."""
    if not isinstance(entry, dict) or entry.get("like") not in gone:
        return entry
    own = {key: value for key, value in entry.items() if key != "like"}
    return overlay(_like(table, entry["like"], place), own, place)


def resolve(values: dict[str, Any]) -> dict[str, Any]:
    """Write puzzles and models out in full: what they are like, their architecture by value, a seed of their own."""
    _refuse_unknown("", values, [*Study.model_fields, "recipes", "like"])
    if "like" in values:
        raise UserError("Parameter like: it is for a file of config/, which is read from there.")
    recipes, architectures, puzzles, models = (_tables(values, key) for key in TABLES)
    for name, recipe in recipes.items():
        _refuse_unknown(f"recipes.{name}", recipe, [*ModelParams.fields_of_all(), "like", "only"])
    for name, architecture in architectures.items():
        _refuse_unknown(f"architectures.{name}", architecture, [*ArchitectureParams.fields_of_all()])
        _refuse_unused(f"architectures.{name}", ArchitectureParams, architecture, architecture)
    laid_over = partial(_training, architectures=architectures)
    recipes = {name: _like(recipes, name, "recipes", laid_over) for name in recipes}
    values = {key: value for key, value in values.items() if key not in TABLES}
    values["puzzles"] = {name: _audited(_like(puzzles, name, "puzzles"), f"puzzles.{name}") for name in puzzles}
    values |= {"architectures": architectures, "models": {}}
    for name, model in _repeated(models).items():
        place, recipe = f"models.{name}", model.pop("recipe", None)
        base = {} if recipe is None else _named(recipes, recipe, f"{place}.recipe")
        model = laid_over(base, model, place)
        # one seed a puzzle: models that differ in one thing begin from the same weights
        repetition = [str(number)] if (number := model.pop("repetition", 1)) > 1 else []
        model.setdefault("seed", derive_seed(values.get("seed", 0), "train", str(model.get("puzzle")), *repetition))
        values["models"][name] = model
    return values


def _audited(puzzle: dict[str, Any], place: str) -> dict[str, Any]:
    """A puzzle with the kind of its audit, which follows from the states that are listed; no file gives it."""
    exact, audit = puzzle.get("exact"), puzzle.get("audit")
    if exact is None and audit is None:
        return puzzle
    if exact != "all" and not isinstance(exact, dict):
        raise UserError(
            f"Parameter {place}.exact must say which states are listed: all, {{around: moves}} or {{levels: 100}}."
        )
    if audit is None:
        return puzzle if exact == "all" else puzzle | {"audit": {"kind": "samples"}}
    if "kind" in _table(audit, f"{place}.audit"):
        raise UserError(f"Parameter {place}.audit.kind: it follows from exact; leave it out.")
    return puzzle | {"audit": {"kind": "every_state" if exact == "all" else "samples", **audit}}


def _training(base: dict[str, Any], over: dict[str, Any], place: str, architectures: dict) -> dict[str, Any]:
    """A recipe or a model laid over what it is like, the architecture by value; it gives what its kind looks at."""
    base, over = dict(base), dict(over)
    if isinstance(over.get("architecture"), str):
        over["architecture"] = _named(architectures, over["architecture"], f"{place}.architecture")
        base.pop("architecture", None)
    merged = overlay(base, over, place)
    _refuse_unused(place, ModelParams, over, merged)
    for key, kinds in KINDS.items():
        _refuse_unused(f"{place}.{key}", kinds, over.get(key), merged.get(key))
    return merged


def _refuse_unused(place: str, kinds: type[Kind], given: Any, whole: Any) -> None:
    """UserError where a parameter is given that the kind does not look at; whole: with all that it is laid over."""
    if not isinstance(given, dict) or (kind := kinds.of(whole)) is None:
        return
    if key := next((key for key in given if key in kind.idle()), None):
        raise UserError(f"Parameter {place}.{key}: {_name_of(kinds, whole)} does not look at it; leave it out.")


def _name_of(kinds: type[Kind], values: dict[str, Any]) -> str:
    """A kind in words.  -> "the kind uniform", "the trainer davi with lbfgs"."""
    if kinds is not ModelParams:
        return f"the kind {values.get('kind', 'residual')}"
    optimizer = values.get("optimizer", "adam")
    return f"the trainer {values.get('trainer', 'davi')}" + (f" with {optimizer}" if optimizer != "adam" else "")


def _repeated(models: dict[str, Any]) -> dict[str, Any]:
    """A model with the key seeds, n, makes n trainings, name_seed1 to name_seedn; the first has the usual seed."""
    repeated = {}
    for name, model in models.items():
        seeds = model.pop("seeds", None)
        if seeds is None:
            repeated[name] = model
            continue
        if type(seeds) is not int or not 1 <= seeds <= MOST_SEEDS or "seed" in model:
            raise UserError(
                f"Parameter models.{name}.seeds must be how many seeds, 1 to {MOST_SEEDS:,}, beside no key seed."
            )
        repetitions = {str(TrainingName(name, k)): deepcopy(model) | {"repetition": k} for k in range(1, seeds + 1)}
        if twice := next((other for other in repetitions if other in models), None):
            raise UserError(f"Parameter models.{twice}: {name} with its seeds has a training of this name; rename one.")
        repeated |= repetitions
    return repeated


def _refuse_unknown(place: str, table: dict[str, Any], known: list[str]) -> None:
    for key in table:
        if key not in known:
            where = f"{place}.{key}".removeprefix(".")
            raise UserError(f"Parameter {where}: {UnknownKey(key, known)}")


def _tables(values: dict[str, Any], key: str) -> dict[str, Any]:
    """The value of a key as a table of tables."""
    return {name: _table(entry, f"{key}.{name}") for name, entry in _table(values.get(key, {}), key).items()}


def _table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"Parameter {place} must be a table of keys and values, not {shown(value)}.")
    return value


def _like(table: dict[str, Any], name: str, place: str, lay: Callable = overlay, ages: tuple[str, ...] = ()) -> Any:
    """The entry of a name, laid over the entry that its key `like` names, and so on.

    ages: the names that led to this one, in order; it may be like none of them.
    """
    asked_by = f"{place}.{ages[-1]}.like" if ages else place
    entry = _named({other: each for other, each in table.items() if other not in ages}, name, asked_by)
    if (other := entry.pop("like", None)) is None:
        return lay({}, entry, f"{place}.{name}")
    if len(ages) + 1 >= GENERATIONS:
        raise UserError(f"Parameter {place}.{name}.like: it goes on for more than {GENERATIONS} generations.")
    return lay(_like(table, other, place, lay, (*ages, name)), entry, f"{place}.{name}")


def _named(table: dict[str, Any], name: str, place: str) -> dict[str, Any]:
    if not isinstance(name, str) or name not in table:
        raise UserError(f"Parameter {place}: there is no {shown(name)}{hint(name, table)}")
    return deepcopy(_table(table[name], f"{place}.{name}"))


def explain(error: ValidationError, values: dict[str, Any]) -> str:
    """The first finding of the check of values as one sentence."""
    # A misspelt key is missing too; of the kinds of a union, the one that fits farthest is meant.
    finding = min(error.errors(), key=lambda found: (_unknown(found) is None, -len(found["loc"])))
    place = ".".join(map(str, _keys_on_the_way(finding["loc"], values)))
    if unknown := _unknown(finding):
        return f"Parameter {f'{place}.{unknown.key}'.removeprefix('.')}: {unknown}"
    given, context = finding["input"], finding.get("ctx", {})
    tag = re.sub(r"\W", "", context.get("discriminator", ""))  # of a union, such as kind
    if finding["type"] in NO_TABLE or (tag and not isinstance(given, dict)):
        return f"Parameter {place} must be a table of keys and values, not {shown(given)}."
    if finding["type"] == "missing" or (tag and tag not in given):
        place = f"{place}.{tag or finding['loc'][-1]}".removeprefix(".")
        return f"Parameter {place} is missing; add it, or take it from the default params.yaml."
    if tag:
        known = re.findall("'(.*?)'", context.get("expected_tags", ""))
        return f"Parameter {place}.{tag}: there is no {tag} {shown(given[tag])}{hint(given[tag], known)}"
    message = re.sub("^Value error, |( after validation, not .*)", "", finding["msg"].removesuffix("."))
    message = re.sub("^(Input|List|Tuple) should", "it should", message).replace("valid tuple", "valid list")
    is_told = finding["type"] == "value_error" or isinstance(given, dict)
    value = "" if is_told else f" (given: {shown(given)})"
    where = f"{place}: " if place else ""  # a message about several places names them itself
    told = " ".join(f"Parameter {where}{message}{value}{_advice(finding)}".splitlines())
    return told if told.endswith("?") else f"{told}."


def _unknown(finding: Any) -> UnknownKey | None:
    """The error of a finding of pydantic if it is about an unknown key."""
    cause = finding.get("ctx", {}).get("error")
    return cause if isinstance(cause, UnknownKey) else None


def _keys_on_the_way(location: tuple, values: Any) -> tuple:
    """A location of pydantic reduced to keys: without kinds of unions and marks of keys themselves."""
    keys = []
    for part in location:
        known = values if isinstance(values, dict) else range(len(values)) if isinstance(values, list) else ()
        if part in known:
            keys.append(part)
            values = values[part]
    return tuple(keys)


def _advice(finding: Any) -> str:
    """What a number of YAML lacks that is text without a point, as 1e-3 is."""
    text = finding["input"]
    if finding["type"] == "float_type" and isinstance(text, str) and re.fullmatch(r"[+-]?\d+[eE][+-]?\d+", text):
        return f"; to YAML this is text: write {re.sub('[eE]', '.0e', text)}"
    return ""
