"""The puzzles by name: the only place that knows them all."""

import math
import re
from difflib import get_close_matches
from functools import lru_cache

from costtogo.puzzles.base import Puzzle
from costtogo.puzzles.cube import Cube2
from costtogo.puzzles.cube3 import Cube3
from costtogo.puzzles.hanoi import Hanoi
from costtogo.puzzles.lights_out import LightsOut
from costtogo.puzzles.sliding import ListedTiles, SlidingTiles
from costtogo.types import UserError

PATTERNS = {
    "cube2": (r"cube2", lambda: Cube2()),
    "cube3": (r"cube3", lambda: Cube3()),
    "hanoi_4": (r"hanoi_(\d+)(?:_(\d+))?", lambda disks, pegs: Hanoi(int(disks), int(pegs or 3))),
    "puzzle8": (r"puzzle8", lambda: ListedTiles()),
    "puzzle15": (r"puzzle(15|24|35|48)", lambda tiles: SlidingTiles(math.isqrt(int(tiles) + 1))),
    "lights_out_7": (r"lights_out_(\d+)", lambda side: LightsOut(int(side))),
}


@lru_cache
def make(name: str) -> Puzzle:
    """The puzzle of a name such as cube2, hanoi_7 (three pegs), hanoi_7_4 (four), puzzle15 or lights_out_7."""
    for pattern, build in PATTERNS.values():
        if match := re.fullmatch(pattern, name):
            return build(*match.groups())
    near = get_close_matches(name, PATTERNS, n=1, cutoff=0.0)[0]
    raise UserError(
        f"Unknown puzzle '{name}': did you mean {near}? There are cube2, cube3, hanoi_<disks>, hanoi_<disks>_<pegs>, "
        "puzzle8, puzzle15, puzzle24, puzzle35, puzzle48, lights_out_<side>."
    )
