"""Levels of Sokoban solved exactly: all solvable states of a level, each with its fewest steps.

Breadth-first search back from all solved states of a level at once reaches every solvable state, and no other. A state
is a set of cells for the boxes and a cell for the player, out of the F cells without walls. Sets of k cells are
numbered by the combinatorial number system, so a level has C(F, k) · F states: 1.15 million with 32 free cells and four
boxes, 41 million with 64.
"""

from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.puzzles.sokoban import BOX, PLAYER, STEPS, WALL, Sokoban, is_box
from costtogo.types import NO_STATE, CostToGo, Ranks, SearchResult, States, UserError

UNREACHED = 65535  # in place of steps: there is no solution, or no such state
FARTHEST = UNREACHED - 1  # steps that a table can hold
LARGEST = 1 << 30  # states in a table: 2 GiB, and the layers that are in use while it is made
NO_CELL = -1  # the number of a wall
NOTHING, BLOCKED = -1, -2  # on a cell without a box, and on a wall
ACTIONS, STEPS_BACK = len(STEPS), 2 * len(STEPS)


class TooLarge(UserError):
    """A level has too many states to list."""


class Floor(NamedTuple):
    """The F cells of a level that are not walls, numbered row by row. The border always counts as walls."""

    bare: np.ndarray  # uint8 [D], the level without boxes and player: FLOOR, TARGET or WALL
    number: np.ndarray  # int64 [D], for each cell of the board, NO_CELL for walls
    cell: np.ndarray  # int64 [F], on the board
    neighbour: np.ndarray  # int64 [F, 4], the number of the cell that each action leads to, F for a wall


class Level(NamedTuple):
    """The tables that number the states of a level."""

    floor: Floor
    boxes: np.ndarray  # uint16 [C(F, k), k], the cells of each set by number, ascending
    binomials: np.ndarray  # int64 [F, k + 1], C(cell, place): what a box adds to the rank of its set


@dataclass(frozen=True, eq=False)
class LevelTable:
    """The fewest steps of every solvable state of a level.

    distance: uint16 [C(F, k) · F], by rank: the rank of the set of box cells times F, plus the number of the player's
    cell; UNREACHED for states without a solution and for ranks with the player on a box, which are no states.
    layers: int64 [most steps + 1], the number of states at each distance.  generated: legal steps back taken to list
    them.
    """

    puzzle: Sokoban
    level: Level
    distance: np.ndarray
    layers: np.ndarray
    generated: int

    @property
    def live(self) -> int:
        """The number of solvable states."""
        return int(self.layers.sum())

    def __call__(self, states: States) -> CostToGo:
        """Steps to the nearest solved state, float32 [N], inf for dead states; UserError for states of other levels."""
        steps = self.distance[self.ranks(states)]
        return np.where(steps == UNREACHED, np.inf, steps).astype(np.float32)

    def ranks(self, states: States) -> Ranks:
        """The rank of each state, int64 [N]; UserError if a state is not of this level."""
        ranks = _ranks(self.level, states)
        for row in np.flatnonzero(ranks == NO_STATE)[:1]:
            raise UserError(f"State {row} is not of the level listed: walls, targets or the number of boxes differ.")
        return ranks

    def states_of(self, ranks: Ranks) -> States:
        """The states of ranks, uint8 [N, D]; UserError for a rank with the player on a box."""
        sets, players = np.divmod(ranks, len(self.level.floor.cell))
        boxes = self.level.boxes[sets].astype(np.int64)
        for rank in ranks[(boxes == players[:, None]).any(axis=1)][:1]:
            raise UserError(f"Rank {rank} is no state of the level: it has the player on a box.")
        states, cell = np.repeat(self.level.floor.bare[None], len(ranks), axis=0), self.level.floor.cell
        states[np.arange(len(ranks))[:, None], cell[boxes]] += BOX
        states[np.arange(len(ranks)), cell[players]] += PLAYER
        return states

    def path(self, state: States) -> list[int]:
        """Actions of a shortest solution of a state, uint8 [D]; UserError if it has none."""
        (rank,) = self.ranks(state[None])
        if self.distance[rank] == UNREACHED:
            raise UserError("The state has no solution: no steps bring all of its boxes onto targets.")
        return _path(self.level, self.distance, rank).tolist()

    def walks(self, starts: Ranks, random: np.ndarray, noise: np.ndarray) -> Ranks:
        """All states on walks to a solved state from solvable starts, int64 [W]: ranks, int64 [states].

        Each step is on a shortest way or, with a walk's chance noise, float64 [W], any that leaves a solution.
        random: in [0, 1), float64 [W, most steps, 2].
        """
        return _walks(self.level, self.distance, starts, random, noise)

    def reachable(self, start: States) -> np.ndarray:
        """Which states can be reached from a start, uint8 [D]: bool, by rank; those that are UNREACHED are dead."""
        return _listed(self.level, self.ranks(start[None]), forth=True)[0] != UNREACHED


