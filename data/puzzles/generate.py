"""Write the files of this folder from geometry: python data/puzzles/generate.py

A test holds the files equal to what this script makes.
"""

from itertools import combinations
from pathlib import Path

import numpy as np

from costtogo.puzzles.puzzle_files import text_of

FOLDER = Path(__file__).parent
FACES = "LUFDRB"  # of a cube, with x to the right, y up and z to the viewer
NORMALS = {"L": (-1, 0, 0), "U": (0, 1, 0), "F": (0, 0, 1), "D": (0, -1, 0), "R": (1, 0, 0), "B": (0, 0, -1)}
RIGHT = {"L": (0, 0, 1), "U": (1, 0, 0), "F": (1, 0, 0), "D": (1, 0, 0), "R": (0, 0, -1), "B": (-1, 0, 0)}
NET = {"U": (1, 2), "L": (0, 1), "F": (1, 1), "R": (2, 1), "B": (3, 1), "D": (1, 0)}  # places of faces in a picture
SIDE = 2.2  # from face to face of the picture
PAINTS = {"L": "#F28C1E", "U": "#F2D024", "F": "#2457C5", "D": "#FFFFFF", "R": "#C4202F", "B": "#1E9E54"}


def cycles_of(to: list[int]) -> list[list[int]]:
    """The cycles of a permutation, without those of one cell.  [1, 2, 0, 3] -> [[0, 1, 2]]"""
    seen, cycles = set(), []
    for first in range(len(to)):
        cycle, cell = [], first
        while cell not in seen:
            seen.add(cell)
            cycle.append(cell)
            cell = to[cell]
        cycles += [cycle] if len(cycle) > 1 else []
    return cycles


def both_ways(turns: dict[str, list[int]]) -> dict[str, list[list[int]]]:
    """Cycles of each turn, by its name, and of the turn back."""
    moves = {}
    for name, to in turns.items():
        moves[name] = cycles_of(to)
        moves[f"{name}'"] = cycles_of(np.argsort(to).tolist())
    return moves


def rounded(corners) -> list[list[float]]:
    return [[round(float(x), 3) for x in corner] for corner in corners]


def skewb() -> dict:
    """Each turn carries the half of the cube around a corner by a third; the corner of U, F and R never moves."""
    cells, shapes = [], []
    for face in FACES:
        normal, right = np.array(NORMALS[face]), np.array(RIGHT[face])
        up, middle = np.cross(normal, right), SIDE * np.array(NET[face])
        cells.append(10 * normal)
        shapes.append(middle + [[0, 1], [1, 0], [0, -1], [-1, 0]])
        for x, y in ((-1, 1), (1, 1), (-1, -1), (1, -1)):
            cells.append(10 * normal + 7 * (x * right + y * up))
            shapes.append(middle + [[x, 0], [x, y], [0, y]])
    numbers = {tuple(cell): number for number, cell in enumerate(np.array(cells).tolist())}

    def turn(corner: tuple[int, int, int]) -> list[int]:
        """Where each cell goes as the half around a corner turns clockwise, seen from there."""
        axis = np.array(corner) / np.sqrt(3)
        across = np.cross(np.eye(3), axis)  # the matrix of the cross product with the axis
        matrix = -0.5 * np.eye(3) - np.sqrt(3) / 2 * across + 1.5 * np.outer(axis, axis)
        to = list(range(len(cells)))
        for number, cell in enumerate(cells):
            if cell @ corner > 0:
                to[number] = numbers[tuple(np.rint(matrix @ cell).astype(int).tolist())]
        return to

    corners = {"U": (-1, 1, -1), "R": (1, -1, -1), "L": (-1, -1, 1), "B": (-1, -1, -1)}
    return {
        "name": "skewb",
        "title": "Skewb",
        "noun": "skewb",
        "source": "By data/puzzles/generate.py, from geometry; moves are named as the World Cube Association does.",
        "goal": " ".join(face * 5 for face in FACES),
        "written_as": "cycles",
        "moves": both_ways({name: turn(corner) for name, corner in corners.items()}),
        "states": 3_149_280,
        "shapes": [rounded(shape) for shape in shapes],
        "colours": PAINTS,
    }


