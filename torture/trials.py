"""Kinds of trials; each trial is drawn from its number and the seed. Trials that survived are kept and not repeated."""

import json
import random
import shutil
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

Trial = Callable[[random.Random, int], None]  # gets a generator and its number; raises Damage


class Damage(Exception):
    """A trial did harm, or nonsense was accepted: the action and its outcome."""


@dataclass(frozen=True)
class Kind:
    """Trials of one kind.

    told: the description in the table.  count: the number of trials.  ready: makes the common data of all trials, in
    their folder, and returns the function for one trial.
    """

    name: str
    told: str
    count: int
    ready: Callable[[Path], AbstractContextManager[Trial]]


@dataclass(frozen=True)
class Outcome:
    """One trial: its number, its fault, or an empty text if it survived, and its seconds."""

    number: int
    damage: str
    seconds: float

    @property
    def survived(self) -> bool:
        """True if nothing was damaged."""
        return not self.damage


def run(kind: Kind, seed: int, count: int, kept: Path, work: Path, say: Callable[[str], None]) -> list[Outcome]:
    """The outcomes of the first trials of a kind; a trial that failed before is tried again.

    kept: the file to which outcomes are added, one line each.  work: a folder, created empty.
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
    """The outcomes in a file by number, the last of each; a line that was cut off is ignored."""
    found: dict[int, Outcome] = {}
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []:
        try:
            outcome = Outcome(**json.loads(line))
        except (json.JSONDecodeError, TypeError):
            continue
        found[outcome.number] = outcome
    return found


def attempt(trial: Trial, generator: random.Random, number: int) -> Outcome:
    """Run one trial; an error of any kind counts as damage."""
    begun, damage = time.monotonic(), ""
    try:
        trial(generator, number)
    except Damage as error:
        damage = str(error)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        damage = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}"
    return Outcome(number, damage, round(time.monotonic() - begun, 2))
