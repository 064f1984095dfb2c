"""What the networks that come with costtogo reach on instances of others: tables of docs/puzzles.md and README.

python -m benchmarks.packaged writes the tables from packaged.csv. With --puzzle it first solves instances of that
puzzle from the folder that COSTTOGO_EXTERNAL names, those that have no row yet, until --minutes are over. Each is
solved as `costtogo solve --seconds` does it.
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
    for rows in groups(kept):
        found, (_, _, solver, seconds, machine) = beside(rows), rows.loc[0, KEY]
        earlier = "" if is_present(rows) else ", by an earlier network"
        first, last = rows["instance"].min(), rows["instance"].max()
        which = f"the first {len(rows)}" if first == 0 else f"numbers {first + 1} to {last + 1}"
        cells = [f"{found['puzzle']}, {which}{earlier}", f"`{solver}`", f"{seconds:g}", found["solved"]]
        cells += [found["shortest"], f"{found['paired']:.2f}", amount(rows["nodes_generated"].mean())]
        cells += [found["their_shortest"], f"{found['their_length']:.2f}", found["difference"]]
        lines.append(f"| {' | '.join([*cells, *found['compared'], machine])} |")
    return lines


def in_short(kept: pd.DataFrame) -> list[str]:
    """The lines of README: of each puzzle and time the rows of the present network on the most instances, the latest
    ones if several processors had as many."""
    lines = [
        "| puzzle | at most, s | test states | solved | mean length | optimum | shortest | DeepCubeA: shortest "
        "| moves more than DeepCubeA [95 %] |",
        "| :-- | --: | --: | --: | --: | --: | --: | --: | :-- |",
    ]
    best = {}
    for rows in filter(is_present, groups(kept)):
        limit = rows.loc[0, "puzzle"], rows.loc[0, "seconds"]
        best[limit] = max(rows, best.get(limit, rows), key=len)
    for (puzzle, seconds), rows in sorted(best.items(), key=lambda row: (list(FILES).index(row[0][0]), row[0][1])):
        found, optimum = beside(rows), rows["optimum"].mean(skipna=False)
        cells = [title(puzzle), f"{seconds:g}", str(len(rows)), found["solved"]]
        cells += [f"{rows['length'].mean():.2f}", "–" if np.isnan(optimum) else f"{optimum:.2f}"]
        cells += [found["shortest"], found["their_shortest"], found["difference"]]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def groups(kept: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of each network and limit, with DeepCubeA's moves as `moves`."""
    theirs = pd.read_csv(RELEASED)[["puzzle", "instance", "moves"]]
    return [rows.merge(theirs, how="left", on=["puzzle", "instance"]) for _, rows in kept.groupby(KEY, sort=False)]


def is_present(rows: pd.DataFrame) -> bool:
    """Whether the network of these rows comes along."""
    return rows.loc[0, "network"] in {digest(card.path)[:8] for card in packaged(rows.loc[0, "puzzle"])}


def beside(rows: pd.DataFrame) -> dict:
    """What the tables say of some rows; means with theirs and differences are of the instances that both solved."""
    solved = rows[rows["length"].notna()]
    pairs = solved[solved["moves"].notna()]
    apart = pairs["length"] - pairs["moves"]
    mean, low, high = mean_interval(apart)
    known = rows["optimum"].notna().all()
    shortest = [str(int((rows[name] == rows["optimum"]).sum())) if known else "–" for name in ("length", "moves")]
    return {
        "puzzle": title(rows.loc[0, "puzzle"]),
        "solved": str(len(solved)),
        "shortest": shortest[0],
        "their_shortest": shortest[1],
        "paired": pairs["length"].mean(),
        "their_length": pairs["moves"].mean(),
        "difference": f"{mean:.2f} [{low:.2f}, {high:.2f}]",
        "compared": [str(int(each.sum())) for each in (apart < 0, apart == 0, apart > 0)],
    }


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
    kept = pd.read_csv(KEPT)
    put_between(PROJECT / "docs" / "puzzles.md", BEGIN, END, table(kept))
    put_between(PROJECT / "README.md", BEGIN, END, in_short(kept))


if __name__ == "__main__":
    main()
