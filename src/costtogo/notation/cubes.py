"""Cubes as they are held: turns of faces, slices, wide turns and rotations, and facelets in any order and letters.

A state of a cube is what a person sees who holds it: the colours are named by the centres, of a 2×2×2 by the corner of
D, L and F, wherever the cube was turned to. So a solution solves the cube that is in the hand, up to a rotation of the
whole. White is U and green is F where letters are colours (WCA Regulations, 4d).

    title   = [ "scramble" ] [ number ( "." | ":" | ")" ) ] [ a time ], before the turns

    turn    = [ layers ] face [ "w" ] [ count ] [ "'" ] | ( slice | rotation ) [ count ] [ "'" ]; "i", "^-1", "-" as "'"
    layers  = number | number "-" number    counted from the face
    face    = "U" | "R" | "F" | "D" | "L" | "B", a small letter for a wide turn
    slice   = "M" as L | "E" as D | "S" as F
    rotation = "x" as R | "y" as U | "z" as F
"""

import re
from functools import cache, lru_cache
from itertools import permutations
from urllib.parse import unquote_plus

import numpy as np

from costtogo.notation import sequences
from costtogo.notation.given import Given
from costtogo.puzzles.cube import FACE_AXES, FACES, OPPOSITE, Cube, carried, pieces_of, sticker_places
from costtogo.types import States, UserError, excerpt

TURN = re.compile(
    r"(?:(\d+)(?:-(\d+))?)?(?:([URFDLB])(w?)|([urfdlb])w?|([MESmes])|([xyzXYZ]))"
    r"(?:\^(?=-?\d))?(\d{0,9})('|i|-(?=1|[\s,)\]]|$))?(\d?)(?:\+(?=[\s,)\]]|$))?"
)
TITLE = re.compile(r"\s*(?:scramble\b\s*)?(?:#?\d+\s*[.:)]|#\d+\b|:)?\s*(?:\d+(?:[.:]\d\d)+\s+)?", re.IGNORECASE)
APART = re.compile(r"(?<=[A-Za-z\d)\]])\s+'(?=\s|$)")  # a turn and its apostrophe
LINK = re.compile(
    r"https?://\S*?[?&](?:(?:experimental-)?setup(?:-alg)?|alg(?!\S*&\S*setup))=([^&\s]+)\S*"
)  # of twizzle
RAW = {ord("_"): " ", ord("-"): "'"}  # how alg.cubing.net writes blanks and apostrophes in a link
POWERS = {ord("²"): "2", ord("³"): "3", ord("⁻"): "^-", ord("¹"): "1", ord("₂"): "2", ord("₃"): "3"}
SLICES = {"M": "L", "E": "D", "S": "F"}
ROTATIONS = {"X": "R", "Y": "U", "Z": "F"}
EXAMPLE = "a turn such as R, U2, F', Rw, M or x, or a bracket"
ORDERS = ("LUFDRB", "URFDLB", "ULFRBD", "UFRBLD", "ULFRDB", "UDFBLR", "UDLRFB", "FRBLUD", "FBUDLR")  # in use elsewhere
LABEL = re.compile(r"\b([URFDLB]|UP|RIGHT|FRONT|DOWN|LEFT|BACK)(?:\s+FACE)?['\"]?\s*[:=]")  # a face before its letters
COLOUR = re.compile("WHITE|GREEN|RED|ORANGE|BLUE|YELLOW")
COLOURS = dict(zip("WGROBY", "UFRLBD", strict=True))  # WCA: white above, green in front
Turn = tuple[str, int, int, int]  # face, first and last layer counted from it, quarters clockwise


def read_scramble(puzzle: Cube, text: str, start: States | None = None) -> Given:
    """What turns make of a state, the solved cube if none is given; UserError for what is no turn of this cube."""
    if LINK.match(text.strip()):
        raw = LINK.sub(r"\1", text)
        text = unquote_plus(raw.translate(RAW) if "alg.cubing.net" in text else raw)
    text = APART.sub("'", text.translate(POWERS).replace("^{-1}", "'"))
    text = text[TITLE.match(text).end() :]
    turns = sequences.read(text, sequences.Family(TURN, lambda found: [_turn(found, puzzle.size)], _inverse, EXAMPLE))
    stickers = puzzle.goal if start is None else start
    for turn in turns:
        stickers = stickers[_comes_from(puzzle.size, *turn)]
    read_as = " ".join(filter(None, (_text(turn, puzzle.size) for turn in turns)))
    return Given(as_held(puzzle, stickers), read_as, shown=stickers)


