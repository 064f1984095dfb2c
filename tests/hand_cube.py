"""A cube in the hand, by geometry alone: it shares no code with the project, so that answers can be tried on it.

A cubie is a place with a colour in each direction that it shows; turning layers turns vectors.
"""

import re

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
