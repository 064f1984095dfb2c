"""Shortest solutions of the 3×3×3 cube by IDA* over the distances of its cosets, compiled (docs/optimal.md).

A depth-first search with a growing bound on the length; the first bound that has a solution is the optimum. A bound of
the distance left is the largest of six: along the three axes, of the cube and of its inverse. Where a cube's inverse is
as far from an axis' subgroup as there are moves left, no move of that subgroup can be the next: it leaves that distance
as it is. In quarter turns the bounds grow by two, because every move changes the parity of the corners' permutation.

The children of some nodes are tested together, one of the six distances at a time, first the one by which their
parent is farthest. A lookup has two steps, its class and its entry, and each step of all is asked of the memory before
any is read. Before its last move a cube is in the subgroup of that move's axis: a child is left if all three distances,
of the cube or of its inverse, are as many as there are moves left.

Before each search that takes long, a guide is asked for a solution, of any length, from one image of the start after
another: where it finds a shortest one, the last search, which takes longer than all before it, is spared.

The tree is cut into the subtrees of all words of a few moves, each cube once up to the symmetries of the start. Threads
take them in the order of the nodes that they took under the bound before. The solution is that of the first subtree in
this order that has one: it does not depend on the threads.
"""

import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from costtogo.compiled import njit
from costtogo.exact import meeting
from costtogo.exact.cosets import FIRST_LEAST, FLIPS, LINE, ROW, RUN, SETS, TRAILER, Cosets
from costtogo.exact.hashing import hash_states
from costtogo.exact.solver import ExactSearch, Guide, Means
from costtogo.progress import SECONDS_BETWEEN, report
from costtogo.puzzles.cube import OPPOSITE
from costtogo.puzzles.cube3 import Cube3
from costtogo.search.ida_star import AT_GOAL, DEPTH, NO_ROOT, ROOT, SOLVED, take_next
from costtogo.types import NO_STATE, SearchResult, States

NEAR = 100_000  # children of one start that are generated before the table is used: of cubes up to four moves away
LONGEST = 40  # moves of a path
SLICE = 2_000_000  # nodes that a thread generates between two looks at the clock
UNCUT = 200_000  # nodes of a search that is not cut
GUIDED = 16  # seconds of a search before which a guide is asked
ASKING = 1 / 8  # of these seconds, the share that it has at most
GUIDING = 8  # seconds that it has at least
GROWTH = {1: 13, 2: 88}  # of the nodes from one bound to the next, by the step
SUBTREES = 1_000  # that it is cut into, at least
GROUP = 32  # nodes of a depth that are expanded together
AXES = 3
SHARES = 20  # bits of a fraction by which the number of a slice is divided by that of its arrangements
# Numbers of a node: coordinates along the axes, pairs of pieces, distances of the inverse and of the cube itself from
# the axes' subgroups, what has read the moves on this end and on the other, which end this is, the last move, the end
# where it was made, the parent, the order of the axes.
PAIRS, BACK, AHEAD, READER, OTHER, END, MOVE, MADE_AT, PARENT, ORDER, NODE = 9, 19, 22, 25, 26, 27, 28, 29, 30, 31, 32


class Roots(NamedTuple):
    """The subtrees that are searched, in order; their roots are all equally far from the start."""

    nodes: np.ndarray  # uint16 [R, NODE]
    bounds: np.ndarray  # int64 [R], of the distance left
    counts: np.ndarray  # int64 [R, 2], nodes expanded and generated under this bound
    ways: np.ndarray  # int8 [R, moves to the root]


class Path(NamedTuple):
    """The nodes that a thread searches, a row for each depth; a search may stop anywhere and go on.

    A row has the children of a group of the row above; row 0 the root alone.
    """

    nodes: np.ndarray  # uint16 [depths, GROUP · M, NODE]
    alive: np.ndarray  # uint16 [depths, GROUP · M], the nodes that are within the bound
    count: np.ndarray  # int64 [depths], of these
    chosen: np.ndarray  # int64 [depths], how many of them have been expanded
    place: np.ndarray  # int64 [3]: depth, root or NO_ROOT, whether the goal has been reached


class Rules(NamedTuple):
    """Which moves are tried."""

    onward: np.ndarray  # int16 [2 M + 1, M], see words
    open: np.ndarray  # int32 [2 M + 1], a bit for each move that is tried
    within: np.ndarray  # int32 [axes], a bit for each move of an axis' subgroup
    sizes: np.ndarray  # uint8 [512], the number of bits in nine


