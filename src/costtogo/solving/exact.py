"""Exact distances by a table or a formula, and solvers that prove their solutions shortest.

If all states can be listed: breadth-first search over all of them, kept in the cache. Else the exact solver of the
puzzle's family (exact.solver), over the tables and pattern databases of the user's studies or small ones made now.
"""

import hashlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeGuard

import numpy as np

from costtogo.exact.bfs import distances
from costtogo.exact.cosets import Cosets, build
from costtogo.exact.descent import Descent
from costtogo.exact.graph import graph_of
from costtogo.exact.hashing import hash_states
from costtogo.exact.nearby import FAR, Ends, GoalAlone, NearbyTable, nearby_table
from costtogo.exact.orbit import AT_ONCE
from costtogo.exact.solver import ExactSearch, Means, exact_solver
from costtogo.files import FileError, digest, read_json
from costtogo.progress import say
from costtogo.puzzles import files as files_of
from costtogo.puzzles import find, made, pattern_builder
from costtogo.puzzles.base import ListedPuzzle, Puzzle, is_listed
from costtogo.solve_options import Setting
from costtogo.solving.cache import cached, folder, kept_bytes
from costtogo.types import CostToGo, Heuristic, States, UserError

NEARBY_STATES = 1_000_000  # of a table around the goal made for one command, about: a second's work
NEARBY_WORK = 54 * 12 * NEARBY_STATES  # the cells of all their children, by which larger puzzles have fewer states
SMALL = {  # the patterns of a database that is built in a moment
    "puzzle8": "4-4",
    "puzzle15": "5-5-5",
    "puzzle24": "4-5-5-5-5",
    "puzzle35": "4-4-4-4-4-4-4-4-3",
    "puzzle48": "3-3-3-3-3-3-3-3-3-3-3-3-3-3-3-3",
    "cube3": "corners | 1 2 3 4 5 6 | 7 8 9 10 11 12",
}
SMALL_LEVEL = 4_000_000  # states of a level that is listed before any search: less than a second's work
MOST_LISTED = 1 << 26  # states of a table made for one command: 64 MB, and five times that while it is made
QUICKLY_BUILT = 4  # side of the largest board whose small pattern database is built in a moment
RESULTS = Path("results")
SIZES = ("37 MB, less than a minute.", "0.9 GB, some minutes.")  # of the small and the large table of a cube's cosets
SOON = 10  # seconds of a search that does not wait for a table of cosets to be built
MANY = 1_000_000  # entries of a layer that progress names
NO_SOLUTION = "There is no solution: whatever the moves, the goal cannot be reached from there."


def is_tabled(puzzle: Puzzle) -> TypeGuard[ListedPuzzle]:
    """True if the exact distances of all states can be computed for one command."""
    most = AT_ONCE if files_of(puzzle.name) else MOST_LISTED
    return is_listed(puzzle) and puzzle.state_count <= most


@lru_cache(maxsize=2)
def descent_of(puzzle: ListedPuzzle) -> Descent:
    """The exact distances of all states, computed within seconds and kept in the cache."""

    def make() -> dict[str, np.ndarray]:
        return {"distance": distances(graph_of(puzzle), int(puzzle.rank(puzzle.goal[None])[0]))}

    return Descent(puzzle, **cached("distance", puzzle, puzzle.rank, make))


def exact_values(puzzle: Puzzle, states: States) -> CostToGo:
    """Moves to the goal where they are known without a search, float32 [N]; NaN elsewhere, inf for dead ends."""
    if is_tabled(puzzle):
        return descent_of(puzzle)(states)
    if not puzzle.one_goal:
        return _of_levels(puzzle, states)
    if by_rules := exact_solver(puzzle):
        return by_rules(states).cost.astype(np.float32)
    near = find_nearby(puzzle)(states)
    return np.where(near == FAR, np.nan, near).astype(np.float32)


def _of_levels(puzzle: Puzzle, states: States) -> CostToGo:
    """exact_values for levels that are small enough to list."""
    from costtogo.exact.sokoban import by_level

    values = np.full(len(states), np.nan, dtype=np.float32)
    for rows in by_level(states):
        if table := _small_level(puzzle, states[rows[0]].tobytes()):
            values[rows] = table(states[rows])
    return values


@lru_cache(maxsize=2)
def _small_level(puzzle: Puzzle, state: bytes) -> Callable[[States], CostToGo] | None:
    """The table of the level of a state; None if it is not small."""
    from costtogo.exact.sokoban import TooLarge, list_level

    try:
        return list_level(puzzle, np.frombuffer(state, dtype=np.uint8), SMALL_LEVEL)
    except TooLarge:
        return None


