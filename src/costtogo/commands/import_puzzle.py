"""Make the file of a puzzle from the descriptions of others: CayleyPy (github.com/cayleypy/cayleypy, version 0.2.0),
Kaggle's Santa 2023, and the KPuzzle of cubing.js.

Four kinds of files are read, all as data:

- a .gap file as CayleyPy's own library has them (cayleypy/puzzles/gap_files): a line M_<name>:=(1,2,3)(4,5); for each
  generator, cells counted from 1, and ip:=[[1,2],[3]]; which cells have the same letter, all another if left out;
- a .json file with the arguments of CayleyGraphDef.create or create_graph: generators (or generators_permutations),
  lists of images counted from 0, and, if one likes, generator_names, central_state and name.

- puzzle_info.csv of Kaggle's Santa 2023: a row for each puzzle, puzzle_type and allowed_moves, lists of images; the
  goal is a solution_state of the puzzles.csv in the same folder, if there is one;
- a .json file of cubing.js with orbits and moves: a cell for each orientation of each piece.

All mean that cell i of the next state has the letter that cell images[i] has: a cycle (1,2,3) brings the letter of
cell 2 to cell 1. Generators without an inverse among them get one, as CayleyPy's make_inverse_closed adds it.
"""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

from costtogo.exact.group_order import states_reached
from costtogo.exact.orbit import puzzle_of
from costtogo.files import damaged, read_bytes, write_text
from costtogo.puzzles import of_package, puzzle_files
from costtogo.puzzles.puzzle_files import MOST_CELLS, UNKNOWN, inverse, parse, text_of
from costtogo.types import UserError, excerpt

LARGEST_FILE = 10_000_000  # bytes
GENERATOR = re.compile(r"M_(\S+?)\s*:=\s*((?:\([\d,\s]*\)\s*)*);?\s*")
CYCLE = re.compile(r"\(([\d,\s]*)\)")
ALIKE = re.compile(r"ip\s*:=\s*(\[.*\])\s*;?\s*")
OTHER = re.compile(r"\s*(#.*|Gen\s*:=.*|\]?;?|M_[\w,]*)\s*")  # comments, and the list of all generators
KEYS = ("generators", "generators_permutations", "generator_names", "central_state", "name")


def run(source: Path, out: Path | None, states: int | None) -> None:
    """Write the puzzle's file, by default under its own name in the folder of puzzles, and describe it in a line."""
    readers = {".gap": read_gap, ".csv": read_table}
    said = readers.get(source.suffix.lower(), read_definition)(source)
    name = out.stem if out is not None else _name_of(said.pop("name", None) or source.stem)
    out = out or puzzle_files.folder() / f"{name}.json"
    if out.exists() or of_package(name):
        raise UserError(f"{out} cannot be written: there is a puzzle {excerpt(name)} already; name another with --out.")
    whole = {"name": name, "source": excerpt(source.name), **closed(said)}
    try:
        file = parse(whole, name)
        count = states or states_reached(file.turns, file.goal)
        puzzle = puzzle_of(parse(whole if count is None else {**whole, "states": count}, name))
    except ValueError as error:
        raise UserError(f"{source}: {error}.") from error
    whole["states"] = UNKNOWN if count == UNKNOWN else puzzle.state_count
    write_text(out, text_of(whole))
    told = "an unknown number of states" if count == UNKNOWN else f"{puzzle.state_count:,} states"
    print(f"{name}: {len(file.goal)} cells, {len(puzzle.actions)} moves, {told}; written to {out}")


def closed(said: dict[str, Any]) -> dict[str, Any]:
    """A description in the form of a puzzle's file; generators without an inverse get one, named <name>'."""
    moves = dict(said["moves"])
    there = {tuple(move) for move in moves.values()}
    for name, move in said["moves"].items():
        if (undone := inverse(move)) not in there:
            back = f"{name}'"
            while back in moves:
                back += "'"
            moves[back] = list(undone)
            there.add(undone)
    return {"goal": said["goal"], "written_as": "from", "moves": moves}