class Lookup(NamedTuple):
    """What the children of a group are looked up with: the table of distances, and room for the two steps to it."""

    rows: np.ndarray  # uint8, of cosets.build
    base: int
    classes: np.ndarray  # see Coordinates
    arranged: np.ndarray
    entries: np.ndarray
    arrangements: int
    share: int  # of SHARES
    starts: np.ndarray  # int64 [GROUP · M], -1 where nothing is looked up
    places: np.ndarray  # int64 [GROUP · M]


class Inverse(NamedTuple):
    """What coordinates of the inverse are made of, and room for it."""

    within: np.ndarray  # see Coordinates
    slices: np.ndarray
    twists: np.ndarray
    edges: np.ndarray
    sums: np.ndarray  # uint64 [GROUP · M, 3], of _inverse_sums
    codes: np.ndarray  # int64 [12], for _invert


def words(puzzle: Cube3, moves: list[tuple[int, ...]]) -> np.ndarray:
    """Which words of moves are tried: the reader's next state by its state and the move, int16 [2 M + 1, M].

    State m + 1 has read move m last, M + m + 1 twice; NO_STATE where another word gives the same cube: turns of one
    face follow each other only as its clockwise quarter twice, those of two opposite faces only in one order.
    """
    count, faces = len(moves), [puzzle.actions[move[0]][0] for move in moves]
    twice = len({len(move) for move in moves}) == 1  # in quarter turns
    onward = np.tile(np.arange(1, count + 1, dtype=np.int16), (2 * count + 1, 1))
    for last, own in enumerate(faces):
        for move, face in enumerate(faces):
            if face == own or (face == OPPOSITE[own] and face < own):
                onward[[last + 1, count + last + 1], move] = NO_STATE
        if twice and moves[last][0] < puzzle.inverse(moves[last][0]):
            onward[last + 1, last] = count + last + 1
    return onward


def exact_search(puzzle: Cube3, means: Means) -> ExactSearch | None:
    """Breadth-first search from both ends of starts that are near the goal; of others IDA*, where there is a table.

    In half turns IDA* alone.
    """
    if means.cosets is None:
        return meeting.exact_search(puzzle, means)
    near = None if means.half_turns else meeting.exact_search(puzzle, replace(means, max_generated=NEAR))

    def solve(starts: States) -> SearchResult:
        found = None if near is None else near(starts)
        if found is not None and (found.solved.all() or found.out_of_time.any()):
            return found
        limits = means.seconds, means.threads, means.guide, means.shorter_than
        return OptimalSearch(*means.cosets(), *limits).solve(starts)

    return solve


class OptimalSearch:
    """A search for one start at a time over the table of a metric.

    rows: of cosets.build.  seconds: of each search.  threads: work on one search at a time.  guide, shorter_than: see
    Means.
    """

    def __init__(
        self,
        cosets: Cosets,
        rows: np.ndarray,
        seconds: float = np.inf,
        threads: int = 1,
        guide: Guide | None = None,
        shorter_than: float = np.inf,
    ):
        self.cosets, self.rows, self.base = cosets, rows, int(rows[-TRAILER])
        self.seconds, self.threads, self.guide, self.shorter_than = seconds, threads, guide, shorter_than
        onward, within = words(cosets.puzzle, cosets.moves), cosets.coordinates.within
        bits, parts = 1 << np.arange(len(cosets.moves)), np.arange(512)[:, None] >> np.arange(9) & 1
        self.rules = Rules(
            onward,
            ((onward != NO_STATE) @ bits).astype(np.int32),
            ((within[None] >> np.arange(AXES)[:, None] & 1) @ bits).astype(np.int32),
            parts.sum(axis=1).astype(np.uint8),
        )

    def solve(self, starts: States) -> SearchResult:
        """Shortest solutions of starts, uint8 [B, D], in the metric's moves; solutions are in quarter turns.

        A search whose seconds are up ends unsolved; its lower_bound is proved.
        """
        return SearchResult.from_rows(self._solve_one(start) for start in starts)

    def bounds(self, states: States) -> np.ndarray:
        """A lower bound of the distance of states, uint8 [N, 54], by the table: int64 [N]."""
        return Deepening(self, states[0], 0).roots_of(states).bounds

    def _solve_one(self, start: np.ndarray) -> tuple:
        """A row of a SearchResult."""
        search = Deepening(self, start, time.monotonic() + self.seconds)
        search.run(1, UNCUT)
        if search.goes_on:
            search.cut()
            search.run(self.threads, np.inf)
        expanded, generated = search.counts.tolist()
        if search.solution is None and (search.bound < search.below or not search.asked):
            late = search.bound < search.below
            return np.inf, expanded, generated, min(search.bound, search.below), [], False, late
        if search.solution is None:  # none is shorter than the one that is known
            return search.below, expanded, generated, search.below, search.asked
        actions = [action for move in search.solution for action in self.cosets.moves[move]]
        return search.bound, expanded, generated, search.bound, actions


