"""What people type is read as they mean it: held against a cube in the hand, and against boards by hand."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from by_hand import HandCube, OfFile, carried, drawn_level, pressed, slid, walked
from messages import is_one_sentence

from costtogo import cli, external, notation
from costtogo.notation import cubes, levels, sequences, tables
from costtogo.puzzles import make
from costtogo.puzzles.base import apply
from costtogo.types import UserError

STATES = int(os.environ.get("COSTTOGO_RANDOM_STATES", "12"))  # of each kind; 1000 of each take about an hour
ROOT = Path(__file__).parents[1]
CUBES = {"cube2": 2, "cube3": 3}
TURNS = {
    2: [f + s for f in "URFDLB" for s in ("", "'", "2")] + ["x", "y'", "z2", "Rw", "Uw'", "f"],
    3: [f + s for f in "URFDLB" for s in ("", "'", "2")] + [*"M E' S2 x y' z2 r Uw2 f' 3Rw 2U".split()],
}


def same_pattern(text: str, other: str) -> bool:
    """Whether two colourings differ in the names of their colours alone."""
    names = dict(zip(text, other, strict=True))
    return len({*names.values()}) == len(names) and "".join(names[letter] for letter in text) == other


@pytest.mark.parametrize("name", CUBES)
def test_what_is_read_of_turns_is_the_cube_in_the_hand(name):
    puzzle, size, draw = make(name), CUBES[name], random.Random(1)
    for _ in range(200):
        text = " ".join(draw.choices(TURNS[size], k=draw.randrange(1, 20)))
        given = notation.read(puzzle, text, "scramble")
        puzzle.check_pieces(given.state)
        assert same_pattern(puzzle.format_state(given.state), HandCube(size).turn(text).facelets("LUFDRB"))
        assert (notation.read(puzzle, given.read_as, "scramble").state == given.state).all()


@pytest.mark.parametrize("order", ["LUFDRB", "URFDLB", "ULFRBD", "BRUFLD", "DBLUFR"])
@pytest.mark.parametrize("name", CUBES)
def test_facelets_are_read_in_any_order_and_colours(name, order):
    puzzle, size, draw = make(name), CUBES[name], random.Random(2)
    if size == 2 and order not in cubes.ORDERS:
        pytest.skip("a cube without centres says no order of its own")
    for _ in range(20):
        text = " ".join(draw.choices(TURNS[2][:18], k=25))
        shown = HandCube(size).turn(text)
        own = notation.read(puzzle, text, "scramble").state
        for named in (shown.facelets(order), shown.facelets(order).translate(str.maketrans("URFDLB", "WRGYOB"))):
            assert same_pattern(
                puzzle.format_state(notation.read(puzzle, named, "state").state), puzzle.format_state(own)
            )


def test_what_the_project_writes_is_read_back():
    generator = np.random.default_rng(0)
    for name in ("cube2", "cube3", "puzzle8", "puzzle24", "lights_out_7", "hanoi_7", "sokoban", "hanoi_4_4"):
        puzzle = make(name)
        for length in (0, 3, 40):
            state = puzzle.goal
            for _ in range(length):
                state = puzzle.move(
                    state[None], np.array([generator.choice(np.flatnonzero(puzzle.legal(state[None])[0]))])
                )[0]
            read = notation.read(puzzle, puzzle.format_state(state), "state")
            assert (read.state == state).all() and read.names is None, name


BRACKETS = {
    "(R U R' U')2 F": "R U R' U' R U R' U' F",
    "[R, U]": "R U R' U'",
    "[R: U]": "R U R'",
    "[R U: F2]'": "R U F2 U' R'",
    "[[R: U], D]": "R U R' D R U' R' D'",
    "(R U)'": "U' R'",
    "((R)3)2": "R2",
    "RUR'U'F2LB'": "R U R' U' F2 L B'",
    "R U // a comment\nF2 /* another\n one */ B": "R U F2 B",
    "R, U, F’ L2": "R U F' L2",
    "R3 U F3": "R' U F'",
    "R2' U": "R2 U",
    "R'2 U": "R2 U",
    "(R U)^3": "R U R U R U",
    "(R U)x3": "R U R U R U",
    "(R U)x2": "R U x2",
    "": "",
    "R R'": "",
}


@pytest.mark.parametrize("text", BRACKETS)
def test_brackets_are_written_out(text):
    puzzle = make("cube3")
    assert (
        notation.read(puzzle, text, "scramble").state == notation.read(puzzle, BRACKETS[text], "scramble").state
    ).all()


WRONG = {
    "R U Q": ["'Q'", "character 5"],
    "R U\nL Q": ["line 2", "character 3"],
    "R (U F": ["character 3", "never closed"],
    "R U) F": ["closes nothing"],
    "4Rw": ["layers"],
    "((((R2)99)99)99)99": ["at most"],
}


@pytest.mark.parametrize("text", [*WRONG, "R^", "[R, U, F)"])
def test_what_is_no_move_is_named_with_its_place(text):
    with pytest.raises(UserError) as error:
        notation.read(make("cube3"), text, "scramble")
    assert is_one_sentence(str(error.value)) and all(word in str(error.value) for word in WRONG.get(text, []))


def test_depth_and_length_break_nothing():
    deep = "(" * 10_000 + "R" + ")" * 10_000
    assert notation.read(make("cube3"), deep, "scramble").read_as == "R"
    for text in ("(" * 100_000, "R" * 10_000_000, "9" * 1_000_000, "[" * 10_000 + "R" + ",U]" * 10_000):
        with pytest.raises(UserError):
            notation.read(make("cube3"), text, "scramble")


BOARDS = {
    "puzzle8": ["5 3 2 1 7 0 4 8 6", "532170486", "[[5, 3, 2], [1, 7, 0], [4, 8, 6]]", "5 3 2|1 7 _|4 8 6"]
    + ["5,3,2,1,7,x,4,8,6", "5 3 2 1 7 9 4 8 6", "5;3;2;1;7;0;4;8;6"],
    "puzzle15": ["1 2 3 4 5 14 7 6 9 10 0 8 13 12 15 11", "12345E769A08DCFB"]
    + ["1 2 3 4\n5 14 7 6\n9 10 . 8\n13 12 15 11", "[1 2 3 4 5 14 7 6\n 9 10 0 8 13 12 15 11]"],
    "lights_out_3": ["101000000", "1 0 1 0 0 0 0 0 0", "[[1,0,1],[0,0,0],[0,0,0]]", "#.#\n...\n..."]
    + ["on off on off off off off off off"],
    "hanoi_3": ["201", "[2, 0, 1]", "CAB", "[[2], [3], [1]]"],
}


@pytest.mark.parametrize("name", BOARDS)
def test_boards_of_any_form_are_the_same(name):
    puzzle = make(name)
    states = [notation.read(puzzle, text, "state").state.tolist() for text in BOARDS[name]]
    assert all(state == states[0] for state in states)


def test_a_board_with_the_blank_first_in_its_goal_is_solved_to_that_and_says_so():
    puzzle = make("puzzle15")
    given = notation.read(puzzle, "1 5 2 3 6 4 9 7 8 10 14 11 12 0 13 15", "state")
    assert "blank first" in given.goal and given.names == ("D", "U", "R", "L")
    goal = notation.read(puzzle, " ".join(map(str, range(16))), "state")
    assert (goal.state == puzzle.goal).all()
    with pytest.raises(UserError, match="exchanged"):
        notation.read(puzzle, "1 2 3 4 5 6 7 8 9 10 11 12 13 15 14 0", "state")


@pytest.mark.parametrize("name", ["puzzle8", "puzzle15"])
def test_the_goal_of_tiles_can_be_named(name):
    puzzle, cells = make(name), make(name).cells
    first, last = [*range(cells)], [*range(1, cells), 0]
    for goal, board in (("first", first), ("last", last)):
        held = slid(board, ["U", "L"] if goal == "first" else ["D", "R"])
        given = notation.read(puzzle, str(held), "state", goal=goal)
        assert list(held if given.shown is None else given.shown) == held
        back = ["R", "D"] if goal == "first" else ["L", "U"]
        names = given.names or puzzle.actions
        assert (apply(puzzle, given.state, [names.index(move) for move in back]) == puzzle.goal).all()
        moved = notation.read(puzzle, "UL" if goal == "first" else "D R", "scramble", goal=goal)
        assert (moved.state == given.state).all() and moved.names == given.names
    assert notation.read(puzzle, str(last), "state", goal="last").names is None
    wrong = last[:-3] + [cells - 1, cells - 2, 0]
    for goal in ("first", "last"):
        with pytest.raises(UserError, match=f"blank {goal} cannot") as error:
            notation.read(puzzle, str(wrong if cells == 9 or goal == "last" else last), "state", goal=goal)
        assert is_one_sentence(str(error.value))
    with pytest.raises(UserError, match="no other goal of cube2"):
        notation.read(make("cube2"), "R", goal="first")


LEVEL = ["#######", "#     #", "# .$@ #", "#  $  #", "#  .  #", "#     #", "#######"]
ROWS = "\n".join(LEVEL)
SECOND = "#####\n#@$.#\n#####\n"
COLLECTION = f"Some levels\nby nobody\n\n1\n\n{ROWS}\n\n2\n\n{SECOND}"
AFTER = "Title: Two\nAuthor: n\nComment:\n# a remark #\nComment-End:\n"
FIELDS = f"{ROWS}\nTitle: One\n\n{SECOND}{AFTER}"
XML = "".join(f"<L>{row}</L>" for row in LEVEL), "".join(f"<L>{row}</L>" for row in SECOND.split())
SLC = "<?xml version='1.0'?><SokobanLevels><Level Id='A'>{}</Level><Level Id='B'>{}</Level></SokobanLevels>".format(
    *XML
)


@pytest.mark.parametrize(
    ("text", "names"),
    [(COLLECTION, ["1", "2"]), (FIELDS, ["One", "Two"]), (SLC, ["A", "B"]), ("; A\n" + "\n".join(LEVEL), ["A"]),
     ("\n".join(row.replace(" ", "-") for row in LEVEL), ["0"]), ("7#|#5-#|#-.$@-#|#2-$2-#|#2-.2-#|#5-#|7#", ["0"])],
)  # fmt: skip
def test_levels_of_every_form_are_the_same(text, names):
    found = levels.read_levels(text)
    assert [level.name for level in found] == names
    assert found[0].rows == LEVEL and all(level.rows == ["#####", "#@$.#", "#####"] for level in found[1:])


def test_xml_with_entities_and_runs_without_end_are_refused():
    bomb = "<!DOCTYPE a [<!ENTITY x 'y'>]><SokobanLevels><Level Id='A'><L>&x;</L></Level></SokobanLevels>"
    for text in (bomb, "<SokobanLevels><Level>", "", "no level", "999999999#", "9(9(9(9(9(9(9(#)))))))"):
        with pytest.raises(UserError):
            levels.read_levels(text)


def reads(kind: str, text: str) -> bool:
    try:
        return bool(notation.read(make("puzzle8"), text, kind))
    except UserError:
        return False


TABLES = {
    b"tiles,optimal_moves\n5 3 2 1 7 0 4 8 6,\n1 2 3 4 8 0 7 6 5,5\n": ["", "5"],
    b"5 3 2 1 7 0 4 8 6\n1 2 3 4 8 0 7 6 5\n": ["", ""],
    b"1 5 3 2 1 7 0 4 8 6\n2 1 2 3 4 8 0 7 6 5\n": ["", ""],
    b"# comment\nID;State\n1;5 3 2 1 7 0 4 8 6\n\n2;1 2 3 4 8 0 7 6 5\n": ["", ""],
    b'id,state\n0,"[5, 3, 2, 1, 7, 0, 4, 8, 6]"\n1,"[1, 2, 3, 4, 8, 0, 7, 6, 5]"\n': ["", ""],
    "\ufeffstate\n532170486\n123480765\n".encode("utf-16"): ["", ""],
    b"a\t532170486\nb\t123480765\n": ["", ""],
}


@pytest.mark.parametrize("content", TABLES)
def test_tables_are_read_as_they_come(content):
    table = tables.read_table(content, reads)
    states = [notation.read(make("puzzle8"), row.text, "state").read_as for row in table.rows]
    assert states == ["5 3 2 1 7 0 4 8 6", "1 2 3 4 8 0 7 6 5"]
    assert [row.optimum for row in table.rows] == TABLES[content]


def test_a_table_without_rows_or_states_is_refused():
    for content in (b"", b"\n\n", b"# only\n", b"state\n", b"what,is\nthis,1\n", b"\xff\xfe"):
        with pytest.raises(UserError):
            tables.read_table(content, reads)


def test_sequences_of_named_moves_have_brackets_too():
    puzzle = make("hanoi_3")
    assert (
        notation.read(puzzle, "[0>2: 0>1]", "scramble").state == notation.read(puzzle, "A->C A-B 2>0", "scramble").state
    ).all()
    with pytest.raises(UserError, match="disk"):
        notation.read(puzzle, "1:0>2", "scramble")
    assert sequences.position("R U\nL Q", 6) == "in line 2 at character 3"


BROUGHT = [json.loads(line) for line in (ROOT / "tests" / "data" / "brought.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", BROUGHT, ids=lambda case: f"{case['puzzle']} {[*case.values()][1][:24]!a}")
def test_what_people_bring_is_read_as_they_mean_it_or_refused_with_the_reason(case, tmp_path):
    """A case: a text of a kind, and either words of the refusal, or what it means.

    turns: a cube in the hand after them.  reads: the text in canonical form.  states, optima: of a table.
    """
    puzzle, kind = make(case["puzzle"]), next(kind for kind in ("scramble", "state", "table") if kind in case)
    if kind == "table":
        (tmp_path / "table.csv").write_text(case[kind], encoding="utf-8")

    def read():
        if kind == "table":
            return external.load(puzzle, tmp_path / "table.csv")
        return notation.read(puzzle, case[kind], kind)

    if "says" in case:
        with pytest.raises(UserError) as error:
            read()
        assert is_one_sentence(str(error.value)), str(error.value)
        assert all(word in str(error.value) for word in case["says"]), str(error.value)
    elif kind == "table":
        assert [given.read_as for given in read().given] == case["states"]
        np.testing.assert_array_equal(read().optimal, np.array(case["optima"], dtype=float))
    elif "turns" in case:
        shown = HandCube(CUBES[puzzle.name]).turn(case["turns"]).facelets("LUFDRB")
        assert same_pattern(puzzle.format_state(read().state), shown)
    else:
        given = read()
        assert given.read_as == case["reads"] and case.get("goal", "") in given.goal
        if kind == "state":
            assert puzzle.format_state(given.state if given.shown is None else given.shown) == case["reads"]


# Random states of every family, written in one of many ways, solved by the command and replayed by hand

Drawn = tuple[str, Callable[[list[str]], bool]]  # a text, and whether moves solve what it means


def some(draw: random.Random, names, most: int) -> list[str]:
    return draw.choices([*names], k=draw.randint(0, most))


def turned_cube(draw: random.Random, name: str, most: int, names: list[str]) -> Drawn:
    text = " ".join(some(draw, names, most))
    return text, lambda moves: HandCube(CUBES[name]).turn(text).turn(" ".join(moves)).solved()


def facelets(draw: random.Random, name: str, most: int) -> Drawn:
    """Colours in an order in use.  The smaller cube, where it is hardly turned, may be two cubes in two orders."""
    least = 0 if CUBES[name] % 2 else 10
    quarters = [turn for turn in TURNS[2][:18] if "2" not in turn]
    turns = " ".join(draw.choices(quarters, k=draw.randint(least, most)))
    order = draw.choice(cubes.ORDERS[:4])
    text = HandCube(CUBES[name]).turn(turns).facelets(order)
    text = draw.choice([text, text.translate(str.maketrans("URFDLB", "WRGYOB")), text.lower(), ",".join(text)])
    return text, lambda moves: HandCube(CUBES[name]).turn(turns).turn(" ".join(moves)).solved()


def board(draw: random.Random, name: str, most: int) -> Drawn:
    cells = int(name.removeprefix("puzzle")) + 1
    either = cells % 2 == 0  # of an odd side both goals can be reached, and the last one is meant
    goal = [*range(cells)] if either and draw.random() < 0.5 else [*range(1, cells), 0]
    side, state, last = int(cells**0.5), [*goal], ""
    for _ in range(draw.randint(20, most)):
        row, column = divmod(state.index(0), side)
        free = {"U": row < side - 1, "D": row > 0, "L": column < side - 1, "R": column > 0}
        last = draw.choice([move for move, fits in free.items() if fits and {last, move} not in ({*"UD"}, {*"LR"})])
        state = slid(state, [last])
    rows = [state[first : first + side] for first in range(0, cells, side)]
    text = draw.choice([str(rows), str(state), " ".join(map(str, state)), "|".join(" ".join(map(str, r)) for r in rows),
                        ";".join(map(str, state)).replace("0", "_") if cells < 10 else str(state)])  # fmt: skip
    return text, lambda moves: slid(state, moves) == goal


def lights(draw: random.Random, name: str) -> Drawn:
    side = int(name.removeprefix("lights_out_"))
    state = pressed([0] * side**2, [f"r{draw.randint(1, side)}c{draw.randint(1, side)}" for _ in range(30)])
    rows = ["".join(map(str, state[first : first + side])) for first in range(0, side**2, side)]
    text = draw.choice(["".join(rows), "|".join(rows).replace("0", ".").replace("1", "#"), str(state), " ".join(rows)])
    return text, lambda moves: not any(pressed(state, moves))


def tower(draw: random.Random, name: str) -> Drawn:
    disks, pegs = int(name.split("_")[1]), int((name + "_3").split("_")[2])
    state = [draw.randrange(pegs) for _ in range(disks)]
    lists = [[disk + 1 for disk in reversed(range(disks)) if state[disk] == peg] for peg in range(pegs)]
    text = draw.choice(["".join(map(str, state)), str(state), "".join("ABCD"[peg] for peg in state), str(lists)])
    return text, lambda moves: not any(carried(state, moves))


def of_file(draw: random.Random, name: str, most: int) -> Drawn:
    puzzle = OfFile(ROOT / "data" / "puzzles" / f"{name}.json")
    moves = some(draw, puzzle.moves, most)
    state = puzzle.after(puzzle.goal, moves)
    text = draw.choice([" ".join(state), ", ".join(state), "[" + " ".join(state) + "]"])
    return text, lambda moves: puzzle.after(state, moves) == puzzle.goal


EXACT = ("--solver", "exact")
DRAWN = {  # puzzle, options, column, and how a state is drawn
    "cube2 turned": ("cube2", EXACT, "scramble", lambda draw: turned_cube(draw, "cube2", 25, TURNS[2])),
    "cube2 facelets": ("cube2", EXACT, "state", lambda draw: facelets(draw, "cube2", 25)),
    "cube3 near": ("cube3", EXACT, "scramble", lambda draw: turned_cube(draw, "cube3", 4, TURNS[3])),
    "cube3 facelets": ("cube3", EXACT, "state", lambda draw: facelets(draw, "cube3", 5)),
    "8-puzzle": ("puzzle8", EXACT, "state", lambda draw: board(draw, "puzzle8", 200)),
    "15-puzzle": ("puzzle15", ("--solver", "local"), "state", lambda draw: board(draw, "puzzle15", 400)),
    "24-puzzle": ("puzzle24", ("--solver", "local"), "state", lambda draw: board(draw, "puzzle24", 800)),
    "lights": ("lights_out_7", EXACT, "state", lambda draw: lights(draw, "lights_out_7")),
    "lights with quiet presses": ("lights_out_5", EXACT, "state", lambda draw: lights(draw, "lights_out_5")),
    "towers": ("hanoi_7", EXACT, "state", lambda draw: tower(draw, "hanoi_7")),
    "towers of four pegs": ("hanoi_5_4", EXACT, "state", lambda draw: tower(draw, "hanoi_5_4")),
    "9 pancakes": ("pancake_9", EXACT, "state", lambda draw: of_file(draw, "pancake_9", 40)),
    "20 pancakes": ("pancake_20", EXACT, "state", lambda draw: of_file(draw, "pancake_20", 6)),
    "pyraminx": ("pyraminx", EXACT, "state", lambda draw: of_file(draw, "pyraminx", 40)),
}
LONG = {  # only where very many are asked for
    "cube3": ("cube3", ("--seconds", "1"), "scramble", lambda draw: turned_cube(draw, "cube3", 30, TURNS[3])),
    "skewb": ("skewb", EXACT, "state", lambda draw: of_file(draw, "skewb", 40)),
}


@pytest.mark.parametrize("kind", DRAWN if STATES < 1000 else DRAWN | LONG)
def test_random_states_are_solved_in_the_hand(kind, tmp_path):
    puzzle, options, column, drawn = (DRAWN | LONG)[kind]
    draw = random.Random(kind)
    states = [drawn(draw) for _ in range(STATES)]
    pd.DataFrame({column: [text for text, _ in states]}).to_csv(tmp_path / "in.csv", index=False)
    solutions = solved(puzzle, tmp_path / "in.csv", *options)
    for (text, solves), solution in zip(states, solutions, strict=True):
        assert solution is None or solves(solution.split()), (text, solution)


def test_random_levels_are_solved_in_the_hand(tmp_path):
    draw = random.Random(3)
    found = [drawn_level(draw) for _ in range(STATES)]
    (tmp_path / "levels.txt").write_text("\n\n".join(f"; {n}\n{level}" for n, level in enumerate(found)))
    for level, solution in zip(found, solved("sokoban", tmp_path / "levels.txt", *EXACT), strict=True):
        assert "$" not in walked(level, solution.split()), (level, solution)


def solved(puzzle: str, instances: Path, *options: str) -> list[str | None]:
    """The solutions that the command writes; None where its seconds were over before, else all are there."""
    out = instances.parent / "out.csv"
    words = ["solve", "--puzzle", puzzle, "--instances", str(instances), "--out", str(out), *options]
    cli.app(words, standalone_mode=False)
    rows = pd.read_csv(out, keep_default_na=False)
    assert rows["solved"].all() or "--seconds" in options
    return [solution if solved else None for solution, solved in zip(rows["solution"], rows["solved"], strict=True)]
