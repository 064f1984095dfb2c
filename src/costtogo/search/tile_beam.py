"""Compiled beams between two boards of sliding tiles, whatever their size.

They go by Manhattan distance or by what a network of kind tuples adds to it. That counts how far each tile is from
where it is on the other board, so that any board can be the end, and a search may as well go from the end to the start.
A solution comes from beams in both directions, one on a processor each, that grow wider until the time is up.
(Beams on sliding tiles: Furcy and Koenig 2005, "Limited discrepancy beam search", IJCAI.)
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.hashing import EMPTY, first_slot, hash_numbers, slot_of
from costtogo.heuristics.tile_groups import (
    PARTS,
    Groups,
    TupleValues,
    change,
    displacements,
    groups_of,
    look,
    near_blank,
    whole,
    with_codes,
)
from costtogo.progress import report, report_ended
from costtogo.puzzles.base import inverses
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.types import Hashes, SearchResult, States

SLICE = 200_000  # nodes from one look at the clock to the next
SCALE = 16  # boards are put in order by sixteenths of a move
FIRST_WIDTH, WIDER = 100, 10  # of the first beams, and how many times wider the next ones are at most
MARGIN = 1.3  # times longer than the beams before may beams of the same width take
LONGEST = 1000  # moves of a solution; of the 48-puzzle, the longest have some hundreds
NODE_BYTES = 30  # of a state that a beam keeps: how it was reached, and its hash in a table that is never full
LEVEL, COUNT, LEFT_OUT, EXPANDED, GENERATED = range(5)  # places in the progress of a beam


class Beam(NamedTuple):
    """A beam between two boards. The rows of a level are in one of two places, those of the next in the other."""

    boards: States  # uint8 [2, W, D]
    distances: np.ndarray  # int32 [2, W], Manhattan distance to the end
    added: np.ndarray  # int32 [2, W], what the groups add, in parts of a move
    blanks: np.ndarray  # int32 [2, W], cell of the blank
    hashes: Hashes  # uint64 [2, W]
    parents: np.ndarray  # int32 [levels, W], row in the level before
    actions: np.ndarray  # int8 [levels, W]
    seen: Hashes  # uint64 [slots], the hashes of all rows of all levels
    progress: np.ndarray  # int64 [5]


class Rules(NamedTuple):
    """What a search between two boards goes by."""

    sources: np.ndarray  # int64 [D, A], the cell whose tile a move takes, by the cell of the blank
    undo: np.ndarray  # int64 [A], the action that undoes each
    distances: np.ndarray  # int64 [D, letters], Manhattan distance of each tile in each cell
    numbers: np.ndarray  # uint64 [D, letters], of hashes
    groups: Groups
    table: np.ndarray  # int16 [entries] of the groups, in parts of a move, or none


@dataclass(frozen=True)
class Found:
    """What a beam found. path: int8 [moves], or None.  left_out: whether states were, by the width or the deadline; if
    none were, the path is a shortest one, or there is none."""

    path: np.ndarray | None
    left_out: bool
    expanded: int = 0
    generated: int = 0


def solve(
    puzzle: SlidingTiles, values: TupleValues, starts: States, *, seconds: float, max_nodes: int, threads: int = 1
) -> SearchResult:
    """The best solution of one start, uint8 [1, D], within some seconds: by beams in both directions that grow wider.

    max_nodes: that are kept at a time.  lower_bound is a fact: Manhattan distance, or the cost if no beam left any
    state out.
    """
    (start,), deadline, undo = starts, time.monotonic() + seconds, inverses(puzzle)
    ends = (start, puzzle.goal), (puzzle.goal, start)  # from which boards, and to which
    cost, solution, expanded, generated = np.inf, np.zeros(0, dtype=np.int8), 0, 0
    bound = float(distances_of(puzzle, puzzle.goal)[np.arange(puzzle.cells), start].sum())
    rate, width, stopped = 0.0, FIRST_WIDTH, Event()
    while cost > bound:
        # As wide as should end in time, by the seconds that the beams before took, and as the memory allows.
        begun, than = time.monotonic(), int(min(cost, LONGEST + 1))
        in_time = int((deadline - begun) / (MARGIN * rate)) if rate else width
        widest = max(1, max_nodes // (len(ends) * than))
        if in_time < FIRST_WIDTH or width > WIDER * widest:
            break
        now = min(width, in_time, widest)
        search = partial(shorter, puzzle, than=than, width=now, deadline=deadline, values=values, stopped=stopped)
        with ThreadPoolExecutor(1) as pool, ended_by(stopped):
            # This thread searches from the board, so that a watcher sees its progress.
            other = pool.submit(search, *ends[1]) if threads > 1 else None
            results = search(*ends[0]), other.result() if other else search(*ends[1])
        for backward, found in enumerate(results):
            expanded, generated = expanded + found.expanded, generated + found.generated
            if found.path is not None and len(found.path) < cost:
                # A path from the goal is gone the other way round.
                solution = undo[found.path[::-1]] if backward else found.path
                cost = float(len(solution))
            bound = bound if found.left_out else cost
        report_ended(expanded, generated, cost)
        rate, width = (time.monotonic() - begun) / now, WIDER * width
    late = cost > bound and time.monotonic() >= deadline
    return SearchResult.from_rows([(cost, expanded, generated, bound, solution, False, late)])


@contextmanager
def ended_by(stopped: Event) -> Iterator[None]:
    """Tell the other direction to end as well where this one fails or is interrupted."""
    try:
        yield
    except BaseException:
        stopped.set()
        raise


def shorter(
    puzzle: SlidingTiles,
    start: States,
    goal: States,
    *,
    than: int,
    width: int,
    deadline: float = np.inf,
    values: TupleValues | None = None,
    stopped: Event | None = None,
) -> Found:
    """A path from one board, uint8 [D], to another of fewer than `than` moves, by a beam of a width.

    States are left out from which no path short enough is possible by Manhattan distance.  deadline: on the monotonic
    clock.  values: that put boards in order, where Manhattan distance alone is not to.  stopped: set to end it.
    """
    rules = rules_of(puzzle, goal, values)
    distance = int(rules.distances[np.arange(puzzle.cells), start].sum())
    longest = than - 1 - (than - 1 - distance) % 2  # all paths between two boards have the same parity
    if distance > longest:
        return Found(None, False)
    if distance == 0:
        return Found(np.zeros(0, dtype=np.int8), False)
    beam = _begun(start, distance, longest, width, rules)
    while True:
        row = _go_on(beam, rules, longest, SLICE)
        level, count, left_out, expanded, generated = beam.progress.tolist()
        work = expanded, generated
        if row >= 0:
            return Found(_path(beam, level, row), bool(left_out), *work)
        if count == 0 or level == longest:
            return Found(None, bool(left_out), *work)
        if time.monotonic() >= deadline or (stopped and stopped.is_set()):
            return Found(None, True, *work)
        report(lambda work=work: work)


def distances_of(puzzle: SlidingTiles, goal: States) -> np.ndarray:
    """Manhattan distance of each tile in each cell to where it is on a board, int64 [D, letters]."""
    return np.abs(displacements(puzzle, goal)).sum(0)


def rules_of(puzzle: SlidingTiles, goal: States, values: TupleValues | None) -> Rules:
    """The rules of searches for a board."""
    numbers = hash_numbers(puzzle.cells, puzzle.letters)
    always = puzzle.sources, inverses(puzzle), distances_of(puzzle, goal), numbers
    if values is None:
        return Rules(*always, groups_of(puzzle, 1, 1), np.zeros(0, dtype=np.int16))
    return Rules(*always, values.toward(goal), values.in_parts)


def _begun(start: States, distance: int, longest: int, width: int, rules: Rules) -> Beam:
    """A beam whose first level is the start."""
    slots = 1 << int(np.ceil(np.log2(1.5 * width * (longest + 1))))
    pair, levels = (2, width), (longest + 1, width)
    numbers = (np.zeros(pair, dtype=dtype) for dtype in (np.int32, np.int32, np.int32, np.uint64))
    ways = np.empty(levels, dtype=np.int32), np.empty(levels, dtype=np.int8)
    boards = np.zeros((*pair, len(start)), dtype=np.uint8)
    beam = Beam(boards, *numbers, *ways, np.zeros(slots, dtype=np.uint64), np.array([0, 1, 0, 0, 0]))
    beam.boards[0, 0], beam.distances[0, 0], beam.blanks[0, 0] = start, distance, start.argmin()
    if len(rules.table):
        beam.added[0, 0] = whole(start, rules.groups, rules.table, with_codes(rules.groups))
    hashed = np.bitwise_xor.reduce(rules.numbers[np.arange(len(start)), start][start != BLANK])
    beam.hashes[0, 0] = beam.seen[first_slot(hashed, beam.seen)] = hashed
    return beam


def _path(beam: Beam, level: int, row: int) -> np.ndarray:
    """The actions that lead to a row of a level, int8 [level]."""
    actions = np.zeros(level, dtype=np.int8)
    for moves in range(level, 0, -1):
        actions[moves - 1], row = beam.actions[moves, row], beam.parents[moves, row]
    return actions


@njit(cache=True, nogil=True)
def _go_on(beam, rules, longest, nodes):
    """Make more levels, until the end is found or about `nodes` nodes are made.

    Returns the row of the end, or -1.
    """
    near = near_blank(rules.groups, rules.table)
    while beam.progress[COUNT] > 0 and beam.progress[LEVEL] < longest and nodes > 0:
        nodes -= beam.progress[COUNT] * rules.sources.shape[1]
        row = _next_level(beam, rules, longest, *near)
        if row >= 0:
            return row
    return -1


@njit(cache=True, nogil=True)
def _next_level(beam, rules, longest, codes, entries, before):
    """Take the new children that seem nearest and can be on a path short enough; the row of the end, or -1."""
    level, count = beam.progress[LEVEL] + 1, beam.progress[COUNT]
    now, then, width = (level - 1) % 2, level % 2, beam.boards.shape[1]
    actions, room = rules.sources.shape[1], longest - level
    groups, table = rules.groups, rules.table
    coding, near, near_blocks, near_lines = groups.coding, groups.near, groups.near_blocks, groups.near_lines
    touched, powers = groups.touched, groups.powers
    # Note the children near enough, and how many there are of each value.
    child, value = np.empty(count * actions, dtype=np.int64), np.empty(count * actions, dtype=np.int64)
    added, made, most = np.empty(count * actions, dtype=np.int32), 0, 0
    for row in range(count):
        board, blank, seen = beam.boards[now, row], beam.blanks[now, row], False
        for action in range(actions):
            source = rules.sources[blank, action]
            if source == blank or (level > 1 and action == rules.undo[beam.actions[level - 1, row]]):
                continue
            tile = board[source]
            nearer = beam.distances[now, row] + rules.distances[blank, tile] - rules.distances[source, tile]
            if nearer > room:
                continue
            more = beam.added[now, row]
            if len(table):
                if not seen:
                    look(board, blank, coding, near, near_blocks, near_lines, table, codes, entries, before)
                    seen = True
                more += change(blank, action, source, tile, coding, touched, powers, table, entries, before)
            child[made], added[made] = row * actions + action, more
            value[made] = SCALE * nearer + max(0, SCALE * more // PARTS)
            most = max(most, value[made])
            made += 1
    first = np.zeros(most + 2, dtype=np.int64)
    for place in range(made):
        first[value[place] + 1] += 1
    first = np.cumsum(first)
    order = np.empty(made, dtype=np.int64)
    for place in range(made):
        order[first[value[place]]] = place
        first[value[place]] += 1
    # Take them in order, those that no level had.
    kept = 0
    for place in order:
        row, action = child[place] // actions, child[place] % actions
        blank = beam.blanks[now, row]
        source = rules.sources[blank, action]
        tile = beam.boards[now, row, source]
        hashed = beam.hashes[now, row] ^ rules.numbers[source, tile] ^ rules.numbers[blank, tile]
        slot = slot_of(hashed, beam.seen)
        if beam.seen[slot] != EMPTY:
            continue
        if kept == width:
            beam.progress[LEFT_OUT] = 1
            break
        beam.seen[slot], beam.hashes[then, kept] = hashed, hashed
        beam.boards[then, kept] = beam.boards[now, row]
        beam.boards[then, kept, blank], beam.boards[then, kept, source] = tile, BLANK
        nearer = rules.distances[blank, tile] - rules.distances[source, tile]
        beam.distances[then, kept] = beam.distances[now, row] + nearer
        beam.added[then, kept], beam.blanks[then, kept] = added[place], source
        beam.parents[level, kept], beam.actions[level, kept] = row, action
        kept += 1
        if beam.distances[then, kept - 1] == 0:
            break
    beam.progress[LEVEL], beam.progress[COUNT] = level, kept
    beam.progress[EXPANDED] += count
    beam.progress[GENERATED] += made
    return kept - 1 if kept > 0 and beam.distances[then, kept - 1] == 0 else -1