class Deepening:
    """Depth-first searches of one start, with bounds that grow.

    bound: of the search that is going on; no solution is shorter.  solution: moves, None until one is found.  counts:
    nodes expanded and generated under finished bounds.  below: the length of a solution that is known.  asked: its
    actions, where the guide found it.
    """

    def __init__(self, of: OptimalSearch, start: np.ndarray, end: float):
        self.of, self.start, self.end = of, start, end
        self.asked: list[int] = []
        self.below, self.questions = of.shorter_than, int(of.shorter_than < np.inf)  # the start itself has been asked
        self.known, self.step = of.cosets.coordinates, 1 if len({len(m) for m in of.cosets.moves}) > 1 else 2
        self.counts, self.late = np.zeros(2, dtype=np.int64), False
        self.took: list[tuple[int, float]] = []  # nodes generated and seconds of each finished bound
        self.solution = np.zeros(0, dtype=np.int64) if of.cosets.puzzle.is_goal(start[None])[0] else None
        self.roots = self.roots_of(start[None])
        self.bound = 0 if self.solution is not None else self._first_bound()

    def _first_bound(self) -> int:
        """The least length that is not ruled out, of the right parity if every move changes it."""
        bound = max(1, int(self.roots.bounds[0]))
        if self.step == 1:
            return bound
        corners = self.of.cosets.puzzle.pieces[0].seen(self.start[None])[0] // 3
        odd = sum(int((corners[:place] > corners[place]).sum()) for place in range(len(corners))) % 2
        return bound + (bound + odd) % 2

    @property
    def goes_on(self) -> bool:
        """True if there is time, and a shorter solution than those known has not been ruled out."""
        return self.solution is None and self.bound < self.below and not self.late

    @property
    def ahead(self) -> tuple[float, float]:
        """The nodes and seconds that the bound takes that is next, about, if there is no solution."""
        nodes, seconds = self.took[-1] if self.took else (0, 0.0)
        return nodes * GROWTH[self.step], seconds * GROWTH[self.step]

    def ask(self) -> None:
        """Ask the guide, if the next bound takes long, for a share of its time or until a solution is as short.

        Each time it starts from another image under a symmetry: its solutions are as long, and a network finds others.
        """
        puzzle, seconds = self.of.cosets.puzzle, self.ahead[1]
        share = min(max(GUIDING, ASKING * seconds), (self.end - time.monotonic()) / 2)
        if self.of.guide is None or seconds <= GUIDED or share < GUIDING:
            return
        symmetry = puzzle.symmetries[self.questions % len(puzzle.symmetries)]
        self.questions += 1
        actions = self.of.guide(symmetry.apply(self.start[None])[0], share, self.bound)
        if actions is None:
            return
        length = len(actions) if self.step == 2 else puzzle.half_turn_length(actions)
        if length < self.below:
            self.below, self.asked = length, np.argsort(symmetry.actions)[actions].tolist()

    def run(self, threads: int, most: float) -> None:
        """Search with one bound after another until there is a solution, the time is up, or the next takes too long.

        most: nodes that one may take.
        """
        paths = [_new_path(len(self.of.cosets.moves)) for _ in range(threads)]
        with ThreadPoolExecutor(threads) as pool:  # which starts its threads when they are needed
            while self.goes_on and self.ahead[0] < most:
                self.ask()
                if not self.goes_on:
                    break
                race, begun = np.array([0, len(self.roots.bounds)]), time.monotonic()
                going = [pool.submit(self._work, race, path) for path in paths[1:]]
                done = [self._work(race, paths[0])]
                while wait(going, timeout=SECONDS_BETWEEN).not_done:
                    report(self.work, self.told)
                self.late = not all([*done, *(each.result() for each in going)])
                self.took.append((int(self.roots.counts[:, 1].sum()), time.monotonic() - begun))
                self._look(paths)

    def work(self) -> tuple[int, int]:
        """Nodes expanded and generated so far, also under the bound that is going on."""
        expanded, generated = (self.counts + self.roots.counts.sum(axis=0)).tolist()
        return expanded, generated

    def told(self) -> str:
        """The bound that is going on, and about how long it and the next take if they have no solution."""
        here = self.ahead[1]
        after = here * GROWTH[self.step]
        known = f", {self.below} are known" if self.below < np.inf else ""
        return f"{self.bound} moves in about {here:,.0f} s, {self.bound + self.step} in {after:,.0f} s{known}"

    def _work(self, race: np.ndarray, path: Path) -> bool:
        """Search subtrees with one path until there are no more (True) or the time is up (False).

        The clock is looked at after a slice, so that a short search ends also where its code had to be compiled first.
        """
        left, of = self.bound - self.roots.ways.shape[1], self.of
        while not (done := _search(path, self.roots, race, left, (of.rows, of.base), of.rules, self.known, SLICE)):
            report(self.work, self.told)
            if time.monotonic() > self.end:
                break
        return done

    def _look(self, paths: list[Path]) -> None:
        """Take the first solution in the order of the subtrees; those of most nodes come first under the next bound."""
        roots, found = self.roots, {int(path.place[ROOT]): path for path in paths if path.place[AT_GOAL]}
        self.counts += roots.counts.sum(axis=0)
        if found and not self.late:
            first = min(found)
            self.solution = np.append(roots.ways[first], self._way(found[first]))
            return
        order = np.argsort(-roots.counts[:, 1], kind="stable")
        self.roots = Roots(*(part[order] for part in roots))
        self.roots.counts[:] = 0
        if not self.late:
            self.bound += self.step

    def _way(self, path: Path) -> list[int]:
        """The moves from the root to the goal: those made at the cube's end, then back those made at its inverse's."""
        moves, slot = self.of.cosets.moves, int(path.alive[path.place[DEPTH], 0])
        ends: tuple[list[int], list[int]] = [], []
        for depth in range(int(path.place[DEPTH]), 0, -1):
            move, end, parent = path.nodes[depth, slot, [MOVE, MADE_AT, PARENT]]
            ends[end].append(int(move))
            slot = parent
        inverse = self.of.cosets.puzzle.inverse
        back = [m if len(moves[m]) > 1 else moves.index((inverse(moves[m][0]),)) for m in ends[1]]
        return ends[0][::-1] + back

    def cut(self) -> None:
        """Cut the tree into the subtrees of its first layer of SUBTREES cubes or more, each cube once."""
        puzzle = self.of.cosets.puzzle
        keeps = [each for each in puzzle.symmetries if (each.apply(self.start[None]) == self.start).all()]
        states, readers, ways = self.start[None], np.zeros(1, np.int16), np.zeros((1, 0), np.int8)
        while len(states) < SUBTREES and ways.shape[1] < self.bound - 1:
            rows, moves = np.nonzero(self.of.rules.onward[readers] != NO_STATE)
            states = states[rows]
            for step in range(2):
                actions = np.array([each[min(step, len(each) - 1)] for each in self.of.cosets.moves])[moves]
                turns = np.array([len(each) > step for each in self.of.cosets.moves])[moves]
                states[turns] = puzzle.move(states[turns], actions[turns])
            readers = self.of.rules.onward[readers[rows], moves]
            ways = np.column_stack([ways[rows], moves]).astype(np.int8)
            least = np.min([hash_states(puzzle, each.apply(states)) for each in keeps], axis=0)
            first = np.sort(np.unique(least, return_index=True)[1])
            states, readers, ways = states[first], readers[first], ways[first]
        roots = self.roots_of(states)._replace(ways=ways)
        roots.nodes[:, READER] = readers
        order = np.argsort(roots.bounds, kind="stable")
        self.roots = Roots(*(part[order] for part in roots))

    def roots_of(self, states: States) -> Roots:
        """Subtrees by the cubes at their roots, as if no moves led there."""
        followed, pairs = self.of.cosets.states(states)
        nodes = np.concatenate([followed, pairs, np.zeros((len(states), NODE - BACK))], axis=1).astype(np.uint16)
        bounds = np.empty(len(states), dtype=np.int64)
        _bounds(nodes, bounds, self.of.rows, self.of.base, self.known)
        counts, ways = np.zeros((len(states), 2), dtype=np.int64), np.zeros((len(states), 0), np.int8)
        return Roots(nodes, bounds, counts, ways)


