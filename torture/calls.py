"""The command costtogo within this process, and the allowed outcomes of a call."""

import io
import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from costtogo import cli, notation
from costtogo.puzzles import make
from costtogo.puzzles.base import apply
from costtogo.types import UserError
from tests.messages import is_one_sentence
from torture.trials import Damage

MOST_SECONDS = {  # for a call: processor time, and clock time, on a machine that also does other work
    signal.ITIMER_PROF: 120,
    signal.ITIMER_REAL: 900,
}
SIGNALS = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}
LONGEST = 600  # letters of a refusal
FAULTS = ("Traceback", "Error:")  # in a refusal: signs of an error that the program did not expect
USAGE = re.compile(r"(Usage: .*\n\n)?Error: .*\n", re.DOTALL)


@dataclass(frozen=True)
class Told:
    """The exit code and the output of a call of the command."""

    code: int
    out: str
    err: str


@contextmanager
def alarmed() -> Iterator[None]:
    """Damage if a block takes too long."""

    def ring(*_):
        raise Damage(f"took longer than {MOST_SECONDS[signal.ITIMER_PROF]} seconds")

    for timer, seconds in MOST_SECONDS.items():
        signal.signal(SIGNALS[timer], ring)
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer in MOST_SECONDS:
            signal.setitimer(timer, 0)


@contextmanager
def within(folder: Path) -> Iterator[None]:
    """Work in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def call(*words: str, command: Callable[[], None] | None = None) -> Told:
    """Run costtogo, or another command; Damage if it raises, hangs, or refuses in a wrong way."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["costtogo", *words]
    try:
        with alarmed(), redirect_stdout(out), redirect_stderr(err):
            (command or cli.main)()
        code = 0
    except SystemExit as left:
        code = int(left.code or 0)
    except Damage as damage:
        raise Damage(f"{shown(words)}: {damage}") from damage
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise Damage(
            f"{shown(words)}: {type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}"
        ) from error
    finally:
        sys.argv = before
    told = Told(code, out.getvalue(), err.getvalue())
    if fault := amiss(told):
        raise Damage(f"{shown(words)}: {fault}")
    return told


def amiss(told: Told) -> str:
    """The fault in how a call ended; empty if it succeeded or refused correctly.

    A user's mistake is one sentence and exit code 1, one in the options a usage message and 2.
    """
    if told.code == 0:
        return f"succeeded but told an error: {told.err[-LONGEST:]!r}" if "Traceback" in told.err else ""
    if told.code == 2 and told.out == "" and USAGE.fullmatch(told.err) and "Traceback" not in told.err:
        return ""
    sentence = told.err.removeprefix("costtogo: ").removesuffix("\n")
    good = told.code == 1 and told.out == "" and told.err.startswith("costtogo: ") and is_sentence(sentence)
    return "" if good else f"exit code {told.code}, {told.out[-LONGEST:]!r}, {told.err[-LONGEST:]!r}"


def is_sentence(text: str) -> bool:
    """True for one short sentence for users."""
    return is_one_sentence(text) and len(text) <= LONGEST and not any(fault in text for fault in FAULTS)


def shown(words: tuple[str, ...]) -> str:
    """The words of a command as a report shows them."""
    return " ".join(repr(word if len(word) <= 80 else f"{word[:80]}…") for word in words)


def check_solution(text: str) -> None:
    """Damage unless the output of `costtogo solve --json` is a solution: its moves lead from its state to the goal."""
    found = json.loads(text)
    puzzle = make(found["puzzle"])
    try:
        given = notation.read(puzzle, found["state"], "state", goal="first" if found.get("goal") else None)
        actions = [[*(given.names or puzzle.actions)].index(move) for move in found["moves"]]
        goes = bool(puzzle.is_goal(apply(puzzle, given.state, actions)[None])[0])
    except UserError as error:
        raise Damage(f"the solution does not replay: {error}") from error
    if not goes:
        raise Damage(f"{found['solution']!r} does not solve {found['state']!r} of {puzzle.name}")
    numbers = [found[name] for name in ("length", "lower_bound", "nodes_expanded", "nodes_generated", "seconds")]
    if not all(isinstance(number, int | float) and 0 <= number < float("inf") for number in numbers):
        raise Damage(f"senseless numbers: {text[-LONGEST:]}")
    if found["lower_bound"] > found["length"] or (found["optimum"] or 0) > found["length"]:
        raise Damage(f"a bound above the length: {text[-LONGEST:]}")