def is_immediate(puzzle: Puzzle) -> bool:
    """True if the exact solver looks its solutions up or computes them."""
    return is_tabled(puzzle) or (puzzle.one_goal and exact_solver(puzzle) is not None)


def exact_search(puzzle: Puzzle, setting: Setting, patient: bool = True, shorter_than: float = np.inf) -> ExactSearch:
    """The solver that proves its solutions, on all cores; it ends as unsolved after the seconds of a setting.

    patient: False if no table is made that takes more than a moment. A search of a cube that may take less than SOON
    does not build one unless it is asked for.  shorter_than: see Means.
    """
    own, half_turns = find(puzzle.name)[0].key == "cube3", setting.metric == "htm"
    if not own and (half_turns or setting.table):
        raise UserError(f"Only the solver exact of cube3 has --metric and --table: leave them out of {puzzle.name}.")
    if is_tabled(puzzle):
        return descent_of(puzzle).solve
    database = None if own else partial(find_database, puzzle, patient or puzzle.side <= QUICKLY_BUILT)
    means = Means(partial(find_nearby, puzzle), database, half_turns=half_turns, max_nodes=setting.max_nodes)
    waits = patient and (half_turns or setting.table or setting.effort >= SOON)
    if own and (waits or _kept_cosets(puzzle, half_turns)):
        cosets = partial(find_cosets, puzzle, half_turns, setting.table)
        means = replace(means, cosets=cosets, guide=partial(_by_network, puzzle))
    threads = len(os.sched_getaffinity(0))
    limits = {"seconds": setting.effort, "shorter_than": shorter_than}
    return exact_solver(puzzle, replace(means, threads=threads, **limits))


def _by_network(puzzle: Puzzle, start: States, seconds: float, enough: int) -> list[int] | None:
    """A solution by the puzzle's best network, as Means has it; None if there is no network, or it finds none."""
    from costtogo import solving
    from costtogo.heuristics.policy_guide import PolicyGuide
    from costtogo.search.anytime import guide_of

    try:
        network = solving.load(puzzle.name).heuristic
    except UserError:
        return None
    scores = PolicyGuide(network) if network.has_policy else network
    return guide_of(puzzle, scores, find_nearby(puzzle))(start, seconds, enough)


def _kept_cosets(puzzle: Puzzle, half_turns: bool, size: str = "*") -> bool:
    """True if a table of these is in the cache."""
    place = folder()
    return place is not None and any(place.glob(f"cosets-{puzzle.name}-{'htm' if half_turns else 'qtm'}-{size}.*"))


@lru_cache(maxsize=2)
def find_cosets(puzzle: Puzzle, half_turns: bool, table: str | None) -> tuple[Cosets, np.ndarray]:
    """The coordinates of a cube and the distances of its cosets, from the cache, or built now and kept there.

    table: "small" or "large"; None for the large one if it is there.
    """

    def name(cosets: Cosets) -> str:
        """A name of the file that changes with all that decides its content."""
        size = "small" if cosets.arrangements == 1 else "large"
        whose = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in cosets.coordinates))
        return f"cosets-{puzzle.name}-{'htm' if half_turns else 'qtm'}-{size}.{whose.hexdigest()[:16]}"

    def make(cosets: Cosets) -> np.ndarray:
        size, begun = SIZES[cosets.arrangements > 1], time.monotonic()
        say(f"The distances of {puzzle.name}'s cosets are computed once: {size}")

        def told(depth: int, found: int) -> None:
            if found > MANY:
                say(f"{depth} moves away: {found:,} entries, after {time.monotonic() - begun:.0f} seconds")

        return build(cosets, told)

    large = table == "large" or (table is None and _kept_cosets(puzzle, half_turns, "large"))
    cosets = Cosets(puzzle, half_turns, large)
    return cosets, kept_bytes(name(cosets), partial(make, cosets))


def no_solution(puzzle: Puzzle, state: States) -> str | None:
    """Why a state, uint8 [D], has no solution, in one sentence; None where it has one, or only a search can tell."""
    if not puzzle.one_goal:
        from costtogo.heuristics.matching import DeadSquaresBound, MatchingBound
        from costtogo.heuristics.pairs import PairsBound

        if np.isinf(DeadSquaresBound(puzzle)(state[None])[0]):
            return "There is no solution: a box stands where it can be pushed to no target."
        if np.isposinf(MatchingBound(puzzle)(state[None])[0]):
            return "There is no solution: the boxes cannot all be pushed to targets of their own."
        if np.isposinf(PairsBound(puzzle)(state[None])[0]):
            return "There is no solution: two of the boxes block each other for good."
    if np.isposinf(exact_values(puzzle, state[None])[0]):
        return NO_SOLUTION
    return None