def _new_path(moves: int) -> Path:
    """A path without a root."""
    depths, most = LONGEST + 1, GROUP * moves
    nodes, alive = np.zeros((depths, most, NODE), dtype=np.uint16), np.zeros((depths, most), dtype=np.uint16)
    return Path(nodes, alive, *np.zeros((2, depths), dtype=np.int64), np.array([0, NO_ROOT, False]))


@intrinsic
def _fetch(context, array, at):
    """Begin to load the cache line of an array's element."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.gep(data, [arguments[1]])
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@njit(cache=True, inline="always")
def _ask(starts, places, i, twist, flip, number, share, classes):
    """Begin to load the class of a coset: the first of two steps to its entry.

    share: of SHARES; without a branch, so that numba counts no references to the arrays.
    """
    starts[i] = (number * share >> SHARES) * FLIPS + flip
    places[i] = number << 12 | twist
    _fetch(classes, starts[i])


@njit(cache=True, inline="always")
def _find(starts, places, count, rows, arrangements, classes, arranged, entries):
    """Begin to load entries that are asked for: where their rows start, and their places there."""
    for i in range(count):
        if starts[i] < 0:
            continue
        reads, twist, number = classes[starts[i]], places[i] & 0xFFF, places[i] >> 12
        symmetry = reads & 15
        starts[i] = (np.int64(reads >> 4) * arrangements + arranged[number, symmetry]) * ROW
        places[i] = entries[twist, symmetry]
        _fetch(rows, starts[i] + (places[i] >> 2))


@njit(cache=True, inline="always")
def _distance(rows, start, entry, base):
    """The lower bound that the table holds."""
    value = np.int64(rows[start + (entry >> 2)] >> ((entry & 3) * 2)) & 3
    if value:
        return base + value
    run = (entry & 255) // RUN
    return np.int64(rows[start + (entry >> 8) * LINE + FIRST_LEAST + (run >> 1)] >> ((run & 1) * 4)) & 15


@njit(cache=True, inline="always")
def _inverse_sums(nodes, slot, inverse_twists, inverse_edges):
    """The sums over a node's pairs: twists, flips and slices of its inverse along all axes."""
    twists, flips, numbers = np.uint64(0), np.uint64(0), np.uint64(0)
    for pair in range(4):
        twists += inverse_twists[pair, nodes[slot, PAIRS + pair]]
    for pair in range(6):
        at = nodes[slot, PAIRS + 4 + pair]
        flips += inverse_edges[pair, at, 0]
        numbers += inverse_edges[pair, at, 1]
    return twists, flips, numbers