def read_state(puzzle: Cube, text: str) -> Given:
    """The colour of each sticker, face by face; UserError where no order of the faces makes a cube that can be solved.

    The order that six labels name is tried first. Where letters are names of faces, the centres may spell an order in
    use. Else, and of a 2×2×2, the orders in use are tried, the cube being held in any way, then what the centres spell,
    then all; the first possible cube counts.
    """
    labels = "".join(name[0] for name in LABEL.findall(text.upper()))
    text = COLOUR.sub(lambda found: found[0][0], LABEL.sub("", text.upper()))
    letters = re.sub(r"[\s,;|:/\[\](){}'\"-]", "", _unfolded(puzzle, text))
    if len(letters) != puzzle.cells:
        title = "×".join([str(puzzle.size)] * 3)
        raise UserError(f"A {title} cube has {puzzle.cells} stickers, face by face, but {len(letters)} were given.")
    _refuse_counts(letters, puzzle.size**2)
    first: UserError | None = None
    named = [labels] * (sorted(labels) == sorted(FACES))
    for order in dict.fromkeys(named + _orders(puzzle, letters)):
        try:
            faces = dict(zip(order, _faces(letters, puzzle), strict=True))
            stickers = np.array(list("".join(faces[face] for face in FACES)))
            state = as_held(puzzle, stickers)
            puzzle.check_pieces(state)
            read_as = f"{puzzle.format_state(state)} (faces given in the order {' '.join(order)})"
            return Given(state, read_as, shown=_coloured(stickers))
        except UserError as error:
            first = first or error
    raise first


def _coloured(stickers: np.ndarray) -> States | None:
    """The colours of stickers, uint8 [D], whose letters name faces or the colours of the WCA; None of other letters."""
    letters = [COLOURS.get(each, each) for each in stickers] if set(stickers) <= {*COLOURS} else stickers.tolist()
    return np.array([FACES.index(each) for each in letters], dtype=np.uint8) if {*letters} <= {*FACES} else None


def _unfolded(puzzle: Cube, text: str) -> str:
    """The text face by face, if it is a net: U above, L F R B in a row, D below; else unchanged."""
    size, rows = puzzle.size, [row for line in text.splitlines() if (row := re.sub(r"[^\w]", "", line))]
    if [len(row) for row in rows] != [size] * size + [4 * size] * size + [size] * size:
        return text
    middle = ["".join(row[first : first + size] for row in rows[size:-size]) for first in range(0, 4 * size, size)]
    return "".join(rows[:size] + middle + rows[-size:])


def as_held(puzzle: Cube, stickers: np.ndarray) -> States:
    """The state, uint8 [D], of stickers in any six colours, [D]: each colour is named by where the cube is held."""
    names = _centres(puzzle, stickers) if puzzle.size % 2 else _by_corner(stickers)
    state = np.full(puzzle.cells, len(FACES), dtype=np.uint8)
    for face, colour in enumerate(names):
        state[stickers == colour] = face
    if (state == len(FACES)).any():
        raise UserError("Impossible cube: two centres have the same colour.")
    return state


