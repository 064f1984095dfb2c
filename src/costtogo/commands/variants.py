"""Results of trainings repeated with several seeds: every audited checkpoint of every seed, in one table.

A model with the key `seeds` is a variant. Where there is base_<puzzle>, it is what the others of a puzzle differ from;
a study without one repeats trainings of another study, by their names.
"""

from collections.abc import Collection
from itertools import chain, product
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.analysis.variants import BASE, CELLS
from costtogo.files import read_frame, read_json
from costtogo.params.base import variant_of

VARIANTS, REPEATS = "variants", "repeats"  # the table of trainings that differ in one thing, and of mere repetitions
KEYS = {  # of a training in each table
    **dict.fromkeys([VARIANTS, REPEATS], ["puzzle", "variant", "seed"]),
    "admissible": ["puzzle", "model"],
}
FOUND = ["instances", "solved_percent", "optimal_percent", "length", "nodes_expanded", "nodes_generated"]


def is_variant(model: str, named: Collection[str]) -> bool:
    """Whether a training is one of several seeds, and none by the recipe of a document, whose tables stand alone.

    named: the networks of the document that the study repeats.
    """
    name, seed = variant_of(model)
    return bool(seed) and name not in named


def gather(results: Path, named: Collection[str] = ()) -> dict[str, pd.DataFrame]:
    """The tables of finished audits and searches, `variants` and `admissible`; those without a row are left out.

    variants: a row for each seed, audited checkpoint and (set, λ, N) that every checkpoint is to search; what the
    searches find is NaN of a training that has only been audited.
    admissible: a row for each model and heuristic, of the searches with λ = 1, N = 1.
    Where no variant is a base, the first is called `repeats`, has a row for each scope of the audit, all states and
    the sample, and there is no other.
    """
    audited, searched = (_finished(results, group) for group in ("audits", "searches"))
    trained = [model for model in audited if is_variant(model, named)]
    frames = {VARIANTS: [_checkpoints(results, model, model in searched) for model in trained]}
    if trained and not any(model.startswith(BASE) for model in trained):
        frames = {REPEATS: frames[VARIANTS]}
    else:
        frames[VARIANTS] = [frame[frame["scope"] == "all"].drop(columns="scope") for frame in frames[VARIANTS]]
        frames["admissible"] = [_admissible(results, model) for model in searched if not model.startswith("baseline")]
    return {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items() if parts}


def _finished(results: Path, group: str) -> list[str]:
    return sorted(path.stem for path in (results / group).glob("*.json"))


def _checkpoints(results: Path, model: str, searched: bool) -> pd.DataFrame:
    """A row for each checkpoint of a model and scope of its audit, with the results of the audit and the searches."""
    card = read_json(results / "models" / f"{model}.json")
    training, metrics = card["parameters"]["training"], card["metrics"]
    audits = read_frame(results / "audits" / model / "measures.parquet")
    audits = audits.drop(columns="model")
    kinds = read_frame(results / "models" / model / "checkpoints.parquet")[["iteration", "kind", "validation_loss"]]
    frame = audits.merge(kinds, on="iteration")
    if searched:
        chosen = read_frame(results / "searches" / model / "selection.parquet")[["iteration", "selected"]]
        found = read_frame(results / "searches" / model / "checkpoints.parquet")[["iteration", *CELLS, *FOUND]]
        frame = frame.merge(chosen, on="iteration").merge(found, on="iteration")
    else:
        frame = frame.merge(_cells(results, training["puzzle"]), how="cross").assign(
            selected=False, **dict.fromkeys(FOUND, np.nan)
        )
    name, seed = variant_of(model)
    place = {"puzzle": training["puzzle"], "variant": name, "seed": seed, "states_seen": metrics["states_seen"]}
    place |= {"reach": metrics["effective_k"]}
    return frame.assign(**place)[[*place, *frame.columns]]


def _cells(results: Path, puzzle: str) -> pd.DataFrame:
    """Every (set, λ, N) that each checkpoint of a model of the puzzle is to search: the baselines search them too."""
    searches = read_json(results / "searches" / f"baseline_{puzzle}.json")["parameters"]["searches"]
    grids = [grid for grid in searches if grid["every_checkpoint"]]
    cells = [product([grid["set"]], grid["path_weight"], grid["batch_size"]) for grid in grids]
    return pd.DataFrame(chain(*cells), columns=CELLS)


def _admissible(results: Path, model: str) -> pd.DataFrame:
    card = read_json(results / "searches" / f"{model}.json")
    frame = read_frame(results / "searches" / model / "admissible.parquet")
    place = {"puzzle": card["parameters"]["puzzle"], "model": model}
    place |= {"overestimation_max": card["metrics"]["overestimation_max"]}
    return frame.assign(**place)[[*place, *frame.columns]]