def read_gap(path: Path) -> dict[str, Any]:
    """The goal and the moves of a .gap file; UserError for a line that does not belong in one."""
    cycles: dict[str, list[list[int]]] = {}
    alike: list[list[int]] = []
    for number, line in enumerate(_text_of(path).splitlines(), 1):
        if found := GENERATOR.fullmatch(line):
            name = _move_name(found[1])
            if name in cycles:
                raise UserError(f"{path}, line {number}: there are two generators {excerpt(name)}; rename one.")
            cycles[name] = [_cells(cycle, path, number) for cycle in CYCLE.findall(found[2])]
        elif found := ALIKE.fullmatch(line):
            alike = _groups(found[1], path, number)
        elif not OTHER.fullmatch(line):
            raise UserError(f"{path}, line {number}, is none of a puzzle's GAP file: '{excerpt(line)}'.")
    cells = max((cell for move in cycles.values() for cycle in move for cell in cycle), default=-1) + 1
    if not 2 <= cells <= MOST_CELLS:
        raise UserError(f"{path} has {cells:,} cells; a puzzle has 2 to {MOST_CELLS}.")
    goal = list(map(str, range(cells)))
    for group in alike:
        if max(group) >= cells:
            raise UserError(f"{path}: ip names cell {max(group) + 1}, but the generators move {cells} cells.")
        for cell in group:
            goal[cell] = str(group[0])
    return {"goal": goal, "moves": {name: _images(move, cells, name, path) for name, move in cycles.items()}}


def _text_of(path: Path) -> str:
    """The text of a file of moderate size."""
    content = read_bytes(path)
    if len(content) > LARGEST_FILE:
        raise UserError(f"{path} has {len(content):,} bytes; the description of a puzzle has up to {LARGEST_FILE:,}.")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise damaged(path, error) from error


def _move_name(name: str) -> str:
    """ "M_2F" and "2F" are named alike, as CayleyPy does."""
    return name.replace("M_", "")


def _cells(text: str, path: Path, line: int) -> list[int]:
    """Cells counted from 0, of a cycle in which they are counted from 1."""
    cells = [int(cell) - 1 for cell in map(str.strip, text.split(",")) if cell.isdigit() and len(cell) < 7]
    if len(cells) != len(text.split(",")) or min(cells) < 0:
        raise UserError(f"{path}, line {line}: a cycle is a list of cells from 1, not ({excerpt(text)}).")
    return cells


def _groups(text: str, path: Path, line: int) -> list[list[int]]:
    """Cells counted from 0 that have the same letter, of a list of lists in which they are counted from 1."""
    try:
        groups = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        groups = None
    are_lists = isinstance(groups, list) and all(isinstance(group, list) and group for group in groups)
    if not are_lists or not all(type(cell) is int and cell > 0 for group in groups for cell in group):
        raise UserError(f"{path}, line {line}: ip must be a list of lists of cells from 1.")
    return [[cell - 1 for cell in group] for group in groups]


def _images(cycles: list[list[int]], cells: int, name: str, path: Path) -> list[int]:
    """The images of all cells under cycles."""
    images = list(range(cells))
    moved = [cell for cycle in cycles for cell in cycle]
    if len(set(moved)) < len(moved):
        raise UserError(f"{path}: a cell stands in the cycles of {excerpt(name)} twice.")
    for cycle in cycles:
        for cell, after in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            images[cell] = after
    return images


