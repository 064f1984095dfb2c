"""The puzzles by name: the only module that knows them all.

A name belongs to a puzzle of this package, to a JSON file of generators (puzzle_files), or to a puzzle of another
installed package. That package has an entry point of the group costtogo.puzzles, which is a Family.

A puzzle's module is imported when the puzzle is first used. So a stage depends only on the modules of its own puzzles,
and adding or changing one puzzle leaves the results of the others valid: see costtogo.sources.
"""

import re
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from costtogo.puzzles import puzzle_files
from costtogo.types import UserError, excerpt

if TYPE_CHECKING:
    from costtogo.puzzles.base import Puzzle


NUMBER = "([0-9]{1,3})"  # in a name
FILE = "file"  # the family of puzzles that files describe
GROUP = "costtogo.puzzles"  # of entry points


class Family(NamedTuple):
    """Puzzles of one kind. key: its name; example: a puzzle's name; form: how names are written, with <numbers>.

    title: a puzzle's name in reports; {} stand for its numbers and then 3, the pegs of a tower that names none.
    noun: the object that is solved, as reports call it.
    made: the module and the class or function in it that makes the puzzle from its numbers.
    bounds: make lower bounds of the distance that networks may be built on, by name, the best last.
    networks: kinds of network that only this family has, by name.
    database: makes a heuristic from the file of a pattern database, if the family has any.
    partition: the module that reads which patterns these have, by parse and entries.
    patterns: the module that builds them, by database_of, save and measures.
    local: solves the puzzle a few tiles at a time, where that is possible.
    levels: replaces the one goal where each state has its own: learning.sokoban.Levels.
    exact: makes the solver that proves its solutions shortest, see exact.solver.
    exact_by: how that solver finds them, as reports say it.
    pattern: a regular expression with the numbers as groups, where not every number makes a puzzle.
    notation: the module that reads what people type of the puzzle, by read_state and read_scramble.
    picture: draws a state, a function of axes, puzzle and state; costtogo.figures draws the puzzles of this package.
    """

    key: str
    example: str
    form: str
    title: str
    noun: str
    made: tuple[str, str]
    bounds: Mapping[str, tuple[str, str]] = MappingProxyType({})
    database: tuple[str, str] | None = None
    local: tuple[str, str] | None = None
    pattern: str | None = None
    networks: Mapping[str, tuple[str, str]] = MappingProxyType({})
    levels: tuple[str, str] | None = None
    exact: tuple[str, str] = ("costtogo.exact.meeting", "exact_search")
    picture: tuple[str, str] | None = None
    exact_by: str = "breadth-first search from both ends"
    notation: str = "costtogo.notation.named"
    partition: str | None = None
    patterns: str | None = None

    def numbers(self, name: str) -> list[int] | None:
        """The numbers in the name of a puzzle; None if the puzzle is not of this family."""
        pattern = self.pattern or re.sub("<[a-z]+>", NUMBER, self.form).replace(", ", "|")
        match = re.fullmatch(pattern, name)
        return [int(number) for number in match.groups() if number is not None] if match else None


