"""Puzzles in the hand: they share no code with the project, so that answers can be tried on them.

A cube is geometry: a cubie is a place with a colour in each direction that it shows; turning layers turns vectors. The
others are lists and letters. Each is solved where the last line of its function says so; an illegal move is an error.
"""

import json
import random
import re
from pathlib import Path

FACES = {"U": (0, 1, 0), "D": (0, -1, 0), "R": (1, 0, 0), "L": (-1, 0, 0), "F": (0, 0, 1), "B": (0, 0, -1)}
AS_FACE = {"M": "L", "E": "D", "S": "F", "x": "R", "y": "U", "z": "F"}
TURN = re.compile(r"(\d*)([URFDLB]w?|[urfdlbMESxyz])(\d*)('?)")


class HandCube:
    """size: cubies in a row.  stickers: colour by place and direction."""

    def __init__(self, size: int):
        self.size, ends = size, range(1 - size, size, 2)
        self.stickers = {
            ((x, y, z), way): face
            for face, way in FACES.items()
            for x in ends
            for y in ends
            for z in ends
            if self._along((x, y, z), way) == size - 1
        }

    def turn(self, text: str) -> "HandCube":
        """Turn as one holds it, by a sequence without brackets."""
        for word in text.split():
            layer, name, count, back = TURN.fullmatch(word).groups()
            face = AS_FACE.get(name, name[0].upper())
            if name in "xyz":
                layers = range(1, self.size + 1)
            elif name in "MES":
                layers = [(self.size + 1) // 2]
            elif name.islower() or name.endswith("w"):
                layers = range(1, int(layer or 2) + 1)
            else:
                layers = [int(layer or 1)]
            for _ in range((int(count or 1) * (3 if back else 1)) % 4):
                self._quarter(FACES[face], {*layers})
        return self

    def solved(self) -> bool:
        """Whether each side has one colour, however the cube is held."""
        return all(len({c for (_, way), c in self.stickers.items() if way == side}) == 1 for side in FACES.values())

    def facelets(self, order: str = "URFDLB") -> str:
        """Its colours face by face, each read with the edge to U (of U and D to B and F) above."""
        rows = {"U": (0, 0, 1), "D": (0, 0, -1)} | dict.fromkeys("RLFB", (0, -1, 0))
        text = ""
        for face in order:
            way, down = FACES[face], rows[face]
            right = self._cross(way, down)
            for row in range(1 - self.size, self.size, 2):
                for column in range(1 - self.size, self.size, 2):
                    out = self.size - 1
                    place = tuple(way[i] * out + down[i] * row + right[i] * column for i in range(3))
                    text += self.stickers[place, way]
        return text

    def _quarter(self, way: tuple, layers: set[int]) -> None:
        """A quarter turn, clockwise as seen from outside, of layers counted from the face."""

        def turned(vector: tuple) -> tuple:
            along, across = self._along(vector, way), self._cross(vector, way)
            return tuple(way[i] * along + across[i] for i in range(3))

        depth = {place: (self.size + 1 - self._along(place, way)) // 2 for place, _ in self.stickers}
        self.stickers = {
            (turned(place), turned(side)) if depth[place] in layers else (place, side): colour
            for (place, side), colour in self.stickers.items()
        }

    @staticmethod
    def _along(a: tuple, b: tuple) -> int:
        return sum(x * y for x, y in zip(a, b, strict=True))

    @staticmethod
    def _cross(a: tuple, b: tuple) -> tuple:
        return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def slid(board: list[int], moves: list[str]) -> list[int]:
    """A square board, 0 for the blank, after tiles slid up, down, left or right into the blank."""
    board, side = [*board], int(len(board) ** 0.5)
    for move in moves:
        down, right = STEPS[move]
        row, column = divmod(board.index(0), side)
        row, column, blank = row - down, column - right, board.index(0)
        assert 0 <= row < side and 0 <= column < side, move
        board[blank], board[side * row + column] = board[side * row + column], 0
    return board


def pressed(lights: list[int], moves: list[str]) -> list[int]:
    """Lights row by row after presses such as r2c3."""
    lights, side = [*lights], int(len(lights) ** 0.5)
    for move in moves:
        row, column = (int(number) - 1 for number in re.fullmatch(r"r(\d)c(\d)", move).groups())
        for r, c in ((row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= r < side and 0 <= c < side:
                lights[side * r + c] ^= 1
    return lights


def carried(pegs: list[int], moves: list[str]) -> list[int]:
    """The peg of each disk, the smallest first, after moves such as 0>2."""
    pegs = [*pegs]
    for move in moves:
        source, target = map(int, move.split(">"))
        disk = pegs.index(source)
        assert target not in pegs[:disk], f"{move}: a smaller disk is there"
        pegs[disk] = target
    return pegs


def walked(level: str, moves: list[str]) -> str:
    """A level of Sokoban in its customary letters after steps, which push boxes."""
    cells = {(r, c): letter for r, row in enumerate(level.splitlines()) for c, letter in enumerate(row)}
    (row, column), *more = [place for place, letter in cells.items() if letter in "@+"]
    assert not more
    for move in moves:
        down, right = STEPS[move]
        there, behind = (row + down, column + right), (row + 2 * down, column + 2 * right)
        if cells[there] in "$*":
            assert cells[behind] in " .", move
            cells[behind] = "$*"[cells[behind] == "."]
            cells[there] = " ."[cells[there] == "*"]
        assert cells[there] in " .", move
        cells[row, column] = " ."[cells[row, column] == "+"]
        cells[there] = "@+"[cells[there] == "."]
        row, column = there
    width = max(c for _, c in cells) + 1
    rows = range(max(r for r, _ in cells) + 1)
    return "\n".join("".join(cells.get((r, c), " ") for c in range(width)) for r in rows)


def drawn_level(draw: random.Random) -> str:
    """A level of Sokoban that can be solved: boxes pulled off their targets in a room with a few pillars."""
    height, width, boxes = draw.randint(4, 6), draw.randint(4, 6), draw.randint(1, 3)
    inside = [(r, c) for r in range(1, height + 1) for c in range(1, width + 1)]
    draw.shuffle(inside)
    pillars, targets, player = {*inside[:2]}, inside[2 : 2 + boxes], inside[-1]
    free, at = {*inside} - pillars, {*targets}
    for _ in range(60):
        down, right = draw.choice([*STEPS.values()])
        ahead, before = (player[0] - down, player[1] - right), (player[0] + down, player[1] + right)
        if ahead in free - at:
            if before in at and draw.random() < 0.7:
                at = at - {before} | {player}
            player = ahead
    rows = []
    for r in range(height + 2):
        row = ""
        for c in range(width + 2):
            place = (r, c)
            on = place in targets
            letter = "@+"[on] if place == player else "$*"[on] if place in at else " ."[on]
            row += letter if place in free else "#"
        rows.append(row)
    return "\n".join(rows)


class OfFile:
    """A puzzle of a JSON file: the letter of each cell, and where the moves take letters."""

    def __init__(self, path: Path):
        said = json.loads(path.read_text(encoding="utf-8"))
        self.goal = [letter for letter in said["goal"] if not letter.isspace()]
        self.kind, self.moves = said["written_as"], said["moves"]

    def after(self, letters: list[str], moves: list[str]) -> list[str]:
        """The letters after moves."""
        for name in moves:
            move, there = self.moves[name], [*letters]
            if self.kind == "cycles":
                pairs = [(a, b) for cycle in move for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
            else:
                pairs = [(a, b) if self.kind == "to" else (b, a) for a, b in enumerate(move)]
            for source, target in pairs:
                there[target] = letters[source]
            letters = there
        return letters
