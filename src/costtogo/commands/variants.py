"""Results of trainings repeated with several seeds: every audited checkpoint of every seed, in one table.

A model with the key `seeds` is a variant. Where there is base_<puzzle>, it is what the others of a puzzle differ from;
a study without one repeats trainings of another study, by their names.
"""

from collections.abc import Collection
from itertools import chain, product

import numpy as np
import pandas as pd

from costtogo.analysis.several_seeds import BASE, CELLS
from costtogo.tables.results import StudyResults
from costtogo.tables.several_seeds import REPEATS

VARIANTS = "variants"  # the table of trainings that differ in one thing; REPEATS: of mere repetitions
KEYS = {  # of a training in each table
    **dict.fromkeys([VARIANTS, REPEATS], ["puzzle", "variant", "seed"]),
    "admissible": ["puzzle", "model"],
}
FOUND = ["instances", "solved_percent", "optimal_percent", "length", "nodes_expanded", "nodes_generated"]


def in_one_table(results: StudyResults, named: Collection[str]) -> set[str]:
    """The trainings with several seeds, but those by the recipe of a document, each of which has tables of its own.

    named: the networks of the document that the study repeats.
    """
    return {model for model, name in results.trainings.items() if name.seed and name.variant not in named}


def gather(results: StudyResults, named: Collection[str] = (), differ: bool = False) -> dict[str, pd.DataFrame]:
    """The tables of finished audits and searches, `variants` and `admissible`; those without a row are left out.

    variants: a row for each seed, audited checkpoint and (set, λ, N) that every checkpoint is to search; what the
    searches find is NaN of a training that has only been audited.
    admissible: a row for each model and heuristic, of the searches with λ = 1, N = 1.
    Where no variant is a base, the first is called `repeats`, has a row for each scope of the audit, all states and the
    sample, and there is no other; but not where the variants differ from a base that was kept before.
    results: of the study, as its stages left them.
    """
    finished = [place.split("/") for place in results.cards]
    audited, searched = ([name for group, name in finished if group == of] for of in ("audits", "searches"))
    repeated = in_one_table(results, named)
    trained = [model for model in audited if model in repeated]
    checkpoints = [_checkpoints(results, model) for model in trained]
    if trained and not (differ or any(model.startswith(BASE) for model in trained)):
        return {REPEATS: pd.concat(checkpoints, ignore_index=True)}
    every_state = [frame[frame["scope"] == "all"].drop(columns="scope") for frame in checkpoints]
    admissible = [_admissible(results, model) for model in searched if not model.startswith("baseline")]
    parts = {VARIANTS: every_state, "admissible": admissible}
    return {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items() if frames}


def _checkpoints(results: StudyResults, model: str) -> pd.DataFrame:
    """A row for each checkpoint of a model and scope of its audit: what the audit and the searches found."""
    card, (variant, seed) = results.card(f"models/{model}"), results.trainings[model]
    kinds = results.frame(f"models/{model}/checkpoints")[["iteration", "kind", "validation_loss"]]
    frame = results.frame(f"audits/{model}/measures").drop(columns="model").merge(kinds, on="iteration")
    puzzle, metrics = card["parameters"]["training"]["puzzle"], card["metrics"]
    if results.has(f"searches/{model}"):
        chosen = results.frame(f"searches/{model}/selection")[["iteration", "selected"]]
        found = results.frame(f"searches/{model}/checkpoints")[["iteration", *CELLS, *FOUND]]
        frame = frame.merge(chosen, on="iteration").merge(found, on="iteration")
    else:
        not_searched = {"selected": False, **dict.fromkeys(FOUND, np.nan)}
        frame = frame.merge(_cells(results, puzzle), how="cross").assign(**not_searched)
    place = {"puzzle": puzzle, "variant": variant, "seed": seed, "states_seen": metrics["states_seen"]}
    place |= {"reach": metrics["effective_k"]}
    return frame.assign(**place)[[*place, *frame.columns]]


def _cells(results: StudyResults, puzzle: str) -> pd.DataFrame:
    """Every (set, λ, N) that each checkpoint of a model of the puzzle is to search: the baselines search them too."""
    searches = results.card(f"searches/baseline_{puzzle}")["parameters"]["searches"]
    grids = [grid for grid in searches if grid["every_checkpoint"]]
    cells = [product([grid["set"]], grid["path_weight"], grid["batch_size"]) for grid in grids]
    return pd.DataFrame(chain(*cells), columns=CELLS)


def _admissible(results: StudyResults, model: str) -> pd.DataFrame:
    card, frame = results.card(f"searches/{model}"), results.frame(f"searches/{model}/admissible")
    place = {"puzzle": card["parameters"]["puzzle"], "model": model}
    place |= {"overestimation_max": card["metrics"]["overestimation_max"]}
    return frame.assign(**place)[[*place, *frame.columns]]
