"""The tables on searches: beams, external instances, exact solutions, networks and pattern databases, patterns.

Each is a function of the results on one puzzle; without rows where the study does not ask for it or it has not run.
"""

import math
from collections.abc import Callable

import pandas as pd

from costtogo.analysis.intervals import mean_interval
from costtogo.analysis.several_seeds import CELLS
from costtogo.analysis.solutions import mirrored_shares, triplet_shares
from costtogo.analysis.suboptimality import summarise
from costtogo.files import read_csv
from costtogo.params.instances import MirroredInstances, PrefixInstances
from costtogo.params.searches import BeamParams
from costtogo.puzzles import make, noun, partition_of
from costtogo.tables.results import StudyResults, alike

RELEASED = "deepcubea_released.csv"  # in data/reported
SOLVER = ["solver", "heuristic", *CELLS]  # what tells a row of compared from the others


def shortest_path_sets(results: StudyResults) -> list[str]:
    """The instance sets that are the beginnings of a shortest path."""
    return [
        name for name, kind in results.asked.instances.items() if isinstance(kind, PrefixInstances) and kind.shortest
    ]


def beams(results: StudyResults) -> pd.DataFrame:
    """The grid of beam searches, from how many images of each state they start, and over how many they average."""
    found = results.of_each(results.model_names, "beams/{}/grid")
    if found.empty:
        return found
    asked = [beams_of(results, row.set, row.width) for row in found.itertuples()]
    found.insert(found.columns.get_loc("width") + 1, "images", [beams.images for beams in asked])
    found.insert(found.columns.get_loc("images") + 1, "average", [beams.average for beams in asked])
    return found


def beams_of(results: StudyResults, name: str, width: int) -> BeamParams:
    """What the study asks of the beams of a width on a set."""
    return next(beams for beams in results.asked.beams if beams.set == name and width in beams.widths)


def beams_text(results: StudyResults, name: str, width: int) -> str:
    """The beams of a set in words.  -> "beams of width 10,000 from 8 images"."""
    asked = beams_of(results, name, width)
    text = f"beams of width {width:,}" + (f" from {asked.images} images" if asked.images > 1 else "")
    return text + (f", values averaged over {asked.average}" if asked.average > 1 else "")


def prefixes(results: StudyResults) -> pd.DataFrame:
    """The beam searches from the beginnings of a shortest path, and by how many moves each solution is too long."""
    found = results.of_each(results.model_names, "beams/{}/searches")
    if found.empty:
        return found
    found = found[found["set"].isin(shortest_path_sets(results))]
    columns = ["model", "set", "width", "instance", "distance", "solved", "cost", "excess"]
    found = found.assign(excess=(found["cost"] - found["distance"]).where(found["solved"]))
    return found[[*columns, "nodes_expanded", "nodes_generated", "solution"]]


def solutions(results: StudyResults) -> pd.DataFrame:
    """model, searches (in words), solution of every solved search whose instances are scrambled."""
    frames = []
    beams = results.of_each(results.model_names, "beams/{}/searches")
    if not beams.empty:
        beams = beams[beams["solved"] & ~beams["set"].isin(shortest_path_sets(results))]
        frames.append(beams.assign(searches=[f"{row.set}, width {row.width:,}" for row in beams.itertuples()]))
    external = results.of_each(results.model_names, "external/{}/searches")
    if not external.empty:
        external = external[external["solved"]].sort_values("seconds_allowed", kind="stable")
        frames.append(external.assign(searches=[f"external, {s:g} s each" for s in external["seconds_allowed"]]))
    columns = ["model", "searches", "solution"]
    return pd.concat([frame[columns] for frame in frames]) if frames else pd.DataFrame(columns=columns)


def triplets(results: StudyResults) -> pd.DataFrame:
    """Shares of the patterns of three moves in a row (DeepCubeA, Methods), by model and searches.

    Of a puzzle whose moves are turns alone, which can be made anywhere and one after the other in any order.
    """
    puzzle, rows = make(results.puzzle), []
    if puzzle.turns is None:
        return pd.DataFrame()
    for (model, searches), group in solutions(results).groupby(["model", "searches"], sort=False):
        shares = triplet_shares(puzzle, [puzzle.parse_moves(text) for text in group["solution"]])
        rows.append({"model": model, "searches": searches, "solutions": len(group), **shares})
    return pd.DataFrame(rows)