@njit(cache=True, inline="always")
def _inverse_coordinates(axis, twists, flips, numbers, slices):
    """Twist, flip and slice of the inverse along an axis, from the sums over its pairs."""
    twist = np.uint16((twists >> np.uint64(12 * axis)) & np.uint64(0xFFF))
    flip = np.uint16((flips >> np.uint64(11 * axis)) & np.uint64(0x7FF))
    return twist, flip, slices[(numbers >> np.uint64(16 * axis)) & np.uint64(0xFFFF)]


@njit(cache=True, inline="always")
def _turn(children, slot, parents, parent, axis, move, steps):
    """Enter a child's coordinates along an axis, and return them.  steps: twist, flip, slice and axis moves."""
    twist_moves, flip_moves, slice_moves, axis_moves = steps
    column, seen = 3 * axis, axis_moves[axis, move]
    twist = twist_moves[parents[parent, column], seen]
    flip = flip_moves[parents[parent, column + 1], seen]
    number = slice_moves[parents[parent, column + 2], seen]
    children[slot, column], children[slot, column + 1], children[slot, column + 2] = twist, flip, number
    return twist, flip, number


@njit(cache=True, inline="always")
def _farthest(nodes, slot):
    """The axis from whose subgroup a node is farthest; the order of all, and of the inverse's, is entered."""
    order = 0
    for place in (BACK, AHEAD):
        zero, one, two = nodes[slot, place], nodes[slot, place + 1], nodes[slot, place + 2]
        if zero >= one and zero >= two:
            first, second, third = 0, 1, 2
        elif one >= two:
            first, second, third = 1, 0, 2
        else:
            first, second, third = 2, 0, 1
        if nodes[slot, place + third] > nodes[slot, place + second]:
            second, third = third, second
        order = order << 6 | third << 4 | second << 2 | first
    nodes[slot, ORDER] = order
    return order & 3