def read_definition(path: Path) -> dict[str, Any]:
    """The goal and the moves of a .json file, and its name if it has one; UserError if it describes no graph."""
    try:
        said = json.loads(_text_of(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise damaged(path, error) from error
    if isinstance(said, dict) and "orbits" in said:
        return of_orbits(said, path)
    return _checked(said, path)


def _checked(said: Any, path: Path) -> dict[str, Any]:
    """A description in which generators are permutations of all cells; UserError if they are not."""
    if not isinstance(said, dict) or (unknown := [key for key in said if key not in KEYS]):
        there = excerpt(str(unknown[0])) if isinstance(said, dict) else "no table"
        raise UserError(f"{path}: a graph has the keys {', '.join(KEYS)}, not {there}.")
    generators = said.get("generators", said.get("generators_permutations"))
    if not isinstance(generators, list) or not generators or not all(isinstance(each, list) for each in generators):
        raise UserError(f"{path}: generators must be lists of images, counted from 0.")
    names = said.get("generator_names", [f"g{number}" for number in range(len(generators))])
    if not isinstance(names, list) or len({*map(str, names)}) != len(generators):
        raise UserError(f"{path}: generator_names must be {len(generators)} different names.")
    central = said.get("central_state", list(range(len(generators[0]))))
    if not isinstance(central, list):
        raise UserError(f"{path}: central_state must be a list of numbers.")
    moves = dict(zip(map(str, names), generators, strict=True))
    for name, images in moves.items():
        if not all(type(cell) is int for cell in images) or sorted(images) != list(range(len(central))):
            raise UserError(f"{path}: the generator {excerpt(name)} is no permutation of {len(central)} cells.")
    return {"goal": [str(letter) for letter in central], "moves": moves, "name": said.get("name")}


def of_orbits(said: dict[str, Any], path: Path) -> dict[str, Any]:
    """The goal and the moves of a KPuzzle: a cell for each orientation of each piece of each orbit."""
    orbits, moves = said.get("orbits"), said.get("moves")
    if isinstance(orbits, dict):
        orbits = [{"orbitName": name, **each} for name, each in orbits.items()]
    cells: dict[tuple[str, int, int], int] = {}
    try:
        for orbit in orbits:
            for piece in range(int(orbit["numPieces"])):
                for turned in range(int(orbit["numOrientations"])):
                    cells[str(orbit["orbitName"]), piece, turned] = len(cells)
                    if len(cells) > MOST_CELLS:
                        raise UserError(f"{path} has more than {MOST_CELLS:,} cells, too many for a puzzle.")
        images = {str(name): _of_pieces(move, orbits, cells) for name, move in moves.items()}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise damaged(path, error) from error
    return {"goal": [str(cell) for cell in range(len(cells))], "moves": images, "name": said.get("name")}


def _of_pieces(move: dict[str, Any], orbits: list[dict], cells: dict[tuple[str, int, int], int]) -> list[int]:
    """The images of all cells under a move of pieces; orbits that it does not name stay as they are."""
    images = list(range(len(cells)))
    for orbit in orbits:
        name, count = str(orbit["orbitName"]), int(orbit["numOrientations"])
        if name not in move:
            continue
        turned = move[name].get("orientationDelta", move[name].get("orientation"))
        for place, piece in enumerate(move[name]["permutation"]):
            for seen in range(count):
                shift = turned[place] if turned else 0
                images[cells[name, place, (seen + shift) % count]] = cells[name, piece, seen]
    return images


def read_table(path: Path) -> dict[str, Any]:
    """The goal and the moves of the one puzzle, or the first one, of a puzzle_info.csv."""
    rows = _rows_of(path)
    if not rows or not {"puzzle_type", "allowed_moves"} <= {*rows[0]}:
        raise UserError(f"{path} has no rows with the columns puzzle_type and allowed_moves.")
    kind = rows[0]["puzzle_type"]
    try:
        moves = json.loads(rows[0]["allowed_moves"].replace("'", '"'))
    except (json.JSONDecodeError, RecursionError) as error:
        raise damaged(path, error) from error
    if not isinstance(moves, dict) or not moves:
        raise UserError(f"{path}: allowed_moves must be a table of lists of images, counted from 0.")
    said = {"generators": [*moves.values()], "generator_names": [*moves]}
    beside = path.with_name("puzzles.csv")
    known = _rows_of(beside) if beside.is_file() else []
    goal = next((row.get("solution_state", "").split(";") for row in known if row.get("puzzle_type") == kind), None)
    return {**_checked(said | ({"central_state": goal} if goal else {}), path), "name": kind}


def _rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a table whose cells may be long."""
    csv.field_size_limit(LARGEST_FILE)
    try:
        return list(csv.DictReader(io.StringIO(_text_of(path))))
    except csv.Error as error:
        raise damaged(path, error) from error


def _name_of(text: Any) -> str:
    """A name that a puzzle may have.  "lrx-16" -> "lrx_16", "3x3x3" -> "p3x3x3"."""
    plain = re.sub(r"[^a-z0-9]+", "_", str(text).lower()).strip("_")[:30] or "puzzle"
    return plain if plain[0].isalpha() else f"p{plain}"[:30]
