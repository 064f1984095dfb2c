"""The puzzles by name: the only place that knows them all.

A name is that of a puzzle of this package, of a JSON file of generators (puzzle_files), or of a puzzle of another
package that is installed: one with an entry point of the group costtogo.puzzles, which is a Family.

A puzzle's module is imported when it is asked for. So a stage runs through the modules of its own puzzles, and a puzzle
that is added or changed leaves what was found of the others as it is: see costtogo.sources.
"""

import re
import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from costtogo.puzzles import puzzle_files
from costtogo.types import UserError, excerpt

if TYPE_CHECKING:
    from costtogo.puzzles.base import Puzzle


NUMBER = "([0-9]{1,3})"  # in a name
FILE = "file"  # the family of puzzles that files describe
GROUP = "costtogo.puzzles"  # of entry points


class Family(NamedTuple):
    """Puzzles of one kind, by its key: example, a name; form, how names are written, <numbers> among them.

    title: the name of a puzzle in reports, with its numbers and then 3, the pegs of a tower that names none.
    noun: what is solved, in the words of reports.
    made: a module and what of it makes the puzzle of these numbers.
    bound: what makes a lower bound of the distance, where networks may lie above one.
    database: what makes a heuristic of a pattern database's file, where there are any.
    local: what solves the puzzle a few tiles at a time, where that is possible.
    levels: what stands in for a goal of all states: learning.sokoban.Levels.
    exact: what makes the solver that proves its solutions shortest, see exact.solver.
    exact_by: how that one finds them, in the words of reports.
    pattern: the numbers in a name, where not every number makes a puzzle.
    picture: what draws a state, a function of axes, puzzle and state; costtogo.figures knows those of our own puzzles.
    """

    key: str
    example: str
    form: str
    title: str
    noun: str
    made: tuple[str, str]
    bound: tuple[str, str] | None = None
    database: tuple[str, str] | None = None
    local: tuple[str, str] | None = None
    pattern: str | None = None
    levels: tuple[str, str] | None = None
    exact: tuple[str, str] = ("costtogo.exact.meeting", "exact_search")
    picture: tuple[str, str] | None = None
    exact_by: str = "breadth-first search from both ends"

    def numbers(self, name: str) -> list[int] | None:
        """The numbers in the name of a puzzle; None where it is none of the family."""
        pattern = self.pattern or re.sub("<[a-z]+>", NUMBER, self.form).replace(", ", "|")
        match = re.fullmatch(pattern, name)
        return [int(number) for number in match.groups() if number is not None] if match else None


FAMILIES = (
    Family("cube2", "cube2", "cube2", "2×2×2 cube", "cube", ("costtogo.puzzles.cube", "Cube2")),
    Family("cube3", "cube3", "cube3", "3×3×3 cube", "cube", ("costtogo.puzzles.cube3", "Cube3")),
    Family("hanoi", "hanoi_7", "hanoi_<disks>, hanoi_<disks>_<pegs>", "Towers of Hanoi H({}, {})", "tower",
           ("costtogo.puzzles.hanoi", "Hanoi")),
    Family("sliding", "puzzle15", "puzzle8, 15, 24, 35 and 48", "{}-puzzle", "board",
           ("costtogo.puzzles.sliding", "tiles"), ("costtogo.heuristics.manhattan", "with_conflicts"),
           ("costtogo.heuristics.pattern_database", "read_database"),
           ("costtogo.learning.local_vi", "local_search"), r"puzzle(8|15|24|35|48)",
           exact=("costtogo.search.ida_star", "exact_search")),
    Family("lights_out", "lights_out_7", "lights_out_<side>", "Lights Out, {0} × {0}", "board",
           ("costtogo.puzzles.lights_out", "LightsOut"),
           exact=("costtogo.exact.lights_out", "exact_search"), exact_by="linear algebra"),
    Family("sokoban", "sokoban", "sokoban, sokoban_<side>, sokoban_<rows>_<columns>", "Sokoban", "level",
           ("costtogo.puzzles.sokoban", "sokoban"), bound=("costtogo.heuristics.matching", "MatchingBound"),
           levels=("costtogo.learning.sokoban", "Levels"), exact=("costtogo.search.exact_levels", "exact_search"),
           exact_by="breadth-first search from the solved states"),
)  # fmt: skip


def make(name: str) -> "Puzzle":
    """The puzzle of a name such as cube2, hanoi_7 (three pegs), hanoi_7_4 (four), puzzle15, lights_out_7 or sokoban."""
    family, arguments = find(name)
    return _made(family.made, *arguments)


