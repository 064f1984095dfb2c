"""Malformed words for `costtogo solve`, and malformed CSV files of instances."""

import csv
import io
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from costtogo import external, notation
from costtogo.notation.tables import KINDS
from costtogo.puzzles import make
from costtogo.puzzles.base import apply
from costtogo.types import UserError
from torture.calls import call, check_solution, shown, within
from torture.parameters import PROJECT, spoilt
from torture.trials import Damage, Kind, Trial

LEVEL = "#####\n#@-.#\n#-$-#\n#---#\n#####\n"
COMMANDS = (  # all valid
    ("--puzzle", "hanoi_4", "--solver", "exact", "--state", "0121"),
    ("--puzzle", "lights_out_5", "--solver", "exact", "--state", "11000 10000 00000 00000 00000"),
    ("--puzzle", "puzzle8", "--solver", "exact", "--scramble", "D R U", "--seconds", "1"),
    ("--puzzle", "hanoi_7", "--scramble", "0>2 0>1 2>1", "--path-weight", "0.7", "--batch-size", "5"),
    ("--puzzle", "hanoi_7", "--state", "0000012", "--solver", "bwas", "--max-expansions", "500", "--max-nodes", "9000"),
    ("--puzzle", "lights_out_7", "--scramble", "r1c2 r3c3 r7c7", "--solver", "beam", "--seconds", "0.2"),
    ("--puzzle", "puzzle15", "--scramble", "D R U", "--solver", "local"),
    ("--puzzle", "data/puzzles/pyraminx.json", "--scramble", "U", "--solver", "exact", "--seconds", "1"),
    ("--puzzle", "sokoban", "--level", "level.txt", "--solver", "exact", "--seconds", "1"),
    ("--puzzle", "sokoban", "--level", "level.slc", "--solver", "exact", "--seconds", "1"),
    ("--puzzle", "sokoban", "--state", "5#|#@-.#|#-$-#|#3-#|5#", "--solver", "exact", "--seconds", "1"),
    ("--puzzle", "cube2", "--solver", "exact", "--scramble", "[R U: F2] (x y')2 Rw Ui [L, D]2 // end"),
    ("--puzzle", "cube2", "--solver", "exact", "--state", "UUBLFLBBRDRLDUDRRULFFFDB"),
    ("--puzzle", "puzzle8", "--solver", "exact", "--goal", "first", "--state", "[[1, 0, 2], [3, 4, 5], [6, 7, 8]]"),
    ("--puzzle", "puzzle15", "--solver", "local", "--goal", "last", "--state", "12345E769A_8DCFB"),
    ("--puzzle", "hanoi_4", "--solver", "exact", "--scramble", "[A->C: 0 1] move disk 1 from A to C"),
    ("--puzzle", "hanoi_4", "--solver", "exact", "--state", "[[4], [], [3, 2, 1]]"),
)
OPTIONS = (
    "--puzzle", "--model", "--scramble", "--state", "--level", "--instances", "--out", "--path-weight", "--batch-size",
    "--max-expansions", "--max-nodes", "--goal", "--solver", "--average", "--until-proved", "--nonsense", "-x", "--",
    "--version",
)  # fmt: skip
VALUES = (
    "", " ", "-1", "0", "1", "2.5", "nan", "inf", "-inf", "1e400", "1e-400", "9" * 30, "0x10", "1_000", "١٢", "½",
    "1;2", "a" * 5000, "λ", "\u202e", "\udcff", "🧩", "../../etc/passwd", "/dev/null", "/", ".", "level.txt", "~",
    "$HOME", "*", "exact", "bwas", "mcts", "hanoi_0", "hanoi_999", "hanoi_4_99", "cube5", "lights_out_1",
    "sokoban_0", "puzzle16",
    "level.slc", "entities.slc", "deep.slc", "line.txt", "first", "(" * 10_000 + "R" + ")" * 10_000,
    "[" * 10_000 + "R" + ",U]" * 10_000, "[[" * 10_000, "0>1" * 40_000, "9(" * 5000 + "#", "((((R2)99)99)99)99", "R^-1",
    "['R', \"U'\"]", "[0,0,0,0]", ",,,,", "|" * 5000, "12" * 5000, "_" * 25, "🟥" * 24, "U:R:F:D:L:B:", "-" * 5000,
    "0 0 0 0", "0121 0121", "U L X", "0>0", "0>9", "1,2,3", "\n", "\t", "0\n1", "--state", "'", '"', "%s", "{0}",
)  # fmt: skip
TABLES = {  # valid instances, by puzzle and column
    ("hanoi_4", "state"): ("0121", "2222", "0000", "0001"),
    ("lights_out_3", "lights"): ("110 101 011", "000 000 000", "111 111 111"),
    ("puzzle8", "scramble"): ("D R U", "", "D D R R"),
    ("puzzle8", "board"): ("532170486", "[[1,2,3],[4,5,6],[7,8,0]]", "1 2 3|4 5 6|7 _ 8"),
    ("cube2", "Algorithm"): ("[R U, F'] x", "(RUR'U')2 Lw", "L D B R2 U F'"),
}
CELLS = (
    "", "(" * 10_000, "[[" * 10_000, "R" * 10_000_000, "[R, U", "sep=;", ";;;;", "1. ", "|" * 3000, " ", "x", "-1",
    "1e3", "9" * 400, "nan", '"', "a" * 70000, "0 1\n2", "λ", "\x00", "0121,0121", "٠١٢١",
)  # fmt: skip