@njit(cache=True, inline="always")
def _all_are(nodes, slot, place, distance):
    """True if a node's distances along all axes are equal to one."""
    near = (nodes[slot, place] != distance) | (nodes[slot, place + 1] != distance)
    return not (near | (nodes[slot, place + 2] != distance))


@njit(cache=True)
def _invert(nodes, row, slot, inverse_twists, inverse_edges, slices, codes):
    """Replace a node by that of the inverse cube: its next move is at the other end.  codes: int64 [12], scratch."""
    twists, flips, numbers = _inverse_sums(nodes[row], slot, inverse_twists, inverse_edges)
    for axis in range(AXES):
        twist, flip, number = _inverse_coordinates(axis, twists, flips, numbers, slices)
        nodes[row, slot, 3 * axis], nodes[row, slot, 3 * axis + 1], nodes[row, slot, 3 * axis + 2] = twist, flip, number
        back, ahead = nodes[row, slot, BACK + axis], nodes[row, slot, AHEAD + axis]
        nodes[row, slot, BACK + axis], nodes[row, slot, AHEAD + axis] = ahead, back
    reader, other = nodes[row, slot, READER], nodes[row, slot, OTHER]
    nodes[row, slot, READER], nodes[row, slot, OTHER] = other, reader
    nodes[row, slot, END] ^= 1
    first = PAIRS
    for size, pairs in ((3, 4), (2, 6)):
        for pair in range(pairs):
            both = nodes[row, slot, first + pair]
            for piece, code in ((2 * pair, both // 24), (2 * pair + 1, both % 24)):
                codes[code // size] = size * piece + (size - code % size) % size
        for pair in range(pairs):
            nodes[row, slot, first + pair] = 24 * codes[2 * pair] + codes[2 * pair + 1]
        first += pairs


@njit(cache=True)
def _bounds(nodes, bounds, rows, base, known):
    """The lower bound of each root; the six distances are entered in its node."""
    arrangements = len(known.slice_moves) // SETS
    share = -(-(1 << SHARES) // arrangements)
    starts, places = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)
    for root in range(len(nodes)):
        sums = _inverse_sums(nodes, root, known.inverse_twists, known.inverse_edges)
        bounds[root] = 0
        for axis in range(AXES):
            for place in (AHEAD, BACK):
                twist, flip, number = _inverse_coordinates(axis, sums[0], sums[1], sums[2], known.slices)
                if place == AHEAD:
                    twist, flip, number = nodes[root, 3 * axis], nodes[root, 3 * axis + 1], nodes[root, 3 * axis + 2]
                _ask(starts, places, 0, twist, flip, number, share, known.classes)
                _find(starts, places, 1, rows, arrangements, known.classes, known.arranged, known.entries)
                nodes[root, place + axis] = _distance(rows, starts[0], places[0], base)
                bounds[root] = max(bounds[root], nodes[root, place + axis])


@njit(cache=True, inline="always")
def _generate(nodes, depth, alive, left, rules, steps, lookup, inverse):
    """The children of nodes that are alive at a depth: their number; each asks for its farthest axis.

    left: moves that a child has left.
    """
    parents, children = nodes[depth], nodes[depth + 1]
    _, opened, subgroup, sizes = rules
    _, _, classes, _, _, _, share, starts, places = lookup
    _, slices, inverse_twists, inverse_edges, _, codes = inverse
    moves, lives = steps[2].shape[1], 0
    for i in range(len(alive)):
        parent = alive[i]
        # A move of an axis' subgroup leaves the inverse's distance from it as it is: it is not tried if that is
        # beyond the bound. Go on at the end, of the cube or its inverse, where fewer moves are left to try.
        cut, other_cut = 0, 0
        for axis in range(AXES):
            if parents[parent, BACK + axis] > left:
                cut |= subgroup[axis]
            if parents[parent, AHEAD + axis] > left:
                other_cut |= subgroup[axis]
        todo = opened[parents[parent, READER]] & ~cut
        other = opened[parents[parent, OTHER]] & ~other_cut
        if sizes[other & 511] + sizes[other >> 9] < sizes[todo & 511] + sizes[todo >> 9]:
            _invert(nodes, depth, parent, inverse_twists, inverse_edges, slices, codes)
            todo = other
        axis = _farthest(parents, parent)
        for move in range(moves):
            if not (todo >> move) & 1:
                continue
            children[lives, MOVE], children[lives, PARENT] = move, parent
            twist, flip, number = _turn(children, lives, parents, parent, axis, move, steps)
            _ask(starts, places, lives, twist, flip, number, share, classes)
            lives += 1
    return lives


@njit(cache=True, inline="always")
def _keep_ahead(parents, children, living, lives, left, steps, lookup):
    """Drop children beyond the bound, one axis after another, the one from which their parent is farthest first."""
    rows, base, classes, arranged, entries, arrangements, share, starts, places = lookup
    for turn in range(AXES):
        _find(starts, places, lives, rows, arrangements, classes, arranged, entries)
        passed = 0
        for i in range(lives):
            distance = _distance(rows, starts[i], places[i], base)
            if distance > left:
                continue
            slot = living[i]
            parent = children[slot, PARENT]
            order = parents[parent, ORDER]
            children[slot, AHEAD + ((order >> (2 * turn)) & 3)] = distance
            if turn + 1 < AXES:
                axis = (order >> (2 * turn + 2)) & 3
                twist, flip, number = _turn(children, slot, parents, parent, axis, children[slot, MOVE], steps)
                _ask(starts, places, passed, twist, flip, number, share, classes)
            # The last move leads into the subgroup of its axis: from that, one move less is left at most.
            elif left > 0 and _all_are(children, slot, AHEAD, left):
                continue
            living[passed] = slot
            passed += 1
        lives = passed
    return lives


@njit(cache=True, inline="always")
def _add_pairs(parents, children, living, lives, pairs, inverse):
    """Enter where the pairs of the children's pieces are, and the sums that their inverses' coordinates are."""
    corner_moves, edge_moves = pairs
    _, _, inverse_twists, inverse_edges, sums, _ = inverse
    for i in range(lives):
        slot = living[i]
        move, parent = children[slot, MOVE], children[slot, PARENT]
        for pair in range(PAIRS, PAIRS + 4):
            children[slot, pair] = corner_moves[parents[parent, pair], move]
        for pair in range(PAIRS + 4, PAIRS + 10):
            children[slot, pair] = edge_moves[parents[parent, pair], move]
        sums[i, 0], sums[i, 1], sums[i, 2] = _inverse_sums(children, slot, inverse_twists, inverse_edges)


@njit(cache=True, inline="always")
def _keep_back(parents, children, living, lives, left, lookup, inverse):
    """Drop children whose inverse is beyond the bound, in the same way, by the sums of _add_pairs."""
    rows, base, classes, arranged, entries, arrangements, share, starts, places = lookup
    within, slices, _, _, sums, _ = inverse
    # The axis first that was farthest for the parent: it drops most children.
    for turn in range(AXES):
        # Ask for the entries of all children, so that memory fetches them side by side.
        for i in range(lives):
            slot = living[i]
            axis = (parents[children[slot, PARENT], ORDER] >> (6 + 2 * turn)) & 3
            if (within[children[slot, MOVE]] >> axis) & 1:
                starts[i] = -1
                continue
            twist, flip, number = _inverse_coordinates(axis, sums[i, 0], sums[i, 1], sums[i, 2], slices)
            _ask(starts, places, i, twist, flip, number, share, classes)
        _find(starts, places, lives, rows, arrangements, classes, arranged, entries)
        # Keep those within the bound. Where the axis does not see the move, the distance is the parent's.
        passed = 0
        for i in range(lives):
            slot = living[i]
            parent = children[slot, PARENT]
            axis = (parents[parent, ORDER] >> (6 + 2 * turn)) & 3
            if starts[i] < 0:
                distance = np.int64(parents[parent, BACK + axis])
            else:
                distance = _distance(rows, starts[i], places[i], base)
            if distance > left:
                continue
            children[slot, BACK + axis] = distance
            if turn == AXES - 1 and left > 0 and _all_are(children, slot, BACK, left):
                continue
            living[passed] = slot
            for part in range(3):
                sums[passed, part] = sums[i, part]
            passed += 1
        lives = passed
    return lives


@njit(cache=True, inline="always")
def _read_on(parents, children, living, lives, onward):
    """What the children's words are to go on with, at either end."""
    for i in range(lives):
        slot = living[i]
        parent = children[slot, PARENT]
        children[slot, MADE_AT] = children[slot, END] = parents[parent, END]
        children[slot, READER] = onward[parents[parent, READER], children[slot, MOVE]]
        children[slot, OTHER] = parents[parent, OTHER]


@njit(cache=True, inline="always")
def _at_home(children, living, lives):
    """True if a child is the goal, which is then the only one alive."""
    found = False
    for i in range(lives):
        slot, home = living[i], True
        for pair in range(4):
            home &= children[slot, PAIRS + pair] == 3 * (24 * 2 * pair + 2 * pair + 1)
        for pair in range(6):
            home &= children[slot, PAIRS + 4 + pair] == 2 * (24 * 2 * pair + 2 * pair + 1)
        if home:
            living[0], found = slot, True
    return found


@njit(cache=True, inline="always")
def _next_root(path, roots, race, bound):
    """Put the next root that the bound lets in at the head of the path; NO_ROOT if none is left."""
    root = take_next(race)
    while root < race[SOLVED] and roots.bounds[root] > bound:
        root = take_next(race)
    if root >= race[SOLVED]:
        return NO_ROOT
    path.nodes[0, 0] = roots.nodes[root]
    path.alive[0, 0], path.count[0], path.chosen[0] = 0, 1, 0
    return root


@njit(cache=True, nogil=True)
def _search(path, roots, race, bound, table, rules, known, allowed):
    """Go on searching: until no subtree is left or one led to the goal (True), or for `allowed` nodes (False).

    bound: without the moves to the roots.  table: of distances, its rows and what they count from. The functions that
    it calls do the work on a whole group of nodes; in each all arrays are locals, as in ida_star, and for its reason.
    """
    nodes, alive, count, chosen, place = path
    twist_moves, flip_moves, slice_moves, classes, arranged, entries = known[:6]
    axis_moves, within, corner_moves, edge_moves, inverse_twists, inverse_edges, slices = known[9:]
    steps, pairs, counts = (twist_moves, flip_moves, slice_moves, axis_moves), (corner_moves, edge_moves), roots.counts
    most, arrangements = nodes.shape[1], len(slice_moves) // SETS
    group, share = most // slice_moves.shape[1], -(-(1 << SHARES) // arrangements)
    starts, places, sums = np.empty(most, np.int64), np.empty(most, np.int64), np.empty((most, 3), np.uint64)
    lookup = Lookup(table[0], table[1], classes, arranged, entries, arrangements, share, starts, places)
    inverse = Inverse(within, slices, inverse_twists, inverse_edges, sums, np.empty(12, np.int64))
    depth, root, expanded, generated, told = place[DEPTH], place[ROOT], 0, 0, 0
    # Another thread has solved an earlier root: this one no longer matters.
    if root > race[SOLVED]:
        root = NO_ROOT
    while generated < allowed:
        if root == NO_ROOT:
            root, depth = _next_root(path, roots, race, bound), 0
            if root == NO_ROOT:
                break
            expanded, told = 0, generated
        if chosen[depth] == count[depth]:
            if depth == 0:
                counts[root, 0] += expanded
                counts[root, 1] += generated - told
                root, expanded, told = NO_ROOT, 0, generated
            else:
                depth -= 1
            continue
        # Generate the children of the next nodes, and drop those beyond the bound.
        left, last = bound - depth - 1, min(chosen[depth] + group, count[depth])
        parents, children, living = nodes[depth], nodes[depth + 1], alive[depth + 1]
        lives = _generate(nodes, depth, alive[depth, chosen[depth] : last], left, rules, steps, lookup, inverse)
        expanded, generated = expanded + last - chosen[depth], generated + lives
        chosen[depth] = last
        for i in range(lives):
            living[i] = i
        lives = _keep_ahead(parents, children, living, lives, left, steps, lookup)
        _add_pairs(parents, children, living, lives, pairs, inverse)
        lives = _keep_back(parents, children, living, lives, left, lookup, inverse)
        _read_on(parents, children, living, lives, rules.onward)
        # Without moves left, a child is solved or of no use.
        if left == 0:
            if _at_home(children, living, lives):
                race[SOLVED], place[AT_GOAL] = min(race[SOLVED], root), True
                depth += 1
                break
        elif lives:
            depth += 1
            count[depth], chosen[depth] = lives, 0
    if root != NO_ROOT:
        counts[root, 0] += expanded
        counts[root, 1] += generated - told
    place[DEPTH], place[ROOT] = depth, root
    return root == NO_ROOT or bool(place[AT_GOAL])