@lru_cache(maxsize=256)
def _made(place: tuple[str, str], *arguments: Any) -> "Puzzle":
    """A puzzle that was made before, if its name and what its file says are the same."""
    return made(place)(*arguments)


def named(text: str) -> str:
    """The name of a puzzle, of which a user has given that or the path of its file; UserError for no such file."""
    path = Path(text)
    if path.suffix != ".json":
        return text
    if not path.is_file() or of_package(path.stem):
        why = f"{path.stem} is another puzzle; give yours another name" if path.is_file() else "there is no such file"
        raise UserError(f"--puzzle {excerpt(text)}: {why}.")
    return puzzle_files.let_be_found(path)


def family(name: str) -> str:
    """The key of a puzzle's family: "hanoi" of hanoi_7, "sliding" of puzzle15."""
    return find(name)[0].key


def title(name: str) -> str:
    """A puzzle's name for readers: "2×2×2 cube" of cube2, "Towers of Hanoi H(7, 3)" of hanoi_7, "15-puzzle"."""
    family, arguments = find(name)
    return family.title.format(*arguments, 3)


def noun(name: str) -> str:
    """What is solved of a puzzle: "cube" of cube3, "board" of puzzle15."""
    return find(name)[0].noun


def modules(name: str, exactly: bool = False) -> list[str]:
    """The modules of a puzzle: its rules, and what makes its bound, its pattern databases and its picture.

    exactly: with its exact solver, which levels always need.
    """
    family = find(name)[0]
    exact = family.exact if exactly or family.levels else None
    others = (family.bound, family.database, family.levels, exact, family.picture)
    return [place[0] for place in (family.made, *others) if place]


def files(name: str) -> list[Path]:
    """The files that a puzzle is read from."""
    return [] if of_package(name) else [path for path in [puzzle_files.path_of(name)] if path]


def rules(name: str) -> dict[str, Any] | None:
    """The rules of a puzzle that a file describes, which a network knows it by; of others their code is the rules."""
    family, arguments = find(name)
    return arguments[0].rules if family.key == FILE else None


def made(place: tuple[str, str]) -> Callable[..., Any]:
    """What of a module makes something, by both names: so other puzzles do not depend on the module."""
    module, maker = place
    return getattr(import_module(module), maker)


def levels_of(puzzle: "Puzzle") -> Any:
    """Where levels of a puzzle come from whose states have goals of their own."""
    return made(find(puzzle.name)[0].levels)(puzzle)


def find(name: str) -> tuple[Family, list[Any]]:
    """The family of a puzzle and what it is made of: the numbers in its name, or its file; UserError for no puzzle."""
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
    raise UserError(
        f"Unknown puzzle '{excerpt(name)}'{asked} There are {forms}, and the {len(names_of_files())} files of "
        f"{puzzle_files.folder()}; ${puzzle_files.VARIABLE} names another folder."
    )


def names_of_files() -> list[str]:
    """The puzzles of all files, sorted; UserError where one has the name of another puzzle."""
    names = puzzle_files.names()
    if taken := [name for name in names if of_package(name)]:
        raise UserError(f"{puzzle_files.path_of(taken[0])}: {taken[0]} is another puzzle; give yours another name.")
    return names


def of_package(name: str) -> tuple[Family, list[int]] | None:
    """The family of a puzzle of this package, and the numbers in its name; None where the name is none of these."""
    return _first(FAMILIES, name)


def _first(families: tuple[Family, ...], name: str) -> tuple[Family, list[int]] | None:
    """The first of some families that has a puzzle of a name, and the numbers in it."""
    numbered = ((family, family.numbers(name)) for family in families)
    return next(((family, numbers) for family, numbers in numbered if numbers is not None), None)


def _of_file(path: Path) -> tuple[Family, list[Any]]:
    """The family of a file, which it makes alone."""
    file = puzzle_files.read(path)
    return Family(FILE, file.name, file.name, file.title, file.noun, ("costtogo.exact.orbit", "puzzle_of")), [file]


@lru_cache(maxsize=4)
def _families_outside(path: tuple[str, ...]) -> tuple[Family, ...]:
    """The families of other packages; path: where Python looks for these."""
    return tuple(_load(point) for point in sorted(entry_points(group=GROUP)))


def _load(point: Any) -> Family:
    """The family that an entry point names; UserError where there is none."""
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
