"""Iterative-deepening A* (Korf 1985, doi:10.1016/0004-3702(85)90084-0) on the sliding-tile puzzles, compiled.

Depth-first searches with a growing bound on f = g + h; the first that reaches the goal has found a shortest solution.
Nothing is stored but the path. A move changes the rank of one pattern in each sum of the heuristic: the ranks are
followed from move to move, and a child beyond the bound in the first sum is not looked up in the others. Words of moves
that another word makes needless are not tried (exact.sliding_words).

A long search is cut into the subtrees of its first layer of many boards, each board once. Those that took most nodes in
an iteration come first in the next: there the goal is likeliest. A thread that has searched one takes the next. The
solution is that of the first subtree in order that has one, and the nodes counted are those of the subtrees up to it:
both are the same whatever the threads and their speeds.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from costtogo.compiled import njit
from costtogo.exact import meeting
from costtogo.exact.sliding_words import automaton
from costtogo.exact.solver import ExactSearch, Means
from costtogo.heuristics.tile_sums import TileSumHeuristic, TileSums, conflict_moves, enter_ranks, line_number
from costtogo.progress import SECONDS_BETWEEN, report
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.types import NO_STATE, SearchResult, States, UserError

LONGEST = 1023  # moves of a path
LONGEST_WORD = 12  # moves of a forbidden word
SLICE = 1_000_000  # nodes that a thread generates between two looks at the clock
UNCUT = 1_000_000  # nodes generated before the tree is cut
SUBTREES = 10_000  # that it is cut into, at least
NEVER = LONGEST + 1  # f of nothing
NO_ROOT = -1

DEPTH, ROOT, AT_GOAL = range(3)  # places in Path.place
NEXT, SOLVED = range(2)  # places in a race: the next root to be searched, and one that has led to the goal


@dataclass(frozen=True)
class IdaLimits:
    """Where a search ends as unsolved: nodes generated, and seconds; of each search."""

    max_generated: float = np.inf
    seconds: float = np.inf


class Moves(NamedTuple):
    """Which actions are tried where, as masks of A bits."""

    onward: np.ndarray  # int32 [states, A], what has read the moves so far: its next state
    kept: np.ndarray  # uint8 [states], the actions that end no forbidden word
    legal: np.ndarray  # uint8 [D], by the blank's cell
    lowest: np.ndarray  # uint8 [1 << A], the first action of a mask


class Roots(NamedTuple):
    """The subtrees that are searched, in order; their roots are all equally far from the start."""

    boards: np.ndarray  # uint8 [R, D]
    readers: np.ndarray  # int32 [R], state of the automaton
    beyond: np.ndarray  # int64 [R], the least f beyond the last bound, without the moves to the root
    counts: np.ndarray  # int64 [R, 2], nodes expanded and generated in this iteration
    ways: np.ndarray  # int8 [R, moves to the root]


class Path(NamedTuple):
    """The path that a thread searches, a row for each depth below its root; a search may stop anywhere and go on."""

    board: np.ndarray  # uint8 [D], at the end of the path
    ranks: np.ndarray  # int64 [S, P], the place of the board's values in each pattern's table
    blank: np.ndarray  # uint8 [depths], its cell
    reader: np.ndarray  # int32 [depths], state of the automaton
    todo: np.ndarray  # uint8 [depths], mask of the actions not yet tried
    action: np.ndarray  # int8 [depths], the one tried last
    totals: np.ndarray  # int64 [depths, S], of each sum
    before: np.ndarray  # int64 [depths, S], the rank that the action changed
    place: np.ndarray  # int64 [3]: depth, root or NO_ROOT, whether the path has reached the goal


def solve(
    puzzle: SlidingTiles,
    heuristic: TileSumHeuristic,
    starts: States,
    *,
    limits: IdaLimits = IdaLimits(),
    threads: int = 1,
) -> SearchResult:
    """Shortest solutions of sliding-tile puzzles; the heuristic is Manhattan or a pattern database.

    A search that reaches a limit ends as unsolved; its lower_bound is that of its last iteration, and a fact.
    threads: work on one search at a time.  starts: uint8 [B, D]; UserError where one cannot be solved.
    """
    for row in np.flatnonzero(~puzzle.is_reachable(starts))[:1]:
        raise UserError(f"Board {row + 1} of {puzzle.name} cannot be solved: two of its tiles are exchanged.")
    return SearchResult.from_rows(_solve_one(puzzle, heuristic, start, limits, threads) for start in starts)


def exact_search(puzzle: SlidingTiles, means: Means) -> ExactSearch | None:
    """solve over a pattern database; without one, breadth-first search from both ends."""
    if means.database is None:
        return meeting.exact_search(puzzle, means)
    limits = IdaLimits(np.inf if means.max_generated is None else means.max_generated, means.seconds)
    return partial(solve, puzzle, means.database(), limits=limits, threads=means.threads)


def _solve_one(
    puzzle: SlidingTiles, heuristic: TileSumHeuristic, start: np.ndarray, limits: IdaLimits, threads: int
) -> tuple:
    """A row of a SearchResult."""
    end = time.monotonic() + limits.seconds
    search = Deepening(puzzle, heuristic, start)
    # A short search is over before its tree is worth cutting.
    search.run(1, end, min(limits.max_generated, UNCUT))
    if search.solution is None and time.monotonic() < end and search.counts[1] < limits.max_generated:
        search.cut()
        search.run(threads, end, limits.max_generated)
    expanded, generated = search.counts.tolist()
    if search.solution is None:
        return np.inf, expanded, generated, search.bound, [], False, time.monotonic() >= end
    return search.bound, expanded, generated, search.bound, search.solution


class Deepening:
    """The iterations of one search.

    bound: of the iteration that is going on, or was the last; no solution has fewer moves.
    counts: int64 [2], nodes expanded and generated.  solution: int8 actions, once found.
    """

    def __init__(self, puzzle: SlidingTiles, heuristic: TileSumHeuristic, start: np.ndarray):
        self.puzzle, self.heuristic, self.moves = puzzle, heuristic, moves_of(puzzle)
        no_way = np.zeros((1, 0), dtype=np.int8)
        self.roots = self._roots(start[None], np.zeros(1, dtype=np.int32), no_way, 0)
        self.bound, self.counts = int(self.roots.beyond[0]), np.zeros(2, dtype=np.int64)
        self.solution = None if self.bound else no_way[0]

    def _roots(self, boards: States, readers: np.ndarray, ways: np.ndarray, least: int) -> Roots:
        """Subtrees in which every f is at least least, less the moves to their roots."""
        beyond = np.maximum(self.heuristic(boards).astype(np.int64), least - ways.shape[1])
        return Roots(boards, readers, beyond, np.zeros((len(boards), 2), dtype=np.int64), ways)

    def run(self, threads: int, end: float, max_generated: float) -> None:
        """Iterate until the goal is found or a limit is reached; end: on the monotonic clock."""
        paths = [_new_path(self.puzzle, self.heuristic.sums) for _ in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            ended = True
            while self.solution is None and ended and (least := int(self.roots.beyond.min())) < NEVER:
                # The next bound is the least f that the last one cut off: no solution lies between.
                self.bound = least + self.roots.ways.shape[1]
                race = np.array([0, len(self.roots.boards)])
                work = partial(self._work, race, least, end, max_generated, threads)
                ended = all(self._in_threads(pool, work, paths) if threads > 1 else [work(paths[0])])
                self._look(paths)

    def work(self) -> tuple[int, int]:
        """Nodes expanded and generated so far, also in the iteration that is going on."""
        expanded, generated = (self.counts + self.roots.counts.sum(axis=0)).tolist()
        return expanded, generated

    def _in_threads(self, pool: ThreadPoolExecutor, work: Callable[[Path], bool], paths: list[Path]) -> list[bool]:
        """What work returns of each path, on a thread of its own; this one reports meanwhile."""
        going = [pool.submit(work, path) for path in paths]
        while wait(going, timeout=SECONDS_BETWEEN).not_done:
            report(self.work)
        return [each.result() for each in going]

    def _work(self, race: np.ndarray, bound: int, end: float, max_generated: float, threads: int, path: Path) -> bool:
        """Search subtrees with one path until there are no more (True) or a limit is reached (False)."""
        while True:
            left = max_generated - self.counts[1] - self.roots.counts[:, 1].sum()
            allowed = int(min(left, SLICE * threads)) // threads
            if allowed <= 0 or time.monotonic() >= end:
                return False
            report(self.work)
            if _search(
                path, self.roots, race, bound, self.heuristic.sums, self.moves, allowed, (0,) * (self.puzzle.side - 1)
            ):
                return True

    def _look(self, paths: list[Path]) -> None:
        """Take the first solution in the order of the subtrees and count the nodes up to it; if there is none, all.

        Then those of most nodes come first.
        """
        roots, found = self.roots, {int(path.place[ROOT]): path for path in paths if path.place[AT_GOAL]}
        counted = len(roots.boards)
        if found:
            first = min(found)
            self.solution = np.append(roots.ways[first], found[first].action[: found[first].place[DEPTH]])
            counted = first + 1
        self.counts += roots.counts[:counted].sum(axis=0)
        order = np.argsort(-roots.counts[:, 1], kind="stable")
        self.roots = Roots(*(part[order] for part in roots))
        self.roots.counts[:] = 0

    def cut(self) -> None:
        """Cut the tree into the subtrees of its first layer of SUBTREES boards or more.

        A board is kept with the first way to it in the order of words, as exact.sliding_words requires. The layer is
        one before the goal's.
        """
        boards, readers, ways = self.roots.boards, self.roots.readers, self.roots.ways
        before = _as_one(boards[:0])
        while len(boards) < SUBTREES:
            # Expand the layer by the words of moves that are not forbidden.
            children, legal = self.puzzle.expand(boards)
            read = self.moves.onward[readers]
            rows, actions = np.nonzero(legal & (read != NO_STATE))
            found = children[rows, actions]
            self.counts += len(boards), len(rows)
            # Keep each board once, with the first way to it, and none of the layer before: moves can be undone.
            new = np.sort(np.unique(_as_one(found), return_index=True)[1])
            new = new[~np.isin(_as_one(found[new]), before)]
            if self.puzzle.is_goal(found[new]).any():
                break
            before = _as_one(boards)
            rows, actions = rows[new], actions[new]
            boards, readers = found[new], read[rows, actions]
            ways = np.column_stack([ways[rows], actions]).astype(np.int8)
        order = np.argsort(self.heuristic(boards), kind="stable")
        self.roots = self._roots(boards[order], readers[order], ways[order], self.bound)


def _as_one(boards: States) -> np.ndarray:
    """Each board as one value that can be compared, void [N]."""
    return np.ascontiguousarray(boards).view(np.dtype((np.void, boards.shape[1]))).ravel()


@lru_cache(maxsize=4)
def moves_of(puzzle: SlidingTiles) -> Moves:
    """The actions to try by the blank's cell and the moves before."""
    onward = automaton(LONGEST_WORD)
    bits = 1 << np.arange(len(puzzle.actions))
    lowest = np.array([(mask & -mask).bit_length() - 1 for mask in range(bits.sum() + 1)])
    masks = (mask.astype(np.uint8) for mask in ((onward != NO_STATE) @ bits, puzzle.legal_at @ bits, lowest))
    return Moves(onward, *masks)


