"""Shortest solutions of 3×3×3 cubes, proved one at a time, and the tables of docs/optimal.md that they give.

python -m benchmarks.optimal writes the tables from optimal.csv. With --measure it first proves cubes of one set that
have no row there, those of a short published optimum first, until --minutes are over; each ends after --seconds with
the bound proved by then. Rows of "left out" are of one trick each, counted with a line of the source changed.
"""

import argparse
import csv
import os
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.__main__ import PROJECT
from benchmarks.results import amount, put_between
from costtogo import external_files
from costtogo.files import write_bytes
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, random_walks
from costtogo.search.anytime import guide_of
from costtogo.search.optimal import OptimalSearch
from costtogo.solving import load
from costtogo.solving.exact import find_cosets, find_nearby
from costtogo.types import UserError

TRICKS = "left out"
BEGIN, END = "<!-- optimal: written by python -m benchmarks.optimal -->", "<!-- end of optimal -->"
KEPT = PROJECT / "benchmarks" / "optimal.csv"
COLUMNS = "set cube metric table network published length bound seconds processor nodes".split()
MOVES, SEED = 200, 54  # of the random cubes
SUPERFLIP = "U R2 F B R B2 R U2 L B2 R U' D' R2 F R' L B2 U2 F2"
CUBE = make("cube3")


def cubes(name: str, first: int) -> list[tuple[np.ndarray, float]]:
    """The first states of a set and their published optima, NaN where there is none."""
    if name == "external":
        with external_files.find("cube3_qtm.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))[:first]
        return [(scrambled(row["scramble"]), float(row["optimal_moves_qtm"])) for row in rows]
    if name == "superflip":
        return [(scrambled(SUPERFLIP), 20.0)]
    ends = random_walks(CUBE, first, MOVES, np.random.default_rng(SEED))[:, -1]
    return [(state, np.nan) for state in ends]


def scrambled(scramble: str) -> np.ndarray:
    """The state, uint8 [54], after the moves of a scramble."""
    return apply(CUBE, CUBE.goal, CUBE.parse_moves(scramble))


def measure(asked: argparse.Namespace, told: Callable[[pd.DataFrame], None]) -> None:
    """Prove the cubes of a set that have no row yet; told: is given all rows after each."""
    chosen = cubes(asked.measure, asked.first)
    kept = pd.read_csv(KEPT) if KEPT.exists() else pd.DataFrame(columns=COLUMNS)
    key = [asked.measure, asked.metric, asked.table, asked.network]
    known = set(
        kept[(kept[["set", "metric", "table", "network"]].astype(object).fillna("") == key).all(axis=1)]["cube"].astype(
            str
        )
    )
    guide = guide_of(CUBE, load(asked.model).heuristic, find_nearby(CUBE)) if asked.model else None
    cosets, rows = find_cosets(CUBE, asked.metric == "htm", asked.table)
    search = OptimalSearch(cosets, rows, asked.seconds, len(os.sched_getaffinity(0)), guide)
    search.solve(scrambled("R U F' L")[None])  # compiles
    begun = time.monotonic()
    for number, (state, published) in sorted(enumerate(chosen), key=lambda each: np.nan_to_num(each[1][1])):
        if str(number) in known or time.monotonic() - begun > 60 * asked.minutes:
            continue
        before, at = time.process_time(), time.monotonic()
        found = search.solve(state[None])
        seconds, processor = time.monotonic() - at, time.process_time() - before
        length = found.cost[0] if found.solved[0] else np.nan
        row = [*key[:1], number, *key[1:], published, length, found.lower_bound[0], round(seconds, 2)]
        row += [round(processor, 2), int(found.nodes_generated[0])]
        kept = pd.concat([kept, pd.DataFrame([row], columns=COLUMNS)], ignore_index=True)
        told(kept)
        print(*row, flush=True)


def tables(kept: pd.DataFrame) -> list[str]:
    """The lines of the page: a row for each set and published length, and one for each trick left out."""
    lines = [
        "| cubes | metric | table | network | tried | proved | equal to the published | length, mean | "
        "seconds, median | mean | slowest | processor seconds, mean | nodes a second of one processor |",
        "| :-- | :-- | :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    tricks = kept["set"] == TRICKS
    for keys, rows in kept[~tricks].fillna({"network": "none"}).groupby(list(COLUMNS[:1] + COLUMNS[2:5]), sort=False):
        groups = [(f"{keys[0]}, optimum {length:.0f}", group) for length, group in rows.groupby("published")]
        for which, group in [*(groups if len(groups) > 1 else []), (keys[0], rows)]:
            lines.append(row_of(which, keys[1:], group))
    lines += ["", "| left out, quarter turns, large table | nodes a second of one processor | processor seconds |"]
    lines.append("| :-- | --: | --: |")
    for row in kept[tricks].itertuples():
        lines.append(f"| {row.cube} | {row.nodes / row.processor / 1e6:.2f} million | {amount(row.processor)} |")
    return lines


def row_of(which: str, how: tuple[str, ...], rows: pd.DataFrame) -> str:
    """One row of the table; seconds are of all that were tried, also of those that were not proved."""
    proved, judged = rows["length"].notna(), rows["length"].notna() & rows["published"].notna()
    equal = int((rows["length"] == rows["published"]).sum())
    seconds, speed = rows["seconds"], rows["nodes"].sum() / max(rows["processor"].sum(), 0.01) / 1e6
    told = [which, *how, len(rows), int(proved.sum())]
    told += [f"{equal} of {judged.sum()}" if judged.any() else "–"]
    told += [f"{rows['length'].mean():.2f}" if proved.any() else "–"]
    told += [amount(seconds.median()), amount(seconds.mean()), amount(seconds.max())]
    told += [amount(rows["processor"].mean()), f"{speed:.2f} million"]
    return f"| {' | '.join(map(str, told))} |"


def main() -> None:
    """Write the page; with --measure, measure before."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optimal", description=__doc__)
    parser.add_argument("--measure", choices=("external", "random", "superflip"), help="the set to prove first")
    parser.add_argument("--first", type=int, default=100, help="how many of its cubes (100)")
    parser.add_argument("--metric", choices=("qtm", "htm"), default="qtm")
    parser.add_argument("--table", choices=("small", "large"), default="large")
    parser.add_argument("--model", default="", help="a network that is asked for solutions; none by default")
    parser.add_argument("--network", default="", help="how the table names it")
    parser.add_argument("--seconds", type=float, default=600, help="of one cube, at most (600)")
    parser.add_argument("--minutes", type=float, default=10, help="after which no cube is begun (10)")
    asked = parser.parse_args()
    if asked.measure:
        try:
            measure(asked, lambda kept: write_bytes(KEPT, kept.to_csv(index=False, float_format="%.10g").encode()))
        except UserError as error:
            parser.error(str(error))
    put_between(PROJECT / "docs" / "optimal.md", BEGIN, END, tables(pd.read_csv(KEPT)))


if __name__ == "__main__":
    main()
