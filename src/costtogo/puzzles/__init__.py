"""The puzzles by name: the only place that knows them all.

A puzzle's module is imported when it is asked for. So a stage runs through the modules of its own puzzles, and a puzzle
that is added or changed leaves what was found of the others as it is: see costtogo.sources.
"""

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from costtogo.types import UserError, excerpt

if TYPE_CHECKING:
    from costtogo.puzzles.base import Puzzle


NUMBER = "([0-9]{1,3})"  # in a name


class Family(NamedTuple):
    """Puzzles of one kind, by its key: example, a name; form, how names are written, <numbers> among them.

    title: the name of a puzzle in reports, with its numbers and then 3, the pegs of a tower that names none.
    noun: what is solved, in the words of reports.
    made: the module of this package and what of it makes the puzzle of these numbers.
    bound: the module of costtogo and what of it makes a lower bound of the distance, where networks may lie above one.
    database: the module of costtogo and what of it makes a heuristic of a pattern database's file, where there are any.
    local: the module of costtogo and what of it solves the puzzle a few tiles at a time, where that is possible.
    levels: the module of costtogo and what of it stands in for a goal of all states: learning.sokoban.Levels.
    exact: the module of costtogo and what of it finds shortest solutions, where the puzzle has a solver of its own.
    pattern: the numbers in a name, where not every number makes a puzzle.
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
    exact: tuple[str, str] | None = None

    def numbers(self, name: str) -> list[int] | None:
        """The numbers in the name of a puzzle; None where it is none of the family."""
        pattern = self.pattern or re.sub("<[a-z]+>", NUMBER, self.form).replace(", ", "|")
        match = re.fullmatch(pattern, name)
        return [int(number) for number in match.groups() if number is not None] if match else None


FAMILIES = (
    Family("cube2", "cube2", "cube2", "2×2×2 cube", "cube", ("cube", "Cube2")),
    Family("cube3", "cube3", "cube3", "3×3×3 cube", "cube", ("cube3", "Cube3")),
    Family("hanoi", "hanoi_7", "hanoi_<disks>, hanoi_<disks>_<pegs>", "Towers of Hanoi H({}, {})", "tower",
           ("hanoi", "Hanoi")),
    Family("sliding", "puzzle15", "puzzle8, 15, 24, 35 and 48", "{}-puzzle", "board", ("sliding", "tiles"),
           ("heuristics.manhattan", "with_conflicts"), ("heuristics.pattern_database", "read_database"),
           ("learning.local_vi", "local_search"), r"puzzle(8|15|24|35|48)"),
    Family("lights_out", "lights_out_7", "lights_out_<side>", "Lights Out, {0} × {0}", "board",
           ("lights_out", "LightsOut")),
    Family("sokoban", "sokoban", "sokoban, sokoban_<side>, sokoban_<rows>_<columns>", "Sokoban", "level",
           ("sokoban", "sokoban"), bound=("heuristics.matching", "MatchingBound"),
           levels=("learning.sokoban", "Levels"), exact=("search.sokoban", "solve_exactly")),
)  # fmt: skip


@lru_cache
def make(name: str) -> "Puzzle":
    """The puzzle of a name such as cube2, hanoi_7 (three pegs), hanoi_7_4 (four), puzzle15, lights_out_7 or sokoban."""
    family, numbers = find(name)
    module, maker = family.made
    return getattr(import_module(f"{__name__}.{module}"), maker)(*numbers)


def family(name: str) -> str:
    """The key of a puzzle's family: "hanoi" of hanoi_7, "sliding" of puzzle15."""
    return find(name)[0].key


def title(name: str) -> str:
    """A puzzle's name for readers: "2×2×2 cube" of cube2, "Towers of Hanoi H(7, 3)" of hanoi_7, "15-puzzle"."""
    family, numbers = find(name)
    return family.title.format(*numbers, 3)


def noun(name: str) -> str:
    """What is solved of a puzzle: "cube" of cube3, "board" of puzzle15."""
    return find(name)[0].noun


def modules(name: str) -> list[str]:
    """The modules of a puzzle: its rules, and what makes its bound and its pattern databases."""
    family = find(name)[0]
    others = (f"costtogo.{made[0]}" for made in (family.bound, family.database, family.levels, family.exact) if made)
    return [f"{__name__}.{family.made[0]}", *others]


def made(place: tuple[str, str]) -> Callable[..., Any]:
    """What of a module of costtogo makes something, by both names: so other puzzles do not depend on the module."""
    module, maker = place
    return getattr(import_module(f"costtogo.{module}"), maker)


def levels_of(puzzle: "Puzzle") -> Any:
    """Where levels of a puzzle come from whose states have goals of their own."""
    return made(find(puzzle.name)[0].levels)(puzzle)


def exact_solver(puzzle: "Puzzle") -> Callable[..., Any]:
    """What finds shortest solutions of starts by the puzzle's own solver, a function of these."""
    return partial(made(find(puzzle.name)[0].exact), puzzle)


def find(name: str) -> tuple[Family, list[int]]:
    """The family of a puzzle and the numbers in its name; UserError where there is none."""
    for family in FAMILIES:
        if (numbers := family.numbers(name)) is not None:
            return family, numbers
    near = get_close_matches(name, [family.example for family in FAMILIES], n=1, cutoff=0.0)[0]
    forms = ", ".join(family.form for family in FAMILIES)
    raise UserError(f"Unknown puzzle '{excerpt(name)}': did you mean {near}? There are {forms}.")
