"""What the rules of the verdicts can tell: made-up trainings, of which the truth is known, judged by them."""

from functools import cache
from typing import NamedTuple

import numpy as np

from costtogo.literature.finding import Finding, pooled
from costtogo.literature.verdicts import WIDEST, judge
from costtogo.literature.words import REPRODUCED, WORSE

REPORTED = 60.0  # %, a share far enough from 0 and 100 that no training comes to either
SEEDS = (3, 5, 10)
SPREADS = (0.2, 0.4, 0.8)  # standard deviations of trainings of one recipe, as shares of the limit
BEHIND = (0, 1, 2)  # how many limits ours is worse on average than the source's recipe
DRAWS = 400
JUDGED = (REPRODUCED, WORSE)


class Power(NamedTuple):
    """How often, %, trainings of one recipe are judged as reproduced or worse, by how much worse it is in truth."""

    seeds: int
    spread: float  # points
    reproduced: list[float]
    worse: list[float]


@cache
def power() -> tuple[Power, ...]:
    """A row for each of SEEDS and SPREADS, over DRAWS draws; its shares are by BEHIND.

    Assumed: results of trainings are normal, with the same spread at the source as here, and the source reports one.
    """
    generator, rows = np.random.default_rng(1), []
    for seeds in SEEDS:
        for spread in SPREADS:
            verdicts = [_verdicts(generator, seeds, WIDEST * spread, WIDEST * behind) for behind in BEHIND]
            shares = [[100 * those.count(word) / DRAWS for those in verdicts] for word in JUDGED]
            rows.append(Power(seeds, WIDEST * spread, *shares))
    return tuple(rows)


def _verdicts(generator: np.random.Generator, seeds: int, spread: float, behind: float) -> list[str]:
    """The verdicts on one reported training after another, each against some of ours.  spread, behind: in points."""
    row = {"quantity": "solved_percent", "repeated": False, "relation": "=", "kind": "result"}
    theirs = REPORTED + spread * generator.standard_normal(DRAWS)
    ours = REPORTED - behind + spread * generator.standard_normal((DRAWS, seeds))
    found = (pooled([Finding(value) for value in several]) for several in ours)
    return [judge(row | {"value": value}, one)[0] for value, one in zip(theirs, found, strict=True)]
