"""Time and memory against size, and what the machine could do at the most.

Writes benchmarks/scaling.csv, scaling.png and the second table of README.md. Nothing is compared with a peer here.
"""

import argparse
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd

from benchmarks.__main__ import PROJECT, reason, run_side
from benchmarks.results import amount, machine, put_between
from benchmarks.works import Work
from costtogo.files import write_bytes

COLUMNS = ["series", "size", "threads", "median", "min", "max", "unit"]
BEGIN, END = "<!-- scaling: written by python -m benchmarks.scaling -->", "<!-- end of scaling -->"


@dataclass(frozen=True)
class Series:
    """A measure of our side of a work, for each size and each number of threads."""

    title: str
    side: str
    option: str  # whose values are the sizes
    sizes: tuple[int, ...]
    measure: str
    unit: str
    threads: tuple[int, ...] = (1, 2)
    options: dict[str, Any] = field(default_factory=dict)
    form: str = "{}"  # for the option's value

    def run(self, size: int, threads: int) -> float:
        """Measure once."""
        options = self.options | {self.option: self.form.format(size), "threads": threads}
        return run_side(Work(self.title, self.side, None, (), options), "ours")[self.measure]


ONE = (1,)
HANOI = {"option": "puzzle", "sizes": tuple(range(8, 15)), "form": "hanoi_{}", "threads": ONE}
DAVI = {"batch": 1000, "iterations": 10, "precision": "float32"}
NODES = (100_000, 300_000, 1_000_000, 3_000_000)
STORED = {"option": "nodes", "sizes": NODES, "measure": "bytes_per_node", "unit": "bytes", "threads": ONE}
PROCESSES = tuple(sorted({1, 2, os.cpu_count() or 1}))  # one process against itself shows how far rounds differ
SERIES = (
    Series("breadth-first search of H(n, 3), time, by n", "bfs", measure="seconds", unit="s", **HANOI),
    Series("breadth-first search of H(n, 3), memory, by n", "bfs", measure="megabytes", unit="MB", **HANOI),
    Series("DAVI on cube3, by width", "training", "width", (64, 128, 256, 512, 1024), "states_per_second", "states/s",
           options=DAVI),
    Series("DAVI on cube3, by batch", "training", "batch", (100, 300, 1000, 3000, 10_000), "states_per_second",
           "states/s", options=DAVI),
    Series("DAVI on cube3, speed of several processes over that of one", "training", "processes", PROCESSES, "ratio",
           "× one process", ONE, DAVI | {"width": 512}),
    Series("BWAS on cube3 with a network, by N", "network_search", "size", (1, 10, 100, 1000, 10_000),
           "generated_per_second", "generated/s", options={"steps": 20}),
    Series("memory of BWAS on the 24-puzzle, a stored node, by nodes", "stored_nodes", **STORED),
    Series("memory of BWAS by action on cube3, a stored node, by nodes", "stored_nodes", **STORED,
           options={"search": "bwas_by_action"}),
    Series("memory of beams on cube3, a state seen, by states", "stored_nodes", **STORED, options={"search": "beam"}),
    Series("product of matrices in float32 by torch.matmul", "peaks", "threads", (1, 2), "float32", "GFLOP/s", ONE),
    Series("product of matrices in float32 by oneDNN", "peaks", "threads", (1, 2), "float32_onednn", "GFLOP/s", ONE),
    Series("product of matrices in bfloat16", "peaks", "threads", (1, 2), "bfloat16", "GFLOP/s", ONE),
    Series("copying memory", "peaks", "threads", (1, 2), "bandwidth", "GB/s", ONE),
)  # fmt: skip


def main() -> None:
    """Measure the requested series; the others keep their rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("sides", nargs="*", help="of which modules of benchmarks/sides; all if none is named")
    parser.add_argument("--rounds", type=int, default=3, help="how often each point is measured (3)")
    asked = parser.parse_args()
    known = sorted({series.side for series in SERIES})
    if unknown := [side for side in asked.sides if side not in known]:
        parser.error(f"nothing is measured of '{unknown[0]}'; there are {', '.join(known)}")
    if asked.rounds < 1:
        parser.error("--rounds must be 1 or more")
    for series in SERIES:
        if not asked.sides or series.side in asked.sides:
            rows = pd.DataFrame(points(series, asked.rounds), columns=COLUMNS)
            write(PROJECT / "benchmarks", rows)
            print(rows.to_string(index=False, header=False), flush=True)


def points(series: Series, rounds: int) -> list[tuple]:
    """A row for each size and number of threads; a failure ends the series and prints the reason."""
    rows = []
    for threads in series.threads:
        for size in series.sizes:
            try:
                found = [series.run(size, size if series.option == "threads" else threads) for _ in range(rounds)]
            except (subprocess.SubprocessError, ValueError) as error:
                print(f"{series.title}, {size:,}: {reason(error)}", flush=True)
                break
            shown = size if series.option == "threads" else threads
            rows.append((series.title, size, shown, np.median(found), min(found), max(found), series.unit))
    return rows


def write(folder: Path, rows: pd.DataFrame) -> None:
    """Replace the rows of a series among the others, then write table and picture again."""
    path = folder / "scaling.csv"
    known = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=COLUMNS)
    kept = known[~known["series"].isin(rows["series"])]
    table = rows if kept.empty else pd.concat([kept, rows])
    order = {series.title: place for place, series in enumerate(SERIES)}
    table = table[table["series"].isin(order)]
    table = table.sort_values("series", key=lambda names: names.map(order), kind="stable")
    write_bytes(path, table.to_csv(index=False, float_format="%.6g").encode())
    put_between(folder / "README.md", BEGIN, END, [machine(), "", *lines(table), "", "![Scaling](scaling.png)"])
    draw(folder / "scaling.png", table)


def lines(table: pd.DataFrame) -> list[str]:
    """A line for each series and number of threads: the medians by size."""
    told = ["| series | threads | median by size | unit |", "| :-- | --: | :-- | :-- |"]
    for (title, threads), rows in table.groupby(["series", "threads"], sort=False):
        values = ", ".join(
            f"{size:,}: {amount(median)}" for size, median in zip(rows["size"], rows["median"], strict=True)
        )
        told.append(f"| {title} | {threads} | {values} | {rows['unit'].iloc[0]} |")
    return told


def draw(path: Path, table: pd.DataFrame) -> None:
    """A panel for each series, a line for each number of threads."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = table[table["size"].groupby(table["series"]).transform("nunique") > 2]
    titles = list(dict.fromkeys(shown["series"]))
    if not titles:
        return
    columns = 2
    figure, panels = pyplot.subplots(
        -(-len(titles) // columns), columns, figsize=(10, 2.6 * -(-len(titles) // columns)), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for panel in panels.flat[len(titles) :]:
        panel.remove()
    for panel, title in zip(panels.flat, titles, strict=False):
        for threads, rows in shown[shown["series"] == title].groupby("threads"):
            spread = [rows["median"] - rows["min"], rows["max"] - rows["median"]]
            name = "one thread" if threads == 1 else f"{threads} threads"
            panel.errorbar(rows["size"], rows["median"], yerr=spread, marker="o", capsize=3, label=name)
        unit, disks = rows["unit"].iloc[0], rows["size"].max() < 100
        panel.set(ylabel=unit, xscale="linear" if disks else "log", yscale="linear" if unit == "bytes" else "log")
        panel.set_title(title, fontsize="medium")
        if unit == "bytes":
            panel.set_ylim(bottom=0)
        if shown[shown["series"] == title]["threads"].nunique() > 1:
            panel.legend()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
