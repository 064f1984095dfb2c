"""Levels of Sokoban made at random in the manner of Boxoban.

A level is made in four steps, as those of Boxoban are (Guez et al. 2019, "An investigation of model-free planning",
ICML; levels at github.com/google-deepmind/boxoban-levels): a random walk carves a room out of walls, boxes on targets
and a player are put anywhere in it, boxes are pulled off at random, and of all positions on the way the best by a score
is kept. Where Boxoban searches the positions depth first, a few short walks are enough here. The constants below are
fitted to 30,000 of its training levels: free cells, distances from boxes to targets, steps of shortest solutions.

A level is solvable because it was made by steps back from a solved one.
"""

from typing import NamedTuple

import numpy as np

from costtogo.compiled import njit
from costtogo.exact.hashing import EMPTY, ONE, hash_numbers, hash_of, slot_of
from costtogo.learning.random_numbers import below, split_mix
from costtogo.params.base import derive_seed
from costtogo.puzzles.sokoban import BOX_ON_TARGET, FLOOR, PLAYER, WALL, Sokoban, back, back_allowed, player_of
from costtogo.types import States, UserError

CHUNK = 1000  # levels that are made at a time, between which the user can stop
MOST_ATTEMPTS = 1000  # at one level

CARVED = np.array(  # what the walk carves around where it is, as rows and columns from there
    [
        [(0, 0), (0, -1), (0, 1), (0, 0)],  # a row of three cells
        [(0, 0), (-1, 0), (1, 0), (0, 0)],  # a column of three
        [(0, 0), (0, -1), (1, 0), (0, 0)],  # a corner
        [(0, 0), (0, 1), (1, 0), (0, 0)],  # the other corner
        [(0, 0), (0, -1), (1, 0), (1, -1)],  # a square
    ]
)
STRAIGHT = 3  # steps, on average, after which the walk draws a new direction
CELLS_PER_STEP = 1.5  # of the board without its border, for each step of the walk
LONGER = 100  # attempts at a level until its walk is twice as long: many boxes need a larger room
WALKS = 30  # walks back from each solved position
PULLS_PER_BOX = 15  # of a walk back
AWAY = 3  # times as likely is a pull that takes a box farther from where it stood when solved
FEWEST_PUSHES = 2  # of any level's solutions


class Yard(NamedTuple):
    """What levels are made with; each level overwrites what the one before left.

    rows, columns, boxes: of every level.  steps: int64 [A], what each action adds to the player's cell.
    carved: int64 [patterns, cells, 2], CARVED.
    solved: uint8 [D], the room with boxes on all targets and the player.
    board: uint8 [D], the position of a walk back, without the player.
    home: int64 [D], of each cell with a box on it the target that this box stood on when solved.
    seen, queue: bool [D] and int64 [D], the cells that the player can come to.
    noise: uint64 [1], the state of the random numbers.
    """

    rows: int
    columns: int
    boxes: int
    steps: np.ndarray
    carved: np.ndarray
    solved: States
    board: States
    home: np.ndarray
    seen: np.ndarray
    queue: np.ndarray
    noise: np.ndarray


def generate(puzzle: Sokoban, count: int, boxes: int, seed: int) -> States:
    """The starts of different levels with `boxes` boxes; no box and no player is on a target: uint8 [count, D].

    Level i depends on the seed, the board, the number of boxes and i, and not on how many are asked for. Each level has
    up to MOST_ATTEMPTS attempts, random numbers of their own each, and keeps the first that gives a level none before
    it is: not the same walls, targets, boxes and player.
    Raises UserError where no attempt gives one, and so where boxes have no room.
    """
    _refuse_no_room(puzzle, count, boxes)
    levels = np.empty((count, puzzle.cells), dtype=np.uint8)
    keys = np.zeros(1 << (2 * count).bit_length(), dtype=np.uint64)
    yard, numbers = _yard(puzzle, boxes), hash_numbers(puzzle.cells, puzzle.letters)
    own_seed = derive_seed(seed, "levels", puzzle.name, str(boxes))
    # In chunks, between which an interrupt is heard.
    for first in range(0, count, CHUNK):
        asked = levels[first : first + CHUNK]
        if (made := _fill(asked, first, own_seed, keys, numbers, yard)) < len(asked):
            raise _too_few(puzzle, first + made, count, boxes)
    return levels


