"""Beam search: the best `width` children of a level that no level before had make the next level.

With a heuristic that gives the cost-to-go of each child, one evaluation of a parent serves all of its children; any
other is asked for the new children alone. The search ends at the first level that touches the table of exact distances
around the goal, or children of which do; the rest of the path is read from it. To look up a child costs far less than
to evaluate it, and makes the table as good as one that is a move deeper.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from costtogo.engines import Batch, Engine, Seen, engine_on
from costtogo.exact.nearby import FAR, Ends, GoalAlone
from costtogo.progress import Clock, report
from costtogo.puzzles.base import Puzzle
from costtogo.types import ActionHeuristic, Heuristic, SearchResult, States, UserError

SLACK = 2.0  # moves that a state may seem farther off than it would be, for its children to be looked up


@dataclass(frozen=True)
class BeamLimits:
    """Where a search ends as unsolved: moves, nodes stored (the memory it may take), seconds of the whole call."""

    max_moves: int = 1000  # the longest solutions, of the 48-puzzle, have some hundreds
    max_nodes: int = 100_000_000
    seconds: float = np.inf


@dataclass
class Level:
    """The states that are as many moves from the start, and how they were reached."""

    states: Batch | None  # None once they are expanded: paths are read from parents and actions
    parent: np.ndarray  # int32 [W], row in the level before
    action: np.ndarray  # int8 [W]


def reach(nearby: Ends) -> int:
    """How many moves before the goal a level may be at which a search ends."""
    return nearby.depth + 1


def solve(
    puzzle: Puzzle,
    heuristic: Heuristic | ActionHeuristic,
    starts: States,
    *,
    width: int,
    nearby: Ends | None = None,
    limits: BeamLimits = BeamLimits(),
) -> SearchResult:
    """Search from each start in turn; the width best states of each level are expanded.

    starts: uint8 [B, D].  heuristic: uint8 [N, D] -> float32 [N], in moves; of one whose by_action is true,
    children(states) gives float32 [N, A], the cost-to-go of each child, inf where the action is not legal.
    The engine of a heuristic that has one expands, hashes and sorts, else that of the host; parents and actions alone
    leave its device. Both find the same levels by the same values.
    nearby: exact distances around the goal; without it the goal alone is tested.
    lower_bound is a fact: the exact distance of a start within nearby, else its depth + 1.
    Raises UserError unless width >= 1, and where the device has too little memory for it.
    """
    if width < 1:
        raise UserError(f"The width of a beam must be 1 or more, not {width}.")
    nearby = nearby or GoalAlone(puzzle)
    clock = Clock.of(limits.seconds)
    engine = getattr(heuristic, "engine", None) or engine_on(puzzle, "cpu")
    search = partial(_search, engine, heuristic, width=width, nearby=nearby, limits=limits, clock=clock)
    try:
        return SearchResult.from_rows(search(start) for start in starts)
    except engine.full as error:
        raise UserError(
            f"The device has too little free memory for a beam of width {width:,}: choose a smaller width."
        ) from error


def _search(engine, heuristic, start, *, width, nearby, limits, clock) -> tuple:
    """One row of a SearchResult."""
    # The first level is the start alone, whose bound is a fact: no search makes it larger.
    seen, states = engine.seen(), engine.given(start[None])
    levels = [Level(states, np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int8))]
    hashes = engine.hashes(states)
    seen.enter(hashes)
    distance = int(engine.near(nearby, states, hashes)[0])
    bound = distance if distance != FAR else nearby.depth + 1
    path = _finish(engine, nearby, levels, hashes)
    expanded, generated, late = 0, 0, False
    next_level = _next_by_action if getattr(heuristic, "by_action", False) else _next_by_state
    while path is None and len(levels) <= limits.max_moves and seen.count <= limits.max_nodes:
        work = expanded, generated
        report(lambda work=work: work)
        # Near the end of the time only the best states of a level are expanded.
        room = clock.room(expanded)
        late, best = not room, levels[-1].states[: int(min(room, width))]
        if not len(best):
            break
        # Expand the level.
        level, hashes, scores, count = next_level(engine, heuristic, best, width, seen)
        expanded += len(best)
        levels[-1].states = None
        levels.append(level)
        # The table of exact distances reaches out to meet the beam, so that it ends some moves before the goal.
        path, looked_at = _meet(engine, nearby, levels, hashes, scores)
        generated += count + looked_at
    cost = np.inf if path is None else len(path)
    return cost, expanded, generated, bound, path or [], seen.count > limits.max_nodes, late


def _next_by_state(engine: Engine, heuristic, states: Batch, width: int, seen: Seen) -> tuple[Level, Batch, Batch, int]:
    """The best width children that no level before had, in order of their cost-to-go; their hashes; their cost-to-go;
    how many children were generated. Of equal cost-to-go the first child of the first parent comes first."""
    children, legal = engine.expand(states)
    places = engine.rows(legal)
    children = children.reshape(-1, states.shape[1])[places]
    hashes = engine.hashes(children)
    # Only new states are evaluated; those left out may still be reached, and taken, later.
    new = seen.new(hashes)
    scores = heuristic(children[new])
    order = engine.xp.argsort(scores, stable=True)[:width]
    best = new[order]
    seen.enter(hashes[best])
    level = _level(engine, children[best], places[best], legal.shape[1])
    return level, hashes[best], scores[order], len(places)


def _next_by_action(
    engine: Engine, heuristic, states: Batch, width: int, seen: Seen
) -> tuple[Level, Batch, Batch, int]:
    """The same with the cost-to-go of all children from one evaluation of their parents."""
    scores = heuristic.children(states)
    parts, room = [(states[:0], engine.given(np.zeros(0, dtype=np.int64)), engine.hashes(states[:0]))], width
    # Children are made in the order of their scores until width of them are new: the others are never made.
    for places in engine.in_order(scores.ravel(), width):
        children = engine.move(states[places // scores.shape[1]], places % scores.shape[1])
        hashes = engine.hashes(children)
        new = seen.new(hashes)[:room]
        seen.enter(hashes[new])
        parts.append((children[new], places[new], hashes[new]))
        room -= len(new)
        if room == 0:
            break
    children, places, hashes = (engine.xp.concatenate(column) for column in zip(*parts, strict=True))
    level, count = _level(engine, children, places, scores.shape[1]), int(engine.xp.isfinite(scores).sum())
    return level, hashes, scores.ravel()[places], count


def _level(engine: Engine, children: Batch, places: Batch, count: int) -> Level:
    """Children, the places of which are count · parent + action."""
    parents, actions = np.divmod(engine.fetched(places), count)
    return Level(children, parents.astype(np.int32), actions.astype(np.int8))


def _meet(
    engine: Engine, nearby: Ends, levels: list[Level], hashes: Batch, scores: Batch
) -> tuple[list[int] | None, int]:
    """The whole path from the last level, or by way of a child of it; how many children were looked up.

    scores: float32 [W], the cost-to-go of the states of the level, ascending: the children of those are looked up that
    seem near enough.
    """
    path = _finish(engine, nearby, levels, hashes)
    near = levels[-1].states[: int((scores <= reach(nearby) + SLACK).sum())]
    if path is not None or not len(near):
        return path, 0
    children, legal = engine.expand(near)
    places = engine.rows(legal)
    children = children.reshape(-1, near.shape[1])[places]
    further = [*levels, _level(engine, children, places, legal.shape[1])]
    return _finish(engine, nearby, further, engine.hashes(children)), len(children)


def _finish(engine: Engine, nearby: Ends, levels: list[Level], hashes: Batch) -> list[int] | None:
    """The whole path by way of the state of the last level that is nearest the goal, if the table has one."""
    distances = engine.fetched(engine.near(nearby, levels[-1].states, hashes))
    for row in np.argsort(distances, kind="stable"):
        if distances[row] == FAR:
            break
        try:
            rest = nearby.path(engine.fetched(levels[-1].states[row]))
        except UserError:  # another state with the same hash
            continue
        return _path(levels, int(row)) + rest
    return None


def _path(levels: list[Level], row: int) -> list[int]:
    """The actions that lead from the start to a row of the last level."""
    actions = []
    for level in levels[:0:-1]:
        actions.append(int(level.action[row]))
        row = level.parent[row]
    return actions[::-1]
