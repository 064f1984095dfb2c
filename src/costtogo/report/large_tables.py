"""The tables of the report on a large puzzle, read from its study's results; a part that has not run gives none."""

import pandas as pd

from costtogo.analysis.solutions import mirrored_shares, triplet_shares
from costtogo.params_large import BeamParams, MirroredInstances, PrefixInstances
from costtogo.puzzles import make, noun
from costtogo.report.large_exact import exact_tables
from costtogo.report.results import StudyResults
from costtogo.report.tables import loss, provenance


def tables(results: StudyResults) -> dict[str, pd.DataFrame]:
    """Every table of the report by the stem of its file; those without rows are left out."""
    frames = {
        "training": training(results),
        "nearby": results.of_each(results.model_names, "audits/{}/nearby"),
        "known": results.of_each(results.model_names, "audits/{}/known"),
        "consistency": results.of_each(results.model_names, "audits/{}/consistency"),
        "scrambled": results.of_each(results.model_names, "audits/{}/scrambled"),
        "greedy": results.of_each(results.model_names, "audits/{}/greedy"),
        "progress": results.of_each(results.model_names, "audits/{}/progress"),
        "grid": results.of_each(results.model_names, "searches/{}/grid"),
        **exact_tables(results),
        "beams": beams(results),
        "prefixes": prefixes(results),
        "triplets": triplets(results),
        "mirrored": mirrored(results),
        "external": results.of_each(results.model_names, "external/{}/summary"),
        "external_excess": excesses(results),
        "provenance": provenance(results),
    }
    frames |= {f"loss_{model}": loss(results, model) for model in results.trained}
    return {name: frame for name, frame in frames.items() if not frame.empty}


def training(results: StudyResults) -> pd.DataFrame:
    """What the card of each training says of it."""
    models = results.trained
    return pd.DataFrame([{"model": model, **results.card(f"models/{model}")["metrics"]} for model in models])


def last_point(results: StudyResults, model: str) -> int:
    """The iteration of the last checkpoint, which is the one that is searched with."""
    return int(results.frame(f"models/{model}/checkpoints")["iteration"].iloc[-1])


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
    found = found.assign(images=[beams.images for beams in asked], average=[beams.average for beams in asked])
    columns = ["model", "set", "width", "images", "average"]
    return found[[*columns, *(name for name in found.columns if name not in columns)]]


def beams_of(results: StudyResults, name: str, width: int) -> BeamParams:
    """What the study asks of the beams of a width on a set."""
    return next(beams for beams in results.asked.beams if beams.set == name and width in beams.widths)


def beams_text(results: StudyResults, name: str, width: int) -> str:
    """The beams of a set in words.  -> "beams of width 10,000 from 8 images"."""
    asked = beams_of(results, name, width)
    text = f"beams of width {width:,}" + (f" from {asked.images} images" if asked.images > 1 else "")
    return text + (f", values averaged over {asked.average}" if asked.average > 1 else "")


def prefixes(results: StudyResults) -> pd.DataFrame:
    """The beam searches from the beginnings of a shortest path, and the moves that each solution has too many."""
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
    """Solutions of states beside those of their mirror images, by model and beam width (DeepCubeA, Methods)."""
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
    """External instances by budget and the moves that their solutions have too many; those not solved are left out."""
    found, frames = results.of_each(results.model_names, "external/{}/searches"), []
    counted = f"{noun(results.puzzle)}s"
    found = found[found["optimal"].notna()] if len(found) else found
    for (model, allowed), group in found.groupby(["model", "seconds_allowed"], sort=False) if len(found) else ():
        excess = (group["cost"] - group["optimal"])[group["solved"]].astype(int).value_counts().sort_index()
        counts = pd.DataFrame({"excess": excess.index, counted: excess.to_numpy()})
        shares = 100 * counts[counted] / len(group)
        frames.append(counts.assign(model=model, seconds_allowed=allowed, percent=shares))
    columns = ["model", "seconds_allowed", "excess", counted, "percent"]
    return pd.concat(frames)[columns] if frames else pd.DataFrame(columns=columns)