def mirrored(results: StudyResults) -> pd.DataFrame:
    """Solutions of states compared with those of their mirror images, by model and beam width (DeepCubeA, Methods)."""
    found, puzzle, rows = results.of_each(results.model_names, "beams/{}/searches"), make(results.puzzle), []
    for name, kind in results.asked.instances.items():
        if not isinstance(kind, MirroredInstances) or found.empty:
            continue
        pairs = found[found["set"] == kind.of].merge(
            found[found["set"] == name], on=["model", "width", "instance"], suffixes=("", "_mirrored")
        )
        pairs = pairs[pairs["solved"] & pairs["solved_mirrored"]]
        for (model, width), group in pairs.groupby(["model", "width"], sort=False):
            own, other = beams_of(results, name, width), beams_of(results, kind.of, width)
            if (own.images, own.average) != (other.images, other.average):
                continue
            both = ([puzzle.parse_moves(text) for text in group[name]] for name in ("solution", "solution_mirrored"))
            shares = mirrored_shares(puzzle, *both, puzzle.mirror)
            rows.append({"model": model, "set": name, "width": width, "pairs": len(group), **shares})
    return pd.DataFrame(rows)


def excesses(results: StudyResults) -> pd.DataFrame:
    """External instances by budget and by how many moves their solutions are too long; unsolved ones are left out."""
    found, rows = results.of_each(results.model_names, "external/{}/searches"), []
    if found.empty:
        return found
    for (model, allowed), group in found.dropna(subset="optimal").groupby(["model", "seconds_allowed"], sort=False):
        excess = (group["cost"] - group["optimal"])[group["solved"]].astype(int)
        for moves, count in excess.value_counts().sort_index().items():
            row = {"model": model, "seconds_allowed": allowed, "excess": moves, f"{noun(results.puzzle)}s": count}
            rows.append(row | {"percent": 100 * count / len(group)})
    return pd.DataFrame(rows)


def released(results: StudyResults) -> pd.DataFrame:
    """External instances under each budget, held against DeepCubeA's released results on pairs: those that both solved.

    difference, low, high: our length less theirs, the mean and its 95 % interval.  shorter, longer: shares of pairs, %.
    nodes_generated, its median, and the same of theirs; optimal_percent and their_optimal_percent of the pairs, NaN
    where no optimum is known.  Source: data/reported/README.md.
    """
    found, path = results.of_each(results.model_names, "external/{}/searches"), results.references.reported / RELEASED
    if found.empty or not path.exists():
        return pd.DataFrame()
    theirs = read_csv(path).query("puzzle == @results.puzzle").drop(columns="puzzle").add_prefix("their_")
    pairs, rows = found[found["solved"]].merge(theirs, left_on="instance", right_on="their_instance"), []
    for (model, allowed), group in pairs.groupby(["model", "seconds_allowed"], sort=False):
        apart, known = group["cost"] - group["their_moves"], group[group["optimal"].notna()]
        mean, low, high = mean_interval(apart)
        row = {"model": model, "seconds_allowed": allowed, "pairs": len(group), "length": group["cost"].mean()}
        row |= {"their_length": group["their_moves"].mean(), "difference": mean, "low": low, "high": high}
        row |= {"shorter": 100 * (apart < 0).mean(), "longer": 100 * (apart > 0).mean()}
        for name, moves in {"": "cost", "their_": "their_moves"}.items():
            nodes = group[f"{name}nodes_generated"]
            row |= {f"{name}nodes_generated": nodes.mean(), f"{name}nodes_median": nodes.median()}
            row |= {f"{name}optimal_percent": 100 * (known[moves] == known["optimal"]).mean()}
        rows.append(row)
    return pd.DataFrame(rows)


def pattern_databases(results: StudyResults) -> pd.DataFrame:
    """The tiles of each pattern database's patterns, and what its card says of it."""
    rows = []
    for name, text in results.asked.pattern_databases.items():
        if results.has(f"pattern_databases/{name}"):
            patterns = partition_of(results.puzzle).parse(make(results.puzzle), text)
            tiles = "; ".join(" ".join(map(str, pattern)) for pattern in patterns)
            rows.append({"database": name, "tiles": tiles, **results.card(f"pattern_databases/{name}")["metrics"]})
    return pd.DataFrame(rows)


def exact_solutions(results: StudyResults) -> pd.DataFrame | None:
    """The instances with what their exact solver found, of the sets that it was asked to; None where it has not run."""
    found = results.find_frame(f"optima/{results.puzzle}") if results.asked.optima else None
    return None if found is None else found[[results.asked.optima.asks_for(name) for name in found["set"]]]


def optima(results: StudyResults) -> pd.DataFrame:
    """How many instances of each set were solved exactly, their distances, and the nodes generated by all searches."""
    found = exact_solutions(results)
    if found is None:
        return pd.DataFrame()
    groups = found.assign(length=found["distance"].where(found["solved"])).groupby("set", sort=False)
    lengths = {"length": ("length", "mean"), "shortest": ("length", "min"), "longest": ("length", "max")}
    nodes = {"nodes_generated": ("nodes_generated", "mean"), "nodes_generated_most": ("nodes_generated", "max")}
    rows = groups.agg(
        instances=("solved", "size"), solved=("solved", "sum"), solved_percent=("solved", "mean"), **lengths, **nodes
    )
    return rows.assign(solved_percent=100 * rows["solved_percent"]).reset_index()


