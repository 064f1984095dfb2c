"""Kinds of trials, each trial drawn from its number and the seed; those that survived are kept and not repeated."""

import json
import random
import shutil
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

Trial = Callable[[random.Random, int], None]  # from a generator and its number; raises Damage


class Damage(Exception):
    """What a trial did harm, or what was accepted though it is senseless: what was done and what came of it."""


@dataclass(frozen=True)
class Kind:
    """Trials of one kind.

    told: what is tried, for the table.  count: how many there are.  ready: makes what all trials of the kind share,
    in a folder that is theirs, and gives what tries one.
    """

    name: str
    told: str
    count: int
    ready: Callable[[Path], AbstractContextManager[Trial]]


@dataclass(frozen=True)
class Outcome:
    """One trial: its number, why it did not survive, or an empty text, and the seconds it took."""

    number: int
    damage: str
    seconds: float

    @property
    def survived(self) -> bool:
        """True where nothing was damaged."""
        return not self.damage


def run(kind: Kind, seed: int, count: int, kept: Path, work: Path, say: Callable[[str], None]) -> list[Outcome]:
    """The outcomes of the first trials of a kind; a trial that did not survive before is tried again.

    kept: the file that outcomes are added to, a line each.  work: a folder, made anew.
    """
    known = recalled(kept)
    ahead = [number for number in range(count) if number not in known or not known[number].survived]
    if ahead:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kind.ready(work) as trial:
            for number in ahead:
                known[number] = attempt(trial, random.Random(f"{seed}/{kind.name}/{number}"), number)
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(known[number]), ensure_ascii=False) + "\n")
                if not known[number].survived:
                    say(f"{kind.name} {number}: {known[number].damage}")
        shutil.rmtree(work, ignore_errors=True)
    return [known[number] for number in range(count)]


def recalled(kept: Path) -> dict[int, Outcome]:
    """The outcomes of a file by their numbers, the last of each; a line that was cut off counts for nothing."""
    found: dict[int, Outcome] = {}
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []:
        try:
            outcome = Outcome(**json.loads(line))
        except (json.JSONDecodeError, TypeError):
            continue
        found[outcome.number] = outcome
    return found


def attempt(trial: Trial, generator: random.Random, number: int) -> Outcome:
    """Try one; an error of any kind counts as damage."""
    begun, damage = time.monotonic(), ""
    try:
        trial(generator, number)
    except Damage as error:
        damage = str(error)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        damage = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}"
    return Outcome(number, damage, round(time.monotonic() - begun, 2))