def list_level(puzzle: Sokoban, state: States, largest: int = LARGEST) -> LevelTable:
    """The table of the level of a state, uint8 [D], given by its walls, targets and number of boxes.

    TooLarge, a UserError, if it would have more than `largest` states, or some state is farther than FARTHEST steps.
    """
    floor, boxes = floor_of(puzzle, state), int(is_box(state).sum())
    cells = len(floor.cell)
    if (states := comb(cells, boxes) * cells) > largest:
        raise TooLarge(
            f"A level with {boxes} boxes and {cells} free cells has {states:,} states, more than the {largest:,} that "
            "can be listed; solve it by A* with a lower bound instead."
        )
    binomials = np.array([[comb(cell, place) for place in range(boxes + 1)] for cell in range(cells)], dtype=np.int64)
    level = Level(floor, _combinations(cells, boxes, comb(cells, boxes)), binomials)
    return LevelTable(puzzle, level, *_listed(level, _solved(level), forth=False))


def solve(puzzle: Sokoban, starts: States, largest: int = LARGEST) -> SearchResult:
    """Shortest solutions of starts, uint8 [B, D], of any levels: each level is listed once, one after another.

    A start without a solution has cost and lower_bound inf. For each start, nodes_expanded and nodes_generated count
    its whole level. TooLarge if one has more than `largest` states.
    """
    rows: list[tuple] = [()] * len(starts)
    for group in by_level(starts):
        table = list_level(puzzle, starts[group[0]], largest)
        for row, steps in zip(group, table(starts[group]), strict=True):
            solution = table.path(starts[row]) if np.isfinite(steps) else []
            rows[row] = steps, table.live, table.generated, steps, solution
    return SearchResult.from_rows(rows)


def by_level(states: States) -> list[np.ndarray]:
    """The rows of the states, uint8 [N, D], that belong to each level: int64 arrays, each ascending."""
    boxes = is_box(states).sum(axis=1, dtype=np.uint16)[:, None]
    keys = np.column_stack([bare(states), boxes.view(np.uint8)])
    _, levels = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_inverse=True)  # a row as one value
    return np.split(np.argsort(levels, kind="stable"), np.cumsum(np.bincount(levels))[:-1]) if len(states) else []


def bare(states: States) -> States:
    """States without boxes and player, uint8 of the same shape: FLOOR, TARGET or WALL. Letters on targets are odd."""
    return np.where(states == WALL, np.uint8(WALL), states & 1)


def floor_of(puzzle: Sokoban, state: States) -> Floor:
    """The floor of the level of a state, uint8 [D]."""
    inside = np.zeros((puzzle.rows, puzzle.columns), dtype=bool)
    inside[1:-1, 1:-1] = True
    cell = np.flatnonzero(inside.ravel() & (state != WALL))
    number = np.full(puzzle.cells, NO_CELL)
    number[cell] = np.arange(len(cell))
    neighbour = number[cell[:, None] + puzzle.steps]
    return Floor(bare(state), number, cell, np.where(neighbour == NO_CELL, len(cell), neighbour))


def _solved(level: Level) -> Ranks:
    """The ranks of all solved states: every box on a target, the player anywhere else, int64 [states]."""
    floor, boxes, _ = level
    on_target = floor.bare[floor.cell] % 2 == 1
    solved = np.flatnonzero(on_target[boxes].all(axis=1))
    places = np.arange(len(floor.cell))
    empty = (boxes[solved][:, :, None] != places).all(axis=1)
    return (solved[:, None] * len(places) + places)[empty]