def pyraminx() -> dict:
    """A tetrahedron; each turn carries the third around a vertex, its tip with it.

    Cells are known by the weights of the vertices U, L, R, B in their middles, in ninths.
    """
    faces = {"G": "ULR", "R": "UBL", "B": "URB", "Y": "LRB"}
    plane = {"U": np.array([0, np.sqrt(3)]), "L": np.array([-1.0, 0]), "R": np.array([1.0, 0])}
    plane_of = {  # a face lies beside the green one, across the edge that they share
        face: plane | {"B": sum(plane[v] for v in vertices if v != "B") - plane[({*"ULR"} - {*vertices}).pop()]}
        for face, vertices in faces.items()
        if face != "G"
    } | {"G": plane}
    thirds = {  # corners of a cell, by vertices in thirds
        "tip": ({0: 3}, {0: 2, 1: 1}, {0: 2, 2: 1}),
        "axial": ({0: 2, 1: 1}, {0: 2, 2: 1}, {0: 1, 1: 1, 2: 1}),
        "edge": ({0: 2, 1: 1}, {0: 1, 1: 2}, {0: 1, 1: 1, 2: 1}),
    }
    cells, shapes = [], []
    for face, vertices in faces.items():
        for kind, corners in thirds.items():
            for first in (
                [(a, *(v for v in vertices if v != a)) for a in vertices]
                if kind != "edge"
                else [(*pair, *({*vertices} - {*pair})) for pair in combinations(vertices, 2)]
            ):
                weights = {v: sum(corner.get(place, 0) for corner in corners) for place, v in enumerate(first)}
                cells.append((face, tuple(weights.get(v, 0) for v in "ULRB")))
                places = [sum(n / 3 * plane_of[face][first[p]] for p, n in corner.items()) for corner in corners]
                shapes.append(places)
    numbers = {weights: number for number, (_, weights) in enumerate(cells)}

    def turn(vertex: str) -> list[int]:
        """Where each cell goes as the third around a vertex turns clockwise, seen from there."""
        around = {"U": "LBR", "L": "URB", "R": "UBL", "B": "ULR"}[vertex]
        after = dict(zip(around, around[1:] + around[:1], strict=True)) | {vertex: vertex}
        to = list(range(len(cells)))
        for number, (_, weights) in enumerate(cells):
            named = dict(zip("ULRB", weights, strict=True))
            if named[vertex] >= 4:
                moved = {after[v]: weight for v, weight in named.items()}
                to[number] = numbers[tuple(moved[v] for v in "ULRB")]
        return to

    return {
        "name": "pyraminx",
        "title": "Pyraminx",
        "noun": "pyramid",
        "source": "By data/puzzles/generate.py, from geometry; tips turn with the layers that they are part of.",
        "goal": " ".join(face * 9 for face in faces),
        "written_as": "cycles",
        "moves": both_ways({vertex: turn(vertex) for vertex in "ULRB"}),
        "states": 933_120,
        "shapes": [rounded(shape) for shape in shapes],
        "colours": {"G": "#1E9E54", "R": "#C4202F", "B": "#2457C5", "Y": "#F2D024"},
    }


def pancake(count: int) -> dict:
    """A stack of pancakes, the topmost first; the move `4` turns over the four topmost."""
    flips = {str(size): [*range(size - 1, -1, -1), *range(size, count)] for size in range(2, count + 1)}
    return {
        "name": f"pancake_{count}",
        "title": f"{count} pancakes",
        "noun": "stack",
        "source": "By data/puzzles/generate.py.",
        "goal": [str(size) for size in range(1, count + 1)],
        "written_as": "to",
        "moves": flips,
        "states": int(np.prod(range(1, count + 1), dtype=object)),
    }


def texts() -> dict[str, str]:
    """The content of each file, by its name."""
    puzzles = (skewb(), pyraminx(), pancake(9), pancake(20))
    return {f"{puzzle['name']}.json": text_of(puzzle) for puzzle in puzzles}


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