def _centres(puzzle: Cube, stickers: np.ndarray) -> list:
    """The colour of the centre of each face, in the order of FACES."""
    return stickers.reshape(len(FACES), -1)[:, puzzle.size**2 // 2].tolist()


def _by_corner(stickers: np.ndarray) -> list:
    """The colours of a 2×2×2 by the corner of D, L and F: the colour opposite another shares no corner with it."""
    corners = pieces_of(2, 3).stickers
    seen = dict(zip(corners[-1] // 4, stickers[corners[-1]].tolist(), strict=True))
    together = stickers[corners].tolist()
    names: list = [None] * len(FACES)
    for face, colour in seen.items():
        shares = {each for corner in together if colour in corner for each in corner}
        others = set(stickers.tolist()) - shares
        if len(others) != 1:
            raise UserError("Impossible cube: of two colours that are opposite each other a corner has both.")
        names[face], names[FACES.index(OPPOSITE[FACES[face]])] = colour, others.pop()
    return names


def _orders(puzzle: Cube, letters: str) -> list[str]:
    """The orders in which the faces may be given, the likeliest first."""
    named = letters.translate(str.maketrans(COLOURS)) if set(letters) == {*COLOURS} else letters
    orders = list(ORDERS)
    if puzzle.size % 2:
        centres = "".join(face[puzzle.size**2 // 2] for face in _faces(named, puzzle))
        orders = [centres] * (centres in ORDERS) + orders + [centres] * (sorted(centres) == sorted(FACES))
        if sorted(centres) == sorted(FACES):  # an order is likelier if opposite sides then have opposite colours
            orders.sort(key=lambda order: "".join(centres[order.index(face)] for face in FACES) not in _rotations())
    else:
        own = [order for order in ORDERS if _shows_corner(named, order)]
        orders = own + orders
    return list(dict.fromkeys([*orders, *map("".join, permutations(FACES))]))


@cache
def _rotations() -> set[str]:
    """The colours of the centres, in the order of FACES, in all 24 ways to hold a cube."""
    ways = {FACES}
    turns = [_comes_from(3, face, 1, 3, 1)[4::9] // 9 for face in ROTATIONS.values()]
    while new := {"".join(way[face] for face in turn) for way in ways for turn in turns} - ways:
        ways |= new
    return ways


def _shows_corner(letters: str, order: str) -> bool:
    """Whether in this order of the faces the corner of D, L and F has the letters of its own faces."""
    corner = pieces_of(2, 3).stickers[-1]
    return all(letters[4 * order.index(FACES[s // 4]) + s % 4] == FACES[s // 4] for s in corner.tolist())


def _faces(letters: str, puzzle: Cube) -> list[str]:
    each = puzzle.size**2
    return [letters[first : first + each] for first in range(0, puzzle.cells, each)]


def _refuse_counts(letters: str, wanted: int) -> None:
    """UserError where there are not six letters, or not as many of each as there must be."""
    counts = {letter: letters.count(letter) for letter in dict.fromkeys(letters)}
    if len(counts) > len(FACES):
        raise UserError(f"A cube has six colours, but {len(counts)} letters were given: {excerpt(' '.join(counts))}.")
    for letter, count in counts.items():
        if count != wanted:
            raise UserError(f"Impossible cube: {count} stickers are {excerpt(letter)}, there must be {wanted}.")


def _turn(found: re.Match, size: int) -> Turn:
    """The layers that a turn moves, and how far."""
    first, last, face, wide, small, slice_, rotation, count, back, count_behind = found.groups()
    quarters = int(count or count_behind or 1) * (-1 if back else 1)
    if rotation:
        return ROTATIONS[rotation.upper()], 1, size, quarters
    if slice_:
        if size % 2 == 0:
            raise UserError(f"'{excerpt(found[0])}' turns a middle layer, which a cube of even size does not have.")
        return SLICES[slice_.upper()], (size + 1) // 2, (size + 1) // 2, quarters
    if wide or small:
        low, high = (int(first), int(last)) if last else (1, int(first or 2))
    else:
        low = int(first or 1)
        high = int(last or low)
    if not 1 <= low <= high <= size:
        raise UserError(f"'{excerpt(found[0])}' turns layers that a cube of {size} layers does not have.")
    return (face or small).upper(), low, high, quarters


def _inverse(turn: Turn) -> Turn:
    return *turn[:3], -turn[3]


def _text(turn: Turn, size: int) -> str:
    """A turn as it is said back.  ("L", 2, 2, 2) -> "M2", ("R", 1, 3, 1) -> "x"; empty for no quarters."""
    face, low, high, quarters = turn
    if (low, high) == (1, size) and size > 1:
        name = next((name.lower() for name, of in ROTATIONS.items() if of == face), f"{high}{face}w")
    elif low == high:
        middle = {of: name for name, of in SLICES.items()} if 2 * low == size + 1 else {}
        name = face if low == 1 else middle.get(face, f"{low}{face}")
    else:
        name = f"{face}w" if (low, high) == (1, 2) else f"{low}-{high}{face}w"
    return name + ("", "2", "'")[quarters % 4 - 1] if quarters % 4 else ""


@lru_cache(maxsize=512)
def _comes_from(size: int, face: str, low: int, high: int, quarters: int) -> np.ndarray:
    """Where each sticker comes from as layers of a face turn, int64 [6 · size²]."""
    depth = (size + 1 - sticker_places(size)[0] @ np.array(FACE_AXES[face][0])) // 2
    turning = np.flatnonzero((low <= depth) & (depth <= high))
    once, whole = np.arange(6 * size**2), np.arange(6 * size**2)
    once[carried(size, face)[turning]] = turning
    for _ in range(quarters % 4):
        whole = whole[once]
    return whole