def _refuse_no_room(puzzle: Sokoban, count: int, boxes: int) -> None:
    """UserError where it is plain that there are no such levels: each box needs a target and a cell off it."""
    if count < 0 or boxes < 1:
        raise UserError(f"There are no {count} levels with {boxes} boxes: ask for 0 or more levels with 1 box or more.")
    if 2 * boxes + 1 > (puzzle.rows - 2) * (puzzle.columns - 2):
        raise _too_few(puzzle, 0, count, boxes)


def _too_few(puzzle: Sokoban, made: int, count: int, boxes: int) -> UserError:
    """The error where attempts at a level ran out."""
    with_boxes = f"with {boxes} {'box' if boxes == 1 else 'boxes'}"
    if made:
        return UserError(
            f"Only {made:,} of {count:,} different levels of {puzzle.name} {with_boxes} were found: ask for fewer "
            "levels, fewer boxes or a larger board."
        )
    return UserError(
        f"{puzzle.name} has no room for levels {with_boxes}: its board has {puzzle.rows - 2} × {puzzle.columns - 2} "
        "cells without the border; ask for fewer boxes, or for a larger board."
    )


def _yard(puzzle: Sokoban, boxes: int) -> Yard:
    """Room to make levels in, on the board of a puzzle."""
    cells = puzzle.cells
    boards = np.empty((2, cells), dtype=np.uint8)
    numbers = np.empty((2, cells), dtype=np.int64)
    seen, noise = np.empty(cells, dtype=np.bool_), np.empty(1, dtype=np.uint64)
    return Yard(puzzle.rows, puzzle.columns, boxes, puzzle.steps, CARVED, *boards, numbers[0], seen, numbers[1], noise)


@njit(cache=True)
def _fill(levels, first, seed, keys, numbers, yard):
    """Make levels, uint8 [N, D], the first of which has the number `first`; how many were made, N if all.

    keys, uint64 [slots], holds the hashes of all levels so far; the new ones are entered.
    """
    for row in range(len(levels)):
        attempt = 0
        while not (_make(levels[row], first + row, attempt, seed, yard) and _is_new(levels, row, keys, numbers)):
            attempt += 1
            if attempt == MOST_ATTEMPTS:
                return row
    return len(levels)


@njit(cache=True)
def _is_new(levels, row, keys, numbers):
    """Whether no level so far equals that of the row; its hash is entered."""
    hashed = hash_of(levels, row, numbers)
    hashed = hashed if hashed != EMPTY else ONE
    slot = slot_of(hashed, keys)
    new = keys[slot] == EMPTY
    keys[slot] = hashed
    return new


@njit(cache=True)
def _make(level, number, attempt, seed, yard):
    """One attempt at a level, uint8 [D]: whether it is one."""
    yard.noise[0] = seed
    yard.noise[0] = split_mix(yard.noise) ^ np.uint64(number)
    yard.noise[0] = split_mix(yard.noise) ^ np.uint64(attempt)
    _carve(attempt, yard)
    if not _furnish(yard):
        return False
    best = 0
    for _ in range(WALKS):
        best = _walk_back(level, best, yard)
    if best > 0:
        _place_player(level, yard)
    return best > 0


@njit(cache=True)
def _carve(attempt, yard):
    """A room between walls: what a random walk carves that stays off the border, longer with each attempt."""
    rows, columns, noise = yard.rows, yard.columns, yard.noise
    yard.solved[:] = WALL
    row, column, way = 1 + below(noise, rows - 2), 1 + below(noise, columns - 2), below(noise, 4)
    for _ in range(int((rows - 2) * (columns - 2) * (1 + attempt / LONGER) / CELLS_PER_STEP)):
        if below(noise, STRAIGHT) == 0:
            way = below(noise, 4)
        row = min(max(row + (way == 1) - (way == 0), 1), rows - 2)
        column = min(max(column + (way == 3) - (way == 2), 1), columns - 2)
        for down, right in yard.carved[below(noise, len(yard.carved))]:
            if 0 < row + down < rows - 1 and 0 < column + right < columns - 1:
                yard.solved[(row + down) * columns + column + right] = FLOOR