def heuristics(results: StudyResults) -> pd.DataFrame:
    """Every cell of BWAS over the networks and over the baselines, and the bytes that each heuristic takes.

    learned: whether the heuristic is a network.  Without rows where no baseline has run.
    """
    networks = results.of_each(results.model_names, "searches/{}/grid").assign(learned=True)
    baselines = results.of_each(results.asked.baselines, "baselines/{}/grid").assign(learned=False)
    if baselines.empty:
        return pd.DataFrame()
    found = pd.concat([networks, baselines], ignore_index=True).rename(columns={"model": "heuristic"})
    footprints = results.find_frame(f"footprints/{results.puzzle}")
    sizes = {} if footprints is None else footprints.set_index("heuristic")["bytes"].to_dict()
    found.insert(1, "learned", found.pop("learned"))
    return found.assign(bytes=found["heuristic"].map(sizes))


def best_cell(grid: pd.DataFrame) -> pd.Series:
    """The cell that solves most, of those with the fewest moves, and of those with the fewest nodes."""
    order = ["solved_percent", "length", "nodes_generated"]
    return grid.sort_values(order, ascending=[False, True, True], kind="stable").iloc[0]


def compared(results: StudyResults) -> pd.DataFrame:
    """Solvers side by side on each set of the grids, columns as of heuristics, solver the first.

    Every heuristic at the best λ and N of the headline network, each at its own best, then IDA*.
    """
    found, headline, rows = heuristics(results), results.headline_model, []
    for name, group in found.groupby("set", sort=False) if len(found) else ():
        own = group[group["heuristic"] == headline]
        if len(own):
            rows += alike(group, best_cell(own), "path_weight", "batch_size").to_dict("records")
        rows += [best_cell(cells).to_dict() for _, cells in group.groupby("heuristic", sort=False)]
        rows += ida_star(results, name, found)
    frame = pd.DataFrame([{"solver": "BWAS", **row} for row in rows])
    return frame.drop_duplicates(SOLVER, ignore_index=True) if rows else frame


def ida_star(results: StudyResults, name: str, found: pd.DataFrame) -> list[dict]:
    """The row of IDA* on a set, if it was searched; found: as heuristics returns it, for the bytes."""
    exact, asked = exact_solutions(results), results.asked.optima
    if exact is None or (asked.pattern_database is None and asked.table is None):
        return []
    rows, database = exact[exact["set"] == name], asked.pattern_database or f"{asked.table} table"
    lengths = rows["distance"].where(rows["solved"])
    searched = rows[["solved", "nodes_expanded", "nodes_generated"]].assign(cost=lengths, distance=lengths)
    measured = summarise(searched).drop(columns=["optimal_low", "optimal_high"])
    memory = found.loc[found["heuristic"] == database, "bytes"].max()
    named = {"solver": "IDA*", "heuristic": database, "learned": False, "set": name, "bytes": memory}
    return measured.assign(**named).to_dict("records")


def speeds(results: StudyResults, shown: pd.DataFrame) -> pd.DataFrame:
    """Seconds of a search, the longest, and nodes generated a second, of each row of compared."""
    rows = []
    for row in shown.to_dict("records"):
        stage, searched, keys = f"optima/{results.puzzle}", f"optima/{results.puzzle}", CELLS[:1]
        if row["solver"] == "BWAS":
            stage = f"{'searches' if row['learned'] else 'baselines'}/{row['heuristic']}"
            searched, keys = f"{stage}/searches", CELLS
        searches, clock = results.find_frame(searched), results.find_frame(f"timings/{stage}")
        if searches is None or clock is None:
            continue
        timed = alike(searches.merge(clock, on=[*keys, "instance"]), row, *keys)
        seconds, nodes = timed["seconds"], timed["nodes_generated"].sum()
        speed = nodes / seconds.sum() if seconds.sum() else math.nan
        rows.append({**row, "seconds": seconds.mean(), "longest": seconds.max(), "nodes_per_second": speed})
    return pd.DataFrame(rows)


def left_by_stages(address: str) -> Callable[[StudyResults], pd.DataFrame]:
    """A table of what a stage of each model has left, one under the other; {} of the address is the model."""
    return lambda results: results.of_each(results.model_names, address)


SEARCH_TABLES = {
    "pattern_databases": pattern_databases,
    "optima": optima,
    "heuristics": heuristics,
    "compared": compared,
    "beams": beams,
    "prefixes": prefixes,
    "triplets": triplets,
    "mirrored": mirrored,
    "external": left_by_stages("external/{}/summary"),
    "external_excess": excesses,
    "external_released": released,
}
