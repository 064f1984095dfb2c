"""Searches with a limit of nodes: the memory that they take stays below the need of that many nodes."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from costtogo.page.core import NODE_BYTES
from costtogo.puzzles import make
from torture.calls import Told, amiss
from torture.projects import begin
from torture.trials import Damage, Kind, Trial

PUZZLE = "lights_out_7"
FEW, MANY = 300_000, 3_000_000  # nodes; even with FEW a beam is wide enough to fill its batches
SECONDS = "20"
SLACK = 64 << 20  # bytes, for any number of nodes: batches on their way through a network


@contextmanager
def ready(work: Path) -> Iterator[Trial]:
    """Each trial measures a search with many nodes and the same one with few."""
    import torch  # noqa: F401  in the processes that are forked, too

    log = work / "log"

    def trial(generator: random.Random, number: int) -> None:
        nodes, seed = generator.randrange(FEW, MANY), generator.random()
        taken = peak(log, random.Random(seed), nodes) - peak(log, random.Random(seed), FEW)
        if taken > (nodes - FEW) * NODE_BYTES + SLACK:
            raise Damage(f"a search with room for {nodes:,} nodes took {taken >> 20} MiB more than one with {FEW:,}")

    yield trial


def peak(log: Path, generator: random.Random, nodes: int) -> int:
    """The peak of bytes of a process that searched from a random state with room for `nodes` nodes."""
    presses = " ".join(generator.sample(make(PUZZLE).actions, 20))
    weight, solver = str(generator.choice([0.6, 0.8, 1])), generator.choice([["bwas"], ["rising"], ["beam"]])
    if solver == ["bwas"]:
        solver += ["--path-weight", weight, "--batch-size", str(generator.choice([1, 100, 1000]))]
    words = ["solve", "--puzzle", PUZZLE, "--scramble", presses, "--max-nodes", str(nodes), "--seconds", SECONDS]
    _, status, used = os.wait4(begin([*words, "--solver", *solver], log), 0)
    code, text = os.waitstatus_to_exitcode(status), log.read_text(encoding="utf-8")
    fault = amiss(Told(code, *(("", text) if code else (text, ""))))
    if fault or (code and not text.startswith("costtogo: Not solved")):
        raise Damage(f"a search with room for {nodes:,} nodes: {fault or text}")
    return used.ru_maxrss * 1024


KIND = Kind("memory", "Searches with room for so many nodes, their memory measured", 20, ready)