def _new_path(puzzle: SlidingTiles, sums: TileSums) -> Path:
    """A path without a root."""
    depths, (count, patterns) = LONGEST + 2, sums.members.shape[:2]
    steps = (np.zeros(depths, dtype=kind) for kind in (np.uint8, np.int32, np.uint8, np.int8))
    board, ranks = np.zeros(puzzle.cells, dtype=np.uint8), np.zeros((count, patterns), dtype=np.int64)
    return Path(board, ranks, *steps, *np.zeros((2, depths, count), dtype=np.int64), np.array([0, NO_ROOT, False]))


@intrinsic
def take_next(context, race):
    """The first number of an array, which becomes one more: at once, whatever other threads do."""

    def generate(context, builder, signature, arguments):
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", first, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(race), generate


@njit(cache=True, nogil=True)
def _search(path, roots, race, bound, sums, moves, allowed, gap):
    """Go on searching: until no subtree is left or one led to the goal (True), or for `allowed` nodes (False).

    bound: without the moves to the roots.  gap: of side - 1 numbers, whose count is then known when this is compiled.
    One function with all arrays as locals: with the steps as functions of records it was nine times slower.
    """
    board, ranks, blanks, readers, todo, actions, totals, before, place = path
    between, past, sources, values, lines = sums.between, sums.past, sums.sources, sums.values, sums.lines
    pattern, signs, symmetry, steps = sums.pattern, sums.sign, sums.symmetry, sums.step
    onward, kept, legal, lowest = moves.onward, moves.kept, moves.legal, moves.lowest
    count = ranks.shape[0]
    reached = np.empty(count, dtype=np.int64)
    depth, root = place[DEPTH], place[ROOT]
    expanded, generated, seen, least = 0, 0, 0, NEVER
    # Another thread has solved an earlier root: this one no longer matters.
    if root > race[SOLVED]:
        root = NO_ROOT
    while generated < allowed:
        # Go on to the next root whose subtree the bound lets in, where the last one has been searched.
        if root == NO_ROOT:
            root = take_next(race)
            while root < race[SOLVED] and roots.beyond[root] > bound:
                root = take_next(race)
            if root >= race[SOLVED]:
                place[ROOT] = NO_ROOT
                return True
            _enter(path, roots.boards[root], roots.readers[root], sums, moves)
            depth, expanded, seen, least = 0, 1, generated, NEVER
            roots.beyond[root] = NEVER
        # Take the last move back where no action is left to try.
        if todo[depth] == 0:
            if depth == 0:
                _tell(roots, root, expanded, generated - seen, least)
                root = NO_ROOT
                continue
            blank = blanks[depth]
            depth -= 1
            tile = board[blanks[depth]]
            board[blank], board[blanks[depth]] = tile, 0
            for s in range(count):
                ranks[s, pattern[s, tile]] = before[depth + 1, s]
            continue
        # Generate the next child: the largest of its sums, as far as they stay within the bound.
        blank, action = blanks[depth], lowest[todo[depth]]
        todo[depth] &= todo[depth] - 1
        generated += 1
        source = sources[blank, action]
        tile = board[source]
        added = conflicts_added(board, tile, source, blank, action, lines) if len(lines.moves) else 0
        f = 0
        for s in range(count):
            rank = ranks[s, pattern[s, tile]]
            sign, change = signs[s, tile, action], 0
            if sign:
                seen_as = symmetry[s, tile]
                for step in range(len(gap)):
                    change += past[s, tile, board[between[seen_as, blank, action, step]]]
            reached[s] = rank + steps[s, tile, action] + sign * change
            total = totals[depth, s] + values[reached[s]] - values[rank] + added
            totals[depth + 1, s], before[depth + 1, s] = total, rank
            f = max(f, depth + 1 + total)
            if f > bound:
                break
        if f > bound:
            least = min(least, f)
            continue
        # Make the move.
        actions[depth] = action
        readers[depth + 1] = onward[readers[depth], action]
        depth += 1
        board[blank], board[source] = tile, 0
        for s in range(count):
            ranks[s, pattern[s, tile]] = reached[s]
        blanks[depth] = source
        todo[depth] = kept[readers[depth]] & legal[source]
        # Stop at the goal, before which no thread takes another root of a later order.
        if f == depth:
            place[AT_GOAL] = True
            race[SOLVED] = min(race[SOLVED], root)
            break
        expanded += 1
    if root != NO_ROOT:
        _tell(roots, root, expanded, generated - seen, least)
    place[DEPTH], place[ROOT] = depth, root
    return bool(place[AT_GOAL])