FAMILIES = (
    Family("cube2", "cube2", "cube2", "2×2×2 cube", "cube", ("costtogo.puzzles.cube", "Cube2"),
           notation="costtogo.notation.cubes"),
    Family("cube3", "cube3", "cube3", "3×3×3 cube", "cube", ("costtogo.puzzles.cube3", "Cube3"),
           database=("costtogo.heuristics.piece_patterns", "read_database"),
           exact=("costtogo.search.cube_ida", "exact_search"), notation="costtogo.notation.cubes",
           partition="costtogo.exact.piece_patterns", patterns="costtogo.exact.piece_patterns"),
    Family("hanoi", "hanoi_7", "hanoi_<disks>, hanoi_<disks>_<pegs>", "Towers of Hanoi H({}, {})", "tower",
           ("costtogo.puzzles.hanoi", "Hanoi"), notation="costtogo.notation.towers"),
    Family("sliding", "puzzle15", "puzzle8, 15, 24, 35 and 48", "{}-puzzle", "board",
           ("costtogo.puzzles.sliding", "tiles"), {"manhattan": ("costtogo.heuristics.manhattan", "with_conflicts")},
           ("costtogo.heuristics.pattern_database", "read_database"),
           ("costtogo.learning.local_vi", "local_search"), r"puzzle(8|15|24|35|48)",
           exact=("costtogo.search.ida_star", "exact_search"), notation="costtogo.notation.tiles",
           networks={"tuples": ("costtogo.heuristics.tuples", "TupleNetwork")},
           partition="costtogo.exact.partition", patterns="costtogo.exact.pattern_database"),
    Family("lights_out", "lights_out_7", "lights_out_<side>", "Lights Out, {0} × {0}", "board",
           ("costtogo.puzzles.lights_out", "LightsOut"),
           exact=("costtogo.exact.lights_out", "exact_search"), exact_by="linear algebra",
           notation="costtogo.notation.lights"),
    Family("sokoban", "sokoban", "sokoban, sokoban_<side>, sokoban_<rows>_<columns>", "Sokoban", "level",
           ("costtogo.puzzles.sokoban", "sokoban"),
           {"dead_squares": ("costtogo.heuristics.matching", "DeadSquaresBound"),
            "matching": ("costtogo.heuristics.matching", "MatchingBound"),
            "pairs": ("costtogo.heuristics.pairs", "PairsBound")},
           levels=("costtogo.learning.sokoban", "Levels"), exact=("costtogo.search.exact_levels", "exact_search"),
           exact_by="breadth-first search from the solved states", notation="costtogo.notation.levels"),
)  # fmt: skip


def make(name: str) -> "Puzzle":
    """The puzzle of a name such as cube2, hanoi_7 (three pegs), hanoi_7_4 (four), puzzle15, lights_out_7 or sokoban."""
    family, arguments = find(name)
    return _made(family.made, *arguments)


@lru_cache(maxsize=256)
def _made(place: tuple[str, str], *arguments: Any) -> "Puzzle":
    """A puzzle made before, if its name and the content of its file are the same."""
    return made(place)(*arguments)


def named(text: str) -> str:
    """The name of a puzzle, given by name or by the path of its file; UserError if there is no such file."""
    path = Path(text)
    if path.suffix != ".json":
        return text
    if not path.is_file() or of_package(path.stem):
        why = f"{path.stem} is another puzzle; give yours another name" if path.is_file() else "there is no such file"
        raise UserError(f"--puzzle {excerpt(text)}: {why}.")
    return puzzle_files.let_be_found(path)


def family(name: str) -> str:
    """The key of a puzzle's family: "hanoi" for hanoi_7, "sliding" for puzzle15."""
    return find(name)[0].key


def title(name: str) -> str:
    """A puzzle's name for readers: "2×2×2 cube" for cube2, "Towers of Hanoi H(7, 3)" for hanoi_7, "15-puzzle"."""
    family, arguments = find(name)
    return family.title.format(*arguments, 3)


def noun(name: str) -> str:
    """The object that is solved: "cube" for cube3, "board" for puzzle15."""
    return find(name)[0].noun


def modules(name: str, exactly: bool = False) -> list[str]:
    """The modules of a puzzle: its rules, and the makers of its bounds, networks, pattern databases and its picture.

    exactly: with its exact solver, which levels always need.
    """
    family = find(name)[0]
    exact = family.exact if exactly or family.levels else None
    others = (*family.bounds.values(), *family.networks.values(), family.database, family.levels, exact, family.picture)
    return [place[0] for place in (family.made, *others) if place]


def files(name: str) -> list[Path]:
    """The files that a puzzle is read from."""
    return [] if of_package(name) else [path for path in [puzzle_files.path_of(name)] if path]


