"""Towers of Hanoi.

state = the peg of each disk, the smallest first, as digits or a list: "2222", "[2, 2, 2, 2]", "CCCC"
      | the disks of each peg, the largest first, as lists: "[[3, 2, 1], [], []]", the smallest disk being 1, or 0;
        from 1 on also by the pegs' names, "A: 3 2 1; B: ; C:", or parted: "3 2 | 1 |"
move  = peg ">" peg, or "-", "->", "→", "to", "," or nothing between them; pegs are 0, 1, 2 … or A, B, C …, or, where
        one is named that would be too many and none is 0, counted from 1;
        a disk may be named before: "0:0>2", the smallest being 0; "move disk 1 from A to C" names it in vain
"""

import json
import re

import numpy as np

from costtogo.notation import sequences
from costtogo.notation.given import Given
from costtogo.puzzles.base import apply
from costtogo.puzzles.hanoi import Hanoi
from costtogo.types import States, UserError, excerpt

PEGS = "ABCDEFGHI"
PEG = r"(?:(?:PEG|ROD|TOWER)\s+)?([0-8A-I])"
NAME = re.compile(r"""["']?(?:PEG\s*|ROD\s*|TOWER\s*)?\b([0-9A-I])["']?\s*:""", re.IGNORECASE)  # of a peg
MOVE = re.compile(
    rf"(?:MOVE\s+DISK\s+\d+\s+FROM\s+)?(?:(\d+):)?{PEG}\s*(?:->|>|-|→|TO|,)?\s*{PEG}(?![\w>])", re.IGNORECASE
)


def read_state(puzzle: Hanoi, text: str) -> Given:
    """The peg of each disk, uint8 [n]; UserError where there are other disks or pegs."""
    listed = _parted(puzzle, text) or text.translate(str.maketrans("()", "[]"))
    if listed.count("[") > 1:
        listed = re.sub(r",\s*\]", "]", listed)
        return _given(puzzle, _by_pegs(puzzle, listed if re.match(r"\s*\[\s*\[", listed) else f"[{listed}]"))
    letters = re.sub(r"[\s,;|\[\]()]+", "", text).upper().translate(str.maketrans(PEGS, "012345678"))
    if len(letters) != puzzle.disks:
        raise UserError(f"{puzzle.name} has {puzzle.disks} disks, but the pegs of {len(letters)} were given.")
    for place, letter in enumerate(letters):
        if letter not in "012345678"[: puzzle.pegs]:
            raise UserError(
                f"Unknown peg '{excerpt(letter)}' of disk {place + 1}: the pegs of {puzzle.name} are 0 to "
                f"{puzzle.pegs - 1}."
            )
    return _given(puzzle, [int(letter) for letter in letters])


def _parted(puzzle: Hanoi, text: str) -> str:
    """The disks of each peg as lists, where a text has each disk once and pegs by name or parted; else empty."""
    text = text.strip(" \n{}")
    names = [name.upper() for name in NAME.findall(text)]
    if names != sorted(set(names)):  # pegs are read in their order
        return ""
    named = NAME.sub("|", text)
    pegs = named.split("|")[1:] if names else re.split(r"[|;/\n]", text)
    disks = [re.findall(r"\d" if puzzle.disks < 10 else r"\d+", peg) for peg in pegs]
    whole = sorted(int(disk) for peg in disks for disk in peg) == [*range(1, puzzle.disks + 1)]
    plain = puzzle.disks >= puzzle.pegs and not re.search(r"[^\d\s,;|/\[\]]", named)
    return json.dumps([[int(disk) for disk in peg] for peg in disks]) if whole and plain and len(pegs) > 1 else ""


def _by_pegs(puzzle: Hanoi, text: str) -> list[int]:
    """The peg of each disk, by the disks of each peg."""
    try:
        pegs = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"'{excerpt(text)}' is no list of pegs with their disks, such as [[2, 1], [], []].") from error
    disks = [disk for peg in pegs for disk in peg] if all(isinstance(peg, list) for peg in pegs) else []
    first = 0 if 0 in disks else 1
    named = [*range(first, puzzle.disks + first)]
    whole = all(type(disk) is int for disk in disks) and sorted(disks) == named
    if not whole or len(pegs) != puzzle.pegs or any(peg != sorted(peg, reverse=True) for peg in pegs):
        raise UserError(
            f"{puzzle.name} has {puzzle.pegs} pegs, on which the disks 1 to {puzzle.disks} lie, the largest first: "
            f"'{excerpt(text)}' is not such a list."
        )
    where = {disk: number for number, peg in enumerate(pegs) for disk in peg}
    return [where[disk] for disk in named]


def _given(puzzle: Hanoi, pegs: list[int]) -> Given:
    state = np.array(pegs, dtype=np.uint8)
    return Given(state, puzzle.format_state(state))


def read_scramble(puzzle: Hanoi, text: str, start: States | None = None) -> Given:
    """The state that moves make of another, the goal if none is given; UserError for a wrong move or disk."""
    example = f"a move such as 0>{puzzle.pegs - 1}, from peg 0 to peg {puzzle.pegs - 1} of {puzzle.name}, or a bracket"
    pegs = {peg for _, *pair in MOVE.findall(text) for peg in pair}
    first = 1 if str(puzzle.pegs) in pegs and "0" not in pegs else 0
    steps = sequences.read(text, sequences.Family(MOVE, lambda found: [_step(puzzle, found, first)], _back, example))
    state = puzzle.goal if start is None else start
    for place, (disk, actions) in enumerate(((disk, [puzzle.actions.index(name)]) for disk, name in steps), start=1):
        top = str(puzzle.top_disks(state[None])[0, int(puzzle.actions[actions[0]][0])])
        if disk not in (None, top):
            found = f"moves disk {top}" if int(top) < puzzle.disks else "has no disk to move"
            raise UserError(
                f"Move {place}, '{disk}:{puzzle.actions[actions[0]]}', {found}, not the one it names: 0 is the "
                "smallest, and a scramble begins at the goal."
            )
        try:
            state = apply(puzzle, state, actions)
        except UserError as error:
            raise UserError(
                f"Move {place}, {puzzle.actions[actions[0]]}, is not legal there in {puzzle.name}."
            ) from error
    return Given(state, " ".join(name for _, name in steps))


def _step(puzzle: Hanoi, found: re.Match, first: int) -> tuple[str | None, str]:
    """The disk that a move names, if any, and the move in our words; first: the number of the first peg."""
    disk, *pegs = found.groups()
    name = ">".join(str(PEGS.index(peg) if peg in PEGS else int(peg) - first) for peg in map(str.upper, pegs))
    if name not in puzzle.actions:
        raise UserError(f"Unknown move '{excerpt(found[0])}': the pegs of {puzzle.name} are 0 to {puzzle.pegs - 1}.")
    return disk, name


def _back(step: tuple[str | None, str]) -> tuple[str | None, str]:
    """A move back."""
    return step[0], step[1][::-1]