def _listed(level: Level, ranks: Ranks, forth: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """Steps from the nearest of some states by rank, uint16; states at each distance, int64; number of legal steps."""
    distance = np.full(len(level.boxes) * len(level.floor.cell), UNREACHED, dtype=np.uint16)
    distance[ranks] = 0
    layers, generated = _spread(level, ranks, distance, forth, FARTHEST)
    if len(layers) > FARTHEST:
        raise TooLarge(f"Some state of the level is {FARTHEST:,} steps away or more; solve it by A* instead.")
    return distance, layers, generated


@njit(cache=True)
def _spread(level, ranks, distance, forth, farthest):
    """Breadth-first search, forward or back, from states given by rank, int64, up to `farthest` steps.

    Returns the number of states in each layer and the number of legal steps.
    Keeps true: distance holds every state reached, and frontier[:count] those reached by the last step.
    """
    boxes, cells, count = level.boxes, len(level.floor.cell), len(ranks)
    standing, made = _nothing_on(cells), np.empty(ACTIONS if forth else STEPS_BACK, dtype=np.int64)
    frontier = np.empty(count + STEPS_BACK, dtype=np.int32)  # after doubling there is room for one state's steps
    following = np.empty_like(frontier)
    frontier[:count] = ranks
    layers, generated, moves = [count], 0, 0
    while count > 0 and moves < farthest:
        moves += 1
        end = 0
        for row in range(count):
            if end + STEPS_BACK > len(following):
                following = np.concatenate((following, np.empty_like(following)))
            rank = frontier[row] // cells
            player = frontier[row] - rank * cells
            _put(standing, boxes, rank)
            if forth:
                _after(level, standing, rank, player, made)
            else:
                _before(level, standing, rank, player, made)
            _take(standing, boxes, rank)
            for state in made:
                if state == NO_STATE:
                    continue
                generated += 1
                if distance[state] == UNREACHED:
                    distance[state] = moves
                    following[end] = state
                    end += 1
        frontier, following, count = following, frontier, end
        if count > 0:
            layers.append(count)
    return np.array(layers), generated


@njit(cache=True)
def _nothing_on(cells):
    """NOTHING for each cell, BLOCKED for their last neighbour, the wall: int16 [F + 1]; boxes come in place of it."""
    standing = np.full(cells + 1, NOTHING, dtype=np.int16)
    standing[cells] = BLOCKED
    return standing


@njit(cache=True)
def _put(standing, boxes, rank):
    """Put the boxes of a set on their cells."""
    for place in range(boxes.shape[1]):
        standing[boxes[rank, place]] = place


@njit(cache=True)
def _take(standing, boxes, rank):
    """Take the boxes of a set from their cells."""
    for place in range(boxes.shape[1]):
        standing[boxes[rank, place]] = NOTHING


@njit(cache=True)
def _after(level, standing, rank, player, made):
    """Fill made, int64 [4], with the state that each action leads to, NO_STATE if it is not legal."""
    neighbour = level.floor.neighbour
    for action in range(ACTIONS):
        there, moved = neighbour[player, action], rank
        place = standing[there]
        made[action] = NO_STATE
        if place == BLOCKED:
            continue
        if place != NOTHING:
            beyond = neighbour[there, action]
            if standing[beyond] != NOTHING:
                continue
            moved = _moved(level, rank, place, beyond)
        made[action] = moved * len(neighbour) + there


@njit(cache=True)
def _before(level, standing, rank, player, made):
    """Fill made, int64 [8], with the state before each step back, in the order of Sokoban.reverse, or NO_STATE."""
    neighbour = level.floor.neighbour
    for action in range(ACTIONS):
        here = neighbour[player, action ^ 1]  # the opposite one
        made[action] = made[ACTIONS + action] = NO_STATE
        if standing[here] != NOTHING:
            continue
        made[action] = rank * len(neighbour) + here
        place = standing[neighbour[player, action]]
        if place >= 0:
            made[ACTIONS + action] = _moved(level, rank, place, player) * len(neighbour) + here


@njit(cache=True)
def _moved(level, rank, place, cell):
    """The rank of a set after one of its boxes moved to a free cell; it may change places with boxes in the order."""
    boxes, binomials = level.boxes, level.binomials
    moved, most = rank - binomials[boxes[rank, place], place + 1], boxes.shape[1] - 1
    while place < most and boxes[rank, place + 1] < cell:
        passed = boxes[rank, place + 1]
        moved += binomials[passed, place + 1] - binomials[passed, place + 2]
        place += 1
    while place > 0 and boxes[rank, place - 1] > cell:
        passed = boxes[rank, place - 1]
        moved += binomials[passed, place + 1] - binomials[passed, place]
        place -= 1
    return moved + binomials[cell, place + 1]


@njit(cache=True)
def _walks(level, distance, starts, random, noise):
    """LevelTable.walks. A solvable state that is not solved has a step to one that is a step nearer."""
    cells, standing, made = len(level.floor.cell), _nothing_on(len(level.floor.cell)), np.empty(ACTIONS, dtype=np.int64)
    seen, count = np.empty(starts.shape[0] * (random.shape[1] + 1), dtype=np.int64), 0
    for row in range(len(starts)):
        rank, moves = starts[row], 0
        while True:
            seen[count] = rank
            count += 1
            if moves == random.shape[1] or distance[rank] == 0:
                break
            _put(standing, level.boxes, rank // cells)
            _after(level, standing, rank // cells, rank % cells, made)
            _take(standing, level.boxes, rank // cells)
            # Bring those that it may go to to the front, and take one of them.
            choices, farthest = 0, FARTHEST if random[row, moves, 0] < noise[row] else distance[rank] - 1
            for state in made:
                if state != NO_STATE and distance[state] <= farthest:
                    made[choices] = state
                    choices += 1
            rank = made[int(random[row, moves, 1] * choices)]
            moves += 1
    return seen[:count]


@njit(cache=True)
def _combinations(cells, size, count):
    """All sets of `size` cells, ascending, in the order of the combinatorial number system: uint16 [count, size]."""
    sets, current = np.empty((count, size), dtype=np.uint16), np.arange(size)
    for rank in range(count):
        for place in range(size):
            sets[rank, place] = current[place]
        # Advance the first cell that has room by one, and move those before it back to the beginning.
        place = 0
        while place < size - 1 and current[place] + 1 == current[place + 1]:
            current[place] = place
            place += 1
        if size > 0:
            current[place] += 1
    return sets


@njit(cache=True)
def placed(floor, state, boxes):
    """The number of boxes of a state, uint8 [D], and the player's cell; -1 and -1 if it is of another level.

    boxes, int64: filled with the boxes' cells by their number on the floor, ascending. No more are counted than it has
    room for.
    """
    count, player = 0, -1
    for cell in range(len(state)):
        letter = state[cell]
        if floor.bare[cell] != (letter if letter == WALL else letter & 1):
            return -1, -1
        if letter == WALL or letter < BOX:
            continue
        if letter >= PLAYER:
            player = floor.number[cell]
        elif count < len(boxes):
            boxes[count] = floor.number[cell]
            count += 1
    return count, player


@njit(cache=True)
def _ranks(level, states):
    """LevelTable.ranks, with NO_STATE for states of other levels."""
    floor, boxes, binomials = level
    ranks = np.empty(len(states), dtype=np.int64)
    for row in range(len(states)):
        rank, count, player = 0, 0, NO_CELL
        for cell in range(states.shape[1]):
            letter, number = states[row, cell], floor.number[cell]
            without = letter if letter == WALL else letter & 1
            if without != floor.bare[cell]:
                count = boxes.shape[1]
                player = NO_CELL
                break
            if letter == WALL or letter < BOX:
                continue
            if letter >= PLAYER:
                player = number
                continue
            if count == boxes.shape[1] or number == NO_CELL:
                count = NO_CELL
                break
            count += 1
            rank += binomials[number, count]
        of_level = count == boxes.shape[1] and player != NO_CELL
        ranks[row] = rank * len(floor.cell) + player if of_level else NO_STATE
    return ranks


@njit(cache=True)
def _path(level, distance, rank):
    """LevelTable.path by rank, int8."""
    cells, standing, made = len(level.floor.cell), _nothing_on(len(level.floor.cell)), np.empty(ACTIONS, dtype=np.int64)
    actions = np.empty(distance[rank], dtype=np.int8)
    for place in range(len(actions)):
        _put(standing, level.boxes, rank // cells)
        _after(level, standing, rank // cells, rank % cells, made)
        _take(standing, level.boxes, rank // cells)
        for action in range(ACTIONS):
            if made[action] != NO_STATE and distance[made[action]] + 1 == distance[rank]:
                actions[place] = action
        rank = made[actions[place]]
    return actions
