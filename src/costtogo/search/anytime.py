"""The best solution within some seconds: by beams from many images of a state, or by BWAS with one λ after another.

A puzzle may have symmetries, and the inverse of a state may be a state: a solution of any image is one of the state.
A beam over another image is worth more than a beam twice as wide, until all images of a width have been searched.
BWAS is quick with a small λ or N and finds shorter solutions with larger ones, if it ends in time; what it finds of
sliding tiles can be made shorter stretch by stretch.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import chain, cycle, islice
from itertools import count as counted

import numpy as np

from costtogo.exact.nearby import Ends
from costtogo.exact.solver import Guide
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.progress import report_ended
from costtogo.puzzles.base import Puzzle
from costtogo.search import beam, bwas, shorten
from costtogo.search.beam import BeamLimits, reach
from costtogo.types import ActionHeuristic, Heuristic, SearchResult, States

# A width, and from how many images; the last goes on, four times wider.
WIDTHS = ((100, 1), (1_000, 1), (40_000, 8), (160_000, 32))
MOST_NODES = 10_000_000  # that a guide keeps
LEVELS = 30  # of a beam, about, all of which the memory must hold
VIEWS = 2  # images of a state that searches with a growing N go over
MARGIN = 1.2  # times longer than the search before may a search of the same width take
OTHERS = 3  # searches that may take as long again, after one that tries a larger λ


@dataclass
class Best:
    """The shortest solution so far, and the work of all searches."""

    cost: float = np.inf
    nodes_expanded: int = 0
    nodes_generated: int = 0
    lower_bound: float = 0.0
    solution: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    out_of_memory: bool = False
    out_of_time: bool = False

    def take(self, found: SearchResult, image: "Image") -> None:
        """Add one search from an image of the state, its solution as one of the state itself."""
        self.nodes_expanded += int(found.nodes_expanded[0])
        self.nodes_generated += int(found.nodes_generated[0])
        self.lower_bound = max(self.lower_bound, float(found.lower_bound[0]))
        self.out_of_memory |= bool(found.out_of_memory[0])
        self.out_of_time |= bool(found.out_of_time[0])
        if found.cost[0] < self.cost:
            self.cost, self.solution = float(found.cost[0]), image.back(found.solutions[0])
        report_ended(self.nodes_expanded, self.nodes_generated, self.cost)

    def at_most(self, nearby: Ends) -> int:
        """The moves after which a beam cannot end in a shorter solution any more."""
        return int(self.cost - 1 - reach(nearby)) if np.isfinite(self.cost) else BeamLimits.max_moves

    def result(self) -> SearchResult:
        """One row."""
        return SearchResult.from_rows([astuple(replace(self, lower_bound=min(self.lower_bound, self.cost)))])


@dataclass(frozen=True)
class Image:
    """A state seen through a symmetry of the puzzle, a number among them, or that of its inverse."""

    puzzle: Puzzle
    symmetry: int | None = None
    inverted: bool = False

    def of(self, state: States) -> States:
        """The image of a state, uint8 [1, D]."""
        image = state[None]
        if self.symmetry is not None:
            image = self.puzzle.symmetries[self.symmetry].apply(image)
        return self.puzzle.inverse_states(image) if self.inverted else image

    def back(self, solution: np.ndarray) -> np.ndarray:
        """A solution of the image as one of the state, int8."""
        if self.inverted:
            solution = np.array([self.puzzle.inverse(action) for action in solution[::-1]], dtype=np.int8)
        if self.symmetry is not None:
            solution = np.argsort(self.puzzle.symmetries[self.symmetry].actions)[solution]
        return solution.astype(np.int8)


def images(puzzle: Puzzle) -> list[Image]:
    """All images of the states of a puzzle, the states themselves first."""
    symmetries = range(len(puzzle.symmetries)) if puzzle.symmetries else [None]
    inversions = (False, True) if puzzle.inverse_states else (False,)
    return [Image(puzzle, symmetry, inverted) for symmetry in symmetries for inverted in inversions]


def schedule(count: int) -> Iterator[tuple[int, int]]:
    """Widths and numbers of images below `count`, without end: each width with other images than the last."""
    numbers, (widest, most) = cycle(range(count)), WIDTHS[-1]
    wider = ((widest * 4**times, most) for times in counted(1))
    for width, times in chain(WIDTHS, wider):
        for image in islice(numbers, min(times, count)):
            yield width, image


def solve(
    puzzle: Puzzle,
    heuristic: Heuristic | ActionHeuristic,
    starts: States,
    *,
    seconds: float,
    max_nodes: int,
    nearby: Ends | None = None,
    path_weights: Sequence[float] = (),
    **options,
) -> SearchResult:
    """The best solution of one start, uint8 [1, D], within some seconds: by BWAS where λ are given, else by beams.

    nearby: exact distances around the goal, which beams need.  options: the other fields of Weighted.
    """
    (start,) = starts
    if not path_weights:
        return solve_within(puzzle, heuristic, start, seconds=seconds, nearby=nearby, max_nodes=max_nodes)
    known = heuristic if nearby is None else NearbyHeuristic(heuristic, nearby)
    return solve_with_weights(
        puzzle, known, start, Weighted(path_weights, **options), seconds=seconds, max_nodes=max_nodes
    )


def solve_images(
    puzzle: Puzzle,
    heuristic: ActionHeuristic,
    starts: States,
    *,
    width: int,
    count: int,
    nearby: Ends,
    limits: BeamLimits = BeamLimits(),
) -> SearchResult:
    """The shortest solution of one start, uint8 [1, D], by beams of one width from the first `count` of its images."""
    best, (start,) = Best(), starts
    for image in images(puzzle)[:count]:
        # A beam that goes on for as long as the best solution so far cannot find a shorter one.
        narrower = replace(limits, max_moves=min(limits.max_moves, best.at_most(nearby)))
        found = beam.solve(puzzle, heuristic, image.of(start), width=width, nearby=nearby, limits=narrower)
        best.take(found, image)
        # A solution as short as the bound is optimal.
        if best.cost <= best.lower_bound:
            break
    return best.result()


def guide_of(puzzle: Puzzle, heuristic: ActionHeuristic, nearby: Ends) -> Guide:
    """The solutions that a network finds by beams, for an exact solver to begin with."""

    def solution(start: States, seconds: float, enough: int) -> list[int] | None:
        limits = {"seconds": seconds, "nearby": nearby, "max_nodes": MOST_NODES, "enough": enough}
        found = solve_within(puzzle, heuristic, start, **limits)
        return found.solutions[0].tolist() if found.solved[0] else None

    return solution


def solve_within(
    puzzle: Puzzle,
    heuristic: ActionHeuristic,
    start: States,
    *,
    seconds: float,
    nearby: Ends,
    max_nodes: int = BeamLimits.max_nodes,
    enough: int = 0,
) -> SearchResult:
    """Improve the solution of one start, uint8 [D], until the time is up or the solution is known to be optimal.

    enough: moves of a solution that need not be improved.
    A search that cannot find a shorter solution any more ends; one that would not end in time is made narrower. All end
    once beams from all images were as wide as the memory allows.
    """
    deadline, best, every = time.monotonic() + seconds, Best(), images(puzzle)
    at_widest = 0  # beams so far that were as wide as the memory allows
    rate, wide = 0.0, 0  # seconds that the widest search took for each state of its width, and that width
    widest = max(1, max_nodes // max(LEVELS, len(puzzle.actions)))  # a step may hold all children of a level
    for width, number in schedule(len(every)):
        # The width that should end in time, by the seconds that searches took so far.
        begun = time.monotonic()
        in_time = int((deadline - begun) / (MARGIN * rate)) if rate else width
        if in_time < WIDTHS[0][0] or at_widest == len(every):
            break
        # Search from another image, only for solutions shorter than the best.
        width = min(width, in_time, widest)
        at_widest += width == widest
        limits = BeamLimits(max_moves=best.at_most(nearby), max_nodes=max_nodes, seconds=deadline - begun)
        found = beam.solve(puzzle, heuristic, every[number].of(start), width=width, nearby=nearby, limits=limits)
        best.take(found, every[number])
        if best.cost <= max(best.lower_bound, enough):
            break
        if width >= wide:
            rate, wide = (time.monotonic() - begun) / width, width
    return best.result()


@dataclass(frozen=True)
class Turn:
    """One search by BWAS.

    image: of the state, from which it searches.  waiting: images that this λ has not been searched with yet, this one
    among them: they share the time.
    """

    path_weight: float
    batch_size: int
    image: Image
    waiting: int = 1

    def limits(self, deadline: float, max_nodes: int, sharing: int) -> bwas.Limits:
        """Its share of the time until a deadline on the monotonic clock.  sharing: other searches that have as much."""
        share = self.waiting + sharing
        return bwas.Limits(max_nodes=max_nodes, seconds=max(0, deadline - time.monotonic()) / share)


class Widening:
    """Searches with as large an N as should end in time, from one image of the state after another.

    Another image is worth more than twice the N: it is searched next, and an image again only with twice its N.
    """

    def __init__(self, puzzle: Puzzle, batch_size: int):
        self.views = images(puzzle)[:VIEWS]
        self.largest = [batch_size, *[batch_size / 2] * (len(self.views) - 1)]  # N that each was searched with
        self.numbers = counted(1)

    def after(self, last: Turn, took: float, left: float) -> Turn | None:
        """The next search; None where no N is large enough for the seconds left.

        took: the seconds of the last one, which grow with N.
        """
        number = next(self.numbers)
        view = number % len(self.views)
        most = last.batch_size * left / (MARGIN * took)
        # The first ones leave time for the other images, where there is enough.
        for batch_size in (int(most / max(1, len(self.views) - number + 1)), int(most)):
            batch_size = min(batch_size, bwas.LARGEST_BATCH)
            if batch_size >= 2 * self.largest[view]:
                self.largest[view] = batch_size
                return Turn(last.path_weight, batch_size, self.views[view])
        return None


@dataclass(frozen=True)
class Weighted:
    """Which searches by BWAS make up one within some seconds.

    path_weights: each λ, in turn.  batch_size: N.  count: the images of a state that each λ searches from.
    widening: whether the last λ that found a solution is searched with again, and again, as large an N each time as
    should end in time, from the state and from another image of it (Widening). Once there is a solution, a search with
    a larger λ has a quarter of the time that is left, or all of it for a proof.
    shortening: the share of the time that is left, once there is a solution, for making the best one shorter by
    stretches (search.shorten), of sliding tiles alone.  threads: that do so; their work is not counted.
    is_bound: True if the heuristic never overestimates: the search with λ = 1 then goes on until it has a proof.
    """

    path_weights: Sequence[float]
    batch_size: int
    count: int = 1
    widening: bool = False
    shortening: float = 0
    threads: int = 1
    is_bound: bool = False

    def turns(self, puzzle: Puzzle) -> Iterator[Turn]:
        """The searches that are made in any case, as long as there is time."""
        some = images(puzzle)[: self.count]
        for weight in self.path_weights:
            for place, image in enumerate(some):
                yield Turn(weight, self.batch_size, image, len(some) - place)


def solve_with_weights(
    puzzle: Puzzle,
    heuristic: Heuristic,
    start: States,
    weighted: Weighted,
    *,
    seconds: float,
    max_nodes: int = bwas.Limits.max_nodes,
) -> SearchResult:
    """The shortest of the solutions of one start, uint8 [D], by BWAS with each λ in turn until the time is up."""
    share = weighted.shortening if puzzle.family == "sliding" else 0
    if share:
        shorten.warm_up(puzzle)  # so that no later time holds the loading of compiled code
    deadline, best, kept = time.monotonic() + seconds, Best(), 0.0
    planned, widening = weighted.turns(puzzle), Widening(puzzle, weighted.batch_size)
    turn, solving, took, proved = next(planned, None), None, 0.0, False
    while turn is not None:
        # Search with one λ from one image.
        proves = weighted.is_bound and turn.path_weight == 1
        tries = solving is not None and solving.path_weight < turn.path_weight and not proves
        sharing = OTHERS if tries and weighted.widening else 0
        begun, limits = time.monotonic(), turn.limits(deadline - kept, max_nodes, sharing)
        setting = {"path_weight": turn.path_weight, "batch_size": turn.batch_size, "limits": limits}
        found = bwas.solve(puzzle, heuristic, turn.image.of(start), until_proved=proves, **setting)
        best.take(found, turn.image)
        # End where all states that can be reached were, without the goal, or where the best solution is proved.
        proved = np.isposinf(best.lower_bound) or (weighted.is_bound and best.cost <= best.lower_bound)
        # Time is kept for shortening only once there is something to shorten.
        kept = share * seconds if np.isfinite(best.cost) else kept
        ended = time.monotonic()
        left = deadline - kept - ended
        if left <= 0 or proved:
            break
        # Go on with the next λ or image; after the last one, with a larger N and from another image.
        if found.solved[0]:
            solving, took = turn, ended - begun
        turn = next(planned, None)
        if turn is None and weighted.widening and solving is not None:
            turn = widening.after(solving, took, left)
    if share and np.isfinite(best.cost) and not proved:
        left = deadline - time.monotonic()
        best.solution = shorten.shorten(puzzle, start, best.solution, seconds=left, threads=weighted.threads)
        best.cost = float(len(best.solution))
    return best.result()
