"""Solvers, ready to be timed: the search of a setting, and auto, which chooses for each start."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from costtogo.exact.nearby import Ends
from costtogo.heuristics.averaged import AveragedHeuristic
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.policy_guide import PolicyGuide
from costtogo.heuristics.tile_groups import TupleValues
from costtogo.heuristics.zero import zero
from costtogo.memory import machine_memory
from costtogo.notation.given import Given
from costtogo.progress import report_ended
from costtogo.puzzles import find, made
from costtogo.puzzles.base import Puzzle, is_listed, solves
from costtogo.search import anytime, bwas, mcts, shorten, tile_beam
from costtogo.search.bwas import Limits
from costtogo.search.exact_levels import NODE_BYTES
from costtogo.search.replayed import Search, warm_up
from costtogo.solve_options import (
    DATABASE,
    LARGE,
    LISTED,
    MOST_EVALUATED,
    NETWORK,
    RISING_BATCH,
    RISING_BOUND_BATCH,
    WITHOUT_NETWORK,
    ZERO,
    Setting,
    heuristics,
)
from costtogo.solving.exact import (
    QUICKLY_BUILT,
    exact_search,
    find_database,
    find_nearby,
    is_immediate,
    is_tabled,
    no_solution,
)
from costtogo.solving.solution import Solution, solution_of
from costtogo.types import Heuristic, SearchResult, States, UserError

if TYPE_CHECKING:
    from costtogo.heuristics.network import NetworkHeuristic

RISING = (0.2, 0.7)  # λ of the solver rising
NEAR = 4  # moves of the first search of a solver without a network
RISING_BOUNDS = (0.2, 0.5, 0.8, 1.0)  # over heuristics that never overestimate, by which λ near 1 takes long
OFTEN, SELDOM = 0.5, 0.1  # of the seconds of auto, for exact: where it mostly ends in time, and where it seldom does
FINDING = 0.25  # of the seconds of a solution that is to be proved, for a search over a heuristic
FAILED = "no search found a solution; this one is seldom short"
ALONE = "there is no network; its solution was made shorter as long as there was time"
SHORTENING = 0.1  # of the seconds left, for making solutions of sliding tiles shorter by stretches
LOCAL = Setting("local")
USUAL_BYTES = 100  # of a node, by the help of --max-nodes; those of compiled beams take less, so that more are kept
# Of mcts, where all states can be listed and elsewhere: among the best on own states of the 2×2×2 and the 3×3×3 cube.
TREES_LISTED = mcts.TreeRules(exploration=50.0, virtual_loss=10.0, leaves=8)
TREES_LARGE = mcts.TreeRules(exploration=40.0)

Solver = Callable[[States | Given], Solution]
Loader = Callable[[], "NetworkHeuristic"]


def solver_of(puzzle: Puzzle, setting: Setting, network: Loader | None = None, named: bool = False) -> Solver:
    """The solver of a setting, ready, which tells a state without a solution before it searches.

    network: loads one; None if there is none.  named: True if the user asked for it, so that auto searches over it.
    """
    provable = puzzle.has_inverses or not puzzle.one_goal  # as exact solvers need
    if setting.is_open and not named and provable:
        return Automatic(puzzle, setting, network)
    if setting.solver in WITHOUT_NETWORK:
        return Named(puzzle, setting, make_ready(puzzle, None, setting))
    if network is None and not setting.is_classical:
        raise UserError(f"The solver {setting.solver} searches over a network: give one, or choose exact.")
    heuristic = heuristic_of(puzzle, setting.heuristic) if setting.is_classical else network()
    chosen = setting.resolved(puzzle, None if setting.is_classical else heuristic)
    proves_itself = chosen.is_classical and chosen.solver in ("bwas", "greedy")
    if chosen.until_proved and provable and not proves_itself:
        return Proving(puzzle, chosen, heuristic)
    return Named(puzzle, chosen, make_ready(puzzle, heuristic, chosen))


def heuristic_of(puzzle: Puzzle, name: str) -> Heuristic:
    """A heuristic that nobody trained; UserError if it does not apply to the puzzle."""
    if name not in (known := heuristics(puzzle)):
        raise UserError(f"There is no heuristic {name} of {puzzle.name}, only {', '.join(known)}.")
    if name == ZERO:
        return zero
    return find_database(puzzle) if name == DATABASE else made(find(puzzle.name)[0].bounds[name])(puzzle)


@dataclass(frozen=True)
class Named:
    """A solver by name.  setting, search: with that solver.  why: see Solution."""

    puzzle: Puzzle
    setting: Setting
    search: Search
    why: str = ""

    def __call__(self, start: States | Given) -> Solution:
        """Search from one start, uint8 [D] or as it is held."""
        state = start.state if isinstance(start, Given) else start
        search = nowhere if no_solution(self.puzzle, state) else self.search
        half_turns, heuristic = self.setting.metric == "htm", self.setting.heuristic or NETWORK
        found = solution_of(self.puzzle, search, start, self.setting.solver, half_turns, heuristic)
        return replace(found, why=self.why)


def nowhere(starts: States) -> SearchResult:
    """What a search finds from states without a solution."""
    return SearchResult.from_rows((np.inf, 0, 0, np.inf, []) for _ in starts)


class Automatic:
    """The solver auto: exact and, if that does not end within its share of the seconds, a search over a heuristic.

    Where there is a solver local: that, if the search finds nothing, or if there is no network. What it finds is made
    shorter in the seconds that are left.

    network: loads one, once exact has not ended; without one, searches go by the best bound of the puzzle, if any.
    """

    def __init__(self, puzzle: Puzzle, setting: Setting, network: Loader | None):
        self.puzzle, self.setting, self.network = puzzle, setting, network
        self.values = None  # by which solutions of sliding tiles are made shorter, where a network has such
        self.bound = next(reversed(find(puzzle.name)[0].bounds), None)
        of_exact = Setting("exact", self.share * setting.effort, max_nodes=setting.max_nodes)
        search = exact_search(puzzle, of_exact, patient=False)
        warm_up(puzzle, search, NEAR)
        listed, by_rules = "the puzzle can be listed", f"by {find(puzzle.name)[0].exact_by}"
        why = listed if is_tabled(puzzle) else by_rules if is_immediate(puzzle) else "it ended in time"
        self.exact = Named(puzzle, of_exact, search, why)

    @property
    def share(self) -> float:
        """Of the seconds, for exact: all if there is no other search, more where it mostly ends than elsewhere."""
        if not self.puzzle.one_goal or 0 < self.puzzle.side <= QUICKLY_BUILT:
            return OFTEN
        return SELDOM if self.network or self.bound else 1

    @cached_property
    def other(self) -> tuple[Setting, Callable[[Setting], Search]]:
        """The setting of the search over a heuristic, and what makes one within some seconds."""
        if self.network:
            heuristic = self.network()
            setting = self.setting.resolved(self.puzzle, heuristic)
        else:
            heuristic = heuristic_of(self.puzzle, self.bound)
            setting = replace(self.setting, heuristic=self.bound).resolved(self.puzzle)
        self.values = tile_values(heuristic)
        if self.has_local:
            shorten.warm_up(self.puzzle)
        return setting, prepared(self.puzzle, heuristic, setting)

    @property
    def has_local(self) -> bool:
        """Whether there is a solver local, and what makes solutions shorter."""
        return find(self.puzzle.name)[0].local is not None

    def __call__(self, start: States | Given) -> Solution:
        """Search from one start, uint8 [D] or as it is held."""
        first = self.exact(start)
        if first.solved or np.isposinf(first.lower_bound) or not (self.network or self.bound):
            return first
        if self.network or not self.has_local:
            setting, search_of = self.other
            left = self._left(first)
            setting = replace(setting, seconds=left * (1 - SHORTENING * self.has_local))
            search = search_of(setting)
            if self.has_local:
                search = partial(_made_shorter, self.puzzle, search, left, values=self.values)
            why = (
                f"exact had not ended after {first.seconds:.1f} s{'' if self.network else ', and there is no network'}"
            )
            found = Named(self.puzzle, setting, search, why)(start).after(first)
            if found.solved or not self.has_local:
                return found
            first = found
        search = partial(_made_shorter, self.puzzle, self.local, self._left(first), values=self.values)
        return Named(self.puzzle, LOCAL, search, FAILED if self.network else ALONE)(start).after(first)

    @cached_property
    def local(self) -> Search:
        """The solver local, ready, as is what makes its solutions shorter."""
        shorten.warm_up(self.puzzle)
        return make_ready(self.puzzle, None, LOCAL)

    def _left(self, first: Solution) -> float:
        """The seconds that a search leaves."""
        return max(0.0, self.setting.effort - first.seconds)


def _made_shorter(
    puzzle: Puzzle, search: Search, seconds: float, starts: States, *, values: TupleValues | None = None
) -> SearchResult:
    """What a search finds of one start, uint8 [1, D], made shorter in what it leaves of some seconds."""
    begun, found = time.monotonic(), search(starts)
    if not found.solved[0] or found.cost[0] <= found.lower_bound[0]:
        return found
    left, threads = seconds - (time.monotonic() - begun), len(os.sched_getaffinity(0))
    solution = shorten.shorten(puzzle, starts[0], found.solutions[0], seconds=left, threads=threads, values=values)
    return replace(found, cost=np.array([len(solution)], dtype=np.float64), solutions=[solution])


class Proving:
    """A search over a heuristic, and exact for what that leaves open, until no solution can be shorter.

    setting: with the solver of the first search.
    """

    def __init__(self, puzzle: Puzzle, setting: Setting, heuristic: Heuristic):
        first = replace(setting, seconds=FINDING * setting.effort, until_proved=False)
        self.setting, self.first = setting, Named(puzzle, first, make_ready(puzzle, heuristic, first))

    def __call__(self, start: States | Given) -> Solution:
        """Search from one start, uint8 [D] or as it is held."""
        found = self.first(start)
        if found.proved or np.isposinf(found.lower_bound):
            return found
        report_ended(found.nodes_expanded, found.nodes_generated, found.length if found.solved else np.inf)
        left = max(0.0, self.setting.effort - found.seconds)
        return prove(found, Setting("exact", left, max_nodes=self.setting.max_nodes))


def prove(found: Solution, setting: Setting) -> Solution:
    """A solution with what exact proves of it, or a shorter one.  setting: of the solver exact."""
    search = exact_search(found.puzzle, setting, shorter_than=found.length if found.solved else np.inf)
    proof = Named(found.puzzle, setting, search)(found.given or found.start)
    if not found.solved:
        return replace(proof, why=f"{found.solver} found none").after(found)
    if proof.solved and proof.length < found.length:
        why = f"shorter than the {found.length:,} {found.metric} of {found.solver}"
        return replace(proof, why=why).after(found)
    ended = "ruled out all that are shorter" if proof.lower_bound >= found.length else "had not ended"
    return replace(found, why=f"exact {ended} after {proof.seconds:.1f} s").after(proof)


def prove_known(puzzle: Puzzle, start: States | Given, known: list[int], solver: str, setting: Setting) -> Solution:
    """prove for a solution by its actions; UserError if they do not solve the start.  solver: that found it."""
    state = start.state if isinstance(start, Given) else start
    if not solves(puzzle, state[None], [np.array(known)])[0]:
        raise UserError(f"The {len(known):,} moves that are given as a solution do not solve the state.")
    again = SearchResult.from_rows([(len(known), 0, 0, 0.0, known)])
    return prove(solution_of(puzzle, lambda starts: again, start, solver), setting)


def make_ready(puzzle: Puzzle, heuristic: Heuristic | None, setting: Setting) -> Search:
    """The search of a setting, after a first small search, so that its seconds exclude loading compiled code.

    heuristic: None for the solvers that need no network.
    """
    if heuristic is None:
        search = without_network(puzzle, setting)
        warm_up(puzzle, search, NEAR)
        return search
    return prepared(puzzle, heuristic, setting)(setting)


def prepared(puzzle: Puzzle, heuristic: Heuristic, setting: Setting) -> Callable[[Setting], Search]:
    """What makes the search over a heuristic of a setting, or of one with other limits, after a first small search."""
    guided = setting.solver == "beam" and getattr(heuristic, "has_policy", False)
    scores = PolicyGuide(heuristic) if guided else heuristic
    scores = scores if setting.average == 1 else AveragedHeuristic(puzzle, scores, setting.average)
    nearby = find_nearby(puzzle) if setting.solver == "beam" or not is_listed(puzzle) else None
    if setting.is_classical and nearby is not None:
        scores, nearby = NearbyHeuristic(scores, nearby, is_bound=True), None
    search_of = partial(_over_heuristic, puzzle, scores, nearby)
    warm_up(puzzle, search_of(replace(setting, max_expansions=2, seconds=0.1)))
    return search_of


def _over_heuristic(puzzle: Puzzle, heuristic: Heuristic, nearby: Ends | None, setting: Setting) -> Search:
    """A search over a heuristic; nearby: exact distances around the goal of a puzzle too large to list."""
    room = machine_memory() // (
        2 * (puzzle.cells + NODE_BYTES)
    )  # in half the memory, for arrays are copied as they grow
    most, setting = setting.max_nodes, replace(setting, max_nodes=min(setting.max_nodes, room))
    if setting.solver in ("bwas", "greedy"):
        known = heuristic if nearby is None else NearbyHeuristic(heuristic, nearby)
        return partial(bwas.solve, puzzle, known, **options_of_bwas(puzzle, setting))
    if setting.solver == "mcts":
        trees = TREES_LISTED if is_listed(puzzle) else TREES_LARGE
        return partial(mcts.solve, puzzle, heuristic, rules=trees, limits=_limits(setting, MOST_EVALUATED))
    if setting.solver == "beam" and (values := tile_values(heuristic)) is not None:
        room = min(most * USUAL_BYTES, machine_memory() // 2) // tile_beam.NODE_BYTES
        threads = len(os.sched_getaffinity(0))
        return partial(tile_beam.solve, puzzle, values, seconds=setting.effort, max_nodes=room, threads=threads)
    options = {"seconds": setting.effort, "max_nodes": setting.max_nodes, "nearby": nearby}
    if setting.solver == "rising":
        bound = setting.is_classical
        weights, batch_size = (RISING_BOUNDS, RISING_BOUND_BATCH) if bound else (RISING, RISING_BATCH)
        options |= {"path_weights": weights, "is_bound": bound}
        options |= {"batch_size": setting.batch_size or batch_size, "widening": True}
    return partial(anytime.solve, puzzle, heuristic, **options)


def tile_values(heuristic: Heuristic) -> TupleValues | None:
    """What compiled beams on sliding tiles go by, where a heuristic is a network of kind tuples."""
    values = getattr(heuristic, "evaluate_children", None)
    return values if isinstance(values, TupleValues) else None


def options_of_bwas(puzzle: Puzzle, setting: Setting) -> dict[str, Any]:
    """λ, N, where a search ends, and whether it goes on: keyword arguments of bwas.solve."""
    given = {name: value for name in LISTED if (value := getattr(setting, name)) is not None}
    greedy = {"path_weight": 0.0, "batch_size": 1} if setting.solver == "greedy" else {}
    options = (LISTED if is_listed(puzzle) else LARGE) | greedy | given
    limits = _limits(setting, options.pop("max_expansions"))
    return {**options, "limits": limits, "until_proved": setting.until_proved}


def _limits(setting: Setting, max_expansions: int) -> Limits:
    """Where a search ends; max_expansions: for a setting that has none."""
    seconds = np.inf if setting.seconds is None else setting.seconds
    most = max_expansions if setting.max_expansions is None else setting.max_expansions
    return Limits(most, setting.max_nodes, seconds)


def without_network(puzzle: Puzzle, setting: Setting) -> Search:
    """The solver exact or local; UserError if the puzzle has none."""
    if setting.solver not in WITHOUT_NETWORK:
        raise UserError(f"The solver {setting.solver} searches over a network: give one, or choose exact.")
    if setting.solver == "exact":
        return exact_search(puzzle, setting)
    module = find(puzzle.name)[0].local
    if module is None:
        raise UserError(
            f"There is no local solver of {puzzle.name}, only of sliding tiles; choose another one with --solver."
        )
    return made(module)(puzzle)