def rules(name: str) -> dict[str, Any] | None:
    """The rules of a puzzle from a file, by which a network knows it; None for others, whose rules are their code."""
    family, arguments = find(name)
    return arguments[0].rules if family.key == FILE else None


def made(place: tuple[str, str]) -> Callable[..., Any]:
    """The maker with this name in this module, imported only now: so other puzzles do not depend on the module."""
    module, maker = place
    return getattr(import_module(module), maker)


def partition_of(name: str) -> ModuleType:
    """The module that reads which patterns the pattern databases of a puzzle have."""
    return import_module(find(name)[0].partition)


def pattern_builder(name: str) -> ModuleType:
    """The module that builds the pattern databases of a puzzle."""
    return import_module(find(name)[0].patterns)


def levels_of(puzzle: "Puzzle") -> Any:
    """The source of levels for a puzzle whose states each have their own goal."""
    return made(find(puzzle.name)[0].levels)(puzzle)


def find(name: str) -> tuple[Family, list[Any]]:
    """The family of a puzzle and what its maker takes: the numbers, or the file; UserError for an unknown puzzle."""
    if found := of_package(name):
        return found
    if path := puzzle_files.path_of(name):
        return _of_file(path)
    if found := _first(_families_outside(tuple(sys.path)), name):
        return found
    known = [*(family.example for family in FAMILIES), *names_of_files()]
    near = get_close_matches(name, known, n=1)
    asked = f": did you mean {near[0]}?" if near else "."
    forms = ", ".join(family.form for family in FAMILIES)
    files = {0: "but no files", 1: "and the file"}.get(count := len(names_of_files()), f"and the {count} files")
    raise UserError(
        f"Unknown puzzle '{excerpt(name)}'{asked} There are {forms}, {files} in {puzzle_files.folder()}; "
        f"${puzzle_files.VARIABLE} names another folder."
    )


def names_of_files() -> list[str]:
    """The names of all puzzles with files, sorted; UserError if one has the name of another puzzle."""
    names = puzzle_files.names()
    if taken := [name for name in names if of_package(name)]:
        raise UserError(f"{puzzle_files.path_of(taken[0])}: {taken[0]} is another puzzle; give yours another name.")
    return names


def of_package(name: str) -> tuple[Family, list[int]] | None:
    """The family and numbers of a puzzle of this package; None if the name belongs to none of them."""
    return _first(FAMILIES, name)


def _first(families: tuple[Family, ...], name: str) -> tuple[Family, list[int]] | None:
    """The first of the families that has a puzzle with this name, and the numbers in the name."""
    numbered = ((family, family.numbers(name)) for family in families)
    return next(((family, numbers) for family, numbers in numbered if numbers is not None), None)


def _of_file(path: Path) -> tuple[Family, list[Any]]:
    """The family of a file, which has this one puzzle."""
    file = puzzle_files.read(path)
    return Family(FILE, file.name, file.name, file.title, file.noun, ("costtogo.exact.orbit", "puzzle_of")), [file]


@lru_cache(maxsize=4)
def _families_outside(path: tuple[str, ...]) -> tuple[Family, ...]:
    """The families of other packages; path: where Python looks for packages."""
    from importlib.metadata import entry_points  # loads for a tenth of the time that help takes

    return tuple(_load(point) for point in sorted(entry_points(group=GROUP)))


def _load(point: Any) -> Family:
    """The family that an entry point names; UserError if there is none."""
    try:
        family = point.load()
    except Exception as error:  # whatever the other package raises
        raise UserError(
            f"The entry point {point.name} = {excerpt(point.value)} of {GROUP} cannot be loaded "
            f"({type(error).__name__}: {excerpt(str(error))}); mend or remove its package."
        ) from error
    if not isinstance(family, Family) or family.key in (FILE, *(own.key for own in FAMILIES)):
        raise UserError(
            f"The entry point {point.name} = {excerpt(point.value)} of {GROUP} must name a costtogo.puzzles.Family "
            "with a key of its own."
        )
    return family
