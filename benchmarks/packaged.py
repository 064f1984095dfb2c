"""What the networks that come with costtogo reach on instances that others solved, and the table of docs/puzzles.md.

python -m benchmarks.packaged writes the table from packaged.csv. With --puzzle it first solves instances of that puzzle
from the folder that COSTTOGO_EXTERNAL names, those that have no row yet, until --minutes are over. Each is solved as
`costtogo solve --seconds` does it.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.__main__ import PROJECT
from benchmarks.results import amount, processor, put_between
from costtogo import external_files
from costtogo.analysis.intervals import mean_interval
from costtogo.external import load
from costtogo.files import digest, write_bytes
from costtogo.heuristics import network
from costtogo.puzzles import make, title
from costtogo.solve_options import Setting
from costtogo.solving.model_cards import packaged
from costtogo.solving.searches import solver_of
from costtogo.types import UserError

BEGIN, END = "<!-- packaged: written by python -m benchmarks.packaged -->", "<!-- end of packaged -->"
KEPT = PROJECT / "benchmarks" / "packaged.csv"
RELEASED = PROJECT / "data" / "reported" / "deepcubea_released.csv"
KEY = ["puzzle", "network", "solver", "seconds", "processor"]
COLUMNS = [*KEY, "instance", "length", "optimum", "nodes_generated", "took"]
FILES = {
    "cube3": "cube3_qtm.csv",
    **{name: f"{name}.csv" for name in ("puzzle15", "puzzle24", "puzzle35", "puzzle48")},
    "lights_out_7": "lightsout7.csv",
    "sokoban": "boxoban/test.txt",
}


def measure(asked: argparse.Namespace, told: Callable[[pd.DataFrame], None]) -> None:
    """Solve the first instances of a puzzle that have no row yet.  told: is given all rows after each."""
    puzzle, cards = make(asked.puzzle), packaged(asked.puzzle)
    if not cards:
        raise UserError(f"No network of {asked.puzzle} comes with costtogo.")
    wanted = load(puzzle, external_files.find(FILES[asked.puzzle])).first(asked.first)
    guide = network.load(cards[0].checkpoint())
    kept = pd.read_csv(KEPT) if KEPT.exists() else pd.DataFrame(columns=COLUMNS)
    solver = Setting().resolved(puzzle, guide).solver
    key = [asked.puzzle, digest(cards[0].path)[:8], solver, asked.seconds, processor()]
    known = set(kept.loc[(kept[KEY] == key).all(axis=1), "instance"])
    search, begun = solver_of(puzzle, Setting(seconds=asked.seconds), lambda: guide), time.monotonic()
    for place, start in enumerate(wanted.given):
        if place in known or time.monotonic() - begun > 60 * asked.minutes:
            continue
        found = search(start)
        length = found.length if found.solved else np.nan
        row = [*key, place, length, wanted.optimal[place], found.nodes_generated, round(found.seconds, 2)]
        kept = pd.concat([kept, pd.DataFrame([row], columns=COLUMNS)], ignore_index=True)
        told(kept)
        print(*row, flush=True)


def table(kept: pd.DataFrame) -> list[str]:
    """The lines of the page: for each network and limit ours, DeepCubeA's released results and the difference."""
    lines = [
        "| instances | by | seconds | solved | shortest | mean length | nodes generated | their shortest | their mean "
        "| mean difference [95 %] | shorter | as long | longer | processor |",
        "| :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | :-- |",
    ]
    theirs = pd.read_csv(RELEASED)
    for _, rows in kept.groupby(KEY, sort=False):
        lines.append(row_of(rows.merge(theirs, how="left", on=["puzzle", "instance"], suffixes=("", "_theirs"))))
    return lines


def row_of(rows: pd.DataFrame) -> str:
    """One row of the table: lengths and differences are of the instances that both solved, nodes of all."""
    puzzle, network_of, solver, seconds, machine = rows.loc[0, KEY]
    now = {digest(card.path)[:8] for card in packaged(puzzle)}
    solved = rows[rows["length"].notna()]
    pairs = solved[solved["moves"].notna()]
    apart = pairs["length"] - pairs["moves"]
    mean, low, high = mean_interval(apart)
    known = rows["optimum"].notna().all()
    shortest = [str(int((rows[name] == rows["optimum"]).sum())) if known else "–" for name in ("length", "moves")]
    earlier = "" if network_of in now else ", by an earlier network"
    first, last = rows["instance"].min(), rows["instance"].max()
    which = f"the first {len(rows)}" if first == 0 else f"numbers {first + 1} to {last + 1}"
    told = [f"{title(puzzle)}, {which}{earlier}", f"`{solver}`", f"{seconds:g}", str(len(solved)), shortest[0]]
    told += [f"{pairs['length'].mean():.2f}", amount(rows["nodes_generated"].mean()), shortest[1]]
    told += [f"{pairs['moves'].mean():.2f}", f"{mean:.2f} [{low:.2f}, {high:.2f}]"]
    told += [str(int(each.sum())) for each in (apart < 0, apart == 0, apart > 0)] + [machine]
    return f"| {' | '.join(told)} |"


def main() -> None:
    """Write the page; with --puzzle, measure before."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packaged", description=__doc__)
    parser.add_argument("--puzzle", choices=[*FILES], help="the puzzle to measure first; none by default")
    parser.add_argument("--first", type=int, default=100, help="how many of its instances (100)")
    parser.add_argument("--seconds", type=float, default=5, help="of each search (5)")
    parser.add_argument("--minutes", type=float, default=60, help="after which no instance is begun (60)")
    asked = parser.parse_args()
    if asked.puzzle:
        try:
            measure(asked, lambda kept: write_bytes(KEPT, kept.to_csv(index=False, float_format="%.10g").encode()))
        except UserError as error:
            parser.error(str(error))
    put_between(PROJECT / "docs" / "puzzles.md", BEGIN, END, table(pd.read_csv(KEPT)))


if __name__ == "__main__":
    main()