def find_nearby(puzzle: Puzzle) -> Ends:
    """The exact distances around the goal: the study's table if there is one, else a smaller one, kept in the cache.

    If each state has its own goal, only a test for solved states.
    """
    if not puzzle.one_goal:
        return GoalAlone(puzzle)
    path = (RESULTS / puzzle.name / "tables" / f"{puzzle.name}.npz").absolute()
    known = _table_of_study(puzzle, path) if path.exists() and _is_of_study(puzzle, path) else None
    return known if isinstance(known, NearbyTable) else _small_table(puzzle)  # a table of all states has no edge


@lru_cache(maxsize=8)
def _is_of_study(puzzle: Puzzle, path: Path) -> bool:
    """True if a stage on the puzzle wrote this file, according to its card; a line on stderr says if not."""
    try:
        card, rules = read_json(path.with_suffix(".json")), [digest(file) for file in files_of(puzzle.name)]
        of = card["parameters"]["puzzle"], [*card["inputs"].values()]
        if of == (puzzle.name, rules) and digest(path) in card["outputs"].values():
            return True
    except (FileError, LookupError, TypeError, AttributeError):  # no card, or one of another shape
        pass
    say(f"{path} is not what a stage wrote of {puzzle.name}, by the card beside it: it is left aside.")
    return False


@lru_cache(maxsize=1)
def _table_of_study(puzzle: Puzzle, path: Path) -> Ends:
    """The exact distances around the goal in a study's file; only the goal if the file lists all states."""
    from costtogo.stages.tables import read_nearby

    return read_nearby(path, puzzle)


@lru_cache(maxsize=1)
def _small_table(puzzle: Puzzle) -> NearbyTable:
    """The exact distances of about NEARBY_STATES states around the goal, to a depth of at least one move."""
    most = min(NEARBY_STATES, NEARBY_WORK // (puzzle.cells * len(puzzle.actions)))

    def make() -> dict[str, np.ndarray]:
        table = nearby_table(puzzle, 1)
        while table.layers[-1] * (table.layers[-1] / table.layers[-2]) + table.layers.sum() < most:
            wider = nearby_table(puzzle, table.depth + 1)
            if wider.depth == table.depth:  # all states are listed
                break
            table = wider
        return {"keys": table.keys, "distance": table.distance, "layers": table.layers}

    return NearbyTable(puzzle, **cached("nearby", puzzle, partial(hash_states, puzzle), make))


def find_database(puzzle: Puzzle, build: bool = True) -> Heuristic:
    """The pattern database for the optima of the puzzle's study, else its largest one, else a small one made now.

    build: False for the Manhattan distance in place of the last.
    """
    study = RESULTS / puzzle.name
    optima = study / "optima" / f"{puzzle.name}.json"
    name = read_json(optima)["parameters"]["optima"]["pattern_database"] if optima.exists() else None
    built = [path.absolute() for path in (study / "pattern_databases").glob("*.npz")]
    built.sort(key=lambda path: (path.stem == name, path.stat().st_size), reverse=True)
    if chosen := next((path for path in built if _is_of_study(puzzle, path)), None):
        return made(find(puzzle.name)[0].database)(puzzle, chosen)
    return _small_database(puzzle, study) if build else made(find(puzzle.name)[0].bounds["manhattan"])(puzzle)


@lru_cache(maxsize=1)
def _small_database(puzzle: Puzzle, study: Path) -> Heuristic:
    """A pattern database that is built in seconds and kept in the cache."""
    text, (family, *_) = SMALL[puzzle.name], find(puzzle.name)
    at_once = family.key == "sliding" and puzzle.side <= QUICKLY_BUILT
    progress = (lambda line: None) if at_once else say

    def make() -> dict[str, np.ndarray]:
        if family.key == "sliding" and not at_once:
            say(
                f"There is no pattern database of {puzzle.name} in {study}: a small one, {text}, is built now, and "
                f"searches take longer; snakemake --cores all {puzzle.name} builds the study's."
            )
        return {"values": pattern_builder(puzzle.name).database_of(puzzle, text, progress).values}

    what = "database_" + re.sub(r"\W+", "-", text)
    values = cached(what, puzzle, partial(hash_states, puzzle), make)["values"]
    return made((family.database[0], "of_values"))(puzzle, text, values)
