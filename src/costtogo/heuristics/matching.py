"""A lower bound of the steps to solve a Sokoban level: pushes from a matching of boxes to targets, and a first walk.

Each box comes to a different target, with at least as many pushes as it would need if it were the only box. So the
cheapest perfect matching of boxes to targets by these pushes, M, never exceeds the steps to go. A lone box's pushes
depend on its cell and on the side of it that the player can walk to. A walk changes neither; a push reduces M by at
most 1.

The bound looks one push ahead: it is the smallest walk + 1 + M after the push, over all pushes that the player can walk
to now. That is at least M. The bound is consistent: a step of the walk reduces it by at most 1, and if a push is next
it is at most 1 + M after that push.
"""

from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.sokoban import BLOCKED, NOTHING, Floor, bare, by_level, floor_of, placed
from costtogo.puzzles.sokoban import STEPS, Sokoban, is_box
from costtogo.types import CostToGo, States

ACTIONS = len(STEPS)
ELSEWHERE = ACTIONS  # the side of a player who cannot walk to the box
NO_PUSHES = 1 << 40  # the box cannot reach the target; more than all pushes of a matching together
KEPT = 1 << 27  # bytes of levels that a bound keeps, about 20,000 levels of 10 × 10


class Pushes(NamedTuple):
    """The pushes that each box of a level needs if it is alone.

    side: uint8 [F, F], by the cells of box and player: which of up to four parts next to the box the player is in, or
    ELSEWHERE.
    pushes: int64 [F, 5, targets], from a box's cell and the player's side to each target, or NO_PUSHES.
    """

    floor: Floor
    side: np.ndarray
    pushes: np.ndarray


class DeadSquaresBound:
    """0, or inf with a box where it can reach no target, uint8 [N, D] -> float32 [N]: admissible and consistent."""

    def __init__(self, puzzle: Sokoban):
        self.pushes_of = MatchingBound(puzzle).pushes_of

    def __call__(self, states: States) -> CostToGo:
        """float32 [N]; an infinite MatchingBound finds more dead states."""
        return np.where((self.squares(states) & is_box(states)).any(axis=1), np.inf, 0).astype(np.float32)

    def squares(self, states: States) -> np.ndarray:
        """The free cells from which even a lone box can be pushed to no target: bool [N, D]."""
        dead = np.zeros(states.shape, dtype=bool)
        for group in by_level(states):
            floor, _, pushes = self.pushes_of(states[group[0]])
            dead[group[:, None], floor.cell] = (pushes == NO_PUSHES).all(axis=(1, 2))
        return dead


class MatchingBound:
    """A lower bound of steps, uint8 [N, D] -> float32 [N]: admissible and consistent; inf for some dead states.

    States may be of any levels, but those of one level should be consecutive. The pushes of levels seen are kept.
    """

    def __init__(self, puzzle: Sokoban):
        self.puzzle = puzzle
        self._kept: dict[bytes, Pushes] = {}
        self._bytes = 0

    def __call__(self, states: States) -> CostToGo:
        """float32 [N]: 0 only for solved states; inf if there is no matching or no push left."""
        bounds, row = np.empty(len(states), dtype=np.float32), 0
        while row < len(states):
            row = _bounds(self.pushes_of(states[row]), states, row, bounds)
        return bounds

    def pushes_of(self, state: States) -> Pushes:
        """The Pushes of a state's level, uint8 [D]; kept for later, and all dropped at KEPT bytes."""
        key = bare(state).tobytes()
        if (known := self._kept.get(key)) is not None:
            return known
        found = pushes_alone(self.puzzle, state)
        self._bytes += found.side.nbytes + found.pushes.nbytes
        if self._bytes > KEPT:
            self._kept.clear()
            self._bytes = 0
        self._kept[key] = found
        return found


def pushes_alone(puzzle: Sokoban, state: States) -> Pushes:
    """The Pushes of a state's level, uint8 [D], by breadth-first search from its targets."""
    floor = floor_of(puzzle, state)
    side = _sides(floor.neighbour)
    return Pushes(floor, side, _pushes(floor.neighbour, side, np.flatnonzero(floor.bare[floor.cell] % 2 == 1)))


@njit(cache=True)
def _sides(neighbour):
    """Pushes.side: for each cell of a box, the parts into which it splits the floor, in the order of its neighbours."""
    cells = len(neighbour)
    side, stack = np.full((cells, cells), ELSEWHERE, dtype=np.uint8), np.empty(cells, dtype=np.int64)
    for box in range(cells):
        part = 0
        for action in range(ACTIONS):
            first = neighbour[box, action]
            if first == cells or side[box, first] != ELSEWHERE:
                continue
            side[box, first], stack[0], height = part, first, 1
            while height > 0:
                height -= 1
                here = stack[height]
                for step in range(ACTIONS):
                    there = neighbour[here, step]
                    if there != cells and there != box and side[box, there] == ELSEWHERE:
                        side[box, there], stack[height] = part, there
                        height += 1
            part += 1
    return side


@njit(cache=True)
def _pushes(neighbour, side, targets):
    """Pushes.pushes: breadth-first search by pulls from each target, where the player may end on any side."""
    cells = len(neighbour)
    pushes = np.full((cells, ACTIONS + 1, len(targets)), NO_PUSHES, dtype=np.int64)
    queue = np.empty((cells * ACTIONS, 2), dtype=np.int64)
    for number in range(len(targets)):
        head, tail = 0, ACTIONS
        pushes[targets[number], :, number] = 0
        for part in range(ACTIONS):
            queue[part, 0], queue[part, 1] = targets[number], part
        while head < tail:
            box, part = queue[head]
            head += 1
            for action in range(ACTIONS):
                # The last push moved the box here from `before`, where the player is now; it came from `behind`.
                before = neighbour[box, action]
                if before == cells or side[box, before] != part:
                    continue
                behind = neighbour[before, action]
                if behind == cells or pushes[before, side[before, behind], number] != NO_PUSHES:
                    continue
                pushes[before, side[before, behind], number] = pushes[box, part, number] + 1
                queue[tail, 0], queue[tail, 1] = before, side[before, behind]
                tail += 1
    return pushes


