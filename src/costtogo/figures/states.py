"""Pictures of states: the net of a cube, the towers of Hanoi, boards of tiles and of lights, levels of Sokoban,
cells of puzzles from files."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, Polygon, Rectangle

from costtogo.figures import style
from costtogo.puzzles import find, made, make
from costtogo.puzzles.base import Puzzle
from costtogo.puzzles.cube import FACES
from costtogo.types import States

STICKERS = {"L": "#F28C1E", "U": "#F2D024", "F": "#2457C5", "D": "#FFFFFF", "R": "#C4202F", "B": "#1E9E54"}
# Column and row of each face in the net, in faces.
NET = {"U": (1, 2), "L": (0, 1), "F": (1, 1), "R": (2, 1), "B": (3, 1), "D": (1, 0)}
GAP = 0.15  # between two faces of a net, in stickers
ROUNDED = "round,pad=0,rounding_size=0.1"  # the corners of disks and tiles
LEVELS_SHOWN = 4  # of a solution
BOARD_POINTS = 60  # size of a number on a board, times the board's side
SHAPE_POINTS = 6  # size of a letter
LIGHTNESS = (0.299, 0.587, 0.114)  # of red, green and blue
DRAWINGS: dict[str, Callable[[Axes, Puzzle, States], None]] = {}  # by family


def picture_of(*families: str) -> Callable[[Callable], Callable]:
    """Mark the function that draws a state, uint8 [D], of the puzzles of some families."""

    def register(draw: Callable) -> Callable:
        DRAWINGS.update(dict.fromkeys(families, draw))
        return draw

    return register


def draw_state(axes: Axes, puzzle: Puzzle, state: States) -> None:
    """Draw a state, uint8 [D], with the picture of its family or, if that has none, as a row of cells."""
    picture = find(puzzle.name)[0].picture
    draw = made(picture) if picture else DRAWINGS.get(puzzle.family, draw_cells)
    draw(axes, puzzle, state)


@style.kind_of_figure
def states(table: dict[str, np.ndarray], puzzle: str) -> Figure:
    """The goal, and the customary start or, without one, a state farthest from the goal; table: distance [S]."""
    distance, rules = table["distance"], make(puzzle)
    farthest = rules.unrank(np.array([distance.argmax()]))[0] if rules.start is None else rules.start
    moves = distance[rules.rank(farthest[None])[0]]
    return two_states(rules, {"goal": rules.goal, f"{moves} moves away": farthest})


@style.kind_of_figure
def large_states(instances: pd.DataFrame, puzzle: str, sets: list[str]) -> Figure:
    """The first state of each of up to two sets, or the last, which is the farthest, if all distances are known.

    instances: set, state (text), distance (NaN where it is not known).
    """
    rules, shown = make(puzzle), {}
    for name in sets:
        group = instances[instances["set"] == name]
        known = group["distance"].notna().all()
        chosen = group.iloc[-1 if known else 0]
        shown[f"{name}: {chosen['distance']:.0f} moves away" if known else name] = rules.parse_state(chosen["state"])
    figure = two_states(rules, shown)
    figure.get_layout_engine().set(h_pad=0.1)  # inches, for the names above
    return figure


@style.kind_of_figure
def level_solution(along: pd.DataFrame, puzzle: str) -> Figure:
    """A shortest solution of a level: the level at some steps (above), cost-to-go and distance at all steps (below).

    along: set, instance, step, state (text), distance, cost_to_go, push (bool, of the step that led there).
    """
    rules, places = make(puzzle), np.unique(np.linspace(0, len(along) - 1, LEVELS_SHOWN).round().astype(int))
    figure, panels = style.subplots(2, len(places), height=4.6, grid=False)
    for axes, place in zip(panels[: len(places)], places, strict=True):
        row = along.iloc[place]
        draw_state(axes, rules, rules.parse_state(row["state"]))
        axes.set_title(f"step {row['step']}", fontsize=8)
        axes.set_axis_off()
    grid = panels[len(places)].get_gridspec()
    for axes in panels[len(places) :]:
        axes.remove()
    axes = figure.add_subplot(grid[1, :])
    axes.plot(along["step"], along["distance"], label="steps left", **style.REFERENCE)
    axes.plot(along["step"], along["cost_to_go"], color=style.GREEN, label="cost-to-go of the network")
    pushes = along[along["push"]]
    axes.plot(pushes["step"], pushes["cost_to_go"], "o", color=style.GREEN, markersize=3, label="after a push")
    axes.set(xlabel="step of the solution", ylabel="moves", ylim=(0, None))
    axes.legend()
    return figure


def two_states(puzzle: Puzzle, states: dict[str, States]) -> Figure:
    """One or two states side by side, each uint8 [D] under its name."""
    figure, panels = style.subplots(1, len(states), height=2.6, grid=False)
    for axes, (name, state) in zip(panels, states.items(), strict=True):
        draw_state(axes, puzzle, state)
        axes.set_title(name)
        axes.set_axis_off()
    return figure


@picture_of("cube2", "cube3")
def draw_cube(axes: Axes, puzzle: Puzzle, state: States) -> None:
    """The net of a cube; each sticker also has the letter of its colour."""
    side = math.isqrt(len(state) // len(FACES))
    step = side + GAP
    for place, face in enumerate(FACES):
        column, row = NET[face]
        for sticker in range(side * side):
            colour = FACES[state[side * side * place + sticker]]
            x, y = step * column + sticker % side, step * row + side - 1 - sticker // side
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor=STICKERS[colour], edgecolor="black", linewidth=1))
            ink = "white" if colour in "FRB" else "black"
            style.write_in(axes, x + 0.5, y + 0.5, colour, ink, 8)
    axes.set(xlim=(-0.2, 4 * step + 0.1), ylim=(-0.2, 3 * step + 0.05), aspect="equal")


@picture_of("hanoi")
def draw_towers(axes: Axes, puzzle: Puzzle, state: States) -> None:
    """Pegs with their disks, the smallest disk numbered 0."""
    disks, width = puzzle.cells, 2.2
    heights = [0] * puzzle.letters
    for peg in range(puzzle.letters):
        axes.plot([peg * width] * 2, [0, disks + 0.7], color=style.GREY, linewidth=2, zorder=0)
        axes.text(peg * width, -0.3, f"peg {peg}", ha="center", va="top", fontsize=8)
    for disk in reversed(range(disks)):
        peg = int(state[disk])
        half = 0.25 + 0.75 * (disk + 1) / disks
        box = (peg * width - half, heights[peg] + 0.1)
        axes.add_patch(FancyBboxPatch(box, 2 * half, 0.8, boxstyle=ROUNDED, facecolor=style.BLUE))
        style.write_in(axes, peg * width, heights[peg] + 0.5, str(disk), "white", 7)
        heights[peg] += 1
    axes.set(xlim=(-1.2, (puzzle.letters - 1) * width + 1.2), ylim=(-1.2, disks + 1))


@picture_of("sliding")
def draw_tiles(axes: Axes, puzzle: Puzzle, state: States) -> None:
    """A board of sliding tiles with their numbers; tiles in their goal cell are blue."""
    for cell, (x, y) in enumerate(_board(axes, state)):
        if state[cell]:
            fill, ink = (style.BLUE, "white") if state[cell] == puzzle.goal[cell] else (style.PALE, "black")
            look = {"boxstyle": ROUNDED, "facecolor": fill, "edgecolor": "none"}
            axes.add_patch(FancyBboxPatch((x + 0.05, y + 0.05), 0.9, 0.9, **look))
            style.write_in(axes, x + 0.5, y + 0.48, str(state[cell]), ink, BOARD_POINTS / math.isqrt(len(state)))


@picture_of("lights_out")
def draw_lights(axes: Axes, puzzle: Puzzle, state: States) -> None:
    """A board of lights, those that are on in yellow."""
    for light, place in zip(state, _board(axes, state), strict=True):
        fill = style.YELLOW if light else style.GREY
        axes.add_patch(Rectangle(place, 1, 1, facecolor=fill, edgecolor="white", linewidth=2))


@picture_of("sokoban")
def draw_level(axes: Axes, puzzle: Puzzle, state: States) -> None:
    """Walls in grey, targets as rings, boxes as squares, which are blue on a target, the player as a dot."""
    player, box, target, wall = puzzle.planes[state].T.astype(bool)
    axes.set(xlim=(-0.1, puzzle.columns + 0.1), ylim=(-0.1, puzzle.rows + 0.1), aspect="equal")
    for cell in range(puzzle.cells):
        x, y = cell % puzzle.columns, puzzle.rows - 1 - cell // puzzle.columns
        if wall[cell]:
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor=style.GREY, edgecolor=style.GREY))
        if target[cell]:
            axes.add_patch(Circle((x + 0.5, y + 0.5), 0.42, facecolor="none", edgecolor=style.BLUE, linewidth=1.5))
        if box[cell]:
            fill = style.BLUE if target[cell] else style.YELLOW
            axes.add_patch(Rectangle((x + 0.2, y + 0.2), 0.6, 0.6, facecolor=fill, edgecolor="black", linewidth=0.8))
        if player[cell]:
            axes.add_patch(Circle((x + 0.5, y + 0.5), 0.24, facecolor="black", edgecolor="black"))


@picture_of("file")
def draw_shapes(axes: Axes, puzzle: Puzzle, state: States) -> None:
    """The cells of a puzzle from a file, in the file's shapes and colours, each with its letter."""
    for number, shape in zip(puzzle.letters_of(state), puzzle.shapes, strict=True):
        letter = puzzle.file.alphabet[number]
        fill = puzzle.colours.get(letter) or _colour(number, len(puzzle.file.alphabet))
        axes.add_patch(Polygon(shape, closed=True, facecolor=fill, edgecolor="black", linewidth=0.8))
        style.write_in(axes, *shape.mean(axis=0), letter, _ink(fill), SHAPE_POINTS)
    _fit(axes, np.concatenate(puzzle.shapes))


