"""The options of `costtogo solve`, each stated once: its help, its bounds, and what it cannot be combined with.

The command line makes its options from the fields of Task and Setting; the page and Python programs use Setting alone.
Importing this loads no compiled code, so `costtogo --help` is quick.
"""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from costtogo.puzzles import find
from costtogo.types import UserError, excerpt

if TYPE_CHECKING:
    from costtogo.heuristics.network import NetworkHeuristic
    from costtogo.puzzles.base import Puzzle

SOLVERS = {  # by name, in the order of help: what each does
    "auto": "exact where it ends in time, else what suits the puzzle",
    "bwas": "batch weighted A*: expands the N open nodes of least f = λ · g + h at a time",
    "greedy": "best-first search: bwas with λ = 0 and N = 1",
    "beam": "beams that grow wider until the time is up",
    "rising": "bwas with λ = 0.2, 0.7 (over a bound to 1), then with larger N, from two images, until the time is up",
    "mcts": "Monte Carlo tree search guided by a policy",
    "exact": "a shortest solution, without a network",
    "local": "local value iteration: a few tiles at a time, without a network",
}
WITHOUT_NETWORK = ("exact", "local")
NETWORK, DATABASE, ZERO = "network", "pattern_database", "zero"
HEURISTICS = {  # by name, in the order of help: what each is
    NETWORK: "a trained network, if left out",
    "manhattan": "rows and columns to each tile's place, with linear conflicts",
    DATABASE: "exact moves of a few tiles at a time",
    "pairs": "steps of two boxes at a time",
    "matching": "pushes of boxes to the targets that suit them best",
    "dead_squares": "only whether a box is where it can be pushed to no target",
    ZERO: "none",
}
LISTED = {"path_weight": 0.7, "batch_size": 5, "max_expansions": 200_000}  # BWAS where nothing else is asked for
LARGE = {"path_weight": 0.4, "batch_size": 1000, "max_expansions": 10_000_000}
RISING_BATCH, RISING_BOUND_BATCH = 10, 100  # of the first searches, over a network and over a lower bound
SECONDS = 30.0
MOST_EVALUATED = 100_000  # states of a tree where nothing else is asked for
MOST_NODES = 40_000_000  # of which a search by action has room on 7 × 7 lights
STARTS = ("scramble", "state", "level")  # options that give the state to solve
OF_BWAS = ("path_weight", "max_expansions")  # options that make auto choose it for large puzzles, too
OF_EXACT = ("metric", "table")
OF_SEARCH = (
    *OF_BWAS,
    "until_proved",
    "batch_size",
    "average",
    "heuristic",
)  # options of searches over a heuristic alone
REFUSED = (  # solvers, options that they do not take, and why
    ("greedy", ("path_weight", "batch_size"), "is bwas with λ = 0 and N = 1: leave out --path-weight and --batch-size"),
    ("exact local", OF_SEARCH,
     "searches over no network: leave out the options of those that do"),
    ("exact local", ("max_nodes",), "keeps no nodes in memory: leave out --max-nodes"),
    ("local", ("seconds",), "is done at once: leave out --seconds"),
    ("beam", ("batch_size",), "chooses its widths by its --seconds: leave out --batch-size"),
    ("mcts", ("path_weight", "batch_size", "average"),
     "has no λ, N or average: leave out --path-weight, --batch-size and --average"),
    ("auto bwas greedy beam rising mcts local", OF_EXACT, "counts quarter turns and needs no table: leave out --metric "
     "and --table, or choose --solver exact"),
    ("beam rising", OF_BWAS, "ends with its --seconds or --max-nodes: leave out --path-weight and --max-expansions, "
     "or choose --solver bwas"),
)  # fmt: skip


def solvers(puzzle: "Puzzle", *, has_policy: bool = False) -> list[str]:
    """The names of the solvers that apply to a puzzle, given what its network offers; auto comes first."""
    missing = {"mcts"} if not has_policy else set()
    missing |= {"local"} if find(puzzle.name)[0].local is None else set()
    return [name for name in SOLVERS if name not in missing]


def heuristics(puzzle: "Puzzle") -> list[str]:
    """The names of the heuristics that apply to a puzzle."""
    family = find(puzzle.name)[0]
    database = DATABASE if family.database else None
    return [name for name in HEURISTICS if name in (NETWORK, *family.bounds, database, ZERO)]


