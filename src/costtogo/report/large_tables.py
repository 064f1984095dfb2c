"""The tables of the report on a large puzzle, read from its study's results; a part that has not run gives none."""

from collections.abc import Iterable

import pandas as pd

from costtogo.analysis.solutions import mirrored_shares, triplet_shares
from costtogo.figures.catalogue import outdated
from costtogo.params.instances import MirroredInstances, PrefixInstances
from costtogo.params.searches import BeamParams
from costtogo.params.study import PuzzleStudy
from costtogo.puzzles import make, noun
from costtogo.report.large_exact import exact_tables
from costtogo.report.tables import Results, fresh, loss, provenance


def gather(study: PuzzleStudy, folder) -> Results:
    """The results of a study below the folder results."""
    return fresh(folder / study.study, {study.puzzle: list(study.models)})


def tables(study: PuzzleStudy, results: Results) -> dict[str, pd.DataFrame]:
    """Every table of the report by the stem of its file; those without rows are left out."""
    frames = {
        "training": training(results, study),
        "nearby": of_models(results, study, "audits/{}/nearby.parquet"),
        "known": of_models(results, study, "audits/{}/known.parquet"),
        "consistency": of_models(results, study, "audits/{}/consistency.parquet"),
        "scrambled": of_models(results, study, "audits/{}/scrambled.parquet"),
        "greedy": of_models(results, study, "audits/{}/greedy.parquet"),
        "progress": of_models(results, study, "audits/{}/progress.parquet"),
        "grid": of_models(results, study, "searches/{}/grid.parquet"),
        **exact_tables(results, study),
        "beams": beams(results, study),
        "prefixes": prefixes(results, study),
        "triplets": triplets(results, study),
        "mirrored": mirrored(results, study),
        "external": of_models(results, study, "external/{}/summary.parquet"),
        "external_excess": excesses(results, study),
        "provenance": provenance(results),
    }
    frames |= {f"loss_{model}": loss(results, model) for model in trained(results, study)}
    return {name: frame for name, frame in frames.items() if not frame.empty}


def trained(results: Results, study: PuzzleStudy) -> list[str]:
    """The models whose training is finished."""
    return [model for model in study.models if (results.folder / "models" / f"{model}.json").exists()]


def of_models(results: Results, study: PuzzleStudy, path: str) -> pd.DataFrame:
    """A table of every model that has it, one under the other, the model's name first."""
    return of_names(results, study.models, path)


def of_names(results: Results, names: Iterable[str], path: str) -> pd.DataFrame:
    """The same of other names than those of models."""
    found = {model: table_of(results, model, path) for model in names}
    frames = [frame.assign(model=model)[["model", *frame]] for model, frame in found.items() if frame is not None]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def table_of(results: Results, model: str, path: str) -> pd.DataFrame | None:
    """A table of a model; None where there is none, or where it is of external instances and of another network."""
    hidden = "external/" in path and (not results.find_card(f"external/{model}") or outdated(model, results.find_card))
    return None if hidden else results.find(path.format(model))


def training(results: Results, study: PuzzleStudy) -> pd.DataFrame:
    """What the card of each training says of it."""
    models = trained(results, study)
    return pd.DataFrame([{"model": model, **results.card("models", model)["metrics"]} for model in models])


def last_point(results: Results, model: str) -> int:
    """The iteration of the last checkpoint, which is the one that is searched with."""
    return int(results.frame(f"models/{model}/checkpoints.parquet")["iteration"].iloc[-1])


def shortest_path_sets(study: PuzzleStudy) -> list[str]:
    """The instance sets that are the beginnings of a shortest path."""
    return [name for name, kind in study.instances.items() if isinstance(kind, PrefixInstances) and kind.shortest]


def beams(results: Results, study: PuzzleStudy) -> pd.DataFrame:
    """The grid of beam searches, from how many images of each state they start, and over how many they average."""
    found = of_models(results, study, "beams/{}/grid.parquet")
    if found.empty:
        return found
    asked = [beams_of(study, row.set, row.width) for row in found.itertuples()]
    found = found.assign(images=[beams.images for beams in asked], average=[beams.average for beams in asked])
    columns = ["model", "set", "width", "images", "average"]
    return found[[*columns, *(name for name in found.columns if name not in columns)]]


def beams_of(study: PuzzleStudy, name: str, width: int) -> BeamParams:
    """What the study asks of the beams of a width on a set."""
    return next(beams for beams in study.beams if beams.set == name and width in beams.widths)