@njit(cache=True)
def _bounds(level, states, row, bounds):
    """Enter the bounds of states from a row on, until a state is of another level; returns its row.

    Keeps true: standing has the boxes of the current row, by their order, and otherwise only the wall.
    """
    floor, side, pushes = level.floor, level.side, level.pushes
    cells, targets = len(floor.cell), pushes.shape[2]
    boxes, cost = np.empty(targets + 1, dtype=np.int64), np.empty((targets, targets), dtype=np.int64)
    standing, walk = np.full(cells + 1, NOTHING, dtype=np.int16), Walk(np.full(cells, -1), np.empty(cells, np.int64))
    match = _empty_matching(targets)
    standing[cells] = BLOCKED
    while row < len(states):
        # Read the boxes and the player.
        count, player = placed(floor, states[row], boxes)
        if count < 0:
            return row
        # Match them, before the first push and after it.
        steps = NO_PUSHES
        if count <= targets:
            for box in range(count):
                cost[box] = pushes[boxes[box], side[boxes[box], player]]
                standing[boxes[box]] = box
            steps = _least_matching(cost, count, match)
            if 0 < steps < NO_PUSHES:
                steps = _after_a_push(level, walk, standing, (player, row), cost[:count], steps, match)
            for box in range(count):
                standing[boxes[box]] = NOTHING
        bounds[row] = steps if steps < NO_PUSHES else np.inf
        row += 1
    return row


class Walk(NamedTuple):
    """Arrays for the player's breadth-first search."""

    mark: np.ndarray  # int64 [F], the last row in which the player reached a cell
    queue: np.ndarray  # int64 [F], the cells that the player reached


@njit(cache=True)
def _after_a_push(level, walk, standing, begins, cost, matching, match):
    """The smallest walk + 1 + matching after the push, over all first pushes; NO_PUSHES if there is none.

    begins: the player's cell, and the row that marks are of.  cost, matching: before the push. The search ends once
    walk + matching reaches the best value: longer walks cannot improve it.
    """
    neighbour, side, pushes = level.floor.neighbour, level.side, level.pushes
    mark, queue = walk
    player, row = begins
    queue[0], mark[player] = player, row
    head, tail, steps, best = 0, 1, 0, NO_PUSHES
    while head < tail and steps + matching < best:
        layer = tail
        while head < layer:
            here = queue[head]
            head += 1
            for action in range(ACTIONS):
                there = neighbour[here, action]
                box = standing[there]
                if box == NOTHING:
                    if mark[there] != row:
                        mark[there], queue[tail] = row, there
                        tail += 1
                elif box != BLOCKED:
                    beyond = neighbour[there, action]
                    if standing[beyond] == NOTHING and steps + matching < best:
                        cost[box] = pushes[beyond, side[beyond, there]]
                        best = min(best, steps + 1 + _least_matching(cost, len(cost), match))
                        cost[box] = pushes[there, side[there, here]]
        steps += 1
    return best


class Matching(NamedTuple):
    """Arrays for _least_matching with T targets: in arrays of T + 1 the last place is no target."""

    box_price: np.ndarray  # int64 [T]
    target_price: np.ndarray  # int64 [T + 1]
    box_of: np.ndarray  # int64 [T + 1], of each target, or NOTHING
    slack: np.ndarray  # int64 [T], a lower bound of what an edge to a target costs above the prices
    before: np.ndarray  # int64 [T], the previous target on the path
    done: np.ndarray  # bool [T + 1]


@njit(cache=True)
def _empty_matching(targets):
    one, more = np.empty(targets, dtype=np.int64), np.empty(targets + 1, dtype=np.int64)
    return Matching(one, more, more.copy(), one.copy(), one.copy(), np.empty(targets + 1, dtype=np.bool_))


@njit(cache=True)
def _least_matching(cost, count, match):
    """The least total cost of different targets for `count` boxes, by the Hungarian method; cost: int64 [k, T].

    Keeps true: the prices of a box and a target never exceed their cost together, and equal it if they are matched; the
    boxes matched so far are matched at the least cost.
    """
    box_price, target_price, box_of, slack, before, done = match
    targets = len(box_price)
    target_price[:], box_of[:] = 0, NOTHING
    for box in range(count):
        # Find the cheapest path from the box to a free target: from box to target, then on to the target's matched box.
        box_price[box], box_of[targets], target = 0, box, targets
        slack[:], done[:] = np.iinfo(np.int64).max, False
        while box_of[target] != NOTHING:
            done[target] = True
            one, least, nearest = box_of[target], np.iinfo(np.int64).max, target
            for other in range(targets):
                if done[other]:
                    continue
                over = cost[one, other] - box_price[one] - target_price[other]
                if over < slack[other]:
                    slack[other], before[other] = over, target
                if slack[other] < least:
                    least, nearest = slack[other], other
            for other in range(targets + 1):
                if done[other]:
                    box_price[box_of[other]] += least
                    target_price[other] -= least
                elif other < targets:
                    slack[other] -= least
            target = nearest
        # Shift the targets along the path.
        while target != targets:
            box_of[target] = box_of[before[target]]
            target = before[target]
    total = 0
    for target in range(targets):
        if box_of[target] != NOTHING:
            total += cost[box_of[target], target]
    return min(total, NO_PUSHES)