@njit(cache=True)
def _furnish(yard):
    """Put boxes on targets and the player on different cells of the room, all as likely; false without enough cells."""
    free, cells = 0, yard.queue
    for cell in range(len(yard.solved)):
        if yard.solved[cell] == FLOOR:
            cells[free] = cell
            free += 1
    if free < 2 * yard.boxes + 1:
        return False
    for place in range(yard.boxes + 1):
        other = place + below(yard.noise, free - place)
        cells[place], cells[other] = cells[other], cells[place]
        yard.solved[cells[place]] = BOX_ON_TARGET if place < yard.boxes else PLAYER
    return True


@njit(cache=True)
def _walk_back(level, best, yard):
    """Pull boxes off their targets; a position that scores more than the best so far becomes the level.

    The score is the product of how far boxes are from their targets, squared, and how often another box is pulled;
    0 while a box or the player is on a target. Squared, because random pulls change the box more often than they carry
    it far. Returns the best score.
    """
    player = _begin(yard)
    distance, changes, home, last = 0, 0, yard.boxes, 0  # home: boxes on targets
    for _ in range(PULLS_PER_BOX * yard.boxes):
        # Pull one box by one cell.
        cell, step = _choose_pull(player, yard)
        if step == 0:
            break
        box = cell + step
        home -= yard.board[box] == BOX_ON_TARGET
        distance += _farther(box, cell, yard)
        changes += box != last
        player, last = _pull(cell, step, yard), cell
        home += yard.board[cell] == BOX_ON_TARGET
        # Keep the position if it is a level, and the best so far.
        fit = home == 0 and yard.board[player] == FLOOR and distance >= FEWEST_PUSHES
        if fit and distance * distance * changes > best:
            best = distance * distance * changes
            level[:] = yard.board
            level[player] += PLAYER
    return best


@njit(cache=True)
def _begin(yard):
    """Set up the solved position without the player; returns the player's cell."""
    player = player_of(yard.solved)
    yard.board[:] = yard.solved
    yard.board[player] -= PLAYER
    for cell in range(len(yard.home)):
        yard.home[cell] = cell
    return player


@njit(cache=True)
def _choose_pull(player, yard):
    """One of the pulls that the player can come to, at random: the player's cell before it and its step, 0 if none."""
    chosen_cell, chosen_step, total = player, 0, 0
    for place in range(_reach(yard.board, player, yard)):
        cell = yard.queue[place]
        for step in yard.steps:
            if back_allowed(yard.board, cell, step, True):
                weight = AWAY if _farther(cell + step, cell, yard) > 0 else 1
                total += weight
                if below(yard.noise, total) < weight:
                    chosen_cell, chosen_step = cell, step
    return chosen_cell, chosen_step


@njit(cache=True)
def _farther(box, cell, yard):
    """How much farther from home, in rows and columns, a box is on another cell."""
    row, column = divmod(yard.home[box], yard.columns)
    before = abs(box // yard.columns - row) + abs(box % yard.columns - column)
    return abs(cell // yard.columns - row) + abs(cell % yard.columns - column) - before


@njit(cache=True)
def _pull(cell, step, yard):
    """The player comes to a cell and takes a step back, with a pull; returns its cell then."""
    yard.board[cell] += PLAYER
    back(yard.board, cell, step, True)
    yard.board[cell - step] -= PLAYER
    yard.home[cell] = yard.home[cell + step]
    return cell - step


@njit(cache=True)
def _reach(board, player, yard):
    """List the cells that the player can come to, its own first, in yard.queue; how many there are."""
    yard.seen[:] = False
    yard.seen[player], yard.queue[0] = True, player
    found, place = 1, 0
    while place < found:
        cell = yard.queue[place]
        for step in yard.steps:
            if back_allowed(board, cell, step, False) and not yard.seen[cell - step]:
                yard.seen[cell - step], yard.queue[found] = True, cell - step
                found += 1
        place += 1
    return found


@njit(cache=True)
def _place_player(level, yard):
    """Move the player to any cell that it can come to and that is no target, all as likely."""
    player, floors = player_of(level), 0
    level[player] -= PLAYER
    for place in range(_reach(level, player, yard)):
        if level[yard.queue[place]] == FLOOR:
            floors += 1
            if below(yard.noise, floors) == 0:
                player = yard.queue[place]
    level[player] += PLAYER