@njit(cache=True)
def _enter(path, board, reader, sums, moves):
    """Begin the path at a root."""
    path.board[:] = board
    enter_ranks(board, sums, path.ranks)
    conflicts = conflict_moves(board, sums.lines)
    for s in range(path.ranks.shape[0]):
        path.totals[0, s] = conflicts
        for rank in path.ranks[s]:
            path.totals[0, s] += sums.values[rank]
    path.blank[0] = np.argmin(board)
    path.reader[0] = reader
    path.todo[0] = moves.kept[reader] & moves.legal[path.blank[0]]


@njit(cache=True)
def _tell(roots, root, expanded, generated, least):
    """Add what was found in a subtree since the last call."""
    roots.counts[root, 0] += expanded
    roots.counts[root, 1] += generated
    roots.beyond[root] = min(roots.beyond[root], least)


@njit(cache=True)
def conflicts_added(board, tile, source, blank, action, lines):
    """What a move changes in the moves that the order of tiles in lines adds: in the line left and the line entered."""
    side = len(lines.powers)
    kind = 0 if action < 2 else 1  # up and down lead from row to row
    from_line, to_line = divmod(source, side), divmod(blank, side)
    left, entered, place = from_line[kind], to_line[kind], from_line[1 - kind]
    added = 0
    for line, sign in ((left, -1), (entered, 1)):
        digit = lines.digits[kind, tile, line]
        if digit:
            number = line_number(board, kind, line, lines)
            changed = number + sign * digit * lines.powers[place]
            added += np.int64(lines.moves[changed]) - lines.moves[number]
    return added