def option(default: Any, help: str, **bounds: Any) -> Any:
    """A field that the command line offers as an option of the same name.

    bounds: min or max, as typer has them; counts=True for whole numbers from 1 on.
    """
    return field(default=default, metadata={"help": help, **bounds})


@dataclass(frozen=True)
class Task:
    """What to solve, over which network, and where the solutions go."""

    puzzle: str | None = option(
        None, "cube2, cube3, puzzle15, lights_out_7, hanoi_7, hanoi_4_4 …, or the JSON file of a puzzle."
    )
    model: Path | None = option(None, "A checkpoint, or a model's folder; the best of the puzzle's study if left out.")
    scramble: str | None = option(None, 'Moves from the goal: "R U\' F2", "U L D" or "0>2".')
    state: str | None = option(
        None, "A state: face letters, tiles or lights row by row, pegs, or the rows of a level parted by |."
    )
    level: Path | None = option(None, "A text file with one level of Sokoban, in # @ $ . * +.")
    instances: Path | None = option(
        None,
        "CSV with a column scramble, state, tiles or lights; optimal_moves is compared. Of Sokoban a text file of "
        "levels, or a folder of such files.",
    )
    out: Path | None = option(None, "CSV to write; needed with --instances.")
    overwrite: bool = option(False, "Replace the file of --out; else one begun by the same command is ended.")
    keep_going: bool = option(
        False, "Solve the other rows if one of --instances cannot be read; a column fault says why."
    )
    goal: Literal["last", "first"] | None = option(
        None, "Where the goal of sliding tiles has its blank; if left out, last, or first where the state says so."
    )
    json: bool = option(False, "Print the solution of one state as JSON.")

    @property
    def start(self) -> tuple[str, str]:
        """The one state to solve: the option that gives it, and its text."""
        ((kind, value),) = self._starts
        return kind, str(value)

    @property
    def _starts(self) -> list[tuple[str, Any]]:
        return [(kind, value) for kind in STARTS if (value := getattr(self, kind)) is not None]

    def refuse(self, setting: "Setting") -> None:
        """UserError if options cannot be combined with each other, or with the solver of a setting."""
        if self.model is not None and setting.is_classical:
            raise UserError(f"The heuristic {setting.heuristic} is no network: leave out --model or --heuristic.")
        if self.instances is not None:
            self._refuse_for_many()
        elif self.out is not None or self.overwrite:
            raise UserError("Leave out --out: it takes the solutions of --instances, and that of one state is printed.")
        elif len(self._starts) != 1:
            raise UserError(
                'Give one of --scramble "moves", --state "cells", --level file.txt or --instances file.csv.'
            )
        if setting.solver not in WITHOUT_NETWORK:
            return
        setting.refuse()
        if self.model is not None:
            raise UserError(f"The solver {setting.solver} needs no network: leave out --model.")
        if self.puzzle is None:
            raise UserError("Name the puzzle with --puzzle.")

    def _refuse_for_many(self) -> None:
        """UserError if solutions of many states cannot be written, or would replace the file of these states."""
        if self.json:
            raise UserError("Leave out --json: the solutions of --instances go to the CSV file of --out.")
        if self.out is None or self.scramble or self.state or self.level:
            raise UserError("With --instances give --out, a CSV file to write, and no --scramble, --state or --level.")
        name = excerpt(str(self.out))
        if os.path.isdir(self.out):
            raise UserError(f"--out {name} is a folder: name the CSV file to write.")
        if os.path.isfile(self.instances) and os.path.exists(self.out) and os.path.samefile(self.instances, self.out):
            raise UserError(f"--out {name} is the file of --instances, which it would replace: name another.")


