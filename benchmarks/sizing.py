"""What larger works would take in core hours, memory and disk: on paper, from the rows of scaling.csv.

python -m benchmarks.sizing writes the tables of docs/sizing.md. With --measure it first measures the checks anew, works
larger than any that the paper was made from, and keeps them in sizing.csv.
"""

import argparse

import pandas as pd

from benchmarks.__main__ import PROJECT, run_side
from benchmarks.results import amount, machine, put_between
from benchmarks.works import Work
from costtogo.files import read_json, write_bytes

BEGIN, END = "<!-- sizing: written by python -m benchmarks.sizing -->", "<!-- end of sizing -->"
SEARCH, DAVI = "breadth-first search of H(n, 3), {}, by n", "DAVI on cube3, by width"
INPUTS, ACTIONS, BLOCKS = 324, 12, 2  # of the 3×3×3 cube; of the measured networks
WIDEST, DISKS = 1024, (13, 14)  # the largest measured points
HOUR, GB = 3600, 1e9
LISTED = 10**9  # states
SEEDS, MODEL = 1000, "DNN_final_2x2x2"
CHECKPOINTS = 24
DEEPCUBEA = 10_000 * 1_000_000  # training states in its full budget (Methods)
DEEPCUBEA_WEIGHTS = INPUTS * 5000 + 5000 * 1000 + 4 * 2 * 1000 * 1000
LARGER, WIDER = 15, 2048  # for the checks: disks, and width


def main() -> None:
    """Write the tables; with --measure, measure the checks before."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing", description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure the checks first, in a minute")
    folder = PROJECT / "benchmarks"
    if parser.parse_args().measure:
        write_bytes(folder / "sizing.csv", measured().to_csv(index=False, float_format="%.6g").encode())
    scaling = pd.read_csv(folder / "scaling.csv").set_index(["series", "threads", "size"])["median"]
    default = read_json(PROJECT / "data" / "measured" / "default.json")
    told = [*checks(scaling, pd.read_csv(folder / "sizing.csv")), "", *works(scaling, default)]
    put_between(PROJECT / "docs" / "sizing.md", BEGIN, END, told)


def measured() -> pd.DataFrame:
    """The checks, each measured once: columns check, measured, unit, machine."""
    listing = ours("bfs", puzzle=f"hanoi_{LARGER}", threads=1)
    training = ours("training", width=WIDER, batch=1000, iterations=10, precision="float32", threads=2)
    rows = [
        ("seconds", listing["seconds"], "s"),
        ("memory", listing["megabytes"], "MB"),
        ("training", training["states_per_second"], "states/s"),
    ]
    return pd.DataFrame(rows, columns=["check", "measured", "unit"]).assign(machine=machine())


def ours(side: str, **options) -> dict[str, float]:
    """The measures of our side of a work."""
    return run_side(Work(side, side, None, (), options), "ours")


def listing(scaling: pd.Series, states: float) -> tuple[float, float]:
    """Seconds and MB of breadth-first search for a number of states, on the line through its two largest points."""
    low, high = (3**disks for disks in DISKS)
    ends = []
    for measure in ("time", "memory"):
        below, above = (scaling[SEARCH.format(measure), 1, disks] for disks in DISKS)
        ends.append(above + (above - below) / (high - low) * (states - high))
    return ends[0], ends[1]


def weights(width: int) -> int:
    """Weights in the matrices of the measured networks."""
    return INPUTS * width + BLOCKS * 2 * width * width


def states_per_second(scaling: pd.Series, count: int) -> float:
    """DAVI on the 3×3×3, two cores, with the operations per second of the widest measured network."""
    return scaling[DAVI, 2, WIDEST] * weights(WIDEST) / count


def checks(scaling: pd.Series, found: pd.DataFrame) -> list[str]:
    """The table of estimates and their measurements."""
    seconds, memory = listing(scaling, 3**LARGER)
    foretold = {
        "seconds": (f"listing H({LARGER}, 3), {3**LARGER:,} states: seconds", seconds),
        "memory": ("the same: memory", memory),
        "training": (f"DAVI on the 3×3×3, width {WIDER:,}, two cores", states_per_second(scaling, weights(WIDER))),
    }
    lines = ["| checked | foretold | measured | measured / foretold |", "| :-- | --: | --: | --: |"]
    for row in found.itertuples():
        title, paper = foretold[row.check]
        both = f"{amount(paper)} {row.unit} | {amount(row.measured)} {row.unit}"
        lines.append(f"| {title} | {both} | {row.measured / paper:.2f} |")
    where = found["machine"].iloc[0].removeprefix("Measured last on ").removesuffix(".")
    return [*lines, f"| the machine | | {where} | |"]


def works(scaling: pd.Series, default: dict) -> list[str]:
    """The table of works that were never run here."""
    seconds, memory = listing(scaling, LISTED)
    disk = CHECKPOINTS * 4 * DEEPCUBEA_WEIGHTS / GB
    training = DEEPCUBEA / states_per_second(scaling, DEEPCUBEA_WEIGHTS) * 2 / HOUR
    stages = [default[f"{group}/{MODEL}"] for group in ("models", "audits", "searches")]
    one = sum(stage["timing"]["seconds"] * stage["parameters"].get("threads", 1) for stage in stages) / HOUR
    count = stages[0]["metrics"]["parameters"]
    kept = sum(name.endswith(".safetensors") for name in stages[0]["outputs"]) * count * 4
    rows = [
        (f"a table of {LISTED:,} states", seconds / HOUR, LISTED / GB, f"memory: {amount(memory / 1000)} GB"),
        (f"{SEEDS:,} seeds of `{MODEL}`, audited and searched", SEEDS * one, SEEDS * kept / GB, "core hours"),
        (f"DeepCubeA's full budget on the 3×3×3, {CHECKPOINTS} checkpoints", training, disk, "core hours"),
    ]
    lines = ["| work | core hours | disk, GB | what runs out first |", "| :-- | --: | --: | :-- |"]
    return lines + [f"| {title} | {amount(hours)} | {amount(size)} | {first} |" for title, hours, size, first in rows]


if __name__ == "__main__":
    main()