def beams_text(study: PuzzleStudy, name: str, width: int) -> str:
    """The beams of a set in words.  -> "beams of width 10,000 from 8 images"."""
    asked = beams_of(study, name, width)
    text = f"beams of width {width:,}" + (f" from {asked.images} images" if asked.images > 1 else "")
    return text + (f", values averaged over {asked.average}" if asked.average > 1 else "")


def prefixes(results: Results, study: PuzzleStudy) -> pd.DataFrame:
    """The beam searches from the beginnings of a shortest path, and the moves that each solution has too many."""
    found = of_models(results, study, "beams/{}/searches.parquet")
    if found.empty:
        return found
    found = found[found["set"].isin(shortest_path_sets(study))]
    columns = ["model", "set", "width", "instance", "distance", "solved", "cost", "excess"]
    found = found.assign(excess=(found["cost"] - found["distance"]).where(found["solved"]))
    return found[[*columns, "nodes_expanded", "nodes_generated", "solution"]]


def solutions(results: Results, study: PuzzleStudy) -> pd.DataFrame:
    """model, searches (in words), solution of every solved search whose instances are scrambled."""
    frames = []
    beams = of_models(results, study, "beams/{}/searches.parquet")
    if not beams.empty:
        beams = beams[beams["solved"] & ~beams["set"].isin(shortest_path_sets(study))]
        frames.append(beams.assign(searches=[f"{row.set}, width {row.width:,}" for row in beams.itertuples()]))
    external = of_models(results, study, "external/{}/searches.parquet")
    if not external.empty:
        external = external[external["solved"]].sort_values("seconds_allowed", kind="stable")
        frames.append(external.assign(searches=[f"external, {s:g} s each" for s in external["seconds_allowed"]]))
    columns = ["model", "searches", "solution"]
    return pd.concat([frame[columns] for frame in frames]) if frames else pd.DataFrame(columns=columns)


def triplets(results: Results, study: PuzzleStudy) -> pd.DataFrame:
    """Shares of the patterns of three moves in a row (DeepCubeA, Methods), by model and searches.

    Of a puzzle whose moves are turns alone, which can be made anywhere and one after the other in any order.
    """
    puzzle, rows = make(study.puzzle), []
    if puzzle.turns is None:
        return pd.DataFrame()
    for (model, searches), group in solutions(results, study).groupby(["model", "searches"], sort=False):
        shares = triplet_shares(puzzle, [puzzle.parse_moves(text) for text in group["solution"]])
        rows.append({"model": model, "searches": searches, "solutions": len(group), **shares})
    return pd.DataFrame(rows)


def mirrored(results: Results, study: PuzzleStudy) -> pd.DataFrame:
    """Solutions of states beside those of their mirror images, by model and beam width (DeepCubeA, Methods)."""
    found, puzzle, rows = of_models(results, study, "beams/{}/searches.parquet"), make(study.puzzle), []
    for name, kind in study.instances.items():
        if not isinstance(kind, MirroredInstances) or found.empty:
            continue
        pairs = found[found["set"] == kind.of].merge(
            found[found["set"] == name], on=["model", "width", "instance"], suffixes=("", "_mirrored")
        )
        pairs = pairs[pairs["solved"] & pairs["solved_mirrored"]]
        for (model, width), group in pairs.groupby(["model", "width"], sort=False):
            own, other = beams_of(study, name, width), beams_of(study, kind.of, width)
            if (own.images, own.average) != (other.images, other.average):
                continue
            both = ([puzzle.parse_moves(text) for text in group[name]] for name in ("solution", "solution_mirrored"))
            shares = mirrored_shares(puzzle, *both, puzzle.mirror)
            rows.append({"model": model, "set": name, "width": width, "pairs": len(group), **shares})
    return pd.DataFrame(rows)


def excesses(results: Results, study: PuzzleStudy) -> pd.DataFrame:
    """External instances by budget and the moves that their solutions have too many; those not solved are left out."""
    found, frames = of_models(results, study, "external/{}/searches.parquet"), []
    counted = f"{noun(study.puzzle)}s"
    found = found[found["optimal"].notna()] if len(found) else found
    for (model, allowed), group in found.groupby(["model", "seconds_allowed"], sort=False) if len(found) else ():
        excess = (group["cost"] - group["optimal"])[group["solved"]].astype(int).value_counts().sort_index()
        counts = pd.DataFrame({"excess": excess.index, counted: excess.to_numpy()})
        shares = 100 * counts[counted] / len(group)
        frames.append(counts.assign(model=model, seconds_allowed=allowed, percent=shares))
    columns = ["model", "seconds_allowed", "excess", counted, "percent"]
    return pd.concat(frames)[columns] if frames else pd.DataFrame(columns=columns)