def draw_cells(axes: Axes, puzzle: Puzzle, state: States) -> None:
    """The cells of any puzzle in a row, each in the colour of its letter."""
    for cell, letter in enumerate(state):
        fill = _colour(letter, puzzle.letters)
        axes.add_patch(Rectangle((cell, 0), 1, 1, facecolor=fill, edgecolor="black", linewidth=0.8))
        style.write_in(axes, cell + 0.5, 0.5, str(letter), _ink(fill), SHAPE_POINTS)
    _fit(axes, np.array([[0, 0], [len(state), 1]]))


def _colour(letter: int, letters: int) -> str:
    """The colour of a letter, from dark to light in the order of the letters, as "#rrggbb"."""
    return to_hex(colormaps["viridis"](letter / max(letters - 1, 1)))


def _ink(fill: str) -> str:
    """Black on light colours, white on dark ones."""
    return "black" if np.dot(to_rgb(fill), LIGHTNESS) > 0.5 else "white"


def _fit(axes: Axes, corners: np.ndarray) -> None:
    """Show all corners, float [n, 2], with a margin."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = 0.02 * (high - low).max()
    axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin), aspect="equal")


def _board(axes: Axes, state: States) -> list[tuple[int, int]]:
    """Left and lower edge of each cell of a square board, row by row from above, with a frame around all."""
    side = math.isqrt(len(state))
    axes.add_patch(Rectangle((0, 0), side, side, facecolor="none", edgecolor=style.GREY, linewidth=1))
    axes.set(xlim=(-0.1, side + 0.1), ylim=(-0.1, side + 0.1), aspect="equal")
    return [(cell % side, side - 1 - cell // side) for cell in range(side * side)]