def changed_letters(generator: random.Random, word: str) -> str:
    """A word with a letter removed, inserted or replaced, or with a part repeated many times."""
    at = generator.randrange(len(word) + 1)
    letter = generator.choice(" 0129UDx>'-.,;|#@λ\x7f")
    ways = [word[:at] + word[at + 1 :], word[:at] + letter + word[at:], word[:at] + letter + word[at + 1 :]]
    return generator.choice([*ways, word[:at] + word[at:] * generator.choice([2, 300])])


def malformed(generator: random.Random, words: list[str]) -> list[str]:
    """Words of a command with a few changes; values of --seconds stay small, because the command runs."""
    for _ in range(generator.choice([1, 1, 2, 3])):
        at = generator.randrange(len(words))
        value = generator.choice(VALUES)
        after_seconds = at > 0 and words[at - 1] == "--seconds"
        way = generator.choice(["replace", "letters", "letters", "leave out", "twice", "put in", "option"])
        if way == "replace":
            words[at] = generator.choice(["-1", "nan", "x", ""]) if after_seconds else value
        elif way == "letters" and not after_seconds:
            words[at] = changed_letters(generator, words[at])
        elif way == "leave out" and len(words) > 1:
            del words[at]
        elif way == "twice":
            words.insert(at, words[at])
        elif way == "put in" and not after_seconds:
            words.insert(at, value)
        elif way == "option":
            words += [generator.choice(OPTIONS), value]
    return words


@contextmanager
def folder(work: Path) -> Iterator[None]:
    """A folder for work with puzzle files and a level."""
    shutil.copytree(PROJECT / "data" / "puzzles", work / "data" / "puzzles")
    row = "".join(f"<L>{row}</L>" for row in LEVEL.split())
    files = {
        "level.txt": LEVEL,
        "level.slc": f"<SokobanLevels><Level Id='a'>{row}</Level></SokobanLevels>",
        "entities.slc": f"<!DOCTYPE a [<!ENTITY x '{'y' * 999}'>]><S><Level><L>{'&x;' * 9999}</L>{row}</Level></S>",
        "deep.slc": "<Level>" * 10_000 + row + "</Level>" * 10_000,
        "line.txt": "#" * 10_000_000,
    }
    for name, text in files.items():
        (work / name).write_text(text, encoding="utf-8")
    with within(work):
        yield


