"""The measured works and their peers. Both sides run a work alternately; each row has one of its measures."""

from dataclasses import dataclass, field
from typing import Any

MORE, LESS = "more", "less"


@dataclass(frozen=True)
class Row:
    """A line of the table. measure: its name on both sides.  better: MORE or LESS of it.

    at_least: the ratio that is expected or, without a peer, the measure itself; an upper bound if LESS is better.
    """

    benchmark: str
    measure: str
    unit: str
    better: str
    at_least: float
    note: str = ""


@dataclass(frozen=True)
class Work:
    """A module of benchmarks.sides, the peer's name or none, the options of both sides and those of ours only."""

    name: str
    side: str
    peer: str | None
    rows: tuple[Row, ...]
    options: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    seconds: int = 900  # the limit for a side
    asked_for: bool = False  # measured only by name, because it takes long


def training(batch: int, precision: str) -> Work:
    """DAVI on the 3×3×3 cube."""
    note = "width 256, 2 blocks; 12 children a state" + (
        "; the peer computes in float32" if precision != "float32" else ""
    )
    row = Row(f"DAVI on cube3, batch {batch:,}, {precision}", "states_per_second", "states/s", MORE, 8, note)
    iterations = 30 if batch == 1000 else 4
    options = {"batch": batch, "iterations": iterations}
    return Work(f"training_{batch}_{precision}", "training", "deepxube", (row,), options, {"precision": precision})


def search(kind: str, size: int, puzzle: str, precision: str, steps: int, at_least: float) -> Work:
    """A search with a network."""
    what = f"BWAS, N = {size:,}" if kind == "bwas" else f"beams of {size:,}"
    name = "cube3" if puzzle == "cube3" else "the 15-puzzle"
    note = "width 256, 2 blocks, λ = 0.6" if kind == "bwas" else "width 256, 2 blocks; the peer keeps duplicates"
    note += "; the peer computes in float32" if precision != "float32" else ""
    row = Row(f"{what} on {name}, {precision}", "generated_per_second", "generated/s", MORE, at_least, note)
    options = {"kind": kind, "size": size, "puzzle": puzzle, "steps": steps}
    title = f"{kind}_{size}_{name.split()[-1]}_{precision}"
    return Work(title, "network_search", "deepxube", (row,), options, {"precision": precision})


def evaluation(precision: str, at_least: float) -> Work:
    """One network over every state of the 2×2×2 cube."""
    row = Row(f"a network over all 2×2×2 states, {precision}", "seconds", "s", LESS, at_least, "1024, 256, 2 blocks")
    return Work(f"evaluation_{precision}", "evaluation", "plain", (row,), ours={"precision": precision})


def command(name: str, words: str, seconds: float) -> Work:
    """A whole process."""
    row = Row(f"whole process: {words}", "seconds", "s", LESS, seconds, "started once before")
    return Work(f"command_{name}", "commands", None, (row,), {"command": name})


WORKS = (
    Work(
        "bfs", "bfs", "cayleypy",
        (
            Row("all distances of the 2×2×2", "seconds", "s", LESS, 10, "cube_2/2/2_6gensQTM, CPU"),
            Row("the same, memory above what the process held", "megabytes", "MB", LESS, 5, "peak of the process"),
        ),
    ),
    training(1000, "float32"),
    training(1000, "bfloat16"),
    training(10_000, "float32"),
    training(10_000, "bfloat16"),
    search("bwas", 100, "cube3", "float32", 100, 6),
    search("bwas", 1000, "cube3", "float32", 20, 6),
    search("bwas", 1000, "cube3", "bfloat16", 20, 6),
    search("beam", 1000, "cube3", "float32", 20, 6),
    search("bwas", 1000, "npuzzle.4", "float32", 40, 5),
    Work(
        "exact_tiles", "exact_tiles", None,
        (Row("IDA* on the 15-puzzle, pattern database 5-5-5", "generated_per_second", "generated/s", MORE, 1e7,
             "one core, 100 random boards"),),
        {"threads": 1},
    ),
    Work(
        "table_search", "table_search", "plain",
        (Row("weighted A* over a table of the 2×2×2, λ = 0.7", "expanded_per_second", "expanded/s", MORE, 1,
             "one core; the peer is Python with heapq; 3 million are wanted"),),
        {"threads": 1}, {"starts": 100_000},
    ),
    Work(
        "table_search_every", "table_search", None,
        (Row("the same from all 3,674,160 states", "seconds", "s", LESS, 360, "two cores"),),
        {"threads": 2, "starts": 3_674_160},
    ),
    evaluation("float32", 4),
    evaluation("bfloat16", 4),
    command("help", "costtogo --help", 0.5),
    command("solve", "costtogo solve, a scramble of the 2×2×2", 3),
    command("dry_run", "snakemake -n", 2),
    command("no_op", "snakemake with nothing to do, study smoke", 3),
    Work(
        "quick_network", "quick_network", "default",
        (
            Row("a 2×2×2 network from nothing, config/quick.yaml", "seconds", "s", LESS, 1,
                "float32, two cores; the default recipe's, likewise; 60 s are wanted"),
            Row("the same, optimal of 9,990 starts at λ = 0.7, N = 5", "optimal_percent", "%", MORE, 1,
                "99.5 % are wanted"),
            Row("the same, nodes expanded a search", "expanded", "nodes", LESS, 1),
        ),
    ),
    Work(
        "default_study", "default_study", "before",
        (Row("the default study from nothing", "seconds", "s", LESS, 2,
             "two cores; in a clone, with MLflow; the peer is commit e6c9b6a"),),
        seconds=4 * 3600, asked_for=True,
    ),
)  # fmt: skip