@dataclass(frozen=True)
class Setting:
    """How to search; each field says what it is for. None means: what suits the puzzle, LISTED or LARGE."""

    solver: Literal[*SOLVERS] = option(
        "auto",
        "auto: exact where it ends in a share of the seconds, else beam or rising, as suits the puzzle; with --model "
        "or an option of searches over one, bwas where the puzzle can be listed or the option is of bwas, else beam "
        f"or rising; {'; '.join(f'{name}: {does}' for name, does in SOLVERS.items() if name != 'auto')}. "
        "More: docs/solve.md.",
    )
    seconds: float | None = option(
        None,
        f"For each state: auto, beam and rising improve until then and exact ends with a bound, after {SECONDS:g} if "
        "left out; bwas, greedy and mcts end unsolved.",
        min=0,
    )
    heuristic: Literal[*HEURISTICS] | None = option(
        None,
        f"What bwas, greedy and rising go by: {'; '.join(f'{name}: {what}' for name, what in HEURISTICS.items())}.",
    )
    path_weight: float | None = option(
        None,
        f"λ of bwas, from 0 (greedy) to 2; {LISTED['path_weight']}, of puzzles too large to list "
        f"{LARGE['path_weight']}.",
    )
    batch_size: int | None = option(
        None,
        f"N of bwas and rising, nodes expanded at a time; {LISTED['batch_size']}, of puzzles too large to list "
        f"{LARGE['batch_size']:,}, of rising at first {RISING_BATCH}, over a bound {RISING_BOUND_BATCH}.",
        counts=True,
    )
    max_expansions: int | None = option(
        None,
        f"A search by bwas ends unsolved after as many; {LISTED['max_expansions']:,}, or {LARGE['max_expansions']:,} "
        f"of large ones; one by mcts after as many states evaluated, {MOST_EVALUATED:,}.",
        counts=True,
    )
    max_nodes: int = option(
        MOST_NODES,
        "Nodes kept in memory at once, about 100 bytes each; a search over a network ends there; "
        f"{MOST_NODES:,} if left out.",
        counts=True,
        show_default=False,
    )
    until_proved: bool = option(False, "Then let exact rule out a shorter solution, or find one, in the seconds left.")
    average: int = option(
        1, "Symmetric images of a state over which its cost-to-go is averaged; cube3 has 48.", counts=True
    )

    metric: Literal["qtm", "htm"] = option(
        "qtm", "What exact counts on cube3: quarter turns, or half turns as one move, too."
    )
    table: Literal["small", "large"] | None = option(
        None, "Of exact on cube3: small is built at once; large takes minutes, once, and is used from then on."
    )

    def refuse(self) -> None:
        """UserError if an option is given that the solver does not take."""
        for solvers, options, why in REFUSED:
            if self.solver in solvers.split() and self._has(options):
                raise UserError(f"The solver {self.solver} {why}.")
        if self.is_classical and self.solver in ("beam", "mcts"):
            raise UserError(
                f"The solver {self.solver} goes by a network: leave out --heuristic, or choose bwas, greedy or rising."
            )

    def _has(self, options: tuple[str, ...]) -> bool:
        """True if one of some options is given."""
        return any(getattr(self, name) != getattr(Setting, name) for name in options)

    @property
    def is_classical(self) -> bool:
        """True if searches go by a heuristic that nobody trained."""
        return self.heuristic not in (None, NETWORK)

    @property
    def is_open(self) -> bool:
        """True if auto may choose among all solvers: no option of searches over a heuristic is given."""
        return self.solver == "auto" and not self._has(OF_SEARCH)

    def resolved(self, puzzle: "Puzzle", network: "NetworkHeuristic | None" = None) -> "Setting":
        """The same setting with a solver over a heuristic in place of auto: bwas if the puzzle can be listed or one of
        its options is given, else beam or rising.

        network: None for other heuristics.

        UserError if the solver is another one and does not take an option, or needs a policy that the network lacks.
        """
        from costtogo.puzzles.base import is_listed

        if self.solver == "mcts" and not (network is not None and network.has_policy) and not self.is_classical:
            raise UserError("The solver mcts needs a network with a policy: give --model of a training by adi.")
        self.refuse()
        if self.solver != "auto":
            return self
        if is_listed(puzzle) or self._has(OF_BWAS):
            return replace(self, solver="bwas")
        # Where moves cannot be undone, beams end in dead ends.
        beam = network is not None and puzzle.has_inverses
        return replace(self, solver="beam" if beam else "rising")

    @property
    def effort(self) -> float:
        """The seconds that a search which improves, or proves, may take."""
        return SECONDS if self.seconds is None else self.seconds
