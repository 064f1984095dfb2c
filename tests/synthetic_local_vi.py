"""A made-up study of local value iteration in the schemas of its stages, to test its report without computing it.

The numbers mean nothing.
"""

from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
from synthetic_study import write_card, write_table

from costtogo.params.audits import ComparedSolvers, LargerBoards, LocalVi
from costtogo.params.study import PuzzleParams, PuzzleStudy, Study, alone

SIZES, TILES, CONSIDERED = (1, 2), 15, (1, 2, 3, 4, 5)
SOLVERS = {"local_vi_1": 120, "local_vi_2": 95, "bwas_network": 60, "ida_star_manhattan": 53}  # moves of a solution
OPTIMAL = "ida_star_pattern_database"


def study_of() -> PuzzleStudy:
    """The parameters of the made-up study."""
    compared = ComparedSolvers(
        study="puzzle15",
        model="tiles",
        pattern_database="7-8",
        boards=20,
        max_generated=1000,
        path_weight=0.8,
        batch_size=100,
    )
    larger = [LargerBoards(side=5, boards=50), LargerBoards(side=7, boards=50, exact=False)]
    asked = LocalVi(boards=400, sizes=list(SIZES), larger=larger, compared=compared)
    return alone(Study(study="local_vi", seed=1, threads=1, puzzles={"puzzle15": PuzzleParams(local_vi=asked)}))


def write_results(study: PuzzleStudy, folder: Path) -> Path:
    """Write results/<study> below a folder and return the study's folder."""
    results, random = folder / study.study, np.random.default_rng(5)
    for name, frame in (tables(study, random) | {"larger": larger(study)}).items():
        write_table(results / "local_vi" / study.puzzle / f"{name}.parquet", frame)
    searches = compared(study, random)
    write_table(results / "compared" / f"{study.puzzle}.parquet", searches.drop(columns="seconds"))
    clocks = {"local_vi": clock(study), "compared": searches[["solver", "instance", "seconds"]]}
    for group, frame in clocks.items():
        write_table(results / "timings" / group / f"{study.puzzle}.parquet", frame)
        write_card(results, group, study.puzzle, {})
    return results


def tables(study: PuzzleStudy, random) -> dict[str, pd.DataFrame]:
    """The tables of the 15-puzzle by name."""
    every = ["".join(order) for order in permutations("UDLR")]
    orders = table(["initial_size", "order", "considered"], product(SIZES, every, (0, *CONSIDERED)))
    averages, longest = random.integers(90, 130, len(orders)) / 8.0, random.integers(200, 230, len(orders))
    pairs = ((tile, *pair) for tile in range(1, TILES + 1) for pair in permutations(range(tile - 1, 16), 2))
    cells = table(["tile", "cell", "blank"], pairs)
    boards = []
    for size in SIZES:
        lengths = random.integers(60, 160 - 20 * size, study.local_vi.boards)
        considered = random.choice(CONSIDERED, study.local_vi.boards)
        boards.append(pd.DataFrame({"initial_size": size, "considered": considered, "length": lengths, "boards": 1}))
    return steps() | {
        "preferences": orders.assign(average_moves=averages, maximum_moves=longest),
        "policy": cells.assign(moves=random.integers(0, 20, len(cells)), to=cells["cell"]),
        "boards": pd.concat(boards, ignore_index=True),
    }


def steps() -> dict[str, pd.DataFrame]:
    """The tables of the steps, each of which considers up to five tiles, and of the classes of boards."""
    named = ["initial_size", "tile", "considered"]
    rows = table(named, product(SIZES, range(1, TILES + 1), CONSIDERED))
    places, alone = rows["tile"] * rows["considered"], rows["considered"] == 1
    tiles = [" ".join(str(tile - k) for k in range(min(tile, many))) for _, tile, many in rows.itertuples(index=False)]
    counts = {"fixed": (rows["tile"] - rows["considered"]).clip(0), "states": 480 * places, "solvable": 240 * places}
    shares = [str(Fraction(1, 1 if one else int(place))) for one, place in zip(alone, places, strict=True)]
    classes = rows[rows["tile"] == 1].drop(columns="tile")
    moves, parts = 80 + 20 * classes["considered"], ["1/2", "1/4", "1/8", "1/16", "1/16"] * len(SIZES)
    averages = [f"{most + 1}/2" for most in moves]
    return {
        "subproblems": rows.assign(tiles=tiles, **counts, most_moves=3 * places),
        "shares": rows.assign(share=shares, uniform=shares),
        "classes": classes.assign(share=parts, average_moves=averages, maximum_moves=2 * moves, bound=3 * moves),
    }


def table(columns: list[str], rows) -> pd.DataFrame:
    """A frame of rows."""
    return pd.DataFrame(list(rows), columns=columns)


def larger(study: PuzzleStudy) -> pd.DataFrame:
    """A row for each other side."""
    rows = []
    for row in study.local_vi.larger:
        exact = {"exact_average_moves": row.side**3 + 0.25, "maximum_moves": 4.0 * row.side**3}
        rows.append(
            {"side": row.side, "boards": row.boards, "average_moves": row.side**3 + 0.5, "longest": 3 * row.side**3,
             "considered": 2, "subproblems": 2 * row.side**2, "states": 9 * row.side**3,
             **(exact if row.exact else dict.fromkeys(exact, np.nan))}
        )  # fmt: skip
    return pd.DataFrame(rows)


def compared(study: PuzzleStudy, random) -> pd.DataFrame:
    """Some boards solved by every solver; the last finds the optimum, IDA* with a weaker bound misses some."""
    instance = np.arange(study.local_vi.compared.boards)
    optimal = 50.0 + instance % 3
    frames = []
    for place, (solver, moves) in enumerate([*SOLVERS.items(), (OPTIMAL, 50)]):
        length = optimal + (moves - 50) + 2 * random.integers(0, 4, len(instance)) * (solver != OPTIMAL)
        missed = (solver == "ida_star_manhattan") & (instance % 5 == 0)
        found = {"state": "1 2 3", "length": np.where(missed, np.nan, length), "nodes_generated": 1000 * (instance + 1)}
        frames.append(pd.DataFrame({"solver": solver, "instance": instance, **found, "optimal": optimal,
                                    "seconds": 0.001 * (place + 1) * (1 + instance % 4)}))  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def clock(study: PuzzleStudy) -> pd.DataFrame:
    """Made-up seconds."""
    rows = [(4, size, what, 0.25 * size) for size in SIZES for what in ("value functions", "boards")]
    rows += [(row.side, 1, what, 0.5) for row in study.local_vi.larger for what in ("boards", "value functions")]
    return pd.DataFrame(rows, columns=["side", "initial_size", "what", "seconds"])