@contextmanager
def ready_words(work: Path) -> Iterator[Trial]:
    """Commands with malformed words; if one prints a solution, it must solve the state."""

    def trial(generator: random.Random, number: int) -> None:
        words = malformed(generator, list(generator.choice(COMMANDS)))
        told = call("solve", "--json", *words)
        if told.code == 0 and told.out.startswith("{"):
            try:
                check_solution(told.out)
            except Damage as damage:
                raise Damage(f"{shown(tuple(words))}: {damage}") from damage
        elif told.code == 0 and not {"--help", "--version", "--instances"} & {*words}:
            raise Damage(f"{shown(tuple(words))}: accepted, and {told.out!r} told")

    with folder(work):
        yield trial


def table(generator: random.Random, column: str, texts: tuple[str, ...]) -> bytes:
    """A CSV of instances with one fault in its cells, or with damaged bytes."""
    rows = [[column, "optimal_moves"][: generator.choice([1, 2])]]
    rows += [[text, str(generator.randrange(30))][: len(rows[0])] for text in texts]
    row, odd = generator.choice(rows), generator.choice(CELLS)
    at = generator.randrange(len(row))
    way = generator.choice(["cell", "cell", "letters", "more cells", "fewer cells", "header twice", "empty", "spoilt"])
    if way == "cell":
        row[at] = odd
    elif way == "letters":
        row[at] = changed_letters(generator, row[at])
    elif way == "more cells":
        row += [odd] * (generator.choice([1, 40]) if len(odd) < 1_000_000 else 1)
    elif way == "fewer cells":
        del row[at]
    elif way == "header twice":
        rows.insert(generator.randrange(len(rows)), rows[0])
    elif way == "empty":
        rows = rows[: generator.choice([0, 1])]
    text = io.StringIO()
    csv.writer(text, lineterminator=generator.choice(["\n", "\r\n", "\r"])).writerows(rows)
    content = generator.choice([b"", b"", b"\xef\xbb\xbf"]) + text.getvalue().encode()
    return spoilt(generator, content)[1] if content and (way == "spoilt" or generator.random() < 0.1) else content


@contextmanager
def ready_instances(work: Path) -> Iterator[Trial]:
    """Malformed CSV files; for an accepted one, each row must have a valid solution."""

    def trial(generator: random.Random, number: int) -> None:
        (puzzle, column), texts = generator.choice(list(TABLES.items()))
        content = table(generator, column, texts)
        Path("in.csv").write_bytes(content)
        Path("out.csv").unlink(missing_ok=True)
        try:
            words = ("--puzzle", puzzle, "--solver", "exact", "--instances", "in.csv", "--out", "out.csv")
            if call("solve", *words).code == 0:
                check_solutions(puzzle, content)
            elif Path("out.csv").exists():
                raise Damage("refused, and a file written")
        except Damage as damage:
            raise Damage(f"{puzzle}, {content[:200]!r}: {damage}") from damage

    with folder(work):
        yield trial


def check_solutions(name: str, content: bytes) -> None:
    """Damage unless out.csv has the states of a table's rows, in order, each with a solution that replays."""
    puzzle = make(name)
    wanted = external.load(puzzle, Path("in.csv"))
    with Path("out.csv").open(encoding="utf-8", newline="") as file:
        solved = list(csv.DictReader(file))
    if [row[wanted.kind] for row in solved] != [text.replace("\r\n", "\n") for text in wanted.texts]:
        raise Damage(f"{len(solved)} rows of other states than the {len(wanted.texts)} given")
    kind = KINDS.get(wanted.kind.lower(), "state")
    for row in solved:
        try:
            given = notation.read(puzzle, row[wanted.kind], kind)
            held = dict(zip(given.names or (), puzzle.actions, strict=False))
            moves = " ".join(held.get(move, move) for move in row["solution"].split())
            end = apply(puzzle, given.state, puzzle.parse_moves(moves))
        except UserError as error:
            raise Damage(f"a row that does not replay: {row}") from error
        if row["solved"] == "True" and not puzzle.is_goal(end[None])[0]:
            raise Damage(f"a row that is not solved: {row}")


WORDS = Kind("shell", "Malformed words of `costtogo solve`", 1000, ready_words)
INSTANCES = Kind("instances", "Malformed CSV files for `costtogo solve --instances`", 1000, ready_instances)
